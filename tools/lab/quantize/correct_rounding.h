// SPDX-License-Identifier: Apache-2.0
// Rounds the weights of a product so that their errors cancel in its results, by the second moments
// of its inputs: Frantar et al., GPTQ (arXiv 2210.17323).
#ifndef QDQ_TOOLS_LAB_QUANTIZE_CORRECT_ROUNDING_H
#define QDQ_TOOLS_LAB_QUANTIZE_CORRECT_ROUNDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Output channels that are rounded at once, side by side in memory.
enum { ROUNDED_CHANNELS = 16 };

// Adds rows [count][depth] of inputs to the lower triangle of their second moments X'X
// [depth][depth]. Each sum is over rows in order.
void moments_add(double *moments, size_t depth, const double *rows, size_t count);

// Replaces the lower triangle of H by the transpose of R, the upper triangular matrix with
// H + damping * mean of H's diagonal * I = R R'. R is the inverse of the upper Cholesky factor of
// the inverse of H, which GPTQ uses. False if H is all 0 or not positive definite.
bool moments_factor(double *moments, size_t depth, double damping);

// Weights of ROUNDED_CHANNELS output channels, each [depth][ROUNDED_CHANNELS].
typedef struct rounded_block {
    const double *weights, *scales;
    double *errors;  // weight - code * scale
    int32_t *codes;
    double least, greatest;  // codes
} rounded_block;

// Rounds weights in the order of columns. Each is rounded where, with the errors of the columns
// before it, the error of the result is least if all later weights are free.
void round_by_moments(const double *factor, size_t depth, const rounded_block *block);

#endif
