// SPDX-License-Identifier: Apache-2.0
// Shapes for the inputs of a model with open dims: from --shape and --dim, and from the files of
// --input or from another graph.
#ifndef QDQ_TOOLS_IO_INPUT_SHAPES_H
#define QDQ_TOOLS_IO_INPUT_SHAPES_H

#include <qdq/graph.h>

typedef struct load_options load_options;
typedef struct string_list string_list;

// Sets the shapes and dims of `out`. Reads the files of `inputs` only if the graph is an ONNX
// model. False after a message; release in either case.
bool input_shapes_of(const load_options *load, const string_list *inputs, const char *graph,
                     qdq_graph_options *out);
void input_shapes_release(qdq_graph_options *out);

#endif
