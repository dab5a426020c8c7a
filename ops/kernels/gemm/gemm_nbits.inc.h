// SPDX-License-Identifier: Apache-2.0
// A step of MatMulNBits, included by the file of an instruction set and by gemm_orders.c, whose
// function is the definition.
#include "ops/kernels/gemm/gemm_nbits.h"
#include "runtime/numerics/fma.h"

// Adds the products of `n` k to the sums of all columns.
static inline __attribute__((always_inline)) void nbits_add(const qdq_nbits_step *s, size_t k,
                                                            size_t n, int32_t *sums) {
    for (size_t i = k; i < k + n; i++) {
        int32_t q = (int32_t)s->q[i];
        const uint8_t *codes = s->codes + i * QDQ_NBITS_COLUMNS;
        for (size_t j = 0; j < QDQ_NBITS_COLUMNS; j++) sums[j] += q * codes[j];
    }
}

static inline __attribute__((always_inline)) void nbits_lane(const qdq_nbits_step *s, size_t l,
                                                             float *to) {
    size_t block = s->block[l];
    const float *scales = s->scales + block * QDQ_NBITS_COLUMNS;
    float of_a = s->a_scales[block];
    int32_t sums[QDQ_NBITS_COLUMNS] = {0};
    for (size_t i = 0; i < s->ranges; i++)
        nbits_add(s, s->first[l] + i * s->stride, s->length, sums);
    if (s->zeros) {
        int32_t all = 0;
        for (size_t i = 0; i < s->length; i++) all += s->q[s->first[l] + i];
        const uint8_t *zeros = s->zeros + block * QDQ_NBITS_COLUMNS;
        for (size_t j = 0; j < QDQ_NBITS_COLUMNS; j++) sums[j] -= all * zeros[j];
    }
    for (size_t j = 0; j < QDQ_NBITS_COLUMNS; j++)
        to[j] = qdq_fmaf((float)sums[j], of_a * scales[j], to[j]);
}

static void nbits_step(const qdq_nbits_step *s, float *lanes) {
    for (size_t l = 0; l < s->lanes; l++) nbits_lane(s, l, lanes + l * QDQ_NBITS_COLUMNS);
}

static void nbits_zero(float of_a, const float *scales, const uint8_t *zeros, float *rest) {
    for (size_t j = 0; j < QDQ_NBITS_COLUMNS; j++)
        rest[j] = qdq_fmaf(of_a, -(scales[j] * (float)zeros[j]), rest[j]);
}

static void nbits_floats(const qdq_nbits_floats *s, float *lanes) {
    for (size_t k = 0; k < s->count; k++) {
        const uint8_t *codes = s->codes + k * QDQ_NBITS_COLUMNS;
        const uint8_t *zeros = s->zeros + k / s->block * QDQ_NBITS_COLUMNS;
        const float *scales = s->scales + k / s->block * QDQ_NBITS_COLUMNS;
        float *to = lanes + k % s->lanes * QDQ_NBITS_COLUMNS;
        for (size_t j = 0; j < QDQ_NBITS_COLUMNS; j++) {
            float weight = (float)((int32_t)codes[j] - (int32_t)zeros[j]) * scales[j];
            to[j] = qdq_fmaf(weight, s->a[k], to[j]);
        }
    }
}
