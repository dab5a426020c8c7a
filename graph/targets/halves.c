// SPDX-License-Identifier: Apache-2.0
#include "graph/targets/halves.h"

#include <string.h>

#include "ops/quantize/quant_params.h"

enum { SCALE_PORTS = 1, PORTS_OF_HALF = 2 };  // of Requantize: x, then both ports of each half

static size_t count_of(const qdq_operand *port, size_t attr_count) {
    return port->given ? qdq_shape_count(port->type.shape) : attr_count;
}

static void set_attrs(const qdq_requantize_attrs *a, bool quantizes, qdq_half *half) {
    half->attrs = (qdq_quantize_attrs){
        .axis = a->axis,
        .scales = quantizes ? a->out_scales : a->in_scales,
        .zps = quantizes ? a->out_zps : a->in_zps,
        .dtype = half->ctx.outputs[0].dtype,
    };
    if (quantizes) half->attrs.quant_min = a->quant_min, half->attrs.quant_max = a->quant_max;
    size_t scales = count_of(&half->ctx.inputs[QDQ_PORT_SCALE], half->attrs.scales.count);
    size_t zeros = count_of(&half->ctx.inputs[QDQ_PORT_ZERO_POINT], half->attrs.zps.count);
    if (scales > 1 || zeros > 1) half->attrs.qtype = QDQ_PER_CHANNEL;
}

void qdq_half_of(const qdq_op_context *ctx, bool quantizes, qdq_half *half) {
    qdq_op_context *c = &half->ctx;
    memset(c, 0, offsetof(qdq_op_context, inputs) + QDQ_MAX_PORTS * sizeof c->inputs[0]);
    size_t ports = SCALE_PORTS + (quantizes ? PORTS_OF_HALF : 0);
    qdq_type between = {QDQ_FLOAT32, ctx->inputs[QDQ_PORT_X].type.shape};
    c->op = qdq_op_find(quantizes ? "Quantize" : "Dequantize");
    c->half = quantizes ? "out_" : "in_";
    c->whole = ctx->op;
    c->node = ctx->node;
    c->attrs = &half->attrs;
    c->findings = ctx->findings;
    c->input_count = c->op->input_count;
    c->output_count = 1;
    c->outputs[0] = quantizes ? ctx->outputs[0] : between;
    c->returned = quantizes && ctx->returned;
    c->inputs[QDQ_PORT_X] = ctx->inputs[QDQ_PORT_X];
    if (quantizes)
        c->inputs[QDQ_PORT_X] = (qdq_operand){.given = true,
                                              .valid = true,
                                              .type = between,
                                              .constant = ctx->inputs[QDQ_PORT_X].constant};
    c->inputs[QDQ_PORT_SCALE] = ctx->inputs[ports];
    c->inputs[QDQ_PORT_ZERO_POINT] = ctx->inputs[ports + 1];
    set_attrs(ctx->attrs, quantizes, half);
}
