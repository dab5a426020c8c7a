// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16 and of bytes on any machine: the definition that other kernels equal.
#include <math.h>

#include "ops/kernels/gemm/gemm_portable.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fma.h"
#include "runtime/numerics/pair_sum.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS };

//---- bfloat16 ----------------------------------------------------------------

static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

static float widened(uint16_t x) { return flushed(qdq_float_from_bits((uint32_t)x << 16)); }

// a and b are flushed and have 8 bits. A result of magnitude 2^-126 may be rounded from a smaller
// sum. It is flushed if the sum is more than half an ulp of 24 bits (2^-151) below 2^-126, which
// double can tell.
static float fused(float a, float b, float sum) {
    sum = flushed(sum);
    float y = qdq_fmaf(a, b, sum);
    bool less = fabsf(y) < 0x1p-126f;
    if (fabsf(y) == 0x1p-126f)
        less = fabs((double)a * (double)b + (double)sum) < 0x1p-126 - 0x1p-151;
    return less ? copysignf(0, y) : y;
}

void qdq_gemm_bfloats_portable(const qdq_gemm_part *p) {
    const uint16_t *b = p->b;
    for (size_t r = 0; r < p->rows; r++) {
        const uint16_t *a = qdq_gemm_row(p, r);
        float *c = qdq_gemm_sums(p, r);
        for (size_t i = 0; i < p->steps * 2; i++) {
            size_t k = i ^ 1;  // the second of a pair comes first
            if (p->keep && !(p->keep[k] >> r & 1)) continue;
            const uint16_t *of_k = b + k / 2 * COLUMNS * 2 + k % 2;
            for (size_t j = 0; j < COLUMNS; j++)
                c[j] = fused(widened(a[k]), widened(of_k[j * 2]), c[j]);
        }
    }
}

void qdq_gemm_bfloat_lanes_portable(const float *a, const float *b, float *c, size_t depth) {
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < COLUMNS; j++)
            c[j] = fused(flushed(a[k * COLUMNS + j]), flushed(b[k * COLUMNS + j]), c[j]);
}

//---- Bytes -------------------------------------------------------------------

// Unsigned, because sums wrap around.
void qdq_gemm_bytes_portable(const qdq_gemm_part *p) {
    const int8_t *b = p->b;
    for (size_t r = 0; r < p->rows; r++) {
        const uint8_t *a = qdq_gemm_row(p, r);
        int32_t *c = qdq_gemm_sums(p, r);
        for (size_t k = 0; k < p->steps * 4; k += 4)
            for (size_t j = 0; j < COLUMNS; j++) {
                const int8_t *four = b + k * COLUMNS + j * 4;
                int32_t sum =
                    a[k] * four[0] + a[k + 1] * four[1] + a[k + 2] * four[2] + a[k + 3] * four[3];
                c[j] = (int32_t)((uint32_t)c[j] + (uint32_t)sum);
            }
    }
}

#define SATURATED(name, a_type, b_type)                                                 \
    void qdq_gemm_saturated_##name##_portable(const qdq_gemm_part *p) {                 \
        const b_type *b = p->b;                                                         \
        for (size_t r = 0; r < p->rows; r++) {                                          \
            const a_type *a = qdq_gemm_row(p, r);                                       \
            int32_t *c = qdq_gemm_sums(p, r);                                           \
            for (size_t k = 0; k < p->steps * 4; k += 4)                                \
                for (size_t j = 0; j < COLUMNS; j++) {                                  \
                    const b_type *four = b + k * COLUMNS + j * 4;                       \
                    int32_t sum = qdq_pair_sum(a[k] * four[0], a[k + 1] * four[1]) +    \
                                  qdq_pair_sum(a[k + 2] * four[2], a[k + 3] * four[3]); \
                    c[j] = (int32_t)((uint32_t)c[j] + (uint32_t)sum);                   \
                }                                                                       \
        }                                                                               \
    }

SATURATED(bytes, uint8_t, int8_t)
SATURATED(codes, int8_t, uint8_t)
