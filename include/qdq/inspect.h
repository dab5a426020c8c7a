// SPDX-License-Identifier: Apache-2.0
// Looking at what there is: the figures of a plan, and the tables of ops, rules and targets.
#ifndef QDQ_INSPECT_H
#define QDQ_INSPECT_H

#include <qdq/exec.h>

#ifdef __cplusplus
extern "C" {
#endif

//---- A plan -----------------------------------------------------------------

// A value that lies in the arena. Lifetimes are inclusive. A value made in place of one whose last
// step is its first shares its offset.
typedef struct qdq_plan_value {
    const char *name;
    qdq_dtype dtype;
    qdq_shape shape;
    qdq_shape padded_shape;  // last two dims rounded up to 32; of rank 0 and 1: [32, n]
    size_t tiles;
    size_t bytes;   // of all tiles
    size_t offset;  // in the arena, a multiple of 64
    size_t first_step, last_step;
} qdq_plan_value;

// A step: what it reads, work on whole tensors or none, the chain of tile functions, and what it
// stores.
typedef struct qdq_plan_step {
    const char *text;   // one line: "x -> Quantize xq -> Dequantize xd -> y"
    const char *shape;  // how it runs: "blocks", "direct", "move", "reduce" or "tensor_op"
    bool tiled;         // walks 32x32 tiles; else strips of row-major memory
    size_t blocks;      // how many of them; of work on whole tensors, parts that threads may share
    size_t read_bytes;  // moved from and to the arena and the caller's memory per run
    size_t write_bytes;
    bool on_integers;  // integer execution: node number `node` of the graph reads integers in place
                       // of
    size_t node;       // what these are dequantized to
} qdq_plan_step;

typedef struct qdq_plan_stats {
    size_t arena_bytes;      // of all slots, offsets planned
    size_t peak_live_bytes;  // the most that is alive in any step: arena_bytes cannot be less
    size_t padding_bytes;    // bytes of all arena values that hold no element
    size_t tiles;            // of all arena values
    size_t io_bytes;         // of inputs and outputs, row-major
    size_t constant_bytes;   // as they are kept: packed, or row-major
    size_t scratch_bytes;    // the rest of an exec, which takes arena, io and scratch bytes in all
    size_t operations;       // of a run, on elements: multiply-adds count as one; SIZE_MAX: more
    size_t value_count, step_count;
} qdq_plan_stats;

// All zero for a NULL plan; NULL for an index that there is not.
QDQ_API qdq_plan_stats qdq_plan_get_stats(const qdq_plan *plan);
QDQ_API const qdq_plan_value *qdq_plan_get_value(const qdq_plan *plan, size_t index);
QDQ_API const qdq_plan_step *qdq_plan_get_step(const qdq_plan *plan, size_t index);

//---- Names ------------------------------------------------------------------

// The op that was probably meant: the one that a backend's name stands for ("QuantizeLinear" is
// Quantize), or else the nearest. NULL if there is none, or for a NULL `name`.
QDQ_API const char *qdq_op_meant(const char *name);

//---- Instruction sets -------------------------------------------------------

// One that kernels are written for, from the plainest on. `available`: this build has its kernels
// and this machine runs them. Results have the same bits on all.
typedef struct qdq_isa_info {
    const char *name;  // NULL: there is none with this number
    bool available;
} qdq_isa_info;

// Set number `isa`; all zero beyond the last.
QDQ_API qdq_isa_info qdq_isa_get(size_t isa);

//---- A graph ----------------------------------------------------------------

typedef struct qdq_node_info {
    const char *name;
    const char *op;
    size_t input_count;   // ports of its op, connected or not; those of a variadic one counted each
    size_t output_count;  // values that it makes
} qdq_node_info;

// Nodes are numbered so that each comes after those that make its inputs. A NULL graph has none; a
// node that there is not is all zero.
QDQ_API size_t qdq_graph_node_count(const qdq_graph *graph);
QDQ_API qdq_node_info qdq_graph_node(const qdq_graph *graph, size_t index);
// What is connected to a port of a node, and what a node makes; none where there is nothing.
QDQ_API qdq_value qdq_graph_node_input(const qdq_graph *graph, size_t index, size_t port);
QDQ_API qdq_value qdq_graph_node_output(const qdq_graph *graph, size_t index, size_t port);

// The name of a value ("x", "node", "node.port"), "" if it is none.
QDQ_API const char *qdq_value_name(const qdq_graph *graph, qdq_value value);
// Whether it is a constant; false if it is no value, and of a NULL graph.
QDQ_API bool qdq_value_is_constant(const qdq_graph *graph, qdq_value value);
// The row-major elements of a constant, which live as long as the graph; NULL of every other value
// and of a NULL graph. Those of a file are read by the first call that asks for them: NULL if they
// cannot be.
QDQ_API const void *qdq_value_data(const qdq_graph *graph, qdq_value value);

// How a target (NULL: the graph's own; "TARGET" or "TARGET@RELEASE") computes a node. An unknown
// target, a node that there is not, and a NULL `out` are QDQ_ERR_ARGUMENT, a NULL graph
// QDQ_ERR_MEMORY.
QDQ_API qdq_status qdq_graph_numerics(const qdq_graph *graph, const char *target, size_t index,
                                      qdq_numerics *out, qdq_error *err);

// A new graph of one node, to run it by itself. Its constants stay constants. Every other value at
// its ports becomes an input, in the order of the ports and each once, and everything that it makes
// an output. All have the names that they have in `graph`; one that the new graph cannot have (too
// long, or another's already) becomes that of the port, with a number where that is taken too. What
// a target makes of a node may depend on what was cut off: compile for "core" with the numerics of
// qdq_graph_numerics. `options` NULL: allocator, log, limits and target of `graph`. NULL with `err`
// set: there is no such node, it has errors, or memory runs out (a NULL graph too).
QDQ_API qdq_graph *qdq_graph_extract(const qdq_graph *graph, size_t index,
                                     const qdq_graph_options *options, qdq_error *err);

//---- Tables -----------------------------------------------------------------

// What made-up data for an input port should be like, so that results say something. Integers are
// of the whole range of their dtype where nothing is said of them.
typedef enum qdq_fill {
    QDQ_FILL_ANY = 0,
    QDQ_FILL_SCALE,       // positive and below 1
    QDQ_FILL_ZERO_POINT,  // near 0; integers too
    QDQ_FILL_SMALL,       // around 0 and below 1: what is summed up many times
    QDQ_FILL_POSITIVE,    // away from 0
    QDQ_FILL_NEAR_ONE,
    QDQ_FILL_HALF,   // 0.5
    QDQ_FILL_COUNT,  // a positive integer
} qdq_fill;

typedef struct qdq_port_info {
    const char *name;
    bool optional;
    uint64_t dtypes;  // bit d is set where dtype d is taken, or made
    bool variadic;    // takes a list of values
    qdq_fill fill;    // of an input
} qdq_port_info;

typedef struct qdq_attr_info {
    const char *name;
    const char *type;          // "int", "dtype", "word", ...
    const char *const *words;  // of a word: those there are, NULL-terminated; else NULL
    const char *default_text;
    const char *summary;
    bool required;  // a node without it, and without the port that it stands in for, is refused
} qdq_attr_info;

typedef struct qdq_op_info {
    const char *name;
    const char *summary;
    size_t input_count, output_count, attr_count;
} qdq_op_info;

// Numbers that are out of range give structs of zeros.
QDQ_API size_t qdq_op_count(void);
QDQ_API qdq_op_info qdq_op_get(size_t op);
QDQ_API qdq_port_info qdq_op_input(size_t op, size_t index);
QDQ_API qdq_port_info qdq_op_output(size_t op, size_t index);
QDQ_API qdq_attr_info qdq_op_attr(size_t op, size_t index);

// A rule: something that check can find.
typedef struct qdq_rule_info {
    const char *id;
    const char *target;
    qdq_severity severity;
    const char *summary;
    const char *hint;
    const char *source;
    const char *since, *until;  // releases of the target: the first that has it, and the first that
                                // has it no more; "" for all
} qdq_rule_info;

typedef struct qdq_target_info {
    const char *name;
    const char *summary;
    size_t rule_count;     // its own, without those of the core
    size_t release_count;  // from the oldest to the newest; 0: there is only one
} qdq_target_info;

// Numbers that are out of range give structs of zeros.
QDQ_API size_t qdq_target_count(void);
QDQ_API qdq_target_info qdq_target_get(size_t target);
// The name of a release: "TARGET@RELEASE" is a target of its own for every call that takes one.
// NULL where there is none.
QDQ_API const char *qdq_target_release(size_t target, size_t index);
QDQ_API qdq_rule_info qdq_target_rule(size_t target, size_t index);

#ifdef __cplusplus
}
#endif
#endif
