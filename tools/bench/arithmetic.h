// SPDX-License-Identifier: Apache-2.0
// Passes of multiply-adds on registers: the limit of arithmetic of an instruction set.
#ifndef QDQ_TOOLS_BENCH_ARITHMETIC_H
#define QDQ_TOOLS_BENCH_ARITHMETIC_H

#include <qdq/parallel.h>

#include "tools/bench/kernels/multiply_adds.h"

// Names of the kinds: "float32", "int8". MULTIPLY_PAIRS, another way for bytes, has none.
extern const char *const arithmetic_names[MULTIPLY_KINDS];

typedef struct arithmetic_pass {
    multiply_adds_fn *fn;  // NULL: the set has no instruction for this kind
    qdq_parallel parallel;
    double operations;  // multiply-adds of a pass
} arithmetic_pass;

typedef struct arithmetic {
    const char *isa;  // the set that the passes use; NULL: none opened
    arithmetic_pass passes[MULTIPLY_KINDS];
} arithmetic;

// Prepares the passes of the best available set, at most `cap` (NULL: no cap), on the threads of
// `parallel`.
void arithmetic_open(arithmetic *out, const char *cap, qdq_parallel parallel);
// Runs a pass of about 0.2 ms.
void arithmetic_run(const arithmetic_pass *pass);

#endif
