// SPDX-License-Identifier: Apache-2.0
// Checks a complete graph: the findings of building it, rules about the graph as a whole, then the
// rules of the target.
#include "graph/compile/validate.h"

#include <string.h>

#include "graph/compile/node_bits.h"
#include "graph/memory/layout_rules.h"
#include "graph/rewrite/rewrite.h"
#include "graph/targets/checks.h"
#include "graph/targets/halves.h"
#include "ops/quantize/requantize_fixed.h"
#include "runtime/base/fp_environment.h"

static void check_outputs(qdq_graph *graph, qdq_findings *findings) {
    if (graph->output_count == 0)
        qdq_report_core(findings, QDQ_RULE_OUTPUT_MISSING, (qdq_subject){.port = "outputs"},
                        "are missing", "at least one");
}

static bool node_is_used(const qdq_graph *graph, const qdq_node *node) {
    for (size_t i = 0; i < node->output_count; i++)
        if (graph->values[node->outputs[i]].uses) return true;
    return false;
}

static void check_uses(const qdq_graph *graph, qdq_findings *findings) {
    for (size_t i = 1; i < graph->value_count; i++) {
        const qdq_graph_value *v = &graph->values[i];
        if (v->kind == QDQ_VALUE_MADE || v->uses) continue;
        const char *kind = v->kind == QDQ_VALUE_INPUT ? "input" : "constant";
        qdq_report_core(findings, QDQ_RULE_VALUE_UNUSED,
                        (qdq_subject){.node = v->name, .kind = kind}, "nothing uses it", NULL);
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        const qdq_node *node = &graph->nodes[i];
        if (!node->valid || node->output_count == 0 || node_is_used(graph, node)) continue;
        qdq_report_core(findings, QDQ_RULE_VALUE_UNUSED,
                        (qdq_subject){node->name, node->op->name, node->op->outputs[0].name, NULL},
                        "is never used", NULL);
    }
}

static void check_rules(const qdq_target *target, const qdq_target_version *version,
                        const qdq_op_context *ctx) {
    for (size_t k = 0; k < target->rule_count; k++) {
        const qdq_rule *rule = &target->rules[k];
        if (rule->check && qdq_rule_holds(rule, version) && qdq_rule_applies(rule, ctx))
            rule->check(ctx, rule);
    }
}

static void check_node(const qdq_target *target, const qdq_target_version *version,
                       const qdq_op_context *ctx) {
    check_rules(target, version, ctx);
    if (!target->halves_requantize || !qdq_op_context_is(ctx, "Requantize")) return;
    for (int quantizes = 0; quantizes < 2; quantizes++) {
        qdq_half half;
        qdq_half_of(ctx, quantizes != 0, &half);
        check_rules(target, version, &half.ctx);
    }
}

// Reports the first scale of 0, which most targets refuse or divide by. False if there is one.
static bool check_zero_scale(const qdq_op_context *ctx, const char *port) {
    qdq_argument scale = qdq_argument_of(ctx, port);
    for (size_t i = 0; scale.known && i < scale.count; i++) {
        if ((float)qdq_argument_at(&scale, i) != 0) continue;
        qdq_report_violation(ctx, QDQ_RULE_SCALE_VALUE, scale.name,
                             qdq_text_number(ctx->findings, 0, i, true),
                             "a finite number that is not 0 as float32");
        return false;
    }
    return true;
}

static bool has_zero(const qdq_floats *scales) {
    for (size_t i = 0; i < scales->count; i++)
        if (scales->data[i] == 0) return true;
    return false;
}

static bool check_zero_scales(const qdq_op_context *ctx) {
    if (qdq_op_context_is(ctx, "Requantize"))
        return check_zero_scale(ctx, "in_scale") && check_zero_scale(ctx, "out_scale");
    const qdq_quantize_attrs *attrs = qdq_quantize_attrs_of(ctx);
    if (!attrs || (!ctx->inputs[QDQ_PORT_SCALE].given && !has_zero(&attrs->scales))) return true;
    return check_zero_scale(ctx, "scale");
}

static bool check_strict(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *attrs = qdq_quantize_attrs_of(ctx);
    return qdq_check_whole_bounds(ctx, qdq_quantized_dtype(ctx)) &&
           (!attrs || qdq_check_strict_parameters(ctx, attrs));
}

// True if no scale is float64 and no zero point int64, unless its elements are known.
static bool knows_wide_parameters(const qdq_op_context *ctx) {
    if (!qdq_quantize_attrs_of(ctx)) return true;
    const qdq_operand *s = &ctx->inputs[QDQ_PORT_SCALE], *z = &ctx->inputs[QDQ_PORT_ZERO_POINT];
    return (s->type.dtype != QDQ_FLOAT64 || s->data) && (z->type.dtype != QDQ_INT64 || z->data);
}

// True if the target computes a Requantize as its parameters say; reports if not.
static bool check_fixed_point(const qdq_target *target, const qdq_op_context *ctx) {
    if (target->fixed_point || !qdq_is_fixed_requantize(ctx)) return true;
    qdq_report_violation(
        ctx, QDQ_RULE_FIXED_POINT, "multiplier",
        qdq_text(ctx->findings, "is given, but target %s has no fixed point", target->name),
        "in_scales and out_scales");
    return false;
}

// True if the target takes the parameters of a node without core errors. Otherwise the graph is
// valid, but refused.
static bool takes_parameters(const qdq_target_version *version, const qdq_op_context *ctx) {
    bool clean = ctx->findings->errors == 0;
    bool fits = check_fixed_point(version->target, ctx);
    if (fits && (version->target->lenient_parameters ||
                 (version->given_numerics && knows_wide_parameters(ctx)) || check_strict(ctx)))
        return true;
    if (clean) ctx->findings->status = QDQ_ERR_UNSUPPORTED;
    return false;
}

static void check_target(const qdq_graph *graph, const qdq_target_version *version,
                         qdq_findings *findings) {
    const qdq_target *target = version->target;
    for (size_t i = 0; i < graph->node_count; i++) {
        qdq_op_context ctx;
        qdq_graph_context(graph, &graph->nodes[i], findings, &ctx);
        bool divides = target->runs_zero_scales || check_zero_scales(&ctx);
        if (!graph->nodes[i].valid || !divides) continue;
        if (!takes_parameters(version, &ctx)) continue;  // rules assume a node without core errors
        if (target->base) check_node(target->base, version, &ctx);
        if (!target->patterns) check_node(target, version, &ctx);
    }
}

// Checks inputs and constants that are outputs of the graph: no node computes them.
static void check_returned(const qdq_graph *graph, const qdq_target_version *version,
                           qdq_findings *findings) {
    const qdq_target *target = version->target;
    for (size_t i = 0; i < graph->output_count; i++) {
        const qdq_graph_value *v = &graph->values[graph->outputs[i].value.id];
        for (size_t k = 0; v->kind != QDQ_VALUE_MADE && k < target->rule_count; k++) {
            const qdq_rule *rule = &target->rules[k];
            if (!rule->not_returned || rule->not_returned != v->type.dtype ||
                !qdq_rule_holds(rule, version))
                continue;
            const char *kind = v->kind == QDQ_VALUE_INPUT ? "input" : "constant";
            qdq_report_add(findings, target->name, rule,
                           (qdq_subject){.node = v->name, .kind = kind},
                           qdq_text(findings, "is %s and an output of the graph",
                                    qdq_dtype_name(v->type.dtype)),
                           "no output", NULL);
        }
    }
}

// Reports dtypes and attributes that the opset of the model lacks, for the rules about them of a
// target and of its base.
static void check_opset(const qdq_graph *graph, const qdq_target_version *version,
                        qdq_findings *findings) {
    for (const qdq_target *t = version->target; t && graph->newer; t = t->base)
        for (size_t k = 0; k < t->rule_count; k++) {
            const qdq_rule *rule = &t->rules[k];
            if (!rule->newer_than_opset || !qdq_rule_holds(rule, version)) continue;
            const qdq_newer *n = graph->newer;
            do {
                n = n->next;
                qdq_report_add(findings, t->name, rule, n->subject, n->found, n->wanted, NULL);
            } while (n != graph->newer);
        }
}

// Checks the graph that a target runs after rewriting: the target's rules are about this graph.
// Only a graph without errors is rewritten. Sets the nodes of `report`, unless it is NULL.
static qdq_status check_deployed(const qdq_graph *graph, const qdq_target_version *version,
                                 qdq_findings *findings, qdq_report *report, qdq_error *err) {
    if (findings->errors) return QDQ_OK;
    if (!version->target->patterns) {
        if (report) qdq_node_bits_of(graph, graph, version, findings, report);
        return QDQ_OK;
    }
    qdq_graph *deployed;
    QDQ_TRY(qdq_rewrite(graph, version, findings, &deployed, err));
    for (size_t i = 0; i < deployed->node_count; i++) {
        qdq_op_context ctx;
        qdq_graph_context(deployed, &deployed->nodes[i], findings, &ctx);
        check_node(version->target, version, &ctx);
    }
    if (report && !findings->errors) qdq_node_bits_of(graph, deployed, version, findings, report);
    qdq_graph_destroy(deployed);
    return QDQ_OK;
}

// Counts the values with a stated place; *first is one of them.
static size_t count_placed(const qdq_graph *graph, uint32_t *first) {
    size_t count = 0;
    for (size_t i = graph->node_count; graph->has_output_tensors && i-- > 0;)
        if (qdq_output_tensor_of(&graph->nodes[i])) count++, *first = graph->nodes[i].outputs[0];
    for (uint32_t id = (uint32_t)graph->given_layout_count; id-- > 0;)
        if (qdq_graph_given_layout(graph, id)) count++, *first = id;
    return count;
}

// Warns once, for all values with a given place, that the target has no device.
static void check_ignored(const qdq_graph *graph, const qdq_target *target,
                          const qdq_device_request *request, qdq_findings *findings) {
    uint32_t first = 0;
    size_t count = count_placed(graph, &first);
    if (!count || target->device || (request && request->device)) return;
    qdq_report_core(findings, QDQ_RULE_MEMORY_CONFIG_IGNORED,
                    (qdq_subject){.node = graph->values[first].name, .kind = "value"},
                    qdq_text(findings,
                             "a memory_config, a layout, a tile or an output_tensor is given%s, "
                             "and target %s has no device",
                             count > 1 ? qdq_text(findings, ", as for %zu other value%s", count - 1,
                                                  count > 2 ? "s" : "")
                                       : "",
                             target->name),
                    NULL);
}

// Reports a buffer that does not fit, by a rule of `target`. Only a graph without errors has
// buffers.
static qdq_status check_memory(const qdq_graph *graph, const qdq_target *target,
                               const qdq_device_request *request, qdq_findings *findings,
                               qdq_error *err) {
    qdq_mempool mempool;
    qdq_device_trouble trouble;
    if (!request || !request->device || findings->errors) return QDQ_OK;
    qdq_mempool_init(&mempool, graph->allocator);
    qdq_status status = qdq_device_pass(graph, request, &mempool, NULL, &trouble, err);
    if (status == QDQ_OK && trouble.failure.kind != QDQ_FAILURE_NONE)
        qdq_device_report(findings, target, &trouble);
    qdq_mempool_release(&mempool);
    return status;
}

// Starts a report with the findings of building.
static bool start(qdq_graph *graph) {
    qdq_findings *f = &graph->checked;
    graph->report = (qdq_report){0};
    qdq_mempool_release(&graph->report_pool);
    qdq_mempool_init(&graph->report_pool, graph->allocator);
    *f = graph->findings;
    f->mempool = &graph->report_pool;
    f->capacity = f->count;
    f->bits_limits = NULL;  // no core rule has a limit
    f->bits_limit_count = f->bits_limit_capacity = 0;
    if (f->count == 0) {
        f->items = NULL;
        return true;
    }
    f->items = qdq_mempool_copy(f->mempool, f->items, f->count, sizeof *f->items);
    return f->items != NULL;
}

// Leaves out the nodes of a graph that turned out to have errors.
static void forget_nodes(qdq_report *report) {
    report->nodes = NULL;
    report->node_count = 0;
    memset(report->nodes_with, 0, sizeof report->nodes_with);
}

static qdq_status finish(qdq_graph *graph, qdq_error *err) {
    if (graph->report_pool.failed)
        return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while checking the graph");
    const qdq_findings *f = &graph->checked;
    graph->report.findings = f->items, graph->report.count = f->count;
    graph->report.errors = f->errors, graph->report.warnings = f->warnings;
    if (f->errors) forget_nodes(&graph->report);
    return QDQ_OK;
}

static qdq_status check_built(const qdq_graph *graph, qdq_error *err) {
    if (!graph) return qdq_fail(err, QDQ_ERR_MEMORY, "there is no graph: out of memory");
    if (graph->mempool.failed || graph->broken.status != QDQ_OK)
        return qdq_fail(err, graph->broken.status ? graph->broken.status : QDQ_ERR_MEMORY, "%s",
                        graph->broken.status ? graph->broken.text : "out of memory");
    return QDQ_OK;
}

// `bits`: sets the nodes of the report.
static qdq_status check(qdq_graph *graph, const qdq_target_version *version,
                        const qdq_device_request *request, bool bits, qdq_error *err) {
    QDQ_TRY(check_built(graph, err));
    if (start(graph)) {
        check_outputs(graph, &graph->checked);
        check_uses(graph, &graph->checked);
        check_target(graph, version, &graph->checked);
        check_returned(graph, version, &graph->checked);
        check_opset(graph, version, &graph->checked);
        check_ignored(graph, version->target, request, &graph->checked);
        qdq_target_version memory = qdq_memory_version(version);
        if (!qdq_check_layouts(graph, &memory, request ? request->device : NULL, &graph->checked))
            return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while checking the graph");
        QDQ_TRY(check_deployed(graph, version, &graph->checked, bits ? &graph->report : NULL, err));
        QDQ_TRY(check_memory(graph, memory.target, request, &graph->checked, err));
    }
    return finish(graph, err);
}

const qdq_report *qdq_graph_report_of(qdq_graph *graph, qdq_format_check check_format,
                                      qdq_error *err) {
    if (check_built(graph, err) != QDQ_OK) return NULL;
    if (start(graph) && graph->checked.errors == 0 &&
        check_format(graph, &graph->checked, err) != QDQ_OK)
        return NULL;
    return finish(graph, err) == QDQ_OK ? &graph->report : NULL;
}

const qdq_report *qdq_graph_validate_on(qdq_graph *graph, const char *target_name,
                                        const qdq_device *device, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_target_version version;
    qdq_device_request request = {0};
    const char *target = target_name ? target_name : qdq_graph_target(graph);
    if (!qdq_target_version_find(target, &version, err) ||
        qdq_device_choose(target, device, &request.device, err) != QDQ_OK ||
        check(graph, &version, &request, true, err) != QDQ_OK)
        return NULL;
    return &graph->report;
}

const qdq_report *qdq_graph_validate(qdq_graph *graph, const char *target, qdq_error *err) {
    return qdq_graph_validate_on(graph, target, NULL, err);
}

qdq_status qdq_graph_check(qdq_graph *graph, const qdq_target_version *version,
                           const qdq_device_request *request, qdq_error *err) {
    QDQ_TRY(check(graph, version, request, false, err));
    const qdq_finding *findings = graph->report.findings;
    for (size_t i = 0; findings && i < graph->report.count; i++) {
        const qdq_finding *finding = &findings[i];
        if (finding->severity == QDQ_SEVERITY_ERROR)
            return qdq_fail(err, graph->checked.status, "%s", finding->message);
    }
    if (graph->report.errors)  // also if findings exceed the number that is kept
        return qdq_fail(err, graph->checked.status, "the graph has %zu errors",
                        graph->report.errors);
    return QDQ_OK;
}
