// SPDX-License-Identifier: Apache-2.0
// Multiply-adds on registers, without memory and without dependencies: the limit of arithmetic.
#ifndef QDQ_TOOLS_BENCH_KERNELS_MULTIPLY_ADDS_H
#define QDQ_TOOLS_BENCH_KERNELS_MULTIPLY_ADDS_H

#include <stddef.h>

enum { MULTIPLY_FLOATS, MULTIPLY_BYTES, MULTIPLY_KINDS };

// Runs `rounds` rounds of float32 multiply-adds, or of bytes by the fastest exact instruction.
// Returns the number of multiply-adds in a round.
typedef size_t multiply_adds_fn(size_t rounds);
extern multiply_adds_fn *const multiply_adds_portable[MULTIPLY_KINDS];
extern multiply_adds_fn *const multiply_adds_avx2[MULTIPLY_KINDS];
extern multiply_adds_fn *const multiply_adds_avx_vnni[MULTIPLY_KINDS];
extern multiply_adds_fn *const multiply_adds_avx512[MULTIPLY_KINDS];

#endif
