// SPDX-License-Identifier: Apache-2.0
#include "runtime/numerics.h"

qdq_range qdq_range_of(qdq_dtype dtype, const int64_t *quant_min, const int64_t *quant_max,
                       const qdq_numerics *numerics) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    qdq_range range = {info->least, info->greatest, info->least, info->greatest};
    if (quant_min) range.quant_min = qdq_clamp_one(*quant_min, range.least, range.greatest);
    if (quant_max) range.quant_max = qdq_clamp_one(*quant_max, range.quant_min, range.greatest);
    if (numerics->narrow) {
        range.quant_min = qdq_clamp_one(numerics->quant_min, range.quant_min, range.quant_max);
        range.quant_max = qdq_clamp_one(numerics->quant_max, range.quant_min, range.quant_max);
    }
    return range;
}
