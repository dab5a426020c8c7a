// SPDX-License-Identifier: Apache-2.0
// Tensors of a TensorFlow Lite model as values of the graph: constants at their first use, weights
// in the order of dims of our convolutions, and numbers that options are taken from.
#include <stdio.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/tflite/tflite_import.h"
#include "include/qdq/ops.h"
#include "runtime/base/error.h"
#include "runtime/numerics/dtype.h"

void qdq_tflite_refuse(qdq_tflite_node *node, const char *port, const char *found,
                       const char *wanted) {
    node->refused = true;
    qdq_report_add(&node->im->graph->findings, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED],
                   (qdq_subject){.node = node->name, .op = node->op, .port = port}, found, wanted,
                   "docs/tflite.md lists what is read");
}

const char *qdq_tflite_helper(qdq_tflite_node *node, const char *helper) {
    size_t size = strlen(node->name) + strlen(helper) + 2;
    char *name = qdq_mempool_array(node->im->mempool, size, 1);
    if (!name) return NULL;
    snprintf(name, size, "%s/%s", node->name, helper);
    return qdq_tflite_free_name(node->im, name);
}

//---- Constants --------------------------------------------------------------

// Moves elements of `size` bytes from [A, B, C] order to the order of the graph: the last dim comes
// before the dims in the middle.
static void turn(const unsigned char *from, size_t outer, size_t middle, size_t last, size_t size,
                 unsigned char *to) {
    for (size_t o = 0; o < outer; o++)
        for (size_t m = 0; m < middle; m++)
            for (size_t l = 0; l < last; l++)
                memcpy(to + ((o * last + l) * middle + m) * size,
                       from + ((o * middle + m) * last + l) * size, size);
}

// True if the graph can read the elements from the file when it needs them.
static bool may_stay(const qdq_tflite_import *im, const qdq_tflite_tensor *tensor,
                     qdq_tflite_order order) {
    return !im->flat->memory && order == QDQ_TFLITE_AS_STORED && tensor->dtype != QDQ_BOOL &&
           qdq_shape_count(tensor->shape) > QDQ_MAX_INLINE_ELEMENTS;
}

static qdq_value hold(qdq_tflite_import *im, const char *name, const qdq_tflite_tensor *tensor) {
    const qdq_type type = {tensor->dtype, tensor->shape};
    if (!im->held) im->held = qdq_hold_file(im->graph, im->flat->file, im->path, im->err);
    if (!im->held) return (qdq_value){0};
    return qdq_dtype_get(tensor->dtype)->bits < 8
               ? qdq_graph_add_packed(im->graph, name, type, im->held, tensor->at, 0)
               : qdq_graph_add_held(im->graph, name, type, im->held, tensor->at);
}

// Returns the shape of weights of rank 4 in an order.
static qdq_shape turned_shape(qdq_shape s, qdq_tflite_order order) {
    if (order == QDQ_TFLITE_CONV)
        return (qdq_shape){4, {s.dims[0], s.dims[3], s.dims[1], s.dims[2]}};
    if (order == QDQ_TFLITE_DEPTHWISE) return (qdq_shape){4, {s.dims[3], 1, s.dims[1], s.dims[2]}};
    return s;
}

static qdq_value add_constant(qdq_tflite_import *im, const char *name,
                              const qdq_tflite_tensor *tensor, qdq_tflite_order order) {
    qdq_value made = {0};
    if (may_stay(im, tensor, order)) return hold(im, name, tensor);
    qdq_shape shape = turned_shape(tensor->shape, order);
    size_t count = qdq_shape_count(shape), size = qdq_dtype_size(tensor->dtype);
    void *memory = qdq_graph_add_constant(im->graph, name, tensor->dtype, shape, &made);
    if (!memory) return made;
    if (order == QDQ_TFLITE_AS_STORED) {
        qdq_tflite_read_elements(im, tensor, memory);
        return made;
    }
    unsigned char *stored = qdq_mempool_uncleared(im->mempool, count, size);
    if (!stored) {
        qdq_fail_memory(im->err, count * size);
        return made;
    }
    const int64_t *dims = tensor->shape.dims;
    if (qdq_tflite_read_elements(im, tensor, stored) == QDQ_OK)
        turn(stored, (size_t)dims[0], (size_t)(dims[1] * dims[2]), (size_t)dims[3], size, memory);
    return made;
}

static void note_original(const qdq_tflite_import *im, const qdq_tflite_tensor *tensor,
                          qdq_value made) {
    if (tensor->original && made.id && !im->graph->mempool.failed &&
        !im->graph->values[made.id].original)
        qdq_graph_set_original(im->graph, made, tensor->original);
}

//---- Inputs of an operator --------------------------------------------------

// Turns weights that are computed by a StaticTranspose.
static qdq_value turn_value(qdq_tflite_node *node, qdq_value weights, qdq_tflite_order order) {
    static const int64_t conv[] = {0, 3, 1, 2}, depthwise[] = {3, 0, 1, 2};
    return qdq_transpose(
        node->im->graph, weights,
        (qdq_transpose_attrs){.name = qdq_tflite_helper(node, "weights"),
                              .order = {order == QDQ_TFLITE_CONV ? conv : depthwise, 4}});
}

qdq_value qdq_tflite_ref(qdq_tflite_node *node, size_t i, qdq_tflite_order order) {
    qdq_tflite_import *im = node->im;
    qdq_tflite_tensor *tensor = qdq_tflite_input(node, i);
    if (!tensor || node->refused) return (qdq_value){0};
    if (tensor->refs[order].id) return tensor->refs[order];
    qdq_value stored = tensor->refs[QDQ_TFLITE_AS_STORED];
    if (tensor->made || !tensor->bytes) {
        if (stored.id) tensor->refs[order] = turn_value(node, stored, order);
        return tensor->refs[order];
    }
    bool named = false;
    for (int o = 0; o < QDQ_TFLITE_ORDERS; o++) named = named || tensor->refs[o].id;
    const char *name = named ? qdq_tflite_helper(node, "weights") : tensor->name;
    tensor->refs[order] = add_constant(im, name, tensor, order);
    if (!named) note_original(im, tensor, tensor->refs[order]);
    return tensor->refs[order];
}

bool qdq_tflite_ints(qdq_tflite_node *node, size_t i, const char *port, size_t most, int64_t *out,
                     size_t *count) {
    const qdq_tflite_tensor *tensor = qdq_tflite_input(node, i);
    bool whole = tensor && (tensor->dtype == QDQ_INT32 || tensor->dtype == QDQ_INT64);
    size_t elements = tensor ? qdq_shape_count(tensor->shape) : 0;
    if (!whole || tensor->made || (elements && !tensor->bytes) || tensor->why_not) {
        qdq_tflite_refuse(node, port, "is no constant of int32 or int64", NULL);
        return false;
    }
    if (elements > most) {
        qdq_tflite_refuse(node, port, TFLITE_TEXT(node, "has %zu elements", elements),
                          TFLITE_TEXT(node, "at most %zu", most));
        return false;
    }
    *count = elements;
    qdq_flat_list list = {tensor->at, elements};
    for (size_t k = 0; k < elements; k++)
        out[k] = qdq_flat_int_at(node->im->flat, list, k,
                                 tensor->dtype == QDQ_INT32 ? QDQ_FLAT_I32 : QDQ_FLAT_I64);
    return !node->im->err->status;
}

void qdq_tflite_bind(qdq_tflite_node *node, size_t i, qdq_value made) {
    qdq_tflite_tensor *out = i < node->output_count ? node->outputs[i] : NULL;
    if (!out || node->refused) return;
    out->refs[QDQ_TFLITE_AS_STORED] = made;
    note_original(node->im, out, made);
}
