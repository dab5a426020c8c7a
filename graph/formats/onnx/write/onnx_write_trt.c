// SPDX-License-Identifier: Apache-2.0
// Writes quantizing ops that ONNX lacks as ops of TensorRT's importer, for graphs of a target that
// has them, by the table that reads them (ops/onnx_trt.c).
#include <string.h>

#include "graph/core/target.h"
#include "graph/formats/onnx/onnx_tensor.h"
#include "graph/formats/onnx/write/onnx_writers.h"

// True if the graph's target reads ops of the domain.
static bool has_ops(const qdq_onnx_writer *w) {
    qdq_target_version version;
    qdq_error err = {0};
    return qdq_target_version_find(qdq_graph_target(w->draft->graph), &version, &err) &&
           version.target->onnx_domain &&
           strcmp(version.target->onnx_domain, QDQ_ONNX_TENSORRT) == 0;
}

// Finds the only dim with blocks of several elements. False if there is none, or several.
static bool find_block(qdq_onnx_writer *w, qdq_shape x, int *axis, int64_t *block) {
    qdq_ints group = qdq_onnx_given_ints(w, "group_shape");
    int dims = 0;
    for (int i = 0; i < x.rank && (size_t)i < group.count; i++) {
        int64_t extent = group.data[i] == -1 ? x.dims[i] : group.data[i];
        if (extent != 1) *axis = i, *block = extent, dims++;
    }
    return dims == 1;
}

static qdq_onnx_new_node *emit(qdq_onnx_writer *w, const qdq_onnx_trt_form *form, int axis,
                               int64_t block) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, form->name, QDQ_ONNX_LEAST_OPSET, NULL);
    qdq_onnx_set_domain(w, n, QDQ_ONNX_TENSORRT);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_int(w, n, "axis", axis);
    qdq_onnx_add_int(w, n, "block_size", block);
    return n;
}

// Adds the scale of the scales, a scalar or a constant 1.
static void add_global_scale(qdq_onnx_writer *w, qdq_onnx_new_node *n) {
    const qdq_floats *list = qdq_onnx_given_list(w, "global_scales");
    if (qdq_onnx_at_port(w, "global_scale"))
        qdq_onnx_add_port(w, n, "global_scale");
    else
        qdq_onnx_add_input(w, n,
                           qdq_onnx_new_fill(w, "global_scale", (qdq_type){QDQ_FLOAT32, {0}},
                                             list ? (double)list->data[0] : 1.0));
}

bool qdq_onnx_write_trt_dynamic(qdq_onnx_writer *w, const char *scheme) {
    qdq_dtype codes = qdq_onnx_result_type(w).dtype;
    const qdq_onnx_trt_form *form = qdq_onnx_trt_form_of("DynamicQuantize", codes, scheme);
    int axis = 0;
    int64_t block = 0;
    if (!form || !has_ops(w) || !find_block(w, qdq_onnx_result_type(w).shape, &axis, &block))
        return false;
    (void)qdq_onnx_given_word(w, "qtype"), (void)qdq_onnx_given_dtype(w, "dtype");
    (void)qdq_onnx_given_dtype(w, "scale_dtype");
    qdq_onnx_new_node *n = emit(w, form, axis, block);
    if (form->powers) {
        qdq_onnx_add_int(w, n, "output_dtype", qdq_onnx_elem_of(codes));
    } else {
        add_global_scale(w, n);
        qdq_onnx_add_int(w, n, "scale_type", ONNX_FLOAT8E4M3FN);
    }
    qdq_onnx_yield(w, n, 0);
    qdq_onnx_yield(w, n, 1);
    return true;
}

// Adds the scale; of a constant its codes as uint8, as TensorRT's importer takes them.
static void add_powers(qdq_onnx_writer *w, qdq_onnx_new_node *n, const qdq_graph_value *scale) {
    qdq_type type = {QDQ_UINT8, scale->type.shape};
    if (scale->kind == QDQ_VALUE_CONSTANT && scale->data)
        qdq_onnx_add_input(w, n, qdq_onnx_new_constant(w, "scale", type, scale->data));
    else
        qdq_onnx_add_port(w, n, "scale");
}

bool qdq_onnx_write_trt_dequantize(qdq_onnx_writer *w) {
    const qdq_graph_value *x = qdq_onnx_at_port(w, "x"), *scale = qdq_onnx_at_port(w, "scale");
    const qdq_onnx_trt_form *form = qdq_onnx_trt_form_of("Dequantize", x->type.dtype, NULL);
    int axis = 0;
    int64_t block = 0;
    if (!form || !scale || scale->type.dtype != QDQ_FLOAT8_E8M0 || !has_ops(w) ||
        !find_block(w, x->type.shape, &axis, &block))
        return false;
    (void)qdq_onnx_given_word(w, "qtype");
    qdq_onnx_new_node *n = emit(w, form, axis, block);
    add_powers(w, n, scale);
    qdq_onnx_add_int(w, n, "output_dtype", qdq_onnx_elem_of(qdq_onnx_given_dtype(w, "dtype")));
    qdq_onnx_yield(w, n, 0);
    return true;
}
