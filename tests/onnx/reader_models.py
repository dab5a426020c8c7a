# SPDX-License-Identifier: Apache-2.0
"""Models of what the reader resolves: constants, dtypes, external data, functions, branches, shapes, names, order, refusals."""

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

from making import FOLDER, N, RANDOM, constant, expected, floats, info, keep, longs, model


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


def division_precision():
    """QuantizeLinear by a float16 scale, divided in float32 and in float16. The formulas are those of the text of ONNX.
    Of 4,000 numbers hundreds lie where the two divisions round to other codes."""
    x = np.linspace(-63, 63, 4000).astype(np.float16)
    scale = np.float16(0.1234)
    nodes = [N("QuantizeLinear", ["x", "scale", "zero"], ["in_float32"], precision=T.FLOAT),
             N("QuantizeLinear", ["x", "scale", "zero"], ["in_float16"])]
    outputs = [info(name, x.shape, T.INT16) for name in ("in_float32", "in_float16")]
    wanted = {"in_float32": np.rint(x.astype(np.float32) / np.float32(scale)).astype(np.int16),
              "in_float16": np.rint(x / scale).astype(np.int16)}
    made = model(nodes, [info("x", x.shape, T.FLOAT16)], outputs, [constant("scale", scale), constant("zero", np.int16(0))],
                 opset=25, ir=13)
    keep("division_precision", made, {"x": x}, wanted=wanted)


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


def large_folds():
    """Results that are known before a run, but too large to compute while the model is read; and short lists of floats."""
    half = constant("half", np.array([0.5], np.float32))
    nodes = [
        N("ConstantOfShape", ["size"], ["halves"], value=half), N("MatMul", ["x", "halves"], ["product"]),
        N("ConstantOfShape", ["size"], ["zeros"]), N("MatMul", ["x", "zeros"], ["nothing"]),
        N("ConstantOfShape", ["size"], ["ones"], value=longs("ones", 1)), N("Gather", ["ones", "at"], ["some"], axis=1),
        N("Range", ["f0", "f1", "f2"], ["tenths"]), N("Gather", ["tenths", "at"], ["late"]),
        N("Range", ["i0", "i1", "i2"], ["threes"]), N("Gather", ["threes", "at"], ["down"]),
        N("Expand", ["three", "size"], ["spread"]), N("Gather", ["spread", "at"], ["column"], axis=1),
        N("Tile", ["three", "many"], ["tiled"]), N("Gather", ["tiled", "at"], ["ends"]),
        N("Range", ["f0", "near", "f2"], ["short"]),
    ]  # fmt: skip
    known = [longs("size", 3, 100000), longs("at", 0, 7, 65535, 65536, 99999), longs("three", 3), longs("many", 100000),
             constant("f0", np.float32(0.1)), constant("f1", np.float32(30000)), constant("f2", np.float32(0.3)),
             constant("near", np.float32(300)), constant("i0", np.array(7)), constant("i1", np.array(-299993)),
             constant("i2", np.array(-3))]  # fmt: skip
    pick = [N("Gather", ["product", "at"], ["p"], axis=1), N("Gather", ["nothing", "at"], ["z"], axis=1)]
    outputs = ["p", "z", "some", "late", "down", "column", "ends", "short"]
    keep("large_folds", model(nodes + pick, [info("x", [1, 3])], outputs, known), {"x": np.array([[1, 2, 4]], np.float32)})


def ended_folds():
    """Shapes that are known before a run, but have too many numbers."""
    nodes = [N("Range", ["zero", "far", "one"], ["dims"]), N("ConstantOfShape", ["dims"], ["y"]),
             N("Tile", ["single", "far1"], ["list"]), N("Reshape", ["x", "list"], ["z"])]  # fmt: skip
    known = [constant("zero", np.array(0)), constant("far", np.array(65537)), constant("one", np.array(1)),
             longs("single", 1), longs("far1", 65537)]  # fmt: skip
    made = model(nodes, [info("x", [1])], [info("y", None), info("z", None)], known)
    (FOLDER / "ended_folds.onnx").write_bytes(made.SerializeToString())


def inputs_that_are_constants():
    made = model([N("Add", ["x", "w"], ["y"])], [info("x", [2]), info("w", [2])], ["y"], [constant("w", floats(2))])
    keep("inputs_that_are_constants", made, {"x": floats(2)})


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
