// SPDX-License-Identifier: Apache-2.0
// One node of a graph as a graph file in memory, whose attributes and parameters can be changed.
#ifndef QDQ_TOOLS_EXPLAIN_NODE_DOCUMENT_H
#define QDQ_TOOLS_EXPLAIN_NODE_DOCUMENT_H

#include "tools/lab/explain/variant.h"

typedef struct node_document node_document;

// Writes the node to a file of `folder`, and reads it. NULL with `err` set.
node_document *document_open(const replay *r, size_t node, const char *folder, qdq_error *err);
void document_close(node_document *d);

const replay *document_replay(const node_document *d);
size_t document_node(const node_document *d);
const char *document_op(const node_document *d);
// The number of an op's input port; SIZE_MAX if the op has none of this name.
size_t document_port(const node_document *d, const char *port);
// The value at a port; no value if nothing is connected.
qdq_value document_value(const node_document *d, const char *port);
// The elements at a port, as numbers, of elements_take; NULL if nothing is connected.
double *document_port_numbers(const node_document *d, const char *port, size_t *count);
// The numbers of an attribute, of elements_take; NULL if it is not given.
double *document_attr_numbers(const node_document *d, const char *attr, size_t *count);
// The word of an attribute; "" if it is not given.
const char *document_attr_word(const node_document *d, const char *attr);

// Changes that are collected until document_take.
void document_begin(node_document *d);
// Gives an attribute numbers, in place of the port that it stands for (NULL: there is none).
bool document_set_attr(node_document *d, const char *attr, const char *instead_of,
                       const double *values, size_t count);
bool document_set_flag(node_document *d, const char *attr, bool value);
// Gives a port other numbers, as many as it has.
bool document_set_port(node_document *d, const char *port, const double *values, size_t count);
// Exchanges what two ports are connected to.
bool document_swap(node_document *d, const char *port, const char *other);
void document_drop_attr(node_document *d, const char *attr);
// Makes a port, counted as qdq_graph_node_input counts, a constant.
bool document_set_constant(node_document *d, size_t port, qdq_dtype dtype, qdq_shape shape,
                           const double *values, size_t count);
// The name of the first output.
const char *document_output(const node_document *d);
// The text of the changed document for a target, from malloc.
char *document_text(const node_document *d, const char *target);
// Makes a variant of the changes, valid until the next document_begin. False without memory.
bool document_take(node_document *d, variant *out);

#endif
