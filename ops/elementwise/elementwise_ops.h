// SPDX-License-Identifier: Apache-2.0
// The elementwise ops that a row describes: a function of
// ops/kernels/elementwise/elementwise_kernels.h under the name of an op. ops/op_table.c takes its
// ops from these lists, too. Ops with additional attributes or ports are described in full in
// unary.c and binary.c.
#ifndef QDQ_OPS_ELEMENTWISE_ELEMENTWISE_OPS_H
#define QDQ_OPS_ELEMENTWISE_ELEMENTWISE_OPS_H

// X(function, op, summary, kind). The kind tells the dtypes that the op takes and returns: with
// `alike` y has the dtype of the inputs, with `mixed` another dtype, with `bool` a truth value.
// `block`, and `number_alike` and `real_alike` with one input, include the block floats.

// One input x, no attributes (unary.c).
// clang-format off
#define QDQ_UNARY_OPS(X)                                                             \
    X(abs, "Abs", "y = |x|", number_alike)                                           \
    X(neg, "Neg", "y = -x", number_alike)                                            \
    X(exp, "Exp", "y = e^x", block_alike)                                            \
    X(log, "Log", "y = ln x", block_alike)                                           \
    X(log1p, "Log1p", "y = ln(1 + x)", block_alike)                                  \
    X(sqrt, "Sqrt", "y = the square root of x", real_alike)                          \
    X(rsqrt, "Rsqrt", "y = 1 / the square root of x", block_alike)                   \
    X(square, "Square", "y = x * x", block_alike)                                    \
    X(sigmoid, "Sigmoid", "y = 1 / (1 + e^-x)", block_alike)                         \
    X(silu, "SiLU", "y = x / (1 + e^-x)", block_alike)                               \
    X(relu, "ReLU", "y = max(x, 0)", block_alike)                                    \
    X(relu6, "ReLU6", "y = min(max(x, 0), 6)", block_alike)                          \
    X(reciprocal, "Reciprocal", "y = 1 / x", block_alike)                            \
    X(round, "Round", "y = x rounded to a whole number, half to even", block_alike)  \
    X(is_nan, "IsNaN", "y = true if x is NaN", real_bool)                            \
    X(logical_not, "Not", "y = not x", bool_bool)                                    \
    X(bitwise_not, "BitwiseNot", "y = x with every bit flipped", bits_alike)         \
    X(hard_swish, "HardSwish", "y = x * max(0, min(1, x / 6 + 0.5))", float_alike)   \
    X(mish, "Mish", "y = x * tanh(ln(1 + e^x))", block_alike)                        \
    X(sign, "Sign", "y = 1, 0 or -1, the sign of x", number_alike)                   \
    X(floor, "Floor", "y = the greatest whole number that is at most x", real_alike) \
    X(ceil, "Ceil", "y = the least whole number that is at least x", real_alike)     \
    X(trunc, "Trunc", "y = x without its fraction", real_alike)                      \
    X(erf, "Erf", "y = the error function of x", block_alike)                        \
    X(softplus, "Softplus", "y = ln(1 + e^x)", block_alike)                          \
    X(sin, "Sin", "y = sin x", float_alike)                                          \
    X(cos, "Cos", "y = cos x", float_alike)                                          \
    X(tan, "Tan", "y = tan x", float_alike)                                          \
    X(asin, "Asin", "y = the arc sine of x", float_alike)                            \
    X(acos, "Acos", "y = the arc cosine of x", float_alike)                          \
    X(atan, "Atan", "y = the arc tangent of x", float_alike)                         \
    X(sinh, "Sinh", "y = sinh x", float_alike)                                       \
    X(cosh, "Cosh", "y = cosh x", float_alike)                                       \
    X(asinh, "Asinh", "y = the inverse of sinh at x", float_alike)                      \
    X(acosh, "Acosh", "y = the inverse of cosh at x", float_alike)                      \
    X(atanh, "Atanh", "y = the inverse of tanh at x", float_alike)

// Inputs a and b, broadcast to the shape of y (binary.c).
#define QDQ_BINARY_OPS(X)                                                            \
    X(add, "Add", "y = a + b", block_mixed)                                         \
    X(subtract, "Subtract", "y = a - b", block_mixed)                               \
    X(multiply, "Multiply", "y = a * b", block_mixed)                               \
    X(divide, "Divide", "y = a / b", number_mixed)                                   \
    X(minimum, "Minimum", "y = min(a, b)", number_alike)                             \
    X(maximum, "Maximum", "y = max(a, b)", number_alike)                             \
    X(pow, "Pow", "y = a^b", power_alike)                                            \
    X(equal, "Equal", "y = a == b", any_bool)                                        \
    X(greater, "Greater", "y = a > b", number_bool)                                  \
    X(greater_equal, "GreaterEqual", "y = a >= b", number_bool)                      \
    X(less, "Less", "y = a < b", number_bool)                                        \
    X(less_or_equal, "LessOrEqual", "y = a <= b", number_bool)                       \
    X(logical_and, "And", "y = a and b", bool_bool)                                  \
    X(logical_or, "Or", "y = a or b", bool_bool)                                     \
    X(logical_xor, "Xor", "y = a xor b", bool_bool)                                  \
    X(bitwise_and, "BitwiseAnd", "y = a & b, bit by bit", bits_alike)                \
    X(bitwise_or, "BitwiseOr", "y = a | b, bit by bit", bits_alike)                  \
    X(bitwise_xor, "BitwiseXor", "y = a ^ b, bit by bit", bits_alike)
// clang-format on

#endif
