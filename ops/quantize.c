// SPDX-License-Identifier: Apache-2.0
// Quantize: y = clamp(round(x / scale) + zero_point).
#include "ops/kernels/kernel.h"

static const qdq_port_desc inputs[] = {
    QDQ_QUANTIZE_PORTS(qdq_quantize_attrs, , QDQ_SET_REALS | QDQ_SET(INT32))};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_QUANTIZED}};
static const qdq_attr_desc attrs[] = {QDQ_QUANTIZE_ATTRS(qdq_quantize_attrs, , "int8")};

static void infer(qdq_call *call) {
    const qdq_quantize_attrs *a = call->attrs;
    qdq_dtype y = qdq_check_result(call, a->dtype ? a->dtype : QDQ_INT8, QDQ_SET_QUANTIZED);
    qdq_infer_given(call, a, y, y);
}

static size_t lower(const qdq_call *call, const qdq_lowering *to, qdq_stage *stages) {
    return qdq_lower_given(call, call->attrs, QDQ_FAMILY_QUANTIZE, to, &stages[0]) ? 1 : 0;
}

const qdq_op qdq_op_quantize = {
    .name = "Quantize",
    .summary = "y = clamp(round(x / scale) + zero_point)",
    .attrs_size = sizeof(qdq_quantize_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
};
