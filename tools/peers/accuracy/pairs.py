# SPDX-License-Identifier: Apache-2.0
"""A small quantizer, and quantized models with only some of their pairs.

`quantize` puts pairs of QuantizeLinear and DequantizeLinear into a float model: uint8 with the range of the samples at each
computed operand of a product and at each result of one (behind a Relu that alone reads it), at both operands of a sum of two
computed values and at the sum; int8 with a scale for each channel for weights; int32 for biases, if asked for. Outputs stay
float. `quantize_static` of ONNX Runtime may take its place.

`find` lists the pairs of a quantized model, and `only` leaves in the model those that are named: the others hand on what they
read, and constants are those of the float model. quantize_static leaves out a Relu before a pair whose least code stands for 0;
without the pair the Relu comes back.
"""

import collections

import numpy as np
import onnx
import ort_session
from onnx import helper, numpy_helper

PRODUCTS = ("Conv", "MatMul", "Gemm")

# `name`: of the float value or constant, `real`: the value that the DequantizeLinear gives, `kind`: activations or weights.
Pair = collections.namedtuple("Pair", "name real kind dtype")


def constants_of(model):
    return {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}


# ---- Quantizing -------------------------------------------------------------


class Quantizer:
    def __init__(self, model, samples, int32_bias):
        self.model, self.int32_bias = onnx.ModelProto(), int32_bias
        self.model.CopyFrom(model)
        self.graph, self.constants = self.model.graph, constants_of(model)
        self.readers = collections.defaultdict(list)
        for node in self.graph.node:
            for name in node.input:
                self.readers[name].append(node)
        self.outputs = {one.name for one in self.graph.output}
        self.makers = {node.output[0]: node for node in self.graph.node}
        self.ranges = self.measure(samples)
        self.before, self.renamed, self.pairs_of = [], {}, set()

    def measure(self, samples):
        kept = onnx.ModelProto()
        kept.CopyFrom(self.model)
        del kept.graph.output[:]
        names, given = [node.output[0] for node in self.graph.node], self.graph.input[0].name
        kept.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
        values = {**ort_session.run(kept, {given: samples}), given: samples}
        return {name: (min(v.min(), 0), max(v.max(), 0)) for name, v in values.items() if v.dtype == np.float32}

    def keep(self, name, array):
        self.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def dequantize(self, name, codes, scale, zero, **attrs):
        given = [codes, self.keep(f"{name}_scale", scale), self.keep(f"{name}_zero", zero)]
        return given, helper.make_node("DequantizeLinear", given, [f"{name}_real"], f"{name}_dequantize", **attrs)

    def scale_of(self, name):
        low, high = self.ranges[name]
        return np.float32((high - low) / 255) or np.float32(1)

    def activations(self, name):
        if name in self.renamed or name in self.constants:
            return
        scale = self.scale_of(name)
        zero = np.uint8(np.clip(np.rint(-self.ranges[name][0] / scale), 0, 255))
        given, node = self.dequantize(name, f"{name}_codes", scale, zero)
        self.before += [helper.make_node("QuantizeLinear", [name, *given[1:]], [f"{name}_codes"], f"{name}_quantize"), node]
        self.renamed[name] = f"{name}_real"

    def weights(self, name, axis):
        """The scales of channels."""
        w = self.constants[name]
        scales = np.abs(w).max(tuple(i for i in range(w.ndim) if i != axis)) / np.float32(127)
        scales = np.where(scales > 0, scales, 1).astype(np.float32)
        if name not in self.renamed:
            shape = [-1 if i == axis else 1 for i in range(w.ndim)]
            codes = self.keep(f"{name}_codes", np.clip(np.rint(w / scales.reshape(shape)), -127, 127).astype(np.int8))
            self.before.append(self.dequantize(name, codes, scales, np.zeros(len(scales), np.int8), axis=axis)[1])
            self.renamed[name] = f"{name}_real"
        return scales

    def bias(self, name, scales):
        codes = np.rint(self.constants[name].astype(np.float64) / scales)
        if not self.int32_bias or np.abs(codes).max() >= 2**31:
            return
        self.keep(f"{name}_codes", codes.astype(np.int32))
        self.before.append(self.dequantize(name, f"{name}_codes", scales.astype(np.float32), np.zeros(len(scales), np.int32),
                                           axis=self.constants[name].ndim - 1)[1])
        self.renamed[name] = f"{name}_real"

    def product(self, node):
        x, w = node.input[:2]
        self.activations(x)
        self.activations(w)
        if w in self.constants:
            scales = self.weights(w, 0 if node.op_type == "Conv" else 1)
            if len(node.input) > 2:
                self.bias(node.input[2], np.float64(self.scale_of(x)) * scales)

    def result(self, name):
        """A pair at the result of a product or sum, behind a bias and a Relu that alone read it."""
        while len(self.readers[name]) == 1:
            node = self.readers[name][0]
            if node.op_type != "Relu" and not (node.op_type == "Add" and set(node.input) & set(self.constants)):
                break
            name = node.output[0]
        if name not in self.outputs and self.readers[name]:
            self.activations(name)

    def run(self):
        for node in self.graph.node:
            if node.op_type in PRODUCTS:
                self.product(node)
                self.result(node.output[0])
            elif node.op_type == "Add" and not set(node.input) & set(self.constants):
                for name in node.input:
                    self.activations(name)
                self.result(node.output[0])
        for node in self.graph.node:
            node.input[:] = [self.renamed.get(name, name) for name in node.input]
        return sort_nodes(self.model, list(self.graph.node) + self.before)


def sort_nodes(model, nodes):
    """The model with these nodes, each behind those that it reads."""
    ready = {one.name for one in model.graph.initializer} | {one.name for one in model.graph.input} | {""}
    del model.graph.node[:]
    while nodes:
        rest = []
        for node in nodes:
            if set(node.input) <= ready:
                model.graph.node.append(node)
                ready |= set(node.output)
            else:
                rest.append(node)
        if len(rest) == len(nodes):
            raise RuntimeError(f"no order: {rest[0].name}")
        nodes = rest
    return model


def quantize(model, samples, int32_bias=False):
    return Quantizer(model, samples, int32_bias).run()


# ---- Pairs of a quantized model ---------------------------------------------


def strip(name, floats):
    """The name of the constant of the float model that codes stand for."""
    return next(name[:-len(end)] for end in ("_quantized", "_codes") if name.endswith(end) and name[:-len(end)] in floats)


def find(quantized, floats):
    """The pairs; `floats` are the constants of the float model."""
    makers = {node.output[0]: node for node in quantized.graph.node}
    codes = {one.name: one for one in quantized.graph.initializer}
    found = []
    for node in quantized.graph.node:
        if node.op_type != "DequantizeLinear":
            continue
        if node.input[0] in codes:
            dtype = helper.tensor_dtype_to_np_dtype(codes[node.input[0]].data_type)
            found.append(Pair(strip(node.input[0], floats), node.output[0], "weights", str(dtype)))
        else:
            maker = makers[node.input[0]]
            found.append(Pair(maker.input[0], node.output[0], "activations", "uint8"))
    return found


def only(quantized, float_model, pairs, on):
    """The model with the pairs that `on` has."""
    floats, floats_graph = constants_of(float_model), float_model.graph
    model = onnx.ModelProto()
    model.CopyFrom(quantized)
    off = {pair.real: pair for pair in pairs if pair not in on}
    taken, nodes = {}, list(model.graph.node)
    for pair in off.values():
        taken[pair.real] = pair.name
        if pair.kind == "weights" and pair.name not in {one.name for one in model.graph.initializer}:
            if pair.name == pair.real:  # the tool of ONNX Runtime gives a bias its old name
                taken[pair.real] = f"{pair.name}_float"
            if taken[pair.real] not in {one.name for one in model.graph.initializer}:
                model.graph.initializer.append(numpy_helper.from_array(floats[pair.name], taken[pair.real]))

    makers = {node.output[0]: node for node in floats_graph.node}
    made = {node.output[0]: node for node in nodes}
    for pair in off.values():
        maker = makers.get(pair.name)
        if pair.kind == "activations" and maker and maker.op_type == "Relu" and made[pair.name].op_type != "Relu":
            taken[pair.real] = f"{pair.name}_rectified"
            nodes.append(helper.make_node("Relu", [pair.name], [taken[pair.real]]))

    def source(name):
        while name in taken and taken[name] != name:
            name = taken[name]
        return name

    outputs = {one.name for one in model.graph.output}
    kept = [node for node in nodes if not set(node.output) & set(off)]
    for node in kept:
        node.input[:] = [source(name) for name in node.input]
    for pair in off.values():
        if pair.real in outputs:
            kept.append(helper.make_node("Identity", [source(pair.name)], [pair.real]))
    while True:  # a QuantizeLinear whose pair is off, and its like
        read = {name for node in kept for name in node.input} | outputs
        rest = [node for node in kept if set(node.output) & read]
        if len(rest) == len(kept):
            break
        kept = rest
    used = {name for node in kept for name in node.input}
    constants = [one for one in model.graph.initializer if one.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(constants)
    del model.graph.value_info[:]
    return sort_nodes(model, kept)
