// SPDX-License-Identifier: Apache-2.0
// Inspection: the figures of a plan, the nodes of a graph, and the tables of ops, rules and
// targets.
#ifndef QDQ_INSPECT_H
#define QDQ_INSPECT_H

#include <qdq/exec.h>

#ifdef __cplusplus
extern "C" {
#endif

//---- A plan -----------------------------------------------------------------

// A value in the arena. It lives from first_step to last_step, both included. A value may be
// computed in place of an input: the last step of the input is its first step, and both have the
// same offset. In a tiled plan an input that is not kept has a slot that is never written; it lives
// from the first step that reads it to the last.
typedef struct qdq_plan_value {
    const char *name;
    qdq_dtype dtype;
    qdq_shape shape;
    // The last two dims rounded up to whole tiles; [32, n] for rank 0 and 1. In a tiled plan
    // without a device the value may be cut as one matrix: [rows, cols], rounded up.
    qdq_shape padded_shape;
    size_t tiles;   // 0: row-major
    size_t bytes;   // of all tiles, or of the elements
    size_t offset;  // in the arena, a multiple of 64; in a tiled plan of page_bytes
    size_t first_step, last_step;
    qdq_tile_shape tile;  // in tiles: 32x32 unless the graph says otherwise
} qdq_plan_value;

// A step: its inputs, a tensor op or none, the chain of tile functions, and the values it stores.
typedef struct qdq_plan_step {
    const char *text;   // one line: "x -> Quantize xq -> Dequantize xd -> y"
    const char *shape;  // how it runs: "blocks", "direct", "move", "reduce" or "tensor_op"
    bool tiled;         // walks tiles; else strips, or the units of a tensor op
    size_t blocks;      // tiles or strips; for a tensor op, units, which threads may share
    // Memory in which it reads and writes values: "row-major", "tiles", "row-major and tiles" or
    // "nothing". A step over strips may read and write tiles: it collects strips from their rows.
    const char *reads, *writes;
    bool streamed;      // walks strips, and neither reads nor writes tiles; false for a tensor op
    size_t read_bytes;  // moved from and to the arena, constants and the caller's memory per run;
                        // padding that is not computed does not count
    size_t write_bytes;
    size_t operations;     // of a run, as qdq_plan_stats counts them
    size_t scratch_bytes;  // row-major copies of operands in tiles, for a tensor op
    bool on_integers;      // integer execution: `node` reads integers, not their dequantized values
    bool scales_later;     // fast: `node` multiplies a row by weight codes and scales their sums
    bool winograd;         // fast: `node` is a convolution by Winograd's algorithm
    size_t node;           // the number of this node in the graph
    qdq_dtype operand;     // of the first input that a tensor op reads: of codes if on_integers
    // Why the step was not fused with the step that computes the value `apart_from`: a name
    // ("read-before") and the end of a sentence. NULL: nothing to fuse with.
    const char *apart, *apart_text, *apart_from;
} qdq_plan_step;

typedef struct qdq_plan_stats {
    size_t arena_bytes;      // all slots, at their planned offsets
    size_t peak_live_bytes;  // the most alive in any step, in whole pages if the plan is tiled:
                             // arena_bytes cannot be less
    size_t padding_bytes;    // bytes of arena values that hold no element
    size_t tiles;            // of all arena values
    bool tiled;              // values lie in tiles (qdq_plan_layout)
    size_t page_bytes;       // 2048; in a tiled plan each value occupies whole pages of the arena
    size_t io_bytes;         // of inputs and outputs, row-major
    size_t constant_bytes;   // in their stored form: packed, or row-major
    size_t scratch_bytes;    // the rest of an exec, which takes arena, io and scratch bytes in all
    size_t moved_bytes;      // that all steps read and write
    size_t necessary_bytes;  // of inputs and constants that steps read, and of outputs, once each
    size_t operations;       // of a run, on elements: a multiply-add counts as one; SIZE_MAX: more
    size_t value_count, step_count;
} qdq_plan_stats;

// Returns the numbers and the parts of a plan. All zero for a NULL plan; NULL for an index out of
// range.
QDQ_API qdq_plan_stats qdq_plan_get_stats(const qdq_plan *plan);
QDQ_API const qdq_plan_value *qdq_plan_get_value(const qdq_plan *plan, size_t index);
QDQ_API const qdq_plan_step *qdq_plan_get_step(const qdq_plan *plan, size_t index);

//---- Names ------------------------------------------------------------------

// Returns the op that an unknown name probably means: the op that has this name in a backend
// ("QuantizeLinear" is Quantize), or else the op whose name, or name in a backend, is nearest. NULL
// if there is none, or for a NULL `name`.
QDQ_API const char *qdq_op_meant(const char *name);

//---- Instruction sets -------------------------------------------------------

// An instruction set that kernels are written for. `available`: this build has its kernels and this
// machine runs them. Results have the same bits on every set.
typedef struct qdq_isa_info {
    const char *name;  // NULL: no set has this number
    bool available;
} qdq_isa_info;

// Returns set number `isa`, counted from the plainest; all zero after the last.
QDQ_API qdq_isa_info qdq_isa_get(size_t isa);

//---- A graph ----------------------------------------------------------------

typedef struct qdq_node_info {
    const char *name;
    const char *op;
    size_t input_count;  // ports of its op, connected or not; a variadic port counts once per value
    size_t output_count;  // values that it computes
    // Its name in the file, or that of the node it is a part of (a step of an LSTM); the same as
    // `name` if the file gives none.
    const char *original;
} qdq_node_info;

// Nodes are numbered in topological order: each comes after the nodes that compute its inputs. A
// NULL graph has no nodes. An index out of range gives a struct of zeros.
QDQ_API size_t qdq_graph_node_count(const qdq_graph *graph);
QDQ_API qdq_node_info qdq_graph_node(const qdq_graph *graph, size_t index);
// Returns the value connected to an input port of a node, and the value at an output port; no value
// if the port is not connected or out of range.
QDQ_API qdq_value qdq_graph_node_input(const qdq_graph *graph, size_t index, size_t port);
QDQ_API qdq_value qdq_graph_node_output(const qdq_graph *graph, size_t index, size_t port);

// Writes the attributes of a node that differ from their defaults as one line of JSON, as in a
// file:
// {"scales":0.5,"dtype":"int8"}. A list of more than `most` numbers is an object with its `count`
// and the `first` of them; 0: no limit. Returns the length of the whole text, as snprintf does,
// which ends at `capacity` - 1 bytes; 0, and an empty text, for a NULL graph, an index out of range
// and a node with errors.
QDQ_API size_t qdq_graph_node_attrs(const qdq_graph *graph, size_t index, size_t most, char *out,
                                    size_t capacity);

// Returns the attributes of a node as the struct of its op (qdq_requantize_attrs), with defaults
// left unset; its values are at qdq_graph_node_input. It lives as long as the graph. NULL for a
// NULL graph, an index out of range and a node with errors.
QDQ_API const void *qdq_graph_node_struct(const qdq_graph *graph, size_t index);

// The values of a graph: inputs, constants and results of nodes, in the order in which they were
// added. A NULL graph has none. An index out of range gives no value.
QDQ_API size_t qdq_graph_value_count(const qdq_graph *graph);
QDQ_API qdq_value qdq_graph_get_value(const qdq_graph *graph, size_t index);
// The outputs of a graph, in the order of its file. Returns the name of an output; NULL for an
// index out of range. qdq_output_value returns its value.
QDQ_API size_t qdq_graph_output_count(const qdq_graph *graph);
QDQ_API const char *qdq_graph_get_output(const qdq_graph *graph, size_t index);

// Returns the name of a value ("x", "node", "node.port"); "" for no value.
QDQ_API const char *qdq_value_name(const qdq_graph *graph, qdq_value value);
// A file may have names that graphs do not allow; its reader then gives values and outputs other
// names. The first two return the name in the graph for a name in the file, the other two the name
// in the file for a name in the graph; every other name is returned unchanged. NULL for a NULL
// name.
QDQ_API const char *qdq_value_name_of(const qdq_graph *graph, const char *original);
QDQ_API const char *qdq_output_name_of(const qdq_graph *graph, const char *original);
QDQ_API const char *qdq_value_original(const qdq_graph *graph, const char *name);
QDQ_API const char *qdq_output_original(const qdq_graph *graph, const char *name);
// True if `value` is a constant; false for no value and for a NULL graph.
QDQ_API bool qdq_value_is_constant(const qdq_graph *graph, qdq_value value);
// True if `value` is an input of the graph; false for no value and for a NULL graph.
QDQ_API bool qdq_value_is_input(const qdq_graph *graph, qdq_value value);
// Returns the row-major elements of a constant, which live as long as the graph; NULL for every
// other value and for a NULL graph. The first call reads elements that are still in a file; NULL if
// it cannot.
QDQ_API const void *qdq_value_data(const qdq_graph *graph, qdq_value value);

// Reports how a target ("TARGET" or "TARGET@RELEASE"; NULL: the graph's own) computes a node. Fails
// with QDQ_ERR_ARGUMENT for an unknown target, an index out of range or a NULL `out`, and with
// QDQ_ERR_MEMORY for a NULL graph.
QDQ_API qdq_status qdq_graph_numerics(const qdq_graph *graph, const char *target, size_t index,
                                      qdq_numerics *out, qdq_error *err);

// Returns a new graph of one node, to run it by itself. Constants of the node stay constants. Every
// other value at its ports becomes an input, once and in the order of the ports; every output of
// the node becomes an output. All keep their names in `graph`. If the new graph cannot have a name
// (too long, or taken), it uses the name of the port, with a number if that is taken too. The rest
// of the graph may affect how a target computes a node, so compile for "core" with the numerics of
// qdq_graph_numerics. NULL `options`: allocator, log, limits and target of `graph`. Returns NULL
// with `err` set if there is no such node, it has errors, or memory runs out (also for a NULL
// graph).
QDQ_API qdq_graph *qdq_graph_extract(const qdq_graph *graph, size_t index,
                                     const qdq_graph_options *options, qdq_error *err);

//---- Deployed graphs --------------------------------------------------------

// A rewrite of nodes by a target before it runs the graph, or the reason why it did not take place.
// Strings live as long as the graph that the record belongs to.
typedef struct qdq_rewrite_info {
    const char *pass;          // "groups", in the order in which passes run
    const char *group;         // the group that formed, or did not: "QLinearConv"
    const char *node;          // the node in question
    const char *const *nodes;  // all nodes that were replaced, `node` first
    size_t node_count;
    const char *result;  // the value that took their place; NULL: none did
    const char *reason;  // why the group did not form; NULL: it formed
    // Why results differ where this was done: "single multiplier"; NULL: it changes no number.
    const char *cause;
    const char *rule;  // qdq_graph_mended: the rule that refused the node; else NULL
} qdq_rewrite_info;

// Returns a new graph with the nodes that a target ("TARGET", "TARGET@RELEASE", with options behind
// it; NULL: the graph's own) really runs: fused, moved and requantized. For a target that rewrites
// nothing it is a copy. Inputs, outputs and unchanged nodes keep their names; a fused node keeps
// the name of the last node it replaces. Returns NULL with `err` set if the target refuses the
// graph, is unknown, or memory runs out.
QDQ_API qdq_graph *qdq_graph_deployed(qdq_graph *graph, const char *target, qdq_error *err);

// Returns a new graph in which nodes that a target ("TARGET", "TARGET@RELEASE"; NULL: the graph's
// own) refuses are changed, if a change is known that it accepts: codes of int8 for uint8, a
// constant bias as floats, one scale for a channel instead of blocks, and others
// (docs/float_to_int8.md). qdq_graph_rewrite lists the changes, with the `rule` of each; changes
// that alter numbers have a `cause`. qdq_graph_validate reports the nodes that are still refused.
// Names stay as qdq_graph_deployed keeps them. Returns NULL with `err` set if the graph has errors
// at target "core", the target is unknown, or memory runs out.
QDQ_API qdq_graph *qdq_graph_mended(qdq_graph *graph, const char *target, qdq_error *err);

// Returns a mixture of the graphs that targets `a` and `b` run: rewrites whose cause is in `causes`
// are applied as `b` applies them, all others as `a` does, and rewrites without a cause if either
// target applies them. Shows what a rewrite changes. Fails as qdq_graph_deployed does.
QDQ_API qdq_graph *qdq_graph_deployed_between(qdq_graph *graph, const char *a, const char *b,
                                              const char *const *causes, size_t count,
                                              qdq_error *err);

// The origin of a value in a deployed graph: the value of the graph given to qdq_graph_deployed,
// and the offset added to its codes (128: int8 became uint8). No value: it has no counterpart, as
// codes with a new scale have none.
typedef struct qdq_value_source {
    qdq_value value;
    int32_t offset;
} qdq_value_source;
QDQ_API qdq_value_source qdq_graph_source(const qdq_graph *deployed, qdq_value value);

// Returns the record of a graph from qdq_graph_deployed or qdq_graph_mended; other graphs have
// none. All zero for an index out of range.
QDQ_API size_t qdq_graph_rewrite_count(const qdq_graph *deployed);
QDQ_API qdq_rewrite_info qdq_graph_rewrite(const qdq_graph *deployed, size_t index);

//---- Tables -----------------------------------------------------------------

// The range of generated data for an input port that gives meaningful results. Integers cover the
// whole range of their dtype unless a comment below states another range.
typedef enum qdq_fill {
    QDQ_FILL_ANY = 0,
    QDQ_FILL_SCALE,       // positive and below 1
    QDQ_FILL_ZERO_POINT,  // near 0; integers too
    QDQ_FILL_SMALL,       // around 0 and below 1, for values that are summed many times
    QDQ_FILL_POSITIVE,    // away from 0
    QDQ_FILL_NEAR_ONE,
    QDQ_FILL_HALF,   // 0.5
    QDQ_FILL_COUNT,  // a positive integer
} qdq_fill;

typedef struct qdq_port_info {
    const char *name;
    bool optional;
    uint64_t dtypes;  // bit d is set if the port takes, or returns, dtype d
    bool variadic;    // takes a list of values
    qdq_fill fill;    // for an input
} qdq_port_info;

typedef struct qdq_attr_info {
    const char *name;
    const char *type;          // "int", "dtype", "word", ...
    const char *const *words;  // type "word": the words allowed, NULL-terminated; else NULL
    const char *default_text;
    const char *summary;
    bool required;  // a node with neither the attribute nor the port it stands in for is refused
} qdq_attr_info;

typedef struct qdq_op_info {
    const char *name;
    const char *summary;
    size_t input_count, output_count, attr_count;
} qdq_op_info;

// An index out of range gives a struct of zeros.
QDQ_API size_t qdq_op_count(void);
QDQ_API qdq_op_info qdq_op_get(size_t op);
QDQ_API qdq_port_info qdq_op_input(size_t op, size_t index);
QDQ_API qdq_port_info qdq_op_output(size_t op, size_t index);
QDQ_API qdq_attr_info qdq_op_attr(size_t op, size_t index);

// A rule: a mistake or surprise that checking a graph can find.
typedef struct qdq_rule_info {
    const char *id;
    const char *target;
    qdq_severity severity;
    const char *summary;
    const char *hint;
    const char *source;
    const char *since, *until;  // first release of the target that has the rule, and first release
                                // that no longer has it; "" for all
    const char *versions;  // "wormhole *-rne": the versions that have it, * for any characters;
                           // "" for all
} qdq_rule_info;

typedef struct qdq_target_info {
    const char *name;
    const char *summary;
    size_t rule_count;       // its own rules, without the core rules
    size_t release_count;    // releases, from the oldest to the newest, or variants; 0: only one
    size_t default_release;  // the release that the plain name stands for
    size_t option_count;
    size_t evidence_count;  // rows (qdq/evidence.h)
} qdq_target_info;

// A setting of a backend that changes results: "TARGET@RELEASE:NAME=WORD".
typedef struct qdq_target_option_info {
    const char *name;
    const char *const *words;  // its values, the default first; NULL-terminated
    const char *summary;
} qdq_target_option_info;

// An index out of range gives a struct of zeros.
QDQ_API size_t qdq_target_count(void);
QDQ_API qdq_target_info qdq_target_get(size_t target);
// Returns the name of a release or variant; NULL if it does not exist. Every call that takes a
// target also takes "TARGET@RELEASE".
QDQ_API const char *qdq_target_release(size_t target, size_t index);
// Returns the default device of "TARGET" or "TARGET@RELEASE"; NULL: it has none, or `target` is
// NULL or unknown.
QDQ_API const char *qdq_target_device_name(const char *target);
// True if a target rewrites a graph before it runs it ("TARGET" or "TARGET@RELEASE"). Its own rules
// are about the rewritten graph, so that they are checked only in a graph without other errors.
QDQ_API bool qdq_target_rewrites(const char *target);
QDQ_API qdq_rule_info qdq_target_rule(size_t target, size_t index);
QDQ_API qdq_target_option_info qdq_target_option_get(size_t target, size_t index);

#ifdef __cplusplus
}
#endif
#endif
