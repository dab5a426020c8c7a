# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models for onnx_reader.py: one op each, with random attributes and shapes."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

EXACT, CLOSE = "exact", "close"  # how results are compared


class Case:
    """A model, its inputs, and how its results are compared."""

    def __init__(self, model, feeds, how=CLOSE):
        self.model, self.feeds, self.how = model, feeds, how


def elem_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def build(nodes, feeds, constants, outputs, opset):
    """outputs: name and elem; shapes are inferred."""
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
        # Attributes that are left out have their defaults.
        attrs = {k: float(rng.uniform(*r)) for k, r in ranges.items() if rng.random() < 0.6}
        return one(op, [x], attrs, how=how)

    return case


def shapes_together(rng, count):
    """Shapes that broadcast to each other."""
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
    "Neg": unary_case("Neg", how=EXACT),
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
    "Concat": concat,
    "Reshape": reshape,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Transpose": transpose,
    "Identity": identity,
    "Dropout": dropout,
}
CASES = {**ELEMENTS, **NORMS, **MOVES}
