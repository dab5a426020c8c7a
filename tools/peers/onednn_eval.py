# SPDX-License-Identifier: Apache-2.0
"""Evaluates oneDNN Graph in float64, rounding every result once to its declared dtype.

Only the quantizing ops run in float32, as their float32 formulas are exact. Each op gives, for each
output, the values before rounding and how far a float32 implementation may be off (an array or a
number; 0: the same bits). run() can add such errors as noise, which shows how they grow through a
graph."""

import math

import numpy as np
from onednn_reader import (
    channel_axis,
    norm_axis,
    reduced_axes,
    transpose_order,
    transposed_geometry,
    window_geometry,
    window_sizes,
)
from onednn_values import is_float, round_to

HALF_ULP = 2.0**-24  # relative, of float32
ERF = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


# ---- Elements


def gelu(x, a):
    if a.get("mode", "gelu_erf") == "gelu_erf":
        return x / 2 * (1 + ERF(x / math.sqrt(2)))
    return x / 2 * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def minimum_of(x, low, high):
    return np.minimum(np.maximum(x, low), high)


def f32(value):
    return float(np.float32(value))


# Kind: function of x and the attributes, relative error, error relative to |x|.
UNARY = {
    "Abs": (lambda x, a: np.abs(x), 0, 0),
    "Exp": (lambda x, a: np.exp(x), 4e-6, 0),
    "Log": (lambda x, a: np.log(x), 4e-5, 0),
    "Sqrt": (lambda x, a: np.sqrt(x), 0, 0),
    "Square": (lambda x, a: x * x, 0, 0),
    "Tanh": (lambda x, a: np.tanh(x), 4e-5, 0),
    "Sigmoid": (lambda x, a: sigmoid(x), 4e-6, 0),
    "ReLU": (lambda x, a: np.maximum(x, 0), 0, 0),
    "Reciprocal": (lambda x, a: 1 / x, 0, 0),
    "Round": (lambda x, a: np.rint(x), 0, 0),
    "HardSwish": (lambda x, a: x * minimum_of(x / 6 + 0.5, 0, 1), 4e-6, 4 * HALF_ULP),
    "Mish": (lambda x, a: x * np.tanh(softplus(x)), 4e-5, 0),
    "LeakyReLU": (lambda x, a: np.where(x > 0, x, f32(a["alpha"]) * x), 0, 0),
    "Elu": (lambda x, a: np.where(x > 0, x, f32(a["alpha"]) * np.expm1(np.minimum(x, 0))), 4e-5, 0),
    "HardSigmoid": (
        lambda x, a: minimum_of(f32(a["alpha"]) * x + f32(a["beta"]), 0, 1),
        4e-6,
        4 * HALF_ULP,
    ),
    "Clamp": (lambda x, a: minimum_of(x, f32(a["min"]), f32(a["max"])), 0, 0),
    "GELU": (gelu, 4e-5, 8 * HALF_ULP),
}


def unary(node, xs):
    function, relative, of_input = UNARY[node.kind]
    y = function(xs[0], node.attrs)
    if relative == 0:
        return [(y, narrowing(node, y))]
    err = relative * np.abs(y) + of_input * np.abs(xs[0]) + narrowing(node, y)
    if node.kind == "Elu":  # e^x is close to 1
        err = err + 2 * HALF_ULP * abs(node.attrs["alpha"])
    return [(y, err)]


def narrowing(node, y):
    """float32 arithmetic whose result is rounded once more, to a narrower dtype."""
    return 0 if node.outputs[0].dtype == "f32" else HALF_ULP * np.abs(y)


def binary(node, xs):
    a, b = xs
    if node.kind == "GreaterEqual":
        return [(a >= b, 0)]
    integers = a.dtype == np.int64 and b.dtype == np.int64
    if not integers:
        a, b = (v.astype(np.float32).astype(np.float64) for v in (a, b))
    y = {
        "Add": np.add,
        "Subtract": np.subtract,
        "Multiply": np.multiply,
        "Divide": np.divide,
        "Minimum": np.minimum,
        "Maximum": np.maximum,
    }[node.kind](a, b)
    return [(y, 0 if integers or node.outputs[0].dtype == "s32" else narrowing(node, y))]


def select(_node, xs):
    shape = np.broadcast_shapes(xs[1].shape, xs[2].shape)
    return [(np.where(np.broadcast_to(xs[0], shape), xs[1], xs[2]), 0)]


def along(values, axis, rank):
    """A tensor of rank 1, shaped to broadcast along an axis."""
    return values.reshape([-1 if i == axis else 1 for i in range(rank)])


def bias_add(node, xs):
    x, bias = xs
    y = x + along(bias, channel_axis(node.attrs, x.ndim), x.ndim)
    return [(y, narrowing(node, y))]


def prelu(node, xs):
    x, slope = xs
    if slope.ndim == 1 and node.attrs.get("per_channel_broadcast", True):
        slope = along(slope, channel_axis(node.attrs, x.ndim), x.ndim)
    y = np.where(x > 0, x, slope * x)
    return [(y, narrowing(node, y))]


def philox(counter, key):
    """Philox4x32-10; each word of a counter is a number or an array of uint64."""
    word = np.uint64(0xFFFFFFFF)
    counter = [np.asarray(c, np.uint64) for c in counter]
    for turn in range(10):
        k = [(key[0] + turn * 0x9E3779B9) & 0xFFFFFFFF, (key[1] + turn * 0xBB67AE85) & 0xFFFFFFFF]
        first = counter[0] * np.uint64(0xD2511F53)
        second = counter[2] * np.uint64(0xCD9E8D57)
        counter = [
            (second >> np.uint64(32)) ^ counter[1] ^ np.uint64(k[0]),
            second & word,
            (first >> np.uint64(32)) ^ counter[3] ^ np.uint64(k[1]),
            first & word,
        ]
    return counter


def random_words(count, seed, offset):
    """One word for each element. As in oneDNN, without an offset the counter has 32 bits and all
    four elements of a group get the third word of their group."""
    index = np.arange(count, dtype=np.uint64)
    group = index & ~np.uint64(3)
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    if offset == 0:
        group &= low
        counter = [group, (group + np.uint64(1)) & low, group, (group + np.uint64(3)) & low]
        return philox(counter, [seed & 0xFFFFFFFF] * 2)[2]
    offset, seed = offset % 2**64, seed % 2**64
    zeros = np.zeros_like(group)
    counter = [zeros + np.uint64(offset & 0xFFFFFFFF), zeros + np.uint64(offset >> 32)]
    words = philox([*counter, group & low, group >> high], [seed & 0xFFFFFFFF, seed >> 32])
    return np.choose((index & np.uint64(3)).astype(int), words)


def dropout(_node, xs):
    x, seed, offset = xs[0], int(xs[1]), int(xs[2])
    p = min(max(float(xs[3]), 0.0), 1.0)
    words = random_words(x.size, seed, offset).astype(np.float64)
    mask = (words > p * (2.0**32 - 1)).reshape(x.shape) & (p < 1)
    y = np.where(mask, x / (1 - p if p < 1 else 1), 0)
    return [(y, 4 * HALF_ULP * np.abs(y)), (mask.astype(np.int64), 0)]


# ---- Quantizing: float32, bit for bit


def parameter(node, values, shape):
    """Scales or zero points, shaped to broadcast over x; a single one serves all channels."""
    values = np.asarray(values)
    rank, qtype = len(shape), node.attrs.get("qtype", "per_tensor")
    if qtype == "per_channel":
        axis = node.attrs.get("axis", 1) % rank
        return along(np.resize(values, shape[axis]), axis, rank)
    if qtype == "per_group":
        for axis, group in enumerate(node.attrs["group_shape"]):
            values = np.repeat(values, group, axis)
        return values
    return values.reshape(-1)[0]


def parameters(node, xs):
    shape = xs[0].shape
    if node.kind.startswith("Dynamic"):
        scales, zps = xs[1].astype(np.float32), xs[2] if len(xs) > 2 else None
    else:
        scales = np.asarray(node.attrs["scales"], np.float64).astype(np.float32)
        zps = node.attrs.get("zps") or None
    scale = parameter(node, scales, shape)
    return scale, np.float32(0) if zps is None else parameter(node, zps, shape)


def quantize(node, xs):
    scale, zp = parameters(node, xs)
    inverse = np.float32(1) / scale
    if node.kind == "Quantize" and np.all(np.abs(scale - np.float32(1)) < 1e-6):
        inverse = np.float32(1)
    y = xs[0].astype(np.float32) * inverse + np.float32(zp)
    return [(y.astype(np.float64), 0)]


def dequantize(node, xs):
    scale, zp = parameters(node, xs)
    y = (xs[0].astype(np.float32) - np.float32(zp)) * scale
    return [(y.astype(np.float64), 0)]


# ---- Products


def products(count, magnitudes):
    """The error of a sum of products in float32: the bound, or the likely error of many
    products."""
    return min(count + 2, 8 * math.sqrt(count)) * HALF_ULP * magnitudes


def matmul(node, xs):
    a, b = xs[0], xs[1]
    if node.attrs.get("transpose_a") and a.ndim > 1:
        a = a.swapaxes(-1, -2)
    if node.attrs.get("transpose_b") and b.ndim > 1:
        b = b.swapaxes(-1, -2)
    y = np.matmul(a, b)
    err = products(a.shape[-1], np.matmul(np.abs(a), np.abs(b)))
    if len(xs) > 2:
        y = y + xs[2]
        err = err + 2 * HALF_ULP * np.abs(y)
    return [(y, err + narrowing(node, y))]


def channels_first(x, attrs):
    return np.moveaxis(x, -1, 1) if channel_axis(attrs, x.ndim) != 1 else x


def channels_back(y, attrs):
    return np.moveaxis(y, 1, -1) if attrs.get("data_format", "NXC") == "NXC" else y


def places(kernel):
    return np.ndindex(*kernel)


def convolve(x, w, groups, geometry, sizes):
    """x [N, C, spatial...] with w [O, I, spatial...]."""
    strides, dilations, begin, end = geometry
    kernel, spatial = w.shape[2:], x.shape[2:]
    reach = [
        max(0, (o - 1) * s + (k - 1) * d + 1 - n - b)
        for o, s, k, d, n, b in zip(sizes, strides, kernel, dilations, spatial, begin)
    ]
    pads = [(0, 0), (0, 0)] + [(b, max(e, r)) for b, e, r in zip(begin, end, reach)]
    x = np.pad(x, pads)
    batch = x.shape[0]
    w = w.reshape(groups, w.shape[0] // groups, w.shape[1], *kernel)
    y = np.zeros((batch, groups, w.shape[1], math.prod(sizes)))
    for at in places(kernel):
        cut = tuple(
            slice(a * d, a * d + (o - 1) * s + 1, s)
            for a, d, o, s in zip(at, dilations, sizes, strides)
        )
        part = x[(slice(None), slice(None), *cut)].reshape(batch, groups, w.shape[2], -1)
        y += np.matmul(w[(slice(None), slice(None), slice(None), *at)], part)
    return y.reshape(batch, -1, *sizes)


def with_bias(node, y, err, bias):
    if bias is not None:
        y = y + along(bias, 1, y.ndim)
        err = err + 2 * HALF_ULP * np.abs(y)
    err = err + narrowing(node, y)
    return [(channels_back(y, node.attrs), channels_back(err, node.attrs))]


def convolution(node, xs):
    a, groups = node.attrs, node.attrs.get("groups", 1)
    x, w = channels_first(xs[0], a), xs[1]
    if a.get("weights_format", "XIO") == "XIO":
        w = np.moveaxis(w, (-1, -2), (0, 1))
    geometry = window_geometry(a, x.shape[2:], w.shape[2:])
    sizes = window_sizes(a, x.shape[2:], w.shape[2:])
    y = convolve(x, w, groups, geometry, sizes)
    err = products(w[0].size, convolve(np.abs(x), np.abs(w), groups, geometry, sizes))
    return with_bias(node, y, err, xs[2] if len(xs) > 2 else None)


def scatter(x, w, groups, geometry):
    """x [N, I, spatial...] through w [I, O / groups, spatial...]."""
    strides, dilations, begin, end, extra = geometry
    batch, spatial, kernel = x.shape[0], x.shape[2:], w.shape[2:]
    rows = list(zip(spatial, kernel, strides, dilations, extra, begin, end))
    full = [s * (n - 1) + d * (k - 1) + 1 + o for n, k, s, d, o, _, _ in rows]
    sizes = [f - b - e for f, (_, _, _, _, _, b, e) in zip(full, rows)]
    x = x.reshape(batch, groups, -1, math.prod(spatial))
    w = w.reshape(groups, x.shape[2], w.shape[1], *kernel).swapaxes(1, 2)
    y = np.zeros((batch, groups * w.shape[1], *full))
    for at in places(kernel):
        part = np.matmul(w[(slice(None), slice(None), slice(None), *at)], x)
        cut = tuple(
            slice(i * d, i * d + (n - 1) * s + 1, s)
            for i, d, n, s in zip(at, dilations, spatial, strides)
        )
        y[(slice(None), slice(None), *cut)] += part.reshape(batch, -1, *spatial)
    crop = tuple(slice(b, b + n) for b, n in zip(begin, sizes))
    return y[(slice(None), slice(None), *crop)]


def conv_transpose(node, xs):
    a, groups = node.attrs, node.attrs.get("groups", 1)
    x, w = channels_first(xs[0], a), xs[1]
    if a.get("weights_format", "XOI") == "XOI":
        w = np.moveaxis(w, (-1, -2), (0, 1))
    geometry = transposed_geometry(a, x.shape[2:], w.shape[2:])
    y = scatter(x, w, groups, geometry)
    count = w.shape[0] // groups * math.prod(w.shape[2:])
    err = products(count, scatter(np.abs(x), np.abs(w), groups, geometry))
    return with_bias(node, y, err, xs[2] if len(xs) > 2 else None)


# ---- Softmax and normalization


def softmax(node, xs):
    x, axis = xs[0], node.attrs.get("axis", 1)
    top = x.max(axis, keepdims=True)
    empty = np.isneginf(top) & (node.attrs.get("mode", "none") == "inf_as_zero")
    top = np.where(empty, 0, top)
    e = np.exp(x - top)
    total = e.sum(axis, keepdims=True)
    y = np.where(empty, 0, e / np.where(empty, 1, total))
    distance = np.abs(np.where(np.isfinite(x - top), x - top, 0))
    stats = np.where(empty, 0, top + np.log(np.where(empty, 1, total)))
    err = y * HALF_ULP * (20 + 2 * distance)
    return [(y, err + narrowing(node, y)), (stats, 8 * HALF_ULP * (1 + np.abs(top)))]


def log_softmax(node, xs):
    x, axis = xs[0], node.attrs.get("axis", -1)
    top = x.max(axis, keepdims=True)
    total = np.log(np.exp(x - top).sum(axis, keepdims=True))
    y = x - top - total
    err = HALF_ULP * (4 + 16 * (np.abs(x) + np.abs(top) + np.abs(total)))
    return [(y, err + narrowing(node, y))]


def affine(y, err, gamma, beta, node):
    if gamma is not None:
        y, err = y * gamma, err * np.abs(gamma)
    if beta is not None:
        err = err + 4 * HALF_ULP * (np.abs(y) + np.abs(beta))
        y = y + beta
    return y, err + narrowing(node, y)


def normalizing(x, mean, variance, root):
    """The error of (x - mean) / root; the mean's error is that of a sum of values as large as x."""
    return HALF_ULP * (32 * (np.abs(x) + np.abs(mean)) + 4 * np.sqrt(variance + mean**2)) / root


def layer_norm(node, xs):
    x = xs[0]
    axes = tuple(range(norm_axis(node.attrs, x.ndim), x.ndim))
    mean = x.mean(axes, keepdims=True)
    variance = np.square(x - mean).mean(axes, keepdims=True)
    root = np.sqrt(variance + f32(node.attrs.get("epsilon", 1e-5)))
    y = (x - mean) / root
    shape = x.shape[axes[0] :]
    gamma, beta = (v.reshape(shape) for v in xs[1:3]) if len(xs) > 2 else (None, None)
    y, err = affine(y, normalizing(x, mean, variance, root), gamma, beta, node)
    return [(y, err), *statistics(mean, variance, x, x.shape[: axes[0]])]


def statistics(mean, variance, x, shape):
    magnitude = np.abs(x).max(initial=0)
    return [
        (mean.reshape(shape), 4 * HALF_ULP * magnitude),
        (variance.reshape(shape), 16 * HALF_ULP * (variance.reshape(shape) + magnitude**2 * 1e-3)),
    ]


def rms_norm(node, xs):
    x = xs[0]
    axes = tuple(range(norm_axis(node.attrs, x.ndim), x.ndim))
    square = np.square(x).mean(axes, keepdims=True)
    y = x / np.sqrt(square + f32(node.attrs.get("epsilon", 1e-5)))
    gamma = xs[1].reshape(x.shape[axes[0] :]) if len(xs) > 1 else None
    y, err = affine(y, 16 * HALF_ULP * np.abs(y), gamma, None, node)
    return [(y, err)]


def group_norm(node, xs):
    a, groups = node.attrs, node.attrs["groups"]
    x = channels_first(xs[0], a)
    parts = x.reshape(x.shape[0], groups, -1)
    mean = parts.mean(2, keepdims=True)
    variance = np.square(parts - mean).mean(2, keepdims=True)
    root = np.sqrt(variance + f32(a.get("epsilon", 1e-5)))
    y = (parts - mean) / root
    err = normalizing(parts, mean, variance, root)
    gamma, beta = (along(v, 1, x.ndim) for v in xs[1:3]) if len(xs) > 2 else (None, None)
    y, err = affine(y.reshape(x.shape), err.reshape(x.shape), gamma, beta, node)
    shape = (x.shape[0], groups)
    return [
        (channels_back(y, a), channels_back(err, a)),
        *statistics(mean, variance, x, shape),
    ]


def normalized(x, mean, variance, gamma, beta, node):
    root = np.sqrt(variance + f32(node.attrs["epsilon"]))
    y = (x - mean) / root
    return affine(y, normalizing(x, mean, variance, root), gamma, beta, node)


def batch_norm(node, xs):
    x = xs[0]
    axis = channel_axis(node.attrs, x.ndim)
    gamma, beta, mean, variance = (along(v, axis, x.ndim) for v in xs[1:5])
    return [normalized(x, mean, variance, gamma, beta, node)]


def batch_norm_training(node, xs):
    x = xs[0]
    axis = channel_axis(node.attrs, x.ndim)
    axes = tuple(i for i in range(x.ndim) if i != axis)
    mean = x.mean(axes, keepdims=True)
    variance = np.square(x - mean).mean(axes, keepdims=True)
    gamma, beta = (along(v, axis, x.ndim) for v in xs[3:5]) if len(xs) > 4 else (None, None)
    old, momentum = xs[1:3], f32(node.attrs.get("momentum", 0.5))
    batch = statistics(mean, variance, x, old[0].shape)
    running = [
        (momentum * o + (1 - momentum) * b, e + 4 * HALF_ULP * (np.abs(o) + np.abs(b)))
        for o, (b, e) in zip(old, batch)
    ]
    return [normalized(x, mean, variance, gamma, beta, node), *running, *batch]


# ---- Pooling, resampling, reduction


def windows(x, attrs):
    """For each tap of the kernel, the elements of all windows and their positions in x."""
    kernel, sizes = attrs["kernel"], window_sizes(attrs, x.shape[2:], attrs["kernel"])
    strides, dilations, begin, _ = window_geometry(attrs, x.shape[2:], kernel)
    for at in places(kernel):
        index, inside = [], np.ones((), bool)
        for i, n in enumerate(x.shape[2:]):
            where = np.arange(sizes[i]) * strides[i] + at[i] * dilations[i] - begin[i]
            inside = np.logical_and.outer(inside, (where >= 0) & (where < n))
            index.append(np.clip(where, 0, n - 1))
        yield x[(slice(None), slice(None), *np.ix_(*index))], inside


def avg_pool(node, xs):
    a, x = node.attrs, channels_first(xs[0], node.attrs)
    total = magnitude = count = 0
    for part, inside in windows(x, a):
        total = total + np.where(inside, part, 0)
        magnitude = magnitude + np.where(inside, np.abs(part), 0)
        count = count + inside.astype(np.float64)
    divisor = count if a["exclude_pad"] else float(math.prod(a["kernel"]))
    y, err = total / divisor, 10 * HALF_ULP * magnitude / divisor
    return [(channels_back(y, a), channels_back(err, a) + narrowing(node, channels_back(y, a)))]


def max_pool(node, xs):
    a, x = node.attrs, channels_first(xs[0], node.attrs)
    y = None
    for part, inside in windows(x, a):
        part = np.where(inside, part, -np.inf)
        y = part if y is None else np.maximum(y, part)
    return [(channels_back(y, a), 0)]


def positions(n, out, attrs):
    o = np.arange(out, dtype=np.float64)
    if attrs.get("coordinate_transformation_mode", "half_pixel") == "half_pixel":
        return (o + 0.5) * n / out - 0.5
    return o * (n - 1) / (out - 1) if out > 1 else o * 0


def interpolate(node, xs):
    a, y = node.attrs, channels_first(xs[0], node.attrs)
    out = a.get("sizes") or [
        int(np.float32(n) * np.float32(s)) for n, s in zip(y.shape[2:], a["scales"])
    ]
    err = 0
    for i, size in enumerate(out):
        n = y.shape[2 + i]
        pos = positions(n, size, a)
        if a["mode"] == "nearest":
            nearest = np.where(pos < 0, -np.floor(0.5 - pos), np.floor(pos + 0.5)).astype(int)
            y = np.take(y, np.clip(nearest, 0, n - 1), 2 + i)
            continue
        low = np.maximum(np.trunc(pos), 0).astype(int)
        high = np.minimum(np.maximum(np.ceil(pos), 0), n - 1).astype(int)
        weight = along(np.abs(pos - low), 2 + i, y.ndim)
        err = err + (4 + 4 * n) * HALF_ULP * np.abs(y).max()
        y = np.take(y, low, 2 + i) * (1 - weight) + np.take(y, high, 2 + i) * weight
    return [(channels_back(y, a), err)]


def reduce(node, xs):
    x, kind = xs[0], node.kind
    axes, keep = reduced_axes(node.attrs, x.ndim), bool(node.attrs.get("keep_dims"))
    how = {"axis": axes, "keepdims": keep}
    if kind in ("ReduceMax", "ReduceMin"):
        return [(np.max(x, **how) if kind == "ReduceMax" else np.min(x, **how), 0)]
    if kind == "ReduceProd":
        y = np.prod(x, **how)
        return [(y, (math.prod(x.shape[i] for i in axes) + 2) * HALF_ULP * np.abs(y))]
    if kind == "ReduceL2":
        y = np.sqrt(np.sum(x * x, **how))
        return [(y, 8 * HALF_ULP * y)]
    magnitude = np.sum(np.abs(x), **how)
    if kind == "ReduceL1":
        return [(magnitude, 8 * HALF_ULP * magnitude)]
    count = math.prod(x.shape[i] for i in axes) if kind == "ReduceMean" else 1
    return [(np.sum(x, **how) / count, 8 * HALF_ULP * magnitude / count)]


# ---- Data movement


def gen_index(node, xs):
    x = xs[0]
    index = np.arange(x.shape[node.attrs["axis"] % x.ndim], dtype=np.int64)
    return [(np.broadcast_to(along(index, node.attrs["axis"] % x.ndim, x.ndim), x.shape).copy(), 0)]


def identity(_node, xs):
    return [(xs[0], 0)]


OPS = {kind: unary for kind in UNARY}
OPS |= {k: binary for k in "Add Subtract Multiply Divide Minimum Maximum GreaterEqual".split()}
OPS |= {k: reduce for k in "L1 L2 Max Mean Min Prod Sum".split()}
OPS = {("Reduce" + k if f is reduce else k): f for k, f in OPS.items()}
OPS |= {
    "Select": select,
    "BiasAdd": bias_add,
    "PReLU": prelu,
    "Dropout": dropout,
    "Quantize": quantize,
    "DynamicQuantize": quantize,
    "Dequantize": dequantize,
    "DynamicDequantize": dequantize,
    "TypeCast": identity,
    "MatMul": matmul,
    "Convolution": convolution,
    "ConvTranspose": conv_transpose,
    "SoftMax": softmax,
    "LogSoftmax": log_softmax,
    "LayerNorm": layer_norm,
    "RMSNorm": rms_norm,
    "GroupNorm": group_norm,
    "BatchNormInference": batch_norm,
    "BatchNormForwardTraining": batch_norm_training,
    "AvgPool": avg_pool,
    "MaxPool": max_pool,
    "Interpolate": interpolate,
    "Concat": lambda node, xs: [(np.concatenate(xs, node.attrs["axis"]), 0)],
    "StaticReshape": None,  # needs the inferred shape
    "StaticTranspose": lambda node, xs: [
        (xs[0].transpose(transpose_order(node.attrs, xs[0].ndim)), 0)
    ],
    "Reorder": identity,
    "GenIndex": gen_index,
    "End": lambda node, xs: [],
}


def evaluate(node, xs, shapes):
    if node.kind == "StaticReshape":
        return [(xs[0].reshape(shapes[0]), 0)]
    return OPS[node.kind](node, xs)


def disturbed(y, err, dtype, rng):
    """y with an error of at most err, scaled by an array of random numbers."""
    if rng is None or not is_float(dtype) or (np.isscalar(err) and err == 0):
        return y
    with np.errstate(all="ignore"):
        return y + rng.uniform(-1, 1, y.shape) * np.where(np.isfinite(err), err, 0)


def run(graph, inputs, rng=None):
    """inputs: id -> values. Returns id -> (values, values before rounding, error) of the outputs.
    rng: adds noise as large as the errors of float32 arithmetic."""
    values, found = dict(inputs), {}
    last = {t.id: i for i, node in enumerate(graph.nodes) for t in node.inputs}
    with np.errstate(all="ignore"):
        for i, node in enumerate(graph.nodes):
            xs = [values[t.id] for t in node.inputs]
            results = evaluate(node, xs, [graph.shapes[t.id] for t in node.outputs])
            for tensor, (y, err) in zip(node.outputs, results):
                y = np.asarray(y)
                if y.shape != graph.shapes[tensor.id]:
                    raise AssertionError(f"{node.kind}: {y.shape}, {graph.shapes[tensor.id]}")
                values[tensor.id] = round_to(disturbed(y, err, tensor.dtype, rng), tensor.dtype)
                if tensor.id in graph.outputs:
                    found[tensor.id] = values[tensor.id], y, err
            for tensor in node.inputs:
                if last[tensor.id] == i:
                    values.pop(tensor.id, None)
    return found
