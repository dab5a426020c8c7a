// SPDX-License-Identifier: Apache-2.0
// Compiles a graph into a plan: lowers nodes to steps (lower.c), gives inputs, outputs and
// constants their places, plans the arena (compile_arena.c) and writes the steps (compile_steps.c).
#include "graph/compile/compile.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "graph/rewrite/rewrite.h"
#include "runtime/base/cpu.h"
#include "runtime/base/fp_environment.h"
#include "runtime/exec/exec.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/quantize_one.h"

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
                    "scratch %zu), wanted at most %zu; raise --max-bytes%s",
                    bytes, s->constant_bytes, s->arena_bytes, s->io_bytes, s->scratch_bytes, most,
                    s->tiled ? ", or hold values in rows: --rows" : "");
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
    if (!qdq_draft_join_bytes(&c->draft) || !qdq_draft_recompute(&c->draft) ||
        !qdq_draft_shape_tiles(&c->draft))
        return qdq_draft_stopped(&c->draft, c->err);
    qdq_draft_stack(&c->draft);
    for (size_t i = 0; i < graph->value_count; i++) {
        c->located[i].dtype = c->draft.values[i].type.dtype;
        c->located[i].shape = qdq_draft_shape_in_tiles(&c->draft.values[i]);
        c->located[i].tile = c->draft.values[i].tile;
    }
    QDQ_TRY(list_io(c));
    QDQ_TRY(keep_constants(c));
    memcpy(from, c->located, graph->value_count * sizeof *from);
    QDQ_TRY(qdq_compile_arena(c));
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
                                .storage = qdq_storage_of(opt, version->target),
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
