// SPDX-License-Identifier: Apache-2.0
// The state of reading a TensorFlow Lite model into a graph: its tensors, and the operator that is
// being converted.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_TFLITE_IMPORT_H
#define QDQ_GRAPH_FORMATS_TFLITE_TFLITE_IMPORT_H

#include "graph/core/held_constants.h"
#include "graph/formats/tflite/flat.h"

// The format's numbers for dtypes, of which qdq_tflite_dtype has the others.
enum { QDQ_TFLITE_STRING = 5, QDQ_TFLITE_RESOURCE = 13 };

// The order of dims in which constant weights are added to the graph.
typedef enum qdq_tflite_order {
    QDQ_TFLITE_AS_STORED,
    QDQ_TFLITE_CONV,       // [O, kh, kw, I] becomes [O, I, kh, kw]
    QDQ_TFLITE_DEPTHWISE,  // [1, kh, kw, C] becomes [C, 1, kh, kw]
    QDQ_TFLITE_ORDERS
} qdq_tflite_order;

// A tensor of the main subgraph. It is codes if it has a scale and is of a whole dtype.
typedef struct qdq_tflite_tensor {
    const char *name;      // in the graph: legal, and no other tensor has it
    const char *original;  // in the file, if that differs; NULL
    qdq_dtype dtype;       // none if the graph lacks it
    int type;              // the format's number for it
    int rank;              // of `shape`, before a check; may exceed 8
    qdq_shape shape;       // in the file; dims may be 0
    uint32_t open;         // a bit for each dim that the file leaves open
    uint64_t at, bytes;    // the elements of a constant in the file; 0 bytes: no constant
    const char *why_not;   // why nothing can read it; NULL
    const float *scales;   // none: not quantized
    const double *zps;     // one, or one for each scale
    size_t scale_count, zp_count;
    int axis;                              // of the scales, if there are several
    struct qdq_tflite_variable *variable;  // of a handle; NULL
    bool made;  // by an operator before, or an input; without `refs`: it was refused
    qdq_value refs[QDQ_TFLITE_ORDERS];  // in the graph, in each order; id 0: not yet added
} qdq_tflite_tensor;

typedef struct qdq_tflite_import {
    qdq_graph *graph;
    qdq_mempool *mempool;
    const qdq_graph_options *options;  // may be NULL
    qdq_flat *flat;
    const char *path;
    const qdq_held_file *held;  // the file, once a constant stays in it
    qdq_flat_list codes, buffers, subgraphs;
    qdq_tflite_tensor *tensors;
    size_t tensor_count;
    qdq_symbols *claimed;         // names of tensors -> 0
    unsigned renamed;             // values with another name than in the file
    qdq_symbols *variable_names;  // -> index
    struct qdq_tflite_variable **variables;
    size_t variable_count, variable_capacity;
    const struct qdq_tflite_end *end;  // where the model ends; NULL: at its outputs
    qdq_error *err;
} qdq_tflite_import;

// The operator that is being converted.
typedef struct qdq_tflite_node {
    qdq_tflite_import *im;
    const char *op;                         // "CONV_2D"
    qdq_flat_table options;                 // of the kind that the op has; else absent
    qdq_tflite_tensor **inputs, **outputs;  // NULL: not given
    size_t input_count, output_count;
    const char *name;  // of the node of the graph: its first output
    int activation;    // the format's number for a fused function
    bool refused;
} qdq_tflite_node;

// tflite_tensors.c

// Returns the dtype of the graph for the format's number; none if there is none.
qdq_dtype qdq_tflite_dtype(int64_t type);

// Reads the tensors of a subgraph.
qdq_status qdq_tflite_read_tensors(qdq_tflite_import *im, const qdq_flat_table *subgraph);

// Returns a name that is legal and not yet taken: `wanted`, if it is.
const char *qdq_tflite_free_name(qdq_tflite_import *im, const char *wanted);

// Reads the elements of a constant, each of less than a byte in a byte of its own.
qdq_status qdq_tflite_read_elements(qdq_tflite_import *im, const qdq_tflite_tensor *tensor,
                                    void *out);

// True if the tensor is codes.
static inline bool qdq_tflite_is_codes(const qdq_tflite_tensor *tensor) {
    return tensor->scale_count > 0 && !qdq_dtype_is_real(tensor->dtype);
}

// tflite_values.c

// Adds a finding that the operator cannot be converted: `port` or an option or NULL, FOUND, wanted
// WANTED.
void qdq_tflite_refuse(qdq_tflite_node *node, const char *port, const char *found,
                       const char *wanted);

// Text for findings.
#define TFLITE_TEXT(node, ...) qdq_text(&(node)->im->graph->findings, __VA_ARGS__)

// Returns the input, or NULL if it is not given.
static inline qdq_tflite_tensor *qdq_tflite_input(const qdq_tflite_node *node, size_t i) {
    return i < node->input_count ? node->inputs[i] : NULL;
}

// Returns a name for a helper of the node, "y/x".
const char *qdq_tflite_helper(qdq_tflite_node *node, const char *helper);

// Returns input i in the graph, a constant in another order; adds a constant at its first use. Id 0
// after a refusal.
qdq_value qdq_tflite_ref(qdq_tflite_node *node, size_t i, qdq_tflite_order order);

// Reads the whole numbers of constant input i. False after a refusal.
bool qdq_tflite_ints(qdq_tflite_node *node, size_t i, const char *port, size_t most, int64_t *out,
                     size_t *count);

// Binds output i of the operator to a value of the graph.
void qdq_tflite_bind(qdq_tflite_node *node, size_t i, qdq_value made);

#endif
