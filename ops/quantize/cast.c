// SPDX-License-Identifier: Apache-2.0
// Cast: x as another dtype, as in ONNX Cast 25. docs/numerics.md has the rules.
#include "ops/kernels/kernel.h"
#include "ops/quantize/quant_params.h"

static const char *const round_modes[] = {"up", "down", "nearest", NULL};

static const qdq_port_desc inputs[] = {{"x", offsetof(qdq_cast_attrs, x), false, QDQ_SET_ALL}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_ALL}};
static const qdq_attr_desc attrs[] = {
    {"dtype", QDQ_ATTR_DTYPE, offsetof(qdq_cast_attrs, dtype), NULL, QDQ_REQUIRED, "of the result"},
    {"saturate", QDQ_ATTR_BOOL, offsetof(qdq_cast_attrs, saturate), NULL, "as the target does",
     "float8: clamp to the largest value, else NaN or infinity; float8_e8m0: clamp, else NaN"},
    {"round_mode", QDQ_ATTR_WORD, offsetof(qdq_cast_attrs, round_mode), round_modes, "up",
     "float8_e8m0: which power of two a number between two becomes"},
};

static void infer(qdq_op_context *ctx) {
    const qdq_cast_attrs *a = ctx->attrs;
    if (!a->dtype)
        qdq_report_violation(ctx, QDQ_RULE_DTYPE_REQUIRED, "dtype", "is missing", "the dtype of y");
    qdq_dtype y = a->dtype ? qdq_check_result(ctx, a->dtype, QDQ_SET_ALL) : QDQ_DTYPE_NONE;
    ctx->outputs[0] = (qdq_type){y, ctx->inputs[QDQ_PORT_X].type.shape};
}

// Values that are too large overflow if the attribute says so; in a cast to float8 without the
// attribute, if the numerics say so.
static qdq_float_overflow overflow_of(const qdq_cast_attrs *a, qdq_dtype y, const qdq_numerics *n) {
    bool reads = y != QDQ_FLOAT8_E8M0 || n->cast_form == QDQ_CAST_TORCH;
    bool by_default = n->float_overflow == QDQ_FLOAT_OVERFLOW && reads;
    bool overflows = a->saturate == QDQ_UNSET ? by_default : a->saturate == QDQ_FALSE;
    return overflows ? QDQ_FLOAT_OVERFLOW : QDQ_FLOAT_SATURATE;
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_cast_attrs *a = ctx->attrs;
    qdq_cast_params *params = QDQ_MEMPOOL_NEW(to->mempool, qdq_cast_params);
    if (!params) return 0;
    *params = (qdq_cast_params){.numerics = to->numerics,
                                .x_dtype = ctx->inputs[QDQ_PORT_X].type.dtype,
                                .y_dtype = ctx->outputs[0].dtype,
                                .round_mode = a->round_mode};
    params->numerics.float_overflow = overflow_of(a, params->y_dtype, &to->numerics);
    uint32_t portable = 1u << QDQ_ISA_PORTABLE;
    uint32_t isas = qdq_cast_drops_minus(params) ? portable : to->isas;
    stages[0] = (qdq_stage){
        .params = params,
        .fn = qdq_kernel_find(QDQ_FAMILY_CAST, params->x_dtype, params->y_dtype, NULL, isas),
    };
    return 1;
}

const qdq_op qdq_op_cast = {
    .name = "Cast",
    .summary = "y = x converted to another dtype",
    .attrs_size = sizeof(qdq_cast_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
    .by_target = true,
};
