// SPDX-License-Identifier: Apache-2.0
// A node of a graph as a graph file in memory, whose attributes and parameters can be changed.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_NODE_DOCUMENT_H
#define QDQ_TOOLS_LAB_EXPLAIN_NODE_DOCUMENT_H

#include "tools/lab/explain/variant.h"

typedef struct node_document node_document;

// Opens a node by writing it to a file in `folder` and reading it. NULL with `err` set.
node_document *document_open(const replay *r, size_t node, const char *folder, qdq_error *err);
void document_close(node_document *d);

const replay *document_replay(const node_document *d);
size_t document_node(const node_document *d);
const char *document_op(const node_document *d);
// Returns the index of an input port of the op; SIZE_MAX if it has no port of this name.
size_t document_port(const node_document *d, const char *port);
// Returns the value at a port; no value if nothing is connected.
qdq_value document_value(const node_document *d, const char *port);
// Returns the elements at a port as numbers of elements_take; NULL if nothing is connected.
double *document_port_numbers(const node_document *d, const char *port, size_t *count);
// Returns the numbers of an attribute from elements_take; NULL if it is not given.
double *document_attr_numbers(const node_document *d, const char *attr, size_t *count);
// Returns the word of an attribute, or its default; "" if the op has no such attribute.
const char *document_attr_word(const node_document *d, const char *attr);

// Begins a new set of changes, which document_take turns into a variant.
void document_begin(node_document *d);
// Sets the numbers of an attribute, and disconnects the port that it replaces (NULL: none).
bool document_set_attr(node_document *d, const char *attr, const char *instead_of,
                       const double *values, size_t count);
bool document_set_flag(node_document *d, const char *attr, bool value);
// Replaces the numbers at a port by as many other numbers.
bool document_set_port(node_document *d, const char *port, const double *values, size_t count);
// Connects a new input to a port. document_put takes ownership of the elements, of elements_take.
bool document_put(node_document *d, const char *port, qdq_dtype dtype, qdq_shape shape, void *data);
bool document_put_numbers(node_document *d, const char *port, qdq_dtype dtype, qdq_shape shape,
                          const double *values);
void document_drop_port(node_document *d, const char *port);
bool document_set_op(node_document *d, const char *op);
// Turns the node into one that returns the value at a port, whose dtype is given.
bool document_pass(node_document *d, const char *port, qdq_dtype dtype);
bool document_set_word(node_document *d, const char *attr, const char *word);
bool document_set_list(node_document *d, const char *attr, const double *values, size_t count);
// Pads the value at a port by another node: `count` pads before and after each dim, as Pad has
// them. It is the last change.
bool document_pad_port(node_document *d, const char *port, const double *pads, size_t count,
                       double value);
// Exchanges the connections of two ports.
bool document_swap(node_document *d, const char *port, const char *other);
void document_drop_attr(node_document *d, const char *attr);
// Connects a constant to a port, counted as qdq_graph_node_input counts.
bool document_set_constant(node_document *d, size_t port, qdq_dtype dtype, qdq_shape shape,
                           const double *values, size_t count);
// Returns the name of the first output.
const char *document_output(const node_document *d);
// Returns the text of the changed document for a target, from malloc.
char *document_text(const node_document *d, const char *target);
// Sets `out` to a variant with the changes, valid until the next document_begin. False if memory
// runs out.
bool document_take(node_document *d, variant *out);

#endif
