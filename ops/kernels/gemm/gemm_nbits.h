// SPDX-License-Identifier: Apache-2.0
// Products of float rows, which become int8 in blocks, with codes of weights: MatMulNBits of ONNX
// Runtime at accuracy level 4. A column has several sums, lanes: 8 on AVX2, 16 on AVX-512.
#ifndef QDQ_OPS_KERNELS_GEMM_GEMM_NBITS_H
#define QDQ_OPS_KERNELS_GEMM_GEMM_NBITS_H

#include <stddef.h>
#include <stdint.h>

enum { QDQ_NBITS_COLUMNS = 32, QDQ_NBITS_LANES = 16, QDQ_NBITS_STEP = 128 };

// At most 128 neighbouring k of a row and of 32 columns. Lane l takes `length` k from each of
// first[l], first[l] + stride, ... on, `ranges` of them:
// lane = fma(sum of q * (code - zero), fl(a_scale * scale), lane).
typedef struct qdq_nbits_step {
    const int8_t *q;       // of the step
    const uint8_t *codes;  // 32 for each k
    size_t lanes;
    uint8_t first[QDQ_NBITS_LANES];
    size_t length, ranges, stride;
    uint8_t block[QDQ_NBITS_LANES];  // of the lane's k, counted from the step's first one
    const float *a_scales;           // by block
    const float *scales;             // 32 for each block
    const uint8_t *zeros;            // likewise, with one range; NULL: 0
} qdq_nbits_step;

// Neighbouring k of a row of floats and of 32 columns. Product k goes to lane k % lanes:
// lane = fma(fl((code - zero) * scale), a, lane).
typedef struct qdq_nbits_floats {
    const float *a;
    size_t count, lanes, block;  // k; lanes; k of a block
    const uint8_t *codes;        // 32 for each k
    const float *scales;         // 32 for each block
    const uint8_t *zeros;        // likewise
} qdq_nbits_floats;

typedef void qdq_nbits_floats_fn(const qdq_nbits_floats *floats, float *lanes);
typedef void qdq_nbits_step_fn(const qdq_nbits_step *step, float *lanes);
// rest = fma(of_a, -fl(scale * zero), rest) for 32 columns.
typedef void qdq_nbits_zero_fn(float of_a, const float *scales, const uint8_t *zeros, float *rest);

#endif
