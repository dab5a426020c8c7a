// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum in the order of ONNX Runtime's MLAS. On x86-64 a lane keeps the second
// operand of a comparison with NaN (MINPS, MAXPS): a NaN replaces what its lane held, and the next
// element replaces the NaN. On aarch64 (FMIN, FMAX) a NaN in a vector stays. Elements behind the
// last whole vector are compared one by one, and a NaN among them is passed over.
#include "ops/quantize/lane_range.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    LANES = QDQ_RANGE_LANES,
    AVX_LANES = 8,
    NEON_LANES = 4,
};

static float lane_low(float a, float b) { return a < b ? a : b; }
static float lane_high(float a, float b) { return a > b ? a : b; }

static void add_block(qdq_lane_range *range, const float *x) {
    for (int i = 0; i < LANES; i++) {
        range->low[i] = lane_low(range->low[i], x[i]);
        range->high[i] = lane_high(range->high[i], x[i]);
        range->nan[i] |= isnan(x[i]) != 0;
    }
}

// Adds four blocks. Compilers turn the loop into vectors.
static void add_blocks(float *restrict low, float *restrict high, uint32_t *restrict nan,
                       const float *restrict x) {
    for (int i = 0; i < LANES; i++) {
        float a = x[i], b = x[i + LANES], c = x[i + 2 * LANES], d = x[i + 3 * LANES];
        low[i] = lane_low(lane_low(lane_low(lane_low(low[i], a), b), c), d);
        high[i] = lane_high(lane_high(lane_high(lane_high(high[i], a), b), c), d);
        uint32_t nan_a = (uint32_t)(isnan(a) != 0), nan_b = (uint32_t)(isnan(b) != 0);
        uint32_t nan_c = (uint32_t)(isnan(c) != 0), nan_d = (uint32_t)(isnan(d) != 0);
        nan[i] |= nan_a | nan_b | nan_c | nan_d;
    }
}

// Adds as many whole blocks as n elements have, and returns their elements.
static size_t add_lanes(qdq_lane_range *range, const float *x, size_t n) {
    for (int i = 0; !range->begun && i < LANES; i++)
        range->low[i] = FLT_MAX, range->high[i] = -FLT_MAX;
    range->begun = true;
    size_t at = 0;
    for (; n - at >= 4 * LANES; at += 4 * LANES)
        add_blocks(range->low, range->high, range->nan, x + at);
    for (; n - at >= LANES; at += LANES) add_block(range, x + at);
    return at;
}

void qdq_lane_range_add(qdq_lane_range *range, const float *x, size_t n) {
    while (n) {
        if (range->rest_count == 0 && n >= LANES) {
            size_t added = add_lanes(range, x, n);
            x += added, n -= added;
            continue;
        }
        size_t room = LANES - range->rest_count, count = n < room ? n : room;
        memcpy(range->rest + range->rest_count, x, count * sizeof *x);
        range->rest_count += count, x += count, n -= count;
        if (range->rest_count < LANES) return;
        (void)add_lanes(range, range->rest, LANES);
        range->rest_count = 0;
    }
}

void qdq_lane_range_join(qdq_lane_range *range, const qdq_lane_range *next) {
    if (!next->begun && !next->rest_count) return;
    if (!range->begun) {
        *range = *next;
        return;
    }
    for (int i = 0; next->begun && i < LANES; i++) {
        bool replaced = next->nan[i] != 0;
        range->low[i] = replaced ? next->low[i] : lane_low(range->low[i], next->low[i]);
        range->high[i] = replaced ? next->high[i] : lane_high(range->high[i], next->high[i]);
        range->nan[i] |= next->nan[i];
    }
    memcpy(range->rest, next->rest, sizeof range->rest);
    range->rest_count = next->rest_count;
}

// Compares vector `from` with vector `to` lane by lane, into `to`.
static void fold_lanes(float *low, float *high, int to, int from, int lanes) {
    for (int i = 0; i < lanes; i++) {
        low[to + i] = lane_low(low[to + i], low[from + i]);
        high[to + i] = lane_high(high[to + i], high[from + i]);
    }
}

// Reduces the lanes and the whole vectors behind them to lane 0.
static void reduce_lanes(float *low, float *high, const float *rest, size_t whole) {
    fold_lanes(low, high, 0, AVX_LANES, AVX_LANES);
    fold_lanes(low, high, 2 * AVX_LANES, 3 * AVX_LANES, AVX_LANES);
    fold_lanes(low, high, 0, 2 * AVX_LANES, AVX_LANES);
    for (size_t i = 0; i < whole; i++) {
        low[i % AVX_LANES] = lane_low(low[i % AVX_LANES], rest[i]);
        high[i % AVX_LANES] = lane_high(high[i % AVX_LANES], rest[i]);
    }
    for (int lanes = AVX_LANES / 2; lanes; lanes /= 2) fold_lanes(low, high, 0, lanes, lanes);
}

static bool lanes_have_nan(const qdq_lane_range *range, size_t whole) {
    for (int i = 0; i < LANES; i++)
        if (range->nan[i]) return true;
    for (size_t i = 0; i < whole; i++)
        if (isnan(range->rest[i])) return true;
    return false;
}

qdq_block_range qdq_lane_range_end(const qdq_lane_range *range, qdq_choice choice) {
    bool arm = choice == QDQ_CHOOSE_ORT_ARM;
    size_t whole = range->rest_count - range->rest_count % (arm ? NEON_LANES : AVX_LANES);
    float low[LANES], high[LANES];
    for (int i = 0; i < LANES; i++) {
        low[i] = range->begun ? range->low[i] : FLT_MAX;
        high[i] = range->begun ? range->high[i] : -FLT_MAX;
    }
    if (arm && lanes_have_nan(range, whole)) return (qdq_block_range){NAN, NAN, true};
    reduce_lanes(low, high, range->rest, whole);
    for (size_t i = whole; i < range->rest_count; i++) {
        if (range->rest[i] < low[0]) low[0] = range->rest[i];
        if (range->rest[i] > high[0]) high[0] = range->rest[i];
    }
    return (qdq_block_range){low[0] > 0 ? 0 : low[0], high[0] < 0 ? 0 : high[0],
                             isnan(low[0]) != 0};
}
