// SPDX-License-Identifier: Apache-2.0
// What a graph is: values and nodes in one pool. An edge is a value id in a node's operands.
#ifndef QDQ_GRAPH_GRAPH_H
#define QDQ_GRAPH_GRAPH_H

#include "graph/symbols.h"
#include "ops/op.h"

enum { QDQ_MAX_NAME_BYTES = 255, QDQ_MAX_INLINE_ELEMENTS = 4096 };

typedef enum qdq_value_kind { QDQ_VALUE_INPUT, QDQ_VALUE_CONSTANT, QDQ_VALUE_MADE } qdq_value_kind;

typedef struct qdq_graph_value {
    const char *name;
    qdq_value_kind kind;
    bool valid;  // its type is known and what makes it has no errors
    qdq_type type;
    const void *data;          // of a constant that is in memory
    const qdq_stored *stored;  // of one that is not
    size_t node;               // that makes it (QDQ_VALUE_MADE)
    size_t port;               // as which output
    size_t uses;               // by nodes and outputs
    bool constant;             // it is one, or is made of constants alone
    bool returned;             // it is an output
} qdq_graph_value;

typedef struct qdq_node {
    const qdq_op *op;
    const char *name;
    void *attrs;                        // the op's struct, arrays owned by the pool
    qdq_value *inputs;                  // as the op's ports; id 0: not connected
    size_t input_count;                 // more than ports where the last one is variadic
    uint32_t outputs[QDQ_MAX_OUTPUTS];  // value ids
    size_t output_count;
    bool valid;
} qdq_node;

typedef struct qdq_graph_output {
    const char *name;
    qdq_value value;
} qdq_graph_output;

struct qdq_graph {
    const qdq_allocator *allocator;
    qdq_mempool mempool;      // owns everything but the symbols
    qdq_mempool report_pool;  // owns what the last validation added
    qdq_logger log;
    qdq_limits limits;  // no zeros: defaults are filled in
    const char *name;
    const char *file;  // in front of messages; "" for graphs built in C
    const char *target;
    bool target_given;  // by the options: a file does not change it
    struct qdq_held_file
        *files;               // that constants are read from (graph/tensor_file/held_constants.h)
    qdq_error *failure;       // of reading them; NULL without files
    qdq_error broken;         // what no finding can hold: memory, colliding names
    qdq_symbols *symbols;     // name -> value id
    qdq_graph_value *values;  // [0] is no value
    size_t value_count, value_capacity;
    qdq_node *nodes;  // every node comes after those that make its inputs
    size_t node_count, node_capacity;
    qdq_graph_output *outputs;
    size_t output_count, output_capacity;
    size_t bytes;           // of inputs, outputs and constants, row-major
    qdq_findings findings;  // of building
    qdq_findings checked;   // of the last validation
    qdq_report report;
};

// The options' limits with defaults filled in.
qdq_limits qdq_limits_or_default(const qdq_limits *limits);

// Writes one line to the log of the graph's options.
void qdq_graph_tell(const qdq_graph *graph, const char *format, ...) QDQ_PRINTF(2, 3);

// Adds a finding of building.
void qdq_graph_report_core(qdq_graph *graph, qdq_core_rule rule, qdq_subject subject,
                           const char *found, const char *wanted);

// A value of unknown type that stands where something wrong was: checks that need it are skipped.
// `name` may be NULL.
qdq_value qdq_graph_add_invalid(qdq_graph *graph, const char *name);

// Whether a value is within the limits: legal dims, not too many elements, bytes that an address
// can count, in rows and in tiles. Else a finding.
bool qdq_graph_check_type(qdq_graph *graph, qdq_type type, qdq_subject subject);

// Counts what is stored whatever the plan: an input, an output or a constant. The one that brings
// all of them above the limit is a finding; from then on this returns false.
bool qdq_graph_charge(qdq_graph *graph, qdq_type type, qdq_subject subject);

// A legal dtype and shape for an input or a constant (`kind`), charged too; else findings.
bool qdq_graph_check_given(qdq_graph *graph, qdq_type type, const char *name, const char *kind);

// Data that is there, of elements that the dtype has; else a finding.
bool qdq_graph_check_data(qdq_graph *graph, const char *name, qdq_dtype dtype, const void *data,
                          size_t count);

// Adds a node; `attrs` is the op's whole struct.
qdq_value qdq_graph_add_node(qdq_graph *graph, const qdq_op *op, const void *attrs,
                             size_t attrs_size);

// Memory for the data of a new constant, zeroed, and the constant in *value. NULL if its type is
// refused (there is a finding then) or memory runs out.
void *qdq_graph_add_constant(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape,
                             qdq_value *value);

// A constant that is read when its elements are needed.
qdq_value qdq_graph_declare_constant(qdq_graph *graph, const char *name, qdq_type type,
                                     const qdq_stored *stored);

// The operands and results of a node as its op sees them.
void qdq_graph_context(const qdq_graph *graph, const qdq_node *node, qdq_findings *findings,
                       qdq_op_context *ctx);

// Node number `index` in *node, if there is one and it has no errors.
qdq_status qdq_graph_find_node(const qdq_graph *graph, size_t index, const qdq_node **node,
                               qdq_error *err);

// Counts a use that did not become an edge, by a node that could not be read.
void qdq_graph_note_use(qdq_graph *graph, qdq_value value);

#endif
