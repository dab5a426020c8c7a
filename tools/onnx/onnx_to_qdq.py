# SPDX-License-Identifier: Apache-2.0
"""Converts an ONNX model to a qdq/1 graph.

    python3 onnx_to_qdq.py MODEL.onnx OUT.json [--input-shape NAME=1,3,8,8]

Large constants go to a .safetensors file next to OUT.json. If some nodes cannot be converted, all
of them are reported, the exit code is 1, and nothing is written. docs/onnx.md lists the mapped ops.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

import network_ops as net
import quant_ops as quant
import windows
from model import DTYPES, Model, Refused, Value
from qdq_file import QdqGraph

FLOATS = ("float32", "float16", "bfloat16")
BYTES = ("int8", "uint8")
ANY = tuple(DTYPES.values())
SUMS = (*FLOATS, "int32")

# For each ONNX op: the function that converts it, and the dtypes its first input may have.
OPS = {
    "QuantizeLinear": (quant.quantize, SUMS),
    "DequantizeLinear": (quant.dequantize, ANY),
    "DynamicQuantizeLinear": (quant.dynamic_quantize, FLOATS),
    "Cast": (quant.cast, ANY),
    "MatMulInteger": (quant.matmul_integer, BYTES),
    "ConvInteger": (quant.conv_integer, BYTES),
    "QLinearMatMul": (quant.qlinear_matmul, BYTES),
    "QLinearConv": (quant.qlinear_conv, BYTES),
    "MatMul": (net.matmul, FLOATS),
    "Gemm": (net.gemm, FLOATS),
    "Conv": (windows.conv, FLOATS),
    "ConvTranspose": (windows.conv_transpose, FLOATS),
    "Add": (net.binary("Add"), SUMS),
    "Sub": (net.binary("Subtract"), SUMS),
    "Mul": (net.binary("Multiply"), FLOATS),
    "Div": (net.binary("Divide"), FLOATS),
    "Min": (net.folded_pairs("Minimum"), FLOATS),
    "Max": (net.folded_pairs("Maximum"), FLOATS),
    "GreaterOrEqual": (net.binary("GreaterEqual"), SUMS),
    "Where": (net.where, ("bool",)),
    "Abs": (net.unary("Abs"), FLOATS),
    "Exp": (net.unary("Exp"), FLOATS),
    "Log": (net.unary("Log"), FLOATS),
    "Sqrt": (net.unary("Sqrt"), FLOATS),
    "Tanh": (net.unary("Tanh"), FLOATS),
    "Sigmoid": (net.unary("Sigmoid"), FLOATS),
    "Relu": (net.unary("ReLU"), FLOATS),
    "LeakyRelu": (net.unary("LeakyReLU", alpha=0.01), FLOATS),
    "Elu": (net.unary("Elu", alpha=1.0), FLOATS),
    "HardSigmoid": (net.unary("HardSigmoid", alpha=0.2, beta=0.5), FLOATS),
    "HardSwish": (net.unary("HardSwish"), FLOATS),
    "Mish": (net.unary("Mish"), FLOATS),
    "Reciprocal": (net.unary("Reciprocal"), FLOATS),
    "Round": (net.unary("Round"), FLOATS),
    "Gelu": (net.gelu, FLOATS),
    "Clip": (net.clip, FLOATS),
    "PRelu": (net.prelu, FLOATS),
    "Softmax": (net.unary("SoftMax", axis=-1), FLOATS),
    "LogSoftmax": (net.unary("LogSoftmax", axis=-1), FLOATS),
    "LayerNormalization": (net.layer_norm, FLOATS),
    "RMSNormalization": (net.rms_norm, FLOATS),
    "GroupNormalization": (net.group_norm, FLOATS),
    "BatchNormalization": (net.batch_norm, FLOATS),
    "MaxPool": (windows.max_pool, FLOATS),
    "AveragePool": (windows.average_pool, FLOATS),
    "GlobalAveragePool": (net.global_pool("ReduceMean"), FLOATS),
    "GlobalMaxPool": (net.global_pool("ReduceMax"), FLOATS),
    "ReduceMax": (net.reduce("ReduceMax"), FLOATS),
    "ReduceMean": (net.reduce("ReduceMean"), FLOATS),
    "ReduceMin": (net.reduce("ReduceMin"), FLOATS),
    "ReduceProd": (net.reduce("ReduceProd"), FLOATS),
    "ReduceSum": (net.reduce("ReduceSum"), FLOATS),
    "ReduceL1": (net.reduce("ReduceL1"), FLOATS),
    "ReduceL2": (net.reduce("ReduceL2"), FLOATS),
    "Concat": (net.concat, ANY),
    "Reshape": (net.reshape, ANY),
    "Flatten": (net.reshape, ANY),
    "Squeeze": (net.reshape, ANY),
    "Unsqueeze": (net.reshape, ANY),
    "Transpose": (net.transpose, ANY),
    "Identity": (net.identity, ANY),
    "Dropout": (net.dropout, ANY),
    "Resize": (windows.resize, FLOATS),
}
# These ops are computed at once if their inputs are constants. Ops that compute stay in the graph.
MOVES = ("Concat", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Identity")
DOMAINS = ("", "ai.onnx")


def is_mapped(node):
    if node.proto.domain == "com.microsoft":
        return node.op in ("QuantizeLinear", "DequantizeLinear")
    return node.proto.domain in DOMAINS and node.op in OPS


class Converter:
    """The state of a conversion, which the functions of OPS write to."""

    def __init__(self, model, name):
        self.model = model
        self.graph = QdqGraph(name, "onnx", model.names())
        self.refused = []
        for value in model.inputs:
            known = model.values[value.name]
            known.ref = self.graph.input(value.name, known.dtype, known.shape)

    def ref(self, value):
        """The name of a value in the graph. A constant is added at its first use."""
        if isinstance(value, str):
            return value
        dtype = value.dtype
        if value.ref is None:
            value.ref = self.graph.constant(value.name, dtype, value.data)
        return value.ref

    def emit(self, node, op, ports, attrs=None, helper=None, outputs=("y",)):
        """Adds a node, and returns its name. It makes the outputs of the ONNX node, or with
        `helper` something on the way to them."""
        inputs = {}
        for port, value in ports.items():
            if isinstance(value, list):
                inputs[port] = [self.ref(v) for v in value]
            elif value is not None:
                inputs[port] = self.ref(value)
        name = node.outputs[0] or node.proto.name or node.op
        note = f"{node.op} {node.proto.name}".strip()
        if helper is not None:
            return self.graph.node(op, f"{name}/{helper}", inputs, attrs or {}, note, own=False)
        own = bool(node.outputs[0])
        ref = self.graph.node(op, name, inputs, attrs or {}, note, own, outputs[1:])
        for i, port in enumerate(outputs[: len(node.outputs)]):
            self.bind(node, i, ref if i == 0 else f"{ref}.{port}")
        return ref

    def bind(self, node, i, ref, data=None):
        if node.outputs[i]:
            elem, shape = node.types[i]
            self.model.values[node.outputs[i]] = Value(node.outputs[i], elem, shape, data, ref)

    def alias(self, node, value):
        """The output is the input."""
        self.bind(node, 0, self.ref(value), value.data)

    def extra(self, node, name, array, dtype):
        return self.graph.constant(f"{node.outputs[0]}/{name}", dtype, array, own=False)

    def scalar(self, node, name, number, dtype):
        elem = next(e for e, d in DTYPES.items() if d == dtype)
        array = np.array(number, helper.tensor_dtype_to_np_dtype(elem))
        return self.extra(node, name, array, dtype)

    def changed(self, node, value, array):
        """The constant `value` with other elements."""
        return Value(f"{node.outputs[0]}/{value.name}", value.elem, array.shape, array)

    def reshaped(self, node, value, shape):
        if value.data is not None:
            return self.changed(node, value, value.data.reshape(shape))
        attrs = {"shape": list(shape), "special_zero": False}
        return self.emit(node, "StaticReshape", {"x": value}, attrs, helper=value.name)

    def float32(self, node, value):
        if value.dtype == "float32":
            return value
        if value.data is None:
            return self.emit(node, "Cast", {"x": value}, {"dtype": "float32"}, helper=value.name)
        changed = self.changed(node, value, value.data.astype(np.float32))
        changed.elem = TensorProto.FLOAT
        return changed

    def fold(self, node):
        """Whether the node is done with: constants become constants."""
        elems = [value.elem for value in node.inputs if value]
        elems += [of_output[0] for of_output in node.types if of_output]
        computes = is_mapped(node) and node.op not in MOVES
        if computes and all(elem in DTYPES for elem in elems):
            return False
        results = self.model.fold(node)
        if results is None:
            return False
        for i, data in enumerate(results):
            if not isinstance(data, np.ndarray) and not np.isscalar(data):
                return False
            data = np.asarray(data)
            elem = node.types[i][0] if node.types and node.types[i] else None
            elem = elem or helper.np_dtype_to_tensor_dtype(data.dtype)
            self.model.values[node.outputs[i]] = Value(node.outputs[i], elem, data.shape, data)
        return True

    def convert(self, node):
        known = self.model.infer(node)
        if known and self.fold(node):
            return
        if not is_mapped(node):
            raise Refused("there is no such op")
        if not known:
            return  # what it needs is refused already
        read = [of_output for of_output, wanted in zip(node.types, node.wanted) if wanted]
        if any(of_output is None for of_output in read):
            raise Refused("the shape of what it makes is not known without the inputs")
        function, dtypes = OPS[node.op]
        first = node.inputs[0].dtype
        if first not in dtypes:
            raise Refused(f"'{node.inputs[0].name}' is {first}, wanted {', '.join(dtypes)}")
        if node.op != "DynamicQuantizeLinear" and any(node.wanted[1:]):
            raise Refused("more than its first output is used, wanted that alone")
        function(self, node)

    def run(self):
        for node in self.model.nodes():
            try:
                self.convert(node)
            except Refused as why:
                self.refuse(node, str(why))
            except Exception as why:  # what ONNX's inference says of a wrong node
                self.refuse(node, " ".join(str(why).split()) or type(why).__name__)
        for value in self.model.graph.output:
            try:
                if value.name in self.model.values:
                    self.graph.output(value.name, self.ref(self.model.values[value.name]))
            except Refused as why:
                self.refused.append(f"output '{value.name}': {why}")

    def refuse(self, node, why):
        """Records a node that cannot be converted. The nodes after it are checked as if it had
        been."""
        self.refused.append(f"{node.title()}: {why}")
        for name, of_output in zip(node.outputs, node.types):
            if name and of_output:
                self.model.values[name] = Value(name, *of_output, ref=name)


def shape_argument(text):
    name, _, dims = text.rpartition("=")
    try:
        shape = [int(dim) for dim in dims.split(",")] if dims else []
    except ValueError:
        shape = [0]
    if not name or min(shape, default=1) < 1:
        raise argparse.ArgumentTypeError(f"'{text}', wanted NAME=1,3,8,8")
    return name, shape


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--input-shape", type=shape_argument, action="append", default=[],
                        metavar="NAME=D,D,...", help="the shape of an input")  # fmt: skip
    options = parser.parse_args()
    try:
        converter = Converter(Model(options.model, dict(options.input_shape)), options.model.stem)
        converter.run()
        refused = converter.refused
    except Refused as why:
        refused = str(why).splitlines()
    except Exception as why:  # no file, no protobuf, no valid model
        refused = [" ".join(str(why).split())]
    for line in refused:
        print(f"{options.model}: {line}", file=sys.stderr)
    if refused:
        print(f"{options.model}: {len(refused)} refused, nothing is written", file=sys.stderr)
        return 1
    converter.graph.save(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
