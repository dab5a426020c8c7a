// SPDX-License-Identifier: Apache-2.0
// A graph becomes a plan: steps from graph/lower.c, a place for every value, memory for the places.
#include <stdio.h>
#include <string.h>

#include "graph/lower.h"
#include "graph/plan_text.h"
#include "runtime/block_float.h"
#include "runtime/cpu.h"
#include "runtime/dtype.h"
#include "runtime/memory_plan.h"

typedef struct compiler {
    qdq_pool scratch;  // what is not part of the plan
    qdq_draft draft;
    qdq_plan *plan;
    qdq_located *located;     // per graph value
    qdq_lifetime *lifetimes;  // per arena value
    size_t *slot_of;          // graph value -> arena value
    qdq_error *err;
} compiler;

static qdq_status no_memory(const compiler *c) {
    return qdq_fail(c->err, QDQ_ERR_MEMORY, "out of memory while compiling the graph");
}

static size_t aligned(size_t bytes) {
    return (bytes + QDQ_ARENA_ALIGN - 1) / QDQ_ARENA_ALIGN * QDQ_ARENA_ALIGN;
}

//---- Inputs, outputs, constants ---------------------------------------------

static qdq_tensor_info info_of(const compiler *c, const char *name, qdq_type type) {
    return (qdq_tensor_info){qdq_pool_strdup(&c->plan->pool, name), type.dtype, type.shape,
                             qdq_shape_count(type.shape) * qdq_dtype_size(type.dtype)};
}

static qdq_status list_io(compiler *c) {
    const qdq_graph *graph = c->draft.graph;
    qdq_plan *plan = c->plan;
    plan->inputs = qdq_pool_array(&plan->pool, graph->value_count, sizeof *plan->inputs);
    plan->outputs = qdq_pool_array(&plan->pool, graph->output_count, sizeof *plan->outputs);
    if (!plan->inputs || !plan->outputs) return no_memory(c);
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *v = &graph->values[i];
        if (v->kind != QDQ_VALUE_INPUT) continue;
        c->located[i].place = (qdq_place){QDQ_PLACE_INPUT, plan->input_count};
        plan->inputs[plan->input_count++] = info_of(c, v->name, v->type);
    }
    for (size_t i = 0; i < graph->output_count; i++) {
        const qdq_graph_output *out = &graph->outputs[i];
        plan->outputs[plan->output_count++] =
            info_of(c, out->name, graph->values[out->value.id].type);
    }
    for (size_t i = 0; i < plan->input_count; i++) plan->stats.io_bytes += plan->inputs[i].bytes;
    for (size_t i = 0; i < plan->output_count; i++) plan->stats.io_bytes += plan->outputs[i].bytes;
    return plan->pool.failed ? no_memory(c) : QDQ_OK;
}

// Constants that steps read as x are kept row-major; those that are parameters live in their links.
static qdq_status keep_constants(compiler *c) {
    const qdq_graph *graph = c->draft.graph;
    size_t bytes = 0;
    for (size_t i = 0; i < c->draft.step_count; i++) {
        uint32_t x = c->draft.steps[i].x;
        if (graph->values[x].kind != QDQ_VALUE_CONSTANT || c->located[x].place.kind) continue;
        c->located[x].place = (qdq_place){QDQ_PLACE_CONSTANT, bytes};
        bytes += aligned(info_of(c, "", graph->values[x].type).bytes);
    }
    char *constants = qdq_pool_array(&c->plan->pool, bytes, 1);
    if (!constants) return no_memory(c);
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_located *l = &c->located[i];
        if (l->place.kind == QDQ_PLACE_CONSTANT)
            memcpy(constants + l->place.at, graph->values[i].data,
                   qdq_shape_count(l->shape) * qdq_dtype_size(l->dtype));
    }
    c->plan->constants = constants;
    c->plan->stats.constant_bytes = bytes;
    return QDQ_OK;
}

//---- The arena --------------------------------------------------------------

// Values with memory of their own: materialized all, else those that a later step reads and that
// are no output (an output's memory is read back instead).
static bool lies_in_arena(const compiler *c, size_t id) {
    const qdq_draft_value *v = &c->draft.values[id];
    if (v->made_step == QDQ_NO_STEP) return false;
    return c->draft.options.materialize || (v->read && v->output == SIZE_MAX);
}

static void describe_slot(compiler *c, size_t id, size_t slot) {
    const qdq_draft_value *v = &c->draft.values[id];
    qdq_tiling tiling = qdq_tiling_of(v->type.shape);
    size_t bytes = tiling.tiles * qdq_tile_bytes(v->type.dtype);
    c->slot_of[id] = slot;
    c->lifetimes[slot] = (qdq_lifetime){v->made_step, v->last_step, bytes, QDQ_NOT_IN_PLACE, 0};
    c->plan->values[slot] = (qdq_plan_value){
        .name = qdq_pool_strdup(&c->plan->pool, c->draft.graph->values[id].name),
        .dtype = v->type.dtype,
        .shape = v->type.shape,
        .padded_shape = qdq_padded_shape(v->type.shape),
        .tiles = tiling.tiles,
        .bytes = bytes,
        .first_step = v->made_step,
        .last_step = v->last_step,
    };
    c->plan->stats.tiles += tiling.tiles;
    size_t used = qdq_shape_count(v->type.shape) * qdq_tile_bytes(v->type.dtype);
    c->plan->stats.padding_bytes += bytes - (used + QDQ_TILE_ELEMENTS - 1) / QDQ_TILE_ELEMENTS;
}

// The first link of a step whose result can take over the memory of x does so: tiles of the same
// size, and nobody reads x afterwards.
static void make_in_place(compiler *c, size_t index) {
    const qdq_draft_step *step = &c->draft.steps[index];
    size_t x = c->slot_of[step->x];
    if (x == SIZE_MAX || c->lifetimes[x].last_step != index || c->lifetimes[x].first_step == index)
        return;
    for (size_t i = 0; i < step->link_count; i++) {
        size_t y = step->links[i].y ? c->slot_of[step->links[i].y] : SIZE_MAX;
        if (y == SIZE_MAX || c->lifetimes[y].bytes != c->lifetimes[x].bytes) continue;
        c->lifetimes[y].in_place_of = x;
        return;
    }
}

static qdq_status plan_arena(compiler *c) {
    const qdq_graph *graph = c->draft.graph;
    qdq_plan *plan = c->plan;
    size_t count = 0;
    for (size_t id = 1; id < graph->value_count; id++) count += lies_in_arena(c, id);
    plan->value_count = count;
    plan->values = qdq_pool_array(&plan->pool, count, sizeof *plan->values);
    c->lifetimes = qdq_pool_array(&c->scratch, count, sizeof *c->lifetimes);
    c->slot_of = qdq_pool_array(&c->scratch, graph->value_count, sizeof *c->slot_of);
    if (!plan->values || !c->lifetimes || !c->slot_of) return no_memory(c);
    for (size_t id = 0; id < graph->value_count; id++) c->slot_of[id] = SIZE_MAX;

    // In the order in which they are made, so that a value comes after one it is made in place of.
    size_t slot = 0;
    for (size_t i = 0; i < c->draft.step_count; i++) {
        const qdq_draft_step *step = &c->draft.steps[i];
        for (size_t k = 0; k < step->link_count; k++)
            if (step->links[k].y && lies_in_arena(c, step->links[k].y))
                describe_slot(c, step->links[k].y, slot++);
        for (size_t k = 0; step->reduce_node && k < step->reduce.result_count; k++)
            if (lies_in_arena(c, step->results[k])) describe_slot(c, step->results[k], slot++);
    }
    for (size_t i = 0; i < c->draft.step_count; i++) make_in_place(c, i);

    qdq_memory_plan memory;
    if (!qdq_plan_memory(c->lifetimes, count, &c->scratch, &memory)) return no_memory(c);
    plan->stats.arena_bytes = memory.arena_bytes;
    plan->stats.peak_live_bytes = memory.peak_live_bytes;
    for (size_t id = 1; id < graph->value_count; id++) {
        const qdq_draft_value *v = &c->draft.values[id];
        if (c->slot_of[id] != SIZE_MAX) {
            size_t offset = c->lifetimes[c->slot_of[id]].offset;
            plan->values[c->slot_of[id]].offset = offset;
            c->located[id].place = (qdq_place){QDQ_PLACE_ARENA, offset};
        } else if (v->made_step != QDQ_NO_STEP && v->output != SIZE_MAX) {
            c->located[id].place = (qdq_place){QDQ_PLACE_OUTPUT, v->output};
        }
    }
    return QDQ_OK;
}

//---- Steps ------------------------------------------------------------------

// Scratch of the exec.
static size_t reserve(compiler *c, size_t bytes) {
    size_t at = c->plan->vector_bytes;
    c->plan->vector_bytes += aligned(bytes);
    return at;
}

static void copy_tile(const void *params, const qdq_view *views, const void *x, void *y, size_t n) {
    (void)views;
    memcpy(y, x, n * qdq_dtype_size(*(const qdq_dtype *)params));
}

// Where a step reads x: a load into the arena reads it from where it comes from.
static qdq_located x_of(const compiler *c, const qdq_draft_step *step, const qdq_located *from) {
    const qdq_draft_link *first = step->link_count ? &step->links[0] : NULL;
    bool is_load = first && !first->node && first->output == SIZE_MAX;
    return is_load ? from[step->x] : c->located[step->x];
}

static void set_vectors(compiler *c, const qdq_stage *stage, const uint32_t *sources,
                        qdq_vector *vectors) {
    for (size_t k = 0; k < stage->vector_count; k++) {
        const qdq_stage_vector *from = &stage->vectors[k];
        vectors[k] = (qdq_vector){.is_int = from->is_int,
                                  .grid = from->grid,
                                  .count = from->count,
                                  .values = from->values};
        if (!sources[k]) continue;
        vectors[k].source = c->located[sources[k]];
        vectors[k].exec_offset = reserve(c, from->count * (4 + QDQ_MAX_ELEMENT_BYTES));
    }
}

static qdq_link link_of(compiler *c, const qdq_draft_link *draft, uint32_t x) {
    uint32_t y = draft->y ? draft->y : x;
    qdq_link link = {.fn = draft->stage.fn,
                     .params = draft->stage.params,
                     .y_dtype = c->located[y].dtype,
                     .vector_count = draft->stage.vector_count};
    if (!draft->node) {
        link.fn = copy_tile;
        link.params = qdq_pool_copy(&c->plan->pool, &c->located[x].dtype, 1, sizeof(qdq_dtype));
    }
    if (draft->output != SIZE_MAX)
        link.store = (qdq_place){QDQ_PLACE_OUTPUT, draft->output};
    else
        link.store = c->located[y].place;
    set_vectors(c, &draft->stage, draft->sources, link.vectors);
    return link;
}

static const qdq_reduce *reduce_of(compiler *c, const qdq_draft_step *draft, size_t blocks) {
    enum { MAX_CHUNKS = 64, MAX_STATE_BYTES = 1 << 20 };
    const qdq_stage *stage = &draft->reduce;
    qdq_reduce *reduce = QDQ_POOL_NEW(&c->plan->pool, qdq_reduce);
    if (!reduce) return NULL;
    *reduce = (qdq_reduce){.fns = stage->reduce,
                           .params = stage->params,
                           .vector_count = stage->vector_count,
                           .grid = stage->grid,
                           .result_count = stage->result_count};
    set_vectors(c, stage, draft->reduce_sources, reduce->vectors);
    size_t bytes = stage->grid.count * stage->reduce->state_bytes;
    reduce->chunks = blocks < MAX_CHUNKS ? blocks : MAX_CHUNKS;
    if (reduce->chunks > MAX_STATE_BYTES / bytes)
        reduce->chunks = MAX_STATE_BYTES / bytes ? MAX_STATE_BYTES / bytes : 1;
    reduce->states_offset = reserve(c, reduce->chunks * bytes);
    for (size_t k = 0; k < stage->result_count; k++) {
        reduce->results[k] = c->located[draft->results[k]];
        reduce->results_offset[k] = reserve(c, stage->grid.count * 4);
    }
    return reduce;
}

// The arena has tiles, and a block float has no other form that says which elements belong
// together.
static bool needs_tiles(qdq_place place, qdq_dtype dtype) {
    return place.kind == QDQ_PLACE_ARENA || qdq_dtype_is_block_float(dtype);
}

// Results beyond this are stored past the cache.
enum { STREAM_BYTES = 16 << 20 };

static bool streams(const qdq_step *step, const qdq_link *link) {
    return !step->tiled && link->store.kind == QDQ_PLACE_OUTPUT &&
           step->elements * qdq_dtype_size(link->y_dtype) >= STREAM_BYTES;
}

static qdq_status build_step(compiler *c, const qdq_draft_step *draft, const qdq_located *from,
                             qdq_step *step) {
    *step = (qdq_step){.x = x_of(c, draft, from), .link_count = draft->link_count};
    step->tiling = qdq_tiling_of(step->x.shape);
    step->elements = qdq_shape_count(step->x.shape);
    step->tiled = needs_tiles(step->x.place, step->x.dtype);
    step->links = qdq_pool_array(&c->plan->pool, draft->link_count, sizeof *step->links);
    if (!step->links) return no_memory(c);
    for (size_t i = 0; i < draft->link_count; i++) {
        step->links[i] = link_of(c, &draft->links[i], draft->x);
        step->tiled |= needs_tiles(step->links[i].store, step->links[i].y_dtype);
    }
    for (size_t i = 0; i < draft->link_count; i++)
        step->links[i].streams = streams(step, &step->links[i]);
    step->blocks = step->tiled ? step->tiling.tiles
                               : (step->elements + QDQ_BLOCK_ELEMENTS - 1) / QDQ_BLOCK_ELEMENTS;
    if (draft->reduce_node) {
        step->reduce = reduce_of(c, draft, step->blocks);
        if (!step->reduce) return no_memory(c);
    }
    return QDQ_OK;
}

static qdq_status build_steps(compiler *c, const qdq_located *from) {
    qdq_plan *plan = c->plan;
    size_t count = c->draft.step_count;
    plan->steps = qdq_pool_array(&plan->pool, count, sizeof *plan->steps);
    plan->step_infos = qdq_pool_array(&plan->pool, count, sizeof *plan->step_infos);
    if (!plan->steps || !plan->step_infos) return no_memory(c);
    plan->step_count = count;
    for (size_t i = 0; i < count; i++) {
        QDQ_TRY(build_step(c, &c->draft.steps[i], from, &plan->steps[i]));
        qdq_describe_step(&c->draft, &c->draft.steps[i], &plan->steps[i], &plan->step_infos[i]);
    }
    plan->stats.value_count = plan->value_count;
    plan->stats.step_count = plan->step_count;
    return plan->pool.failed ? no_memory(c) : QDQ_OK;
}

//---- Entry ------------------------------------------------------------------

static qdq_status check_limit(const compiler *c) {
    const qdq_plan_stats *s = &c->plan->stats;
    size_t bytes = s->arena_bytes + s->io_bytes + s->constant_bytes + c->plan->vector_bytes;
    if (bytes <= c->draft.graph->limits.bytes) return QDQ_OK;
    return qdq_fail(c->err, QDQ_ERR_LIMIT,
                    "the plan needs %zu bytes, wanted at most %zu; raise the limit of bytes", bytes,
                    c->draft.graph->limits.bytes);
}

static qdq_status compile(compiler *c) {
    const qdq_graph *graph = c->draft.graph;
    c->draft.pool = &c->scratch;
    c->draft.plan_pool = &c->plan->pool;
    c->located = qdq_pool_array(&c->scratch, graph->value_count, sizeof *c->located);
    qdq_located *from = qdq_pool_array(&c->scratch, graph->value_count, sizeof *from);
    if (!c->located || !from) return no_memory(c);
    QDQ_TRY(qdq_lower(&c->draft, c->err));
    for (size_t i = 0; i < graph->value_count; i++) {
        c->located[i].dtype = c->draft.values[i].type.dtype;
        c->located[i].shape = c->draft.values[i].type.shape;
    }
    QDQ_TRY(list_io(c));
    QDQ_TRY(keep_constants(c));
    memcpy(from, c->located, graph->value_count * sizeof *from);
    QDQ_TRY(plan_arena(c));
    QDQ_TRY(build_steps(c, from));
    return check_limit(c);
}

qdq_plan *qdq_graph_compile(qdq_graph *graph, const qdq_compile_options *options, qdq_error *err) {
    qdq_compile_options opt = options ? *options : (qdq_compile_options){0};
    qdq_profile profile;
    const char *target = opt.target ? opt.target : qdq_graph_target(graph);
    uint32_t isas;
    if (!qdq_profile_find(target, &profile, err) || !qdq_cpu_cap(opt.isa, &isas, err) ||
        qdq_graph_check(graph, &profile, err) != QDQ_OK)
        return NULL;
    qdq_plan *plan = qdq_alloc_array(graph->allocator, 1, sizeof *plan, 64);
    if (!plan) {
        qdq_fail_memory(err, sizeof *plan);
        return NULL;
    }
    *plan = (qdq_plan){.allocator = graph->allocator};
    qdq_pool_init(&plan->pool, graph->allocator);
    compiler c = {.draft = {.graph = graph, .profile = profile, .options = opt, .isas = isas},
                  .plan = plan,
                  .err = err};
    qdq_pool_init(&c.scratch, graph->allocator);
    qdq_status status = compile(&c);
    qdq_pool_release(&c.scratch);
    if (status == QDQ_OK) {
        qdq_graph_tell(graph, "compiled %zu nodes for %s: %zu steps, %zu bytes of arena",
                       graph->node_count, target, plan->stats.step_count, plan->stats.arena_bytes);
        return plan;
    }
    qdq_plan_destroy(plan);
    return NULL;
}
