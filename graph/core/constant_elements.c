// SPDX-License-Identifier: Apache-2.0
// The elements of constants, wherever they are.
#include <string.h>

#include "graph/core/held_constants.h"

bool qdq_graph_copy_elements(const qdq_graph_value *constant, void *out) {
    size_t bytes = qdq_shape_count(constant->type.shape) * qdq_dtype_size(constant->type.dtype);
    if (constant->stored) return constant->stored->read(constant->stored, 0, bytes, out);
    memcpy(out, constant->data, bytes);
    return true;
}

bool qdq_graph_load_value(qdq_graph *graph, qdq_graph_value *value) {
    size_t size = qdq_dtype_size(value->type.dtype);
    void *data = qdq_mempool_array(&graph->mempool, qdq_shape_count(value->type.shape), size);
    if (!data || !qdq_graph_copy_elements(value, data)) return false;
    value->data = data;
    value->stored = NULL;
    return true;
}
