// SPDX-License-Identifier: Apache-2.0
// qdq_add_node, which adds a node of any op, and attributes shared by ops of several families.
#ifndef QDQ_OPS_NODE_H
#define QDQ_OPS_NODE_H

#include <qdq/values.h>

#ifdef __cplusplus
extern "C" {
#endif

// Adds a node and returns its first output. `op` is the name ("Quantize"), `attrs` the op's struct
// with all ports filled in, `attrs_size` its size (the smaller struct of an older version is fine:
// missing fields get their defaults). An unknown or NULL `op` and an unknown enumerator are
// findings. NULL `attrs` stands for a struct of zeros: nothing is connected.
QDQ_API qdq_value qdq_add_node(qdq_graph *graph, const char *op, const void *attrs,
                               size_t attrs_size);

// The position of the channels: [N, spatial..., C] or [N, C, spatial...].
typedef enum qdq_data_format { QDQ_NXC = 0, QDQ_NCX } qdq_data_format;

// How padding is chosen. NONE: pads_begin and pads_end give it. SAME: enough for ceil(in / stride)
// results; an odd element of padding goes to the end (UPPER) or to the beginning (LOWER). VALID: no
// padding.
typedef enum qdq_auto_pad {
    QDQ_PAD_NONE = 0,
    QDQ_PAD_SAME_UPPER,
    QDQ_PAD_SAME_LOWER,
    QDQ_PAD_VALID,
} qdq_auto_pad;

// An op with one float input and nothing to set.
typedef struct qdq_unary_attrs {
    const char *name;
    qdq_value x;
} qdq_unary_attrs;

#define QDQ_UNARY_CALL(call, op)                                                         \
    static inline qdq_value call(qdq_graph *graph, qdq_value x, qdq_unary_attrs attrs) { \
        attrs.x = x;                                                                     \
        return qdq_add_node(graph, op, &attrs, sizeof attrs);                            \
    }

#ifdef __cplusplus
}
#endif
#endif
