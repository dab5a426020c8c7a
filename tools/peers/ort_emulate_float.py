# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's products of a float activation with quantized weights, in numpy: DynamicQuantizeMatMul, and
MatMulNBits at accuracy level 4 as AVX2 computes it. ort_groups.py compares them with ONNX Runtime."""

import numpy as np
from ort_emulate import ARM, F32, fma, integer_sums, saturate


def dynamic_quantize(x):
    """Codes, scale and zero point of DynamicQuantizeLinear."""
    low, high = min(x.min(), F32(0)), max(x.max(), F32(0))
    scale = (high - low) / F32(255) if high > low else F32(1)
    zero = np.rint(np.clip(F32(0) - low / scale, 0, 255))
    return saturate(np.rint(x / scale) + zero, np.uint8), F32(scale), int(zero)


def dynamic_matmul(x, b, sb, zb, cpu, bias=None):
    """DynamicQuantizeMatMul, and MatMulIntegerToFloat of one DynamicQuantizeLinear."""
    codes, scale, zero = dynamic_quantize(x)
    sums = integer_sums(codes, zero, b, zb, cpu).astype(F32)
    step = scale * np.asarray(sb, F32)
    if bias is None:
        return sums * step
    return fma(sums, step, bias) if cpu in ARM else sums * step + bias


# MatMulNBits on AVX2.


def lanes_of(bits, block):
    """For a step over codes of a block (or of blocks side by side): how many codes it takes, and for each of eight
    lanes its ranges of codes."""

    def eights(*starts):
        return [[(s, s + 8)] for s in starts]

    quads = [[(4 * i, 4 * i + 4)] for i in range(8)]
    if block == 16:
        return (64, eights(0, 8, 32, 40, 16, 24, 48, 56)), (16, [[(2 * i, 2 * i + 2)] for i in range(8)])
    if block == 32:
        return (64, eights(0, 8, 32, 40, 16, 24, 48, 56)), (32, quads)
    if bits == 4:
        return (64, eights(0, 8, 32, 40, 16, 24, 48, 56)), None
    return (64, [[(4 * i, 4 * i + 4), (32 + 4 * i, 36 + 4 * i)] for i in range(8)]), None


def quantize_rows(a, block):
    """Codes [m, blocks, block] and a scale for each block of a row."""
    m, k = a.shape
    padded = np.zeros((m, -(-k // block) * block), F32)
    padded[:, :k] = a
    padded = padded.reshape(m, -1, block)
    most = np.abs(padded).max(-1)
    scale = most / F32(127)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(most > 0, F32(127) / most, F32(0)).astype(F32)
    return np.rint(padded * inverse[..., None]).astype(np.int64), scale.astype(F32)


def run_lanes(q, u, t, steps, block, n):
    """Eight sums of a row of codes q [blocks * block] with every column of u [blocks * block, n]."""
    lanes = np.zeros((8, n), F32)
    at, total = 0, q.shape[0]
    wide, narrow = steps
    while at < total:
        size, ranges = wide if at + wide[0] <= total or narrow is None else narrow
        for lane, parts in enumerate(ranges):
            part = sum(q[at + i : at + j] @ u[at + i : at + j] for i, j in parts)
            lanes[lane] = fma(part.astype(F32), t[(at + parts[0][0]) // block], lanes[lane])
        at += size
    return lanes


def fold(lanes):
    """The eight lanes of each column to one: four columns at once, then those left one by one."""
    n = lanes.shape[1]
    many = ((lanes[0] + lanes[1]) + lanes[2]) + lanes[3]
    many = many + (((lanes[4] + lanes[5]) + lanes[6]) + lanes[7])
    few = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
    return np.where(np.arange(n) < n // 4 * 4, many, few)


def matmul_nbits(a, w, scale, zero, bits, block, has_zero, bias=None):
    """a float [m, k]; w codes made unsigned [k, n]; scale and zero [blocks, n], zero made unsigned."""
    m, n = a.shape[0], w.shape[1]
    q, sa = quantize_rows(a, block)
    blocks = q.shape[1]
    inside = bits == 4 and m == 1 and block >= 32  # the zero point is subtracted from each code
    u = np.zeros((blocks * block, n), np.int64)
    u[: w.shape[0]] = w
    zero = zero.astype(np.int64)
    if inside:
        u = u - np.repeat(zero, block, 0)
    steps = lanes_of(bits, block)
    if inside and block == 32 and has_zero:
        steps = (steps[1], None)
    y = np.zeros((m, n), F32)
    for row in range(m):
        t = sa[row][:, None] * scale
        y[row] = fold(run_lanes(q[row].reshape(-1), u, t, steps, block, n))
        if bias is not None:
            y[row] = y[row] + bias
        if not inside:
            rest = np.zeros(n, F32)
            for i in range(blocks):
                sums = sa[row, i] * F32(q[row, i].sum())
                rest = fma(sums, -(scale[i] * zero[i].astype(F32)), rest)
            y[row] = y[row] + rest
    return y
