// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/compare_json.h"

#include "tools/check/evidence_json.h"
#include "tools/common.h"
#include "tools/html/formula.h"

static void json_strings(qdq_json *json, const char *key, const char *const *texts, size_t count) {
    qdq_json_key(json, key);
    qdq_json_begin_line(json);
    for (size_t i = 0; i < count; i++) qdq_json_string(json, texts[i]);
    qdq_json_end_array(json);
}

// Writes the evidence for the numbers of a result, in the first target and in target t + 1.
static void json_cause_evidence(qdq_json *json, const comparison *c, const node_pair *pair,
                                size_t t, evidence_rows *rows) {
    const char *targets[] = {c->targets[0], c->targets[t + 1]};
    qdq_json_key(json, "evidence");
    qdq_json_begin_array(json);
    for (int k = 0; k < 2; k++) {
        qdq_evidence row = qdq_evidence_of(targets[k], pair->ops[k]);
        if (rows)
            qdq_json_uint(json, evidence_number(rows, row));
        else
            json_evidence(json, row);
    }
    qdq_json_end_array(json);
}

// Writes "0x3f800000", with a digit for every four bits of the dtype.
static void json_bits(qdq_json *json, qdq_dtype dtype, const uint64_t bits[2]) {
    qdq_json_key(json, "bits");
    qdq_json_begin_line(json);
    for (int k = 0; k < 2; k++) {
        char text[32];
        snprintf(text, sizeof text, "0x%0*llx", (int)qdq_dtype_size(dtype) * 2,
                 (unsigned long long)bits[k]);
        qdq_json_string(json, text);
    }
    qdq_json_end_array(json);
}

static void json_cause(qdq_json *json, const comparison *c, const node_comparison *n, size_t t,
                       size_t output, size_t i, evidence_rows *rows) {
    const node_pair *pair = &n->pairs[t];
    const value_pair *v = &pair->values[output];
    const qdq_tensor_info *info = &n->outputs[output].info;
    const cause *why = &v->local.causes[i];
    char name[1024];
    qdq_json_begin_object(json);
    json_string_key(json, "cause", cause_text(&pair->reasons, why->switches, name, sizeof name));
    json_uint_key(json, "elements", why->count);
    qdq_json_key(json, "index");
    json_shape(json, index_of(info->shape, why->first));
    if (v->examples[i].has_x) {
        qdq_json_key(json, "x");
        json_element(json, pair->x_dtype, v->examples[i].x);
    }
    qdq_json_key(json, "results");
    qdq_json_begin_line(json);
    for (int k = 0; k < 2; k++) json_element(json, info->dtype, v->examples[i].values[k]);
    qdq_json_end_array(json);
    json_bits(json, info->dtype, v->examples[i].bits);
    json_cause_evidence(json, c, pair, t, rows);
    qdq_json_end_object(json);
}

static void json_group(qdq_json *json, const comparison *c, const node_pair *pair) {
    qdq_json_key(json, "group");
    qdq_json_begin_object(json);
    json_string_key(json, "op", pair->group);
    qdq_json_key(json, "nodes");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < pair->node_count; i++)
        qdq_json_string(json, qdq_graph_node(c->graph, pair->nodes[i]).name);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

// Writes both formulas if the targets may differ.
static void json_formulas(qdq_json *json, const comparison *c, const node_comparison *n, size_t t,
                          size_t output) {
    const char *op = qdq_graph_node(c->graph, n->node).op;
    bool bfloat16 =
        n->outputs[output].info.dtype == QDQ_BFLOAT16 || n->pairs[t].x_dtype == QDQ_BFLOAT16;
    char text[512];
    qdq_json_key(json, "formulas");
    qdq_json_begin_line(json);
    qdq_json_string(json, formula_text(op, &n->numerics[0], bfloat16, text, sizeof text));
    qdq_json_string(json, formula_text(op, &n->numerics[t + 1], bfloat16, text, sizeof text));
    qdq_json_end_array(json);
}

static void json_pair(qdq_json *json, const comparison *c, const node_comparison *n, size_t t,
                      size_t output, evidence_rows *rows) {
    const node_pair *pair = &n->pairs[t];
    const value_pair *v = &pair->values[output];
    bool whole = !rows || v->local.different;
    qdq_json_begin_object(json);
    json_strings(json, "targets", (const char *const[]){c->targets[0], c->targets[t + 1]}, 2);
    if (whole) json_strings(json, "numerics", pair->reasons.names, pair->reasons.count);
    if (whole && pair->reasons.count && n->numerics) json_formulas(json, c, n, t, output);
    json_uint_key(json, "different", v->local.different);
    json_uint_key(json, "within", v->local.within);
    json_uint_key(json, "steps", (size_t)v->local.steps);
    json_uint_key(json, "nan_count", v->local.nan_count);
    json_closeness(json, n->outputs[output].info.dtype, &v->local, &v->closeness);
    json_uint_key(json, "different_overall", v->overall);
    json_relative_error(json, "relative_error_overall", n->outputs[output].info.dtype,
                        v->overall_error);
    qdq_json_key(json, "causes");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < v->local.cause_count; i++) json_cause(json, c, n, t, output, i, rows);
    qdq_json_end_array(json);
    if (v->spread) {
        qdq_json_key(json, "histogram");
        qdq_json_begin_object(json);
        json_spread(json, v->spread);
        qdq_json_end_object(json);
    }
    if (pair->group) json_group(json, c, pair);
    qdq_json_end_object(json);
}

static void json_left_out(qdq_json *json, const comparison *c, const node_comparison *n) {
    const char *names[MAX_TARGETS];
    size_t count = 0;
    for (size_t i = 0; i < c->left_out_count; i++)
        if (n->left_out >> i & 1) names[count++] = c->left_out[i];
    json_strings(json, "left_out", names, count);
}

static bool has_output(const node_comparison *n, size_t output) {
    for (size_t t = 0; t < n->pair_count; t++)
        if (!n->pairs[t].values[output].absent) return true;
    return false;
}

void compare_json_node(qdq_json *json, const comparison *c, const node_comparison *n,
                       evidence_rows *rows) {
    qdq_node_info node = qdq_graph_node(c->graph, n->node);
    for (size_t i = 0; i < n->output_count; i++) {
        const qdq_tensor_info *info = &n->outputs[i].info;
        if (!has_output(n, i)) continue;
        qdq_json_begin_object(json);
        json_string_key(json, "name", info->name);
        json_string_key(json, "node", node.name);
        json_original(json, node.name, node.original);
        json_string_key(json, "op", node.op);
        json_left_out(json, c, n);
        json_string_key(json, "dtype", qdq_dtype_name(info->dtype));
        qdq_json_key(json, "shape");
        json_shape(json, info->shape);
        json_uint_key(json, "elements", n->pairs[0].values[i].local.elements);
        if (n->spreads) {
            qdq_json_key(json, "histogram");
            qdq_json_begin_object(json);
            json_spread(json, &n->spreads[i]);
            qdq_json_end_object(json);
        }
        qdq_json_key(json, "pairs");
        qdq_json_begin_array(json);
        for (size_t t = 0; t < n->pair_count; t++)
            if (!n->pairs[t].values[i].absent) json_pair(json, c, n, t, i, rows);
        qdq_json_end_array(json);
        qdq_json_end_object(json);
    }
}

void compare_json_start(qdq_json *json, const comparison *c) {
    json_strings(json, "targets", c->targets, c->target_count);
    json_strings(json, "refused", c->left_out, c->left_out_count);
    qdq_json_key(json, "values");
    qdq_json_begin_array(json);
}
