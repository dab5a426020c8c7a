# SPDX-License-Identifier: Apache-2.0
"""Random quantized elementwise ops, pools, softmax and data movement for ort_graphs.py."""

from dataclasses import replace

import numpy as np
from ort_build import F32, S8, U8, Real


def broadcast_shape(b, shape):
    """A shape that broadcasts with `shape`, or to it."""
    way = b.pick("same", "same", "channel", "last", "scalar", "one", "short", "mixed")
    if way == "channel" and len(shape) >= 3:
        return (shape[1], *[1] * (len(shape) - 2))
    if way == "last":
        return shape[-1:]
    if way == "scalar":
        return ()
    if way == "one":
        return b.pick((1,), (1,) * len(shape), (1,) * (len(shape) + 1))
    if way == "short":
        return shape[1:]
    if way == "mixed":
        return tuple(b.pick(1, s) for s in shape)
    return shape


def other_operand(b, x, pool):
    """A second operand: another value of the graph, an input, or a constant."""
    way = b.pick("pool", "pool", "input", "constant")
    fits = [c for c in pool if c is not x and c.shape == x.shape]
    if way == "pool" and fits:
        return fits[int(b.rng.integers(len(fits)))]
    shape = broadcast_shape(b, x.shape)
    dtype = x.dtype if b.chance(0.9) else b.pick(U8, S8)
    make = b.constant_codes if way == "constant" else b.input_codes
    scale = b.scale(x.scale * b.rng.uniform(0.2, 4))
    return make(shape, dtype=dtype, scale=scale)


def binary(op):
    def make(b, x, pool):
        b.group(op)
        other = other_operand(b, x, pool)
        pair = [b.dequantize(x), b.dequantize(other)]
        if b.chance(0.4):
            pair.reverse()
        shape = np.broadcast_shapes(x.shape, other.shape)
        rms = np.hypot(x.rms, other.rms) if op in ("Add", "Sub") else x.rms * other.rms
        return Real(b.node(op, [p.name for p in pair]), tuple(shape), rms)

    return make


def unary(op, size, **attrs):
    """An op whose results are about `size`, or as large as its input if 0."""

    def make(b, x, pool):
        b.group(op)
        a = b.dequantize(x)
        values = {k: float(np.float32(v(b))) for k, v in attrs.items()}
        return Real(b.node(op, [a.name], **values), x.shape, size or x.rms)

    return make


def softmax(b, x, pool):
    if not x.shape:
        return None
    b.group("Softmax")
    a = b.dequantize(x)
    axis = int(b.rng.integers(-len(x.shape), len(x.shape)))
    give = b.chance(0.7) or len(x.shape) < 2  # before opset 13 the default is 1
    y = b.node("Softmax", [a.name], **({"axis": axis} if give else {}))
    scale = b.pick(np.float32(1 / 255), np.float32(1 / 256), np.float32(1 / 128), b.scale(1 / 200))
    low = np.iinfo(x.dtype).min
    zero = b.pick(low, low, 0, b.zero(x.dtype))
    return b.quantize(Real(y, x.shape, 0.3), x.dtype, scale, zero)


def concat(b, x, pool):
    if not x.shape:
        return None
    b.group("Concat")
    axis = int(b.rng.integers(len(x.shape)))
    parts = [x]
    for _ in range(b.pick(1, 1, 2)):
        shape = list(x.shape)
        shape[axis] = b.pick(1, 2, 3)
        same = b.chance(0.4)
        make = b.constant_codes if b.chance(0.3) else b.input_codes
        parts.append(make(tuple(shape), dtype=x.dtype, scale=x.scale if same else None, zero=x.zero if same else None))
    shape = list(x.shape)
    shape[axis] = sum(p.shape[axis] for p in parts)
    y = b.node("Concat", [b.dequantize(p).name for p in parts], axis=axis)
    return Real(y, tuple(shape), max(p.rms for p in parts))


def where(b, x, pool):
    b.group("Where")
    name = b.name("m")
    b.inputs[name] = b.rng.random(x.shape) < 0.5
    if b.chance(0.25):
        other = b.const(np.float32(b.pick(0, -1, 2.5, -1000)), "v")
    else:
        other = b.dequantize(other_operand(b, x, pool))
        if np.broadcast_shapes(x.shape, other.shape) != x.shape:
            return None
        other = other.name
    pair = [b.dequantize(x).name, other]
    if b.chance(0.4):
        pair.reverse()
    return Real(b.node("Where", [name, *pair]), x.shape, x.rms)


def pool_window(b, x):
    """Attributes of a pool, and the size of its result."""
    dims = x.shape[2:]
    if b.chance(0.2):  # the whole image
        return {"kernel_shape": list(dims)}, [1] * len(dims)
    for _ in range(20):
        kernel = [b.pick(1, 2, 2, 3) for _ in dims]
        attrs = {"kernel_shape": kernel, "strides": [b.pick(1, 2, 2, 3) for _ in dims]}
        pads = [b.pick(0, 0, 1) for _ in dims * 2]
        pads = [min(p, k - 1) for p, k in zip(pads, kernel * 2)]
        ceil = int(b.chance(0.3))
        sizes = []
        for i, k in enumerate(kernel):
            room = dims[i] + pads[i] + pads[i + len(dims)] - k
            step = attrs["strides"][i]
            size = -(-room // step) + 1 if ceil else room // step + 1
            if ceil and (size - 1) * step >= dims[i] + pads[i]:
                size -= 1  # the last window would begin in the padding
            sizes.append(size if room >= 0 else 0)
        if min(sizes) >= 1:
            attrs["pads"] = pads
            if ceil:
                attrs["ceil_mode"] = 1
            return attrs, sizes
    return None, None


def average_pool(b, x, pool):
    if len(x.shape) < 3:
        return None
    attrs, sizes = pool_window(b, x)
    if not attrs:
        return None
    b.group("AveragePool")
    if b.chance(0.4):
        attrs["count_include_pad"] = 1
    y = b.node("AveragePool", [b.dequantize(x).name], **attrs)
    return Real(y, (*x.shape[:2], *sizes), x.rms * 0.7)


def global_pool(b, x, pool):
    if len(x.shape) < 3:
        return None
    b.group("GlobalAveragePool")
    y = b.node("GlobalAveragePool", [b.dequantize(x).name])
    return Real(y, (*x.shape[:2], *[1] * (len(x.shape) - 2)), x.rms * 0.7)


# Ops that only move or choose codes. They fuse if the parameters before and after are equal.


def moved(b, x, op, inputs, shape, **attrs):
    b.group(op)
    if b.moves_floats and b.chance(0.6):
        return replace(x, shape=tuple(int(s) for s in shape), moves=(*x.moves, (op, inputs, attrs)))
    y = Real(b.node(op, [b.dequantize(x).name, *inputs], **attrs), tuple(int(s) for s in shape), x.rms)
    if b.chance(0.8):
        return b.quantize(y, x.dtype, x.scale, x.zero)
    return b.quantize(y)


def ints(b, *values):
    return b.const(np.array(values, np.int64), "i")


def max_pool(b, x, pool):
    attrs, sizes = pool_window(b, x) if len(x.shape) >= 3 else (None, None)
    return moved(b, x, "MaxPool", [], (*x.shape[:2], *sizes), **attrs) if attrs else None


def reduce_extreme(b, x, pool):
    if not x.shape:
        return None
    axis = int(b.rng.integers(len(x.shape)))
    shape = [1 if i == axis else s for i, s in enumerate(x.shape)]
    way = ([ints(b, axis)], {}) if b.opset >= 18 else ([], {"axes": [axis]})
    return moved(b, x, b.pick("ReduceMax", "ReduceMin"), way[0], shape, **way[1])


def reshape(b, x, pool):
    count = int(np.prod(x.shape))
    rows = b.pick(*[d for d in range(1, count + 1) if count % d == 0])
    return moved(b, x, "Reshape", [ints(b, rows, count // rows)], (rows, count // rows))


def flatten(b, x, pool):
    axis = int(b.rng.integers(len(x.shape) + 1))
    shape = (int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:])))
    return moved(b, x, "Flatten", [], shape, axis=axis)


def transpose(b, x, pool):
    order = [int(i) for i in b.rng.permutation(len(x.shape))]
    return moved(b, x, "Transpose", [], [x.shape[i] for i in order], perm=order)


def unsqueeze(b, x, pool):
    if len(x.shape) > 3:
        return None
    way = ([ints(b, 0)], {}) if b.opset >= 13 else ([], {"axes": [0]})
    return moved(b, x, "Unsqueeze", way[0], (1, *x.shape), **way[1])


def squeeze(b, x, pool):
    if len(x.shape) < 3 or x.shape[0] != 1:
        return None
    way = ([ints(b, 0)], {}) if b.opset >= 13 else ([], {"axes": [0]})
    return moved(b, x, "Squeeze", way[0], x.shape[1:], **way[1])


def slices(b, x, pool):
    if not x.shape:
        return None
    axis = int(b.rng.integers(len(x.shape)))
    begin = int(b.rng.integers(x.shape[axis]))
    shape = [x.shape[i] - begin if i == axis else s for i, s in enumerate(x.shape)]
    return moved(b, x, "Slice", [ints(b, begin), ints(b, 1 << 30), ints(b, axis)], shape)


def gather(b, x, pool):
    if not x.shape:
        return None
    axis = int(b.rng.integers(len(x.shape)))
    picks = [int(i) for i in b.rng.integers(0, x.shape[axis], b.pick(1, 2, 5))]
    shape = [len(picks) if i == axis else s for i, s in enumerate(x.shape)]
    return moved(b, x, "Gather", [ints(b, *picks)], shape, axis=axis)


def gather_elements(b, x, pool):
    if not x.shape or b.opset < 11:
        return None
    axis = int(b.rng.integers(len(x.shape)))
    picks = b.rng.integers(-x.shape[axis], x.shape[axis], x.shape)
    return moved(b, x, "GatherElements", [b.const(picks.astype(np.int64), "i")], x.shape, axis=axis)


def tile(b, x, pool):
    repeats = [b.pick(1, 1, 2) for _ in x.shape]
    return moved(b, x, "Tile", [ints(b, *repeats)], np.multiply(x.shape, repeats))


def expand(b, x, pool):
    if len(x.shape) > 3:
        return None
    return moved(b, x, "Expand", [ints(b, 2, *x.shape)], (2, *x.shape))


def depth_to_space(b, x, pool):
    if len(x.shape) != 4 or x.shape[1] % 4:
        return None
    n, c, h, w = x.shape
    return moved(b, x, "DepthToSpace", [], (n, c // 4, 2 * h, 2 * w), blocksize=2)


def resize(b, x, pool):
    if len(x.shape) != 4 or b.opset < 11:
        return None
    scales = b.const(np.array([1, 1, 2, 2], F32), "r")
    roi = b.const(np.zeros(0, F32), "e")
    n, c, h, w = x.shape
    way = b.pick("nearest", "nearest", "linear")
    attrs = {"mode": way, "coordinate_transformation_mode": "asymmetric"}
    if way == "nearest":
        attrs["nearest_mode"] = "floor"
    return moved(b, x, "Resize", [roi, scales], (n, c, 2 * h, 2 * w), **attrs)


def split(b, x, pool):
    """Split into two; the second half joins the pool."""
    axes = [i for i, s in enumerate(x.shape) if s % 2 == 0]
    if not axes or b.opset >= 18 and b.chance(0.5):
        return None
    axis = axes[-1]
    b.group("Split")
    attrs = {"num_outputs": 2} if b.opset >= 18 else {}
    names = b.node("Split", [b.dequantize(x).name], 2, axis=axis, **attrs)
    shape = tuple(s // 2 if i == axis else s for i, s in enumerate(x.shape))
    same = b.chance(0.8)
    halves = []
    for name in names:
        real = Real(name, shape, x.rms)
        halves.append(b.quantize(real, x.dtype, x.scale, x.zero) if same else b.quantize(real, x.dtype))
    pool.append(halves[1])
    return halves[0]


MOVES = [max_pool, max_pool, reduce_extreme, reshape, flatten, transpose, unsqueeze, squeeze, slices, gather, tile]
MOVES += [expand, depth_to_space, resize, split, gather_elements]
ELEMENTS = [binary("Add"), binary("Add"), binary("Add"), binary("Mul"), binary("Mul"), binary("Sub")]
ELEMENTS += [unary("Sigmoid", 0.5), unary("LeakyRelu", 0, alpha=lambda b: b.rng.uniform(0.01, 0.5))]
ELEMENTS += [unary("Relu", 0), unary("Tanh", 0.6), unary("Abs", 0), unary("HardSigmoid", 0.5)]
