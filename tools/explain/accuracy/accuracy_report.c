// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/accuracy/accuracy_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/io/tensor_io.h"

enum { MOST_OUTPUTS = 6 };

static const char *const kind_names[] = {"activations", "weights", "operation"};

//---- Outputs ----------------------------------------------------------------

typedef struct output_accuracy {
    const char *name;
    double ratio;
    bool known;  // both graphs have it, with one type
} output_accuracy;

static const void *data_of(const replay *r, qdq_value value) {
    if (value.id >= r->form.value_count || !value.id) return NULL;
    return r->computed[value.id] ? r->computed[value.id] : r->used[value.id];
}

static output_accuracy measure_output(const session *s, const session *real, const reference *ref,
                                      size_t index) {
    const qdq_tensor_info *info = qdq_plan_output(s->plan, index);
    output_accuracy out = {.name = qdq_output_original(s->graph, info->name)};
    qdq_value given = qdq_output_value(s->graph, info->name), a = {0};
    if (given.id < ref->quantized->given->ids) a = ref->quantized->form.own[given.id];
    qdq_value b = qdq_output_value(real->graph, qdq_output_name_of(real->graph, out.name));
    const void *x = data_of(ref->quantized, a), *y = data_of(ref->real, b);
    qdq_dtype dtype;
    qdq_shape shape;
    if (!x || !y || !qdq_value_type(real->graph, b, &dtype, &shape) ||
        !qdq_shape_equal(shape, info->shape))
        return out;
    size_t count = qdq_shape_count(shape);
    double *p = malloc((2 * count + 1) * sizeof *p);
    if (!p) return out;
    to_doubles(dtype, y, count, p);
    to_doubles(info->dtype, x, count, p + count);
    out.ratio = decibels(p, p + count, count);
    out.known = true;
    free(p);
    return out;
}

//---- Text -------------------------------------------------------------------

static const char *ratio_text(double ratio, char out[32]) {
    if (ratio == INFINITY)
        snprintf(out, 32, "exact");
    else
        snprintf(out, 32, "%.1f dB", ratio);
    return out;
}

static const char *node_name(const replay *r, size_t node) {
    return qdq_graph_node(r->form.graph, node).name;
}

static void print_node(const replay *r, const node_accuracy *n) {
    char own[32], inherited[32], total[32], mended[32];
    size_t quantize = quantize_of(r, n->node);
    printf("  %s", node_name(r, n->node));
    if (quantize != SIZE_MAX) printf(" (codes: %s)", node_name(r, quantize));
    printf(": own %s, inherited %s, both %s", ratio_text(n->own, own),
           ratio_text(n->inherited, inherited), ratio_text(n->total, total));
    if (n->has_codes)
        printf("; %zu of %zu clipped, %.0f of %.0f codes unused", n->clipped, n->elements,
               n->unused, n->codes);
    if (*n->cause) printf("; %s: %s", n->cause, n->mend);
    if (*n->cause && !isnan(n->mended)) printf(": %s", ratio_text(n->mended, mended));
    printf("\n");
}

static void print_kind(const replay *r, const accuracy *a, accuracy_kind kind, size_t most) {
    size_t list[WORST_NODES], count = accuracy_worst(a, kind, list, most), all = 0;
    for (size_t i = 0; i < a->count; i++) all += a->nodes[i].kind == kind;
    if (!count) return;
    printf("%s%s, the %zu worst of %zu nodes by the signal-to-noise ratio of their own error:\n",
           kind_names[kind], kind == KIND_OPERATION ? "s" : "", count, all);
    for (size_t i = 0; i < count; i++) print_node(r, &a->nodes[list[i]]);
}

bool accuracy_text(const session *s, const session *real, const reference *ref, const accuracy *a,
                   const accuracy_title *title) {
    bool differs = false;
    char ratio[32];
    size_t outputs = qdq_plan_output_count(s->plan);
    printf("%s as target %s, against %s\n", title->graph, title->target, title->model);
    for (size_t i = 0; i < outputs; i++) {
        output_accuracy o = measure_output(s, real, ref, i);
        differs |= !o.known || o.ratio != INFINITY;
        if (i < MOST_OUTPUTS)
            printf("output '%s': %s\n", o.name,
                   o.known ? ratio_text(o.ratio, ratio) : "not in the float model");
    }
    if (outputs > MOST_OUTPUTS) printf("and %zu more outputs\n", outputs - MOST_OUTPUTS);
    print_kind(ref->quantized, a, KIND_ACTIVATIONS, WORST_NODES);
    print_kind(ref->quantized, a, KIND_WEIGHTS, WORST_NODES);
    print_kind(ref->quantized, a, KIND_OPERATION, 5);
    if (a->unmatched)
        printf("%zu weights have no counterpart in the float model and are not measured\n",
               a->unmatched);
    return differs;
}

//---- JSON -------------------------------------------------------------------

static void json_double(qdq_json *json, const char *key, double value) {
    qdq_json_key(json, key);
    if (isnan(value))
        qdq_json_null(json);
    else
        qdq_json_double(json, value);
}

static void json_text(qdq_json *json, const char *key, const char *text) {
    qdq_json_key(json, key);
    if (*text)
        qdq_json_string(json, text);
    else
        qdq_json_null(json);
}

static void json_node(qdq_json *json, const replay *r, const node_accuracy *n) {
    size_t quantize = quantize_of(r, n->node);
    qdq_json_begin_object(json);
    json_string_key(json, "node", node_name(r, n->node));
    json_string_key(json, "op", qdq_graph_node(r->form.graph, n->node).op);
    json_text(json, "codes_of", quantize == SIZE_MAX ? "" : node_name(r, quantize));
    json_string_key(json, "kind", kind_names[n->kind]);
    json_double(json, "own", n->own);
    json_double(json, "inherited", n->inherited);
    json_double(json, "total", n->total);
    json_uint_key(json, "elements", n->elements);
    json_uint_key(json, "clipped", n->clipped);
    json_double(json, "codes", n->codes);
    json_double(json, "unused", n->unused);
    json_text(json, "cause", n->cause);
    json_text(json, "mend", n->mend);
    json_double(json, "mended", n->mended);
    qdq_json_end_object(json);
}

bool json_accuracy(qdq_json *json, const session *s, const session *real, const reference *ref,
                   const accuracy *a, const accuracy_title *title) {
    bool differs = false;
    json_string_key(json, "graph", title->graph);
    json_string_key(json, "against", title->model);
    json_string_key(json, "target", title->target);
    qdq_json_key(json, "outputs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < qdq_plan_output_count(s->plan); i++) {
        output_accuracy o = measure_output(s, real, ref, i);
        differs |= !o.known || o.ratio != INFINITY;
        qdq_json_begin_object(json);
        json_string_key(json, "name", o.name);
        json_double(json, "total", o.known ? o.ratio : NAN);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
    json_uint_key(json, "unmatched", a->unmatched);
    qdq_json_key(json, "nodes");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < a->count; i++) json_node(json, ref->quantized, &a->nodes[i]);
    qdq_json_end_array(json);
    return differs;
}

bool accuracy_json(const session *s, const session *real, const reference *ref, const accuracy *a,
                   const accuracy_title *title) {
    qdq_json json;
    json_begin(&json);
    bool differs = json_accuracy(&json, s, real, ref, a, title);
    json_end(&json);
    return differs;
}
