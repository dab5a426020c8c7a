# SPDX-License-Identifier: Apache-2.0
"""Random graphs that quantize while they run, or quantize weights only, for ort_graphs.py."""

import numpy as np
from onnx import TensorProto, helper
from ort_build import F32, S8, U8, Real
from ort_products import some_size, weight_codes, weight_zero


def dynamic_product(b, x, codes, n):
    """MatMulInteger, Cast and Mul of DynamicQuantizeLinear's codes, and sometimes Add."""
    name, step, zero = codes
    k = x.shape[-1]
    dtype = b.pick(S8, S8, U8)
    columns = b.chance(0.4)
    size = (n,) if columns else b.pick((), (1,))
    scale = np.asarray(b.scale(10 ** b.rng.uniform(-3, -1.5)) * np.ones(size), F32)
    if columns:
        scale = (scale * b.rng.uniform(0.5, 1.5, size)).astype(F32)
    ins = [name, b.const(weight_codes(b, (k, n), dtype), "w"), zero]
    if b.chance(0.75) or dtype == U8:
        ins.append(b.const(np.broadcast_to(weight_zero(b, dtype, size), size).astype(dtype), "z"))
    product = b.node("MatMulInteger", ins)
    product = b.node("Cast", [product], to=TensorProto.FLOAT)
    pair = [step, b.const(scale, "s")]
    both = b.node("Mul", pair if b.chance(0.7) else pair[::-1])
    pair = [product, both]
    y = b.node("Mul", pair if b.chance(0.7) else pair[::-1])
    rms = x.rms * np.sqrt(k) * 40 * float(np.mean(scale))
    if b.chance(0.5):
        pair = [y, b.const(b.rng.normal(0, rms, n).astype(F32), "b")]
        y = b.node("Add", pair if b.chance(0.7) else pair[::-1])
    return Real(y, (*x.shape[:-1], n), rms)


def dynamic(b):
    """A chain of one to three dynamically quantized products, some of them two on the same codes."""
    shape = tuple(b.pick(1, 2, 3, 5) for _ in range(b.pick(1, 1, 2))) + (some_size(b),)
    x = Real(b.float_input(shape, 1.5), shape, 1.5)
    for _ in range(b.pick(1, 1, 2, 3)):
        codes = b.node("DynamicQuantizeLinear", [x.name], 3)
        b.group("dynamic MatMul")
        y = dynamic_product(b, x, codes, some_size(b))
        if b.chance(0.2):
            b.group("dynamic MatMul, shared")
            side = dynamic_product(b, x, codes, some_size(b))
            b.output(side.name, side.shape, F32)
        if b.chance(0.2):
            y = Real(b.node("Relu", [y.name]), y.shape, y.rms)
        x = y
    b.output(x.name, x.shape, F32)


def integer_product(b):
    """MatMulInteger alone: the kernel is the same without optimizations."""
    m, k, n = (some_size(b) for _ in range(3))
    b.group("MatMulInteger")
    kinds = b.pick((U8, S8), (U8, S8), (U8, U8), (S8, S8))
    name = b.name("x")
    b.inputs[name] = b.random_codes(kinds[0], (m, k))
    ins = [name, b.const(weight_codes(b, (k, n), kinds[1]), "w")]
    if b.chance(0.7):
        ins.append(b.const(np.asarray(b.zero(kinds[0]), kinds[0]), "z"))
        if b.chance(0.7):
            size = b.pick((), (n,))
            zero = np.broadcast_to(weight_zero(b, kinds[1], size), size)
            ins.append(b.const(zero.astype(kinds[1]), "z"))
    b.output(b.node("MatMulInteger", ins), (m, n), np.int32)


def packed(b, values, bits, signed):
    """A constant of 4- or 8-bit codes."""
    if bits == 8:
        return b.const(values.astype(S8 if signed else U8), "w")
    name = b.name("w")
    kind = TensorProto.INT4 if signed else TensorProto.UINT4
    b.constants.append(helper.make_tensor(name, kind, values.shape, values.ravel().tolist()))
    return name


def weight_only(b):
    """MatMul or Gemm of floats with a dequantized constant weight: MatMulNBits."""
    bits = b.pick(4, 4, 8) if b.opset >= 21 else 8
    signed = b.chance(0.5)
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    m, k, n = b.pick(1, 1, 2, 3, 7), b.pick(5, 16, 31, 32, 48, 64, 65, 100, 128, 200, 257), b.pick(1, 2, 3, 4, 5, 7, 8, 17)
    block = b.pick(0, -1, 16, 32, 32, 64, 128) if b.opset >= 21 else b.pick(0, -1)
    if b.opset < 13:
        block = 0
    b.group(f"weight only {bits} bit, block {block}")
    shape = {0: (), -1: (n,)}.get(block, (-(-k // max(block, 1)), n))
    scale = (b.scale(10 ** b.rng.uniform(-2.5, -1)) * b.rng.uniform(0.6, 1.4, shape)).astype(F32)
    names = [packed(b, b.rng.integers(low, high + 1, (k, n)), bits, signed), b.const(np.asarray(scale, F32), "s")]
    if b.chance(0.6) or bits == 4:
        zero = b.rng.integers(low, high + 1, shape) if b.chance(0.7) else np.zeros(shape, int)
        names.append(packed(b, np.asarray(zero), bits, signed))
    attrs = {} if block == 0 else {"axis": 1} if block == -1 else {"axis": 0, "block_size": block}
    w = b.node("DequantizeLinear", names, **attrs)
    x = b.float_input((m, k), 1.0)
    if b.chance(0.3):
        ins = [x, w] + ([b.const(b.rng.normal(0, 1, n).astype(F32), "b")] if b.chance(0.6) else [])
        y = b.node("Gemm", ins)
    else:
        y = b.node("MatMul", [x, w])
    b.output(y, (m, n), F32)


def double_pair(b, x):
    """Codes that pass through a second QuantizeLinear, sometimes with the same parameters."""
    if b.chance(0.3):
        return b.quantize(b.dequantize(x), x.dtype, x.scale, x.zero)
    dtype = x.dtype if b.chance(0.8) else b.pick(U8, S8)
    return b.quantize(b.dequantize(x), dtype, b.scale(x.scale), b.zero(dtype))

