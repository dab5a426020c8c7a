// SPDX-License-Identifier: Apache-2.0
// The state of reading a model into a graph: its values, and the node that is being converted.
#ifndef QDQ_GRAPH_FORMATS_ONNX_ONNX_IMPORT_H
#define QDQ_GRAPH_FORMATS_ONNX_ONNX_IMPORT_H

#include "graph/core/graph.h"
#include "graph/formats/onnx/file/onnx_model.h"
#include "graph/formats/onnx/file/onnx_source.h"

enum {
    QDQ_ONNX_MOST_NUMBERS = 1 << 16,  // elements of a value that is computed while reading
    QDQ_ONNX_MOST_IN_ALL = 1 << 24,   // of all these values, and of the constants that they read
};

// A value of the model.
typedef struct qdq_onnx_value {
    const char *name;               // as in the file
    bool own;                       // a name of the main graph
    int elem;                       // qdq_onnx_elem; ONNX_UNDEFINED if its maker was refused
    qdq_shape shape;                // dims may be 0
    const char *why_not;            // why nothing can read it; NULL
    const qdq_onnx_tensor *tensor;  // where the elements of a constant are; NULL
    // The elements, if they are known and were needed; one of the two, by qdq_onnx_elem_is_real.
    const int64_t *ints;
    const double *reals;
    struct qdq_onnx_value *same;          // the constant that it is another name for; NULL
    qdq_value ref;                        // in the graph; id 0: not yet added
    size_t first;                         // of a part: where it begins in `tensor`
    struct qdq_onnx_value *parts, *next;  // parts that are constants; the next one
} qdq_onnx_value;

// A file that tensors lie in.
typedef struct qdq_onnx_file {
    const char *name;
    qdq_open_file open;
    const struct qdq_held_file *held;  // once a constant stays in it
} qdq_onnx_file;

typedef struct qdq_onnx_import {
    qdq_graph *graph;
    qdq_mempool *mempool;
    const qdq_graph_options *options;  // may be NULL
    const char *folder;                // of external data; NULL: none may be named
    qdq_onnx_source *source;
    qdq_onnx_model model;
    qdq_onnx_file own;      // the model's, if it is a file
    qdq_onnx_file **files;  // of external data
    size_t file_count, file_capacity;
    qdq_symbols *file_names;  // -> index
    // Names of the main graph's values, and the names that replace some: -> 0, or 1 + an index into
    // `others`.
    qdq_symbols *claimed;
    qdq_onnx_strings others;
    qdq_symbols *functions;  // "domain\nname\noverload" -> index
    size_t nodes;            // converted, functions and branches included
    size_t numbers;          // elements computed and read so far
    unsigned renamed;        // values with another name than in the file
    int depth;               // of functions and branches within each other
    bool has_cycle;          // nodes of the main graph that need each other were reported
    qdq_error *err;
} qdq_onnx_import;

// The node that is being converted.
typedef struct qdq_onnx_node {
    qdq_onnx_import *im;
    const qdq_onnx_proto *proto;
    int64_t opset;               // of its domain
    const qdq_onnx_attr *attrs;  // references to a function's attributes are resolved
    size_t attr_count;
    qdq_onnx_value **inputs;  // NULL: not given
    size_t input_count;
    qdq_onnx_value **outputs;  // NULL: not named
    size_t output_count;
    const char *name;  // of the node of the graph: its first output
    bool inner;        // in a function or a branch
    bool refused;
    bool stepwise;  // each node that stands for it is one operation of ONNX Runtime
    const char *unfolded;  // the budget that kept the node from being computed; NULL
} qdq_onnx_node;

// Adds a finding that the node cannot be converted: `port`, an attribute or NULL, FOUND, wanted
// WANTED.
void qdq_onnx_refuse(qdq_onnx_node *node, const char *port, const char *found, const char *wanted);
// The same with a hint.
void qdq_onnx_refuse_hint(qdq_onnx_node *node, const char *port, const char *found,
                          const char *wanted, const char *hint);

// Records dtypes and attributes of the node that its opset lacks.
void qdq_onnx_check_opset(qdq_onnx_node *node);

// Returns the limit of the nodes that are converted, and of the nodes that they become.
static inline size_t qdq_onnx_most_nodes(const qdq_onnx_import *im) {
    return im->graph->limits.json_values / 4;
}

// True if the graph may have `more` nodes; else reading ends with an error.
bool qdq_onnx_has_room(qdq_onnx_node *node, size_t more);

// Text for findings.
#define ONNX_TEXT(node, ...) qdq_text(&(node)->im->graph->findings, __VA_ARGS__)

// Returns the input, or NULL if it is not given.
static inline qdq_onnx_value *qdq_onnx_input(const qdq_onnx_node *node, size_t i) {
    return i < node->input_count ? node->inputs[i] : NULL;
}

// Return attributes; the defaults if the node has none of this name. Their type was checked.
const qdq_onnx_attr *qdq_onnx_attr_find(const qdq_onnx_node *node, const char *name);
int64_t qdq_onnx_int(const qdq_onnx_node *node, const char *name, int64_t otherwise);
double qdq_onnx_float(const qdq_onnx_node *node, const char *name, double otherwise);
const char *qdq_onnx_word(const qdq_onnx_node *node, const char *name, const char *otherwise);
// Sets *out to the list; false if there is none.
bool qdq_onnx_int_list(const qdq_onnx_node *node, const char *name, qdq_ints *out);

// Bind output i of the node to a value of the graph, another value, or numbers (one pointer is
// NULL). Outputs without a name are ignored.
void qdq_onnx_bind(qdq_onnx_node *node, size_t i, qdq_value made);
void qdq_onnx_alias(qdq_onnx_node *node, size_t i, qdq_onnx_value *value);
void qdq_onnx_bind_numbers(qdq_onnx_node *node, size_t i, int elem, qdq_shape shape,
                           const int64_t *ints, const double *reals);
// Returns a new value that is no output of a node: a constant of numbers.
qdq_onnx_value *qdq_onnx_new_value(qdq_onnx_import *im, const char *name);

// Returns the value in the graph; adds a constant at its first use. Refuses the node if it has a
// dtype that the graph lacks.
qdq_value qdq_onnx_ref(qdq_onnx_node *node, qdq_onnx_value *value);

// Returns the elements of a constant from `first` on as a constant of this shape, the same one
// whenever it is asked for. Id 0: the value is no constant, or the node is refused.
qdq_value qdq_onnx_constant_part(qdq_onnx_node *node, qdq_onnx_value *value, size_t first,
                                 qdq_shape shape);

// Reads the numbers of a small constant; false if it is not constant, large, or not of numbers.
bool qdq_onnx_known(qdq_onnx_import *im, qdq_onnx_value *value);
// Takes `count` numbers from the budget of all values; false if it has fewer.
bool qdq_onnx_take_numbers(qdq_onnx_import *im, size_t count);
// Returns the reason why the numbers of a value are not known, as in "which depends on inputs".
const char *qdq_onnx_why_unknown(const qdq_onnx_node *node, const qdq_onnx_value *value);
// Return number i of a known value.
int64_t qdq_onnx_int_at(const qdq_onnx_value *value, size_t i);
double qdq_onnx_real_at(const qdq_onnx_value *value, size_t i);

// Returns a name for a value of the graph that is legal and not yet taken: `wanted`, if it is. A
// name of the model is taken for everything but the value it is `own` to.
const char *qdq_onnx_free_name(qdq_onnx_import *im, const char *wanted, bool own);
// Takes the names of the main graph for its values, and replaces names that are not legal in a
// graph.
qdq_status qdq_onnx_claim_names(qdq_onnx_import *im);
// Returns the name in the graph of a value of the main graph.
const char *qdq_onnx_graph_name(const qdq_onnx_import *im, const char *name);
// True if `given`, by a user, is the name of a value in the model, `name`, or its name in the
// graph.
bool qdq_onnx_is_name(const qdq_onnx_import *im, const char *name, const char *given);
// Tells the graph the name that the model has for a value.
void qdq_onnx_note_original(const qdq_onnx_import *im, const qdq_onnx_value *value);

static inline size_t qdq_onnx_count(qdq_shape shape) {
    size_t count = 1;
    for (int i = 0; i < shape.rank; i++) count *= (size_t)shape.dims[i];
    return count;
}

#endif
