// SPDX-License-Identifier: Apache-2.0
// Writes ops that move elements. Shapes and axes, which are attributes here, become constants.
#include <string.h>

#include "graph/formats/onnx/onnx_tensor.h"
#include "graph/formats/onnx/write/onnx_writers.h"
#include "runtime/numerics/dtype.h"

void qdq_onnx_write_concat(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, NULL);
    for (size_t i = 0; i < w->node->input_count; i++)
        qdq_onnx_add_input(w, n, qdq_onnx_input_name(w, i));
    qdq_onnx_add_int(w, n, "axis", qdq_onnx_given_int(w, "axis"));
    qdq_onnx_yield(w, n, 0);
}

// Writes a node with x and a constant list.
static void write_list(qdq_onnx_writer *w, const char *name, const char *helper, qdq_ints list) {
    const char *numbers = qdq_onnx_new_sizes(w, helper, list, w->node->free_list);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, numbers);
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_reshape(qdq_onnx_writer *w, const char *name) {
    qdq_shape shape = qdq_onnx_result_type(w).shape;
    qdq_ints given = qdq_onnx_given_ints(w, "shape");
    (void)qdq_onnx_given_bool(w, "special_zero");
    write_list(w, name, "shape",
               w->node->free_list ? given : (qdq_ints){shape.dims, (size_t)shape.rank});
}

void qdq_onnx_write_expand(qdq_onnx_writer *w, const char *name) {
    write_list(w, name, "shape", qdq_onnx_given_ints(w, "shape"));
}

void qdq_onnx_write_tile(qdq_onnx_writer *w, const char *name) {
    write_list(w, name, "repeats", qdq_onnx_given_ints(w, "repeats"));
}

void qdq_onnx_write_identity(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Identity", 13, NULL);
    (void)name;
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_transpose(qdq_onnx_writer *w, const char *name) {
    qdq_ints order = qdq_onnx_given_ints(w, "order");
    int rank = qdq_onnx_at_port(w, "x")->type.shape.rank;
    int64_t perm[QDQ_MAX_RANK];
    if (rank == 0) {
        qdq_onnx_write_identity(w, name);
        return;
    }
    for (int i = 0; i < rank; i++) {
        perm[i] = order.count ? order.data[i] : rank - 1 - i;
        if (perm[i] < 0) perm[i] += rank;
    }
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_ints(w, n, "perm", (qdq_ints){perm, (size_t)rank});
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_slice(qdq_onnx_writer *w, const char *name) {
    static const char *const lists[] = {"starts", "ends", "axes", "steps"};
    qdq_ints axes = qdq_onnx_given_ints(w, "axes"), steps = qdq_onnx_given_ints(w, "steps");
    size_t count = steps.count ? 4 : axes.count ? 3 : 2;
    const char *constants[4] = {NULL};
    for (size_t i = 0; i < count; i++) {
        qdq_ints list = qdq_onnx_given_ints(w, lists[i]);
        const qdq_size_list *free = i == 1 ? w->node->free_list : NULL;
        if (list.count) constants[i] = qdq_onnx_new_sizes(w, lists[i], list, free);
    }
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, NULL);
    qdq_onnx_add_port(w, n, "x");
    for (size_t i = 0; i < count; i++) qdq_onnx_add_input(w, n, constants[i]);
    qdq_onnx_yield(w, n, 0);
}

// Writes pads for all dims, so that opsets before 18 have them.
void qdq_onnx_write_pad(qdq_onnx_writer *w, const char *name) {
    qdq_ints pads = qdq_onnx_given_ints(w, "pads"), axes = qdq_onnx_given_ints(w, "axes");
    const char *mode = qdq_onnx_given_word(w, "mode"), *value = qdq_onnx_port_name(w, "value");
    const qdq_graph_value *element = qdq_onnx_at_port(w, "value");
    int rank = qdq_onnx_at_port(w, "x")->type.shape.rank;
    int64_t all[2 * QDQ_MAX_RANK] = {0};
    size_t count = pads.count / 2;
    for (size_t i = 0; i < count; i++) {
        int64_t dim = axes.count ? axes.data[i] : (int64_t)i;
        if (dim < 0) dim += rank;
        all[dim] = pads.data[i];
        all[rank + dim] = pads.data[count + i];
    }
    const char *list = qdq_onnx_new_ints(w, "pads", (qdq_ints){all, 2 * (size_t)rank});
    if (element && element->type.shape.rank > 0)
        value = qdq_onnx_with_shape(w, value, "value", (qdq_shape){0});
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, strcmp(mode, "wrap") == 0 ? 19 : 13, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, list);
    if (value) qdq_onnx_add_input(w, n, value);
    qdq_onnx_add_word(w, n, "mode", mode);
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_trilu(qdq_onnx_writer *w, const char *name) {
    const char *k = qdq_onnx_new_int(w, "k", qdq_onnx_given_int(w, "k"));
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 14, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, k);
    qdq_onnx_add_int(w, n, "upper", qdq_onnx_given_bool(w, "upper"));
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_eye_like(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 9, NULL);
    (void)qdq_onnx_given_dtype(w, "dtype");
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_int(w, n, "dtype", qdq_onnx_elem_of(qdq_onnx_result_type(w).dtype));
    qdq_onnx_add_int(w, n, "k", qdq_onnx_given_int(w, "k"));
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_one_hot(qdq_onnx_writer *w, const char *name) {
    // ONNX Runtime has kernels for a depth of the dtype of the indices.
    qdq_type scalar = {qdq_onnx_at_port(w, "indices")->type.dtype, {0}};
    const char *depth =
        qdq_onnx_new_fill(w, "depth", scalar, (double)qdq_onnx_given_int(w, "depth"));
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 11, NULL);
    qdq_onnx_add_port(w, n, "indices");
    qdq_onnx_add_input(w, n, depth);
    qdq_onnx_add_port(w, n, "values");
    qdq_onnx_add_int(w, n, "axis", qdq_onnx_given_int(w, "axis"));
    qdq_onnx_yield(w, n, 0);
}

// Writes ScatterElements and ScatterND; later opsets added the reductions one by one.
void qdq_onnx_write_scatter(qdq_onnx_writer *w, const char *name) {
    const char *how = qdq_onnx_given_word(w, "reduction");
    bool most = strcmp(how, "max") == 0 || strcmp(how, "min") == 0, none = !strcmp(how, "none");
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, none ? 13 : most ? 18 : 16, NULL);
    for (size_t i = 0; i < w->node->input_count; i++)
        qdq_onnx_add_input(w, n, qdq_onnx_input_name(w, i));
    if (qdq_onnx_has(w, "axis")) qdq_onnx_add_int(w, n, "axis", qdq_onnx_given_int(w, "axis"));
    if (!none) qdq_onnx_add_word(w, n, "reduction", how);
    qdq_onnx_yield(w, n, 0);
}
