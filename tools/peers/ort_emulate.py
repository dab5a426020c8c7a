# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of ONNX Runtime's fused 8-bit kernels in numpy, for one processor.

Processors are "avx2" (no VNNI), "vnni", "neon" (no dot products), "dot" and "i8mm". Codes are arrays of uint8
or int8, scales float32. ort_groups.py compares each function with ONNX Runtime.
"""

import numpy as np

F32 = np.float32
ARM = ("neon", "dot", "i8mm")
S16 = np.iinfo(np.int16)


def fma(x, y, z):
    """float32 x * y + z, rounded once: the sum is made in float64, rounded to odd."""
    x, y, z = (np.asarray(v, F32).astype(np.float64) for v in (x, y, z))
    product = x * y  # exact
    total = product + z
    part = total - product
    error = (product - (total - part)) + (z - part)
    bits = np.atleast_1d(total).view(np.int64).reshape(total.shape)
    even = (error != 0) & (bits & 1 == 0)
    total = np.where(even, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total)
    return total.astype(F32)


def saturate(values, dtype):
    info = np.iinfo(dtype)
    return np.clip(values, info.min, info.max).astype(dtype)


def wrap32(values):
    return np.asarray(values, np.int64).astype(np.uint64).astype(np.uint32).view(np.int32)


# Integer sums.


def pair_sums(a, b):
    """AVX2's product of u8 and s8: each two products are added with saturation to 16 bits."""
    a, b = a.astype(np.int64), b.astype(np.int64)
    if a.shape[-1] % 2:
        a = np.concatenate([a, np.zeros((*a.shape[:-1], 1), np.int64)], -1)
        b = np.concatenate([b, np.zeros((*b.shape[:-2], 1, b.shape[-1]), np.int64)], -2)
    products = a[..., :, :, None] * b[..., None, :, :]
    pairs = products[..., 0::2, :] + products[..., 1::2, :]
    return np.clip(pairs, S16.min, S16.max).sum(-2)


def wrapped_pairs(a, b, first, second):
    """By how much sums are off in which the products of k in `first` and in `second` are added in 16 bits that wrap.
    That happens only if both codes and both weights are -128, where codes of uint8 are taken less 128."""
    low = (a.astype(np.int64) - (128 if a.dtype == np.uint8 else 0)) == -128
    least = b == -128
    a_pairs = (low[..., first] & low[..., second]).astype(np.int64)
    b_pairs = (least[..., first, :] & least[..., second, :]).astype(np.int64)
    return -65536 * (a_pairs @ b_pairs)


def neon_overflows(a, b):
    """Plain NEON adds the products of k and k + 8, in blocks of 16, in 16 bits."""
    k = a.shape[-1]
    first = [i for i in range(k) if i % 16 < 8 and i + 8 < k]
    return wrapped_pairs(a, b, first, [i + 8 for i in first])


def depthwise_overflows(a, b, sixteens):
    """Arm's depthwise kernel for weights without zero points adds the products of two taps in 16 bits. 9 taps have
    another order if channels come in sixteens."""
    k = a.shape[-1]
    nine = k == 9 and sixteens
    first = [0, 1, 4, 5] if nine else list(range(0, k - 1, 2))
    return wrapped_pairs(a, b, first, [i + (2 if nine else 1) for i in first])


def raw_sums(a, b, cpu):
    """Sums of products of codes, [.., m, k] x [.., k, n]."""
    if cpu in ("avx2", "avx512") and a.dtype == np.uint8 and b.dtype == np.int8:
        return pair_sums(a, b)
    sums = a.astype(np.int64) @ b.astype(np.int64)
    if cpu == "neon" and b.dtype == np.int8:
        sums = sums + neon_overflows(a, b)
    return sums


def integer_sums(a, za, b, zb, cpu, bias=0):
    """Sums of (a - za) * (b - zb), as int32; zb may be per column."""
    k = a.shape[-1]
    zb = np.asarray(zb, np.int64)
    sums = raw_sums(a, b, cpu) - int(za) * b.astype(np.int64).sum(-2, keepdims=True)
    sums = sums - zb * a.astype(np.int64).sum(-1, keepdims=True) + k * int(za) * zb + bias
    return wrap32(sums)


def requantize(sums, multiplier, zero, dtype):
    info = np.iinfo(dtype)
    v = sums.astype(F32) * np.asarray(multiplier, F32)
    v = np.clip(v, F32(info.min - int(zero)), F32(info.max - int(zero)))
    return (np.rint(v).astype(np.int64) + int(zero)).astype(dtype)


def qlinear_matmul(a, sa, za, b, sb, zb, sy, zy, dtype, cpu, bias=0, alpha=1.0):
    """QLinearMatMul and QGemm (with alpha, and bias in codes)."""
    step = F32(F32(alpha) * F32(sa)) * np.asarray(sb, F32) / F32(sy)
    return requantize(integer_sums(a, za, b, zb, cpu, bias), step, zy, dtype)


def matmul_to_float(a, sa, za, b, sb, zb, cpu, bias=0, alpha=1.0):
    """MatMulIntegerToFloat, and QGemm without QuantizeLinear."""
    step = F32(F32(alpha) * F32(sa)) * np.asarray(sb, F32)
    return integer_sums(a, za, b, zb, cpu, bias).astype(F32) * step


def im2col(x, zero, kernel, pads, strides, dilations):
    """Rows [n, positions, taps, channels] of an image [n, c, h, w]; padding is `zero`."""
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=zero)
    sizes = [(x.shape[2 + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(2)]
    taps = []
    for r in range(kernel[0]):
        for s in range(kernel[1]):
            top, left = r * dilations[0], s * dilations[1]
            part = x[:, :, top : top + (sizes[0] - 1) * strides[0] + 1 : strides[0]]
            taps.append(part[..., left : left + (sizes[1] - 1) * strides[1] + 1 : strides[1]])
    rows = np.stack(taps, 1)  # n, taps, c, h, w
    rows = rows.transpose(0, 3, 4, 1, 2).reshape(x.shape[0], -1, len(taps), x.shape[1])
    return rows, sizes


def conv_sums(a, zx, b, zw, cpu, symmetric):
    """integer_sums of a convolution's group. With int8 codes and weights without zero points plain NEON takes exact
    kernels, but not if `symmetric`, the kernel for many channels."""
    exact = cpu == "neon" and a.dtype == np.int8 and not np.any(zw) and not symmetric
    return integer_sums(a, zx, b, zw, "dot" if exact else cpu)


def depthwise_sums(a, zx, b, zw, cpu, groups):
    sums = integer_sums(a, zx, b, zw, "vnni").astype(np.int64)
    if cpu in ARM and groups % 8 == 0 and b.dtype == np.int8 and not np.any(zw):
        sums = sums + depthwise_overflows(a, b, groups % 16 == 0)
    return sums


def qlinear_conv(x, sx, zx, w, sw, zw, sy, zy, dtype, cpu, groups=1, bias=0, pads=(0,) * 4, strides=(1, 1), dilations=(1, 1)):
    m, per = w.shape[:2]
    rows, sizes = im2col(x, zx, w.shape[2:], pads, strides, dilations)
    sums = np.zeros((x.shape[0], rows.shape[1], m), np.int64)
    zw = np.broadcast_to(np.asarray(zw, np.int64), m)
    symmetric = groups == 1 and per >= 64 and per % 8 == 0 and m % 8 == 0 and max(w.shape[2:]) > 1
    depthwise = per == 1 and m == groups and (zw == zw[0]).all()
    for g in range(groups):
        a = rows[..., g * per : (g + 1) * per].reshape(x.shape[0], rows.shape[1], -1)
        out = slice(g * m // groups, (g + 1) * m // groups)
        b = w[out].transpose(2, 3, 1, 0).reshape(-1, m // groups)
        if depthwise:
            sums[..., out] = depthwise_sums(a, zx, b, zw[out], cpu, groups)
        else:
            sums[..., out] = conv_sums(a, zx, b, zw[out], cpu, symmetric)
    step = F32(sx) * np.asarray(sw, F32) / F32(sy)
    y = requantize(wrap32(sums + bias), step, zy, dtype)
    return y.transpose(0, 2, 1).reshape(x.shape[0], m, *sizes)


# Elementwise.


def add_exchanges(a, b):
    """Whether QLinearAdd takes its operands the other way round, by their shapes."""
    a, b = list(a), list(b)
    same_rank = len(a) == len(b)
    while a and b and a[-1] == 1 and b[-1] == 1:
        a.pop()
        b.pop()
    if not a or not b:
        return not same_rank
    return a[-1] == 1 and (b[-1] != 1 or not same_rank)


def add_x86(a, sa, za, b, sb, zb, sy, zy, dtype):
    if add_exchanges(a.shape, b.shape):
        a, sa, za, b, sb, zb = b, sb, zb, a, sa, za
    ra, rb = F32(sa) / F32(sy), F32(sb) / F32(sy)
    constant = F32(zy) - fma(ra, F32(za), rb * F32(zb))
    v = fma(a.astype(F32), ra, fma(b.astype(F32), rb, constant))
    return saturate(np.rint(v), dtype)


def add_arm(a, sa, za, b, sb, zb, sy, zy, dtype):
    ra, rb = F32(sa) / F32(sy), F32(sb) / F32(sy)
    exponent = int(np.frexp(max(ra, rb))[1]) - 1
    shift = 21 - exponent
    a, b = a.astype(np.int64) - int(za), b.astype(np.int64) - int(zb)
    if not (2.0**-14 <= min(ra, rb) and max(ra, rb) < 256 and 13 <= shift <= 31):
        info = np.iinfo(dtype)
        v = (F32(sa) * a.astype(F32) + F32(sb) * b.astype(F32)) / F32(sy)
        v = np.clip(v, F32(info.min - int(zy)), F32(info.max - int(zy)))
        return saturate(np.rint(v + F32(zy)), dtype)
    ma, mb = (int(np.rint(float(r) * 2.0**shift)) for r in (ra, rb))
    t = a * ma + b * mb
    t = t + (t >> 31)
    t = (t + (1 << (shift - 1))) >> shift
    return saturate(np.clip(np.clip(t, S16.min, S16.max) + int(zy), S16.min, S16.max), dtype)


def qlinear_add(a, sa, za, b, sb, zb, sy, zy, dtype, cpu):
    return (add_arm if cpu in ARM else add_x86)(a, sa, za, b, sb, zb, sy, zy, dtype)


def qlinear_mul(a, sa, za, b, sb, zb, sy, zy, dtype, cpu):
    ratio = F32(sa) * F32(sb) / F32(sy)
    product = ((a.astype(np.int64) - int(za)) * (b.astype(np.int64) - int(zb))).astype(F32)
    v = fma(product, ratio, F32(zy)) if cpu in ARM else product * ratio + F32(zy)
    return saturate(np.rint(v), dtype)


def quantize(x, scale, zero, dtype):
    return saturate(np.rint(np.clip(x / F32(scale), -1e9, 1e9)).astype(np.int64) + int(zero), dtype)


def dequantize(codes, scale, zero):
    return (codes.astype(np.int64) - np.asarray(zero, np.int64)).astype(F32) * np.asarray(scale, F32)


def qlinear_leaky_relu(x, sx, zx, alpha, sy, zy):
    v = dequantize(x, sx, zx)
    return quantize(np.where(v >= 0, v, F32(alpha) * v), sy, zy, x.dtype)


def qlinear_softmax(x, sx, sy, zy, cpu):
    """Over the last axis."""
    d = x.shape[-1]
    shift = max(0.0, float(np.log(np.finfo(F32).max / F32(d))) - 5) / float(F32(sx))  # log of float32
    table = np.exp((np.arange(256) - 255 + shift) * float(F32(sx))).astype(F32)
    index = x.astype(np.int64) - x.max(-1, keepdims=True).astype(np.int64) + 255
    terms = table[index]
    total = np.zeros(x.shape[:-1], F32)
    for i in range(d):
        total = total + terms[..., i]
    with np.errstate(over="ignore"):
        v = np.rint(terms * np.floor(F32(1) / F32(sy)) / total[..., None])
    return saturate(softmax_codes(v, int(zy), x.dtype, cpu), x.dtype)


def softmax_codes(v, zero, dtype, cpu):
    """v + zero in 32 bits that wrap, signed for int8. The largest term of a row may be infinite: Arm converts that
    to the largest integer; x86 to the least int32, or 0 as uint32."""
    infinite = np.isinf(v)
    whole = np.where(infinite, 0, v).astype(np.int64)
    if dtype == np.uint8:
        whole[infinite] = 2**32 - 1 if cpu in ARM else 0
        return (whole + zero) % 2**32
    whole[infinite] = 2**31 - 1 if cpu in ARM else -(2**31)
    return wrap32(whole + zero).astype(np.int64)


# Pools.


def qlinear_average_pool(x, sx, zx, sy, zy, kernel, strides, pads, include_pad):
    """A 2-D pool, floor mode."""
    v = dequantize(x, sx, zx)
    rows, sizes = im2col(v, 0, kernel, pads, strides, (1, 1))
    valid, _ = im2col(np.ones(v.shape, F32), 0, kernel, pads, strides, (1, 1))
    total = np.zeros((x.shape[0], rows.shape[1], x.shape[1]), F32)
    for tap in range(rows.shape[2]):
        total = total + rows[:, :, tap]
    count = F32(kernel[0] * kernel[1]) if include_pad else valid.sum(2)
    v = np.rint(total / count / F32(sy) + F32(zy))
    return saturate(v, x.dtype).transpose(0, 2, 1).reshape(*x.shape[:2], *sizes)


def qlinear_global_pool(x, sx, zx, sy, zy):
    n = int(np.prod(x.shape[2:]))
    sums = x.astype(np.int64).reshape(*x.shape[:2], -1).sum(-1) - n * int(zx)
    y = requantize(sums, F32(sx) / (F32(sy) * F32(n)), zy, x.dtype)
    return y.reshape(*x.shape[:2], *[1] * (x.ndim - 2))
