// SPDX-License-Identifier: Apache-2.0
// Copies a graph with its images turned from [N, C, H, W] to [N, H, W, C], and its rows [N, C, W]
// to images [N, 1, W, C]. A value of the copy has the order of the graph, the turned order, or
// both: each is added when a node first reads it.
#ifndef QDQ_GRAPH_TRANSFORM_CHANNELS_LAST_TURNING_H
#define QDQ_GRAPH_TRANSFORM_CHANNELS_LAST_TURNING_H

#include "graph/core/graph.h"

enum { QDQ_ROW_RANK = 3, QDQ_IMAGE_RANK = 4 };

typedef struct qdq_turning {
    const qdq_graph *from;
    qdq_graph *to;
    qdq_value *plain;   // by value of `from`: in the order of the graph
    qdq_value *turned;  // [N, H, W, C]
    size_t *reader;  // by value of `from`: the node that alone reads it; SIZE_MAX: none, several,
                     // or an output of the graph
    bool *gone;      // by node of `from`: the node before it computes its result
    bool *folded;    // by node of `from`: the product behind it computes its result
    qdq_mempool mempool;
} qdq_turning;

// Returns the dim of a turned image that dim `i` of a value of rank 3 or 4 becomes.
static inline int qdq_turned_dim(int rank, int i) {
    if (i < 2) return i ? QDQ_IMAGE_RANK - 1 : 0;
    return rank == QDQ_ROW_RANK ? 2 : i - 1;
}

//---- Values (turn_values.c) -------------------------------------------------

// True if a value has rank 3 or 4 and is turned already, so that nodes that take either order turn.
bool qdq_is_turned(const qdq_turning *t, uint32_t id);
// Return a value in the order of the graph, and turned: with a reshape or a transpose if the copy
// has it only otherwise.
qdq_value qdq_plain_value(qdq_turning *t, uint32_t id);
qdq_value qdq_turned_value(qdq_turning *t, uint32_t id);
// Returns an operand of a node whose result has `rank` dims, turned as if it had dims of 1 in front
// up to that rank.
qdq_value qdq_turned_operand(qdq_turning *t, uint32_t id, int rank);
// Returns [N, C, H, W] of a value of rank 3 or 4.
qdq_shape qdq_turning_image(qdq_shape shape);
// Returns a name of the copy for something that belongs to a value or a node.
const char *qdq_turning_name(qdq_turning *t, const char *stem, const char *ending);
// True for a float32 constant; *data its elements.
bool qdq_turning_constant(const qdq_turning *t, uint32_t id, const float **data);

//---- Nodes ------------------------------------------------------------------

// Adds a node with other attributes and inputs. `last`: its results are turned.
void qdq_add_turned(qdq_turning *t, const qdq_node *node, void *attrs, const qdq_value *inputs,
                    bool last);
// Returns a copy of the attributes of a node, to change.
void *qdq_turned_attrs(qdq_turning *t, const qdq_node *node);

// Turns a node. False if it is none of the nodes that turn, or reads no turned value.
typedef bool qdq_turn_node(qdq_turning *t, const qdq_node *node);

qdq_turn_node qdq_turn_convolution, qdq_turn_pool, qdq_turn_interpolate;  // turn_windows.c
qdq_turn_node qdq_turn_elements, qdq_turn_concat, qdq_turn_slice, qdq_turn_pad, qdq_turn_mean,
    qdq_turn_softmax, qdq_turn_gather, qdq_turn_transpose,
    qdq_turn_reshape;                                                       // turn_nodes.c
qdq_turn_node qdq_turn_divide, qdq_turn_batch_norm, qdq_turn_hard_sigmoid;  // turn_composed.c
qdq_turn_node qdq_turn_matmul;  // turn_products.c: weights with rows of outputs

// turn_norms.c: returns the norm by constants that alone reads the result of a convolution;
// SIZE_MAX: there is none, or it does not fold. Adds weights and a bias that compute both.
size_t qdq_folded_norm(const qdq_turning *t, const qdq_node *node);
void qdq_fold_norm(qdq_turning *t, const qdq_node *node, const qdq_node *norm, qdq_value *weights,
                   qdq_value *bias);

// turn_products.c: true if the result of a norm by constants goes only to a product of matrices,
// which computes both.
bool qdq_norm_meets_product(const qdq_turning *t, const qdq_node *norm);

#endif
