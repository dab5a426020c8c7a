// SPDX-License-Identifier: Apache-2.0
#include "graph/device/device_pass.h"

#include <string.h>

#include "graph/device/device_run.h"
#include "graph/memory/given_layout.h"
#include "graph/targets/checks.h"
#include "runtime/base/error.h"

//---- Lifetimes --------------------------------------------------------------

static bool is_kept(const qdq_device_run *run, uint32_t id) {
    const qdq_device_request *request = run->request;
    for (size_t i = 0; i < request->keep_count; i++)
        if (strcmp(request->keep[i], run->graph->values[id].name) == 0) return true;
    return request->keep_all;
}

// True if a graph capture says when the value dies.
static bool has_life(const qdq_device_run *run, uint32_t id) {
    const qdq_given_layout *given = qdq_graph_given_layout(run->graph, id);
    return given && given->has_life;
}

static bool lives_on(const qdq_device_run *run, uint32_t id) {
    return run->graph->values[id].returned || is_kept(run, id);
}

static void read_by(qdq_device_run *run, bool *wanted, uint32_t id, size_t node) {
    if (!id) return;
    wanted[id] = true;
    if (run->last_reader[id] == SIZE_MAX) run->last_reader[id] = node;
}

static void find_live(qdq_device_run *run, bool *wanted) {
    const qdq_graph *graph = run->graph;
    for (size_t i = 0; i < graph->output_count; i++) wanted[graph->outputs[i].value.id] = true;
    for (uint32_t id = 1; id < graph->value_count; id++)
        wanted[id] |= is_kept(run, id) && graph->values[id].kind != QDQ_VALUE_CONSTANT;
    for (size_t i = graph->node_count; i-- > 0;) {
        const qdq_node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->output_count; k++) run->live[i] |= wanted[node->outputs[k]];
        if (!run->live[i]) continue;
        for (size_t k = 0; k < node->input_count; k++)
            if (!qdq_run_takes_number(run, node, k)) read_by(run, wanted, node->inputs[k].id, i);
        read_by(run, wanted, qdq_output_tensor_of(node), i);
    }
}

static void free_value(qdq_device_run *run, uint32_t id) {
    if (!lives_on(run, id) && !has_life(run, id)) qdq_run_free(run, run->buffer_of[id]);
}

// Frees a value after its last reader, once if the node reads it twice.
static void free_read(qdq_device_run *run, uint32_t id, size_t index) {
    if (!id || run->last_reader[id] != index) return;
    run->last_reader[id] = SIZE_MAX;
    free_value(run, id);
}

static void free_inputs(qdq_device_run *run, const qdq_node *node, size_t index) {
    for (size_t k = 0; k < node->input_count; k++) free_read(run, node->inputs[k].id, index);
    free_read(run, qdq_output_tensor_of(node), index);
    for (size_t k = 0; k < QDQ_NODE_LISTS; k++)
        qdq_run_free(run, run->lists[index * QDQ_NODE_LISTS + k]);
}

// Frees results that nothing reads.
static void free_unread(qdq_device_run *run, const qdq_node *node) {
    for (size_t k = 0; k < node->output_count; k++)
        if (run->last_reader[node->outputs[k]] == SIZE_MAX) free_value(run, node->outputs[k]);
}

// Lists the values that die after each node. False: no memory.
static bool list_deaths(qdq_device_run *run) {
    const qdq_graph *graph = run->graph;
    if (!graph->capture) return true;
    run->deaths = qdq_mempool_array(run->scratch, graph->node_count + 1, sizeof *run->deaths);
    run->next_death = qdq_mempool_array(run->scratch, graph->value_count, sizeof *run->next_death);
    if (!run->deaths || !run->next_death) return false;
    for (uint32_t id = (uint32_t)graph->value_count; id-- > 1;) {
        const qdq_given_layout *given = qdq_graph_given_layout(graph, id);
        if (!given || !given->has_life || given->dies_after >= graph->node_count) continue;
        run->next_death[id] = run->deaths[given->dies_after];
        run->deaths[given->dies_after] = id;
    }
    return true;
}

static void free_dead(qdq_device_run *run, size_t index) {
    uint32_t id = run->deaths ? run->deaths[index] : 0;
    for (; id; id = run->next_death[id]) qdq_run_free(run, run->buffer_of[id]);
}

//---- The walk ---------------------------------------------------------------

static bool start(qdq_device_run *run, bool **wanted) {
    const qdq_graph *graph = run->graph;
    size_t values = graph->value_count, nodes = graph->node_count;
    run->buffer_of = qdq_mempool_array(run->scratch, values, sizeof *run->buffer_of);
    run->last_reader = qdq_mempool_array(run->scratch, values, sizeof *run->last_reader);
    run->live = qdq_mempool_array(run->scratch, nodes, sizeof *run->live);
    run->lists = qdq_mempool_array(run->scratch, nodes * QDQ_NODE_LISTS, sizeof *run->lists);
    *wanted = qdq_mempool_array(run->scratch, values, sizeof **wanted);
    if (!run->buffer_of || !run->last_reader || !run->live || !run->lists || !*wanted) return false;
    for (size_t i = 0; i < values; i++) run->buffer_of[i] = run->last_reader[i] = SIZE_MAX;
    for (size_t i = 0; i < nodes * QDQ_NODE_LISTS; i++) run->lists[i] = SIZE_MAX;
    return true;
}

static bool is_late(const qdq_device_run *run, uint32_t id) {
    const qdq_given_layout *given = qdq_graph_given_layout(run->graph, id);
    return given && given->is_late;
}

// Allocates the inputs that appear when the node runs.
static void allocate_late(qdq_device_run *run, const qdq_node *node) {
    run->node = NULL;
    for (size_t k = 0; k < node->input_count; k++) {
        uint32_t id = node->inputs[k].id;
        if (id && is_late(run, id) && run->buffer_of[id] == SIZE_MAX)
            qdq_run_allocate_value(run, id, QDQ_ROLE_INPUT);
    }
}

static void walk(qdq_device_run *run, const bool *wanted) {
    const qdq_graph *graph = run->graph;
    for (uint32_t id = 1; id < graph->value_count; id++) {
        qdq_value_kind kind = graph->values[id].kind;
        if (kind == QDQ_VALUE_MADE || !wanted[id] || is_late(run, id)) continue;
        qdq_run_allocate_value(run, id,
                               kind == QDQ_VALUE_INPUT ? QDQ_ROLE_INPUT : QDQ_ROLE_CONSTANT);
    }
    for (size_t i = 0; i < graph->node_count && !run->stopped; i++)
        if (run->live[i]) qdq_run_node_lists(run, &graph->nodes[i], i);
    for (size_t i = 0; i < graph->node_count && !run->stopped; i++) {
        if (!run->live[i]) continue;
        allocate_late(run, &graph->nodes[i]);
        if (run->stopped) return;
        run->node = &graph->nodes[i];
        run->node_index = i;
        qdq_run_node(run);
        free_inputs(run, run->node, i);
        free_unread(run, run->node);
        free_dead(run, i);
    }
}

//---- The record -------------------------------------------------------------

static qdq_pool_state state_of(const qdq_memory_view *view) {
    return (qdq_pool_state){view->total_bytes_allocated_per_bank, view->total_bytes_free_per_bank,
                            view->largest_contiguous_bytes_free_per_bank};
}

static void describe_pools(const qdq_device_run *run, qdq_device_plan *out) {
    for (int type = 0; type < QDQ_POOLS; type++) {
        const qdq_device_pool *pool = &run->memory.pools[type];
        qdq_memory_view view = qdq_device_memory_view(&run->memory, (qdq_buffer_type)type);
        out->pools[type] = (qdq_pool_info){.banks = pool->banks,
                                           .base = pool->base,
                                           .bytes = pool->bytes,
                                           .peak = view.peak_bytes_allocated_per_bank,
                                           .peak_step = run->peak_step[type],
                                           .end = state_of(&view)};
    }
}

static void mark_living_on(qdq_device_run *run) {
    for (uint32_t id = 1; id < run->graph->value_count; id++) {
        size_t buffer = run->buffer_of[id];
        if (buffer == SIZE_MAX || !run->buffers[buffer].is_allocated) continue;
        run->buffers[buffer].shown->lives_on = true;
        run->buffers[buffer].shown->last_step = run->step_count ? run->step_count - 1 : 0;
    }
}

static qdq_device_record *record_of(qdq_device_run *run) {
    qdq_mempool *mempool = run->mempool;
    qdq_device_record *record = QDQ_MEMPOOL_NEW(mempool, qdq_device_record);
    size_t count = run->buffer_count;
    qdq_device_buffer *buffers = qdq_mempool_array(mempool, count, sizeof *buffers);
    qdq_buffer_layout *layouts = qdq_mempool_array(mempool, count, sizeof *layouts);
    if (!record || !buffers || !layouts) return NULL;
    mark_living_on(run);
    const qdq_memory_config *config = NULL;
    for (size_t i = 0; i < count; i++) {
        buffers[i] = *run->buffers[i].shown;
        layouts[i] = run->buffers[i].place->layout;
        // Buffers with one place share its config.
        if (i == 0 || run->buffers[i].place != run->buffers[i - 1].place)
            config = qdq_mempool_copy(mempool, buffers[i].memory_config, 1, sizeof *config);
        if (!config) return NULL;
        buffers[i].memory_config = config;
    }
    *record = (qdq_device_record){.device = run->memory.device,
                                  .layouts = layouts,
                                  .buffer_of = qdq_mempool_copy(mempool, run->buffer_of,
                                                                run->graph->value_count,
                                                                sizeof *run->buffer_of)};
    record->shown = (qdq_device_plan){
        .device = &record->device,
        .buffers = buffers,
        .buffer_count = count,
        .steps = qdq_mempool_copy(mempool, run->steps, run->step_count, sizeof *run->steps),
        .step_count = run->step_count,
        .events = qdq_mempool_copy(mempool, run->events, run->event_count, sizeof *run->events),
        .event_count = run->event_count,
        .peak_circular = run->peak_circular,
        .peak_l1 = run->peak_l1,
    };
    describe_pools(run, &record->shown);
    return record;
}

static qdq_status walk_all(qdq_device_run *run) {
    bool *wanted;
    QDQ_TRY(qdq_device_memory_init(&run->memory, run->request->device, run->scratch, run->err));
    run->weights = qdq_conv_weights_make(run->graph, run->scratch);
    if (!start(run, &wanted) || !run->weights || !list_deaths(run) ||
        !qdq_tensor_layouts_make(run->graph, run->scratch, &run->layouts))
        return qdq_fail_memory(run->err, run->graph->value_count * sizeof(size_t));
    find_live(run, wanted);
    walk(run, wanted);
    return run->status;
}

qdq_status qdq_device_pass(const qdq_graph *graph, const qdq_device_request *request,
                           qdq_mempool *mempool, qdq_device_record **out,
                           qdq_device_trouble *trouble, qdq_error *err) {
    qdq_mempool scratch;
    qdq_device_run run = {.graph = graph,
                          .request = request,
                          .mempool = mempool,
                          .scratch = &scratch,
                          .records = out != NULL,
                          .trouble = trouble,
                          .err = err};
    if (out) *out = NULL;
    *trouble = (qdq_device_trouble){.program = ""};
    qdq_mempool_init(&scratch, mempool->allocator);
    qdq_status status = walk_all(&run);
    if (out && status == QDQ_OK && !run.stopped) *out = record_of(&run);
    qdq_mempool_release(&scratch);
    if (status != QDQ_OK || run.stopped || !out) return status;
    return *out && !mempool->failed ? QDQ_OK : qdq_fail_memory(err, sizeof **out);
}
