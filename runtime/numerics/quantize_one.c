// SPDX-License-Identifier: Apache-2.0
// The clamp range of a quantizing op, and the check that a qdq_numerics is valid.
#include "runtime/numerics/quantize_one.h"

#include "runtime/base/error.h"
#include "runtime/base/profile.h"

qdq_range qdq_range_of(qdq_dtype dtype, const int64_t *quant_min, const int64_t *quant_max,
                       const qdq_numerics *numerics) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    qdq_range range = {info->least, info->greatest, info->least, info->greatest, 0};
    if (quant_min) range.quant_min = qdq_clamp_one(*quant_min, range.least, range.greatest);
    if (quant_max) range.quant_max = qdq_clamp_one(*quant_max, range.quant_min, range.greatest);
    if (numerics->narrow) {
        range.quant_min = qdq_clamp_one(numerics->quant_min, range.quant_min, range.quant_max);
        range.quant_max = qdq_clamp_one(numerics->quant_max, range.quant_min, range.quant_max);
    }
    return range;
}

//---- Checking ---------------------------------------------------------------

static qdq_status check_range(const char *name, int value, int first, int last, qdq_error *err) {
    if (value >= first && value <= last) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_ARGUMENT, "numerics: %s is %d, wanted %d to %d", name, value,
                    first, last);
}

static qdq_status check_enum(const char *name, int value, int last, qdq_error *err) {
    return check_range(name, value, 0, last, err);
}

static qdq_status check_float(const char *name, qdq_dtype dtype, qdq_error *err) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    if (dtype == QDQ_DTYPE_NONE || (info && info->kind == QDQ_KIND_FLOAT)) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_ARGUMENT, "numerics: %s is %d (%s), wanted none or a float dtype",
                    name, (int)dtype, qdq_dtype_name(dtype));
}

#define CHECK_ENUM(field, last) QDQ_TRY(check_enum(#field, (int)n->field, last, err))
#define CHECK_FLOAT(field) QDQ_TRY(check_float(#field, n->field, err))

// A field that only targets of the profile full set, and only its kernels know.
#define CHECK_FULL(field, last)                                                           \
    CHECK_ENUM(field, last);                                                              \
    QDQ_NOT_FULL(if (n->field) return qdq_fail(                                           \
        err, QDQ_ERR_UNSUPPORTED, "numerics: this build of qdq has no %s %d: %s", #field, \
        (int)n->field, QDQ_BUILD_WITH("-Dprofile=full")))

qdq_status qdq_numerics_check(const qdq_numerics *n, qdq_error *err) {
    CHECK_ENUM(rounding, QDQ_ROUND_HALF_UP_BIASED);
    CHECK_ENUM(scaling, QDQ_SCALE_DIVIDE_TO_ZERO);
    CHECK_ENUM(zero_point_order, QDQ_ZERO_POINT_AFTER_MAGIC);
    CHECK_ENUM(overflow, QDQ_OVERFLOW_FLOAT_RANGE);
    CHECK_ENUM(nan, QDQ_NAN_LOW_BITS);
    CHECK_ENUM(subtraction, QDQ_SUBTRACT_FLOAT);
    CHECK_ENUM(requantize_form, QDQ_REQUANTIZE_FIXED_SINGLE);
    CHECK_ENUM(bfloat16_store, QDQ_BFLOAT16_FLUSH);
    CHECK_ENUM(float_overflow, QDQ_FLOAT_THROUGH_FLOAT16);
    CHECK_ENUM(choice, QDQ_CHOOSE_ORT_ARM);
    CHECK_ENUM(multiply_add, QDQ_MULTIPLY_ADD_BLACKHOLE);
    QDQ_TRY(check_range("sfpu_generation", (int)n->sfpu_generation, QDQ_SFPU_2026_04,
                        QDQ_SFPU_AFTER_2026_10, err));
    CHECK_ENUM(bfloat16_load, QDQ_BFLOAT16_LOAD_DEVICE);
    CHECK_ENUM(cast_form, QDQ_CAST_ONEDNN);
    CHECK_ENUM(power_scale, QDQ_POWER_SCALE_ONE);
    CHECK_ENUM(block_float_store, QDQ_BLOCK_FLOAT_PRECISE);
    CHECK_FULL(float_ops, QDQ_FLOAT_OPS_ONEDNN);
    CHECK_FULL(pair_sums, QDQ_PAIR_SUMS_SATURATE);
    CHECK_ENUM(qlinear, QDQ_QLINEAR_LITERT_ARM);
    CHECK_FLOAT(input_dtype);
    CHECK_FLOAT(scale_dtype);
    CHECK_FLOAT(reciprocal_dtype);
    CHECK_FLOAT(middle_dtype);
    CHECK_FLOAT(quantize_step_dtype);
    CHECK_FLOAT(dequantize_step_dtype);
    CHECK_FLOAT(requantize_dtype);
    return QDQ_OK;
}
