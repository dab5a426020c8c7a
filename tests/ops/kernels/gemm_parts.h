// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of gemm kernels: memory for the operands and sums of one kernel call, of any
// element kind, and exact products of integers.
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

static inline uint32_t any_word(uint64_t *seed) { return (uint32_t)(unit_random(seed) >> 16); }

static inline void fill(work *w, uint64_t *seed, uint32_t (*word)(uint64_t *),
                        uint32_t (*sum)(uint64_t *)) {
    for (size_t i = 0; i < UNIT_COUNT(w->a); i++) w->a[i] = word(seed);
    for (size_t i = 0; i < UNIT_COUNT(w->b); i++) w->b[i] = word(seed);
    for (size_t i = 0; i < UNIT_COUNT(w->c[0]); i++)
        w->c[0][i] = w->c[1][i] = w->c[2][i] = sum(seed);
    for (size_t i = 0; i < COLUMNS; i++) w->start[i] = sum(seed);
    for (size_t k = 0; k < STEPS; k++) w->keep[k] = (uint16_t)unit_random(seed);
}

static inline void check_same(const char *name, const void *a, const void *b, size_t bytes) {
    if (memcmp(a, b, bytes) != 0) fail_msg("%s differs from the portable one", name);
}

// The least and greatest bytes, signed and unsigned: 0x80 and 0x7F, 0 and 0xFF.
static inline uint32_t end_word(uint64_t *seed) {
    static const uint8_t ends[] = {0x80, 0x7F, 0x00, 0xFF};
    uint64_t r = unit_random(seed) >> 20;
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) word = word << 8 | ends[r >> 2 * i & 3];
    return word;
}

static inline int64_t fours_of(uint32_t a, uint32_t b) {
    uint8_t x[4];
    int8_t y[4];
    int64_t sum = 0;
    memcpy(x, &a, sizeof x), memcpy(y, &b, sizeof y);
    for (int i = 0; i < 4; i++) sum += (int64_t)x[i] * y[i];
    return sum;
}

static inline void check_integers(work *w, const qdq_gemm_kernel *kernel, qdq_gemm_kind kind,
                                  size_t round, int64_t (*product)(uint32_t, uint32_t)) {
    qdq_gemm_part p = part_of(w, round, w->c[1]);
    for (size_t r = 0; r < p.rows; r++)
        for (size_t j = 0; j < COLUMNS; j++) {
            int64_t sum = (int32_t)*first_of(w, &p, r, j);
            for (size_t k = 0; k < p.steps; k++)
                sum += product(w->a[r * STEPS + k], w->b[k * COLUMNS + j]);
            w->c[2][r * STRIDE + j] = (uint32_t)(uint64_t)sum;
        }
    if (kernel->enter) kernel->enter();
    kernel->part[kind](&p);
    if (kernel->leave) kernel->leave();
    check_same(kernel->name, w->c[1], w->c[2], sizeof w->c[1]);
}

#endif
