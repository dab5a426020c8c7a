// SPDX-License-Identifier: Apache-2.0
// Converts the quantizing ops of TensorRT's importer, of the domain trt. Q and DQ ops are ONNX's
// with the dtype of the codes in their names; DynamicQuantize ops compute a scale for each block.
#include <string.h>

#include "graph/formats/onnx/ops/onnx_ops.h"

// Returns the dtype of codes that the name of an op has: TRT_FP8QuantizeLinear.
static qdq_dtype codes_of(const qdq_onnx_node *node) {
    bool eight = strstr(node->proto->op, "FP8") != NULL;
    return eight ? QDQ_FLOAT8_E4M3FN : QDQ_INT4;
}

static void set_group(qdq_onnx_call *call, qdq_shape x, int axis, int64_t block) {
    int64_t group[QDQ_MAX_RANK];
    for (int i = 0; i < x.rank; i++) group[i] = i == axis ? block : 1;
    qdq_onnx_set_word(call, "qtype", "per_group");
    qdq_onnx_set_ints(call, "group_shape", group, (size_t)x.rank);
}

// Sets the qtype by the shape of the scale: one for x, one for each channel, or one for each block.
static bool set_granularity(qdq_onnx_call *call, int64_t block) {
    qdq_onnx_node *node = call->node;
    qdq_shape x = node->inputs[0]->shape, scale = node->inputs[1]->shape;
    int axis;
    if (qdq_onnx_count(scale) == 1) return true;
    if (!qdq_onnx_axis(node, qdq_onnx_int(node, "axis", block ? -1 : 1), x.rank, &axis))
        return false;
    if (block) {
        set_group(call, x, axis, block);
        return true;
    }
    qdq_onnx_set_word(call, "qtype", "per_channel");
    qdq_onnx_set_int(call, "axis", axis);
    return true;
}

// Refuses parameters whose codes are stored as bytes of another dtype.
static bool is_real(qdq_onnx_node *node, size_t i, const char *port) {
    if (qdq_onnx_elem_is_real(node->inputs[i]->elem)) return true;
    qdq_onnx_refuse(node, port, ONNX_TEXT(node, "is %s", qdq_onnx_elem_name(node->inputs[i]->elem)),
                    "a float dtype, as opset 24 has float8_e8m0");
    return false;
}

void qdq_onnx_trt_quantize(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_call call;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    if (!set_granularity(&call, qdq_onnx_int(node, "block_size", 0))) return;
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_port(&call, "scale", node->inputs[1]);
    qdq_onnx_set_dtype(&call, "dtype", codes_of(node));
    qdq_onnx_finish(&call);
}

void qdq_onnx_trt_dequantize(qdq_onnx_node *node, const qdq_onnx_op *row) {
    bool powers = strstr(node->proto->op, "MXFP8") != NULL;
    int64_t asked = qdq_onnx_int(node, "output_dtype", 0);
    int elem = asked ? (int)asked : powers ? ONNX_FLOAT : node->inputs[1]->elem;
    qdq_onnx_call call;
    if (!is_real(node, 1, "scale")) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    if (!set_granularity(&call, qdq_onnx_int(node, "block_size", powers ? 32 : 0))) return;
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_port(&call, "scale", node->inputs[1]);
    qdq_onnx_set_dtype(&call, "dtype", qdq_onnx_dtype(elem));
    qdq_onnx_finish(&call);
}

// FP4: the scale of the scales is the second input. MXFP8: scales are powers of two.
void qdq_onnx_trt_dynamic_quantize(qdq_onnx_node *node, const qdq_onnx_op *row) {
    bool powers = strstr(node->proto->op, "MXFP8") != NULL;
    qdq_onnx_value *x = node->inputs[0], *global = qdq_onnx_input(node, 1);
    int axis;
    qdq_onnx_call call;
    if (!qdq_onnx_axis(node, qdq_onnx_int(node, "axis", -1), x->shape.rank, &axis)) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", x);
    if (global) qdq_onnx_port(&call, "global_scale", global);
    set_group(&call, x->shape, axis, qdq_onnx_int(node, "block_size", powers ? 32 : 16));
    qdq_onnx_set_word(&call, "scheme", powers ? "mx_rceil" : "nvfp4");
    qdq_onnx_set_dtype(&call, "dtype", powers ? QDQ_FLOAT8_E4M3FN : QDQ_FLOAT4_E2M1);
    qdq_value made = qdq_onnx_end(&call);
    qdq_onnx_bind(node, 0, made);
    qdq_onnx_bind(node, 1, qdq_port(node->im->graph, made, "scale"));
}
