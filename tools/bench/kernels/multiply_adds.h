// SPDX-License-Identifier: Apache-2.0
// Multiply-adds on registers, without memory and without dependencies: the limit of arithmetic.
#ifndef QDQ_TOOLS_BENCH_KERNELS_MULTIPLY_ADDS_H
#define QDQ_TOOLS_BENCH_KERNELS_MULTIPLY_ADDS_H

#include <stddef.h>

// Float32; bytes by the widest exact instruction; bytes by pairs whose sums fit 16 bits, as with
// split weights; bfloat16.
enum { MULTIPLY_FLOATS, MULTIPLY_BYTES, MULTIPLY_PAIRS, MULTIPLY_BFLOATS, MULTIPLY_KINDS };

// Runs `rounds` rounds. Returns the number of multiply-adds in a round.
typedef size_t multiply_adds_fn(size_t rounds);
// Functions of the kinds; NULL for a kind without instructions in the set.
extern multiply_adds_fn *const multiply_adds_portable[MULTIPLY_KINDS];
extern multiply_adds_fn *const multiply_adds_avx2[MULTIPLY_KINDS];
extern multiply_adds_fn *const multiply_adds_avx_vnni[MULTIPLY_KINDS];
extern multiply_adds_fn *const multiply_adds_avx512[MULTIPLY_KINDS];
extern multiply_adds_fn *const multiply_adds_avx512_bf16[MULTIPLY_KINDS];

#endif
