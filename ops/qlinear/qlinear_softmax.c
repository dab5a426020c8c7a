// SPDX-License-Identifier: Apache-2.0
// QLinearSoftmax. A unit is a row: the codes that a sum runs over. The exponentials of all 256
// distances from the greatest code of a row are a table.
#include "include/qdq/ops/qlinear.h"
#include "ops/chunks.h"
#include "ops/qlinear/qlinear.h"
#include "runtime/numerics/litert_softmax.h"

enum { X, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO, CODES = QDQ_QLINEAR_CODES, DEFAULT_AXIS = -1 };

typedef qdq_qlinear_softmax_attrs attrs;

static const qdq_port_desc inputs[] = {QDQ_QLINEAR_PORTS(attrs, x),
                                       QDQ_QLINEAR_SCALE_PORTS(attrs, y)};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_BYTES}};
static const qdq_attr_desc attr_descs[] = {
    {"axis", QDQ_ATTR_INT, offsetof(attrs, axis), NULL, "-1", "the dim of the sum"},
    {"flatten", QDQ_ATTR_BOOL, offsetof(attrs, flatten), NULL, "false",
     "the sum runs over all dims from axis on, as before opset 13 of ONNX"}};

static int64_t axis_of(const qdq_op_context *ctx) {
    const attrs *a = ctx->attrs;
    return a->axis.set != 0 ? a->axis.value : DEFAULT_AXIS;
}

static void infer(qdq_op_context *ctx) {
    qdq_check_axis(ctx, "axis", axis_of(ctx), ctx->inputs[X].type.shape.rank);
    qdq_qlinear_check(ctx, X_SCALE);
    qdq_qlinear_check(ctx, Y_SCALE);
    ctx->outputs[0] = ctx->inputs[X].type;
}

typedef qdq_qlinear_softmax_params softmax_params;

// Computes a row of x to a row of y.
static void one_row(const softmax_params *p, const float *table, float inverse, int32_t zero,
                    const uint8_t *x, uint8_t *y) {
    bool is_signed = p->dtype == QDQ_INT8;
    uint8_t flip = is_signed ? 0x80 : 0, greatest = 0;
    float sum = 0;
    for (size_t i = 0; i < p->length; i++) {
        uint8_t code = x[i * p->stride] ^ flip;
        if (code > greatest) greatest = code;
    }
    const float *shifted = table + (CODES - 1 - greatest);
    for (size_t i = 0; i < p->length; i++) sum += shifted[x[i * p->stride] ^ flip];
    for (size_t i = 0; i < p->length; i++) {
        float v = shifted[x[i * p->stride] ^ flip];
        y[i * p->stride] =
            (uint8_t)qdq_qlinear_softmax_one(p->form, is_signed, v, inverse, sum, zero);
    }
}

static void run_litert(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const softmax_params *p = params;
    qdq_qlinear_quant x = qdq_qlinear_read(&p->x, tensors), y = qdq_qlinear_read(&p->y, tensors);
    qdq_litert_softmax s = {.form = p->form,
                            .is_signed = p->dtype == QDQ_INT8,
                            .y_scale = y.scale,
                            .y_zero = y.zero_point};
    qdq_litert_softmax_begin(&s, x.scale);
    for (size_t row = begin; row < end; row++) {
        size_t at = row / p->stride * p->length * p->stride + row % p->stride;
        qdq_litert_softmax_row(&s, p->length, p->stride, (const uint8_t *)tensors->x[X] + at,
                               (uint8_t *)tensors->y[0] + at);
    }
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const softmax_params *p = params;
    qdq_qlinear_quant x = qdq_qlinear_read(&p->x, tensors), y = qdq_qlinear_read(&p->y, tensors);
    float table[CODES];
    qdq_qlinear_exponentials(x.scale, p->length, table);
    for (size_t row = begin; row < end; row++) {
        size_t at = row / p->stride * p->length * p->stride + row % p->stride;
        one_row(p, table, floorf(1.0f / y.scale), y.zero_point, (const uint8_t *)tensors->x[X] + at,
                (uint8_t *)tensors->y[0] + at);
    }
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const attrs *a = ctx->attrs;
    qdq_shape shape = ctx->inputs[X].type.shape;
    int64_t given = axis_of(ctx);
    int axis = (int)(given < 0 ? given + shape.rank : given);
    softmax_params *p = QDQ_MEMPOOL_NEW(to->mempool, softmax_params);
    if (!p) return 0;
    *p = (softmax_params){.dtype = ctx->outputs[0].dtype,
                          .form = to->numerics.qlinear,
                          .x = qdq_qlinear_source_of(ctx, X_SCALE),
                          .y = qdq_qlinear_source_of(ctx, Y_SCALE),
                          .length = (size_t)shape.dims[axis],
                          .stride = 1};
    for (int i = axis + 1; i < shape.rank; i++)
        *(a->flatten == QDQ_TRUE ? &p->length : &p->stride) *= (size_t)shape.dims[i];
    size_t count = qdq_shape_count(shape);
    bool litert = p->form >= QDQ_QLINEAR_LITERT;
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = litert ? run_litert : run,
                            .units = count / p->length,
                            .cost = 8 * count + 4096};
    return 1;
}

const qdq_op qdq_op_qlinear_softmax = {
    .name = "QLinearSoftmax",
    .summary = "y = softmax of codes, as ONNX Runtime's CPU kernels compute it",
    .attrs_size = sizeof(attrs),
    QDQ_OP_TABLES(inputs, outputs, attr_descs),
    .infer = infer,
    .lower = lower,
    .by_qlinear = true,
};
