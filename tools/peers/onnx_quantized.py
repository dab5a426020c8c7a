# SPDX-License-Identifier: Apache-2.0
"""Models with quantizing ops for onnx_reader.py: single ops, and networks quantized by
onnxruntime.quantization."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization as ort
from onnxruntime.quantization.calibrate import CalibrationDataReader

from onnx_cases import EXACT, Case, build, either, elem_of, floats, one, some_shape

INT_KINDS = ["INT8", "UINT8", "INT8", "UINT8", "INT16", "UINT16", "INT4", "UINT4", "INT2", "UINT2"]
FLOAT_KINDS = ["FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT8E4M3FNUZ", "FLOAT8E5M2FNUZ", "FLOAT4E2M1"]
QUANTIZES = ("QuantizeLinear", "DynamicQuantizeLinear")
SINCE = {"INT8": 13, "UINT8": 13, "INT2": 25, "UINT2": 25, "FLOAT4E2M1": 23}


def numpy_of(kind):
    return helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind))


def parameters(rng, x, kind, block):
    """The shape of the scale, and its attributes."""
    way = either(rng, "tensor", "axis", *["block"] * (2 if block else 0))
    if way == "tensor":
        return (), {}
    axis = int(rng.integers(x.ndim))
    attrs = {} if axis == 1 else {"axis": either(rng, axis, axis - x.ndim)}  # 1 is the default
    if way == "axis":
        return (x.shape[axis],), attrs
    attrs["block_size"] = size = int(rng.integers(1, x.shape[axis] + 1))
    shape = list(x.shape)
    shape[axis] = -(-shape[axis] // size)
    return tuple(shape), attrs


def pair_case(kinds):
    """QuantizeLinear and DequantizeLinear of its result."""

    def case(rng):
        kind = either(rng, *kinds)
        real = float(kind.startswith("FLOAT"))
        low = max(SINCE.get(kind, 19 if real else 21), 13)
        opset = int(either(rng, *[o for o in (13, 19, 21, 23, 25) if o >= low]))
        dtype = either(rng, np.float32, np.float32, np.float16) if opset >= 19 else np.float32
        x = floats(rng, some_shape(rng, 1, 6), dtype, 2.0)
        shape, attrs = parameters(rng, x, kind, opset >= 21)
        # Some results exceed the range of float8.
        scale = (rng.uniform(0.02, 0.6, shape) * either(rng, 1, 2e-5**real)).astype(dtype)
        if real:
            zero = np.zeros(shape, numpy_of(kind))
        else:
            bits = int("".join(c for c in kind if c.isdigit()))
            base = 0 if kind[0] == "U" else -(2 ** (bits - 1))
            zero = rng.integers(base, base + 2**bits, shape).astype(numpy_of(kind))
        inputs = {"scale": scale, "zero": zero}
        on_quantize, on_both = dict(attrs), ["scale", "zero"]
        if opset >= 21 and rng.random() < 0.3:
            on_quantize["output_dtype"] = getattr(TensorProto, kind)
            if rng.random() < 0.5:
                inputs.pop("zero")
                on_both = ["scale"]
        if kind.startswith("FLOAT8") and rng.random() < 0.5:
            on_quantize["saturate"] = int(rng.integers(2))
        nodes = [helper.make_node("QuantizeLinear", ["x", *on_both], ["q"], **on_quantize),
                 helper.make_node("DequantizeLinear", ["q", *on_both], ["y"], **attrs)]  # fmt: skip
        outputs = {"y": elem_of(x)} | ({"q": getattr(TensorProto, kind)} if "8" == kind[-1] else {})
        feeds, known = {"x": x}, inputs
        if not real and rng.random() < 0.3:  # the scale is only known at run time
            feeds = {"x": x, "scale": known.pop("scale")}
        return Case(build(nodes, feeds, known, outputs, opset), feeds, EXACT)

    return case


def dequantize_int32(rng):
    x = rng.integers(-(2**20), 2**20, some_shape(rng, 2, 5)).astype(np.int32)
    scale = rng.uniform(0.001, 0.1, either(rng, (), (x.shape[0],))).astype(np.float32)
    zero = either(rng, None, np.zeros(scale.shape, np.int32))
    return one("DequantizeLinear", [x, scale, zero], {"axis": 0}, constants=(1, 2), how=EXACT,
               result=TensorProto.FLOAT)  # fmt: skip


def dynamic(rng):
    x = floats(rng, some_shape(rng, 1, 6))
    names = ["y", "scale", "zero"]
    nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], names)]
    outputs = dict(zip(names, (TensorProto.UINT8, TensorProto.FLOAT, TensorProto.UINT8)))
    return Case(build(nodes, {"x": x}, {}, outputs, 13), {"x": x}, EXACT)


def cast(rng):
    kinds = {"FLOAT": np.float32, "FLOAT16": np.float16, "INT8": np.int8, "UINT8": np.uint8,
             "INT32": np.int32, "INT16": np.int16, "BOOL": np.bool_}  # fmt: skip
    x = np.round(np.abs(floats(rng, some_shape(rng), spread=20))).clip(0, 100)
    x = x.astype(kinds[either(rng, *kinds)])
    to = getattr(TensorProto, either(rng, *kinds))
    return one("Cast", [x], {"to": to}, how=EXACT, result=to)


QUANTIZING = {
    "Quantize and Dequantize, integers": pair_case(INT_KINDS),
    "Quantize and Dequantize, small floats": pair_case(FLOAT_KINDS),
    "DequantizeLinear of int32": dequantize_int32,
    "DynamicQuantizeLinear": dynamic,
    "Cast": cast,
}


# ---- Networks


def weight(rng, *shape):
    fan = np.prod(shape[1:]) if len(shape) > 2 else shape[0]
    return (rng.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)


def convolutions(rng):
    """Two convolutions with a shortcut, pooling, and a dense layer. The reshape's shape is
    computed, as exporters write it."""
    c = int(rng.integers(2, 6)) * 2
    t = {"w1": weight(rng, c, 3, 3, 3), "b1": weight(rng, c, 1)[:, 0], "w2": weight(rng, c, 1, 3, 3),
         "b2": weight(rng, c, 1)[:, 0], "w3": weight(rng, c * 4, 10), "b3": weight(rng, 10, 1)[:, 0],
         "zero": np.array(0, np.int64), "first": np.array([0], np.int64),
         "rest": np.array([-1], np.int64)}  # fmt: skip
    n = helper.make_node
    nodes = [
        n("Conv", ["x", "w1", "b1"], ["c1"], "conv1", pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        n("Relu", ["c1"], ["r1"], "relu1"),
        n("Conv", ["r1", "w2", "b2"], ["c2"], "conv2", pads=[1, 1, 1, 1], group=c),
        n("Add", ["c2", "r1"], ["sum"], "add"),
        n("MaxPool", ["sum"], ["pool"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        n("AveragePool", ["pool"], ["mean"], "mean", kernel_shape=[2, 2], strides=[2, 2]),
        n("Shape", ["mean"], ["shape"]),
        n("Gather", ["shape", "zero"], ["batch"]),
        n("Unsqueeze", ["batch", "first"], ["batches"]),
        n("Concat", ["batches", "rest"], ["flat_shape"], axis=0),
        n("Reshape", ["mean", "flat_shape"], ["flat"], "flatten"),
        n("Gemm", ["flat", "w3", "b3"], ["y"], "gemm"),
    ]
    return nodes, t, (2, 3, 8, 8), (2, 10)


def attention(rng):
    """One head of attention and a dense layer, on [2, 6, 8]."""
    d = 8
    t = {name: weight(rng, d, d) for name in ("wq", "wk", "wv", "wo")}
    t |= {"root": np.array(np.sqrt(d), np.float32), "gamma": np.ones(d, np.float32),
          "beta": weight(rng, d, 1)[:, 0], "w1": weight(rng, d, 16), "w2": weight(rng, 16, d)}
    n = helper.make_node
    nodes = [
        n("MatMul", ["x", "wq"], ["q"], "q"),
        n("MatMul", ["x", "wk"], ["k"], "k"),
        n("MatMul", ["x", "wv"], ["v"], "v"),
        n("Transpose", ["k"], ["kt"], "kt", perm=[0, 2, 1]),
        n("MatMul", ["q", "kt"], ["scores"], "scores"),
        n("Div", ["scores", "root"], ["scaled"], "scaled"),
        n("Softmax", ["scaled"], ["p"], "softmax", axis=-1),
        n("MatMul", ["p", "v"], ["mixed"], "mixed"),
        n("MatMul", ["mixed", "wo"], ["out"], "out"),
        n("Add", ["out", "x"], ["residual"], "residual"),
        n("LayerNormalization", ["residual", "gamma", "beta"], ["normed"], "norm", axis=-1),
        n("MatMul", ["normed", "w1"], ["hidden"], "hidden"),
        n("Tanh", ["hidden"], ["active"], "active"),
        n("MatMul", ["active", "w2"], ["y"], "last"),
    ]
    return nodes, t, (2, 6, 8), (2, 6, 8)


class Reader(CalibrationDataReader):
    def __init__(self, batches):
        self.batches = iter({"x": batch} for batch in batches)

    def get_next(self):
        return next(self.batches, None)


def float_model(network):
    nodes, tensors, shape, out = network
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, out)
    known = [numpy_helper.from_array(a, n) for n, a in tensors.items()]
    graph = helper.make_graph(nodes, "network", [x], [y], known)
    opsets = [helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), shape


def with_codes(model):
    """Makes quantized values, their scales and codes outputs too, if nodes make them."""
    known = {value.name for value in (*model.graph.initializer, *model.graph.input)}
    known.update(value.name for value in model.graph.output)
    kinds = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    for node in model.graph.node:
        names = {node.input[0]: TensorProto.FLOAT} if node.op_type in QUANTIZES else {}
        if node.op_type == "QuantizeLinear":
            names[node.output[0]] = kinds[node.input[2]]
        elif names:
            names |= {node.output[0]: TensorProto.UINT8, node.output[1]: TensorProto.FLOAT}
        for name in names.keys() - known:
            model.graph.output.append(helper.make_tensor_value_info(name, names[name], None))
        known.update(names)
    return model


def static_case(network):
    def case(rng):
        model, shape = float_model(network(rng))
        batches = [floats(rng, shape, spread=1) for _ in range(4)]
        kinds = either(rng, ("QUInt8", "QInt8"), ("QInt8", "QInt8"), ("QUInt8", "QUInt8"))
        with tempfile.TemporaryDirectory() as folder:
            before, after = Path(folder, "before.onnx"), Path(folder, "after.onnx")
            onnx.save(model, before)
            ort.quantize_static(
                before, after, Reader(batches), quant_format=ort.QuantFormat.QDQ,
                per_channel=bool(rng.integers(2)),
                activation_type=getattr(ort.QuantType, kinds[0]),
                weight_type=getattr(ort.QuantType, kinds[1]),
                extra_options={"ActivationSymmetric": bool(rng.integers(2))})  # fmt: skip
            quantized = onnx.load(after)
        return Case(with_codes(quantized), {"x": floats(rng, shape, spread=1)}, "steps")

    return case


def operator_case(network):
    """QLinearConv and similar ops; models with ops of com.microsoft are refused."""

    def case(rng):
        model, shape = float_model(network(rng))
        with tempfile.TemporaryDirectory() as folder:
            before, after = Path(folder, "before.onnx"), Path(folder, "after.onnx")
            onnx.save(model, before)
            ort.quantize_static(
                before, after, Reader([floats(rng, shape, spread=1) for _ in range(4)]),
                quant_format=ort.QuantFormat.QOperator, per_channel=bool(rng.integers(2)),
                op_types_to_quantize=["Conv", "MatMul"],
                activation_type=ort.QuantType.QUInt8, weight_type=ort.QuantType.QInt8)  # fmt: skip
            quantized = onnx.load(after)
        return Case(with_codes(quantized), {"x": floats(rng, shape, spread=1)}, "steps")

    return case


def dynamic_case(network):
    def case(rng):
        model, shape = float_model(network(rng))
        with tempfile.TemporaryDirectory() as folder:
            before, after = Path(folder, "before.onnx"), Path(folder, "after.onnx")
            onnx.save(model, before)
            ort.quantize_dynamic(before, after, per_channel=bool(rng.integers(2)),
                                 weight_type=either(rng, ort.QuantType.QUInt8, ort.QuantType.QInt8),
                                 op_types_to_quantize=["MatMul", "Gemm"])  # fmt: skip
            quantized = onnx.load(after)
        return Case(with_codes(quantized), {"x": floats(rng, shape, spread=1)}, "steps")

    return case


NETWORKS = {
    "convolutions, static": static_case(convolutions),
    "convolutions, operators": operator_case(convolutions),
    "convolutions, dynamic": dynamic_case(convolutions),
    "attention, static": static_case(attention),
    "attention, dynamic": dynamic_case(attention),
}
