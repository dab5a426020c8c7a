// SPDX-License-Identifier: Apache-2.0
// The draft of a plan: steps of fused nodes that still refer to graph values.
// graph/compile/compile.c assigns their places.
#ifndef QDQ_GRAPH_COMPILE_LOWER_H
#define QDQ_GRAPH_COMPILE_LOWER_H

#include "graph/compile/validate.h"
#include "ops/shared_constants.h"
#include "runtime/base/budget.h"
#include "runtime/base/size.h"

#define QDQ_NO_STEP SIZE_MAX

// Why a node begins a step instead of joining the producer of its x: the name in JSON, and the end
// of the sentence "not fused with the step that makes VALUE: ...".
#define QDQ_APART_REASONS(X)                                                                      \
    X(NOT, "", "") /* x is an input or a constant, or the node is fused */                        \
    X(NODE_BY_NODE, "node-by-node", "each node is a step with --materialize or a device")         \
    X(TENSOR_OP, "tensor-op", "a tensor op begins a step")                                        \
    X(AFTER_REDUCTION, "after-reduction", "that step ends with a reduction")                      \
    X(NO_CHUNKS, "no-chunks", "its tensor op hands over no chunks")                               \
    X(REDUCTION, "reduction", "a reduction does not follow a tensor op")                          \
    X(REDUCTION_BY_ROWS, "reduction-by-rows", "the order of its elements matters to a reduction") \
    X(WHOLE_TILES, "whole-tiles", "chunks cannot carry elements that share bytes or an exponent") \
    X(OTHER_RESULT, "other-result", "only the first result of a tensor op is handed over")        \
    X(READ_BEFORE, "read-before", "an earlier reader of the value continues that step")           \
    X(OPERAND_LATER, "operand-later", "another operand is not made before that step begins")

typedef enum qdq_apart {
#define QDQ_APART_ENUM(reason, name, text) QDQ_APART_##reason,
    QDQ_APART_REASONS(QDQ_APART_ENUM)
#undef QDQ_APART_ENUM
} qdq_apart;

// A fused node, and the values of its parameters (id 0: known numbers).
typedef struct qdq_draft_link {
    const qdq_node *node;  // NULL: a copy
    const qdq_stage *stage;
    uint32_t sources[QDQ_MAX_STAGE_PARAMS];
    // Links that recompute the parameters of the sources (graph/compile/recompute.c), or NULL.
    const struct qdq_draft_link *through[QDQ_MAX_STAGE_PARAMS];
    uint32_t y;     // 0: it only copies to an output
    size_t output;  // index of the output it copies to; SIZE_MAX: none
} qdq_draft_link;

typedef struct qdq_draft_step {
    uint32_t x;                      // 0 for a tensor op, which reads all inputs of its node
    const qdq_node *tensor_op_node;  // NULL: a loop over blocks; links follow its first output
    const qdq_value *tensor_op_inputs;
    bool on_integers;  // some inputs are quantized values instead of the node's own
    qdq_stage *tensor_op;
    qdq_draft_link *links;
    size_t link_count, link_capacity;
    const qdq_node *reduce_node;  // NULL: no reduction
    const qdq_stage *reduce;
    uint32_t reduce_sources[QDQ_MAX_STAGE_PARAMS];
    uint32_t results[QDQ_MAX_REDUCED];
    qdq_apart apart;      // why the first node of the step is not in an earlier one
    uint32_t apart_from;  // the value that it would have continued
} qdq_draft_step;

// True if the tensor op of a step holds an input packed, and does not read it.
static inline bool qdq_draft_step_packs(const qdq_draft_step *step, size_t input) {
    return qdq_ports_have(step->tensor_op_node->op, step->tensor_op->packed, input);
}

// How a plan stores values: the compile options, resolved once (graph/compile/storage.c).
// qdq_draft_value.kept says which values stay readable.
typedef struct qdq_storage {
    bool tiled;         // outputs and values between steps are tiles of the arena
    bool node_by_node;  // a step for each node, all of whose operands and results are stored
    bool keep_all;
    bool on_device;  // padding is computed too
} qdq_storage;

// The decisions of compiling about a value of the graph.
typedef struct qdq_draft_value {
    qdq_type type;       // as stored: the dtype of --float-storage, or of the quantized form
    const void *folded;  // elements computed while compiling, or NULL
    bool is_constant;    // readers read `folded`, and no step computes it
    const qdq_weight_codes *weight_codes;  // the codes that it dequantizes, once `asked`
    bool asked;
    bool left;            // folding found it too expensive, so the run computes it
    bool live;            // some output depends on it
    bool kept;            // stored, and readable after a run
    bool early;           // an input that is copied into the arena before all chains
    bool loaded;          // an input or a constant that is already copied into the arena
    bool cut;             // an input of a tiled plan that each reader cuts from the caller's rows
    bool read;            // by a step other than its own
    qdq_shape stacked;    // the matrix as which it is cut into tiles; rank 0: plane by plane
    qdq_tile_shape tile;  // in tiles: as its layout says; zeros: 32x32
    size_t made_step;     // QDQ_NO_STEP: an input or a constant
    size_t first_step;    // the first step that computes it or, if it is cut, reads it
    size_t last_step;     // the last step that reads or computes it
    size_t output;        // index of the first output with this value; SIZE_MAX: none
    bool returned_twice;  // it is several outputs
} qdq_draft_value;

// A node's result that is known while compiling: its elements, or the weight codes it dequantizes.
typedef struct qdq_draft_known {
    const void *data;
    const qdq_weight_codes *weight_codes;
} qdq_draft_known;

// `order` and `repeat` of the operand that reads a value in place of its transposed or repeated
// form.
typedef struct qdq_draft_view {
    const int *order;
    size_t repeat;
} qdq_draft_view;

// The inputs that a node reads after integer execution and folding.
typedef struct qdq_draft_node {
    const qdq_value *inputs;  // the node's own, or the values that hold their quantized forms
    const qdq_quantized *quantized;  // per input, empty where not quantized; NULL: no input is
    qdq_draft_known *known;          // per input; NULL: folding has not run
    // Per input, how `inputs` holds the elements of a value that is not computed; NULL: all are.
    qdq_draft_view *views;
} qdq_draft_node;

typedef struct qdq_draft {
    const qdq_graph *graph;
    qdq_target_version version;
    qdq_compile_options options;
    qdq_storage storage;
    uint32_t isas;              // bits of runtime/base/cpu.h
    qdq_budget *budget;         // limits the memory of both pools
    qdq_mempool *mempool;       // for the draft
    qdq_mempool *plan_mempool;  // for data that stages point to
    qdq_draft_value *values;
    qdq_draft_node *nodes;
    qdq_shared *shared;      // constants that several products packed once
    size_t operations_left;  // the budget left for constant folding
    qdq_draft_step *steps;
    size_t step_count, step_capacity;
} qdq_draft;

// Fails if options exclude each other or name no value of the graph.
qdq_status qdq_storage_check(const qdq_graph *graph, const qdq_compile_options *options,
                             qdq_error *err);
qdq_storage qdq_storage_of(const qdq_compile_options *options, const qdq_target *target);
// Sets `kept` of the values that the options name, or of all, and `cut` of inputs.
void qdq_draft_store(qdq_draft *draft);
// Decides which values of a tiled plan are stacked, once all steps are known, if stacking takes
// fewer tiles. Kept values and all values of a plan that goes node by node are padded in each
// plane, as ttnn pads them; so are the values of a step that has to walk tiles.
void qdq_draft_stack(qdq_draft *draft);
// Gives values of a tiled plan the tiles of their layouts. Two limits keep steps simple and bits
// the same: a step with packed elements or block floats stores results in the tiles of its x, and
// no tile of a graph with block floats is transposed. False if memory runs out.
bool qdq_draft_shape_tiles(qdq_draft *draft);
// Returns the shape that is cut into tiles: [rows, cols] for a stacked value.
qdq_shape qdq_draft_shape_in_tiles(const qdq_draft_value *v);

// Returns the budget for constant folding, in operations: some passes over the constants, at least
// as much as a short run.
size_t qdq_fold_operations(const qdq_graph *graph);

// Fills in everything from `values` to `operations_left`. False if memory runs out.
bool qdq_draft_start(qdq_draft *draft);

// Sets `err` to the reason why compiling cannot go on: an unreadable constant, a limit, or memory.
qdq_status qdq_draft_stopped(const qdq_draft *draft, qdq_error *err);

// Sets the context of node `index` with types as stored, and the parameters for lowering it.
void qdq_draft_context(const qdq_draft *draft, size_t index, qdq_findings *findings,
                       qdq_op_context *ctx);
qdq_lowering qdq_draft_lowering(const qdq_draft *draft, const qdq_op_context *ctx,
                                qdq_mempool *mempool);

// Decides which nodes compute on quantized inputs (graph/compile/integer_execution.c). Expects
// `live` as it is without integer execution. False if compiling cannot go on.
bool qdq_draft_integer_execution(qdq_draft *draft);

// True if a node may read an operand from the input of its transpose
// (graph/compile/read_transposed.c).
bool qdq_draft_may_read_transposed(const qdq_draft *draft);
// Lets nodes do so. Expects `live`. False if memory runs out.
bool qdq_draft_read_transposed(qdq_draft *draft);

// Computes the inputs that a node packs, if they depend on constants alone (graph/compile/fold.c).
// False if compiling cannot go on.
bool qdq_draft_fold(qdq_draft *draft, size_t index);

// Lets steps that compute bytes from values of the same bytes look them up, once all steps are
// known (graph/compile/byte_tables.c). False if memory runs out.
bool qdq_draft_join_bytes(qdq_draft *draft);

// Returns the number of the link that computes a value; SIZE_MAX if no link of the step does.
size_t qdq_draft_link_that_makes(const qdq_draft_step *step, uint32_t id);
// Returns the value that link i reads as its x.
uint32_t qdq_draft_x_of(const qdq_draft_step *step, size_t i);
// True if each parameter is one known number.
bool qdq_draft_has_known_numbers(const qdq_stage *stage);

// Lets steps recompute values instead of reading them from memory, once all steps are known
// (graph/compile/recompute.c). False if memory runs out.
bool qdq_draft_recompute(qdq_draft *draft);

// True if a tiled plan stores nothing of a value but the caller's copy.
bool qdq_draft_is_only_returned(const qdq_draft *draft, uint32_t id);

// True if a result of a node is `live`.
static inline bool qdq_draft_is_live(const qdq_draft *draft, const qdq_node *node) {
    for (size_t k = 0; k < node->output_count; k++)
        if (draft->values[node->outputs[k]].live) return true;
    return false;
}

// True if the result of a node is already known while compiling.
static inline bool qdq_draft_is_known(const qdq_draft_node *node, size_t input) {
    return node->known && (node->known[input].data || node->known[input].weight_codes);
}

// Fills in everything from `values` on. The graph has no errors.
qdq_status qdq_lower(qdq_draft *draft, qdq_error *err);

#endif
