// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/explain_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/check/bits.h"
#include "tools/common.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/compare/causes.h"
#include "tools/options.h"

enum { MOST_ELEMENTS = 8, MOST_NAMED = 6 };

//---- Elements ---------------------------------------------------------------

// An element of two results, and of the node's first input if it has the same shape.
typedef struct shown {
    size_t at;
    const node_value *value;
    const void *given, *computed, *x;
    qdq_dtype x_dtype;
    const char *x_name;
} shown;

static uint64_t bits_at(qdq_dtype dtype, const void *data, size_t i) {
    uint64_t bits = 0;
    size_t size = qdq_dtype_size(dtype);
    memcpy(&bits, (const char *)data + i * size, size);
    return bits;
}

static double number_at(qdq_dtype dtype, const void *data, size_t i) {
    double number = 0;
    to_doubles(dtype, (const char *)data + i * qdq_dtype_size(dtype), 1, &number);
    return number;
}

static const char *with_hex(qdq_dtype dtype, const void *data, size_t i, char out[64]) {
    char number[32];
    snprintf(out, 64, "%s (0x%0*" PRIx64 ")",
             element_text(dtype, number_at(dtype, data, i), number),
             (int)(2 * qdq_dtype_size(dtype)), bits_at(dtype, data, i));
    return out;
}

static size_t node_that_makes(const replay *r, qdq_value value) {
    return value.id < r->form.value_count ? r->form.makers[value.id] : SIZE_MAX;
}

static shown show(const replay *r, const explanation *e) {
    const node_value *v = &r->values[e->first.id];
    shown s = {
        .value = v, .given = replay_given(r, e->first), .computed = r->computed[e->first.id]};
    const qdq_graph *graph = r->form.graph;
    qdq_value x = qdq_graph_node_input(graph, node_that_makes(r, e->first), 0);
    qdq_shape shape;
    if (qdq_value_type(graph, x, &s.x_dtype, &shape) && qdq_shape_equal(shape, v->info.shape)) {
        s.x = qdq_value_is_constant(graph, x) ? qdq_value_data(graph, x) : r->used[x.id];
        s.x_name = qdq_value_name(graph, x);
    }
    return s;
}

// Moves to the next element that differs. False after the last.
static bool next_element(shown *s, size_t from) {
    qdq_tensor_info one = {.dtype = s->value->info.dtype,
                           .bytes = qdq_dtype_size(s->value->info.dtype)};
    size_t count = qdq_shape_count(s->value->info.shape);
    for (s->at = from; s->at < count; s->at++) {
        const char *a = (const char *)s->given + s->at * one.bytes;
        const char *b = (const char *)s->computed + s->at * one.bytes;
        if (memcmp(a, b, one.bytes) != 0 && measure_difference(&one, a, b, NULL).different)
            return true;
    }
    return false;
}

static void print_elements(const replay *r, const explanation *e, const char *given_by) {
    shown s = show(r, e);
    char at[128], given[64], computed[64], x[64];
    qdq_dtype dtype = s.value->info.dtype;
    for (size_t i = 0, from = 0; i < MOST_ELEMENTS && next_element(&s, from); i++) {
        printf("  %s: %s %s, computed %s", index_text(s.value->info.shape, s.at, at, sizeof at),
               given_by, with_hex(dtype, s.given, s.at, given),
               with_hex(dtype, s.computed, s.at, computed));
        if (s.x) printf(", %s %s", s.x_name, with_hex(s.x_dtype, s.x, s.at, x));
        printf("\n");
        from = s.at + 1;
    }
    if (e->differing > MOST_ELEMENTS) printf("  and %zu more\n", e->differing - MOST_ELEMENTS);
}

//---- Text -------------------------------------------------------------------

static void print_targets(const explanation *e) {
    printf("target: %s", e->names[0]);
    for (size_t i = 1; i < e->target_count && i < MOST_NAMED; i++)
        printf("%s%s", i == 1 ? "; the same bits: " : ", ", e->names[i]);
    if (e->target_count > MOST_NAMED) printf(" and %zu more", e->target_count - MOST_NAMED);
    printf("\n");
}

static const char *name_of(const replay *r, const candidate *c) {
    return c->node == SIZE_MAX ? "all nodes" : qdq_graph_node(r->form.graph, c->node).name;
}

static void print_cause(const replay *r, const explanation *e) {
    if (strcmp(e->cause, "unknown") == 0 && !e->target_count) {
        printf(
            "cause: unknown: none of %zu targets, number formats and mistakes gives these bits%s\n",
            e->tried, e->stopped ? "; the rest was not tried, for want of time" : "");
        if (e->noise)
            printf("every difference is below 2^-19 of the largest element, as another order of "
                   "sums or another library gives\n");
        else if (*e->nearest.cause)
            printf("nearest: node '%s', %s (%s): %zu of %zu elements are left\n",
                   name_of(r, &e->nearest), e->nearest.cause, e->nearest.detail,
                   e->nearest.left.first, e->differing);
        return;
    }
    printf("cause: %s at node '%s' (%s): %s; ", e->cause, e->node, e->op, e->detail);
    if (e->near)
        printf("%zu of %zu elements are left\n", e->nearest.left.first, e->differing);
    else
        printf("this gives all bits%s\n", e->left ? " up to here" : "");
    if (e->target_count) print_targets(e);
    for (size_t i = 1; i < e->found_count && i <= MOST_NAMED; i++)
        printf("the same bits with %s changes: node '%s', %s (%s)\n",
               e->found[i].changes > e->found[0].changes ? "more" : "as few",
               name_of(r, &e->found[i]), e->found[i].cause, e->found[i].detail);
    if (e->found_count > MOST_NAMED + 1) printf("and others\n");
}

// True if a node computes an output of the graph, and the output was not given.
static bool is_left_out(const session *s, const replay *base, size_t output) {
    qdq_value value = qdq_output_value(s->graph, qdq_plan_output(s->plan, output)->name);
    return value.id < base->given->ids && !base->given->data[value.id] &&
           !base->given->inputs[value.id] && !qdq_value_is_constant(s->graph, value);
}

static void print_left_out(const session *s, const replay *base) {
    for (size_t i = 0; i < qdq_plan_output_count(s->plan); i++)
        if (is_left_out(s, base, i))
            printf("not compared: output '%s', which is not given\n",
                   qdq_plan_output(s->plan, i)->name);
}

void explain_text(const session *s, const replay *base, const explanation *e,
                  const report_title *title) {
    if (base->given->ignored)
        printf("not in the graph: '%s'%s\n", base->given->ignored_name,
               base->given->ignored > 1 ? " and others" : "");
    if (!e->differs) {
        size_t count = base->given->count;
        printf("%s: ", title->graph);
        if (count == 1)
            printf("the only given value is equal to %s\n", title->against);
        else
            printf("all %zu given values are equal to %s\n", count, title->against);
        print_left_out(s, base);
        return;
    }
    printf("first difference: '%s', made by node '%s' (%s): %zu of %zu elements differ from %s\n",
           e->value, qdq_graph_node(base->form.graph, node_that_makes(base, e->first)).name,
           qdq_graph_node(base->form.graph, node_that_makes(base, e->first)).op, e->differing,
           e->elements, title->against);
    print_cause(base, e);
    print_elements(base, e, title->given);
    if (e->noisy)
        printf(
            "%zu values before it or after it differ by less than 2^-19 of their largest element\n",
            e->noisy);
    if (e->later)
        printf("%zu later value%s by %s, given the device's inputs: '%s'%s\n", e->later,
               e->later > 1 ? "s differ" : " differs", e->later > 1 ? "themselves" : "itself",
               e->later_value, e->later > 1 ? ", ..." : "");
    print_left_out(s, base);
    printf("reproduce: %s\n", title->command);
}

//---- JSON -------------------------------------------------------------------

static void json_text_or_null(qdq_json *json, const char *key, const char *text) {
    qdq_json_key(json, key);
    if (text && *text)
        qdq_json_string(json, text);
    else
        qdq_json_null(json);
}

static void json_hex(qdq_json *json, const char *key, qdq_dtype dtype, const void *data, size_t i) {
    char text[32];
    snprintf(text, sizeof text, "0x%0*" PRIx64, (int)(2 * qdq_dtype_size(dtype)),
             bits_at(dtype, data, i));
    qdq_json_key(json, key);
    json_element(json, dtype, number_at(dtype, data, i));
    char name[48];
    snprintf(name, sizeof name, "%s_bits", key);
    json_string_key(json, name, text);
}

static void json_elements(qdq_json *json, const replay *r, const explanation *e) {
    qdq_json_key(json, "examples");
    qdq_json_begin_array(json);
    shown s = {0};
    if (e->differs) s = show(r, e);
    for (size_t i = 0, from = 0; e->differs && i < MOST_ELEMENTS && next_element(&s, from); i++) {
        qdq_json_begin_object(json);
        qdq_json_key(json, "index");
        json_shape(json, index_of(s.value->info.shape, s.at));
        json_hex(json, "given", s.value->info.dtype, s.given, s.at);
        json_hex(json, "computed", s.value->info.dtype, s.computed, s.at);
        if (s.x) json_hex(json, "x", s.x_dtype, s.x, s.at);
        qdq_json_end_object(json);
        from = s.at + 1;
    }
    qdq_json_end_array(json);
}

static void json_candidates(qdq_json *json, const replay *r, const explanation *e) {
    qdq_json_key(json, "targets");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < e->target_count; i++) qdq_json_string(json, e->names[i]);
    qdq_json_end_array(json);
    qdq_json_key(json, "candidates");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < e->found_count; i++) {
        qdq_json_begin_object(json);
        json_text_or_null(json, "node",
                          e->found[i].node == SIZE_MAX ? NULL : name_of(r, &e->found[i]));
        json_string_key(json, "cause", e->found[i].cause);
        json_string_key(json, "detail", e->found[i].detail);
        json_uint_key(json, "changes", (uint64_t)e->found[i].changes);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

void json_explanation(qdq_json *json, const session *s, const replay *base, const explanation *e,
                      const report_title *title) {
    json_string_key(json, "graph", qdq_graph_name(s->graph));
    json_string_key(json, "against", title->against);
    json_text_or_null(json, "node", e->differs ? e->node : NULL);
    json_text_or_null(json, "op", e->differs ? e->op : NULL);
    json_text_or_null(json, "value", e->differs ? e->value : NULL);
    json_text_or_null(json, "cause", e->differs ? e->cause : NULL);
    json_text_or_null(json, "detail", e->differs ? e->detail : NULL);
    json_text_or_null(json, "target", e->target_count ? e->names[0] : NULL);
    json_uint_key(json, "elements", e->elements);
    json_uint_key(json, "differing", e->differing);
    json_uint_key(json, "left", e->left);
    json_uint_key(json, "tried", e->tried);
    json_uint_key(json, "later", e->later);
    qdq_json_key(json, "stopped");
    qdq_json_bool(json, e->stopped);
    json_candidates(json, base, e);
    json_elements(json, base, e);
    qdq_json_key(json, "not_compared");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < qdq_plan_output_count(s->plan); i++)
        if (is_left_out(s, base, i)) qdq_json_string(json, qdq_plan_output(s->plan, i)->name);
    qdq_json_end_array(json);
    json_string_key(json, "command", title->command);
}

int explain_json(const session *s, const replay *base, const explanation *e,
                 const report_title *title, const options *opt) {
    qdq_json json;
    json_begin(&json);
    json_explanation(&json, s, base, e, title);
    int code = json_bits_of(&json, s->graph, title->target, device_for(opt, title->target));
    json_end(&json);
    return code;
}

//---- The command ------------------------------------------------------------

static size_t add_word(char *out, size_t at, size_t capacity, const char *word) {
    bool plain =
        *word != '\0' && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_-+=./,:@%") == strlen(word);
    if (at + strlen(word) + 4 >= capacity) return at;
    int made = snprintf(out + at, capacity - at, plain ? " %s" : " '%s'", word);
    return at + (made > 0 ? (size_t)made : 0);
}

static size_t add_list(char *out, size_t at, size_t capacity, const char *option,
                       const string_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        at = add_word(out, at, capacity, option);
        at = add_word(out, at, capacity, list->items[i]);
    }
    return at;
}

const char *explain_command(const char *command, const options *opt, const string_list *gots,
                            char *out, size_t capacity) {
    size_t at = (size_t)snprintf(out, capacity, "qdq %s", command);
    for (size_t i = 0; i < opt->operands.count; i++)
        at = add_word(out, at, capacity, opt->operands.items[i]);
    at = add_list(out, at, capacity, "--got", gots);
    at = add_list(out, at, capacity, "-i", &opt->inputs);
    at = add_list(out, at, capacity, "--shape", &opt->load.shapes);
    at = add_list(out, at, capacity, "--dim", &opt->load.dims);
    const char *const texts[][2] = {{"--until", opt->load.until},
                                    {"--fill", opt->fill},
                                    {"--target", opt->load.target},
                                    {"--targets", opt->targets}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!texts[i][1]) continue;
        at = add_word(out, at, capacity, texts[i][0]);
        at = add_word(out, at, capacity, texts[i][1]);
    }
    return out;
}
