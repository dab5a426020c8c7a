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


def where(value, dtype=U8, first=False):
    """Where chooses codes or a constant, which becomes a code; the float is an output too."""
    b = builder()
    x = b.dequantize(codes(b, random_codes(5, (3, 4), dtype), 0.02, 3, dtype)).name
    chosen = b.const(np.arange(12).reshape(3, 4) % 3 == 0)
    number = b.const(F32(value))
    y = b.node("Where", [chosen, number, x] if first else [chosen, x, number])
    b.output(y, (3, 4), F32)
    return finish(b, y, (3, 4), 0.02, 5, dtype)


def matmul_relu(to_output, bias=False):
    """A Relu before the end of the graph leaves a product in its group, one before another op does not."""
    b = builder()
    ins = [codes(b, random_codes(1, (3, 40)), 0.02, 120)]
    ins = [b.dequantize(ins[0]).name, constant(b, random_codes(2, (40, 5), S8), 0.0173)]
    if bias:
        names = [b.const(np.arange(-4000, 6000, 2000).astype(S32)), b.const(F32(0.02) * F32(0.0173))]
        names.append(b.const(np.asarray(0, S32)))
        ins.append(b.node("DequantizeLinear", names))
    y = b.node("Relu", [b.node("Gemm" if bias else "MatMul", ins)])
    b.output(y if to_output else b.node("Abs", [y]), (3, 5), F32)
    return b


def moved(opset, zeros, dtype=S8):
    """What DequantizeLinear makes of int8 is transposed and multiplied. Below opset 21 the codes behind Transpose are uint8 if
    no zero point says that they are int8."""
    b = builder(opset)
    x = codes(b, random_codes(1, (7, 5), dtype), 0.125, 0, dtype)
    params = [b.const(F32(0.125)), *([b.const(np.asarray(0, dtype))] if zeros else [])]
    y = b.node("Transpose", [b.node("DequantizeLinear", [x.name, *params])], perm=[1, 0])
    y = b.node("MatMul", [y, constant(b, random_codes(2, (7, 3), S8), 0.0625)])
    return finish(b, y, (5, 3), 32, 120)


def reshaped_product():
    """MatMul and Add of a cube become Gemm between two Reshape; no zero point says that the codes behind the first one are
    int8."""
    b = builder()
    x = codes(b, random_codes(1, (2, 3, 8), S8), 0.125, 0, S8)
    y = b.node("DequantizeLinear", [x.name, b.const(F32(0.125))])
    y = b.node("MatMul", [y, constant(b, random_codes(2, (8, 5), S8), 0.0625)])
    return finish(b, b.node("Add", [y, b.const(BIAS)]), (2, 3, 5), 32, 120)


def moved_twice():
    """The second node is before a Quantize with a zero point, so nothing becomes uint8."""
    b = builder()
    x = codes(b, random_codes(1, (3, 4, 5), S8), 0.125, 0, S8)
    y = b.node("Transpose", [b.node("DequantizeLinear", [x.name, b.const(F32(0.125))])], perm=[2, 0, 1])
    y = b.node("Reshape", [y, b.const(np.array([15, 4], np.int64))])
    return finish(b, y, (15, 4), 0.125, 0, S8)


def pair_without_zero_point():
    """QuantizeLinear to int8 has a zero point, the DequantizeLinear behind it has none: both are uint8 on x86-64."""
    b = builder()
    x = b.quantize(Real(b.float_input((3, 4)), (3, 4), 1.0), S8, F32(0.02), 0)
    y = b.node("Softmax", [b.node("DequantizeLinear", [x.name, b.const(F32(0.02))])], axis=-1)
    return finish(b, y, (3, 4), 1 / 256, -128, S8)


def flattened():
    """No codes move past Flatten, so that Softmax stays a float."""
    b = builder()
    y = b.node("Flatten", [b.dequantize(codes(b, random_codes(1, (2, 3, 4)), 0.02, 3)).name], axis=1)
    return finish(b, b.node("Softmax", [y], axis=-1), (2, 12), 1 / 256, 0)


def signed_gemm(op):
    """Gemm of int8 is QGemm on each CPU, MatMul stays a float on x86-64."""
    b = builder()
    x = codes(b, random_codes(3, (3, 7), S8), 0.02, 5, S8)
    y = b.node(op, [b.dequantize(x).name, constant(b, random_codes(4, (7, 5), S8), 0.0173)])
    return finish(b, y, (3, 5), 0.31, -3, S8)


def conv_sum():
    """A convolution adds its bias after the image that the Add behind it adds. Its products are exact."""
    b = builder()
    rng = np.random.default_rng(5)
    shape = (1, 8, 5, 6)
    image = b.float_input(shape, 30.0)
    x = b.float_input((1, 4, 5, 6))
    b.inputs[x] = np.round(b.inputs[x] * 3)
    w = np.round(rng.normal(0, 3, (8, 2, 3, 3))).astype(F32)
    y = b.node("Conv", [x, b.const(w), b.const(rng.normal(0, 5, 8).astype(F32))], group=2, pads=[1, 1, 1, 1])
    b.output(b.node("Add", [image, y]), shape, F32)
    return b


def mean(op):
    """GlobalAveragePool has a group that rounds once, ReduceMean of the same dims has none: its means are ties here."""
    b = builder()
    x = b.dequantize(codes(b, random_codes(1, (2, 40, 2, 2)), 0.1, 3)).name
    y = b.node(op, [x], **({"axes": [2, 3]} if op == "ReduceMean" else {}))
    return finish(b, y, (2, 40, 1, 1), 0.1, 1)


def named(zero):
    """QuantizeLinear with output_dtype, which stays int8 where its zero point becomes uint8; or without a zero point, where
    a group has one of uint8."""
    b = builder(21)
    if zero:
        x = [b.float_input((3, 4)), b.const(F32(0.02)), b.const(np.int8(3))]
        y = b.node("DequantizeLinear", [b.node("QuantizeLinear", x, output_dtype=3), *x[1:]])
        b.output(b.node("Abs", [y]), (3, 4), F32)
        return b
    y = b.node("Sigmoid", [b.dequantize(codes(b, random_codes(1, (3, 4), S8), 0.02, 3, S8)).name])
    b.output(b.node("QuantizeLinear", [y, b.const(F32(0.01))], output_dtype=3), (3, 4), S8)
    return b


EXAMPLES = {
    "moved_without_zero_point": lambda: moved(13, False),
    "moved_uint8_without_zero_point": lambda: moved(13, False, U8),
    "moved_with_zero_point": lambda: moved(13, True),
    "moved_in_opset_21": lambda: moved(21, False),
    "broken_moved_in_opset_21": lambda: moved(21, True),
    "reshaped_product": reshaped_product,
    "moved_twice": moved_twice,
    "pair_without_zero_point": pair_without_zero_point,
    "flattened": flattened,
    "signed_gemm": lambda: signed_gemm("Gemm"),
    "signed_matmul": lambda: signed_gemm("MatMul"),
    "conv_sum": conv_sum,
    "reduce_mean_of_image": lambda: mean("ReduceMean"),
    "global_mean_of_image": lambda: mean("GlobalAveragePool"),
    "broken_named_dtype": lambda: named(True),
    "broken_named_dtype_of_group": lambda: named(False),
    "where_positive": lambda: where(0.3),
    "where_negative": lambda: where(-0.1, first=True),
    "where_signed": lambda: where(0.1, S8),
    "where_signed_negative": lambda: where(-0.7, S8, True),
    "where_zero": lambda: where(0.0),
    "where_denormal": lambda: where(1e-44),
    "matmul_relu_output": lambda: matmul_relu(True),
    "matmul_relu_abs": lambda: matmul_relu(False),
    "gemm_relu_output": lambda: matmul_relu(True, True),
    "gemm_relu_abs": lambda: matmul_relu(False, True),
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
