// SPDX-License-Identifier: Apache-2.0
// Places values in the arena: which of them need a slot, from which step to which, and which result
// takes the memory of x. runtime/arena/memory_plan.c turns lifetimes into offsets.
#include "graph/compile/compile.h"
#include "runtime/arena/memory_plan.h"
#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/block_float.h"

// True for values that need a slot in the arena. Node by node, every value does. Otherwise a value
// does if it is kept or a later step reads it. Outputs need it in a tiled plan only: elsewhere they
// are read back from the caller's memory.
static bool lies_in_arena(const qdq_compiler *c, size_t id) {
    const qdq_draft_value *v = &c->draft.values[id];
    const qdq_storage *storage = &c->draft.storage;
    if (v->first_step == QDQ_NO_STEP) return false;
    if (storage->tiled)
        return storage->node_by_node || v->loaded || v->cut || v->read || v->kept ||
               v->output != SIZE_MAX;
    return v->loaded || ((v->read || v->kept) && v->output == SIZE_MAX);
}

// True if a value of the arena lies in rows: in a plan that is not tiled, except block floats,
// which have no form but tiles.
static bool lies_in_rows(const qdq_compiler *c, size_t id) {
    return !c->draft.storage.tiled && !qdq_dtype_is_block_float(c->draft.values[id].type.dtype);
}

// Returns the memory that a value occupies: in a tiled plan whole pages.
static size_t slot_bytes(const qdq_compiler *c, size_t bytes) {
    if (!c->draft.storage.tiled) return bytes;
    size_t more = qdq_size_add(bytes, QDQ_PAGE_BYTES - 1);
    return more == SIZE_MAX ? SIZE_MAX : more / QDQ_PAGE_BYTES * QDQ_PAGE_BYTES;
}

static void describe_slot(qdq_compiler *c, size_t id, size_t slot) {
    const qdq_draft_value *v = &c->draft.values[id];
    bool rows = lies_in_rows(c, id);
    qdq_tiling tiling =
        rows ? (qdq_tiling){0} : qdq_tiling_in(c->located[id].shape, c->located[id].tile);
    size_t tile = qdq_tile_shape_bytes(tiling.tile, v->type.dtype);
    size_t elements = qdq_shape_count(v->type.shape);
    size_t bytes = rows ? qdq_size_times(elements, qdq_dtype_size(v->type.dtype))
                        : qdq_size_times(tiling.tiles, tile);
    size_t last_step = v->kept ? c->draft.step_count - 1 : v->last_step;
    c->slot_of[id] = slot;
    c->lifetimes[slot] =
        (qdq_lifetime){v->first_step, last_step, slot_bytes(c, bytes), QDQ_NOT_IN_PLACE, 0};
    c->plan->values[slot] = (qdq_plan_value){
        .name = qdq_mempool_strdup(&c->plan->mempool, c->draft.graph->values[id].name),
        .dtype = v->type.dtype,
        .shape = v->type.shape,
        .padded_shape =
            rows ? v->type.shape : qdq_padded_shape_in(c->located[id].shape, tiling.tile),
        .tiles = tiling.tiles,
        .bytes = bytes,
        .first_step = v->first_step,
        .last_step = last_step,
        .tile = tiling.tile,
    };
    c->plan->stats.tiles += tiling.tiles;
    // Elements that share bytes, or an exponent, share them in groups that divide a tile.
    size_t whole = qdq_tile_shape_elements(tiling.tile);
    if (rows) return;
    size_t used = elements / whole * tile + (elements % whole * tile + whole - 1) / whole;
    c->plan->stats.padding_bytes = qdq_size_add(c->plan->stats.padding_bytes, bytes - used);
}

// True if a link reads value `id` as a parameter, not as its x. A parameter of the step's reduction
// needs no look: the Quantize of the same node reads it in a later step, so x does not end here.
static bool reads_beside(const qdq_draft_step *step, uint32_t id) {
    for (size_t i = 0; i < step->link_count; i++)
        for (size_t k = 0; k < step->links[i].stage->stage_param_count; k++)
            if (step->links[i].sources[k] == id) return true;
    return false;
}

// Lets the first suitable result of a step reuse the memory of x. The result has the size and the
// tiles of x, and nothing reads x later or as a parameter of the same step. Tensor ops are
// excluded: they may read an element of x after storing others.
static void make_in_place(qdq_compiler *c, size_t index) {
    const qdq_draft_step *step = &c->draft.steps[index];
    size_t x = c->slot_of[step->x];
    if (x == SIZE_MAX || c->lifetimes[x].last_step != index || c->draft.values[step->x].kept ||
        c->lifetimes[x].first_step == index || reads_beside(step, step->x))
        return;
    for (size_t i = 0; i < step->link_count; i++) {
        size_t y = step->links[i].y ? c->slot_of[step->links[i].y] : SIZE_MAX;
        if (y == SIZE_MAX || y == x || c->plan->values[y].bytes != c->plan->values[x].bytes ||
            lies_in_rows(c, step->links[i].y) != lies_in_rows(c, step->x) ||
            !qdq_shape_equal(c->located[step->links[i].y].shape, c->located[step->x].shape) ||
            !qdq_tile_shape_equal(c->located[step->links[i].y].tile, c->located[step->x].tile))
            continue;
        c->lifetimes[y].in_place_of = x;
        return;
    }
}

// Gives a value the next slot if it needs one and has none: an input that is cut has several
// readers.
static void add_slot(qdq_compiler *c, size_t id, size_t *slot) {
    if (lies_in_arena(c, id) && c->slot_of[id] == SIZE_MAX) describe_slot(c, id, (*slot)++);
}

// Adds the slots of inputs that a step reads as parameters, or as operands of its tensor op.
static void add_input_slots(qdq_compiler *c, const qdq_draft_step *step, size_t *slot) {
    for (size_t i = 0; step->tensor_op_node && i < step->tensor_op_node->input_count; i++)
        if (c->draft.values[step->tensor_op_inputs[i].id].cut)
            add_slot(c, step->tensor_op_inputs[i].id, slot);
    for (size_t i = 0; i < step->link_count; i++)
        for (size_t k = 0; k < step->links[i].stage->stage_param_count; k++)
            if (c->draft.values[step->links[i].sources[k]].cut)
                add_slot(c, step->links[i].sources[k], slot);
    for (size_t k = 0; step->reduce_node && k < step->reduce->stage_param_count; k++)
        if (c->draft.values[step->reduce_sources[k]].cut)
            add_slot(c, step->reduce_sources[k], slot);
}

// Numbers slots in the order in which values are computed, so a value that reuses memory comes
// after the value it replaces.
static void describe_slots(qdq_compiler *c) {
    size_t slot = 0;
    for (size_t i = 0; i < c->draft.step_count; i++) {
        const qdq_draft_step *step = &c->draft.steps[i];
        add_input_slots(c, step, &slot);
        for (size_t k = 0; step->tensor_op_node && k < step->tensor_op_node->output_count; k++)
            add_slot(c, step->tensor_op_node->outputs[k], &slot);
        for (size_t k = 0; k < step->link_count; k++)
            if (step->links[k].y) add_slot(c, step->links[k].y, &slot);
        for (size_t k = 0; step->reduce_node && k < step->reduce->result_count; k++)
            add_slot(c, step->results[k], &slot);
    }
}

qdq_status qdq_compile_arena(qdq_compiler *c) {
    const qdq_graph *graph = c->draft.graph;
    qdq_plan *plan = c->plan;
    size_t count = 0;
    for (size_t id = 1; id < graph->value_count; id++) count += lies_in_arena(c, id);
    plan->value_count = count;
    plan->values = qdq_mempool_array(&plan->mempool, count, sizeof *plan->values);
    c->lifetimes = qdq_mempool_array(&c->scratch, count, sizeof *c->lifetimes);
    c->slot_of = qdq_mempool_array(&c->scratch, graph->value_count, sizeof *c->slot_of);
    if (!plan->values || !c->lifetimes || !c->slot_of) return qdq_draft_stopped(&c->draft, c->err);
    for (size_t id = 0; id < graph->value_count; id++) c->slot_of[id] = SIZE_MAX;

    describe_slots(c);
    for (size_t slot = 0; slot < count; slot++)
        if (c->lifetimes[slot].bytes == SIZE_MAX)
            return qdq_fail(c->err, QDQ_ERR_LIMIT,
                            "value '%s' takes more bytes %sthan an address can count",
                            plan->values[slot].name, plan->values[slot].tiles ? "in tiles " : "");
    for (size_t i = 0; i < c->draft.step_count; i++) make_in_place(c, i);

    qdq_memory_plan memory;
    if (!qdq_plan_memory(c->lifetimes, count, &c->scratch, &memory)) {
        if (c->scratch.failed) return qdq_draft_stopped(&c->draft, c->err);
        return qdq_fail(c->err, QDQ_ERR_LIMIT,
                        "the %zu values of the plan take more bytes together than an address can "
                        "count",
                        count);
    }
    plan->stats.tiled = c->draft.storage.tiled;
    plan->stats.page_bytes = QDQ_PAGE_BYTES;
    plan->stats.arena_bytes = memory.arena_bytes;
    plan->stats.peak_live_bytes = memory.peak_live_bytes;
    for (size_t id = 1; id < graph->value_count; id++) {
        const qdq_draft_value *v = &c->draft.values[id];
        if (c->slot_of[id] != SIZE_MAX) {
            size_t offset = c->lifetimes[c->slot_of[id]].offset;
            plan->values[c->slot_of[id]].offset = offset;
            if (v->cut) continue;  // it stays in the caller's rows
            c->located[id].place =
                (qdq_place){lies_in_rows(c, id) ? QDQ_PLACE_ROWS : QDQ_PLACE_ARENA, offset};
        } else if (v->made_step != QDQ_NO_STEP && v->output != SIZE_MAX) {
            c->located[id].place = (qdq_place){QDQ_PLACE_OUTPUT, v->output};
        }
    }
    return QDQ_OK;
}
