// SPDX-License-Identifier: Apache-2.0
// One element of a chip's Quantize whose scale was inverted before: kernels with many elements for
// each scale invert it once.
#ifndef QDQ_RUNTIME_TENSTORRENT_QUANTIZE_DEVICE_H
#define QDQ_RUNTIME_TENSTORRENT_QUANTIZE_DEVICE_H

#include "runtime/numerics/quantize_one.h"

// True if Quantize with these numerics multiplies by the chip's 1 / s, and adds the zero point in
// the same instruction.
bool qdq_quantizes_by_chip_inverse(const qdq_numerics *n);

// Returns 1 / s.
float qdq_quantize_inverse(const qdq_numerics *n, float s);

// Computes qdq_quantize_one with 1 / s instead of s, for these numerics.
int32_t qdq_quantize_by_inverse(const qdq_numerics *n, float x, float inverse, int32_t z,
                                const qdq_range *range);

#endif
