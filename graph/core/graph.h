// SPDX-License-Identifier: Apache-2.0
// The graph: values and nodes in one memory pool. A node refers to its inputs by value id.
#ifndef QDQ_GRAPH_CORE_GRAPH_H
#define QDQ_GRAPH_CORE_GRAPH_H

#include "graph/core/symbols.h"
#include "ops/op.h"

enum { QDQ_MAX_NAME_BYTES = 255, QDQ_MAX_INLINE_ELEMENTS = 4096 };

typedef enum qdq_value_kind { QDQ_VALUE_INPUT, QDQ_VALUE_CONSTANT, QDQ_VALUE_MADE } qdq_value_kind;

typedef struct qdq_graph_value {
    const char *name;
    const char *original;  // in the file that it was read from; NULL: `name`
    qdq_value_kind kind;
    bool valid;  // its type is known, and its maker has no errors
    qdq_type type;
    const void *data;          // elements of a constant in memory
    const qdq_stored *stored;  // elements of a constant that is still in its file
    size_t node;               // index of its producer (QDQ_VALUE_MADE)
    size_t port;               // which output of that node it is
    size_t uses;               // how many nodes and outputs read it
    bool constant;             // a constant, or computed from constants alone
    bool folded;               // the backend computes it before a run, and keeps a constant
    bool returned;             // an output of the graph
    const struct qdq_size_list *free_dims;  // of a constant that repeats elements; NULL: fixed
    // offset added to its codes; 0 if there is no source.
    uint32_t source;
    int32_t source_offset;
} qdq_graph_value;

typedef struct qdq_node {
    const qdq_op *op;
    const char *name;
    const char *original;     // its name in the file that it was read from; NULL: unknown
    const char *part_of;      // without `original`: the node of the file that it is a part of; NULL
    const char *original_op;  // op in an ONNX model that it was read from, "Flatten"; NULL: unknown
    int64_t block_size;  // in that model, where one block may exceed the dim; 0: none, or unknown
    void *attrs;         // the op's attribute struct; the pool owns its arrays
    qdq_value *inputs;   // in the order of the op's ports; id 0: not connected
    size_t input_count;  // exceeds the number of ports if the last port is variadic
    uint32_t outputs[QDQ_MAX_OUTPUTS];  // value ids
    size_t output_count;
    // The list attribute that holds sizes ("shape", "ends"), for every size that is left free.
    // NULL: the attribute itself.
    const struct qdq_size_list *free_list;
    bool expanded;      // one of several nodes that stand for `original_op`, or for an Einsum
    bool names_dtype;   // it has output_dtype in the ONNX model
    bool inferred;      // the op filled in attributes, a qtype
    bool dtype_filled;  // the graph's own target filled in `dtype`
    bool dtype_kept;    // `dtype` is the core's default, written because the graph has two targets
    bool valid;
} qdq_node;

typedef struct qdq_graph_output {
    const char *name;
    const char *original;  // in the file that it was read from; NULL: `name`
    qdq_value value;
} qdq_graph_output;

// A dtype or an attribute of a node in a model that its opset lacks.
typedef struct qdq_newer {
    qdq_subject subject;
    const char *found, *wanted;
    struct qdq_newer *next;
} qdq_newer;

struct qdq_graph {
    const qdq_allocator *allocator;
    qdq_mempool mempool;      // owns everything except the symbols
    qdq_mempool report_pool;  // owns the findings of the last validation
    qdq_logger log;
    qdq_limits limits;  // with defaults filled in, never 0
    const char *name;
    const char *file;  // prefix of messages; "" for graphs built in C
    const char *target;
    // The target that the file names (core if it names none), or the options of a graph without a
    // file. Nodes that name no dtype have its defaults.
    const char *own_target;
    const struct qdq_target *own;  // its description; NULL: no target has the name
    int64_t opset;                 // of ai.onnx in the model that it was read from; 0: unknown
    // Dims of inputs that the model leaves open and the options gave, a bit each; unnamed_dims has
    // the ones without a name.
    uint32_t open_dims, unnamed_dims;
    const struct qdq_free_size *free_sizes;  // sizes that it leaves free (graph/core/free_sizes.h)
    size_t free_size_count;
    unsigned free_trials;  // a bit for each trial of sizes that its model takes
    size_t free_lists;     // lists that the reader gave to nodes and constants that outputs need
    qdq_newer *newer;      // the last one found, before the first one; NULL: none
    bool target_given;     // by the options; the target that a file names is then ignored
    struct qdq_held_file
        *files;               // files that constants are read from (graph/core/held_constants.h)
    qdq_error *failure;       // the first error of reading those files; NULL without files
    qdq_error broken;         // an error that is no finding: out of memory, colliding hashes
    qdq_symbols *symbols;     // name -> value id
    qdq_graph_value *values;  // [0] is not a value
    size_t value_count, value_capacity;
    qdq_node *nodes;  // sorted: a node follows the producers of its inputs
    size_t node_count, node_capacity;
    qdq_graph_output *outputs;
    size_t output_count, output_capacity;
    qdq_state_info *states;  // inputs that take the elements of an output of the run before
    size_t state_count, state_capacity;
    // The places on a device that the user gave to values, by value id (graph/memory/). No entry,
    // or NULL: nothing.
    struct qdq_given_layout **given_layouts;
    size_t given_layout_count;
    struct qdq_capture *capture;       // that it was read from; NULL: none
    bool folds_constants;              // the backend does, except of Dequantize
    bool has_output_tensors;           // a node writes to the buffer of another value
    const qdq_rewrite_info *rewrites;  // the target's rewrites that led to this graph
    size_t rewrite_count;
    size_t bytes;           // row-major size of inputs, outputs and constants
    qdq_findings findings;  // found while building
    qdq_findings checked;   // found by the last validation
    qdq_report report;
};

// Returns the limits with defaults in place of zeros.
qdq_limits qdq_limits_or_default(const qdq_limits *limits);

// Writes one line to the logger of the graph's options.
void qdq_graph_tell(const qdq_graph *graph, const char *format, ...) QDQ_PRINTF(2, 3);

// Creates a graph whose own target is not looked up yet. NULL: no memory.
qdq_graph *qdq_graph_new(const char *name, const qdq_graph_options *options);

// Sets the target that the graph's file names, which is the graph's unless the options name one
// (graph/targets/graph_target.c).
void qdq_graph_set_own_target(qdq_graph *graph, const char *target);

// Adds a finding about an error found while building.
void qdq_graph_report_core(qdq_graph *graph, qdq_core_rule rule, qdq_subject subject,
                           const char *found, const char *wanted);

// False once memory has run out; the graph records that it did.
bool qdq_graph_is_healthy(qdq_graph *graph);
// Returns a value of the graph; NULL: it has none of this id.
static inline qdq_graph_value *qdq_graph_value_at(const qdq_graph *graph, qdq_value value) {
    return value.id && value.id < graph->value_count ? &graph->values[value.id] : NULL;
}
// Adds a value and returns its id; 0 if memory runs out.
uint32_t qdq_graph_add_value(qdq_graph *graph, qdq_graph_value value);

// Adds a value of unknown type in place of a wrong one, so that checks which need its type are
// skipped. `name` may be NULL.
qdq_value qdq_graph_add_invalid(qdq_graph *graph, const char *name);

// Reports a type beyond the limits: illegal dims, too many elements, or more bytes than an address
// can count, row-major or in tiles. False after a finding.
bool qdq_graph_check_type(qdq_graph *graph, qdq_type type, qdq_subject subject);

// Adds the size of an input, output or constant to the graph's total. Reports the value that
// exceeds the limit; from then on every call returns false.
bool qdq_graph_charge(qdq_graph *graph, qdq_type type, qdq_subject subject);

// Checks dtype and shape of an input or a constant (`kind` says which) and adds up its size. False
// after a finding.
bool qdq_graph_check_given(qdq_graph *graph, qdq_type type, const char *name, const char *kind);

// Reports missing data, or bytes that are no element of the dtype. False after a finding.
bool qdq_graph_check_data(qdq_graph *graph, const char *name, qdq_dtype dtype, const void *data,
                          size_t count);

// Adds a node; `attrs` is the op's complete attribute struct.
qdq_value qdq_graph_add_node(qdq_graph *graph, const qdq_op *op, const void *attrs,
                             size_t attrs_size);

// Adds a constant as *value and returns zeroed memory for its elements. NULL if its type is refused
// (a finding says why) or memory runs out.
void *qdq_graph_add_constant(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape,
                             qdq_value *value);

// Adds a constant whose elements are read from a file when they are needed.
qdq_value qdq_graph_declare_constant(qdq_graph *graph, const char *name, qdq_type type,
                                     const qdq_stored *stored);

// Returns an input of a node, as its op sees it.
qdq_operand qdq_graph_operand(const qdq_graph *graph, const qdq_node *node, size_t input);

// Fills *ctx with the operands and results of a node, as its op sees them.
void qdq_graph_context(const qdq_graph *graph, const qdq_node *node, qdq_findings *findings,
                       qdq_op_context *ctx);

// Sets *node to node `index`; fails if the graph has no node of that number or the node has errors.
qdq_status qdq_graph_find_node(const qdq_graph *graph, size_t index, const qdq_node **node,
                               qdq_error *err);

// Counts a read by a node that could not be added, so that `value` is not reported as unused.
void qdq_graph_note_use(qdq_graph *graph, qdq_value value);

#endif
