// SPDX-License-Identifier: Apache-2.0
// Shapes for the inputs of a model with open dims: from --shape and --dim, and from the files of
// --input, the samples of --data or another graph.
#ifndef QDQ_TOOLS_IO_INPUT_SHAPES_H
#define QDQ_TOOLS_IO_INPUT_SHAPES_H

#include <qdq/graph.h>

typedef struct options options;

// Sets the shapes and dims of `out`. Reads files of arrays only if the graph is an ONNX model, and
// of a folder of samples only the first. False after a message; release in either case.
bool input_shapes_of(const options *opt, const char *graph, qdq_graph_options *out);
void input_shapes_release(qdq_graph_options *out);

#endif
