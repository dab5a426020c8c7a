// SPDX-License-Identifier: Apache-2.0
// Quantizing a graph: codes in place of float values where nodes read them. Which values get codes,
// and their scales, is the caller's choice; `qdq quantize` chooses for a target (docs/float_to_int8.md).
#ifndef QDQ_CODING_H
#define QDQ_CODING_H

#include <qdq/ops/quantize.h>

#ifdef __cplusplus
extern "C" {
#endif

// An input port of a node, by their numbers in the graph.
typedef struct qdq_node_port {
    size_t node, port;
} qdq_node_port;

// How a float value becomes codes where nodes read it. All pointers belong to the caller.
typedef struct qdq_coding {
    qdq_value value;  // float32, float16 or bfloat16
    // The codes of a constant, qdq_shape_count elements of attrs.dtype, which take its place. NULL:
    // a Quantize node makes them.
    const void *codes;
    // The attributes of the Quantize, and of the Dequantize that reads it and makes the dtype of
    // `value`. Parameters are numbers (`scales`, `zps`); `name` and the ports are ignored.
    qdq_quantize_attrs attrs;
    const qdq_node_port *readers;  // the ports that read the Dequantize; each reads `value` now
    size_t reader_count;
} qdq_coding;

// A new graph in which the readers of each coding read a Dequantize of codes. Other readers, and
// outputs of the graph, read the value itself. Names stay; a new node is called after the value
// ("x_quantized", "x_dequantized", with a number if that name is taken). Returns NULL with `err`
// set: QDQ_ERR_ARGUMENT if a coding does not fit the graph, QDQ_ERR_GRAPH if `graph` has errors, or
// memory runs out (also for a NULL graph).
QDQ_API qdq_graph *qdq_graph_quantized(qdq_graph *graph, const qdq_coding *codings, size_t count,
                                       qdq_error *err);

#ifdef __cplusplus
}
#endif
#endif
