// SPDX-License-Identifier: Apache-2.0
// Compiles a graph into a plan: lowers nodes to steps (graph/compile/lower.c), decides where each
// value lies, and assigns arena memory.
#include "graph/compile/compile.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "graph/rewrite/rewrite.h"
#include "runtime/arena/memory_plan.h"
#include "runtime/base/cpu.h"
#include "runtime/base/fp_environment.h"
#include "runtime/exec/exec.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/quantize_one.h"
#include "runtime/tenstorrent/block_float.h"

//---- Inputs, outputs, constants ---------------------------------------------

static qdq_tensor_info info_of(const qdq_compiler *c, const char *name, qdq_type type) {
    return (qdq_tensor_info){qdq_mempool_strdup(&c->plan->mempool, name), type.dtype, type.shape,
                             qdq_shape_count(type.shape) * qdq_dtype_size(type.dtype)};
}

static qdq_status list_io(qdq_compiler *c) {
    const qdq_graph *graph = c->draft.graph;
    qdq_plan *plan = c->plan;
    size_t inputs = 0;
    for (size_t i = 1; i < graph->value_count; i++)
        inputs += graph->values[i].kind == QDQ_VALUE_INPUT;
    plan->inputs = qdq_mempool_array(&plan->mempool, inputs, sizeof *plan->inputs);
    plan->outputs = qdq_mempool_array(&plan->mempool, graph->output_count, sizeof *plan->outputs);
    if (!plan->inputs || !plan->outputs) return qdq_draft_stopped(&c->draft, c->err);
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
    if (plan->mempool.failed || !qdq_plan_sort_names(plan))
        return qdq_draft_stopped(&c->draft, c->err);
    return QDQ_OK;
}

// Returns the elements of a value computed while compiling; NULL if a step computes it at run time.
static const void *folded_elements(const qdq_compiler *c, uint32_t id) {
    const qdq_draft_value *v = &c->draft.values[id];
    return v->made_step == QDQ_NO_STEP ? v->folded : NULL;
}

static void keep_constant(qdq_compiler *c, uint32_t id, size_t *bytes) {
    qdq_located *l = &c->located[id];
    bool known = folded_elements(c, id) || c->draft.graph->values[id].kind == QDQ_VALUE_CONSTANT;
    if (!known || l->place.kind) return;
    l->place = (qdq_place){QDQ_PLACE_CONSTANT, *bytes};
    *bytes += qdq_arena_aligned(qdq_shape_count(l->shape) * qdq_dtype_size(l->dtype));
}

static bool copy_constant(const qdq_compiler *c, uint32_t id, char *out) {
    const qdq_located *l = &c->located[id];
    const void *folded = folded_elements(c, id);
    if (!folded) return qdq_graph_copy_elements(&c->draft.graph->values[id], out);
    memcpy(out, folded, qdq_shape_count(l->shape) * qdq_dtype_size(l->dtype));
    return true;
}

// Copies constants that steps read into the plan, row-major. Known parameters are already in their
// links and packed constants in their stages. The one reduction with a parameter (DynamicQuantize)
// shares it with its Quantize, whose link keeps it.
static qdq_status keep_constants(qdq_compiler *c) {
    const qdq_graph *graph = c->draft.graph;
    size_t bytes = 0, packed = 0;
    for (size_t i = 0; i < c->draft.step_count; i++) {
        const qdq_draft_step *step = &c->draft.steps[i];
        keep_constant(c, step->x, &bytes);
        for (size_t k = 0; k < step->link_count; k++)
            for (size_t v = 0; v < step->links[k].stage->stage_param_count; v++)
                keep_constant(c, step->links[k].sources[v], &bytes);
        if (!step->tensor_op) continue;
        packed += step->tensor_op->packed_bytes;
        for (size_t k = 0; k < step->tensor_op_node->input_count; k++)
            if (!qdq_draft_step_packs(step, k))
                keep_constant(c, step->tensor_op_inputs[k].id, &bytes);
    }
    for (uint32_t i = 1; i < graph->value_count; i++)
        if (c->draft.values[i].kept) keep_constant(c, i, &bytes);
    char *constants = qdq_mempool_array(&c->plan->mempool, bytes, 1);
    if (!constants) return qdq_draft_stopped(&c->draft, c->err);
    for (uint32_t i = 1; i < graph->value_count; i++) {
        const qdq_place *place = &c->located[i].place;
        if (place->kind == QDQ_PLACE_CONSTANT && !copy_constant(c, i, constants + place->at))
            return qdq_draft_stopped(&c->draft, c->err);
    }
    c->plan->constants = constants;
    c->plan->stats.constant_bytes = bytes + packed;
    return QDQ_OK;
}

//---- The arena --------------------------------------------------------------

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
    return (v->read || v->kept) && v->output == SIZE_MAX;
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
    qdq_tiling tiling = rows ? (qdq_tiling){0} : qdq_tiling_of(c->located[id].shape);
    size_t elements = qdq_shape_count(v->type.shape);
    size_t bytes = rows ? qdq_size_times(elements, qdq_dtype_size(v->type.dtype))
                        : qdq_size_times(tiling.tiles, qdq_tile_bytes(v->type.dtype));
    size_t last_step = v->kept ? c->draft.step_count - 1 : v->last_step;
    c->slot_of[id] = slot;
    c->lifetimes[slot] =
        (qdq_lifetime){v->first_step, last_step, slot_bytes(c, bytes), QDQ_NOT_IN_PLACE, 0};
    c->plan->values[slot] = (qdq_plan_value){
        .name = qdq_mempool_strdup(&c->plan->mempool, c->draft.graph->values[id].name),
        .dtype = v->type.dtype,
        .shape = v->type.shape,
        .padded_shape = rows ? v->type.shape : qdq_padded_shape(c->located[id].shape),
        .tiles = tiling.tiles,
        .bytes = bytes,
        .first_step = v->first_step,
        .last_step = last_step,
    };
    c->plan->stats.tiles += tiling.tiles;
    // Elements that share bytes, or an exponent, share them in groups that divide a tile.
    size_t tile = qdq_tile_bytes(v->type.dtype), group = elements % QDQ_TILE_ELEMENTS;
    size_t used = elements / QDQ_TILE_ELEMENTS * tile +
                  (group * tile + QDQ_TILE_ELEMENTS - 1) / QDQ_TILE_ELEMENTS;
    if (!rows)
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
            c->draft.values[step->links[i].y].stacked_dims != c->draft.values[step->x].stacked_dims)
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

static qdq_status plan_arena(qdq_compiler *c) {
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

//---- The device -------------------------------------------------------------

static qdq_status plan_device(qdq_compiler *c) {
    qdq_plan *plan = c->plan;
    qdq_device_record *record;
    qdq_device_trouble trouble;
    if (!c->memory.device) return QDQ_OK;
    QDQ_TRY(qdq_device_pass(c->draft.graph, &c->memory, &plan->mempool, &record, &trouble, c->err));
    size_t *buffers = qdq_mempool_array(&plan->mempool, plan->value_count, sizeof *buffers);
    if (!record || !buffers) return qdq_draft_stopped(&c->draft, c->err);
    for (size_t i = 0; i < plan->value_count; i++) buffers[i] = SIZE_MAX;
    for (size_t id = 1; id < c->draft.graph->value_count; id++)
        if (c->slot_of[id] != SIZE_MAX) buffers[c->slot_of[id]] = record->buffer_of[id];
    record->buffer_of_slot = buffers;
    plan->device = record;
    return QDQ_OK;
}

//---- Entry ------------------------------------------------------------------

// Checks the limits, and sets `scratch_bytes`: the bytes an exec needs in addition to the arena,
// inputs and outputs.
static qdq_status check_limits(qdq_compiler *c) {
    const qdq_limits *limits = &c->draft.graph->limits;
    qdq_plan_stats *s = &c->plan->stats;
    if (s->operations > limits->operations)
        return qdq_fail(c->err, QDQ_ERR_LIMIT,
                        "a run takes %zu operations, wanted at most %zu; raise "
                        "--max-operations",
                        s->operations, limits->operations);
    size_t exec = qdq_exec_measure(c->plan), most = limits->bytes;
    s->scratch_bytes = exec - s->arena_bytes - s->io_bytes;
    size_t bytes = qdq_size_add(s->constant_bytes, exec);
    if (bytes <= most) return QDQ_OK;
    return qdq_fail(c->err, QDQ_ERR_LIMIT,
                    "the plan needs %zu bytes (constants %zu, arena %zu, inputs and outputs %zu, "
                    "scratch %zu), wanted at most %zu; raise --max-bytes",
                    bytes, s->constant_bytes, s->arena_bytes, s->io_bytes, s->scratch_bytes, most);
}

// Allowance for steps, names and the draft, on top of the limit of bytes that the user sets.
enum { BYTES_OF_PLANNING = 64 << 20 };

static qdq_status compile(qdq_compiler *c) {
    const qdq_graph *graph = c->draft.graph;
    c->draft.budget = &c->budget;
    c->draft.mempool = &c->scratch;
    c->draft.plan_mempool = &c->plan->mempool;
    c->located = qdq_mempool_array(&c->scratch, graph->value_count, sizeof *c->located);
    qdq_located *from = qdq_mempool_array(&c->scratch, graph->value_count, sizeof *from);
    if (!c->located || !from) return qdq_draft_stopped(&c->draft, c->err);
    QDQ_TRY(qdq_lower(&c->draft, c->err));
    if (!qdq_draft_join_bytes(&c->draft) || !qdq_draft_recompute(&c->draft))
        return qdq_draft_stopped(&c->draft, c->err);
    qdq_draft_stack(&c->draft);
    for (size_t i = 0; i < graph->value_count; i++) {
        c->located[i].dtype = c->draft.values[i].type.dtype;
        c->located[i].shape = qdq_draft_shape_in_tiles(&c->draft.values[i]);
    }
    QDQ_TRY(list_io(c));
    QDQ_TRY(keep_constants(c));
    memcpy(from, c->located, graph->value_count * sizeof *from);
    QDQ_TRY(plan_arena(c));
    QDQ_TRY(qdq_compile_steps(c, from));
    QDQ_TRY(plan_device(c));
    QDQ_TRY(qdq_compile_kept(c));
    return check_limits(c);
}

static bool check_options(const qdq_graph *graph, const qdq_compile_options *opt, qdq_error *err) {
    int storage = (int)opt->float_storage;
    int layout = (int)opt->layout;
    if (opt->numerics && qdq_numerics_check(opt->numerics, err) != QDQ_OK) return false;
    if (storage < 0 || storage > QDQ_FLOAT_BFLOAT16) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "float_storage is %d, wanted 0 to %d", storage,
                 QDQ_FLOAT_BFLOAT16);
        return false;
    }
    if (layout < 0 || layout > QDQ_PLAN_TILES) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "layout is %d, wanted 0 to %d", layout, QDQ_PLAN_TILES);
        return false;
    }
    return qdq_storage_check(graph, opt, err) == QDQ_OK;
}

static bool choose_device(const char *target, const qdq_compile_options *opt,
                          const qdq_device **out, qdq_error *err) {
    if (qdq_device_choose(target, opt->device, out, err) != QDQ_OK) return false;
    // qdq_storage_check refuses a device that was asked for.
    if (opt->fast || opt->layout == QDQ_PLAN_ROWS) *out = NULL;
    return true;
}

static qdq_plan *compile_plan(const qdq_graph *graph, const qdq_compile_options *opt,
                              const qdq_target_version *version, const qdq_device_request *memory,
                              uint32_t isas, qdq_error *err) {
    qdq_plan *plan = qdq_alloc_array(graph->allocator, 1, sizeof *plan, 64);
    if (!plan) {
        qdq_fail_memory(err, sizeof *plan);
        return NULL;
    }
    *plan = (qdq_plan){.allocator = graph->allocator};
    qdq_compiler c = {.draft = {.graph = graph,
                                .version = *version,
                                .options = *opt,
                                .storage = qdq_storage_of(opt),
                                .isas = isas},
                      .memory = *memory,
                      .plan = plan,
                      .err = err};
    if (memory->device) {
        c.draft.storage.tiled = c.draft.storage.node_by_node = true;
        c.draft.storage.on_device = true;
    }
    qdq_budget_init(&c.budget, graph->allocator,
                    qdq_size_add(graph->limits.bytes, BYTES_OF_PLANNING));
    qdq_mempool_init(&plan->mempool, &c.budget.allocator);
    qdq_mempool_init(&c.scratch, &c.budget.allocator);
    // Not a part of the graph's value: the place where reads of its files report to this compile.
    if (graph->failure) *graph->failure = (qdq_error){0};
    qdq_status status = compile(&c);
    qdq_mempool_release(&c.scratch);
    plan->mempool.allocator = graph->allocator;
    if (status == QDQ_OK) {
        qdq_graph_tell(graph, "compiled %zu nodes for %s: %zu steps, %zu bytes of arena",
                       graph->node_count, version->target->name, plan->stats.step_count,
                       plan->stats.arena_bytes);
        return plan;
    }
    qdq_plan_destroy(plan);
    return NULL;
}

// Compiles the graph as the target deploys it.
static qdq_plan *compile_deployed(const qdq_graph *graph, const qdq_compile_options *opt,
                                  const qdq_target_version *version,
                                  const qdq_device_request *memory, uint32_t isas, qdq_error *err) {
    qdq_graph *deployed;
    qdq_plan *plan = NULL;
    if (qdq_rewrite(graph, version, NULL, &deployed, err) != QDQ_OK) return NULL;
    if (qdq_storage_check(deployed, opt, err) == QDQ_OK)
        plan = compile_plan(deployed, opt, version, memory, isas, err);
    qdq_graph_destroy(deployed);
    return plan;
}

qdq_plan *qdq_graph_compile(qdq_graph *graph, const qdq_compile_options *options, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_compile_options opt = options ? *options : (qdq_compile_options){0};
    qdq_target_version version;
    const char *target = opt.target ? opt.target : qdq_graph_target(graph);
    uint32_t isas;
    qdq_device_request memory = {.float_storage = opt.float_storage,
                                 .keep_all = opt.keep_all || opt.materialize,
                                 .keep = opt.keep,
                                 .keep_count = opt.keep_count};
    if (!check_options(graph, &opt, err) || !qdq_target_version_find(target, &version, err))
        return NULL;
    version.given_numerics = opt.numerics != NULL;
    if (!choose_device(target, &opt, &memory.device, err) || !qdq_cpu_cap(opt.isa, &isas, err) ||
        qdq_graph_check(graph, &version, &memory, err) != QDQ_OK)
        return NULL;
    return (version.target->patterns ? compile_deployed : compile_plan)(graph, &opt, &version,
                                                                        &memory, isas, err);
}
