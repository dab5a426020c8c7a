// SPDX-License-Identifier: Apache-2.0
#include "graph/targets/products.h"

#include <string.h>

#include "include/qdq/network.h"

enum { WEIGHTS = 1 };

static const char *port_of(const qdq_call *call, size_t input) {
    return qdq_op_port(call->op, input)->name;
}

// The attributes of the Dequantize that makes an input; NULL where none does.
static const qdq_quantize_attrs *dequantize_of(const qdq_call *call, size_t input) {
    const qdq_maker *maker = &call->inputs[input].maker;
    return maker->op && strcmp(maker->op->name, "Dequantize") == 0 ? maker->attrs : NULL;
}

// The dim of the output channels of the weights; -1 where they have none.
static int output_channels(const qdq_call *call) {
    int rank = call->inputs[WEIGHTS].type.shape.rank;
    if (qdq_call_is(call, "Convolution"))
        return ((const qdq_convolution_attrs *)call->attrs)->weights_format == QDQ_OIX ? 0
                                                                                       : rank - 1;
    if (qdq_call_is(call, "ConvTranspose"))
        return ((const qdq_conv_transpose_attrs *)call->attrs)->weights_format == QDQ_IOX
                   ? 1
                   : rank - 2;
    if (rank < 2) return -1;
    return ((const qdq_matmul_attrs *)call->attrs)->transpose_b == QDQ_TRUE ? rank - 2 : rank - 1;
}

void qdq_check_weight_axis(const qdq_call *call, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = dequantize_of(call, WEIGHTS);
    int wanted = output_channels(call);
    if (!a || a->qtype != QDQ_PER_CHANNEL || wanted < 0) return;
    int64_t axis = a->axis.set ? a->axis.value : 1;
    if (axis < 0) axis += call->inputs[WEIGHTS].type.shape.rank;
    if (axis != wanted)
        qdq_call_find_rule(
            call, rule, port_of(call, WEIGHTS),
            qdq_text(call->findings, "is dequantized along dim %lld", (long long)axis),
            qdq_text(call->findings, "dim %d, its output channels", wanted));
}

void qdq_check_both_dequantized(const qdq_call *call, const qdq_rule *rule, qdq_dtype_set set) {
    for (size_t i = 0; i <= WEIGHTS; i++) {
        size_t other = WEIGHTS - i;
        if (!dequantize_of(call, i) || !qdq_set_has(set, call->inputs[i].maker.x_dtype) ||
            call->inputs[other].maker.op)
            continue;
        qdq_call_find_rule(
            call, rule, port_of(call, other),
            qdq_text(call->findings, "is not quantized, and %s is", port_of(call, i)),
            "Quantize and Dequantize in front of both");
    }
}
