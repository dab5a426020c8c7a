# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models for onnx_reader.py: ops that move elements by their
index, compare, or compute on truth values, bits, 64-bit integers and float64."""

import numpy as np
from onnx import TensorProto

from onnx_cases import EXACT, either, floats, one, shapes_together, some_shape

WIDE = (np.int64, np.uint32, np.uint64)


def numbers(rng, shape, dtype):
    """Any bits for integers; a few equal neighbours."""
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind == "f":
        return np.round(floats(rng, shape), 1).astype(dtype)
    if rng.random() < 0.5:
        return rng.integers(0, 4, shape).astype(dtype)
    return rng.integers(0, 2**64 - 1, shape, np.uint64).astype(dtype)


def moved(rng, shape):
    """Any dtype that all of ONNX Runtime's kernels here move."""
    return numbers(rng, shape, either(rng, np.float32, np.float64, np.int32, np.int64))


def longs(*values):
    return np.array(values, np.int64)


# ---- Elements
def pair_case(op, dtypes, result=None):
    def case(rng):
        dtype = either(rng, *dtypes)
        a, b = (numbers(rng, s, dtype) for s in shapes_together(rng, 2))
        return one(op, [a, b], constants=either(rng, (), (), (1,)), how=EXACT, result=result, opset=20)

    return case


def arithmetic_case(op):
    def case(rng):
        dtype = either(rng, *WIDE, np.float64) if op != "Div" else either(rng, np.int64, np.uint64, np.float64)
        a, b = (numbers(rng, s, dtype) for s in shapes_together(rng, 2))
        if op == "Div":
            b = np.where(b == 0, dtype(3), np.abs(b) if dtype == np.int64 else b)
        return one(op, [a, np.maximum(b, 1) if op == "Div" else b], how=EXACT)

    return case


def odd_floats(rng):
    x = floats(rng, some_shape(rng)).astype(either(rng, np.float32, np.float64))
    odd = rng.choice([np.nan, np.inf, -np.inf], x.shape)
    return np.where(rng.random(x.shape) < 0.6, odd, x).astype(x.dtype)


def is_nan(rng):
    return one("IsNaN", [odd_floats(rng)], how=EXACT, result=TensorProto.BOOL, opset=20)


def is_inf(rng):
    attrs = {f"detect_{side}": int(rng.integers(2)) for side in ("negative", "positive") if rng.random() < 0.6}
    return one("IsInf", [odd_floats(rng)], attrs, how=EXACT, result=TensorProto.BOOL, opset=20)


def not_case(op, dtypes):
    def case(rng):
        return one(op, [numbers(rng, some_shape(rng), either(rng, *dtypes))], how=EXACT, opset=20)

    return case


def bit_shift(rng):
    dtype = either(rng, np.uint8, np.uint32, np.uint64)
    a = numbers(rng, some_shape(rng), dtype)
    b = rng.integers(0, a.dtype.itemsize * 8, a.shape).astype(dtype)
    return one("BitShift", [a, b], {"direction": either(rng, "LEFT", "RIGHT")}, how=EXACT)


# ---- Moves
def slice_case(rng):
    x = moved(rng, some_shape(rng, 2, 7))
    axes = rng.permutation(x.ndim)[: rng.integers(1, x.ndim + 1)]
    lists = [[], [], [], []]
    for axis in axes:
        dim, back = x.shape[axis], rng.random() < 0.4
        first, last = sorted(rng.choice(dim + 1, 2, replace=False))
        start, end, step = first, last, int(rng.integers(1, 4))
        if back:
            start, end, step = last - 1, first - 1, -step
            end = end if end >= 0 else either(rng, -dim - 1, -(2**63))
        elif last == dim and rng.random() < 0.5:
            end = 2**63 - 1
        elif rng.random() < 0.4:
            start -= dim
        for values, value in zip(lists, (start, end, axis - x.ndim * int(rng.integers(2)), step)):
            values.append(int(value))
    given = [x, *(longs(*v) for v in lists)]
    return one("Slice", given, constants=(1, 2, 3, 4), how=EXACT)


def pad(rng):
    x = moved(rng, some_shape(rng, 3, 5))
    mode = either(rng, "constant", "constant", "reflect", "edge", "wrap")
    pads = longs(*rng.integers(-1 if mode == "constant" else 0, 2, 2 * x.ndim))
    value = np.array(3, x.dtype) if mode == "constant" and rng.random() < 0.6 else None
    return one("Pad", [x, pads, value], {"mode": mode}, constants=either(rng, (1,), (1, 2)), how=EXACT)


def expand(rng):
    a, b = shapes_together(rng, 2)
    return one("Expand", [moved(rng, a), longs(*b)], constants=(1,), how=EXACT)


def tile(rng):
    x = moved(rng, some_shape(rng))
    return one("Tile", [x, longs(*rng.integers(1, 4, x.ndim))], constants=(1,), how=EXACT)


def trilu(rng):
    x = moved(rng, some_shape(rng, 1, 5, int(rng.integers(2, 5))))
    k = either(rng, None, np.array(rng.integers(-6, 7)))
    return one("Trilu", [x, k], either(rng, {}, {"upper": 0}), constants=(1,), how=EXACT)


def eye_like(rng):
    elem = either(rng, None, TensorProto.INT64, TensorProto.DOUBLE)
    attrs = {"k": int(rng.integers(-3, 4))} | ({"dtype": elem} if elem else {})
    x = floats(rng, some_shape(rng, 1, 5, 2))
    return one("EyeLike", [x], attrs, how=EXACT, result=elem)


def one_hot(rng):
    indices = rng.integers(-6, 8, some_shape(rng))
    axis = int(rng.integers(-indices.ndim - 1, indices.ndim + 1))
    values = floats(rng, 2)
    inputs = [indices, np.array(5, np.int64), values]
    return one("OneHot", inputs, {"axis": axis}, constants=(1,), how=EXACT, result=TensorProto.FLOAT)


def cum_sum(rng):
    x = numbers(rng, some_shape(rng), either(rng, np.float32, np.float64, np.int32, np.int64))
    axis = np.array(rng.integers(-x.ndim, x.ndim), np.int32)
    attrs = {name: 1 for name in ("exclusive", "reverse") if rng.random() < 0.5}
    return one("CumSum", [x, axis], attrs, constants=(1,), how=EXACT)


def depth_to_space(rng):
    b, depth = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    x = floats(rng, (2, b * b * depth, *some_shape(rng, 1, 4, 2)))
    return one("DepthToSpace", [x], {"blocksize": b} | either(rng, {}, {"mode": "CRD"}), how=EXACT)


def space_to_depth(rng):
    b = int(rng.integers(1, 4))
    n, c, h, w = some_shape(rng, 1, 3, 4)
    return one("SpaceToDepth", [floats(rng, (n, c, h * b, w * b))], {"blocksize": b}, how=EXACT)


# ---- Places
def indices_of(rng, dim, shape, dtype=np.int64):
    return rng.integers(-dim, dim, shape).astype(dtype)


def gather(rng):
    x = moved(rng, some_shape(rng, 1, 4, int(rng.integers(1, 4))))
    axis = int(rng.integers(-x.ndim, x.ndim))
    shape = either(rng, (), some_shape(rng, 1, 3, 2))
    return one("Gather", [x, indices_of(rng, x.shape[axis], shape)], {"axis": axis}, how=EXACT)


def gather_elements(rng):
    x = moved(rng, some_shape(rng))
    axis = int(rng.integers(x.ndim))
    shape = [int(rng.integers(1, d + (3 if i == axis else 1))) for i, d in enumerate(x.shape)]
    indices = indices_of(rng, x.shape[axis], shape, either(rng, np.int32, np.int64))
    return one("GatherElements", [x, indices], {"axis": axis}, how=EXACT)


def tuples(rng, x, count, width):
    return np.stack([indices_of(rng, x.shape[i], count) for i in range(width)], axis=-1)


def gather_nd(rng):
    x = moved(rng, some_shape(rng))
    return one("GatherND", [x, tuples(rng, x, some_shape(rng, 1, 3, 2), int(rng.integers(1, x.ndim + 1)))], how=EXACT)


def distinct(rng, x, axis):
    """Indices that name no place twice."""
    shape = [int(rng.integers(1, d + 1)) for d in x.shape]
    order = np.argsort(rng.random([x.shape[axis] if i == axis else d for i, d in enumerate(shape)]), axis=axis)
    return np.take(order, np.arange(shape[axis]), axis=axis).astype(np.int64)


def scatter_elements(rng):
    x = moved(rng, some_shape(rng))
    axis = int(rng.integers(x.ndim))
    indices = distinct(rng, x, axis)
    attrs = {"axis": axis} | either(rng, {}, {"reduction": either(rng, "add", "mul", "max", "min")})
    return one("ScatterElements", [x, indices, numbers(rng, indices.shape, x.dtype)], attrs, how=EXACT, opset=18)


def scatter_nd(rng):
    x = moved(rng, some_shape(rng, 2, 4))
    rows = rng.permutation(x.shape[0])[: rng.integers(1, x.shape[0] + 1)].astype(np.int64)[:, None]
    attrs = either(rng, {}, {"reduction": either(rng, "add", "mul", "max", "min")})
    updates = numbers(rng, (len(rows), *x.shape[1:]), x.dtype)
    return one("ScatterND", [x, rows, updates], attrs, how=EXACT, opset=18)


COMPARED = (np.float32, np.float64, np.int32, *WIDE)
BITS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, *WIDE)
READ = {
    **{op: pair_case(op, COMPARED, TensorProto.BOOL) for op in ("Greater", "Less", "LessOrEqual")},
    "Equal": pair_case("Equal", (*COMPARED, np.bool_), TensorProto.BOOL),
    **{op: pair_case(op, (np.bool_,)) for op in ("And", "Or", "Xor")},
    **{op: pair_case(op, BITS) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")},
    **{f"{op} of 64 bits": arithmetic_case(op) for op in ("Add", "Sub", "Mul", "Div", "Min", "Max")},
    "Not": not_case("Not", (np.bool_,)),
    "BitwiseNot": not_case("BitwiseNot", BITS),
    "BitShift": bit_shift,
    "IsNaN": is_nan,
    "IsInf": is_inf,
    "Slice": slice_case,
    "Pad": pad,
    "Expand": expand,
    "Tile": tile,
    "Trilu": trilu,
    "EyeLike": eye_like,
    "OneHot": one_hot,
    "CumSum": cum_sum,
    "DepthToSpace": depth_to_space,
    "SpaceToDepth": space_to_depth,
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
}
