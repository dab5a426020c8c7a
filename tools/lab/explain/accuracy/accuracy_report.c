// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/accuracy_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/check/bits.h"
#include "tools/common.h"
#include "tools/lab/dataset/state_report.h"
#include "tools/lab/explain/accuracy/row_spreads.h"

enum { MOST_OUTPUTS = 6, SHOWN_RANGES = 3, MOST_RANGES = 4096 };

//---- Text -------------------------------------------------------------------

static const char *ratio_text(double ratio, char out[32]) {
    if (ratio == INFINITY)
        snprintf(out, 32, "exact");
    else
        snprintf(out, 32, "%.1f dB", ratio);
    return out;
}

// Prints ": effect 21.3 dB, without 24.0 dB, 0.969 alike;", as far as it is measured.
static void print_effect(const node_accuracy *n) {
    char ratio[32];
    if (isnan(n->effect)) return;
    printf("effect %s, ", ratio_text(n->effect, ratio));
    if (!isnan(n->without)) printf("without %s, ", ratio_text(n->without, ratio));
    printf("%.3g alike; ", n->alike);
}

static void print_node(const node_accuracy *n) {
    char own[32], inherited[32], total[32], mended[32];
    printf("  %s", n->name);
    if (n->kind == KIND_GROUP) {
        printf(", as deployed in a %s: effect %s, %.3g alike", n->op, ratio_text(n->effect, own),
               n->alike);
        if (strcmp(n->cause, "bias overflow") == 0) printf("; %s: %s", n->cause, n->mend);
        printf("\n");
        return;
    }
    if (*n->codes_of) printf(" (codes: %s)", n->codes_of);
    printf(": ");
    print_effect(n);
    printf("own %s, inherited %s, both %s", ratio_text(n->own, own),
           ratio_text(n->inherited, inherited), ratio_text(n->total, total));
    if (n->has_codes) printf("; %zu of %zu clipped", n->clipped, n->elements);
    if (n->has_codes && !isnan(n->unused))
        printf(", %.0f of %.0f codes unused", n->unused, n->codes);
    if (*n->cause) printf("; %s: %s", n->cause, n->mend);
    if (*n->cause && n->mended < INFINITY)
        printf(" (effect %s%s)", ratio_text(n->mended, mended),
               n->samples == 1 ? ", on one sample" : "");
    printf("\n");
}

static void print_kind(const accuracy *a, accuracy_kind kind, size_t most) {
    size_t list[WORST_NODES], count = accuracy_worst(a, kind, list, most), all = 0;
    for (size_t i = 0; i < a->count; i++) all += a->nodes[i].kind == kind;
    if (!count) return;
    printf("%s%s, the %zu worst of %zu nodes by the signal-to-noise ratio of their own error:\n",
           accuracy_kind_names[kind], kind == KIND_OPERATION ? "s" : "", count, all);
    for (size_t i = 0; i < count; i++) print_node(&a->nodes[list[i]]);
}

// Prints the curve in two lines, whose columns are points.
static void print_curve(const accuracy *a) {
    char ratio[32];
    if (!a->curve_count) return;
    printf("worst pairs in float ");
    for (size_t i = 0; i < a->curve_count; i++) printf("%7zu", a->curve[i].pairs);
    printf("\nworst output, in dB  ");
    for (size_t i = 0; i < a->curve_count; i++) {
        snprintf(ratio, sizeof ratio, "%.1f", a->curve[i].ratio);
        printf("%7s", a->curve[i].ratio == INFINITY ? "exact" : ratio);
    }
    printf("\n");
}

// Prints the pairs whose effect is greatest, and the sum of all effects. False if none is known.
static bool print_pairs(const accuracy *a) {
    char ratio[32];
    size_t list[WITHOUT_NODES], count = accuracy_by_effect(a, list, WITHOUT_NODES), all = 0;
    bool groups = false;
    for (size_t i = 0; i < a->count; i++)
        if (a->nodes[i].kind == KIND_GROUP)
            groups = true;
        else
            all += isnan(a->nodes[i].effect) ? 0 : 1;
    if (!all) return false;
    printf("pairs together %s; ", ratio_text(a->together, ratio));
    printf("summed one by one %s", ratio_text(a->summed, ratio));
    if (a->effect_samples) printf(", on %zu samples", a->effect_samples);
    if (a->without_samples)
        printf("; together %s on %zu, the samples of `without`",
               ratio_text(a->together_without, ratio), a->without_samples);
    printf("\n");
    print_curve(a);
    if (count)
        printf("the %zu worst of %zu pairs%s by their effect on the output:\n", count, all,
               groups ? " and of the target's groups" : "");
    for (size_t i = 0; i < count; i++) print_node(&a->nodes[list[i]]);
    return true;
}

static void print_output(const output_accuracy *o, const char *seed) {
    char ratio[32];
    printf("output '%s': ", o->name);
    printf("%s", o->known ? ratio_text(o->ratio, ratio) : "not in the float model");
    if (o->known && !isnan(o->median))
        printf(", median sample %s, %.3g %% of samples decide alike", ratio_text(o->median, ratio),
               100 * o->alike);
    if (seed) printf(", on random inputs (--fill %s)", seed);
    printf("\n");
}

static bool output_differs(const output_accuracy *o) { return !o->known || o->ratio != INFINITY; }

bool accuracy_differs(const accuracy *a) {
    for (size_t i = 0; i < a->output_count; i++)
        if (output_differs(&a->outputs[i])) return true;
    return false;
}

void accuracy_text(const accuracy *a, const accuracy_title *title) {
    if (title->graph)
        printf("%s as target %s, against %s\n", title->graph, title->target, title->model);
    else
        printf("target %s, against the float model\n", title->target);
    for (size_t i = 0; i < a->output_count && i < MOST_OUTPUTS; i++)
        print_output(&a->outputs[i], title->seed);
    if (a->output_count > MOST_OUTPUTS)
        printf("and %zu more outputs\n", a->output_count - MOST_OUTPUTS);
    if (title->labelled) label_counts_text(&title->right);
    if (!print_pairs(a)) {
        print_kind(a, KIND_ACTIVATIONS, WORST_NODES);
        print_kind(a, KIND_WEIGHTS, WORST_NODES);
    }
    print_kind(a, KIND_OPERATION, 5);
    if (a->unmatched)
        printf("%zu weights have no counterpart in the float model and are not measured\n",
               a->unmatched);
}

//---- JSON -------------------------------------------------------------------

static void json_text(qdq_json *json, const char *key, const char *text) {
    qdq_json_key(json, key);
    if (*text)
        qdq_json_string(json, text);
    else
        qdq_json_null(json);
}

static void json_channel(qdq_json *json, const channel_ranges *c, size_t index) {
    qdq_json_begin_line(json);
    qdq_json_uint(json, index);
    qdq_json_double(json, channel_reach(c, index));
    qdq_json_end_array(json);
}

// Writes the channels that reach farthest, and with `all` the range of each.
static void json_channels(qdq_json *json, const channel_ranges *c, bool all) {
    qdq_json_key(json, "channels");
    if (!c->count) {
        qdq_json_null(json);
        return;
    }
    qdq_json_begin_object(json);
    json_uint_key(json, "axis", (uint64_t)c->axis);
    json_double_key(json, "ratio", c->ratio);
    json_double_key(json, "median", c->median);
    qdq_json_key(json, "worst");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < c->worst_count; i++) json_channel(json, c, c->worst[i]);
    qdq_json_end_array(json);
    qdq_json_key(json, "quietest");
    json_channel(json, c, c->least_reach);
    for (int greatest = 0; all && c->count <= MOST_RANGES && greatest < 2; greatest++) {
        qdq_json_key(json, greatest ? "greatest" : "least");
        qdq_json_begin_line(json);
        for (size_t i = 0; i < c->count; i++)
            qdq_json_float32(json, (float)(greatest ? c->greatest[i] : c->least[i]));
        qdq_json_end_array(json);
    }
    qdq_json_end_object(json);
}

static void json_node(qdq_json *json, const node_accuracy *n, bool ranges,
                      const accuracy_forms *forms) {
    qdq_json_begin_object(json);
    json_string_key(json, "node", n->name);
    json_string_key(json, "op", n->op);
    json_text(json, "codes_of", n->codes_of);
    json_string_key(json, "kind", accuracy_kind_names[n->kind]);
    json_double_key(json, "effect", n->effect);
    json_double_key(json, "without", n->without);
    json_double_key(json, "alike", n->alike);
    json_double_key(json, "own", n->own);
    json_double_key(json, "inherited", n->inherited);
    json_double_key(json, "total", n->total);
    json_uint_key(json, "elements", n->elements);
    json_uint_key(json, "clipped", n->clipped);
    json_double_key(json, "codes", n->codes);
    json_double_key(json, "unused", n->unused);
    json_text(json, "cause", n->cause);
    json_text(json, "mend", n->mend);
    json_double_key(json, "mended", n->mended);
    json_channels(json, &n->channels, ranges);
    if (forms) json_row_spreads(json, forms, n);
    qdq_json_end_object(json);
}

static void json_curve(qdq_json *json, const accuracy *a) {
    qdq_json_key(json, "curve");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < a->curve_count; i++) {
        qdq_json_begin_line(json);
        qdq_json_uint(json, a->curve[i].pairs);
        qdq_json_double(json, a->curve[i].ratio);
        qdq_json_end_array(json);
    }
    qdq_json_end_array(json);
}

void json_accuracy(qdq_json *json, const accuracy *a, const accuracy_title *title) {
    if (title->graph) json_string_key(json, "graph", title->graph);
    if (title->model) json_string_key(json, "against", title->model);
    json_string_key(json, "target", title->target);
    if (title->graph) json_text(json, "fill", title->seed ? title->seed : "");
    qdq_json_key(json, "outputs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < a->output_count; i++) {
        const output_accuracy *o = &a->outputs[i];
        qdq_json_begin_object(json);
        json_string_key(json, "name", o->name);
        json_double_key(json, "total", o->known ? o->ratio : NAN);
        json_double_key(json, "median", o->known ? o->median : NAN);
        json_double_key(json, "alike", o->known ? o->alike : NAN);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
    if (title->labelled) label_counts_json(json, title->labelled, &title->right);
    json_double_key(json, "together", a->together);
    json_double_key(json, "summed", a->summed);
    json_uint_key(json, "effect_samples", a->effect_samples);
    json_double_key(json, "together_without", a->together_without);
    json_uint_key(json, "without_samples", a->without_samples);
    json_curve(json, a);
    json_uint_key(json, "unmatched", a->unmatched);
    qdq_json_key(json, "nodes");
    qdq_json_begin_array(json);
    size_t worst[SHOWN_RANGES], shown = accuracy_by_effect(a, worst, SHOWN_RANGES);
    for (size_t i = 0; i < a->count; i++) {
        bool ranges = false;
        for (size_t k = 0; k < shown; k++) ranges = ranges || worst[k] == i;
        json_node(json, &a->nodes[i], ranges, title->forms);
    }
    qdq_json_end_array(json);
}

int accuracy_json(const accuracy *a, const accuracy_title *title, qdq_graph *graph) {
    qdq_json json;
    json_begin(&json);
    json_accuracy(&json, a, title);
    int code = json_bits_of(&json, graph, title->target, NULL);
    json_end(&json);
    return code;
}
