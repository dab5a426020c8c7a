// SPDX-License-Identifier: Apache-2.0
// The elementwise ops that a row describes: a function of
// ops/kernels/elementwise/elementwise_kernels.h under the name of an op. ops/op_table.c takes its
// ops from these lists, too. Ops with attributes or ports of their own are described in full, in
// unary.c and binary.c.
#ifndef QDQ_OPS_ELEMENTWISE_ELEMENTWISE_OPS_H
#define QDQ_OPS_ELEMENTWISE_ELEMENTWISE_OPS_H

// X(function, op, summary): one float input x, no attributes, y of the type of x.
// clang-format off
#define QDQ_UNARY_OPS(X)                                                     \
    X(abs, "Abs", "y = |x|")                                                 \
    X(exp, "Exp", "y = e^x")                                                 \
    X(log, "Log", "y = ln x")                                                \
    X(sqrt, "Sqrt", "y = the square root of x")                              \
    X(square, "Square", "y = x * x")                                         \
    X(tanh, "Tanh", "y = tanh x")                                            \
    X(sigmoid, "Sigmoid", "y = 1 / (1 + e^-x)")                              \
    X(relu, "ReLU", "y = max(x, 0)")                                         \
    X(reciprocal, "Reciprocal", "y = 1 / x")                                 \
    X(round, "Round", "y = x rounded to a whole number, half to even")       \
    X(hard_swish, "HardSwish", "y = x * max(0, min(1, x / 6 + 0.5))")        \
    X(mish, "Mish", "y = x * tanh(ln(1 + e^x))")

// X(function, op, summary, kind): inputs a and b, broadcast to the shape of y. The kind says which
// dtypes they have (binary.c): float_mixed and number_mixed give y a dtype of its own, float_alike
// the dtype of a and b, number_bool compares.
#define QDQ_BINARY_OPS(X)                                                    \
    X(add, "Add", "y = a + b", number_mixed)                                 \
    X(subtract, "Subtract", "y = a - b", number_mixed)                       \
    X(multiply, "Multiply", "y = a * b", float_mixed)                        \
    X(divide, "Divide", "y = a / b", float_mixed)                            \
    X(minimum, "Minimum", "y = min(a, b)", float_alike)                      \
    X(maximum, "Maximum", "y = max(a, b)", float_alike)                      \
    X(greater_equal, "GreaterEqual", "y = a >= b", number_bool)
// clang-format on

#endif
