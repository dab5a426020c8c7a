# SPDX-License-Identifier: Apache-2.0
"""Models of single ops: elementwise, movement, logic, norms, pools, resizing."""

import numpy as np
from onnx import TensorProto as T

from making import N, RANDOM, constant, floats, info, keep, longs, model


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


def dilated_pools():
    """AveragePool with dilations, and with windows beyond padding that counts; LpPool with dilations."""
    random = np.random.default_rng(24)
    feeds = {"x": random.standard_normal((1, 2, 8, 7)).astype(np.float32)}
    rows = [("AveragePool", {"dilations": [2, 3], "pads": [1, 1, 0, 1]}), ("AveragePool", {"dilations": [1, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
            ("AveragePool", {"strides": [3, 2], "ceil_mode": 1, "pads": [1, 0, 1, 1], "count_include_pad": 1}),
            ("LpPool", {"dilations": [2, 2], "p": 3})]  # fmt: skip
    nodes = [N(op, ["x"], [f"y{i}"], kernel_shape=[3, 2], **attrs) for i, (op, attrs) in enumerate(rows)]
    keep("dilated_pools", model(nodes, [info("x", feeds["x"].shape)], [info(f"y{i}", None) for i in range(len(rows))], opset=22), feeds)


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
