// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one operand that the vector unit of a Tenstorrent chip (SFPU) computes
// by a program (runtime/tenstorrent/sfpu_ops.h).
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_SFPU_ELEMENTWISE_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_SFPU_ELEMENTWISE_H

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "runtime/tenstorrent/sfpu_ops.h"

// X(arg, function, program): the functions, with their programs QDQ_SFPU_<program>.
// clang-format off
#define QDQ_SFPU_FUNCTIONS(X, arg)          \
    X(arg, abs, ABS)                        \
    X(arg, ceil, CEIL)                      \
    X(arg, elu, ELU)                        \
    X(arg, erf, ERF)                        \
    X(arg, exp, EXP)                        \
    X(arg, floor, FLOOR)                    \
    X(arg, gelu_erf, GELU)                  \
    X(arg, hard_sigmoid, HARD_SIGMOID)      \
    X(arg, hard_swish, HARD_SWISH)          \
    X(arg, leaky_relu, LEAKY_RELU)          \
    X(arg, log, LOG)                        \
    X(arg, log1p, LOG1P)                    \
    X(arg, mish, MISH)                      \
    X(arg, neg, NEG)                        \
    X(arg, reciprocal, RECIPROCAL)          \
    X(arg, relu, RELU)                      \
    X(arg, relu6, RELU6)                    \
    X(arg, round, ROUND)                    \
    X(arg, rsqrt, RSQRT)                    \
    X(arg, sigmoid, SIGMOID)                \
    X(arg, sign, SIGN)                      \
    X(arg, silu, SILU)                      \
    X(arg, softplus, SOFTPLUS)              \
    X(arg, sqrt, SQRT)                      \
    X(arg, square, SQUARE)                  \
    X(arg, tanh, TANH)                      \
    X(arg, trunc, TRUNC)
// clang-format on

// The parameters of the functions below.
typedef struct qdq_sfpu_params {
    qdq_sfpu_program program;
    const uint16_t *table;  // the result of every bfloat16, or NULL
} qdq_sfpu_params;

// A function, with its numbers and fast_and_approximate_mode.
typedef struct qdq_sfpu_function {
    qdq_elementwise function;
    qdq_elementwise_numbers numbers;
    bool approximate;
} qdq_sfpu_function;

// Finds the program of a function for an operand x and a result y of these dtypes. False: the
// numerics are not a chip's, one instruction of the chip computes the function
// (chip_elementwise.h), or no program is known for the dtypes, the numbers or the mode.
bool qdq_sfpu_program_of(const qdq_sfpu_function *of, const qdq_numerics *n, qdq_dtype x,
                         qdq_dtype y, qdq_sfpu_program *out);

// Returns the function that runs a program on float32, bfloat16 or block floats.
qdq_tile_fn *qdq_sfpu_tile_fn(const qdq_sfpu_params *params, qdq_dtype dtype);

#endif
