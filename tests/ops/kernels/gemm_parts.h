// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of gemm kernels: memory for the operands and sums of one kernel call, of any
// element kind.
#ifndef QDQ_TESTS_OPS_KERNELS_GEMM_PARTS_H
#define QDQ_TESTS_OPS_KERNELS_GEMM_PARTS_H

#include "ops/kernels/gemm/gemm.h"
#include "runtime/numerics/dtype.h"
#include "tests/ops/oracle.h"

enum {
    ROWS = 4 * QDQ_GEMM_ROWS,
    COLUMNS = QDQ_GEMM_COLUMNS,
    STEPS = QDQ_GEMM_ROW_BYTES / QDQ_GEMM_STEP_BYTES,
    STRIDE = 3 * COLUMNS,  // of the rows of sums
    DEPTH = QDQ_GEMM_DEPTH,
};

// The operands of one call and its sums: `start` is added to them, others are the wanted sums and
// the sums of the kernel under test.
typedef struct work {
    _Alignas(64) uint32_t a[ROWS * STEPS], b[STEPS * COLUMNS], start[COLUMNS];
    uint32_t c[3][ROWS * STRIDE];
    uint16_t keep[2 * STEPS];
} work;

static inline float number(uint64_t *seed) {
    static const float odd[4] = {-0.0f, 0x1p-149f, 0x1p-126f, 0x1p127f};
    uint64_t r = unit_random(seed);
    if (r % 64 == 0) return odd[r >> 8 & 3];
    return (float)((int)(r >> 20 & 0xFFFFF) - 0x80000) / (float)(1 << (r >> 8 & 15));
}

// The call of round 0 to 3 * ROWS: every number of rows, with few, several and all steps.
static inline qdq_gemm_part part_of(work *w, size_t round, uint32_t *c) {
    return (qdq_gemm_part){
        .a = w->a,
        .b = w->b,
        .start = round % 3 ? w->start : NULL,
        .c = c,
        .c_stride = STRIDE,
        .rows = round % ROWS + 1,
        .steps = round / ROWS == 2 ? STEPS : 1 + round % STEPS,
    };
}

// The value that the sum of element [r, j] starts with.
static inline const uint32_t *first_of(const work *w, const qdq_gemm_part *p, size_t r, size_t j) {
    return p->start ? &w->start[j] : &w->c[2][r * STRIDE + j];
}

#endif
