# SPDX-License-Identifier: Apache-2.0
"""Makes the models of this folder, their inputs, and the results of ONNX Runtime, or of ONNX's reference
implementation for ops that ONNX Runtime lacks. Needs the packages onnx and onnxruntime.

    python3 generate.py

For each NAME: models/NAME.onnx, NAME.in.safetensors, NAME.out.safetensors. test_onnx.py runs them with qdq.
"""

import json
import struct
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

FOLDER = Path(__file__).resolve().parent / "models"
WORDS = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "int8": "I8", "uint8": "U8", "int4": "I8",
         "uint4": "U8", "int2": "I8", "uint2": "U8", "int16": "I16", "uint16": "U16", "int32": "I32", "int64": "I64",
         "uint32": "U32", "uint64": "U64", "float64": "F64", "bool": "BOOL", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float4_e2m1fn": "U8"}  # fmt: skip
RANDOM = np.random.default_rng(14)


def save_tensors(path, arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        word = WORDS[str(array.dtype)]
        if word in ("I8", "U8"):
            array = array.astype(np.int8) if word == "I8" else (
                array.view(np.uint8) if str(array.dtype).startswith("float4") else array.astype(np.uint8))
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": word, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def expected(model, feeds, reference):
    names = [value.name for value in model.graph.output]
    if reference:
        return dict(zip(names, ReferenceEvaluator(model).run(names, feeds)))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, feeds)))


def info(name, shape, elem=T.FLOAT):
    return h.make_tensor_value_info(name, elem, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def longs(name, *values):
    return constant(name, np.array(values, np.int64))


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def model(nodes, inputs, outputs, constants=(), opset=17, functions=(), ir=8):
    bare = [onnx.ValueInfoProto(name=o) if isinstance(o, str) else o for o in outputs]
    graph = h.make_graph(nodes, "g", inputs, bare, list(constants))
    opsets = [h.make_opsetid("", opset), h.make_opsetid("own", 1), h.make_opsetid("com.microsoft", 1)]
    made = h.make_model(graph, opset_imports=opsets, ir_version=ir, functions=list(functions), producer_name="")
    types = {v.name: v.type.tensor_type.elem_type for v in onnx.shape_inference.infer_shapes(made).graph.output}
    for value in made.graph.output:
        if not value.HasField("type"):
            value.CopyFrom(info(value.name, None, types[value.name] or T.FLOAT))
    return made


def keep(name, made, feeds, reference=False, wanted=None):
    (FOLDER / f"{name}.onnx").write_bytes(made.SerializeToString())
    if feeds:
        save_tensors(FOLDER / f"{name}.in.safetensors", feeds)
    save_tensors(FOLDER / f"{name}.out.safetensors", wanted or expected(made, feeds, reference))


N = h.make_node


def convolutions():
    """A network whose batch is open, and whose classifier takes its shape from it."""
    nodes = [
        N("Conv", ["x", "w", "b"], ["c"], "first", pads=[1, 1, 1, 1]),
        N("Relu", ["c"], ["r"]),
        N("MaxPool", ["r"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
        N("Shape", ["m"], ["s"]),
        N("Constant", [], ["zero"], value_int=0),
        N("Gather", ["s", "zero"], ["n"]),
        N("Constant", [], ["front"], value_ints=[0]),
        N("Unsqueeze", ["n", "front"], ["n1"]),
        N("Constant", [], ["rest"], value_ints=[-1]),
        N("Concat", ["n1", "rest"], ["flat"], axis=0),
        N("Reshape", ["m", "flat"], ["f"]),
        N("Gemm", ["f", "fc", "fb"], ["g"], transB=1),
        N("Softmax", ["g"], ["y"]),
    ]
    known = [constant("w", floats(4, 3, 3, 3)), constant("b", floats(4)), constant("fc", floats(5, 64) / 8),
             constant("fb", floats(5))]  # fmt: skip
    made = model(nodes, [info("x", ["batch", 3, 8, 8])], ["y"], known)
    keep("convolutions", made, {"x": floats(2, 3, 8, 8)})


def quantized():
    """QuantizeLinear and DequantizeLinear, per tensor and per channel, and int32 bias."""
    nodes = [
        N("QuantizeLinear", ["x", "xs", "xz"], ["xq"]), N("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        N("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0), N("DequantizeLinear", ["b", "bs"], ["bd"]),
        N("Conv", ["xd", "wd", "bd"], ["c"], strides=[2, 2]),
        N("QuantizeLinear", ["c", "ys", "yz"], ["codes"]), N("DequantizeLinear", ["codes", "ys", "yz"], ["y"]),
    ]  # fmt: skip
    known = [constant("xs", np.float32(1 / 32)), constant("xz", np.uint8(120)),
             constant("w", RANDOM.integers(-127, 128, (6, 2, 3, 3), dtype=np.int8)),
             constant("ws", (2.0 ** -RANDOM.integers(6, 9, 6)).astype(np.float32)), constant("wz", np.zeros(6, np.int8)),
             constant("b", RANDOM.integers(-900, 900, 6, dtype=np.int32)), constant("bs", np.float32(2.0**-12)),
             constant("ys", np.float32(1 / 16)), constant("yz", np.uint8(128))]  # fmt: skip
    keep("quantized", model(nodes, [info("x", [1, 2, 9, 9])], ["codes", "y"], known), {"x": floats(1, 2, 9, 9)})


def integer_products():
    """ONNX's integer ops, and dynamic quantization with three outputs."""
    nodes = [
        N("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), N("MatMulInteger", ["q", "w", "z"], ["i"]),
        N("Cast", ["i"], ["f"], to=T.FLOAT), N("Mul", ["s", "ws"], ["sw"]), N("Mul", ["f", "sw"], ["y"]),
        N("QLinearMatMul", ["q", "s", "z", "w2", "w2s", "w2z", "ys", "yz"], ["p"]),
    ]  # fmt: skip
    known = [constant("w", RANDOM.integers(-128, 128, (8, 4), dtype=np.int8)), constant("ws", np.float32(0.01)),
             constant("w2", RANDOM.integers(0, 256, (8, 4), dtype=np.uint8)), constant("w2s", np.float32(0.02)),
             constant("w2z", np.uint8(128)), constant("ys", np.float32(0.25)), constant("yz", np.uint8(3))]  # fmt: skip
    keep("integer_products", model(nodes, [info("x", [3, 8])], ["i", "y", "p"], known), {"x": floats(3, 8)})


def constants():
    """All forms of Constant."""
    nodes = [
        N("Constant", [], ["a"], value=constant("", floats(2, 3))), N("Constant", [], ["b"], value_float=2.5),
        N("Constant", [], ["c"], value_floats=[1.0, 2.0, 4.0]), N("Constant", [], ["d"], value_ints=[3, 2]),
        N("Add", ["x", "a"], ["e"]), N("Mul", ["e", "b"], ["f"]), N("Sub", ["f", "c"], ["g"]),
        N("Reshape", ["g", "d"], ["y"]), N("Identity", ["c"], ["same"]),
    ]  # fmt: skip
    keep("constants", model(nodes, [info("x", [2, 3])], ["y", "same"]), {"x": floats(2, 3)})


def typed(name, elem, values, raw):
    shape = [len(values)]
    made = h.make_tensor(name, elem, shape, values)
    return constant(name, numpy_helper.to_array(made)) if raw else made


def dtypes():
    """Initializers of every dtype as results, raw and typed. Their elements are NumPy's."""
    values = {T.FLOAT: [0.5, -2, 3], T.FLOAT16: [0.5, -2, 65504], T.BFLOAT16: [0.5, -2, 3], T.INT8: [-128, 0, 127],
              T.UINT8: [0, 1, 255], T.INT16: [-32768, 5, 9], T.UINT16: [65535, 5, 9], T.INT32: [-(2**31), 5, 2**31 - 1],
              T.INT64: [-(2**63), 7, 2**63 - 1], T.BOOL: [True, False, True], T.INT4: [-8, 7, -1], T.UINT4: [0, 15, 9],
              T.FLOAT8E4M3FN: [0.5, -448, 1], T.FLOAT8E5M2: [0.5, -2, 57344], T.FLOAT4E2M1: [0.5, -6, 3],
              T.INT2: [-2, 1, -1, 0, 1], T.UINT2: [3, 2, 1, 0, 3], T.DOUBLE: [0.1, -2, 1e300], T.UINT32: [0, 7, 2**32 - 1],
              T.UINT64: [0, 7, 2**64 - 1]}  # fmt: skip
    tensors = [typed(f"{T.DataType.Name(e).lower()}_{w}", e, v, w == "raw")
               for e, v in values.items() for w in ("raw", "typed")]  # fmt: skip
    wanted = {t.name: numpy_helper.to_array(t) for t in tensors}
    outputs = [info(t.name, list(t.dims), t.data_type) for t in tensors]
    keep("dtypes", model([], [], outputs, tensors, opset=25, ir=13), {}, wanted=wanted)


def external():
    """Constants in another file, one with an offset, one too large to be kept in the graph."""
    arrays = {"w": floats(8, 8), "large": floats(80, 80)}
    tensors, data = [], b"\0" * 64
    for name, array in arrays.items():
        tensor = onnx.TensorProto(name=name, data_type=T.FLOAT, dims=array.shape)
        tensor.data_location = onnx.TensorProto.EXTERNAL
        raw = array.tobytes()
        for key, value in (("location", "external.bin"), ("offset", len(data)), ("length", len(raw))):
            tensor.external_data.add(key=key, value=str(value))
        data += raw
        tensors.append(tensor)
    nodes = [N("MatMul", ["x", "w"], ["a"]), N("Reshape", ["a", "d"], ["b"]), N("MatMul", ["b", "large"], ["y"])]
    inputs, d = [info("x", [10, 8])], constant("d", np.array([1, 80]))
    (FOLDER / "external.bin").write_bytes(data)
    known = [constant(n, a) for n, a in arrays.items()]
    feeds = {"x": floats(10, 8)}
    wanted = expected(model(nodes, inputs, ["y"], [*known, d]), feeds, False)
    keep("external", model(nodes, inputs, ["y"], [*tensors, d]), feeds, wanted=wanted)


def functions():
    """Functions of the model within each other, with attributes that are given, or have a default."""
    leaky = h.make_function("own", "Leaky", ["x"], ["y"], [N("LeakyRelu", ["x"], ["t"]), N("Neg", ["one"], ["m"]),
                            N("Constant", [], ["one"], value_float=1.0), N("Mul", ["t", "one"], ["y"])],
                            [h.make_opsetid("", 17)], attributes=["slope"])  # fmt: skip
    del leaky.node[1]
    leaky.node[0].attribute.append(onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT,
                                                       ref_attr_name="slope"))  # fmt: skip
    scaled = h.make_function("own", "Twice", ["a", "unused"], ["b"],
                             [N("Leaky", ["a"], ["t"], domain="own", slope=0.5), N("Add", ["t", "a"], ["b"])],
                             [h.make_opsetid("", 17), h.make_opsetid("own", 1)])  # fmt: skip
    nodes = [N("Twice", ["x", "x"], ["m"], domain="own"), N("Leaky", ["m"], ["y"], domain="own", slope=0.25),
             N("Leaky", ["x"], ["z"], domain="own", slope=0.125)]  # fmt: skip
    made = model(nodes, [info("x", [2, 3])], ["y", "z", "m"], functions=[leaky, scaled])
    keep("functions", made, {"x": floats(2, 3)})


def branches():
    """If with a condition that is known: of the shape, and of a constant, one within the other."""
    inner = h.make_graph([N("Mul", ["x", "k"], ["inner_y"])], "inner", [], [info("inner_y", None)],
                         [constant("k", np.float32(3))])  # fmt: skip
    other = h.make_graph([N("NonZero", ["x"], ["nz"]), N("Cast", ["nz"], ["oy"], to=T.FLOAT)], "other", [],
                         [info("oy", None)])  # fmt: skip
    then = h.make_graph([N("If", ["yes"], ["then_y"], then_branch=inner, else_branch=other)], "then", [],
                        [info("then_y", None)])  # fmt: skip
    nodes = [N("Size", ["x"], ["size"]), N("Constant", [], ["six"], value_int=6), N("Equal", ["size", "six"], ["is_six"]),
             N("Constant", [], ["yes"], value=constant("", np.array(True))),
             N("If", ["is_six"], ["y"], then_branch=then, else_branch=other)]  # fmt: skip
    keep("branches", model(nodes, [info("x", [2, 3])], ["y"]), {"x": floats(2, 3)})


def opset7():
    """Attributes that became inputs later."""
    nodes = [
        N("Clip", ["x"], ["a"], min=-0.5, max=0.75), N("Unsqueeze", ["a"], ["b"], axes=[0]),
        N("ReduceSum", ["b"], ["c"], axes=[3], keepdims=1), N("Squeeze", ["b"], ["d"], axes=[0]),
        N("Softmax", ["d"], ["e"]), N("Dropout", ["e"], ["f", "mask"]), N("Upsample", ["g4"], ["up"], scales=[1.0, 1.0, 2.0, 2.0]),
        N("Unsqueeze", ["f"], ["g4"], axes=[0]), N("Shape", ["d"], ["s"]),
        N("Slice", ["s"], ["last"], starts=[2], ends=[9223372036854775807], axes=[0]),
        N("Constant", [], ["m"], value=constant("", np.array([-1]))), N("Concat", ["m", "last"], ["dims"], axis=0),
        N("Reshape", ["d", "dims"], ["r"]), N("LogSoftmax", ["d"], ["l"], axis=2),
    ]  # fmt: skip
    nodes[6], nodes[7] = nodes[7], nodes[6]
    made = model(nodes, [info("x", [2, 3, 4])], ["c", "e", "up", "r", "l"], opset=8, ir=3)
    keep("opset7", made, {"x": floats(2, 3, 4)})


def shapes():
    """Arithmetic on shapes, which leaves nothing to a run but what reads x."""
    nodes = [
        N("Shape", ["x"], ["s"]), N("Split", ["s"], ["s0", "s1"], axis=0), N("Mul", ["s0", "two"], ["m"]),
        N("Div", ["m", "three"], ["dv"]), N("Sub", ["dv", "one"], ["sb"]), N("Mod", ["s1", "three"], ["md"]),
        N("Slice", ["s", "one", "big", "zero", "one"], ["tail"]), N("Slice", ["s", "minus", "least", "zero", "minus"], ["back"]),
        N("ReduceProd", ["back"], ["all"], keepdims=1), N("Concat", ["all", "one"], ["column"], axis=0),
        N("Reshape", ["x", "column"], ["a"]), N("Cast", ["s0"], ["sf"], to=T.FLOAT), N("Sqrt", ["sf"], ["sq"]),
        N("Floor", ["sq"], ["fl"]), N("Cast", ["fl"], ["fi"], to=T.INT64), N("Range", ["n0", "n6", "n2"], ["rg"]),
        N("Squeeze", ["s0", "zero"], ["sc"]), N("Greater", ["sc", "n2"], ["gt"]), N("Where", ["gt", "s", "tail"], ["wh"]),
        N("Reshape", ["x", "wh"], ["b"]), N("ConstantOfShape", ["tail"], ["zeros"]), N("Add", ["x4", "zeros"], ["c"]),
        N("Gather", ["x", "back_i"], ["unused"], axis=0) if False else N("Identity", ["x"], ["x4"]),
        N("Expand", ["one", "tail"], ["ex"]), N("Tile", ["back", "two"], ["ti"]), N("Transpose", ["rg2"], ["tr"]),
        N("Concat", ["md", "fi", "sb", "rg", "ti"], ["ints"], axis=0), N("Unsqueeze", ["rg", "zero"], ["rg2"]),
    ]  # fmt: skip
    order = [n for n in nodes if n.op_type != "Gather"]
    order.sort(key=lambda n: {"Identity": 0}.get(n.op_type, 1))
    unsqueeze = next(n for n in order if n.op_type == "Unsqueeze")
    order.remove(unsqueeze)
    order.insert(next(i for i, n in enumerate(order) if n.op_type == "Transpose"), unsqueeze)
    known = [constant("zero", np.array([0])), constant("one", np.array([1])), constant("two", np.array([2])),
             constant("three", np.array([3])), constant("minus", np.array([-1])), constant("big", np.array([2**63 - 1])),
             constant("least", np.array([-(2**63)])), constant("n0", np.array(0)), constant("n6", np.array(6)),
             constant("n2", np.array(2))]  # fmt: skip
    keep("shapes", model(order, [info("x", ["rows", "columns"])], ["a", "b", "c", "ints", "ex", "tr"], known),
         {"x": floats(4, 5)})  # fmt: skip


def inputs_that_are_constants():
    made = model([N("Add", ["x", "w"], ["y"])], [info("x", [2]), info("w", [2])], ["y"], [constant("w", floats(2))])
    keep("inputs_that_are_constants", made, {"x": floats(2)})


def elementwise():
    """Ops that are ours under another name, and some that are several of ours."""
    nodes = [
        N("LeakyRelu", ["x"], ["a"]), N("Elu", ["a"], ["b"]), N("HardSigmoid", ["b"], ["c"]), N("Clip", ["c", "", "top"], ["d"]),
        N("Max", ["d", "x", "half"], ["e"]), N("Where", ["mask", "e", "x"], ["f"]), N("PRelu", ["f", "slope"], ["g"]),
        N("Gelu", ["g"], ["i"], approximate="tanh"), N("LayerNormalization", ["i", "gamma"], ["y"], axis=-1),
        N("Mish", ["x"], ["z"]),
    ]  # fmt: skip
    known = [constant("top", np.float32(0.7)), constant("half", np.float32(0.5)), constant("slope", floats(4)),
             constant("mask", np.array([True, False, True, True])), constant("gamma", floats(4))]  # fmt: skip
    keep("elementwise", model(nodes, [info("x", [3, 4])], ["y", "z"], known, opset=20, ir=9), {"x": floats(3, 4)})


def functions_of_elements():
    """Functions of one element, powers, remainders, and ops that are formulas of ours."""
    plain = ["Sign", "Floor", "Ceil", "Erf", "Softplus", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Neg", "Softsign", "Selu",
             "Celu", "ThresholdedRelu", "Shrink"]  # fmt: skip
    nodes = [
        *(N(op, ["x"], [op]) for op in plain), *(N(op, ["unit"], [op]) for op in ("Asin", "Acos", "Atanh")), N("Acosh", ["above"], ["Acosh"]),
        N("Celu", ["x"], ["celu"], alpha=2.5), N("Selu", ["x"], ["selu"], alpha=1.25, gamma=0.5), N("Shrink", ["x"], ["shrink"], lambd=0.25, bias=0.125),
        N("Pow", ["above", "x"], ["p"]), N("Pow", ["x", "two"], ["squares"]), N("Pow", ["n", "two"], ["whole_squares"]),
        N("Mod", ["n", "five"], ["m"]), N("Mod", ["n", "five"], ["mf"], fmod=1), N("Mod", ["x", "unit"], ["xf"], fmod=1),
        N("Mean", ["x", "unit", "above"], ["mean"]), N("Mean", ["x"], ["same"]), N("Sum", ["x", "unit", "above"], ["sum"]),
        N("CastLike", ["x", "n"], ["like"]), N("CastLike", ["x", "unit"], ["alike"]), N("Neg", ["n"], ["minus_n"]),
    ]  # fmt: skip
    outputs = [o for n in nodes for o in n.output]
    inputs = [info("x", [3, 4]), info("unit", [4]), info("above", [3, 1]), info("n", [4], T.INT64)]
    known = [constant("two", np.int64(2)), constant("five", np.int64(-5))]
    feeds = {"x": floats(3, 4) * 1.5, "unit": np.tanh(floats(4)), "above": np.abs(floats(3, 1)) + 1, "n": np.array([7, -7, 10, -(2**40)])}
    keep("functions_of_elements", model(nodes, inputs, outputs, known, opset=20, ir=9), feeds)


def slices():
    """Reductions that are formulas, and the places of the greatest elements."""
    nodes = [
        N("ReduceSumSquare", ["x", "last"], ["a"]), N("ReduceSumSquare", ["x"], ["b"], keepdims=0), N("ReduceLogSum", ["above", "last"], ["c"]),
        N("ReduceLogSumExp", ["x", "last"], ["d"]), N("ReduceLogSumExp", ["x"], ["e"], keepdims=0), N("ReduceLogSumExp", ["far", "last"], ["f"], keepdims=0),
        N("ArgMax", ["ties"], ["g"], axis=1), N("ArgMax", ["ties"], ["i"], axis=-1, keepdims=0, select_last_index=1), N("ArgMin", ["ties"], ["j"]),
        N("TopK", ["x", "two"], ["k", "l"]), N("TopK", ["n", "two"], ["m", "o"], axis=0, largest=0), N("Hardmax", ["ties"], ["p"], axis=0),
    ]  # fmt: skip
    outputs = [o for n in nodes for o in n.output]
    inputs = [info("x", [3, 4]), info("above", [3, 4]), info("far", [2, 3]), info("ties", [3, 4]), info("n", [4, 2], T.INT64)]
    feeds = {"x": floats(3, 4), "above": np.abs(floats(3, 4)), "far": np.array([[1e4, 9999, -np.inf], [-np.inf] * 3], np.float32),
             "ties": np.array([[1, 2, 2, 0], [5, -1, 5, 5], [0, 0, 0, 0]], np.float32), "n": np.array([[7, -7], [7, 2**60], [1, 2**60], [-3, 4]])}  # fmt: skip
    keep("slices", model(nodes, inputs, outputs, [longs("last", -1), longs("two", 2)], opset=20, ir=9), feeds)


def norms():
    """Normalizations and pools that are formulas of ours."""
    nodes = [
        N("InstanceNormalization", ["x", "gamma", "beta"], ["a"], epsilon=0.01), N("LpNormalization", ["x"], ["b"]),
        N("LpNormalization", ["flat"], ["c"], p=1, axis=0), N("MeanVarianceNormalization", ["x"], ["d"]), N("MeanVarianceNormalization", ["x"], ["e"], axes=[1, 3]),
        N("LRN", ["x"], ["f"], size=3, alpha=0.5, beta=0.6, bias=1.5), N("LRN", ["x"], ["g"], size=7), N("GlobalLpPool", ["x"], ["i"]),
        N("GlobalLpPool", ["x"], ["j"], p=3), N("LpPool", ["x"], ["k"], kernel_shape=[2, 3], pads=[1, 0, 0, 1], strides=[1, 2]),
        N("LpPool", ["x"], ["l"], kernel_shape=[3, 2], p=1, auto_pad="SAME_UPPER"),
    ]  # fmt: skip
    outputs = [o for n in nodes for o in n.output]
    known = [constant("gamma", floats(5)), constant("beta", floats(5))]
    flat = floats(3, 4)
    flat[:, 1] = 0
    made = model(nodes, [info("x", [2, 5, 4, 6]), info("flat", [3, 4])], outputs, known, opset=18, ir=8)
    keep("norms", made, {"x": floats(2, 5, 4, 6), "flat": flat})


def microsoft():
    """Ops of com.microsoft that are formulas of ours. A quantized array is followed by its scale and zero point."""
    codes = lambda *shape: RANDOM.integers(0, 256, shape, np.uint8)
    signed = lambda *shape: RANDOM.integers(-128, 128, shape, np.int8)
    scaled = lambda array, scale, zero: [array, np.float32(scale), array.dtype.type(zero)]
    result = lambda scale, zero: [np.float32(scale), np.uint8(zero)]
    a, b, zeros = scaled(codes(3, 4), 0.1, 120), scaled(codes(4), 0.05, 7), np.zeros(5, np.int8)
    image = scaled(codes(1, 3, 5, 4), 0.1, 120)
    cases = [
        ("QuickGelu", [floats(3, 4)], {}), ("BiasGelu", [floats(3, 4), floats(4)], {}), ("FastGelu", [floats(3, 4), floats(4)], {}),
        ("FastGelu", [floats(3, 4)], {}), ("FusedMatMul", [floats(2, 3, 4), floats(2, 5, 4)], {"transB": 1, "alpha": 0.5}),
        ("FusedMatMul", [floats(4, 3), floats(4, 5)], {"transA": 1}),
        ("SkipLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), *(floats(8) for _ in range(3))], {"epsilon": 1e-5}),
        ("SkipLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), floats(8)], {"epsilon": 1e-5}),
        ("SkipSimplifiedLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), floats(8)], {"epsilon": 1e-5}),
        ("QLinearAdd", [*a, *b, *result(0.13, 100)], {}), ("QLinearMul", [*a, *b, *result(0.33, 100)], {}),
        ("QLinearSigmoid", [*scaled(codes(3, 40), 0.05, 120), *result(1 / 256, 0)], {}),
        ("QLinearLeakyRelu", [*scaled(codes(3, 40), 0.05, 120), *result(0.04, 30)], {"alpha": 0.1}),
        ("QLinearSoftmax", [*scaled(codes(3, 10), 0.05, 120), *result(1 / 256, 0)], {"axis": -1, "opset": 13}),
        ("QLinearWhere", [RANDOM.random((3, 4)) < 0.5, *a, *b, *result(0.13, 100)], {}),
        ("QLinearGlobalAveragePool", [*image, *result(0.051, 99)], {}),
        ("QLinearAveragePool", [*image, *result(0.0513, 99)], {"kernel_shape": [3, 2], "pads": [1, 0, 1, 0], "strides": [2, 1]}),
        ("QLinearConcat", [*result(0.1, 128), *scaled(codes(2, 3), 0.1, 128), *scaled(codes(2, 5), 0.2, 100)], {"axis": 1}),
        ("QGemm", [*a, *scaled(signed(4, 5), 0.05, 0), RANDOM.integers(-500, 500, 5, np.int32), *result(0.3, 100)], {}),
        ("QGemm", [*scaled(codes(4, 3), 0.1, 120), signed(5, 4), floats(5) ** 2, zeros], {"transA": 1, "transB": 1, "alpha": 0.5}),
        ("MatMulIntegerToFloat", [a[0], signed(4, 5), np.float32(0.1), floats(5), np.uint8(3), zeros, floats(5)], {}),
        ("DynamicQuantizeMatMul", [floats(3, 4), signed(4, 5), np.float32(0.1), np.int8(0), floats(5)], {}),
    ]  # fmt: skip
    nodes, known, inputs, feeds, outputs = [], [], [], {}, []
    for i, (op, arrays, attrs) in enumerate(cases):
        names = [f"{op}{i}_{k}" for k in range(len(arrays))]
        for name, array in zip(names, map(np.asarray, arrays)):
            if array.ndim == 0:
                known.append(constant(name, array))
            else:
                feeds[name] = array
                inputs.append(info(name, array.shape, h.np_dtype_to_tensor_dtype(array.dtype)))
        nodes.append(N(op, names, [f"y{i}"], domain="com.microsoft", **attrs))
        outputs.append(info(f"y{i}", None, T.UINT8 if op.startswith("Q") and op != "QuickGelu" and i != 19 else T.FLOAT))
    keep("microsoft", model(nodes, inputs, outputs, known), feeds)


def packed_weights():
    """MatMulNBits: blocks with and without zero points, rows that end within a block, a bias."""
    nodes, known, outputs = [], [], []
    rows = [(4, 32, 64, True), (4, 16, 40, False), (8, 32, 32, True), (4, 32, 128, False)]
    for i, (bits, block, k, zeros) in enumerate(rows):
        n, blocks = 6, -(-k // block)
        packed = RANDOM.integers(0, 256, (n, blocks, block * bits // 8), np.uint8)
        known += [constant(f"b{i}", packed), constant(f"s{i}", np.abs(floats(n * blocks)))]
        names = [f"x{i}", f"b{i}", f"s{i}"]
        if zeros:
            known.append(constant(f"z{i}", RANDOM.integers(0, 256, n * blocks * bits // 8, np.uint8)))
            names.append(f"z{i}")
        if i == 3:
            known.append(constant("bias", floats(n)))
            names += ["", "", "bias"]
        attrs = {"N": n, "K": k, "bits": bits, "block_size": block}
        nodes.append(N("MatMulNBits", names, [f"y{i}"], domain="com.microsoft", **attrs))
        outputs.append(info(f"y{i}", None))
    feeds = {f"x{i}": floats(2, 3, k) for i, (_, _, k, _) in enumerate(rows)}
    keep("packed_weights", model(nodes, [info(n, a.shape) for n, a in feeds.items()], outputs, known), feeds)


def fused():
    """FusedConv with each activation and a sum, and MatMulNBits whose rows of zero points end within a byte, also of 2 bits."""
    random = np.random.default_rng(22)
    numbers = lambda *shape: random.standard_normal(shape).astype(np.float32)
    feeds = {"x": numbers(1, 2, 5, 5), "z": numbers(1, 3, 3, 3), "a": numbers(2, 96), "c": numbers(2, 80)}
    known = [constant("w", numbers(3, 2, 3, 3)), constant("b", numbers(3))]
    rows = [("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.25, 0.4])]
    nodes = [N("FusedConv", ["x", "w", "b", *["z"][i % 2 :]], [f"y{i}"], domain="com.microsoft", activation=activation,
               **({"activation_params": params} if params else {}))
             for i, (activation, params) in enumerate(rows)]  # fmt: skip
    for i, (bits, block, x, k) in enumerate([(4, 32, "a", 96), (4, 16, "c", 80), (2, 32, "a", 96)]):
        blocks, n = k // block, 5
        known += [constant(f"b{i}", random.integers(0, 256, (n, blocks, block * bits // 8), np.uint8)), constant(f"s{i}", np.abs(numbers(n * blocks))),
                  constant(f"z{i}", random.integers(0, 256, n * -(-blocks * bits // 8), np.uint8))]  # fmt: skip
        attrs = {"N": n, "K": k, "bits": bits, "block_size": block}
        nodes.append(N("MatMulNBits", [x, f"b{i}", f"s{i}", f"z{i}"], [f"p{i}"], domain="com.microsoft", **attrs))
    inputs = [info(n, a.shape) for n, a in feeds.items()]
    keep("fused", model(nodes, inputs, [info(node.output[0], None) for node in nodes], known), feeds)


def recurrent():
    """RNN, GRU and LSTM in all directions. Weights are constants but for the last node, whose first states are zeros."""
    random = np.random.default_rng(15)
    numbers = lambda *shape: (random.standard_normal(shape) * 0.5).astype(np.float32)
    steps, batch, wide, hidden = 5, 2, 3, 4
    rows = [
        ("RNN", "forward", {}), ("RNN", "bidirectional", {"activations": ["Relu", "Tanh"]}), ("GRU", "reverse", {}),
        ("GRU", "bidirectional", {"linear_before_reset": 1}), ("GRU", "forward", {"clip": 0.3}), ("LSTM", "bidirectional", {}),
        ("LSTM", "forward", {"peepholes": True}), ("LSTM", "reverse", {"input_forget": 1}), ("LSTM", "forward", {"fed": True}),
    ]  # fmt: skip
    nodes, known, outputs, feeds = [], [], [], {"x": numbers(steps, batch, wide)}
    for i, (op, direction, attrs) in enumerate(rows):
        gates, both = {"RNN": 1, "GRU": 3, "LSTM": 4}[op], 1 + (direction == "bidirectional")
        fed, peepholes = attrs.pop("fed", False), attrs.pop("peepholes", False)
        arrays = {"w": numbers(both, gates * hidden, wide), "r": numbers(both, gates * hidden, hidden),
                  "b": numbers(both, 2 * gates * hidden), "lengths": None}
        if not fed:
            arrays["h"] = numbers(both, batch, hidden)
            arrays |= {"c": numbers(both, batch, hidden)} if op == "LSTM" else {}
        if peepholes:
            arrays["p"] = numbers(both, 3 * hidden)
        names = [f"{key}{i}" if array is not None else "" for key, array in arrays.items()]
        arrays = {f"{key}{i}": array for key, array in arrays.items() if array is not None}
        feeds |= arrays if fed else {}
        known += [] if fed else [constant(name, array) for name, array in arrays.items()]
        made = [f"y{i}", f"last{i}", f"cell{i}"][: 2 + (op == "LSTM")]
        made[0] = "" if i == 2 else made[0]
        nodes.append(N(op, ["x", *names], made, hidden_size=hidden, direction=direction, **attrs))
        outputs += [info(name, None) for name in made if name]
    keep("recurrent", model(nodes, [info(n, a.shape) for n, a in feeds.items()], outputs, known), feeds)


def pooled_codes():
    """MaxPool of int8 and uint8, with padding whose bytes would win or lose if they were codes."""
    random = np.random.default_rng(16)
    feeds = {"s": random.integers(-128, 0, (1, 2, 7, 6), np.int8), "u": random.integers(0, 256, (1, 2, 7, 6), np.uint8)}
    nodes = [
        N("MaxPool", ["s"], ["a"], kernel_shape=[3, 2], pads=[1, 0, 1, 1]), N("MaxPool", ["u"], ["b"], kernel_shape=[2, 2], strides=[2, 3]),
        N("MaxPool", ["s"], ["c"], kernel_shape=[2, 2], dilations=[2, 1]), N("MaxPool", ["u"], ["d"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        N("MaxPool", ["s"], ["e"], kernel_shape=[2, 3], auto_pad="SAME_UPPER"),
    ]  # fmt: skip
    inputs = [info("s", feeds["s"].shape, T.INT8), info("u", feeds["u"].shape, T.UINT8)]
    outputs = [info(name, None, T.UINT8 if name in "bd" else T.INT8) for name in "abcde"]
    keep("pooled_codes", model(nodes, inputs, outputs), feeds)


def nearest_by_index():
    """Resize to the nearest element where Interpolate reads another one: of codes, batch, channels, any coordinates."""
    random = np.random.default_rng(17)
    feeds = {"f": random.standard_normal((2, 2, 7, 6)).astype(np.float32), "c": random.integers(-128, 128, (2, 2, 7, 6), np.int8)}
    rows = [
        ("f", "asymmetric", "floor", [1, 1, 0.6, 1.7]), ("c", "half_pixel", "round_prefer_floor", [1, 1, 2, 2]),
        ("f", "align_corners", "ceil", [2, 1, 0.5, 2.5]), ("c", "pytorch_half_pixel", "round_prefer_ceil", [1, 3, 1, 1.3]),
        ("f", "half_pixel", "floor", [1, 1, 1.05, 3]),
    ]  # fmt: skip
    nodes, known = [], []
    for i, (x, coordinates, nearest, scales) in enumerate(rows):
        known.append(constant(f"s{i}", np.array(scales, np.float32)))
        nodes.append(N("Resize", [x, "", f"s{i}"], [f"y{i}"], coordinate_transformation_mode=coordinates, nearest_mode=nearest))
    inputs = [info("f", feeds["f"].shape), info("c", feeds["c"].shape, T.INT8)]
    outputs = [info(f"y{i}", None, T.FLOAT if row[0] == "f" else T.INT8) for i, row in enumerate(rows)]
    keep("nearest_by_index", model(nodes, inputs, outputs, known), feeds)


def resized():
    """Resize as weighted sums: every coordinate transformation, cubic, antialias, a part of x, kept proportions, dims of
    any place, and codes."""
    random = np.random.default_rng(18)
    shape, roi = (2, 2, 7, 6), [0, 0, -0.1, 0.2, 1, 1, 0.8, 1.1]
    feeds = {"f": random.standard_normal(shape).astype(np.float32), "c": random.integers(-128, 128, shape, np.int8)}
    rows = [
        ("f", [1, 1, 0.6, 1.7], {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}),
        ("f", [1, 2, 2, 1], {"mode": "linear"}),
        ("c", [1, 1, 1.5, 2.1], {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}),
        ("f", [1, 1, 2.2, 0.7], {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}),
        ("f", [1, 1, 2.2, 0.7], {"mode": "nearest", "coordinate_transformation_mode": "tf_crop_and_resize"}),
        ("f", [1, 1, 1.7, 0.6], {"mode": "cubic", "coordinate_transformation_mode": "half_pixel_symmetric"}),
        ("f", [1, 1, 2, 3], {"mode": "cubic", "coordinate_transformation_mode": "align_corners", "cubic_coeff_a": -0.5}),
        ("f", [1, 1, 1.3, 2.2], {"mode": "cubic", "exclude_outside": 1}),
        ("f", [1, 1, 0.3, 0.5], {"mode": "linear", "antialias": 1}),
        ("f", [1, 1, 0.35, 1.8], {"mode": "cubic", "antialias": 1, "exclude_outside": 1}),
        ("f", (9, 20), {"mode": "linear", "axes": [3, 2], "antialias": 1, "keep_aspect_ratio_policy": "not_larger"}),
        ("f", (9, 20), {"mode": "nearest", "axes": [2, 3], "keep_aspect_ratio_policy": "not_smaller"}),
        ("f", [1, 1, 1.9, 2.6], {"nearest_mode": "round_prefer_ceil", "coordinate_transformation_mode": "half_pixel_symmetric"}),
    ]  # fmt: skip
    nodes, known = [], [constant("roi", np.array(roi, np.float32))]
    for i, (x, numbers, attrs) in enumerate(rows):
        scales = isinstance(numbers, list)
        known.append(constant(f"s{i}", np.array(numbers, np.float32 if scales else np.int64)))
        nodes.append(N("Resize", [x, "roi" if "tf" in str(attrs) else "", *["", f"s{i}"][scales:]], [f"y{i}"], **attrs))
    inputs = [info("f", shape), info("c", shape, T.INT8)]
    outputs = [info(f"y{i}", None, T.FLOAT if row[0] == "f" else T.INT8) for i, row in enumerate(rows)]
    keep("resized", model(nodes, inputs, outputs, known, opset=19), feeds)


def attention():
    """Attention with shared keys, a cache, masks and a soft cap, and RotaryEmbedding in both layouts."""
    random = np.random.default_rng(19)
    numbers = lambda *shape: random.standard_normal(shape).astype(np.float32)
    feeds = {"q": numbers(2, 4, 3, 8), "k": numbers(2, 2, 5, 8), "v": numbers(2, 2, 5, 6), "past_k": numbers(2, 2, 2, 8),
             "past_v": numbers(2, 2, 2, 6), "mask": numbers(3, 7), "flat": numbers(2, 3, 32), "allowed": random.random((2, 1, 3, 5)) < 0.6,
             "cos": numbers(9, 4), "sin": numbers(9, 4), "at": random.integers(0, 9, (2, 3)), "angles": numbers(2, 3, 2)}  # fmt: skip
    feeds["allowed"][..., 0] = True
    nodes = [
        N("Attention", ["q", "k", "v", "mask", "past_k", "past_v"], ["y0", "keys", "values"], is_causal=1),
        N("Attention", ["q", "k", "v", "allowed"], ["y1", "", "", "scores"], softcap=3.0, scale=0.5, qk_matmul_output_mode=1),
        N("Attention", ["flat", "flat", "flat"], ["y2"], q_num_heads=4, kv_num_heads=4, is_causal=1),
        N("RotaryEmbedding", ["q", "cos", "sin", "at"], ["y3"]),
        N("RotaryEmbedding", ["flat", "angles", "angles"], ["y4"], num_heads=4, interleaved=1, rotary_embedding_dim=4),
        N("Slice", ["q", "end", "end", "last"], ["none"]), N("Concat", ["q", "none", "q"], ["y5"], axis=3),
        N("Where", ["allowed", "one", "row"], ["y6"]),
    ]  # fmt: skip
    known = [longs("end", 99), longs("last", 3), constant("one", np.float32(1)), constant("row", np.arange(5, dtype=np.float32))]
    inputs = [info(n, a.shape, h.np_dtype_to_tensor_dtype(a.dtype)) for n, a in feeds.items()]
    outputs = [info(n, None) for n in (*(f"y{i}" for i in range(7)), "keys", "values", "scores")]
    keep("attention", model(nodes, inputs, outputs, known, opset=23, ir=10), feeds)


def einsum():
    """Products of small integers, whose sums are exact: transposes, sums, diagonals, matrices, outer products, ellipses."""
    random = np.random.default_rng(20)
    feeds = {n: random.integers(-4, 5, shape).astype(np.float32) for n, shape in
             {"a": (2, 3, 4), "b": (2, 4, 5), "c": (3, 3), "d": (4,), "e": (2, 3, 4, 4), "f": (1, 4, 6)}.items()}  # fmt: skip
    rows = [("bij->jbi", "a"), ("bij,bjk", "ab"), ("ii", "c"), ("ij,ij->", "cc"), ("bij,j->bi", "ad"), ("i,j->ji", "dd"), ("...ii->...i", "e"),
            ("bij,bjk,ih->bkh", "abc"), ("...ij,...jk->...ik", "af"), ("bihj,bjk->bihk", "eb"), ("bij,cij->bc", "aa"), ("iji->j", "g")]  # fmt: skip
    feeds["g"] = random.integers(-4, 5, (3, 2, 3)).astype(np.float32)
    nodes = [N("Einsum", list(names), [f"y{i}"], equation=equation) for i, (equation, names) in enumerate(rows)]
    inputs = [info(n, a.shape) for n, a in feeds.items()]
    keep("einsum", model(nodes, inputs, [info(f"y{i}", None) for i in range(len(rows))]), feeds)


def grid_samples():
    """GridSample in every mode, of images and of a volume, with positions outside."""
    random = np.random.default_rng(21)
    feeds = {"x": random.standard_normal((2, 3, 5, 4)).astype(np.float32), "v": random.standard_normal((1, 2, 3, 4, 3)).astype(np.float32),
             "g": random.uniform(-2, 2, (2, 4, 3, 2)).astype(np.float32), "h": random.uniform(-2, 2, (1, 2, 3, 2, 3)).astype(np.float32)}  # fmt: skip
    rows = [(mode, padding, "xg") for mode in ("linear", "nearest", "cubic") for padding in ("zeros", "border", "reflection")]
    rows += [("linear", "zeros", "vh"), ("nearest", "reflection", "vh"), ("linear", "border", "vh")]
    nodes = [N("GridSample", list(names), [f"y{i}"], mode=mode, padding_mode=padding, align_corners=i % 2)
             for i, (mode, padding, names) in enumerate(rows)]  # fmt: skip
    inputs = [info(n, a.shape) for n, a in feeds.items()]
    keep("grid_samples", model(nodes, inputs, [info(f"y{i}", None) for i in range(len(rows))], opset=20), feeds)


def sequences():
    """RNN, GRU and LSTM with lengths that are data, other activations, and clip together with peepholes; DynamicQuantizeLSTM."""
    random = np.random.default_rng(23)
    numbers = lambda *shape: (random.standard_normal(shape) * 0.5).astype(np.float32)
    steps, batch, wide, hidden = 4, 3, 3, 4
    feeds, known, nodes = {"x": numbers(steps, batch, wide), "lengths": np.array([2, 4, 1], np.int32)}, [], []
    rows = [
        ("RNN", "bidirectional", {"activations": ["LeakyRelu", "Affine"], "activation_alpha": [0.2, 0.7], "activation_beta": [0.1]}),
        ("GRU", "reverse", {"activations": ["HardSigmoid", "Softsign"]}), ("GRU", "forward", {"activations": ["Sigmoid", "ThresholdedRelu"], "activation_alpha": [0.1]}),
        ("LSTM", "bidirectional", {"activations": ["HardSigmoid", "Elu", "ScaledTanh", "Sigmoid", "Softplus", "ThresholdedRelu"],
                                   "activation_alpha": [0.3, 0.8, 1.5, 0.1], "activation_beta": [0.4, 0.7]}),
        ("LSTM", "forward", {"clip": 0.4, "peepholes": True}), ("DynamicQuantizeLSTM", "bidirectional", {}),
    ]  # fmt: skip
    for i, (op, direction, attrs) in enumerate(rows):
        gates, both = {"RNN": 1, "GRU": 3}.get(op, 4), 1 + (direction == "bidirectional")
        arrays = {"w": numbers(both, gates * hidden, wide), "r": numbers(both, gates * hidden, hidden),
                  "b": numbers(both, 2 * gates * hidden), "lengths": None, "h": numbers(both, batch, hidden)}  # fmt: skip
        if gates == 4:
            arrays |= {"c": numbers(both, batch, hidden), "p": numbers(both, 3 * hidden)}
            arrays["p"] = arrays["p"] if attrs.pop("peepholes", False) else None
        if op.startswith("D"):
            arrays["lengths"] = np.full(batch, steps, np.int32)
            for name in "wr":
                arrays[name] = random.integers(-128, 128, (both, arrays[name].shape[2], gates * hidden), np.int8)
            for name in "wr":
                arrays |= {f"{name}s": np.abs(numbers(both)) * np.float32(0.02), f"{name}z": np.zeros(both, np.int8)}
        names = ["x", *(key if key == "lengths" and op[0] != "D" else f"{key}{i}" if a is not None else "" for key, a in arrays.items())]
        known += [constant(f"{key}{i}", a) for key, a in arrays.items() if a is not None]
        nodes.append(N(op, names, [f"y{i}", f"last{i}"], domain="com.microsoft" if op[0] == "D" else "", hidden_size=hidden, direction=direction, **attrs))
    inputs = [info("x", feeds["x"].shape), info("lengths", [batch], T.INT32)]
    keep("sequences", model(nodes, inputs, [info(o, None) for node in nodes for o in node.output], known, opset=14), feeds)


def dilated_pools():
    """AveragePool with dilations, and with windows beyond padding that counts; LpPool with dilations."""
    random = np.random.default_rng(24)
    feeds = {"x": random.standard_normal((1, 2, 8, 7)).astype(np.float32)}
    rows = [("AveragePool", {"dilations": [2, 3], "pads": [1, 1, 0, 1]}), ("AveragePool", {"dilations": [1, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
            ("AveragePool", {"strides": [3, 2], "ceil_mode": 1, "pads": [1, 0, 1, 1], "count_include_pad": 1}),
            ("LpPool", {"dilations": [2, 2], "p": 3})]  # fmt: skip
    nodes = [N(op, ["x"], [f"y{i}"], kernel_shape=[3, 2], **attrs) for i, (op, attrs) in enumerate(rows)]
    keep("dilated_pools", model(nodes, [info("x", feeds["x"].shape)], [info(f"y{i}", None) for i in range(len(rows))], opset=22), feeds)


def clipped_codes():
    """Clip of int8 and uint8, with one bound and with both, crossed ones too, where max wins."""
    feeds = {"a": np.arange(-128, 128, 5).astype(np.int8), "b": np.arange(0, 256, 7).astype(np.uint8)}
    known = [constant("low", np.int8(-20)), constant("high", np.int8(33)), constant("ten", np.uint8(10)), constant("five", np.uint8(5))]
    rows = [("a", "low", "high"), ("a", "", "low"), ("a", "high", "low"), ("b", "ten", ""), ("b", "five", "ten")]
    nodes = [N("Clip", list(row), [f"y{i}"]) for i, row in enumerate(rows)]
    elems = {"a": T.INT8, "b": T.UINT8}
    inputs = [info(n, a.shape, elems[n]) for n, a in feeds.items()]
    keep("clipped_codes", model(nodes, inputs, [info(f"y{i}", None, elems[row[0]]) for i, row in enumerate(rows)], known), feeds)


def wide():
    """Elements that float32 and int32 cannot hold: a few of them computed while reading, others in a run."""
    nodes = [
        N("Mul", ["d", "tenth"], ["a"]), N("Sub", ["a", "d"], ["b"]), N("Sqrt", ["b"], ["c"]), N("Cast", ["d"], ["whole"], to=T.INT64),
        N("Add", ["n", "most"], ["e"]), N("Div", ["e", "seven"], ["f"]), N("Div", ["most", "seven"], ["g"]), N("Max", ["n", "most"], ["h"]),
        N("Cast", ["most"], ["i"], to=T.DOUBLE), N("Add", ["seven", "most"], ["j"]), N("Mul", ["third", "tenth"], ["k"]),
        N("Cast", ["n"], ["l"], to=T.UINT32), N("Concat", ["n", "f"], ["m"], axis=0),
    ]  # fmt: skip
    known = [constant("tenth", np.float64([0.1])), constant("third", np.float64([1 / 3])),
             constant("most", np.uint64([2**64 - 1])), constant("seven", np.uint64([7]))]  # fmt: skip
    made = model(nodes, [info("d", [2, 5], T.DOUBLE), info("n", [6], T.UINT64)],
                 ["b", "c", "whole", "e", "f", "g", "h", "i", "j", "k", "l", "m"], known, opset=20, ir=9)  # fmt: skip
    feeds = {"d": RANDOM.standard_normal((2, 5)) * 1e12, "n": RANDOM.integers(0, 2**64 - 1, 6, np.uint64, True)}
    keep("wide", made, feeds)


def names():
    """Names that graphs do not allow; of the model they are x, y and a long one."""
    long = "n" * 300
    nodes = [N("Relu", ["x\n"], ["a\tb"]), N("Abs", ["a\tb"], [long]), N("Sqrt", [long], ["y"])]
    keep("names", model(nodes, [info("x\n", [3])], ["y"]), {}, wanted={"y": np.sqrt(np.array([0, 1, 2], np.float32))})


def refused():
    """Much that is not read."""
    branch = h.make_graph([N("Relu", ["x"], ["by"])], "b", [], [info("by", None)])
    loop = h.make_graph([N("Identity", ["c"], ["co"])], "l", [info("i", [], T.INT64), info("c", [], T.BOOL)],
                        [info("co", [], T.BOOL)])  # fmt: skip
    nodes = [
        N("NonZero", ["x"], ["nz"], "where"), N("Foo", ["x"], ["foo"], "mine", domain="own"),
        N("If", ["flag"], ["y"], "choice", then_branch=branch, else_branch=branch),
        N("Loop", ["", "flag"], ["lo"], "turns", body=loop), N("SequenceEmpty", [], ["seq"], "list"),
        N("Add", ["x", "words"], ["w"], "strings"), N("Relu", ["foo"], ["fine"]), N("Mul", ["x", "wide"], ["v"]),
        N("MaxPool", ["image"], ["m", "where_max"], kernel_shape=[2, 2]), N("Cast", ["where_max"], ["wm"], to=T.FLOAT),
        N("Slice", ["x", "at", "at"], ["cut"], "piece"), N("Split", ["x", "sizes"], ["s1", "s2"]), N("Tile", ["x", "at"], ["often"]),
    ]  # fmt: skip
    words = h.make_tensor("words", T.STRING, [1], [b"a"])
    inputs = [info("x", [2]), info("flag", [], T.BOOL), info("image", [1, 1, 4, 4]), info("text", [1], T.STRING),
              info("at", [1], T.INT64)]  # fmt: skip
    wide = h.make_tensor("wide", T.COMPLEX64, [2], [1, 2])
    made = model(nodes, inputs, ["y", "fine", "w", "v", "wm", "cut", "s1", "often"], [words, wide, longs("sizes", 1, 2)])
    (FOLDER / "refused.onnx").write_bytes(made.SerializeToString())


def growing():
    """Twenty functions, each of which calls the one before it ten times."""
    own = [h.make_opsetid("", 17), h.make_opsetid("own", 1)]
    functions = [h.make_function("own", "F0", ["x"], ["y"], [N("Relu", ["x"], ["y"])], own)]
    for i in range(1, 20):
        chain = ["x", *(f"t{k}" for k in range(9)), "y"]
        calls = [N(f"F{i - 1}", [a], [b], domain="own") for a, b in zip(chain, chain[1:])]
        functions.append(h.make_function("own", f"F{i}", ["x"], ["y"], calls, own))
    graph = h.make_graph([N("F19", ["x"], ["y"], domain="own")], "g", [info("x", [2])], [info("y", [2])])
    made = h.make_model(graph, opset_imports=own, ir_version=8, functions=functions)
    (FOLDER / "growing.onnx").write_bytes(made.SerializeToString())


def moves():
    """Ops that move elements by their index, with lists as inputs. Outputs of Split keep their names."""
    nodes = [
        N("Slice", ["x", "s", "e", "a", "st"], ["sliced"]), N("Slice", ["x", "none", "none"], ["same"]),
        N("Split", ["x", "sizes"], ["p0", "p1", "p2"], axis=1), N("Split", ["x"], ["q0", "q1", "q2", "q3"], axis=-1, num_outputs=4),
        N("Pad", ["x", "pads", "half"], ["padded"]), N("Pad", ["x", "pads"], ["reflected"], mode="reflect"),
        N("Pad", ["x", "two", "", "last"], ["edged"], mode="edge"), N("Pad", ["x", "two", "value", "last"], ["wrapped"], mode="wrap"),
        N("Pad", ["x", "cut", "value"], ["filled"]), N("Expand", ["q3", "wide"], ["expanded"]), N("Tile", ["x", "times"], ["tiled"]),
        N("DepthToSpace", ["image"], ["dcr"], blocksize=2), N("DepthToSpace", ["image"], ["crd"], blocksize=2, mode="CRD"),
        N("SpaceToDepth", ["dcr"], ["deep"], blocksize=2), N("Trilu", ["x"], ["up"]), N("Trilu", ["x", "minus"], ["low"], upper=0),
        N("EyeLike", ["x"], ["eye"], k=1), N("EyeLike", ["x"], ["eyes"], dtype=T.INT64), N("OneHot", ["i", "seven", "onoff"], ["hot"]),
        N("OneHot", ["reals", "seven_real", "onoff"], ["hotter"], axis=0), N("CumSum", ["x", "one"], ["sums"]),
        N("CumSum", ["i", "minus"], ["back"], exclusive=1, reverse=1),
    ]  # fmt: skip
    known = [longs("s", 2, -1), longs("e", 0, -(2**63)), longs("a", 0, 1), longs("st", -1, -2), longs("none"), longs("sizes", 1, 2, 4),
             longs("pads", 1, 2, 0, 3), constant("half", np.float32(0.5)), longs("two", 2, 1), longs("last", -1),
             longs("cut", 0, -2, 1, 2), longs("wide", 2, 1, 3), longs("times", 2, 3), constant("minus", np.int64(-1)),
             constant("seven", np.int32(7)), constant("seven_real", np.float32(7)), constant("onoff", np.array([0.25, 3], np.float32)), constant("one", np.int32(1))]  # fmt: skip
    outputs = [o for n in nodes for o in n.output if o]
    inputs = [info("x", [4, 7]), info("value", []), info("image", [2, 8, 2, 3]), info("i", [2, 3], T.INT32), info("reals", [4])]
    made = model(nodes, inputs, outputs, known, opset=20, ir=9)
    keep("moves", made, {"x": floats(4, 7), "value": floats(), "image": floats(2, 8, 2, 3),
                         "i": np.array([[0, -1, 6], [3, -7, 9]], np.int32),
                         "reals": np.array([1, 0, 6, 7], np.float32)})  # fmt: skip


def old_moves():
    """The same with lists that are attributes in old versions."""
    nodes = [
        N("Slice", ["x"], ["a"], starts=[1, -5], ends=[9, 2**31], axes=[0, 1]), N("Slice", ["x"], ["b"], starts=[1], ends=[-1]),
        N("Split", ["x"], ["c", "d"], axis=1, split=[2, 5]), N("Split", ["x"], ["e", "f"]), N("Pad", ["x"], ["g"], pads=[0, 1, 2, 3], value=1.5),
        N("Pad", ["x"], ["h"], pads=[1, 0, 0, 6], mode="reflect"), N("Scatter", ["x", "i", "u"], ["k"], axis=1),
        N("Gather", ["x", "i"], ["l"], axis=1),
    ]  # fmt: skip
    outputs = [o for n in nodes for o in n.output]
    made = model(nodes, [info("x", [4, 7]), info("i", [2, 2], T.INT64), info("u", [2, 2])], outputs, opset=9, ir=4)
    keep("old_moves", made, {"x": floats(4, 7), "i": np.array([[0, 6], [3, 2]]), "u": floats(2, 2)})


def bounds():
    """Clip with bounds that are not known before a run, and of dtypes that Clamp lacks."""
    nodes = [
        N("Clip", ["x", "low", "high"], ["a"]), N("Clip", ["x", "", "low"], ["b"]), N("Clip", ["n", "minus", "ten"], ["c"]),
        N("Clip", ["n", "minus"], ["d"]), N("Clip", ["r", "least"], ["e"]), N("Clip", ["n"], ["f"]), N("Clip", ["i", "one", "zero"], ["g"]),
    ]  # fmt: skip
    known = [constant("minus", np.int64(-(2**53) - 1)), constant("ten", np.int64(10)), constant("least", np.float64(0.1)),
             constant("one", np.int32(1)), constant("zero", np.int32(0))]  # fmt: skip
    inputs = [info("x", [5]), info("low", []), info("high", []), info("n", [4], T.INT64), info("r", [3], T.DOUBLE), info("i", [3], T.INT32)]
    made = model(nodes, inputs, list("abcdefg"), known)
    keep("bounds", made, {"x": floats(5), "low": np.array(-0.5, np.float32), "high": np.array(0.25, np.float32),
                          "n": np.array([-(2**63), 3, 2**60, -(2**53)]), "r": np.array([0.1, 0.3, -1e300]),
                          "i": np.array([-4, 1, 7], np.int32)})  # fmt: skip


def places():
    """Indices that are elements of a tensor."""
    reductions = ["add", "mul", "max", "min"]
    nodes = [
        N("Gather", ["x", "i"], ["a"]), N("Gather", ["x", "one"], ["b"], axis=-1), N("GatherElements", ["x", "j"], ["c"], axis=1),
        N("GatherND", ["x", "k"], ["d"]), N("GatherND", ["x", "j"], ["e"], batch_dims=1), N("ScatterElements", ["x", "j", "u"], ["f"], axis=1),
        N("ScatterND", ["x", "k", "v"], ["g"]), *(N("ScatterElements", ["n", "j", "m"], [r], axis=1, reduction=r) for r in reductions),
        *(N("ScatterND", ["x", "k", "v"], [f"nd_{r}"], reduction=r) for r in reductions),
    ]  # fmt: skip
    outputs = [o for n in nodes for o in n.output]
    inputs = [info("x", [3, 5]), info("i", [2, 2], T.INT64), info("j", [3, 1], T.INT64), info("k", [3, 2], T.INT64),
              info("u", [3, 1]), info("v", [3]), info("n", [3, 5], T.INT64), info("m", [3, 1], T.INT64)]  # fmt: skip
    made = model(nodes, inputs, outputs, [constant("one", np.int64(1))], opset=18)
    feeds = {"x": floats(3, 5), "i": np.array([[0, -1], [2, 1]]), "j": np.array([[4], [0], [-2]]),
             "k": np.array([[0, 1], [2, -1], [0, 1]]), "u": floats(3, 1), "v": floats(3),
             "n": RANDOM.integers(-(2**62), 2**62, (3, 5)), "m": RANDOM.integers(-9, 9, (3, 1))}  # fmt: skip
    keep("places", made, feeds)


def logic():
    """Comparisons, truth values and bits."""
    compared = ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]
    nodes = [
        *(N(op, ["x", "y"], [op]) for op in compared), *(N(op, ["n", "seven"], [f"{op}_int"]) for op in compared),
        *(N(op, ["Greater", "Less_int"], [op]) for op in ("And", "Or", "Xor")), N("Not", ["Equal"], ["Not"]),
        N("Equal", ["Greater", "Less_int"], ["Equal_bool"]), N("IsNaN", ["x"], ["nan"]), N("IsInf", ["x"], ["inf"]),
        N("IsInf", ["x"], ["most"], detect_negative=0), N("IsInf", ["x"], ["least"], detect_positive=0),
        *(N(op, ["n", "seven"], [op]) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")), N("BitwiseNot", ["n"], ["BitwiseNot"]),
        N("BitShift", ["u", "by"], ["left"], direction="LEFT"), N("BitShift", ["u", "by"], ["right"], direction="RIGHT"),
        N("Where", ["Greater", "n", "seven"], ["chosen"]),
    ]  # fmt: skip
    outputs = [o for n in nodes for o in n.output]
    inputs = [info("x", [6]), info("y", [6]), info("n", [6], T.INT64), info("u", [6], T.UINT32), info("by", [6], T.UINT32)]
    made = model(nodes, inputs, outputs, [longs("seven", 7)], opset=20, ir=9)
    odd = np.array([1, -0.0, np.nan, np.inf, -np.inf, 2.5], np.float32)
    feeds = {"x": odd, "y": np.array([2, 0, 1, np.inf, 0, np.nan], np.float32), "n": np.array([7, -(2**63), 2**53 + 1, 0, 8, -1]),
             "u": RANDOM.integers(0, 2**32, 6, np.uint32), "by": np.array([0, 1, 5, 31, 8, 16], np.uint32)}  # fmt: skip
    keep("logic", made, feeds)


def empty_ports():
    """Constants without elements at inputs that may be absent."""
    none, real = np.zeros(0, np.int64), np.zeros(0, np.float32)
    nodes = [
        N("Resize", ["x", "real", "real", "sizes"], ["large"], mode="nearest"), N("ReduceSum", ["x", "none"], ["sum"]),
        N("Reshape", ["sum", "none"], ["scalar"]), N("Squeeze", ["sum", "none"], ["squeezed"]),
    ]  # fmt: skip
    known = [constant("none", none), constant("real", real), longs("sizes", 1, 2, 4, 6)]
    made = model(nodes, [info("x", [1, 2, 2, 3])], ["large", "sum", "scalar", "squeezed"], known)
    keep("empty_ports", made, {"x": np.arange(12, dtype=np.float32).reshape(1, 2, 2, 3)})  # sums are exact


def until():
    """A node that qdq refuses, and what comes before it. The results are those of the nodes before it."""
    nodes = [N("Abs", ["x"], ["absolute"], "first"), N("Neg", ["unused"], ["minus"]), N("Relu", ["absolute"], ["middle"], "a_node"),
             N("NonZero", ["middle"], ["places"], "find")]  # fmt: skip
    made = model(nodes, [info("x", [4]), info("unused", ["n"])], ["places", "minus"])
    before = model([nodes[0], nodes[2]], [info("x", [4])], ["middle"])
    feeds = {"x": floats(4)}
    keep("until", made, feeds, wanted=expected(before, feeds, False))


def forbidden_names():
    """Inputs and outputs with names that graphs do not allow, two of which become the same, and an open dim."""
    nodes = [N("Sub", ["in\t", "in\n"], ["a_"], "node\t1"), N("Abs", ["a_"], ["out\t"]), N("TopK", ["a_", "k"], ["most", "where"], "top"),
             N("Cast", ["where"], ["a\t"], to=T.FLOAT)]  # fmt: skip
    inputs = [info("in\t", ["n"]), info("in\n", ["n"])]
    made = model(nodes, inputs, ["out\t", "a\t", "where"], [longs("k", 2)])
    keep("forbidden_names", made, {"in\t": np.array([1, 5, 3], np.float32), "in\n": np.array([4, 1, 1], np.float32)})


def unsorted():
    """Nodes of the main graph that stand before the nodes they need, one through a branch."""
    branch = h.make_graph([N("Neg", ["middle"], ["by"])], "b", [], [info("by", None)])
    nodes = [N("Add", ["chosen", "middle"], ["y"]), N("If", ["flag"], ["chosen"], then_branch=branch, else_branch=branch),
             N("Relu", ["first"], ["middle"]), N("Abs", ["x"], ["first"])]  # fmt: skip
    made = model(nodes, [info("x", [4])], ["y"], [constant("flag", True)])
    keep("unsorted", made, {"x": floats(4)})
    nodes = [N("Abs", ["x"], ["fine"]), N("Add", ["x", "b"], ["a"], "first"), N("Relu", ["a"], ["b"], "second"), N("Neg", ["b"], ["y"])]
    made = model(nodes, [info("x", [4])], ["y", "fine"])
    (FOLDER / "cycle.onnx").write_bytes(made.SerializeToString())


def float_ops():
    """Ops whose sums and roundings target onnx takes from ONNX Runtime. Sizes cross vectors of 16 with a remainder."""
    own = np.random.default_rng(15)

    def some(*shape):
        return own.standard_normal(shape).astype(np.float32)

    x, line, volume, v = some(2, 35, 9, 11) * 10, some(1, 3, 71), some(1, 2, 5, 6, 7), np.abs(some(35))
    for array, at, value in ((x, 700, np.inf), (x, 1500, np.nan), (x, 2000, -0.0), (line, 40, -np.inf)):
        array.flat[at] = value
    points = [0, -0.0, np.inf, -np.inf, np.nan, 3, -3, 3.0000002, -3.0000002, 1e-45, -1e-45, 3e38, -3e38, 2.5, -2.5]
    points = np.concatenate([points, own.uniform(-4, 4, 700)]).astype(np.float32)
    nodes = [
        N("AveragePool", ["x"], ["a3"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        N("AveragePool", ["x"], ["a5"], kernel_shape=[5, 4], strides=[2, 1], pads=[2, 1, 2, 2], count_include_pad=1),
        N("AveragePool", ["line"], ["a1"], kernel_shape=[7], strides=[2], pads=[3, 3]),
        N("AveragePool", ["volume"], ["av"], kernel_shape=[3, 2, 3]), N("GlobalAveragePool", ["x"], ["g2"]),
        N("GlobalAveragePool", ["line"], ["g1"]), N("GlobalAveragePool", ["volume"], ["g3"]),
        N("BatchNormalization", ["x", "s", "b", "m", "v"], ["bn"], epsilon=1e-3),
        N("HardSwish", ["points"], ["hs"]), N("HardSigmoid", ["points"], ["h1"]),
        N("HardSigmoid", ["points"], ["h2"], alpha=-0.7, beta=0.1),
    ]  # fmt: skip
    feeds = {"x": x, "line": line, "volume": volume, "points": points}
    known = [constant("s", some(35)), constant("b", some(35)), constant("m", some(35)), constant("v", v)]
    made = model(nodes, [info(k, a.shape) for k, a in feeds.items()],
                 ["a3", "a5", "a1", "av", "g2", "g1", "g3", "bn", "hs", "h1", "h2"], known, opset=20)  # fmt: skip
    keep("float_ops", made, feeds)


def float_sums():
    """Sums, means and LayerNorm in the orders of ONNX Runtime. Rows begin at each address modulo 16, have heads, packets and
    tails, and cross a part of 4,096 elements."""
    own = np.random.default_rng(17)
    feeds = {"x": own.standard_normal((3, 5, 4, 7)).astype(np.float32) * 3, "long": own.standard_normal((5, 4107)).astype(np.float32),
             "signs": np.full((6, 13), -0.0, np.float32), "few": own.standard_normal((9, 3)).astype(np.float32)}  # fmt: skip
    feeds["x"].flat[[40, 170, 333]] = np.inf, np.nan, -0.0
    nodes, known, outputs = [], [], []
    for name, axes in (("x", [3]), ("x", [2, 3]), ("x", [0]), ("x", [0, 1]), ("x", [1]), ("x", [1, 2]), ("x", [0, 3]), ("x", [0, 2]),
                       ("x", [1, 3]), ("x", [0, 1, 2, 3]), ("long", [1]), ("long", [0]), ("signs", [1]), ("few", [1])):  # fmt: skip
        known.append(longs(f"axes{len(known)}", *axes))
        for op in ("ReduceSum", "ReduceMean"):
            if op == "ReduceMean" and name == "x" and axes == [2, 3]:
                continue  # computed as GlobalAveragePool
            outputs.append(f"y{len(outputs)}")
            nodes.append(N(op, [name, known[-1].name], [outputs[-1]]))
    for name, n in (("x", 7), ("x", 28), ("long", 4107), ("few", 3)):
        outputs.append(f"y{len(outputs)}")
        shape = (4, 7) if n == 28 else (n,)
        known.extend(constant(f"{part}{n}", own.standard_normal(shape).astype(np.float32)) for part in ("scale", "bias"))
        nodes.append(N("LayerNormalization", [name, f"scale{n}", f"bias{n}"], [outputs[-1]], axis=-len(shape), epsilon=1e-3))
    made = model(nodes, [info(k, a.shape) for k, a in feeds.items()], outputs, known, opset=20)
    keep("float_sums", made, feeds)


def float_products():
    """Products in each order of ONNX Runtime, of numbers that repeat one input. Depths have several chunks and a rest."""
    own = np.random.default_rng(16)
    nodes, known, outputs = [], [longs("zero", 0)], []

    def made(*shape):
        name, count = f"v{len(nodes)}", int(np.prod(shape))
        known.extend((longs(f"{name}/often", count // 997 + 1), longs(f"{name}/count", count), longs(f"{name}/shape", *shape)))
        nodes.extend((N("Tile", ["x", f"{name}/often"], [f"{name}/all"]),
                      N("Slice", [f"{name}/all", "zero", f"{name}/count"], [f"{name}/some"]),
                      N("Reshape", [f"{name}/some", f"{name}/shape"], [name])))  # fmt: skip
        return name

    def initial(*shape):
        known.append(constant(f"c{len(known)}", own.standard_normal(shape).astype(np.float32)))
        return known[-1].name

    def product(op, *operands, **attrs):
        outputs.append(f"y{len(outputs)}")
        nodes.append(N(op, list(operands), [outputs[-1]], **attrs))

    for m, n, k in ((3, 130, 300), (3, 64, 600), (2, 33, 600), (2, 20, 1100), (2, 16, 2100), (7, 1, 1031), (1, 37, 103), (50, 3, 300)):
        product("MatMul", made(m, k), made(k, n))
    product("MatMul", made(2, 3, 303), made(303))
    product("MatMul", made(3, 1, 303), made(303, 5))
    product("MatMul", made(3, 1, 303), made(3, 303, 5))
    product("MatMul", made(3, 601), initial(601, 5))
    product("MatMul", made(1, 601), initial(601, 5))
    product("Gemm", made(1, 301), made(7, 301), transB=1)
    product("Gemm", made(3, 301), made(301, 130), made(130))
    product("Gemm", made(301, 3), made(301, 5), made(3, 1), transA=1)
    product("Gemm", made(1, 303), made(303, 9), made(1, 9))
    product("Gemm", made(5, 601), initial(4, 601), made(5, 4), transB=1)
    three = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    product("Conv", made(1, 33, 14, 13), initial(4, 33, 3, 3), initial(4), **three)
    product("Conv", made(2, 33, 8, 7), initial(4, 33, 3, 3), **three)
    product("Conv", made(1, 33, 6, 5), made(1, 33, 3, 3), **three)
    product("Conv", made(1, 5, 6, 71), initial(5, 1, 3, 3), initial(5), group=5, **three)
    product("Conv", made(1, 37, 9, 11), initial(37, 1, 5, 3), group=37, strides=[2, 2], pads=[2, 0, 1, 1])
    product("Conv", made(1, 10, 9, 11), initial(10, 2, 3, 3), group=5, **three)
    product("Conv", made(2, 33, 3, 3), initial(7, 33, 3, 3))
    product("Conv", made(1, 6, 9, 11), initial(6, 1, 3, 11), group=6)
    product("Conv", made(1, 40, 90), initial(3, 40, 7), pads=[3, 3])
    x = own.standard_normal(997).astype(np.float32)
    keep("float_products", model(nodes, [info("x", [997])], outputs, known, opset=20), {"x": x})


def float_functions():
    """Functions that target onnx computes by the polynomials of ONNX Runtime."""
    own = np.random.default_rng(17)
    points = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38, 88.72283, 88.8, -87.3, -88, -103.9, -104, 3.9, 4, -4,
              0.921875, -0.921875, 18, -18, 18.1, 17.807888, 9, -9, 9.1]  # fmt: skip
    parts = [points, own.uniform(-5, 5, 500), own.uniform(-20, 20, 300), own.uniform(-106, 90, 700)]
    x = np.concatenate(parts).astype(np.float32)
    names = ("Sigmoid", "Tanh", "Exp", "Erf", "Gelu")
    made = model([N(n, ["x"], [n.lower()]) for n in names], [info("x", x.shape)], [n.lower() for n in names], opset=20)
    keep("float_functions", made, {"x": x})


MODELS = [convolutions, quantized, integer_products, constants, dtypes, external, functions, branches, opset7, shapes,
          inputs_that_are_constants, elementwise, names, refused, growing, wide, moves, old_moves,
          places, logic, bounds, empty_ports, functions_of_elements, slices, norms, microsoft,
          packed_weights, until, recurrent, pooled_codes,
          nearest_by_index, resized, forbidden_names, unsorted,
          float_ops, float_sums, float_products, float_functions, attention, einsum, grid_samples, fused,
          sequences, dilated_pools, clipped_codes]  # fmt: skip

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for make in MODELS:
        make()
