// SPDX-License-Identifier: Apache-2.0
// Turns the steps of a draft into the steps of a plan: tile functions with the addresses of their
// operands.
//
// Six peepholes shorten a chain; redundant links stay in the plan and are skipped. Links that turn
// bytes into bytes, with values between them that live in L1 only and known per-tensor parameters,
// become one lookup table (qdq_join_links), and all but the last are skipped. So are a ReLU in
// front of a Quantize whose lowest code is the code of 0, and a ReLU6 if the highest is the code of 6
// or less (`cuts`, `ignores_cut`), a last link whose result has no place because other steps
// recompute it (recompute.c), a Quantize that the tensor op computes itself (qdq_stage_quantize),
// all links that the tensor op folds into its epilogue (qdq_stage_finish), and the links around an
// Add of codes (code_sums.c).
#include "graph/compile/compile.h"
#include "graph/compile/plan_text.h"
#include "graph/compile/plan_traffic.h"
#include "ops/kernels/kernel.h"
#include "ops/quantize/lookup_stages.h"
#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/block_float.h"
#include "runtime/tiles/kernels/nontemporal.h"

// Returns the place from which a step reads x: a copy into the arena reads its original place,
// every other step its final place.
static qdq_located x_of(const qdq_compiler *c, const qdq_draft_step *step,
                        const qdq_located *from) {
    const qdq_draft_link *first = step->link_count ? &step->links[0] : NULL;
    bool is_load = first && !first->node && first->output == SIZE_MAX;
    return is_load ? from[step->x] : c->located[step->x];
}

static const qdq_reduce *reduce_of(qdq_compiler *c, const qdq_draft_step *draft, size_t blocks) {
    enum { MAX_PARTIALS = QDQ_REDUCE_PARTIALS, MAX_STATE_BYTES = QDQ_REDUCE_STATE_BYTES };
    const qdq_stage *stage = draft->reduce;
    qdq_reduce *reduce = QDQ_MEMPOOL_NEW(&c->plan->mempool, qdq_reduce);
    if (!reduce) return NULL;
    *reduce = (qdq_reduce){.fns = stage->reduce,
                           .params = stage->params,
                           .stage_param_count = stage->stage_param_count,
                           .grid = stage->grid,
                           .result_count = stage->result_count};
    qdq_set_params(c, stage, draft->reduce_sources, NULL, 0, reduce->stage_params);
    size_t bytes = stage->grid->count * stage->reduce->state_bytes;
    reduce->partials = blocks < MAX_PARTIALS ? blocks : MAX_PARTIALS;
    if (stage->reduce->ordered && c->draft.storage.tiled) reduce->partials = 1;
    if (reduce->partials > MAX_STATE_BYTES / bytes)
        reduce->partials = MAX_STATE_BYTES / bytes ? MAX_STATE_BYTES / bytes : 1;
    reduce->states_offset = qdq_reserve_scratch(c, reduce->partials, bytes);
    for (size_t k = 0; k < stage->result_count; k++) {
        reduce->results[k] = c->located[draft->results[k]];
        reduce->results[k].place = qdq_place_of_made(c, draft->results[k]);
        reduce->results_offset[k] = qdq_reserve_scratch(c, stage->grid->count, 4);
    }
    return reduce;
}

// True for elements that share bytes or an exponent, which need whole tiles: block floats
// everywhere, packed dtypes where they lie in tiles.
static bool needs_tiles(qdq_place place, qdq_dtype dtype) {
    return (place.kind == QDQ_PLACE_ARENA && !qdq_tile_is_plain(dtype)) ||
           qdq_dtype_is_block_float(dtype);
}

// True if chunks of the first result go straight to its links and its tiles, so it needs no
// row-major copy.
static bool sinks(const qdq_compiler *c, const qdq_draft_step *draft) {
    uint32_t y = draft->tensor_op_node->outputs[0];
    return draft->link_count ||
           (draft->tensor_op->chunks && qdq_place_of_made(c, y).kind == QDQ_PLACE_ARENA &&
            qdq_tile_is_plain(c->located[y].dtype));
}

// Reserves a row-major copy of an operand that lies in tiles: *flat is its offset.
static void set_flat(qdq_compiler *c, qdq_tensor_op *tensor_op, const qdq_located *operand,
                     size_t *flat) {
    if (operand->place.kind != QDQ_PLACE_ARENA) return;
    size_t own = qdq_shape_count(operand->shape) * qdq_dtype_size(operand->dtype);
    *flat = tensor_op->flat_bytes;
    tensor_op->flat_bytes = qdq_size_add(tensor_op->flat_bytes, qdq_arena_aligned(own));
    if (c->plan->flat_bytes < tensor_op->flat_bytes) c->plan->flat_bytes = tensor_op->flat_bytes;
}

// Sets an operand that the tensor op reads. Tiles need no copy if the op reads them.
static void set_read(qdq_compiler *c, const qdq_draft_step *draft, size_t i, qdq_tensor_op *op) {
    bool reads = qdq_ports_have(draft->tensor_op_node->op, draft->tensor_op->reads_tiles, i);
    op->x[i] = c->located[draft->tensor_op_inputs[i].id];
    if (reads && op->x[i].place.kind == QDQ_PLACE_ARENA && qdq_tile_is_plain(op->x[i].dtype))
        op->x_tiling[i] = qdq_tiling_in(op->x[i].shape, op->x[i].tile);
    else
        set_flat(c, op, &op->x[i], &op->x_flat[i]);
}

static qdq_tensor_op *tensor_op_of(qdq_compiler *c, const qdq_draft_step *draft) {
    const qdq_node *node = draft->tensor_op_node;
    qdq_mempool *mempool = &c->plan->mempool;
    qdq_tensor_op *tensor_op = QDQ_MEMPOOL_NEW(mempool, qdq_tensor_op);
    if (!tensor_op) return NULL;
    *tensor_op = (qdq_tensor_op){
        .fn = draft->tensor_op->tensor_op,
        .params = draft->tensor_op->params,
        .units = draft->tensor_op->units,
        .cost = draft->tensor_op->cost,
        .x_count = node->input_count,
        .y_count = node->output_count,
        .x = qdq_mempool_array(mempool, node->input_count, sizeof *tensor_op->x),
        .y = qdq_mempool_array(mempool, node->output_count, sizeof *tensor_op->y),
        .x_tiling = qdq_mempool_array(mempool, node->input_count, sizeof *tensor_op->x_tiling),
        .x_flat = qdq_mempool_array(mempool, node->input_count, sizeof *tensor_op->x_flat),
        .y_flat = qdq_mempool_array(mempool, node->output_count, sizeof *tensor_op->y_flat),
    };
    if (!tensor_op->x || !tensor_op->y || !tensor_op->x_tiling || !tensor_op->x_flat ||
        !tensor_op->y_flat)
        return NULL;
    for (size_t i = 0; i < node->input_count; i++)
        if (draft->tensor_op_inputs[i].id && !qdq_draft_step_packs(draft, i))
            set_read(c, draft, i, tensor_op);
    tensor_op->sinks = sinks(c, draft);
    for (size_t i = 0; i < node->output_count; i++) {
        tensor_op->y[i] = c->located[node->outputs[i]];
        tensor_op->y[i].place = qdq_place_of_made(c, node->outputs[i]);
        if (i >= tensor_op->sinks) set_flat(c, tensor_op, &tensor_op->y[i], &tensor_op->y_flat[i]);
    }
    if (c->plan->operand_count < tensor_op->x_count) c->plan->operand_count = tensor_op->x_count;
    return tensor_op;
}

// True for large row-major results, which are stored past the cache; chunks of a tensor op are too
// short to gain.
static bool streams(const qdq_step *step, const qdq_link *link) {
    return !step->tiled &&
           (link->store.kind == QDQ_PLACE_OUTPUT || link->store.kind == QDQ_PLACE_ROWS) &&
           step->elements * qdq_dtype_size(link->y_dtype) >= QDQ_STREAM_BYTES;
}

// Joins links that map bytes to bytes into lookup tables, such as a Dequantize, a function and a
// Quantize, unless the tensor is so small that filling a table costs more.
static bool join_links(const qdq_compiler *c, qdq_step *step) {
    enum { LEAST_ELEMENTS = 4096 };
    qdq_dtype x = step->x.dtype;
    if (step->elements < LEAST_ELEMENTS) return true;
    for (size_t i = 0, joined; i < step->link_count; i += joined ? joined : 1) {
        if (!qdq_join_links(&step->links[i], step->link_count - i, x, &c->plan->mempool,
                            c->draft.isas, &joined))
            return false;
        x = step->links[i + (joined ? joined - 1 : 0)].y_dtype;
    }
    return true;
}

// Skips links that only change values which the next link ignores.
static void drop_cuts(const qdq_draft_step *draft, qdq_step *step) {
    for (size_t i = 1; i < step->link_count; i++) {
        const qdq_node *cut = draft->links[i - 1].node, *node = draft->links[i].node;
        qdq_link *first = &step->links[i - 1], *second = first + 1;
        qdq_dtype x = i > 1 ? first[-1].y_dtype : step->x.dtype;
        float most;
        if (cut && node && qdq_fusion_of(cut->op)->cuts && first->fn && second->fn &&
            qdq_fusion_of(cut->op)->cuts(first, &most) && first->store.kind == QDQ_PLACE_NONE &&
            x == first->y_dtype && qdq_fusion_of(node->op)->ignores_cut &&
            qdq_fusion_of(node->op)->ignores_cut(second, most))
            first->fn = NULL;
    }
}

// Skips the last links if none of their results is stored.
static void drop_unread(const qdq_compiler *c, const qdq_draft_step *draft, qdq_step *step) {
    if (c->draft.storage.tiled || draft->reduce_node) return;
    for (size_t i = step->link_count; i-- > 0 && !step->links[i].store.kind;)
        step->links[i].fn = NULL;
}

static bool set_links(qdq_compiler *c, const qdq_draft_step *draft, qdq_step *step) {
    step->links = qdq_mempool_array(&c->plan->mempool, draft->link_count, sizeof *step->links);
    if (!step->links) return false;
    step->link_count = draft->link_count;
    for (size_t i = 0; i < draft->link_count; i++) {
        uint32_t x = i ? draft->links[i - 1].y : draft->x;
        if (!i && draft->tensor_op_node) x = draft->tensor_op_node->outputs[0];
        step->links[i] = qdq_link_of(c, &draft->links[i], x);
        step->computes_padding |= needs_tiles(step->links[i].store, step->links[i].y_dtype);
    }
    if (!join_links(c, step)) return false;
    drop_cuts(draft, step);
    if (!qdq_join_sums(c, draft, step)) return false;
    drop_unread(c, draft, step);
    return true;
}

// True if a tensor op may write the result of one of its links, which lies in the caller's rows, in
// rows of the arena, or in tiles, to which the exec copies it.
static bool may_write(const qdq_compiler *c, const qdq_step *step, const qdq_link *link) {
    return !step->x.place.kind && !c->draft.storage.node_by_node &&
           !needs_tiles(link->store, link->y_dtype);
}

// Lets a tensor op write the result of a link in its place, and the links after it take that.
static void take_result(qdq_compiler *c, const qdq_draft_step *draft, qdq_step *step, size_t i,
                        qdq_tensor_op *tensor_op) {
    qdq_link *link = &step->links[i];
    if (draft->links[i].y) step->x = c->located[draft->links[i].y];
    step->x.dtype = link->y_dtype;
    step->x.place = link->store;
    step->tiling = qdq_tiling_in(step->x.shape, step->x.tile);
    tensor_op->y[0] = step->x;
    tensor_op->sinks = false;
    for (size_t k = 0; k <= i; k++) step->links[k].fn = NULL, step->links[k].store.kind = 0;
    for (; i < step->link_count; i++) tensor_op->sinks |= step->links[i].fn != NULL;
    if (!tensor_op->sinks) set_flat(c, tensor_op, &tensor_op->y[0], &tensor_op->y_flat[0]);
}

// Lets a tensor op compute the Quantize that reads its result, if the Quantize is the only reader.
// Links that only cut values which the Quantize ignores are already skipped.
static void quantize_result(qdq_compiler *c, const qdq_draft_step *draft, qdq_step *step,
                            qdq_tensor_op *tensor_op) {
    qdq_stage_quantize *quantize = draft->tensor_op->quantize;
    size_t i = 0;
    if (!quantize) return;
    while (i < step->link_count && !step->links[i].fn) i++;
    if (i == step->link_count || !draft->links[i].node) return;
    const qdq_op_fusion *fusion = qdq_fusion_of(draft->links[i].node->op);
    const qdq_link *link = &step->links[i];
    if (fusion->quantizes && may_write(c, step, link) && fusion->quantizes(link, quantize))
        take_result(c, draft, step, i, tensor_op);
}

// Folds the links of a step into its tensor op's epilogue. False if one does not fit; else *last is
// the last link, and *addend the operand of a sum, or NULL.
static bool add_links(const qdq_draft_step *draft, const qdq_step *step, qdq_stage_finish *finish,
                      size_t *last, const qdq_located **addend) {
    for (size_t i = 0; i < step->link_count; i++) {
        const qdq_link *link = &step->links[i];
        const qdq_node *node = draft->links[i].node;
        if (!link->fn) continue;
        if (*last != SIZE_MAX && step->links[*last].store.kind) return false;
        const qdq_op_fusion *fusion = node ? qdq_fusion_of(node->op) : NULL;
        if (!fusion || !fusion->finishes || !fusion->finishes(link, finish)) return false;
        if (link->stage_param_count) {
            if (link->stage_params[0].count != step->elements) return false;
            *addend = &link->stage_params[0].source;
        }
        *last = i;
    }
    return *last != SIZE_MAX;
}

// Lets a tensor op compute all links of its step on its results, if it can.
static void finish_result(qdq_compiler *c, const qdq_draft_step *draft, qdq_step *step,
                          qdq_tensor_op *tensor_op) {
    qdq_stage_finish *to = draft->tensor_op->finish, finish = {.finishes = true};
    size_t last = SIZE_MAX;
    const qdq_located *addend = NULL;
    if (!to || !tensor_op->sinks || !add_links(draft, step, &finish, &last, &addend) ||
        !may_write(c, step, &step->links[last]))
        return;
    *to = finish;
    if (addend) tensor_op->addend = *addend;
    take_result(c, draft, step, last, tensor_op);
    set_flat(c, tensor_op, &tensor_op->addend, &tensor_op->addend_flat);
}

// True if the only link of a step goes from row-major memory to row-major memory, with parameters
// that need no decoding block by block.
static bool is_direct(const qdq_step *step) {
    const qdq_link *link = &step->links[0];
    if (step->tiled || step->link_count != 1 || !qdq_place_is_row_major(link->store) ||
        !qdq_place_is_row_major(step->x.place))
        return false;
    for (size_t k = 0; k < link->stage_param_count; k++)
        if (link->stage_params[k].fetch == QDQ_FETCH_BLOCK ||
            link->stage_params[k].fetch == QDQ_FETCH_THROUGH ||
            link->stage_params[k].fetch == QDQ_FETCH_BYTES ||
            link->stage_params[k].fetch == QDQ_FETCH_TILES)
            return false;
    return true;
}

// True if the only link of a step copies rows to tiles or tiles to rows.
static bool is_move(const qdq_step *step) {
    if (!step->tiled || step->link_count != 1 || !step->links[0].copies) return false;
    qdq_place_kind from = step->x.place.kind, to = step->links[0].store.kind;
    return from == QDQ_PLACE_ARENA ? to == QDQ_PLACE_OUTPUT : to == QDQ_PLACE_ARENA;
}

// Prepares the only link of a step from rows to rows, if it has one scale, and perhaps one zero
// point, for each element of a row. False if memory runs out.
static bool prepare_scales(const qdq_compiler *c, qdq_step *step) {
    qdq_link *link = &step->links[0];
    if (step->link_count != 1 || link->stage_param_count != 2) return true;
    const qdq_param *scale = &link->stage_params[0];
    bool along_rows =
        scale->count > 1 && is_direct(step) && qdq_grid_walk_from(scale->grid, 0).step;
    return !along_rows || qdq_quantize_prepare(link, &c->plan->mempool);
}

static qdq_step_shape shape_of(const qdq_step *step) {
    if (step->tensor_op) return QDQ_STEP_TENSOR_OP;
    if (step->reduce) return QDQ_STEP_REDUCE;
    if (is_direct(step)) return QDQ_STEP_DIRECT;
    return is_move(step) ? QDQ_STEP_MOVE : QDQ_STEP_BLOCKS;
}

// A tensor op starts its step; links process the chunks of its first output, which are runs of rows
// even where they are stored to tiles.
static bool build_tensor_op(qdq_compiler *c, const qdq_draft_step *draft, qdq_step *step) {
    qdq_tensor_op *tensor_op = tensor_op_of(c, draft);
    if (!tensor_op) return false;
    *step = (qdq_step){.tensor_op = tensor_op};
    if (!tensor_op->sinks) return true;
    step->x = tensor_op->y[0];
    step->tiling = qdq_tiling_in(step->x.shape, step->x.tile);
    step->elements = qdq_shape_count(step->x.shape);
    tensor_op->cost += draft->link_count * step->elements;
    if (!set_links(c, draft, step)) return false;
    quantize_result(c, draft, step, tensor_op);
    finish_result(c, draft, step, tensor_op);
    return true;
}

static qdq_status build_step(qdq_compiler *c, const qdq_draft_step *draft, const qdq_located *from,
                             qdq_step *step) {
    bool on_device = c->draft.storage.on_device;
    if (draft->tensor_op_node) {
        if (!build_tensor_op(c, draft, step)) return qdq_draft_stopped(&c->draft, c->err);
        qdq_read_params_by_strips(step);
        step->defines_padding = on_device;
        return QDQ_OK;
    }
    *step = (qdq_step){.x = x_of(c, draft, from), .defines_padding = on_device};
    step->elements = qdq_shape_count(step->x.shape);
    step->computes_padding = needs_tiles(step->x.place, step->x.dtype);
    if (!set_links(c, draft, step)) return qdq_draft_stopped(&c->draft, c->err);
    qdq_choose_blocks(c, step);
    if (!step->tiled) qdq_read_params_by_strips(step);
    for (size_t i = 0; i < draft->link_count; i++)
        step->links[i].streams = streams(step, &step->links[i]);
    if (!prepare_scales(c, step)) return qdq_draft_stopped(&c->draft, c->err);
    if (draft->reduce_node) {
        step->reduce = reduce_of(c, draft, step->blocks);
        if (!step->reduce) return qdq_draft_stopped(&c->draft, c->err);
    }
    return QDQ_OK;
}

static size_t operations_of(const qdq_step *step) {
    if (step->tensor_op) return step->tensor_op->cost;
    size_t passes = step->link_count + (step->reduce != NULL);
    return qdq_size_times(step->elements, passes);
}

qdq_status qdq_compile_steps(qdq_compiler *c, const qdq_located *from) {
    qdq_plan *plan = c->plan;
    size_t count = c->draft.step_count;
    plan->steps = qdq_mempool_array(&plan->mempool, count, sizeof *plan->steps);
    plan->step_infos = qdq_mempool_array(&plan->mempool, count, sizeof *plan->step_infos);
    qdq_traffic traffic = {
        .last_reader = qdq_mempool_array(&c->scratch, c->draft.graph->value_count, sizeof(size_t))};
    if (!plan->steps || !plan->step_infos || !traffic.last_reader)
        return qdq_draft_stopped(&c->draft, c->err);
    plan->step_count = count;
    for (size_t i = 0; i < count; i++) {
        QDQ_TRY(build_step(c, &c->draft.steps[i], from, &plan->steps[i]));
        plan->steps[i].shape = shape_of(&plan->steps[i]);
        size_t operations = operations_of(&plan->steps[i]);
        plan->stats.operations = qdq_size_add(plan->stats.operations, operations);
        plan->step_infos[i].operations = operations;
        qdq_count_traffic(&c->draft, &c->draft.steps[i], &plan->steps[i], &plan->step_infos[i],
                          &traffic);
        qdq_describe_step(&c->draft, &c->draft.steps[i], &plan->steps[i], &plan->step_infos[i]);
    }
    for (size_t i = 0; i < plan->output_count; i++)
        traffic.necessary_bytes = qdq_size_add(traffic.necessary_bytes, plan->outputs[i].bytes);
    plan->stats.moved_bytes = traffic.moved_bytes;
    plan->stats.necessary_bytes = traffic.necessary_bytes;
    plan->stats.value_count = plan->value_count;
    plan->stats.step_count = plan->step_count;
    return plan->mempool.failed ? qdq_draft_stopped(&c->draft, c->err) : QDQ_OK;
}
