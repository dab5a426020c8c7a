// SPDX-License-Identifier: Apache-2.0
// Sums of int8 weights, and splitting them for an instruction that adds the products of a pair of
// bytes in 16 bits and saturates (VPMADDUBSW). A pair cannot saturate if its positive weights and
// its negative weights each add up to at most 128 in size, because 255 * 128 fits in 16 bits. The
// excess of a pair is taken from its larger weight and becomes the rest, which is another step of
// the row: a weight alone never saturates. With normally distributed weights and a scale for each
// channel, 1 to 3 of 100 pairs have an excess.
//
// The loops count in 16 bits and have no branches, so that compilers turn them into vectors.
#include "ops/kernels/gemm/weights/gemm_weights.h"

#include <string.h>

enum {
    FITS = 256,  // weights whose sum fits in int16_t
    COLUMNS = QDQ_GEMM_COLUMNS,
    LINES = 8,  // that are added at a time
    STEP = QDQ_GEMM_STEP_BYTES,
    PAIR = 2,
    MOST = 128,
    STRETCH = QDQ_GEMM_WEIGHTS_STRETCH,  // weights whose steps have a bit in 16
};

//---- Sums -------------------------------------------------------------------

int32_t qdq_gemm_sum_weights(const int8_t *x, size_t n) {
    int32_t sum = 0;
    for (size_t done = 0, count; done < n; done += count) {
        count = n - done < FITS ? n - done : FITS;
        int16_t part = 0;
        for (size_t i = 0; i < count; i++) part = (int16_t)(part + x[done + i]);
        sum += part;
    }
    return sum;
}

static inline void add_lines(const int8_t *x, size_t stride, int16_t *sums) {
    for (size_t j = 0; j < COLUMNS; j++) {
        int16_t sum = 0;
        for (size_t i = 0; i < LINES; i++) sum = (int16_t)(sum + x[i * stride + j]);
        sums[j] = (int16_t)(sums[j] + sum);
    }
}

void qdq_gemm_sum_weight_lines(const int8_t *x, size_t stride, size_t rows, size_t columns,
                               int32_t *sums) {
    size_t done = 0;
    while (columns == COLUMNS && done + LINES <= rows) {
        int16_t part[COLUMNS] = {0};
        size_t end = rows - done < FITS ? rows : done + FITS;
        for (; done + LINES <= end; done += LINES) add_lines(x + done * stride, stride, part);
        for (size_t j = 0; j < COLUMNS; j++) sums[j] += part[j];
    }
    for (; done < rows; done++)
        for (size_t j = 0; j < columns; j++) sums[j] += x[done * stride + j];
}

//---- Rests ------------------------------------------------------------------

static inline uint16_t has_rest(const int8_t *pair) {
    int16_t both;
    memcpy(&both, pair, PAIR);
    int16_t low = (int16_t)((uint16_t)both << 8);
    int first = low >> 8, second = both >> 8;
    return (uint16_t)(first + second + MOST) > 2 * MOST;
}

size_t qdq_gemm_count_rest(const int8_t *row, size_t n) {
    uint16_t count = 0;
    for (size_t i = 0; i < (n + PAIR - 1) / PAIR; i++)
        count = (uint16_t)(count + has_rest(row + i * PAIR));
    return count;
}

// Returns a bit for each step of a stretch that has a rest.
static inline uint32_t rests_of(const int8_t *row) {
#define TWICE(bit) (bit), (bit)
    static const uint16_t bits[STRETCH / PAIR] = {
        TWICE(1),      TWICE(2),      TWICE(4),      TWICE(8),      TWICE(0x10),  TWICE(0x20),
        TWICE(0x40),   TWICE(0x80),   TWICE(0x100),  TWICE(0x200),  TWICE(0x400), TWICE(0x800),
        TWICE(0x1000), TWICE(0x2000), TWICE(0x4000), TWICE(0x8000),
    };
#undef TWICE
    uint16_t rests = 0;
    for (size_t i = 0; i < STRETCH / PAIR; i++)
        rests |= (uint16_t)(has_rest(row + i * PAIR) * bits[i]);
    return rests;
}

// Takes the rest of a pair, which may be 0, out of `pair`. Signs are random, so it has no branches.
static inline void split_pair(int8_t *pair, int8_t *rest) {
    int sum = pair[0] + pair[1], least = sum > -MOST ? sum : -MOST;
    int excess = sum - (least < MOST ? least : MOST);
    size_t larger = (pair[1] - pair[0]) * excess > 0;
    rest[0] = rest[1] = 0;
    rest[larger] = (int8_t)excess;
    pair[larger] = (int8_t)(pair[larger] - excess);
}

size_t qdq_gemm_split_row(int8_t *row, size_t n, qdq_gemm_rest_step *rest) {
    size_t count = 0;
    for (size_t begin = 0; begin < n; begin += STRETCH)
        for (uint32_t left = rests_of(row + begin); left; left &= left - 1) {
            size_t k = begin + (size_t)__builtin_ctz(left) * STEP;
            int8_t own[STEP];
            for (size_t i = 0; i < STEP; i += PAIR) split_pair(row + k + i, own + i);
            rest[count].step = (uint32_t)(k / STEP);
            memcpy(&rest[count++].word, own, STEP);
        }
    return count;
}
