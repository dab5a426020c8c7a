// SPDX-License-Identifier: Apache-2.0
// The texts of graphs in a link, and graphs whose constants are left out.
#ifndef QDQ_TOOLS_LINK_STRUCTURE_H
#define QDQ_TOOLS_LINK_STRUCTURE_H

#include <qdq/exec.h>
#include <qdq/graph.h>
#include <qdq/tensor_file.h>

// Returns the text of a graph file without white space, from malloc. NULL with `err` set. Constants
// of more than 4096 elements are base64, or only named if they take more than LINK_TEXT_LIMIT.
char *structure_text(const qdq_graph *graph, qdq_error *err);

// Returns tensors as a .safetensors file in base64url with quotes, from malloc. NULL with `err`
// set.
char *structure_of_tensors(const qdq_tensor *tensors, size_t count, qdq_error *err);

// Returns the inputs of a plan, with these elements, as a .safetensors file in base64url with
// quotes, from malloc. NULL with `err` set.
char *structure_of_inputs(const qdq_plan *plan, void *const *inputs, qdq_error *err);

// Returns a copy of a text of structure_text, from malloc, in which constants of more than `most`
// characters are inputs, and *left_out is their number. NULL if memory runs out.
char *structure_without(const char *text, size_t most, size_t *left_out);

// True if the text names constants that are not in it.
bool structure_needs_file(const char *text);

#endif
