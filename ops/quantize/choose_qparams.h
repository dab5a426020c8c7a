// SPDX-License-Identifier: Apache-2.0
// How DynamicQuantize chooses the scale and the zero point of a block: docs/numerics.md 5.
#ifndef QDQ_OPS_QUANTIZE_CHOOSE_QPARAMS_H
#define QDQ_OPS_QUANTIZE_CHOOSE_QPARAMS_H

#include "include/qdq/ops/quantize.h"
#include "ops/kernels/quantize/params.h"

typedef struct qdq_choose_params {
    qdq_range_fn *widen;
    qdq_scheme scheme;
    qdq_choice choice;
    qdq_dtype x_dtype, y_dtype;
    qdq_range range;   // of y if y is an integer
    double low, high;  // the same clamp range with its fractions
    float eps;         // least scale; 0: none
    bool has_global_scale;
    qdq_dtype scale_dtype;         // the scale is rounded to it,
    qdq_dtype stored_scale_dtype;  // and stored as this
} qdq_choose_params;

typedef struct qdq_qparams {
    float scale;  // mx_... and nvfp4: a value that their scale dtype holds
    int32_t zero_point;
} qdq_qparams;

// `global_scale` is read with has_global_scale only.
qdq_qparams qdq_choose_qparams(const qdq_choose_params *p, const qdq_block_range *block,
                               float global_scale);

// Returns the dtype of a scheme's scales, unless `scale_dtype` says otherwise.
qdq_dtype qdq_scheme_scale_dtype(qdq_scheme scheme);

#endif
