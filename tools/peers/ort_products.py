# SPDX-License-Identifier: Apache-2.0
"""Random quantized products for ort_graphs.py: MatMul, Gemm, Conv, with their weights and biases."""

import numpy as np
from ort_build import F32, S8, S32, U8, Codes, Real


def weight_codes(b, shape, dtype):
    """Codes of weights: normal, saturating, or small enough never to saturate in pairs."""
    info = np.iinfo(dtype)
    way = b.pick("normal", "normal", "large", "edge", "reduced")
    middle = 0 if dtype == S8 else 128
    if way == "normal":
        values = b.rng.normal(middle, 40, shape)
    elif way == "large":
        values = b.rng.integers(info.min, info.max + 1, shape)
    elif way == "edge":
        values = b.rng.choice([info.min, info.max, info.max, info.max - 3, 5], shape)
    else:
        values = middle + b.rng.integers(-64, 65, shape)
    return np.clip(np.rint(values), info.min, info.max).astype(dtype)


def weight_zero(b, dtype, shape):
    if b.chance(0.75):
        return np.full(shape, 0 if dtype == S8 or b.chance(0.3) else 128)
    return b.rng.integers(-9, 10, shape) + (0 if dtype == S8 else 128)


def weight(b, x, shape, axis, columns, per_axis_zero=True):
    """A constant weight behind DequantizeLinear. Returns its real, its scales, and its rms."""
    dtype = b.pick(S8, S8, S8, U8)
    channels = b.opset >= 13 and b.chance(0.4)
    size = (columns,) if channels else ()
    scale = np.asarray(b.scale(10 ** b.rng.uniform(-3, -1.5)), F32)
    if channels:
        scale = (scale * (b.rng.choice([0.5, 1, 2], size) if b.tie else b.rng.uniform(0.5, 1.5, size))).astype(F32)
    zero = weight_zero(b, dtype, size if per_axis_zero else ())
    zero = np.broadcast_to(zero, size)
    values = weight_codes(b, shape, dtype)
    name = b.const(values, "w")
    rms = float(np.sqrt(np.mean((values - float(np.mean(zero))) ** 2)) * np.mean(scale)) + 1e-9
    real = b.dequantize(Codes(name, tuple(shape), dtype, scale, zero, rms), axis if channels else None)
    return real, scale


def int_bias(b, x, scale, columns):
    """An int32 bias with the scale sx * sw, sometimes with another scale or a zero point."""
    factor = b.pick(1, 1, 1, 1, 1, 1, 1.004, 1.5)
    step = (x.scale * scale).astype(F32) * F32(factor)
    values = b.rng.integers(-8000, 8000, columns).astype(S32)
    name = b.const(values, "b")
    names = [b.const(np.asarray(step, F32), "s")]
    if b.chance(0.7):
        names.append(b.const(np.full(step.shape, 3 if b.chance(0.03) else 0, S32), "z"))
    attrs = {"axis": 0} if step.ndim else {}
    return b.node("DequantizeLinear", [name, *names], **attrs)


def bias(b, x, scale, columns, rms):
    """The name of a bias, or None."""
    way = b.pick(None, "int", "int", "float")
    if way == "int":
        return int_bias(b, x, scale, columns)
    if way == "float":
        return b.const(b.rng.normal(0, rms, columns).astype(F32), "b")
    return None


def some_size(b):
    return b.pick(1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65)


def matmul(b, x, pool):
    k = x.shape[-1]
    n = some_size(b)
    b.group("MatMul")
    left = b.dequantize(x)
    if b.chance(0.2) and len(x.shape) >= 2:  # both are activations
        batch = x.shape[:-2] if b.chance(0.5) else ()
        other = b.input_codes((*batch, k, n), b.pick(x.dtype, U8, S8))
        right, step = b.dequantize(other), other.rms
        scale = None
    else:
        right, scale = weight(b, x, (k, n), 1, n)
        step = right.rms
    rms = np.sqrt(k) * x.rms * step
    y = b.node("MatMul", [left.name, right.name])
    if scale is not None and b.chance(0.12):
        y = b.node("Add", [y, b.const(b.rng.normal(0, rms, n).astype(F32), "b")])
        b.group("Add bias")
    return Real(y, (*x.shape[:-1], n), rms)


def gemm(b, x, pool):
    if len(x.shape) != 2:
        return None
    k, n = x.shape[1], some_size(b)
    b.group("Gemm")
    turned = b.chance(0.4)
    left = b.dequantize(x)
    right, scale = weight(b, x, (n, k) if turned else (k, n), 0 if turned else 1, n)
    rms = np.sqrt(k) * x.rms * right.rms
    ins = [left.name, right.name]
    extra = bias(b, x, scale, n, rms)
    if not extra and b.opset < 11:
        extra = int_bias(b, x, scale, n)
    attrs = {"transB": 1} if turned else {}
    if extra:
        ins.append(extra)
    if b.chance(0.12):
        attrs["alpha"] = float(np.float32(b.rng.uniform(0.5, 2)))
        rms *= attrs["alpha"]
    y = b.node("Gemm", ins, **attrs)
    return Real(y, (x.shape[0], n), rms)


def conv_sizes(b, x):
    c = x.shape[1]
    way = b.pick("full", "full", "point", "depthwise", "groups")
    groups = {"depthwise": c, "groups": b.pick(*[d for d in range(1, c + 1) if c % d == 0])}.get(way, 1)
    per = b.pick(1, 1, 2) if way == "depthwise" else b.pick(1, 2, 3, 4, 8, 16)
    kernel = [1, 1] if way == "point" else [b.pick(1, 2, 3, 3, 5), b.pick(1, 2, 3, 3)]
    return groups, groups * per, kernel


def conv_window(b, x, kernel):
    """Attributes of pads, strides and dilations that leave at least one output; and the output's size."""
    for _ in range(20):
        attrs = {"strides": [b.pick(1, 1, 2, 3) for _ in kernel], "dilations": [b.pick(1, 1, 1, 2) for _ in kernel]}
        attrs["pads"] = [b.pick(0, 0, 1, 2) for _ in range(2 * len(kernel))]
        if b.chance(0.3):
            attrs["pads"] = [0] * 2 * len(kernel)
        attrs["pads"] = [min(p, k - 1) for p, k in zip(attrs["pads"], kernel * 2)]
        sizes = []
        for i, k in enumerate(kernel):
            room = x.shape[2 + i] + attrs["pads"][i] + attrs["pads"][i + len(kernel)]
            sizes.append((room - attrs["dilations"][i] * (k - 1) - 1) // attrs["strides"][i] + 1)
        if min(sizes) >= 1:
            return attrs, sizes
    return None, None


def float_weight(b, shape, rms):
    return b.const((b.rng.normal(0, rms, shape)).astype(F32), "w")


def conv(b, x, pool):
    if len(x.shape) not in (3, 4):
        return None
    groups, m, kernel = conv_sizes(b, x)
    kernel = kernel[: len(x.shape) - 2]
    attrs, sizes = conv_window(b, x, kernel)
    if not attrs:
        return None
    b.group("Conv" if groups == 1 else f"Conv/{groups}")
    shape = (m, x.shape[1] // groups, *kernel)
    left = b.dequantize(x)
    k = np.prod(shape[1:])
    if b.chance(0.12):
        b.group("float weight")
        size, scale = 10 ** b.rng.uniform(-2, 0), np.float32(0.01)
        ins = [left.name, float_weight(b, shape, size)]
        rms = np.sqrt(k) * x.rms * size
        if b.chance(0.5):
            ins.append(b.const(b.rng.normal(0, rms, m).astype(F32), "b"))
    else:
        right, scale = weight(b, x, shape, 0, m)
        rms = np.sqrt(k) * x.rms * right.rms
        extra = bias(b, x, scale, m, rms)
        ins = [left.name, right.name, *([extra] if extra else [])]
    if groups > 1:
        attrs["group"] = int(groups)
    y = b.node("Conv", ins, kernel_shape=kernel if b.chance(0.7) else None, **attrs)
    return Real(y, (x.shape[0], m, *sizes), rms)


def conv_transpose(b, x, pool):
    if len(x.shape) != 4:
        return None
    b.group("ConvTranspose")
    m = b.pick(1, 2, 4)
    left = b.dequantize(x)
    right, _ = weight(b, x, (x.shape[1], m, 2, 2), 1, m)
    y = b.node("ConvTranspose", [left.name, right.name], strides=[2, 2])
    shape = (x.shape[0], m, *[2 * s for s in x.shape[2:]])
    return Real(y, shape, np.sqrt(x.shape[1]) * x.rms * right.rms)
