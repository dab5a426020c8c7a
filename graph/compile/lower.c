// SPDX-License-Identifier: Apache-2.0
// Lowering: each live node becomes stages, and each stage becomes a step or joins the chain of an
// earlier one. Start here to find out why a node was or was not fused: apart_from has the reasons.
//
// A link joins the step that computes its x if everything else the link needs is computed before
// that step begins. Otherwise it starts a new step. A value that a later step reads gets a place in
// the arena; a value that is an output is stored to the caller's memory by the step that computes
// it.
//
// Storage (qdq_storage). In a tiled plan an input is cut into tiles, and an output lies in tiles
// before it goes to the caller's memory. These copies are links: they begin each chain that reads
// the input and end the chain that computes the output. Tiles of an input are in L1 only; tensor
// ops read its rows. An input that is kept, packed or a block float is copied into tiles of the
// arena, in front of the first chain that reads it. Node by node, each node and each copy is a
// step. Every way computes the same bits, because each link rounds to its declared dtype.
//
// A binary elementwise op may fuse with either operand; `follows` names the operand whose chain can
// be extended.
//
// A tensor op always starts a step. Links fuse with it if its stage sets `chunks`, they read its
// first output, and no block float is involved. A reduction ends its step: nothing fuses after it.
#include "graph/compile/lower.h"

#include <string.h>

#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/block_float.h"

//---- Needed values and their forms ------------------------------------------

// True if an input is still needed at run time. Known inputs are packed, and folded quantized
// inputs are stored as constants.
static bool reads_value(const qdq_draft *draft, const qdq_draft_node *node, size_t input) {
    uint32_t id = node->inputs[input].id;
    const qdq_draft_value *v = &draft->values[id];
    bool folded_quantized = v->folded && v->type.dtype != draft->graph->values[id].type.dtype;
    return !v->is_constant && !folded_quantized && !qdq_draft_is_known(node, input);
}

// Goes from the last node to the first: a node's liveness is known before its inputs are visited.
// `folds` also computes the constants that live nodes pack. False if memory runs out.
static bool mark_live(qdq_draft *draft, bool folds) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 0; i < graph->value_count; i++) draft->values[i].live = false;
    for (size_t i = 0; i < graph->output_count; i++)
        draft->values[graph->outputs[i].value.id].live = true;
    for (size_t i = 1; i < graph->value_count; i++)
        if (draft->values[i].kept) draft->values[i].live = true;
    for (size_t i = graph->node_count; i-- > 0;) {
        const qdq_node *node = &graph->nodes[i];
        if (!qdq_draft_is_live(draft, node)) continue;
        if (folds && !qdq_draft_fold(draft, i)) return false;
        for (size_t k = 0; k < node->input_count; k++)
            if (reads_value(draft, &draft->nodes[i], k))
                draft->values[draft->nodes[i].inputs[k].id].live = true;
    }
    return true;
}

// Chooses the inputs of each node. Both searches need to know which values are live: integer
// execution leaves some Dequantize nodes without readers, and reading transposed operands in place
// leaves some transposes without readers.
static bool choose_inputs(qdq_draft *draft) {
    if (!mark_live(draft, false) || !qdq_draft_integer_execution(draft)) return false;
    if (qdq_draft_may_read_transposed(draft) &&
        (!mark_live(draft, false) || !qdq_draft_read_transposed(draft)))
        return false;
    return mark_live(draft, true);
}

//---- Steps ------------------------------------------------------------------

static qdq_draft_step *add_step(qdq_draft *draft, uint32_t x) {
    qdq_draft_step *steps = qdq_mempool_grow(draft->mempool, draft->steps, draft->step_count,
                                             &draft->step_capacity, sizeof *steps);
    if (!steps) return NULL;
    draft->steps = steps;
    steps[draft->step_count] = (qdq_draft_step){.x = x};
    return &steps[draft->step_count++];
}

static size_t number_of(const qdq_draft *draft, const qdq_draft_step *step) {
    return (size_t)(step - draft->steps);
}

static void note_read(qdq_draft *draft, uint32_t id, size_t step) {
    qdq_draft_value *v = &draft->values[id];
    if (v->made_step != step) v->read = true;
    if (v->last_step < step) v->last_step = step;
    // A node may extend an earlier step. QDQ_NO_STEP is greater than all steps.
    if (v->cut && v->first_step > step) v->first_step = step;
}

static void note_made(qdq_draft *draft, uint32_t id, size_t step) {
    qdq_draft_value *v = &draft->values[id];
    v->made_step = v->last_step = step;
    if (v->first_step == QDQ_NO_STEP) v->first_step = step;
}

static qdq_draft_link *add_link(qdq_draft *draft, qdq_draft_step *step, qdq_draft_link link) {
    qdq_draft_link *links = qdq_mempool_grow(draft->mempool, step->links, step->link_count,
                                             &step->link_capacity, sizeof *links);
    if (!links) return NULL;
    step->links = links;
    links[step->link_count] = link;
    for (size_t k = 0; k < link.stage->stage_param_count; k++) {
        if (!link.sources[k]) continue;
        note_read(draft, link.sources[k], number_of(draft, step));
    }
    if (link.y) note_made(draft, link.y, number_of(draft, step));
    return &links[step->link_count++];
}

static const qdq_stage nothing;

// Adds a step that copies x into the arena (output SIZE_MAX) or to an output.
static bool add_copy(qdq_draft *draft, uint32_t x, size_t output) {
    qdq_draft_step *step = add_step(draft, x);
    if (!step) return false;
    if (output != SIZE_MAX) note_read(draft, x, number_of(draft, step));
    return add_link(draft, step,
                    (qdq_draft_link){.stage = &nothing,
                                     .y = output == SIZE_MAX ? x : 0,
                                     .output = output}) != NULL;
}

// Adds the copy of an input into the arena before its first use in a tiled plan; node by node, of a
// constant too.
static bool load(qdq_draft *draft, uint32_t id) {
    qdq_draft_value *v = &draft->values[id];
    qdq_value_kind kind = draft->graph->values[id].kind;
    bool copied =
        kind == QDQ_VALUE_INPUT || (kind == QDQ_VALUE_CONSTANT && draft->storage.node_by_node);
    if (!draft->storage.tiled || !copied || v->loaded || v->cut) return true;
    v->loaded = true;
    return add_copy(draft, id, SIZE_MAX);
}

// True if the elements of a value are the caller's float32, which only a copy into tiles turns into
// block floats. A chain rounds its x itself.
static bool waits_to_round(const qdq_draft *draft, uint32_t id) {
    const qdq_draft_value *v = &draft->values[id];
    qdq_value_kind kind = draft->graph->values[id].kind;
    return qdq_dtype_is_block_float(v->type.dtype) && !v->loaded && !v->folded &&
           (kind == QDQ_VALUE_INPUT || kind == QDQ_VALUE_CONSTANT);
}

// The same for a parameter of a link or an operand of a tensor op.
static bool load_operand(qdq_draft *draft, uint32_t id) {
    if (!load(draft, id)) return false;
    if (!waits_to_round(draft, id)) return true;
    draft->values[id].loaded = true;
    return add_copy(draft, id, SIZE_MAX);
}

// The same for the value that a chain begins with: each chain cuts an input from rows.
static bool load_x(qdq_draft *draft, uint32_t id) {
    return draft->values[id].cut ? add_copy(draft, id, SIZE_MAX) : load(draft, id);
}

//---- Chains -----------------------------------------------------------------

static uint32_t source_of(const qdq_node *node, const qdq_stage_param *stage_param) {
    switch (stage_param->origin) {
    case QDQ_FROM_INPUT: return node->inputs[stage_param->port].id;
    case QDQ_FROM_OUTPUT: return node->outputs[stage_param->port];
    case QDQ_FROM_NUMBERS:
    default: return 0;
    }
}

// True if chunks of a tensor op can carry a value to its place: they are runs of rows, and elements
// that share bytes or an exponent are stored in whole tiles.
static bool fits_in_chunks(const qdq_draft *draft, uint32_t id) {
    qdq_dtype dtype = draft->values[id].type.dtype;
    return !qdq_dtype_is_block_float(dtype) &&
           !(draft->storage.tiled && qdq_dtype_is_packed(dtype));
}

// Returns why a link that computes value y (0: a reduction) cannot follow value x in this step's
// chain.
static qdq_apart apart_in(const qdq_draft *draft, const qdq_draft_step *step, uint32_t x,
                          uint32_t y) {
    if (step->reduce_node) return QDQ_APART_AFTER_REDUCTION;
    const qdq_node *op = step->tensor_op_node;
    if (op) {
        if (!step->tensor_op->chunks) return QDQ_APART_NO_CHUNKS;
        if (!y) return QDQ_APART_REDUCTION;
        if (!fits_in_chunks(draft, x) || !fits_in_chunks(draft, y)) return QDQ_APART_WHOLE_TILES;
        for (size_t i = 1; i < op->output_count; i++)
            if (op->outputs[i] == x) return QDQ_APART_OTHER_RESULT;
    }
    uint32_t first = op ? op->outputs[0] : 0;
    uint32_t last = step->link_count ? step->links[step->link_count - 1].y : first;
    return last == x ? QDQ_APART_NOT : QDQ_APART_READ_BEFORE;
}

// True if a later step copies a value into tiles.
static bool waits_to_load(const qdq_draft *draft, uint32_t id) {
    if (!id) return false;
    bool copied = draft->storage.tiled && draft->graph->values[id].kind == QDQ_VALUE_INPUT &&
                  !draft->values[id].loaded;
    return copied || waits_to_round(draft, id);
}

// Returns why a link cannot extend the chain that ends in value x, computed by a step. Everything
// else the link needs must be computed before that step.
static qdq_apart apart_from(const qdq_draft *draft, uint32_t x, uint32_t y, const uint32_t *sources,
                            size_t source_count) {
    size_t made = draft->values[x].made_step;
    if (draft->storage.node_by_node) return QDQ_APART_NODE_BY_NODE;
    qdq_apart apart = apart_in(draft, &draft->steps[made], x, y);
    for (size_t k = 0; !apart && k < source_count; k++) {
        size_t source_step = draft->values[sources[k]].made_step;
        if (draft->values[sources[k]].cut) continue;
        bool later = sources[k] && source_step != QDQ_NO_STEP && source_step >= made;
        if (later || waits_to_load(draft, sources[k])) return QDQ_APART_OPERAND_LATER;
    }
    return apart;
}

// Returns the step whose chain ends in value x and can take another link. NULL if none can, with
// the reason in *apart: NOT if no step computes x.
static qdq_draft_step *step_to_extend(qdq_draft *draft, uint32_t x, uint32_t y,
                                      const uint32_t *sources, size_t source_count,
                                      qdq_apart *apart) {
    size_t made = draft->values[x].made_step;
    *apart = QDQ_APART_NOT;
    if (made == QDQ_NO_STEP) return NULL;
    *apart = apart_from(draft, x, y, sources, source_count);
    return *apart ? NULL : &draft->steps[made];
}

// Returns the step for a stage from x to y: an existing step to extend, or a new one that reads x.
static qdq_draft_step *step_for(qdq_draft *draft, uint32_t x, uint32_t y, const uint32_t *sources,
                                size_t source_count) {
    qdq_apart apart;
    qdq_draft_step *step = step_to_extend(draft, x, y, sources, source_count, &apart);
    if (step) return step;
    step = add_step(draft, x);
    if (!step) return NULL;
    if (draft->graph->values[x].kind != QDQ_VALUE_INPUT) step->apart = apart, step->apart_from = x;
    note_read(draft, x, number_of(draft, step));
    return step;
}

// Adds the step that a tensor op begins.
static bool place_tensor_op(qdq_draft *draft, size_t index, qdq_stage *stage) {
    const qdq_node *node = &draft->graph->nodes[index];
    const qdq_value *inputs = draft->nodes[index].inputs;
    for (size_t i = 0; i < node->input_count; i++)
        if (inputs[i].id && !load_operand(draft, inputs[i].id)) return false;
    qdq_draft_step *step = add_step(draft, 0);
    if (!step) return false;
    step->tensor_op_node = node;
    step->tensor_op_inputs = inputs;
    step->on_integers = draft->nodes[index].quantized != NULL;
    step->tensor_op = stage;
    for (size_t i = node->input_count; i-- > 0;) {
        const qdq_draft_value *v = &draft->values[inputs[i].id];
        if (!inputs[i].id || v->made_step == QDQ_NO_STEP || v->cut) continue;
        step->apart = draft->storage.node_by_node ? QDQ_APART_NODE_BY_NODE : QDQ_APART_TENSOR_OP;
        step->apart_from = inputs[i].id;
    }
    if (draft->storage.node_by_node) step->tensor_op->packed = step->tensor_op->packed_bytes = 0;
    for (size_t i = 0; i < node->input_count; i++) {
        if (!inputs[i].id || qdq_draft_step_packs(step, i)) continue;
        note_read(draft, inputs[i].id, number_of(draft, step));
    }
    for (size_t i = 0; i < node->output_count; i++)
        note_made(draft, node->outputs[i], number_of(draft, step));
    return true;
}

// Explains in a new step of a sum whose x is an input why the sum does not follow its second
// operand.
static void explain_second(qdq_draft *draft, size_t index, const qdq_stage *stage,
                           qdq_draft_step *step) {
    const qdq_node *node = &draft->graph->nodes[index];
    if (step->apart || stage->reduce || stage->x != 0 || node->input_count != 2) return;
    uint32_t x = node->inputs[0].id, other = node->inputs[1].id;
    if (!other || !qdq_shape_equal(draft->values[x].type.shape, draft->values[other].type.shape))
        return;
    if (draft->graph->values[other].kind == QDQ_VALUE_INPUT) return;
    (void)step_to_extend(draft, other, node->outputs[0], &x, 1, &step->apart);
    step->apart_from = other;
}

// True if the next link belongs to the first node of the step. Copies of rows to tiles have no
// node.
static bool starts_step(const qdq_draft_step *step) {
    for (size_t i = 0; i < step->link_count; i++)
        if (step->links[i].node) return false;
    return !step->tensor_op_node;
}

// Returns the step of a stage that reads x. In a tiled plan an ordered reduction reads the rows of
// x, which tiles of a chain do not have.
static qdq_draft_step *step_of(qdq_draft *draft, const qdq_stage *stage, const qdq_draft_link *link,
                               uint32_t x) {
    bool by_rows = stage->reduce && stage->reduce->ordered && draft->storage.tiled;
    if (!by_rows)
        return load_x(draft, x)
                   ? step_for(draft, x, link->y, link->sources, stage->stage_param_count)
                   : NULL;
    qdq_draft_step *step = load(draft, x) ? add_step(draft, x) : NULL;
    if (!step) return NULL;
    if (draft->values[x].made_step != QDQ_NO_STEP)
        step->apart = QDQ_APART_REDUCTION_BY_ROWS, step->apart_from = x;
    note_read(draft, x, number_of(draft, step));
    return step;
}

// Adds a stage to a step. `stage` must live as long as the draft: steps point to it.
static bool place_stage(qdq_draft *draft, size_t index, qdq_stage *stage) {
    const qdq_node *node = &draft->graph->nodes[index];
    if (stage->tensor_op) return place_tensor_op(draft, index, stage);
    uint32_t x = node->inputs[stage->x].id;
    qdq_draft_link link = {.node = node, .stage = stage, .output = SIZE_MAX};
    for (size_t k = 0; k < stage->stage_param_count; k++) {
        link.sources[k] = source_of(node, &stage->stage_params[k]);
        if (link.sources[k] && !load_operand(draft, link.sources[k])) return false;
    }
    if (!stage->reduce) link.y = node->outputs[stage->y];
    qdq_draft_step *step = step_of(draft, stage, &link, x);
    if (!step) return false;
    if (starts_step(step)) explain_second(draft, index, stage, step);
    if (!stage->reduce) return add_link(draft, step, link) != NULL;
    step->reduce_node = node;
    step->reduce = stage;
    for (size_t k = 0; k < stage->stage_param_count; k++) {
        step->reduce_sources[k] = link.sources[k];
        if (link.sources[k]) note_read(draft, link.sources[k], number_of(draft, step));
    }
    for (size_t k = 0; k < stage->result_count; k++) {
        step->results[k] = node->outputs[stage->results[k]];
        note_made(draft, step->results[k], number_of(draft, step));
    }
    return true;
}

// Returns the input whose chain this node can extend while it reads the others as parameters; 0 if
// no chain can be extended. For a sum this is the operand computed last, on either side.
static size_t input_to_follow(qdq_draft *draft, const qdq_node *node) {
    uint32_t others[QDQ_MAX_STAGE_PARAMS];
    size_t count = node->input_count;
    qdq_apart apart;
    if (count > QDQ_MAX_STAGE_PARAMS) return 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) others[k] = k == i ? 0 : node->inputs[k].id;
        if (step_to_extend(draft, node->inputs[i].id, node->outputs[0], others, count, &apart))
            return i;
    }
    return 0;
}

static bool lower_node(qdq_draft *draft, size_t index) {
    qdq_findings silent = {.mempool = draft->mempool};
    qdq_op_context ctx;
    qdq_draft_context(draft, index, &silent, &ctx);
    qdq_lowering to = qdq_draft_lowering(draft, &ctx, draft->plan_mempool);
    to.shared = draft->shared;
    to.follows = input_to_follow(draft, &draft->graph->nodes[index]);
    qdq_stage made[QDQ_MAX_STAGES];
    size_t count = ctx.op->lower(&ctx, &to, made);
    qdq_stage *stages = qdq_mempool_copy(draft->mempool, made, count, sizeof *stages);
    if (!stages) return false;
    for (size_t i = 0; i < count; i++) {
        stages[i].block_float_store = to.numerics.block_float_store;
        if (!place_stage(draft, index, &stages[i])) return false;
    }
    return count > 0;
}

bool qdq_draft_is_only_returned(const qdq_draft *draft, uint32_t id) {
    const qdq_draft_value *v = &draft->values[id];
    return draft->storage.tiled && !draft->storage.node_by_node && !v->read && !v->kept &&
           !v->returned_twice && draft->graph->values[id].kind == QDQ_VALUE_MADE &&
           v->made_step != QDQ_NO_STEP;
}

// Adds the copy of a value's tiles for the caller to the step that computes them, if possible.
static bool lower_tiled_output(qdq_draft *draft, uint32_t id, size_t output) {
    if (qdq_draft_is_only_returned(draft, id)) return true;
    if (!load_x(draft, id)) return false;
    qdq_apart apart;
    qdq_draft_step *step = step_to_extend(draft, id, id, NULL, 0, &apart);
    if (!step) return add_copy(draft, id, output);
    return add_link(draft, step, (qdq_draft_link){.stage = &nothing, .output = output}) != NULL;
}

// Lowers the outputs: a step stores its result directly to the first output with that value;
// further outputs are copies.
static bool lower_outputs(qdq_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 0; i < graph->output_count; i++) {
        uint32_t id = graph->outputs[i].value.id;
        bool stored = draft->values[id].output == i && graph->values[id].kind == QDQ_VALUE_MADE;
        if (draft->storage.tiled ? !lower_tiled_output(draft, id, i)
                                 : !stored && !add_copy(draft, id, i))
            return false;
    }
    return true;
}

// Copies into the arena, before all chains, the inputs that do not start a chain: a chain may read
// them together with a value that it computes.
static bool load_early(qdq_draft *draft) {
    const qdq_graph *graph = draft->graph;
    if (!draft->storage.tiled || draft->storage.node_by_node) return true;
    for (size_t i = 0; i < graph->node_count; i++) {
        const qdq_node *node = &graph->nodes[i];
        bool reads_made = false;
        for (size_t k = 0; k < node->input_count; k++)
            reads_made |= graph->values[node->inputs[k].id].kind == QDQ_VALUE_MADE;
        for (size_t k = reads_made ? 0 : 1; k < node->input_count; k++)
            draft->values[node->inputs[k].id].early = true;
    }
    for (uint32_t id = 1; id < graph->value_count; id++) {
        const qdq_draft_value *v = &draft->values[id];
        if (v->early && v->live && !load(draft, id)) return false;
    }
    return true;
}

qdq_status qdq_lower(qdq_draft *draft, qdq_error *err) {
    bool done = qdq_draft_start(draft) && choose_inputs(draft) && load_early(draft);
    for (size_t i = 0; done && i < draft->graph->node_count; i++)
        if (qdq_draft_is_live(draft, &draft->graph->nodes[i])) done = lower_node(draft, i);
    done = done && lower_outputs(draft);
    return done ? QDQ_OK : qdq_draft_stopped(draft, err);
}
