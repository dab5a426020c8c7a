// SPDX-License-Identifier: Apache-2.0
// The quantizing ops of TensorRT's importer, of the domain trt, and their conversion. Q and DQ ops
// are ONNX's with the dtype of the codes in their names; DynamicQuantize ops compute a scale for
// each block. Writers of models read the same table (write/onnx_write_trt.c).
#include <string.h>

#include "graph/formats/onnx/ops/onnx_ops.h"
#include "runtime/numerics/small_float.h"

static const qdq_onnx_trt_form forms[] = {
    {"TRT_FP8QuantizeLinear", "Quantize", QDQ_FLOAT8_E4M3FN, NULL, 0, false},
    {"TRT_FP8DequantizeLinear", "Dequantize", QDQ_FLOAT8_E4M3FN, NULL, 0, false},
    {"TRT_INT4QuantizeLinear", "Quantize", QDQ_INT4, NULL, 0, false},
    {"TRT_INT4DequantizeLinear", "Dequantize", QDQ_INT4, NULL, 0, false},
    {"TRT_MXFP8DequantizeLinear", "Dequantize", QDQ_FLOAT8_E4M3FN, NULL, 32, true},
    {"TRT_FP4DynamicQuantize", "DynamicQuantize", QDQ_FLOAT4_E2M1, "nvfp4", 16, false},
    {"TRT_MXFP8DynamicQuantize", "DynamicQuantize", QDQ_FLOAT8_E4M3FN, "mx_rceil", 32, true},
};

enum { FORMS = sizeof forms / sizeof forms[0] };

const qdq_onnx_trt_form *qdq_onnx_trt_form_of(const char *ours, qdq_dtype codes,
                                              const char *scheme) {
    for (size_t i = 0; i < FORMS; i++) {
        const qdq_onnx_trt_form *f = &forms[i];
        bool same = scheme ? f->scheme && strcmp(f->scheme, scheme) == 0 : f->powers;
        if (strcmp(f->ours, ours) == 0 && f->codes == codes && same) return f;
    }
    return NULL;
}

// Returns the form of a node, whose op has a row in the table of ops.
static const qdq_onnx_trt_form *form_of(const qdq_onnx_node *node) {
    size_t i = 0;
    while (i + 1 < FORMS && strcmp(forms[i].name, node->proto->op) != 0) i++;
    return &forms[i];
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

// Sets the numbers of a constant to the powers of two that its codes mean. False if memory runs
// out.
static bool decode_powers(qdq_onnx_import *im, const qdq_onnx_value *codes, qdq_onnx_value *out) {
    size_t count = qdq_onnx_count(codes->shape);
    double *reals = qdq_mempool_array(im->mempool, count, sizeof *reals);
    for (size_t i = 0; reals && i < count; i++)
        reals[i] = (double)qdq_float8_e8m0_decode((uint8_t)codes->ints[i]);
    out->reals = reals;
    return reals != NULL;
}

// Returns the scale: uint8 of a constant are codes of float8_e8m0 where the op has these scales.
// NULL: the node is refused.
static qdq_onnx_value *scale_of(qdq_onnx_node *node, const qdq_onnx_trt_form *form) {
    qdq_onnx_value *given = node->inputs[1], *value = given;
    if (qdq_onnx_elem_is_real(given->elem)) return given;
    while (value->same) value = value->same;
    bool codes = form->powers && given->elem == ONNX_UINT8;
    if (!codes || (!value->tensor && !value->ints)) {
        qdq_onnx_refuse(node, "scale", ONNX_TEXT(node, "is %s", qdq_onnx_elem_name(given->elem)),
                        form->powers ? "float8_e8m0, or constant uint8 with its codes"
                                     : "a float dtype");
        return NULL;
    }
    qdq_onnx_value *made = qdq_onnx_new_value(node->im, ONNX_TEXT(node, "%s/scale", node->name));
    qdq_onnx_tensor *tensor = QDQ_MEMPOOL_NEW(node->im->mempool, qdq_onnx_tensor);
    if (!made || !tensor) return NULL;
    made->elem = ONNX_FLOAT8E8M0, made->shape = value->shape, made->first = value->first;
    if (!value->tensor) return decode_powers(node->im, value, made) ? made : NULL;
    *tensor = *value->tensor;
    tensor->elem = ONNX_FLOAT8E8M0;
    made->tensor = tensor;
    return made;
}

// Adds a Quantize or Dequantize with a given scale.
static void convert_pair(qdq_onnx_node *node, const qdq_onnx_op *row, qdq_dtype made) {
    const qdq_onnx_trt_form *form = form_of(node);
    qdq_onnx_value *scale = scale_of(node, form);
    qdq_onnx_call call;
    if (!scale) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    if (!set_granularity(&call, qdq_onnx_int(node, "block_size", form->block))) return;
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_port(&call, "scale", scale);
    qdq_onnx_set_dtype(&call, "dtype", made);
    qdq_onnx_finish(&call);
}

void qdq_onnx_trt_quantize(qdq_onnx_node *node, const qdq_onnx_op *row) {
    convert_pair(node, row, form_of(node)->codes);
}

void qdq_onnx_trt_dequantize(qdq_onnx_node *node, const qdq_onnx_op *row) {
    int64_t asked = qdq_onnx_int(node, "output_dtype", 0);
    int of_scale = form_of(node)->powers ? ONNX_FLOAT : node->inputs[1]->elem;
    convert_pair(node, row, qdq_onnx_dtype(asked ? (int)asked : of_scale));
}

// FP4: the scale of the scales is the second input.
void qdq_onnx_trt_dynamic_quantize(qdq_onnx_node *node, const qdq_onnx_op *row) {
    const qdq_onnx_trt_form *form = form_of(node);
    qdq_onnx_value *x = node->inputs[0], *global = qdq_onnx_input(node, 1);
    int axis;
    qdq_onnx_call call;
    if (!qdq_onnx_axis(node, qdq_onnx_int(node, "axis", -1), x->shape.rank, &axis)) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", x);
    if (global) qdq_onnx_port(&call, "global_scale", global);
    set_group(&call, x->shape, axis, qdq_onnx_int(node, "block_size", form->block));
    qdq_onnx_set_word(&call, "scheme", form->scheme);
    qdq_onnx_set_dtype(&call, "dtype", form->codes);
    qdq_value made = qdq_onnx_end(&call);
    qdq_onnx_bind(node, 0, made);
    qdq_onnx_bind(node, 1, qdq_port(node->im->graph, made, "scale"));
}
