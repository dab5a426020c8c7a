// SPDX-License-Identifier: Apache-2.0
#include "ops/qlinear/qlinear.h"

void qdq_qlinear_check(const qdq_op_context *ctx, size_t scale) {
    qdq_check_one(ctx, scale);
    qdq_check_one(ctx, scale + 1);
    qdq_check_same_dtype(ctx, scale + 1);
}

qdq_qlinear_source qdq_qlinear_source_of(const qdq_op_context *ctx, size_t scale) {
    const qdq_operand *zero = &ctx->inputs[scale + 1];
    return (qdq_qlinear_source){.scale = scale,
                                .zero_point = scale + 1,
                                .scale_dtype = ctx->inputs[scale].type.dtype,
                                .zero_point_dtype =
                                    zero->given ? zero->type.dtype : QDQ_DTYPE_NONE};
}

qdq_qlinear_quant qdq_qlinear_read(const qdq_qlinear_source *source, const qdq_tensors *tensors) {
    qdq_qlinear_quant quant = {0};
    qdq_decode_float(source->scale_dtype, tensors->x[source->scale], &quant.scale, 1);
    if (source->zero_point_dtype) {
        const uint8_t *byte = tensors->x[source->zero_point];
        quant.zero_point = qdq_qlinear_code(source->zero_point_dtype == QDQ_INT8, *byte);
    }
    return quant;
}

qdq_qlinear_range qdq_qlinear_range_of(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return (qdq_qlinear_range){(int32_t)info->least, (int32_t)info->greatest};
}
