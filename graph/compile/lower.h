// SPDX-License-Identifier: Apache-2.0
// Nodes to steps: which tile functions run in one pass. The result still speaks of graph values;
// graph/compile/compile.c gives them places.
#ifndef QDQ_GRAPH_COMPILE_LOWER_H
#define QDQ_GRAPH_COMPILE_LOWER_H

#include "graph/validate.h"
#include "ops/products/shared_packs.h"
#include "runtime/base/budget.h"
#include "runtime/base/size.h"

#define QDQ_NO_STEP SIZE_MAX

// A link with the values its parameters come from (id 0: known numbers).
typedef struct qdq_draft_link {
    const qdq_node *node;  // NULL: a copy
    const qdq_stage *stage;
    uint32_t sources[QDQ_MAX_STAGE_PARAMS];
    uint32_t y;     // 0: a copy to an output only
    size_t output;  // number of the output that a copy stores to; SIZE_MAX: none
} qdq_draft_link;

typedef struct qdq_draft_step {
    uint32_t x;                      // 0 of a whole step, which reads all inputs of the node
    const qdq_node *tensor_op_node;  // NULL: a loop over blocks; links are behind its first output
    const qdq_value *tensor_op_inputs;
    bool on_integers;  // some of these are codes in place of what the node has as an input
    qdq_stage *tensor_op;
    qdq_draft_link *links;
    size_t link_count, link_capacity;
    const qdq_node *reduce_node;  // NULL: no reduction
    const qdq_stage *reduce;
    uint32_t reduce_sources[QDQ_MAX_STAGE_PARAMS];
    uint32_t results[QDQ_MAX_REDUCED];
} qdq_draft_step;

// What becomes of a value of the graph.
typedef struct qdq_draft_value {
    qdq_type type;       // as stored: by --float-storage, or codes in place of reals
    const void *folded;  // its elements, computed when the graph is compiled; NULL: they were not
    const qdq_weight_codes *weight_codes;  // what it is made of, if it was asked for
    bool asked;
    bool left;         // it was found that computing it is for the run
    bool live;         // an output needs it
    bool loaded;       // materialized input or constant: has been copied into the arena
    bool read;         // by a step other than the one that makes it
    bool rows;         // wanted row-major: made or read by work on whole tensors, or read beside x
    size_t made_step;  // QDQ_NO_STEP: an input or a constant
    size_t last_step;  // that reads or makes it
    size_t output;     // number of the first output that it is; SIZE_MAX: none
} qdq_draft_value;

// An input that is known when the graph is compiled although a node makes it: its elements, or what
// they are made of.
typedef struct qdq_draft_known {
    const void *data;
    const qdq_weight_codes *weight_codes;
} qdq_draft_known;

// What a node computes on.
typedef struct qdq_draft_node {
    const qdq_value *inputs;  // those of the node, or the codes that they stand for
    const qdq_quantized
        *quantized;          // NULL: none; else for each input, empty for those that are none
    qdq_draft_known *known;  // the same
} qdq_draft_node;

typedef struct qdq_draft {
    const qdq_graph *graph;
    qdq_target_version version;
    qdq_compile_options options;
    uint32_t isas;              // of runtime/base/cpu.h
    qdq_budget *budget;         // what memory is from
    qdq_mempool *mempool;       // for the draft itself
    qdq_mempool *plan_mempool;  // for what the stages point to
    qdq_draft_value *values;
    qdq_draft_node *nodes;
    qdq_shared *shared;      // packed constants
    size_t operations_left;  // that computing what is constant may take
    qdq_draft_step *steps;
    size_t step_count, step_capacity;
} qdq_draft;

// Why compiling cannot go on: a constant cannot be read, a limit was hit, or memory ran out.
qdq_status qdq_draft_stopped(const qdq_draft *draft, qdq_error *err);

// Node number `index` with its types as they are stored, and what it is lowered for.
void qdq_draft_context(const qdq_draft *draft, size_t index, qdq_findings *findings,
                       qdq_op_context *ctx);
qdq_lowering qdq_draft_lowering(const qdq_draft *draft, const qdq_op_context *ctx,
                                qdq_mempool *mempool);

// Decides which nodes compute on codes (graph/compile/integer_execution.c). What is live without
// that is marked. False when compiling cannot go on.
bool qdq_draft_integer_execution(qdq_draft *draft);

// Computes what a node packs of nodes that have constants alone (graph/compile/fold.c). False when
// compiling cannot go on.
bool qdq_draft_fold(qdq_draft *draft, size_t index);

// Whether an input of a node is known although a node makes it.
static inline bool qdq_draft_is_known(const qdq_draft_node *node, size_t input) {
    return node->known && (node->known[input].data || node->known[input].weight_codes);
}

// Fills in everything below `pool`. The graph has no errors.
qdq_status qdq_lower(qdq_draft *draft, qdq_error *err);

#endif
