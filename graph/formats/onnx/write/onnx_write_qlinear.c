// SPDX-License-Identifier: Apache-2.0
// Writes the QLinear ops as nodes of com.microsoft. ONNX Runtime wants scalars, and every zero
// point.
#include <string.h>

#include "graph/formats/onnx/write/onnx_writers.h"

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), size = strlen(end);
    return length > size && strcmp(name + length - size, end) == 0;
}

// Returns scale or zero point `port`, as a scalar.
static const char *parameter(qdq_onnx_writer *w, const char *port) {
    const qdq_graph_value *v = qdq_onnx_at_port(w, port);
    const qdq_type zero = {qdq_onnx_result_type(w).dtype, {0}};
    if (!v) return qdq_onnx_new_fill(w, port, zero, 0);
    const char *name = qdq_onnx_port_name(w, port);
    return v->type.shape.rank ? qdq_onnx_with_shape(w, name, port, zero.shape) : name;
}

void qdq_onnx_qlinear_inputs(qdq_onnx_writer *w, const char **names) {
    const qdq_op *op = w->node->op;
    for (size_t i = 0; i < op->input_count; i++) {
        const char *port = op->inputs[i].name;
        bool number = ends_with(port, "_scale") || ends_with(port, "_zero_point");
        names[i] = number ? parameter(w, port) : qdq_onnx_port_name(w, port);
    }
}

void qdq_onnx_make_qlinear(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *const *names) {
    qdq_onnx_set_domain(w, n, QDQ_ONNX_MICROSOFT);
    for (size_t i = 0; i < w->node->op->input_count; i++) qdq_onnx_add_input(w, n, names[i]);
}

static qdq_onnx_new_node *emit(qdq_onnx_writer *w, const char *name) {
    const char *names[QDQ_MAX_PORTS] = {0};
    qdq_onnx_qlinear_inputs(w, names);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 1, NULL);
    qdq_onnx_make_qlinear(w, n, names);
    return n;
}

void qdq_onnx_write_qlinear(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_yield(w, emit(w, name), 0);
}

// The attribute opset decides if the dims from axis on are flattened.
void qdq_onnx_write_qlinear_softmax(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_new_node *n = emit(w, name);
    qdq_onnx_add_int(w, n, "axis", qdq_onnx_given_int(w, "axis"));
    qdq_onnx_add_int(w, n, "opset", qdq_onnx_given_bool(w, "flatten") ? 12 : 13);
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_qlinear_global_pool(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_channels c = qdq_onnx_find_channels(w);
    const char *names[QDQ_MAX_PORTS] = {0};
    qdq_onnx_qlinear_inputs(w, names);
    names[0] = qdq_onnx_first_channels(w, &c, names[0]);
    qdq_onnx_new_node *n = qdq_onnx_emit_channels(w, &c, name, 1);
    qdq_onnx_make_qlinear(w, n, names);
    qdq_onnx_add_int(w, n, "channels_last", 0);
    qdq_onnx_yield_channels(w, &c, n);
}
