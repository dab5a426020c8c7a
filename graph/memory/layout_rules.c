// SPDX-License-Identifier: Apache-2.0
#include "graph/memory/layout_rules.h"

#include <string.h>

const qdq_tensor_layout *qdq_input_layout(const qdq_value_context *ctx, size_t input) {
    uint32_t id = ctx->node && input < ctx->node->input_count ? ctx->node->inputs[input].id : 0;
    return id ? qdq_tensor_layout_of(ctx->layouts, id) : NULL;
}

void qdq_report_value(const qdq_value_context *ctx, const qdq_rule *rule, const char *port,
                      const char *found, const char *wanted) {
    qdq_subject subject = {.node = ctx->value->name,
                           .op = ctx->node ? ctx->node->op->name : NULL,
                           .port = port,
                           .kind = ctx->value->kind == QDQ_VALUE_INPUT      ? "input"
                                   : ctx->value->kind == QDQ_VALUE_CONSTANT ? "constant"
                                                                            : NULL};
    size_t length = strcspn(rule->id, "/");
    qdq_report_add(ctx->findings, qdq_text(ctx->findings, "%.*s", (int)length, rule->id), rule,
                   subject, found, wanted, NULL);
}

static qdq_memory_rule broken_by(const qdq_value_context *ctx, uint32_t id, qdq_error *err) {
    const qdq_tensor_layout *layout = qdq_tensor_layout_of(ctx->layouts, id);
    const qdq_type *type = &ctx->graph->values[id].type;
    const qdq_device_tensor tensor = {type->dtype, type->shape, layout->layout, layout->tile};
    qdq_buffer_layout buffer;
    return qdq_buffer_layout_of(ctx->device, &tensor, &layout->memory_config, &buffer, err);
}

// Fills in the value's fault, unless its first operand causes it.
static void look(qdq_value_context *ctx) {
    static const qdq_given_layout nothing;
    qdq_error err = {0};
    ctx->value = &ctx->graph->values[ctx->id];
    ctx->given = qdq_graph_given_layout(ctx->graph, ctx->id);
    if (!ctx->given) ctx->given = &nothing;
    ctx->layout = qdq_tensor_layout_of(ctx->layouts, ctx->id);
    bool is_made = ctx->value->kind == QDQ_VALUE_MADE && ctx->value->node < ctx->graph->node_count;
    ctx->node = is_made ? &ctx->graph->nodes[ctx->value->node] : NULL;
    ctx->broken = broken_by(ctx, ctx->id, &err);
    ctx->why = "";
    uint32_t a = ctx->node ? ctx->node->inputs[0].id : 0;
    if (ctx->broken != QDQ_MEMORY_FINE && a && !ctx->given->has_config && !ctx->given->has_layout &&
        broken_by(ctx, a, NULL) != QDQ_MEMORY_FINE)
        ctx->broken = QDQ_MEMORY_FINE;
    if (ctx->broken != QDQ_MEMORY_FINE) ctx->why = qdq_text(ctx->findings, "%s", err.text);
}

static bool applies(const qdq_rule *rule, const qdq_value_context *ctx) {
    if (!rule->ops) return true;
    if (!ctx->node || ctx->value->port) return false;
    const qdq_op_context of = {.op = ctx->node->op};
    return qdq_rule_applies(rule, &of);
}

static void check_all(qdq_value_context *ctx, const qdq_target_version *version) {
    const qdq_target *target = version->target;
    for (uint32_t id = 1; id < ctx->graph->value_count; id++) {
        if (!ctx->graph->values[id].valid) continue;
        ctx->id = id;
        look(ctx);
        for (size_t k = 0; k < target->rule_count; k++) {
            const qdq_rule *rule = &target->rules[k];
            if (rule->check_value && qdq_rule_holds(rule, version) && applies(rule, ctx))
                rule->check_value(ctx, rule);
        }
    }
}

static size_t *last_readers(const qdq_graph *graph, qdq_mempool *mempool) {
    size_t *last = qdq_mempool_array(mempool, graph->value_count, sizeof *last);
    for (size_t n = 0; last && n < graph->node_count; n++)
        for (size_t i = 0; i < graph->nodes[n].input_count; i++)
            last[graph->nodes[n].inputs[i].id] = n;
    return last;
}

// True if a graph says anything about memory. An op that moves a tensor asks for it.
static bool is_concerned(const qdq_graph *graph) {
    static const char *const moves[] = {"ToMemoryConfig", "InterleavedToSharded",
                                        "ShardedToInterleaved", "Reshard", "ToLayout"};
    if (graph->given_layouts || graph->has_output_tensors) return true;
    for (size_t n = 0; n < graph->node_count; n++)
        for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
            if (strcmp(graph->nodes[n].op->name, moves[i]) == 0) return true;
    return false;
}

bool qdq_check_layouts(const qdq_graph *graph, const qdq_target_version *version,
                       const qdq_device *device, qdq_findings *findings) {
    qdq_tensor_layouts layouts;
    qdq_mempool mempool;
    if (!device || !is_concerned(graph)) return true;
    qdq_mempool_init(&mempool, graph->allocator);
    const size_t *last_reader = last_readers(graph, &mempool);
    bool made = last_reader && qdq_tensor_layouts_make(graph, &mempool, &layouts);
    qdq_value_context ctx = {.graph = graph,
                             .device = device,
                             .layouts = &layouts,
                             .last_reader = last_reader,
                             .findings = findings};
    if (made) check_all(&ctx, version);
    qdq_mempool_release(&mempool);
    return made;
}
