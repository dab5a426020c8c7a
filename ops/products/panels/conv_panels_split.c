// SPDX-License-Identifier: Apache-2.0
// Splits int8 weights for an instruction that adds the products of a pair of bytes in 16 bits and
// saturates (VPMADDUBSW). A pair cannot saturate if its positive weights and its negative ones add
// up to at most 128 in size, because 255 * 128 fits in 16 bits. What exceeds this in a pair leaves
// its larger weight and becomes the rest, which is another step of the row: a weight alone never
// saturates. Weights with a normal distribution and a scale for each channel have such pairs in 1
// to 3 of 100.
#include "ops/products/panels/conv_panels.h"

enum { STEP = QDQ_GEMM_STEP_BYTES, PAIR = 2, MOST = 128 };

// Whether a pair of a step has a rest. It has no branches, so that a loop that counts becomes
// vectors.
static uint32_t has_rest(const int8_t *step) {
    int32_t word;
    memcpy(&word, step, STEP);
    int32_t first = (int32_t)((uint32_t)word << 24) >> 24,
            second = (int32_t)((uint32_t)word << 16) >> 24;
    int32_t third = (int32_t)((uint32_t)word << 8) >> 24, fourth = word >> 24;
    uint32_t most = 2 * MOST;
    return (uint32_t)((uint32_t)(first + second + MOST) > most) |
           (uint32_t)((uint32_t)(third + fourth + MOST) > most);
}

// Takes the rest of a pair, which may be 0, out of `pair`.
static void split_pair(int8_t *pair, int8_t *rest) {
    int sum = pair[0] + pair[1];
    int excess = sum > MOST ? sum - MOST : sum < -MOST ? sum + MOST : 0;
    size_t larger = excess > 0 ? pair[1] > pair[0] : pair[1] < pair[0];
    rest[0] = rest[1] = 0;
    rest[larger] = (int8_t)excess;
    pair[larger] = (int8_t)(pair[larger] - excess);
}

// The steps of n weights of a row that have a rest.
static size_t count_row(const int8_t *row, size_t n) {
    uint32_t count = 0;
    for (size_t k = 0; k < n; k += STEP) count += has_rest(row + k);
    return count;
}

// Splits n weights of a row, and returns the number of steps that have a rest.
static size_t split_row(int8_t *row, size_t n, qdq_gemm_rest_step *to) {
    size_t count = 0;
    for (size_t k = 0; k < n; k += STEP) {
        int8_t rest[STEP];
        if (!has_rest(row + k)) continue;
        for (size_t i = 0; i < STEP; i += PAIR) split_pair(row + k + i, rest + i);
        to[count].step = (uint32_t)(k / STEP);
        memcpy(&to[count].word, rest, STEP);
        count++;
    }
    return count;
}

// Splits all rows, or counts their steps only. The steps of k block b of row r end at number
// r * blocks + b + 1 of `ends`.
static size_t split_rows(const qdq_panels_params *p, qdq_gemm_rest_step *to, uint32_t *ends) {
    const qdq_gemm *g = &p->conv.gemm;
    size_t blocks = qdq_panels_k_blocks(&p->conv), count = 0, row = 0;
    ends[0] = 0;
    for (size_t matrix = 0; matrix < g->weights.matrices; matrix++)
        for (size_t column = 0; column < g->columns; column++)
            for (size_t block = 0; block < blocks; block++) {
                int8_t *codes = (int8_t *)qdq_panels_row(p, matrix, block, column);
                size_t n = qdq_panels_k(&p->conv, block);
                count += to ? split_row(codes, n, to + count) : count_row(codes, n);
                ends[++row] = (uint32_t)count;
            }
    return count;
}

bool qdq_panels_split(const qdq_panels_params *p, qdq_panels_weights *weights, qdq_mempool *mempool,
                      size_t *bytes) {
    const qdq_gemm *g = &p->conv.gemm;
    size_t rows = g->weights.matrices * g->columns * qdq_panels_k_blocks(&p->conv);
    uint32_t *ends = qdq_mempool_array(mempool, rows + 1, sizeof *ends);
    if (!ends) return false;
    size_t count = split_rows(p, NULL, ends);
    qdq_gemm_rest_step *steps = qdq_mempool_array(mempool, count + 1, sizeof *steps);
    if (!steps) return false;
    split_rows(p, steps, ends);
    weights->rest = steps;
    weights->rest_ends = ends;
    *bytes += rows * sizeof *ends + count * sizeof *steps;
    return true;
}
