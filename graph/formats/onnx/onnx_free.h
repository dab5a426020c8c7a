// SPDX-License-Identifier: Apache-2.0
#ifndef QDQ_GRAPH_FORMATS_ONNX_ONNX_FREE_H
#define QDQ_GRAPH_FORMATS_ONNX_ONNX_FREE_H

#include "graph/core/free_sizes.h"
#include "graph/formats/onnx/onnx_import.h"
#include "graph/formats/onnx/onnx_read.h"

// Finds the sizes that the graph leaves free, by reading the model again with other sizes. The
// model of `im` was read without errors.
qdq_status qdq_onnx_find_free_sizes(qdq_onnx_import *im, const qdq_onnx_bytes *bytes);

// The graph and the graphs of the other trials, which are compared.
typedef struct qdq_onnx_trials {
    qdq_onnx_import *im;
    const qdq_onnx_bytes *bytes;
    const qdq_graph *graphs[QDQ_FREE_TRIALS];
    qdq_free_size *sizes;
    size_t count;
    bool open[QDQ_MOST_FREE];  // sizes that change
    // Lists of nodes and constants, by number.
    const qdq_size_list **of_nodes, **of_constants;
    const char *why;  // the end of a sentence: why the graphs do not fit each other
} qdq_onnx_trials;

// Returns a size in a trial.
static inline int64_t qdq_onnx_size_in(const qdq_onnx_trials *t, size_t index, int trial) {
    return qdq_free_size_in(t->graphs[0], index, t->open[index] ? trial : 0);
}

// True if the graphs of all trials differ in types and lists alone, with the lists in *t; else
// t->why tells the difference.
bool qdq_onnx_same_graphs(qdq_onnx_trials *t);

#endif
