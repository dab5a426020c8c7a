// SPDX-License-Identifier: Apache-2.0
// Runs multiply-adds on registers, with the best instruction set under a cap.
#include "tools/bench/arithmetic.h"

#include <stdbool.h>

#include "tools/bench/isa_rows.h"

const char *const arithmetic_names[MULTIPLY_KINDS] = {
    [MULTIPLY_FLOATS] = "float32", [MULTIPLY_BYTES] = "int8", [MULTIPLY_BFLOATS] = "bfloat16"};

typedef struct arithmetic_row {
    const char *isa;
    multiply_adds_fn *const *kinds;
} arithmetic_row;

// Sorted from best to worst. avx_vnni has the float32 function of avx2.
static const arithmetic_row rows[] = {
#ifdef QDQ_SIMD_X86
    {"avx512_bf16", multiply_adds_avx512_bf16}, {"avx512", multiply_adds_avx512},
    {"avx_vnni", multiply_adds_avx_vnni},       {"avx2", multiply_adds_avx2},
#endif
    {"portable", multiply_adds_portable},
};

enum { ROUNDS = 1 << 13, PARTS = 16 };

static void multiply_task(void *context, size_t begin, size_t end) {
    multiply_adds_fn *const *fn = context;
    for (size_t i = begin; i < end; i++) (void)(*fn)(ROUNDS);
}

void arithmetic_run(const arithmetic_pass *pass) {
    multiply_adds_fn *fn = pass->fn;
    if (pass->parallel.run)
        pass->parallel.run(pass->parallel.self, PARTS, multiply_task, &fn);
    else
        multiply_task(&fn, 0, PARTS);
}

void arithmetic_open(arithmetic *out, const char *cap, qdq_parallel parallel) {
    size_t i = 0;
    while (i + 1 < sizeof rows / sizeof rows[0] && !isa_fits(rows[i].isa, cap)) i++;
    *out = (arithmetic){.isa = rows[i].isa};
    for (int kind = 0; kind < MULTIPLY_KINDS; kind++) {
        multiply_adds_fn *fn = rows[i].kinds[kind];
        if (!fn) continue;
        double operations = (double)fn(1) * ROUNDS * PARTS;
        out->passes[kind] = (arithmetic_pass){fn, parallel, operations};
    }
}
