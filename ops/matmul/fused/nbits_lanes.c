// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/fused/nbits_lanes.h"

#include <string.h>

enum {
    COLUMNS = QDQ_NBITS_COLUMNS,
    LANES = QDQ_NBITS_LANES,
    STEP = QDQ_NBITS_STEP,
    HALF = LANES / 2,  // lanes of AVX2
    HALF_STEP = STEP / 2,
};

//---- Steps ------------------------------------------------------------------

// Lays out lanes for a block of codes of 2 bits.
static void lay_pairs(const qdq_nbits_order *p, qdq_nbits_step *s) {
    s->lanes = p->wide && p->block >= HALF_STEP ? LANES : HALF;
    s->length = 4;
    s->stride = s->lanes * s->length;
    s->ranges = p->block / s->stride;
    for (size_t l = 0; l < s->lanes; l++) s->first[l] = (uint8_t)(l * s->length);
}

// The first k of each lane of a step of 64 k of AVX2.
static const uint8_t eights[HALF] = {0, 8, 32, 40, 16, 24, 48, 56};

// Lays out lanes of AVX2 for a step of `size` k.
static void lay_half(const qdq_nbits_order *p, size_t size, qdq_nbits_step *s) {
    bool whole = size == HALF_STEP, bytes = p->bits == 8 && p->block >= HALF_STEP;
    s->lanes = HALF;
    s->length = whole ? bytes ? 4 : 8 : size / HALF;
    s->ranges = whole && bytes ? 2 : 1;
    s->stride = HALF_STEP / 2;
    for (size_t l = 0; l < HALF; l++)
        s->first[l] = (uint8_t)(s->length == 8 ? eights[l] : l * s->length);
}

// Lays out lanes of AVX-512 for a step of `size` k. A step of 128 k has two registers of codes,
// whose sums of four are added in pairs: within a register unless a block has 128 k.
static void lay_wide(const qdq_nbits_order *p, size_t size, qdq_nbits_step *s) {
    bool whole = size == STEP, pairs = p->block < HALF_STEP;
    s->lanes = whole || !pairs ? LANES : HALF;
    s->length = whole ? 4 : size / s->lanes;
    s->ranges = whole ? 2 : 1;
    s->stride = p->block >= STEP ? HALF_STEP : 8;
    for (size_t l = 0; l < s->lanes; l++) {
        size_t quarter = l / 4, i = l % 4, upper = pairs ? i / 2 : i % 2,
               odd = pairs ? i % 2 : i / 2;
        bool crossed = whole && p->block < STEP;
        s->first[l] =
            (uint8_t)(crossed ? HALF_STEP * upper + 16 * quarter + 4 * odd : l * s->length);
    }
}

void qdq_nbits_lay_lanes(const qdq_nbits_order *p, size_t size, qdq_nbits_step *s) {
    if (p->bits == 2)
        lay_pairs(p, s);
    else if (p->wide)
        lay_wide(p, size, s);
    else
        lay_half(p, size, s);
    for (size_t l = 0; l < s->lanes; l++) s->block[l] = (uint8_t)(s->first[l] / p->block);
}

size_t qdq_nbits_step_size(const qdq_nbits_order *p, size_t k) {
    size_t rest = p->blocks * p->block - k;
    if (p->floats) return rest < STEP ? rest : STEP;
    if (p->bits == 2) return p->block;
    size_t most = p->wide ? STEP : HALF_STEP;
    bool singly = p->block == 32 && p->inside && p->has_zero;
    if (p->block >= most) return most;
    return !singly && k + most <= p->blocks * p->block ? most : p->block;
}

size_t qdq_nbits_chained(const qdq_nbits_order *p, size_t row, size_t column, size_t columns) {
    size_t end = p->columns / 4 * 4;
    if (p->wide || p->block != HALF_STEP || row >= p->rows / 2 * 2 || column >= end) return 0;
    return end - column < columns ? end - column : columns;
}

void qdq_nbits_halve(float *lanes) {
    for (size_t i = 0; i < (size_t)HALF * COLUMNS; i++)
        lanes[i] += lanes[i + (size_t)HALF * COLUMNS];
    memset(lanes + (size_t)HALF * COLUMNS, 0, (size_t)HALF * COLUMNS * sizeof *lanes);
}

bool qdq_nbits_halves_early(const qdq_nbits_order *p) {
    return p->wide && !p->floats && p->bits != 2 && p->block < HALF_STEP;
}

//---- Sums -------------------------------------------------------------------

static float folded(const float *l, bool together) {
    enum { N = COLUMNS };
    if (together)
        return (((l[0] + l[N]) + l[2 * N]) + l[3 * N]) +
               (((l[4 * N] + l[5 * N]) + l[6 * N]) + l[7 * N]);
    return ((l[0] + l[4 * N]) + (l[2 * N] + l[6 * N])) +
           ((l[N] + l[5 * N]) + (l[3 * N] + l[7 * N]));
}

// Adds 16 lanes in fours.
static float folded_fours(const float *l) {
    enum { N = COLUMNS };
    float sums[4];
    for (size_t i = 0; i < 4; i++, l += 4 * N) sums[i] = ((l[0] + l[N]) + l[2 * N]) + l[3 * N];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

// Adds the lanes of products of floats.
static float sum_of_floats(const qdq_nbits_order *p, float *l, bool together) {
    enum { N = COLUMNS };
    if (p->lanes == 1) return l[0];
    if (p->lanes == LANES && together) return folded_fours(l);
    if (together) return folded(l, true);
    if (p->lanes == HALF)
        return ((l[0] + l[4 * N]) + (l[N] + l[5 * N])) +
               ((l[2 * N] + l[6 * N]) + (l[3 * N] + l[7 * N]));
    for (size_t i = 0; i < HALF; i++) l[i * N] += l[(i + HALF) * N];
    return folded(l, false);
}

// Adds the lanes of a column of a row. The last columns, if they are fewer than four, add them in
// another order, as all columns of codes of 2 bits do; of 16 lanes, rows in pairs do so too, except
// with bytes in blocks of 64.
float qdq_nbits_sum(const qdq_nbits_order *p, float *l, size_t row, size_t column) {
    bool together = column < p->columns / 4 * 4, single = row >= p->rows / 2 * 2;
    if (p->floats) return sum_of_floats(p, l, together);
    if (p->bits == 2) together = false;
    if (!p->wide || qdq_nbits_halves_early(p)) return folded(l, together);
    if (together && (single || (p->bits == 8 && p->block == HALF_STEP))) return folded_fours(l);
    for (size_t i = 0; i < HALF; i++) l[i * COLUMNS] += l[(i + HALF) * COLUMNS];
    return folded(l, false);
}
