# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models for onnx_converter.py: one op each, with random attributes and shapes."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

EXACT, CLOSE = "exact", "close"  # how results are compared


class Case:
    """A model, what it is given, and how its results are compared."""

    def __init__(self, model, feeds, how=CLOSE):
        self.model, self.feeds, self.how = model, feeds, how


def elem_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def build(nodes, feeds, constants, outputs, opset):
    """outputs: name and elem; shapes are left to inference."""
    inputs = [helper.make_tensor_value_info(n, elem_of(a), a.shape) for n, a in feeds.items()]
    tensors = [numpy_helper.from_array(a, n) for n, a in constants.items()]
    results = [helper.make_tensor_value_info(n, e, None) for n, e in outputs.items()]
    graph = helper.make_graph(nodes, "case", inputs, results, tensors)
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def one(op, inputs, attrs=None, constants=(), opset=23, how=CLOSE, result=None, extra=0):
    """A model of one node. inputs: arrays or None; those in `constants` are initializers."""
    arrays = {f"in{i}": a for i, a in enumerate(inputs) if a is not None}
    names = [f"in{i}" if a is not None else "" for i, a in enumerate(inputs)]
    outputs = ["y"] + [""] * extra
    node = helper.make_node(op, names, outputs, name="the node", **(attrs or {}))
    known = {n: a for n, a in arrays.items() if int(n[2:]) in constants}
    feeds = {n: a for n, a in arrays.items() if n not in known}
    elem = result or elem_of(next(iter(arrays.values())))
    return Case(build([node], feeds, known, {"y": elem}, opset), feeds, how)


def floats(rng, shape, dtype=np.float32, spread=3.0):
    return (rng.standard_normal(shape) * spread).astype(dtype)


def some_shape(rng, low=1, high=4, rank=None):
    rank = rng.integers(1, 5) if rank is None else rank
    return tuple(int(v) for v in rng.integers(low, high + 1, rank))


def either(rng, *choices):
    return choices[rng.integers(len(choices))]


def float_type(rng):
    return either(rng, np.float32, np.float32, np.float16)


# ---- Elements


def unary_case(op, positive=False, how=CLOSE, **ranges):
    def case(rng):
        x = floats(rng, some_shape(rng), float_type(rng))
        x = np.abs(x) + x.dtype.type(0.125) if positive else x
        # Without the attributes the defaults hold.
        attrs = {k: float(rng.uniform(*r)) for k, r in ranges.items() if rng.random() < 0.6}
        return one(op, [x], attrs, how=how)

    return case


def shapes_together(rng, count):
    """Shapes that numpy brings together."""
    whole = some_shape(rng, 2, 4)
    shapes = []
    for _ in range(count):
        shape = [1 if rng.random() < 0.3 else dim for dim in whole]
        shapes.append(tuple(shape[either(rng, 0, 0, len(whole) - 1) :]))
    return shapes


def binary_case(op, how=CLOSE, result=None, ints=False):
    def case(rng):
        dtype = float_type(rng)
        a, b = (floats(rng, s, dtype) for s in shapes_together(rng, 2))
        if ints and rng.random() < 0.3:
            a, b = (np.round(v).astype(np.int32) for v in (a, b))
        constants = either(rng, (), (), (1,))
        return one(op, [a, b], constants=constants, how=how, result=result)

    return case


def variadic_case(op):
    def case(rng):
        dtype = float_type(rng)
        values = [floats(rng, s, dtype) for s in shapes_together(rng, int(rng.integers(1, 5)))]
        return one(op, values, how=EXACT)

    return case


def where(rng):
    a, b, c = shapes_together(rng, 3)
    whole = np.broadcast_shapes(a, b)
    condition = rng.random(whole if rng.random() < 0.5 else whole[-1:]) < 0.5
    values = [condition, floats(rng, a), floats(rng, b)]
    return one("Where", values, how=EXACT, result=TensorProto.FLOAT)


def clip(rng):
    x = floats(rng, some_shape(rng))
    low, high = sorted(floats(rng, 2))
    bounds = [x.dtype.type(low), x.dtype.type(either(rng, high, np.float32(np.inf)))]
    bounds = [np.array(b) if rng.random() < 0.7 else None for b in bounds]
    return one("Clip", [x, *bounds], constants=(1, 2), how=EXACT)


def gelu(rng):
    attrs = either(rng, {}, {"approximate": "tanh"}, {"approximate": "none"})
    return one("Gelu", [floats(rng, some_shape(rng), float_type(rng))], attrs)


def prelu(rng):
    shape = some_shape(rng, 2, 4, int(rng.integers(2, 5)))
    slope = tuple(either(rng, 1, dim) for dim in shape)[int(rng.integers(len(shape))) :]
    return one("PRelu", [floats(rng, shape), floats(rng, slope)], constants=either(rng, (), (1,)))


# ---- Products


def matmul_shapes(rng):
    m, k, n = (int(v) for v in rng.integers(1, 9, 3))
    batch = some_shape(rng, 1, 3, int(rng.integers(0, 3)))
    return (*batch, m, k), either(rng, (k, n), (*batch, k, n))


def matmul(rng):
    a, b = matmul_shapes(rng)
    a, b = either(rng, (a, b), (a, b), (a[-1:], b), (a, b[-2:-1]))
    dtype = float_type(rng)
    return one("MatMul", [floats(rng, a, dtype), floats(rng, b, dtype)],
               constants=either(rng, (), (1,)))  # fmt: skip


def gemm(rng):
    m, k, n = (int(v) for v in rng.integers(1, 9, 3))
    attrs = {}
    for name in ("transA", "transB"):
        if rng.random() < 0.6:
            attrs[name] = int(rng.integers(2))
    for name in ("alpha", "beta"):
        if rng.random() < 0.4:
            attrs[name] = either(rng, 0.5, 1.0, 0.0, -1.75)
    a = floats(rng, (k, m) if attrs.get("transA") else (m, k))
    b = floats(rng, (n, k) if attrs.get("transB") else (k, n))
    c = floats(rng, either(rng, (n,), (1, n), (m, 1), (m, n), ()))
    return one("Gemm", [a, b, c if rng.random() < 0.8 else None], attrs,
               constants=either(rng, (), (1, 2), (2,)))  # fmt: skip


def codes(rng, shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def small_scale(rng, shape=()):
    return rng.uniform(0.01, 0.1, shape).astype(np.float32)


def matmul_integer(rng):
    a, b = (codes(rng, s, either(rng, np.int8, np.uint8)) for s in matmul_shapes(rng))
    zero_a = codes(rng, (), a.dtype)
    zero_b = codes(rng, either(rng, (), (b.shape[-1],)), b.dtype)
    given = either(rng, [], [zero_a], [zero_a, zero_b])
    return one("MatMulInteger", [a, b, *given], how=EXACT, result=TensorProto.INT32)


def qlinear_matmul(rng):
    shapes = matmul_shapes(rng)
    dtype = either(rng, np.int8, np.uint8)
    a, b = (codes(rng, s, dtype) for s in shapes)
    columns = either(rng, (), (b.shape[-1],)) if len(shapes[1]) == 2 else ()
    inputs = [a, small_scale(rng), codes(rng, (), dtype), b, small_scale(rng, columns)]
    inputs += [codes(rng, columns, dtype), np.float32(1.7) * small_scale(rng) * 20]
    inputs = [np.asarray(v) for v in [*inputs, codes(rng, (), dtype)]]
    return one("QLinearMatMul", inputs, constants=tuple(range(1, 8)), how=EXACT)


def window(rng, transposed=False, dilate=True, groups=True):
    """Sizes of x and weights, and attributes."""
    n = int(rng.integers(1, 4))
    kernel = some_shape(rng, 1, 3, n)
    attrs = {"strides": some_shape(rng, 1, 3, n)} if rng.random() < 0.7 else {}
    if dilate and rng.random() < 0.4:
        attrs["dilations"] = some_shape(rng, 1, 2, n)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, attrs.get("dilations", (1,) * n))]
    sizes = tuple(int(r + rng.integers(0, 6)) for r in reach)
    group = either(rng, 1, 1, 2, 3) if groups else 1
    if groups and (group > 1 or rng.random() < 0.3):
        attrs["group"] = group
    kind = either(rng, "pads", "pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID")
    if kind == "pads":
        attrs["pads"] = [int(rng.integers(0, r)) for r in reach * 2]
    elif kind != "none":
        attrs["auto_pad"] = kind
    if kind.startswith("SAME"):  # with these ONNX Runtime runs nothing else
        attrs.pop("dilations", None)
        attrs["strides"] = [min(s, k) for s, k in zip(attrs.get("strides", (1,) * n), kernel)]
    if transposed and "auto_pad" in attrs:
        del attrs["auto_pad"]
    return n, kernel, sizes, group, attrs


def conv(rng):
    n, kernel, sizes, group, attrs = window(rng)
    inner, outer = int(rng.integers(1, 5)), int(rng.integers(1, 4)) * group
    x = floats(rng, (int(rng.integers(1, 3)), inner * group, *sizes))
    inputs = [x, floats(rng, (outer, inner, *kernel)), floats(rng, (outer,))]
    inputs[2] = either(rng, inputs[2], None)
    return one("Conv", inputs, attrs, constants=either(rng, (), (1, 2)))


def conv_transpose(rng):
    n, kernel, sizes, group, attrs = window(rng, transposed=True)
    inner, outer = int(rng.integers(1, 4)) * group, int(rng.integers(1, 4))
    stride = attrs.get("strides", (1,) * n)
    if "pads" in attrs:
        attrs["pads"] = [min(p, (k - 1) // 2) for p, k in zip(attrs["pads"], kernel * 2)]
    elif rng.random() < 0.3:
        attrs["auto_pad"] = either(rng, "SAME_UPPER", "SAME_LOWER", "VALID")
        kernel = tuple(k + s for k, s in zip(kernel, stride))
    if rng.random() < 0.3 and "auto_pad" not in attrs:
        attrs["output_padding"] = [int(rng.integers(0, s)) for s in stride]
    inputs = [floats(rng, (2, inner, *sizes)), floats(rng, (inner, outer, *kernel))]
    inputs.append(either(rng, floats(rng, (outer * group,)), None))
    return one("ConvTranspose", inputs, attrs, constants=either(rng, (), (1, 2)))


def integer_conv_inputs(rng):
    n, kernel, sizes, group, attrs = window(rng)
    inner, outer = int(rng.integers(1, 5)), int(rng.integers(1, 4)) * group
    x = codes(rng, (1, inner * group, *sizes), np.uint8)
    return attrs, x, codes(rng, (outer, inner, *kernel), either(rng, np.uint8, np.int8))


def conv_integer(rng):
    attrs, x, w = integer_conv_inputs(rng)
    zeros = either(rng, [], [codes(rng, (), x.dtype)],
                   [codes(rng, (), x.dtype), codes(rng, (), w.dtype)])  # fmt: skip
    return one("ConvInteger", [x, w, *zeros], attrs, constants=(1, 3), how=EXACT,
               result=TensorProto.INT32)  # fmt: skip


def qlinear_conv(rng):
    attrs, x, w = integer_conv_inputs(rng)
    channels = either(rng, (), (w.shape[0],))
    zero = np.full(channels, codes(rng, (), w.dtype))
    inputs = [x, small_scale(rng), codes(rng, (), x.dtype), w, small_scale(rng, channels), zero]
    inputs += [small_scale(rng) * np.float32(40), codes(rng, (), x.dtype)]
    inputs.append(either(rng, None, rng.integers(-9999, 9999, w.shape[0]).astype(np.int32)))
    inputs = [v if v is None else np.asarray(v) for v in inputs]
    return one("QLinearConv", inputs, attrs, constants=tuple(range(1, 9)), how=EXACT)


# ---- Normalization, reductions


def softmax_case(op):
    def case(rng):
        x = floats(rng, some_shape(rng), float_type(rng))
        axis = int(rng.integers(-x.ndim, x.ndim))
        return one(op, [x], either(rng, {}, {"axis": axis}))

    return case


def layer_norm(rng):
    x = floats(rng, some_shape(rng, 2, 6))
    axis = int(rng.integers(-x.ndim, x.ndim))
    attrs = either(rng, {"axis": axis}, {"axis": axis, "epsilon": 0.01})
    gamma, beta = floats(rng, x.shape[axis:]), floats(rng, x.shape[axis:])
    return one("LayerNormalization", [x, gamma, either(rng, beta, None)], attrs,
               constants=either(rng, (), (1, 2)))  # fmt: skip


def rms_norm(rng):
    x = floats(rng, some_shape(rng, 2, 6))
    axis = int(rng.integers(-x.ndim, x.ndim))
    attrs = either(rng, {"axis": axis}, {"axis": axis, "epsilon": 0.01})
    return one("RMSNormalization", [x, floats(rng, x.shape[axis:])], attrs, constants=(1,))


def group_norm(rng):
    groups = int(rng.integers(1, 4))
    channels = groups * int(rng.integers(1, 4))
    x = floats(rng, (2, channels, *some_shape(rng, 2, 4, int(rng.integers(1, 3)))))
    attrs = {"num_groups": groups} | either(rng, {}, {"epsilon": 0.01})
    inputs = [x, floats(rng, (channels,)), floats(rng, (channels,))]
    return one("GroupNormalization", inputs, attrs, constants=(1, 2))


def batch_norm(rng):
    x = floats(rng, some_shape(rng, 2, 5, int(rng.integers(2, 6))))
    channels = (x.shape[1],)
    inputs = [x, *(floats(rng, channels) for _ in range(3)), np.abs(floats(rng, channels)) + 0.1]
    inputs[4] = inputs[4].astype(np.float32)
    attrs = either(rng, {}, {"epsilon": 0.01})
    return one("BatchNormalization", inputs, attrs, constants=either(rng, (), (1, 2, 3, 4)))


def reduce_case(op):
    def case(rng):
        x = floats(rng, some_shape(rng, 2, 5))
        axes = [i for i in range(x.ndim) if rng.random() < 0.5]
        axes = [axis - x.ndim if rng.random() < 0.3 else axis for axis in axes]
        attrs = either(rng, {}, {"keepdims": 0}, {"keepdims": 1})
        if op != "ReduceSum" and rng.random() < 0.3 and axes:
            return one(op, [x], attrs | {"axes": axes}, opset=13)
        given = np.array(axes, np.int64) if axes else None
        return one(op, [x, given], attrs, constants=(1,))

    return case


# ---- Windows


def pool_case(op):
    def case(rng):
        n, kernel, sizes, _, attrs = window(rng, dilate=op == "MaxPool", groups=False)
        attrs["kernel_shape"] = kernel
        if rng.random() < 0.5:
            attrs["ceil_mode"] = 1
        if op == "AveragePool" and rng.random() < 0.5:
            attrs["count_include_pad"] = 1
        if attrs.get("auto_pad"):
            attrs.pop("ceil_mode", None)
        x = floats(rng, (1, 2, *sizes))
        return one(op, [x], attrs, opset=22, how=EXACT if op == "MaxPool" else CLOSE)

    return case


def global_pool_case(op):
    def case(rng):
        return one(op, [floats(rng, some_shape(rng, 1, 5, int(rng.integers(3, 6))))])

    return case


def resize(rng):
    spatial = int(rng.integers(1, 4))
    x = floats(rng, (1, 2, *some_shape(rng, 1, 5, spatial)))
    attrs = {"mode": either(rng, "nearest", "linear")}
    attrs["coordinate_transformation_mode"] = either(rng, "half_pixel", "align_corners",
                                                     "asymmetric", "pytorch_half_pixel")  # fmt: skip
    if attrs["mode"] == "nearest":
        attrs["nearest_mode"] = either(rng, "round_prefer_floor", "round_prefer_ceil", "floor")
    sizes = [int(v) for v in rng.integers(1, 9, spatial)]
    if rng.random() < 0.5:
        inputs = [x, None, None, np.array([1, 2, *sizes], np.int64)]
    else:
        scales = [1, 1, *(either(rng, 1.0, 2.0, 3.0, 0.5, 1.5) for _ in range(spatial))]
        scales = [s if d * s >= 1 else 1.0 for s, d in zip(scales, x.shape)]
        inputs = [x, None, np.array(scales, np.float32)]
    return one("Resize", inputs, attrs, constants=(2, 3), opset=19)


# ---- Movement


def moved(rng, shape):
    """Any dtype that ONNX Runtime moves."""
    return floats(rng, shape).astype(either(rng, np.float32, np.int8, np.uint8, np.int32))


def concat(rng):
    shape = list(some_shape(rng))
    axis = int(rng.integers(len(shape)))
    dtype = either(rng, np.float32, np.int8, np.int32)
    parts = []
    for _ in range(int(rng.integers(1, 5))):
        shape[axis] = int(rng.integers(1, 4))
        parts.append(floats(rng, shape).astype(dtype))
    return one("Concat", parts, {"axis": either(rng, axis, axis - len(shape))}, how=EXACT)


def reshape(rng):
    x = moved(rng, some_shape(rng))
    shape = [0, -1] if rng.random() < 0.5 else [x.size, 1]
    return one("Reshape", [x, np.array(shape, np.int64)], constants=(1,), how=EXACT)


def flatten(rng):
    x = moved(rng, some_shape(rng))
    attrs = {"axis": int(rng.integers(-x.ndim, x.ndim + 1))} if rng.random() < 0.7 else {}
    return one("Flatten", [x], attrs, how=EXACT)


def squeeze(rng):
    shape = some_shape(rng) + (1,)
    axes = either(rng, np.array([-1], np.int64), None)
    return one("Squeeze", [moved(rng, shape), axes], constants=(1,), how=EXACT)


def unsqueeze(rng):
    axes = np.array(either(rng, [0], [-1], [0, 2], [1, -1]), np.int64)
    x = moved(rng, some_shape(rng, rank=int(rng.integers(1, 5))))
    return one("Unsqueeze", [x, axes], constants=(1,), how=EXACT)


def transpose(rng):
    x = moved(rng, some_shape(rng, 1, 5))
    attrs = either(rng, {}, {"perm": [int(v) for v in rng.permutation(x.ndim)]})
    return one("Transpose", [x], attrs, how=EXACT)


def identity(rng):
    return one("Identity", [moved(rng, some_shape(rng))], how=EXACT)


def dropout(rng):
    given = either(rng, [], [np.float32(0.3)], [np.float32(0.3), np.array(False)])
    inputs = [floats(rng, some_shape(rng)), *(np.asarray(v) for v in given)]
    return one("Dropout", inputs, constants=(1, 2), how=EXACT)


ELEMENTS = {
    "Abs": unary_case("Abs", how=EXACT),
    "Exp": unary_case("Exp"),
    "Log": unary_case("Log", positive=True),
    "Sqrt": unary_case("Sqrt", positive=True),
    "Tanh": unary_case("Tanh"),
    "Sigmoid": unary_case("Sigmoid"),
    "Relu": unary_case("Relu", how=EXACT),
    "LeakyRelu": unary_case("LeakyRelu", alpha=(0, 1)),
    "Elu": unary_case("Elu", alpha=(0.2, 2)),
    "HardSigmoid": unary_case("HardSigmoid", alpha=(0.1, 1), beta=(0, 1)),
    "HardSwish": unary_case("HardSwish"),
    "Mish": unary_case("Mish"),
    "Reciprocal": unary_case("Reciprocal", positive=True),
    "Round": unary_case("Round", how=EXACT),
    "Gelu": gelu,
    "Clip": clip,
    "PRelu": prelu,
    "Add": binary_case("Add", ints=True),
    "Sub": binary_case("Sub", ints=True),
    "Mul": binary_case("Mul"),
    "Div": binary_case("Div"),
    "Min": variadic_case("Min"),
    "Max": variadic_case("Max"),
    "GreaterOrEqual": binary_case("GreaterOrEqual", EXACT, TensorProto.BOOL),
    "Where": where,
}
PRODUCTS = {
    "MatMul": matmul,
    "Gemm": gemm,
    "MatMulInteger": matmul_integer,
    "QLinearMatMul": qlinear_matmul,
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "ConvInteger": conv_integer,
    "QLinearConv": qlinear_conv,
}
NORMS = {
    "Softmax": softmax_case("Softmax"),
    "LogSoftmax": softmax_case("LogSoftmax"),
    "LayerNormalization": layer_norm,
    "RMSNormalization": rms_norm,
    "GroupNormalization": group_norm,
    "BatchNormalization": batch_norm,
    **{f"Reduce{kind}": reduce_case(f"Reduce{kind}")
       for kind in ("Max", "Mean", "Min", "Prod", "Sum", "L1", "L2")},
}  # fmt: skip
MOVES = {
    "MaxPool": pool_case("MaxPool"),
    "AveragePool": pool_case("AveragePool"),
    "GlobalAveragePool": global_pool_case("GlobalAveragePool"),
    "GlobalMaxPool": global_pool_case("GlobalMaxPool"),
    "Resize": resize,
    "Concat": concat,
    "Reshape": reshape,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Transpose": transpose,
    "Identity": identity,
    "Dropout": dropout,
}
CASES = {**ELEMENTS, **PRODUCTS, **NORMS, **MOVES}
