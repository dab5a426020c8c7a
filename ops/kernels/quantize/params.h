// SPDX-License-Identifier: Apache-2.0
// The parameters of the quantizing tile functions, and the families that kernels belong to.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_PARAMS_H
#define QDQ_OPS_KERNELS_QUANTIZE_PARAMS_H

#include "include/qdq/ops/quantize.h"
#include "runtime/numerics/quantize_one.h"

// The work of a tile function: a column of the kernel table.
typedef enum qdq_family {
    QDQ_FAMILY_QUANTIZE,
    QDQ_FAMILY_DEQUANTIZE,
    QDQ_FAMILY_REQUANTIZE,
    QDQ_FAMILY_CAST,
    QDQ_FAMILY_FIXED,          // Requantize by multiplier and shift
    QDQ_FAMILY_LOOKUP,         // to bytes
    QDQ_FAMILY_LOOKUP_HALVES,  // to float16, bfloat16
    QDQ_FAMILY_LOOKUP_WORDS,   // to float32
} qdq_family;

// Parameters of the tile functions of all quantizing ops. `range` belongs to y if y is an integer,
// else to x. The views are, in order: scale, zero point (a float with `float_zero_point`) and, with
// `scales_twice`, a scale of the scale. With `wide_scale` the first and third views are the high
// and low words of a float64 scale (runtime/numerics/quantize_wide.h). Requantize has the views of
// x, then the views of y. By multiplier and shift (`fixed`) it has multiplier, zero point of x,
// shift, zero point of y; with `rounding` in float64 the words of the scale, high and low, are in
// the place of multiplier and shift, in float32 the scale is in the place of the multiplier.
typedef struct qdq_quant_params {
    qdq_numerics numerics;
    qdq_dtype x_dtype, y_dtype;
    qdq_range range;
    bool adds_zero;  // float4 with a zero point (which is 0): -0 becomes +0
    bool float_zero_point;
    bool scales_twice, wide_scale;
    bool scale_is_inverse;  // the scale is 1 / s: runtime/tenstorrent/quantize_device.h
    // float8 with quant_min or quant_max: qdq_quantize_bounded. Without `adds_zero_point` a -0
    // stays.
    bool bounded, adds_zero_point;
    float low, high;
    bool fixed;
    qdq_fixed_rounding rounding;
} qdq_quant_params;

// Kernels with results of a byte multiply by 1 / s. They sum x / s, z + 1/2 and QDQ_NEAR_TIE, in
// parts of 2^-16, and compute an element anew if the lower half of its sum is less than 2 *
// QDQ_NEAR_TIE: ops/kernels/quantize/avx512_codes.inc.h says why.
enum { QDQ_NEAR_TIE = 3 };

// The same of kernels that requantize by multiplier and shift: ops/kernels/quantize/avx512_fixed.c.
enum { QDQ_FIXED_NEAR_SUM = 4 };

// True if no number that matters to them overflows or is denormal, and z is a byte of y.
static inline bool qdq_may_multiply(const qdq_quant_params *p, float s, int32_t z) {
    return s > 0x1p-60f && s < 0x1p60f && z >= p->range.least && z <= p->range.greatest;
}

// The range of some numbers: low <= 0 <= high, and `nan` if any of them is NaN. All zero: no
// numbers yet.
typedef struct qdq_block_range {
    float low, high;
    bool nan;
} qdq_block_range;

// Widens a range by n elements of a dtype.
typedef void qdq_range_fn(qdq_dtype dtype, const void *x, size_t n, qdq_block_range *range);

#endif
