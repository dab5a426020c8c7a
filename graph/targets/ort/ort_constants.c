// SPDX-License-Identifier: Apache-2.0
// Constants in ONNX Runtime's optimizer: constants of a few elements with equal numbers become one,
// and constants that a node moves are moved when the model is loaded. Codes behind a Dequantize
// move with a Transpose only, and the Dequantize moves behind it.
#include <string.h>

#include "graph/targets/ort/ort_groups.h"

enum { MOST_SHARED = 8 };  // elements of a constant that is compared with others

static const qdq_graph_value *value_at(const qdq_rewriter *r, uint32_t id) {
    return &r->from->values[id];
}

//---- Equal constants ---------------------------------------------------------

bool ort_is_shared(const qdq_graph_value *v) {
    qdq_dtype dtype = v->type.dtype;
    return v->kind == QDQ_VALUE_CONSTANT && qdq_shape_count(v->type.shape) <= MOST_SHARED &&
           (dtype == QDQ_FLOAT32 || dtype == QDQ_FLOAT16 || dtype == QDQ_FLOAT64 ||
            dtype == QDQ_INT32 || dtype == QDQ_INT64);
}

bool ort_same_constant(const qdq_rewriter *r, uint32_t a, uint32_t b) {
    const qdq_graph_value *x = value_at(r, a), *y = value_at(r, b);
    if (a == b || !a || !b) return a == b;
    if (!ort_is_shared(x) || !ort_is_shared(y) || x->type.dtype != y->type.dtype ||
        !qdq_shape_equal(x->type.shape, y->type.shape))
        return false;
    size_t bytes = qdq_shape_count(x->type.shape) * qdq_dtype_size(x->type.dtype);
    const void *i = qdq_rewrite_data(r, a), *k = qdq_rewrite_data(r, b);
    return i && k && memcmp(i, k, bytes) == 0;
}
