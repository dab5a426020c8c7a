// SPDX-License-Identifier: Apache-2.0
// Constant B that is kept as codes with its parameters.
#ifndef QDQ_OPS_GEMM_WEIGHT_CODES_GEMM_WEIGHT_CODES_H
#define QDQ_OPS_GEMM_WEIGHT_CODES_GEMM_WEIGHT_CODES_H

#include "ops/gemm/gemm.h"

// Scales or zero points. Row r of a panel is at (panel * rows + r) * 32 or, if all columns of a
// matrix are alike, at matrix * rows + r.
typedef struct qdq_gemm_parameters {
    size_t rows;
    bool alike;
    const float *scales;
    const int16_t *zeros;
} qdq_gemm_parameters;

// The rows of parameters that hold from k = begin to the next stretch.
typedef struct qdq_gemm_stretch {
    uint32_t begin, scale, zero;
} qdq_gemm_stretch;

struct qdq_gemm_weight_codes {
    qdq_dtype dtype;  // of the floats
    bool halves;
    bool in_fours, in_eights;  // every stretch begins with a multiple
    bool lines;                // codes lie in the lines of gemm_fixed.h, not in rows
    size_t panel_bytes, row_bytes;
    const uint8_t *codes;
    qdq_gemm_parameters scale, zero;
    const qdq_gemm_stretch *stretches;
    size_t stretch_count;
};

// Returns the stretch that k lies in.
const qdq_gemm_stretch *qdq_gemm_stretch_at(const struct qdq_gemm_weight_codes *codes, size_t k);
// Returns how many of k..end lie in the stretch.
size_t qdq_gemm_stretch_rows(const struct qdq_gemm_weight_codes *codes, const qdq_gemm_stretch *s,
                             size_t k, size_t end);

#endif
