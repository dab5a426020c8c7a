// SPDX-License-Identifier: Apache-2.0
// Decides how well the bits of each node are known: as its evidence says, unless a finding about
// the node limits it. A finding names a node of the given graph or of the graph that the target
// runs; a node of the given graph stands for the nodes that compute what it leads to.
#include "graph/compile/node_bits.h"

#include <string.h>

#include "include/qdq/inspect.h"

enum { MOST_KINDS = 256 };

// The nodes of one op.
typedef struct op_kind {
    const char *op;
    size_t row;            // number of its first row of evidence
    size_t first, others;  // nodes with unknown bits and no finding
    bool unknown;
} op_kind;

typedef struct survey {
    const qdq_graph *given, *run;
    const qdq_target_version *version;
    qdq_findings *findings;
    qdq_node_bits *nodes;  // of `run`
    op_kind kinds[MOST_KINDS];
    size_t kind_count;
} survey;

//---- Evidence ---------------------------------------------------------------

// Returns the kind of an op; NULL: there are too many.
static op_kind *kind_of(survey *s, const char *op) {
    for (size_t i = 0; i < s->kind_count; i++)
        if (s->kinds[i].op == op || strcmp(s->kinds[i].op, op) == 0) return &s->kinds[i];
    if (s->kind_count == MOST_KINDS) return NULL;
    s->kinds[s->kind_count] = (op_kind){.op = op, .row = qdq_evidence_next(s->version, op, 0)};
    return &s->kinds[s->kind_count++];
}

static const qdq_evidence *evidence_for(survey *s, const qdq_op_context *ctx, const char *op) {
    const op_kind *kind = kind_of(s, op);
    size_t i = kind ? kind->row : qdq_evidence_next(s->version, op, 0);
    const qdq_evidence_row *row = qdq_evidence_row_at(s->version, i);
    while (row && row->covers && !row->covers(ctx)) {
        i = qdq_evidence_next(s->version, op, i + 1);
        row = qdq_evidence_row_at(s->version, i);
    }
    return row ? &row->shown : NULL;
}

static void judge(survey *s, size_t index) {
    const qdq_node *node = &s->run->nodes[index];
    qdq_op_context ctx;
    qdq_graph_context(s->run, node, s->findings, &ctx);
    const char *op = node->op->name;
    if (node->expanded && node->original_op)
        op = qdq_mempool_strdup(s->findings->mempool, node->original_op);
    const qdq_evidence *row = op ? evidence_for(s, &ctx, op) : NULL;
    const char *name = qdq_mempool_strdup(s->findings->mempool, node->name);
    const char *original =
        node->original ? qdq_mempool_strdup(s->findings->mempool, node->original) : name;
    s->nodes[index] = (qdq_node_bits){
        .node = name,
        .op = op,
        .original = original,
        .bits = row ? row->bits : QDQ_BITS_UNKNOWN,
        .rule = "",
        .evidence = row,
    };
}

//---- Findings ---------------------------------------------------------------

static void lower(qdq_node_bits *node, const qdq_rule *rule) {
    if (node->bits < rule->bits) return;
    if (node->bits > rule->bits || !*node->rule) node->rule = rule->id;
    node->bits = rule->bits;
}

// Returns the node of `run` that computes each value of `given`, SIZE_MAX: none; NULL: no memory.
static size_t *find_counterparts(const survey *s) {
    size_t count = s->given->value_count;
    size_t *nodes = qdq_mempool_array(s->findings->mempool, count, sizeof *nodes);
    for (size_t i = 0; nodes && i < count; i++) nodes[i] = SIZE_MAX;
    for (size_t id = 1; nodes && id < s->run->value_count; id++) {
        const qdq_graph_value *v = &s->run->values[id];
        size_t source = s->run == s->given ? id : v->source;
        if (v->kind == QDQ_VALUE_MADE && source && source < count) nodes[source] = v->node;
    }
    return nodes;
}

static const qdq_rule *stricter(const qdq_rule *a, const qdq_rule *b) {
    return !a || (b && b->bits < a->bits) ? b : a;
}

// Lowers the nodes that compute the values to which nodes of the given graph with a rule lead.
static void lower_behind(survey *s, const qdq_rule **rules) {
    const qdq_graph *g = s->given;
    const size_t *nodes = find_counterparts(s);
    const qdq_rule **leads =
        qdq_mempool_array(s->findings->mempool, g->value_count, sizeof(qdq_rule *));
    for (size_t i = 0; nodes && leads && i < g->node_count; i++) {
        const qdq_rule *rule = rules[i];
        for (size_t k = 0; k < g->nodes[i].input_count; k++)
            rule = stricter(rule, leads[g->nodes[i].inputs[k].id]);
        for (size_t k = 0; rule && k < g->nodes[i].output_count; k++) {
            uint32_t id = g->nodes[i].outputs[k];
            if (nodes[id] == SIZE_MAX)
                leads[id] = rule;
            else
                lower(&s->nodes[nodes[id]], rule);
        }
    }
}

// Returns the node of a graph with this name; SIZE_MAX: none.
static size_t node_called(const qdq_graph *graph, const char *name) {
    qdq_value value = qdq_graph_find(graph, name);
    const qdq_graph_value *v = &graph->values[value.id];
    return value.id && v->kind == QDQ_VALUE_MADE ? v->node : SIZE_MAX;
}

static void apply_findings(survey *s) {
    const qdq_findings *f = s->findings;
    const qdq_rule **rules =
        qdq_mempool_array(f->mempool, s->given->node_count, sizeof(qdq_rule *));
    bool any = false;
    for (size_t i = 0; rules && i < f->bits_limit_count; i++) {
        const qdq_bits_limit *found = &f->bits_limits[i];
        size_t node = node_called(s->run, found->node);
        if (node != SIZE_MAX) lower(&s->nodes[node], found->rule);
        size_t given = node == SIZE_MAX ? node_called(s->given, found->node) : SIZE_MAX;
        if (given == SIZE_MAX) continue;
        rules[given] = stricter(rules[given], found->rule);
        any = true;
    }
    if (any) lower_behind(s, rules);
}

//---- Nodes whose inputs are not known ---------------------------------------

static void follow_inputs(survey *s) {
    for (size_t i = 0; i < s->run->node_count; i++)
        for (size_t k = 0; k < s->run->nodes[i].input_count; k++) {
            const qdq_graph_value *v = &s->run->values[s->run->nodes[i].inputs[k].id];
            if (v->kind != QDQ_VALUE_MADE || !v->name) continue;
            const qdq_node_bits *maker = &s->nodes[v->node];
            s->nodes[i].from_same_inputs |= maker->from_same_inputs || maker->bits < QDQ_BITS_READ;
        }
}

//---- The finding ------------------------------------------------------------

static const qdq_rule *unknown_rule(const qdq_target *target) {
    for (size_t i = 0; i < target->rule_count; i++) {
        const char *name = strchr(target->rules[i].id, '/');
        if (name && strcmp(name, "/bits-unknown") == 0) return &target->rules[i];
    }
    return NULL;
}

static bool is_unfounded(const qdq_node_bits *node) {
    return node->bits == QDQ_BITS_UNKNOWN && !*node->rule;
}

static void count_unknown(survey *s, size_t node) {
    op_kind *kind = kind_of(s, s->nodes[node].op);
    if (!kind) return;
    if (kind->unknown)
        kind->others++;
    else
        kind->unknown = true, kind->first = node;
}

static void report_unknown(const survey *s, const op_kind *kind) {
    const qdq_rule *rule = unknown_rule(s->version->target);
    if (!rule || !kind->unknown) return;
    const qdq_evidence *row = s->nodes[kind->first].evidence;
    const char *more = kind->others ? qdq_text(s->findings, ", nor of %zu other node%s",
                                               kind->others, kind->others == 1 ? "" : "s")
                                    : "";
    qdq_report_add(s->findings, s->version->target->name, rule,
                   (qdq_subject){.node = s->nodes[kind->first].node, .op = kind->op},
                   row ? qdq_text(s->findings, "the backend gives other numbers: %s", row->compared)
                       : qdq_text(s->findings, "no evidence covers the bits of its result%s", more),
                   NULL, NULL);
}

void qdq_node_bits_of(const qdq_graph *given, const qdq_graph *run,
                      const qdq_target_version *version, qdq_findings *findings,
                      qdq_report *report) {
    size_t count = run->node_count;
    survey *s = QDQ_MEMPOOL_NEW(findings->mempool, survey);
    if (!s) return;
    *s = (survey){.given = given, .run = run, .version = version, .findings = findings};
    s->nodes = qdq_mempool_array(findings->mempool, count, sizeof *s->nodes);
    if (!s->nodes) return;
    for (size_t i = 0; i < count; i++) judge(s, i);
    apply_findings(s);
    follow_inputs(s);
    for (size_t i = 0; i < count; i++) {
        report->nodes_with[s->nodes[i].bits]++;
        if (is_unfounded(&s->nodes[i])) count_unknown(s, i);
    }
    for (size_t i = 0; i < s->kind_count; i++) report_unknown(s, &s->kinds[i]);
    report->nodes = s->nodes;
    report->node_count = count;
}
