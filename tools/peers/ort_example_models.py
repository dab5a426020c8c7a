# SPDX-License-Identifier: Apache-2.0
"""Small models for ort_examples.py: sums that saturate or wrap, ties, graphs that ONNX Runtime breaks when it
optimizes them."""

import numpy as np
from ort_build import F32, S8, S32, U8, Builder, Codes, Real


def builder(opset=13):
    b = Builder(np.random.default_rng(1), opset, "u8")
    b.named_zero = True
    return b


def codes(b, values, scale, zero, dtype=U8):
    values = np.array(values, dtype)
    name = b.name("x")
    b.inputs[name] = values
    return Codes(name, values.shape, dtype, F32(scale), zero, 1.0)


def constant(b, values, scale, zero=0, dtype=S8, axis=None):
    """A weight behind DequantizeLinear."""
    values = np.array(values, dtype)
    w = Codes(b.const(values, "w"), values.shape, dtype, np.asarray(scale, F32), zero, 1.0)
    return b.dequantize(w, axis).name


def finish(b, name, shape, scale, zero, dtype=U8):
    q = b.quantize(Real(name, shape, 1.0), dtype, F32(scale), zero)
    b.output(q.name, shape, dtype)
    return b


def random_codes(seed, shape, dtype=U8):
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max + 1, shape)


def matmul(a, sa, za, w, sw, sy, zy, zw=0, dtype=S8, opset=13):
    b = builder(opset)
    x = codes(b, a, sa, za)
    y = b.node("MatMul", [b.dequantize(x).name, constant(b, w, sw, zw, dtype)])
    return finish(b, y, (x.shape[0], np.shape(w)[1]), sy, zy)


def saturating_matmul():
    return matmul([[255, 200, 10, 3]], 0.02, 128, [[127], [127], [-127], [5]], 0.003, 0.31, 128)


def wrapping_matmul():
    """Codes 0 and weights -128 at k and k + 8: plain NEON's sum is 65,536 too low for each pair."""
    a = np.zeros((2, 35), int)
    a[1, 8:16] = 255
    w = np.full((35, 3), -128)
    w[:4, 1], w[20:, 2] = 5, 3
    return matmul(a, 0.01, 40, w, 0.004, 3.0, 100)


def add(op, a, b_codes, sa, za, sb, zb, sc, zc, dtype=U8):
    b = builder()
    x, y = codes(b, a, sa, za, dtype), codes(b, b_codes, sb, zb, dtype)
    z = b.node(op, [b.dequantize(x).name, b.dequantize(y).name])
    return finish(b, z, np.broadcast_shapes(x.shape, y.shape), sc, zc, dtype)


def exchanged_add():
    return add("Add", random_codes(1, (3, 1, 1)), random_codes(2, (1, 3, 4, 6)), 0.02, 100, 0.03, 3, 0.04, 7)


def straight_add():
    return add("Add", random_codes(2, (1, 3, 4, 6)), random_codes(1, (3, 1, 1)), 0.03, 3, 0.02, 100, 0.04, 7)


def softmax(rows, sx, inverse, zy=0, dtype=U8):
    b = builder()
    x = codes(b, rows, sx, 0, dtype)
    y = b.node("Softmax", [b.dequantize(x).name], axis=-1)
    return finish(b, y, x.shape, 1 / inverse, zy, dtype)


def softmax_ties():
    """Four equal terms: 254 / 4. The base of the table comes from a logarithm in float32."""
    return softmax([[0, 0, 255, 255, 0, 0, 255, 0, 0, 255]], 0.0871084, 255)


def pool(op, image, zy=0, sx=1.0, sy=1.0, opset=13, **attrs):
    b = builder(opset)
    x = codes(b, np.reshape(image, (1, 1, 1, -1)), sx, 0)
    y = b.node(op, [b.dequantize(x).name], **attrs)
    width = x.shape[3] - attrs["kernel_shape"][1] * attrs.get("dilations", [1, 1])[1] + 1 if attrs else 1
    width += attrs.get("dilations", [1, 1])[1] - 1 if attrs else 0
    return finish(b, y, (1, 1, 1, width), sy, zy)


def double_pair(dtype=U8, zeros=(128, 100), scales=(0.02, 0.02)):
    b = builder(13 if dtype == U8 else 21)
    name = b.name("f")
    b.inputs[name] = np.linspace(-3, 4, 40).astype(F32)
    first = b.quantize(Real(name, (40,), 1.0), dtype, F32(scales[0]), zeros[0])
    second = b.quantize(b.dequantize(first), dtype, F32(scales[1]), zeros[1])
    b.output(b.dequantize(second).name, (40,), F32)
    return b


def conv(w, sw, zw, bias=None, groups=1, opset=13, x_scale=0.02, sy=0.5, float_bias=None, seed=1, bias_scale=None):
    b = builder(opset)
    w = np.array(w)
    c = w.shape[1] * groups
    x = codes(b, random_codes(seed, (1, c, 4, 4)), x_scale, 120)
    real = constant(b, w, sw, zw, S8, 0 if np.ndim(sw) else None)
    ins = [b.dequantize(x).name, real]
    if bias is not None:
        step = F32(x_scale) * np.asarray(sw, F32) if bias_scale is None else F32(bias_scale)
        ins.append(b.node("DequantizeLinear", [b.const(np.array(bias, S32)), b.const(np.asarray(step, F32))]))
    if float_bias is not None:
        ins.append(b.const(np.array(float_bias, F32)))
    y = b.node("Conv", ins, group=groups, kernel_shape=list(w.shape[2:]))
    return finish(b, y, (1, len(w), 5 - w.shape[2], 5 - w.shape[3]), sy, 60)


def large_weights(shape, seed=3):
    return np.random.default_rng(seed).choice([127, -127, 120, 90], shape)


def depthwise(zero_points):
    return conv(large_weights((4, 1, 3, 3)), [0.01] * 4, zero_points, groups=4)


def float_weight_conv():
    b = builder()
    x = codes(b, random_codes(1, (1, 3, 4, 4)), 0.02, 120)
    rng = np.random.default_rng(4)
    ins = [b.dequantize(x).name, b.const(rng.normal(0, 0.3, (4, 3, 2, 2)).astype(F32)), b.const(rng.normal(0, 1, 4).astype(F32))]
    return finish(b, b.node("Conv", ins), (1, 4, 3, 3), 0.04, 128)


def gemm(factor=1.0, zero=0, float_bias=False, opset=13, relu=None):
    b = builder(opset)
    x = codes(b, random_codes(1, (4, 16)), 0.02, 120)
    ins = [b.dequantize(x).name, constant(b, random_codes(2, (16, 8), S8) // 2, 0.01)]
    if float_bias:
        ins.append(b.const(np.linspace(-3, 3, 8).astype(F32)))
    else:
        step = F32(0.02) * F32(0.01) * F32(factor)
        names = [b.const(np.arange(-4000, 4000, 1000).astype(S32)), b.const(np.asarray(step, F32)), b.const(np.asarray(zero, S32))]
        ins.append(b.node("DequantizeLinear", names))
    y = b.node("Gemm", ins)
    if relu is not None:
        y = b.node("Relu", [y])
    return finish(b, y, (4, 8), 0.2, 128 if relu is None else relu)


# Graphs that ONNX Runtime refuses, or computes wrongly, only if it optimizes them.


def activation_per_axis():
    b = builder()
    x = codes(b, random_codes(1, (2, 4)), 1.0, 0)
    scale, zero = b.const(np.array([0.01, 0.02, 0.03, 0.04], F32)), b.const(np.full(4, 128, U8))
    a = b.node("DequantizeLinear", [x.name, scale, zero], axis=1)
    y = b.node("MatMul", [a, constant(b, random_codes(2, (4, 3), S8), 0.01)])
    return finish(b, y, (2, 3), 0.05, 128)


def sigmoid_per_axis():
    b = builder()
    x = codes(b, random_codes(1, (2, 4)), 1.0, 0)
    scale, zero = b.const(np.array([0.01, 0.02, 0.03, 0.04], F32)), b.const(np.full(4, 128, U8))
    a = b.node("DequantizeLinear", [x.name, scale, zero], axis=1)
    return finish(b, b.node("Sigmoid", [a]), (2, 4), 1 / 256, 0)


def weight_axis_0():
    b = builder()
    x = codes(b, random_codes(1, (2, 4)), 0.02, 128)
    w = constant(b, random_codes(2, (4, 3), S8), [0.01, 0.02, 0.03, 0.04], np.zeros(4, int), S8, 0)
    return finish(b, b.node("MatMul", [b.dequantize(x).name, w]), (2, 3), 0.05, 128)


def signed_reduce(opset):
    b = builder(opset)
    name = b.name("f")
    b.inputs[name] = np.linspace(-2, 2, 12).astype(F32).reshape(3, 4)
    x = b.quantize(Real(name, (3, 4), 1.0), S8, F32(0.02), 3)
    y = b.node("ReduceMax", [b.dequantize(x).name], axes=[1])
    q = b.quantize(Real(y, (3, 1), 1.0), S8, F32(0.02), 3)
    b.output(b.dequantize(q).name, (3, 1), F32)
    return b


def matmul_add_gemm(rank):
    """MatMul and Add become Gemm, around which a Reshape of a rank over 2 stands."""
    b = builder()
    x = codes(b, random_codes(1, (2, 2, 8)[3 - rank :]), 0.02, 120)
    y = b.node("MatMul", [b.dequantize(x).name, constant(b, random_codes(2, (8, 4), S8) // 2, 0.01)])
    y = b.node("Add", [y, b.const(np.array([1, -2, 0.5, 3], F32))])
    return finish(b, y, (*x.shape[:-1], 4), 0.1, 128)


def signed_residual():
    """A code of int8 with two readers stays int8 on x86, where its MatMul then runs in float."""
    b = builder()
    name = b.name("f")
    b.inputs[name] = np.random.default_rng(1).normal(0, 1, (3, 8)).astype(F32)
    x = b.quantize(Real(name, (3, 8), 1.0), S8, F32(0.02), -5)
    y = b.node("MatMul", [b.dequantize(x).name, constant(b, random_codes(2, (8, 8), S8), 0.01)])
    q = b.quantize(Real(y, (3, 8), 1.0), S8, F32(0.05), 3)
    z = b.node("Add", [b.dequantize(q).name, b.dequantize(x).name])
    last = b.quantize(Real(z, (3, 8), 1.0), S8, F32(0.06), 3)
    b.output(b.dequantize(last).name, (3, 8), F32)
    return b


PAIRS = np.random.default_rng(9).integers(0, 256, (2, 96))
TIES = [1, 3, 5, 7]
EXAMPLES = {
    "matmul_saturates": saturating_matmul,
    "matmul_reduced_range": lambda: matmul([[255, 200, 10, 3]], 0.02, 128, [[64], [64], [-64], [5]], 0.003, 0.31, 128),
    "matmul_unsigned": lambda: matmul([[255, 200, 10, 3]], 0.02, 128, [[255], [255], [1], [133]], 0.003, 0.31, 128, 128, U8),
    "matmul_wraps_on_neon": wrapping_matmul,
    "add_ties": lambda: add("Add", TIES, [0] * 4, 0.5, 0, 1, 0, 1, 1),
    "mul_ties": lambda: add("Mul", TIES, [1] * 4, 0.5, 0, 1, 0, 1, 1),
    "add_between_codes": lambda: add("Add", [0, *PAIRS[0]], [82, *PAIRS[1]], 0.067, 19, 0.034, 4, 0.014, 44),
    "add_many_ties": lambda: add("Add", PAIRS[0], PAIRS[1], 0.02, 100, 0.03, 3, 0.04, 7),
    "add_exchanges_operands": exchanged_add,
    "add_keeps_operands": straight_add,
    "softmax_256": lambda: softmax([[200, 190, 100, 0]], 0.05, 256),
    "softmax_255": lambda: softmax([[200, 190, 100, 0]], 0.05, 255),
    "softmax_overflow": lambda: softmax([[200, 190]], 0.05, 300),
    "softmax_overflow_zero_point": lambda: softmax([[200], [3]], 0.05, 300, 42),
    "softmax_overflow_int8": lambda: softmax([[20], [3]], 0.05, 300, -7, S8),
    "softmax_overflow_int8_positive": lambda: softmax([[20], [3]], 0.05, 300, 7, S8),
    "softmax_ties": softmax_ties,
    "global_pool_tie": lambda: pool("GlobalAveragePool", [0, 1]),
    "average_pool_tie": lambda: pool("AveragePool", [0, 1, 0], 1, kernel_shape=[1, 2]),
    "average_pool_of_the_image": lambda: pool("AveragePool", [0, 1], 1, kernel_shape=[1, 2]),
    "double_pair": double_pair,
    "double_pair_uint16": lambda: double_pair(np.dtype(np.uint16), (32768, 30000), (1e-4, 0.97e-4)),
    "double_pair_int16": lambda: double_pair(np.dtype(np.int16), (-300, 0), (1.1e-4, 1e-4)),
    "conv_saturates": lambda: conv(large_weights((4, 3, 2, 2)), 0.01, 0),
    "conv_groups_saturate": lambda: conv(large_weights((4, 2, 2, 2)), 0.01, 0, groups=2),
    "depthwise_exact": lambda: depthwise([3, 3, 3, 3]),
    "depthwise_unequal_zero_points": lambda: depthwise([3, 4, 3, 3]),
    "conv_float_weight": float_weight_conv,
    "gemm": gemm,
    "gemm_float_bias": lambda: gemm(float_bias=True),
    "gemm_redundant_relu": lambda: gemm(relu=0),
    "gemm_relu": lambda: gemm(relu=10),
    "matmul_add_rank_2": lambda: matmul_add_gemm(2),
    "matmul_add_rank_3": lambda: matmul_add_gemm(3),
    "signed_residual": signed_residual,
    "broken_activation_per_axis": activation_per_axis,
    "broken_sigmoid_per_axis": sigmoid_per_axis,
    "broken_weight_axis_0": weight_axis_0,
    "broken_global_pool_multiplier": lambda: pool("GlobalAveragePool", [0, 1], 0, 600.0, 1.0),
    "broken_pool_dilations": lambda: pool("AveragePool", [0, 1, 5, 9], 0, opset=19, kernel_shape=[1, 2], dilations=[1, 2]),
    "broken_bias_scale": lambda: gemm(1.5),
    "broken_bias_zero_point": lambda: gemm(1.0, 300),
    "broken_small_bias_scale": lambda: conv(
        large_weights((4, 3, 2, 2)) // 2, 5e-4, 0, [20000, -20000, 9000, 0], x_scale=1e-3, sy=0.0005, bias_scale=1.4e-6
    ),
    "broken_opset_10_float_bias": lambda: gemm(float_bias=True, opset=10),
    "broken_opset_11_signed_reduce": lambda: signed_reduce(11),
    "signed_reduce": lambda: signed_reduce(12),
}
