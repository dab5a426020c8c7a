// SPDX-License-Identifier: Apache-2.0
// An ONNX model in the making: nodes, constants and names. Writers of ops add to it, and the
// encoder reads it. Everything lies in the draft's mempool, which remembers that memory ran out:
// functions then return NULL or a node that is thrown away, and callers go on.
#ifndef QDQ_GRAPH_FORMATS_ONNX_WRITE_ONNX_DRAFT_H
#define QDQ_GRAPH_FORMATS_ONNX_WRITE_ONNX_DRAFT_H

#include "graph/core/free_sizes.h"
#include "graph/formats/onnx/file/onnx_model.h"

#define QDQ_ONNX_MICROSOFT "com.microsoft"  // the domain of ONNX Runtime's own ops

enum {
    QDQ_ONNX_LEAST_OPSET = 13,  // in which most ops have the form that is written
    QDQ_ONNX_DOMAINS = 2,       // other than ONNX's own
};

typedef struct qdq_onnx_new_node {
    const char *name, *op;
    const char *domain;  // NULL: ONNX's own
    qdq_onnx_strings inputs, outputs;
    qdq_onnx_attrs attrs;
    // Axes that become an input or an attribute when the opset is known.
    qdq_ints axes;
} qdq_onnx_new_node;

typedef struct qdq_onnx_constant {
    const char *name;
    qdq_type type;
    const qdq_graph_value *value;  // whose elements they are; NULL: `data`
    const void *data;
    const char *location;  // the file that the elements lie in, `bytes` from `at`; NULL: the model
    uint64_t at, bytes;
} qdq_onnx_constant;

// A value that the model declares.
typedef struct qdq_onnx_declared {
    const char *name;
    qdq_type type;
    const char *dims[QDQ_MAX_RANK];  // names of open dims, "" without a name; NULL: it has its size
} qdq_onnx_declared;

typedef ONNX_LIST(qdq_onnx_declared) qdq_onnx_declarations;

typedef struct qdq_onnx_draft {
    const qdq_graph *graph;
    qdq_mempool *mempool;
    qdq_findings *findings;
    ONNX_LIST(qdq_onnx_new_node *) nodes;
    ONNX_LIST(qdq_onnx_constant) constants;
    qdq_onnx_declarations inputs, outputs, others;
    const char **names;                // of the graph's values, by id
    bool *read;                        // constants of the graph that a node or output reads, by id
    qdq_symbols *taken, *taken_nodes;  // all names of values, and of nodes
    unsigned renamed;
    int opset;  // the least opset that has all that was written so far
    const char
        *domains[QDQ_ONNX_DOMAINS];  // of nodes that are not ONNX's own, without gaps; NULL: none
    bool open[QDQ_MOST_FREE];        // sizes that the model leaves open
    const char *fixed_by[QDQ_MOST_FREE];  // why another one has to be fixed; NULL: it need not
    const char *sizes[QDQ_MOST_FREE];     // values that hold an open size, [1]; NULL: none reads it
    qdq_onnx_new_node spare;              // stands for a new node when memory has run out
} qdq_onnx_draft;

// Takes a name for a value: `wanted`, or one like it that is free.
const char *qdq_onnx_take_name(qdq_onnx_draft *draft, const char *wanted);
// The same for a node.
const char *qdq_onnx_take_node_name(qdq_onnx_draft *draft, const char *wanted);
// Creates the sets of names, and destroys them. False with `err` set when memory runs out.
bool qdq_onnx_open_names(qdq_onnx_draft *draft, qdq_error *err);
void qdq_onnx_close_names(qdq_onnx_draft *draft);
// Names all values of the graph. False if memory runs out.
bool qdq_onnx_name_values(qdq_onnx_draft *draft);

// The node that is being written.
typedef struct qdq_onnx_writer {
    qdq_onnx_draft *draft;
    const qdq_node *node;
    uint64_t ports, attrs;  // bits of the ports and attributes that the writer has read
    bool refused;
} qdq_onnx_writer;

// Reports that the node cannot be written: `port`, an attribute or NULL, FOUND, wanted WANTED;
// HINT.
void qdq_onnx_cannot(qdq_onnx_writer *w, const char *port, const char *found, const char *wanted,
                     const char *hint);
#define WRITE_TEXT(w, ...) qdq_text((w)->draft->findings, __VA_ARGS__)

//---- The node of the graph --------------------------------------------------

// Returns the value that is connected to a port, or NULL.
const qdq_graph_value *qdq_onnx_at_port(qdq_onnx_writer *w, const char *port);
// Returns its name, or NULL.
const char *qdq_onnx_port_name(qdq_onnx_writer *w, const char *port);
// Returns the name of the value at input i of the node, or NULL.
const char *qdq_onnx_input_name(qdq_onnx_writer *w, size_t i);
qdq_type qdq_onnx_result_type(const qdq_onnx_writer *w);  // of the first output

// Return attributes; for an absent attribute the default of the op, or the last argument.
bool qdq_onnx_has(qdq_onnx_writer *w, const char *attr);
int64_t qdq_onnx_given_int(qdq_onnx_writer *w, const char *attr);
double qdq_onnx_given_real(qdq_onnx_writer *w, const char *attr, double otherwise);
bool qdq_onnx_given_bool(qdq_onnx_writer *w, const char *attr);
const char *qdq_onnx_given_word(qdq_onnx_writer *w, const char *attr);  // NULL: none, no default
qdq_dtype qdq_onnx_given_dtype(qdq_onnx_writer *w, const char *attr);
qdq_ints qdq_onnx_given_ints(qdq_onnx_writer *w, const char *attr);
// QDQ_ATTR_FLOATS or QDQ_ATTR_NUMBERS; NULL: not given.
const void *qdq_onnx_given_list(qdq_onnx_writer *w, const char *attr);

//---- The node of the model --------------------------------------------------

// Adds a node of ONNX's op, which the model has from opset `since` on. The last node for a node of
// the graph has its name (`helper` NULL), others "y/helper".
qdq_onnx_new_node *qdq_onnx_emit(qdq_onnx_writer *w, const char *op, int since, const char *helper);
void qdq_onnx_need_opset(qdq_onnx_draft *draft, int since);
// Makes a node an op of another domain.
void qdq_onnx_set_domain(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *domain);
// Adds an input; NULL: an absent one.
void qdq_onnx_add_input(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *input);
void qdq_onnx_add_port(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *port);
// Add an output: output `port` of the graph's node, or a value of the model alone, whose name is
// returned.
void qdq_onnx_yield(qdq_onnx_writer *w, qdq_onnx_new_node *n, size_t port);
const char *qdq_onnx_part(qdq_onnx_writer *w, qdq_onnx_new_node *n);

void qdq_onnx_add_int(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *attr, int64_t number);
void qdq_onnx_add_real(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *attr, double number);
void qdq_onnx_add_word(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *attr,
                       const char *word);
void qdq_onnx_add_ints(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *attr, qdq_ints list);

// Add constants, named "y/helper"; return their names.
const char *qdq_onnx_new_constant(qdq_onnx_writer *w, const char *helper, qdq_type type,
                                  const void *data);
const char *qdq_onnx_new_ints(qdq_onnx_writer *w, const char *helper, qdq_ints list);
const char *qdq_onnx_new_int(qdq_onnx_writer *w, const char *helper, int64_t number);  // a scalar
// Adds a list of sizes: a constant, or nodes that compute it if it has open sizes. `free` NULL:
// it has none.
const char *qdq_onnx_new_sizes(qdq_onnx_writer *w, const char *helper, qdq_ints list,
                               const qdq_size_list *free);
// Adds a constant whose elements are all `number`.
const char *qdq_onnx_new_fill(qdq_onnx_writer *w, const char *helper, qdq_type type, double number);

// True if a constant repeats its elements as often as an open size says.
bool qdq_onnx_repeats(const qdq_onnx_draft *draft, const qdq_graph_value *v);
// Adds nodes that compute these constants.
void qdq_onnx_repeat_elements(qdq_onnx_draft *draft);

// Add a node that gives `x` other dims, or its dims another order; return its result's name.
const char *qdq_onnx_with_shape(qdq_onnx_writer *w, const char *x, const char *helper,
                                qdq_shape shape);
const char *qdq_onnx_with_order(qdq_onnx_writer *w, const char *x, const char *helper,
                                const int64_t *order, int rank);

#endif
