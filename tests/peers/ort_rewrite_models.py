# SPDX-License-Identifier: Apache-2.0
"""Small models for ort_examples.py that show under which conditions ONNX Runtime's optimizer makes a group."""

import numpy as np
from ort_build import F32, S8, S32, U8, Real
from ort_example_models import builder, codes, constant, finish, random_codes

BIAS = np.array([1, -2, 0.5, 3, -0.25], F32)


def gemm(alpha=1.0, bias=False, zeros=True, quantized=True):
    """Gemm of uint8 and int8. Without zero points it stays float, also where its result is quantized."""
    b = builder()
    b.named_zero = zeros
    x = codes(b, random_codes(3, (3, 7)), 0.02, 0)
    values = (random_codes(4, (7, 5), S8) // 2).astype(S8)
    w = b.const(values if zeros else values.T.copy(), "w")
    right = [w, b.const(F32(0.01)), *([b.const(np.int8(0))] if zeros else [])]
    ins = [b.dequantize(x).name, b.node("DequantizeLinear", right)]
    if bias:
        names = [b.const(np.arange(-4000, 6000, 2000).astype(S32)), b.const(F32(0.02) * F32(0.01)), b.const(np.asarray(0, S32))]
        ins.append(b.node("DequantizeLinear", names))
    y = b.node("Gemm", ins, alpha=alpha, transB=None if zeros else 1)
    if quantized:
        return finish(b, y, (3, 5), 0.02, 120)
    b.output(y, (3, 5), F32)
    return b


def matmul_add(shape, relu):
    """MatMul and Add become Gemm. Vectors and cubes are reshaped behind it, so a Relu keeps Quantize away."""
    b = builder()
    x = codes(b, random_codes(1, shape), 0.02, 120)
    y = b.node("MatMul", [b.dequantize(x).name, constant(b, random_codes(2, (shape[-1], 5), S8), 0.01)])
    y = b.node("Add", [y, b.const(BIAS)])
    if relu:
        y = b.node("Relu", [y])
    return finish(b, y, (*shape[:-1], 5), 0.1, 0)


def equal_pair(signed):
    """MatMul and two Quantize of equal parameters, of which the second one makes the output."""
    b = builder()
    name = b.float_input((3, 8))
    x = b.quantize(Real(name, (3, 8), 1.0), U8, F32(0.02), 120)
    y = b.node("MatMul", [b.dequantize(x).name, constant(b, random_codes(2, (8, 5), S8), 0.01)])
    params = (S8 if signed else U8), F32(0.05), 3
    first = b.quantize(Real(y, (3, 5), 1.0), *params)
    last = b.quantize(b.dequantize(first), *params)
    b.output(last.name, (3, 5), params[0])
    return b


def reshape_without_zero_points():
    """DequantizeLinear without a zero point moves behind Reshape, so the product reads codes."""
    b = builder()
    b.named_zero = False
    x = b.dequantize(codes(b, random_codes(1, (2, 12)), 0.02, 0)).name
    y = b.node("Reshape", [x, b.const(np.array([3, 8], np.int64))])
    w = np.where(random_codes(2, (8, 5), S8) < 0, -127, 127).astype(S8)  # pairs saturate
    y = b.node("MatMul", [y, constant(b, w, 0.01)])
    return finish(b, y, (3, 5), 0.2, 120)


EXAMPLES = {
    "reshape_without_zero_points": reshape_without_zero_points,
    "gemm_alpha": lambda: gemm(1.3),
    "gemm_alpha_to_float": lambda: gemm(1.3, quantized=False),
    "gemm_alpha_and_bias": lambda: gemm(1.3, True),
    "gemm_without_zero_points": lambda: gemm(zeros=False),
    "gemm_without_zero_points_to_float": lambda: gemm(zeros=False, quantized=False),
    "matmul_add_vector": lambda: matmul_add((8,), False),
    "matmul_add_vector_relu": lambda: matmul_add((8,), True),
    "matmul_add_cube_relu": lambda: matmul_add((2, 3, 8), True),
    "equal_pair_signed": lambda: equal_pair(True),
    "equal_pair_unsigned": lambda: equal_pair(False),
}
