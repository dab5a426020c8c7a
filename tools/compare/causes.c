// SPDX-License-Identifier: Apache-2.0
// Finds the numerics fields that make two targets differ at a node, by switching the causes of
// QDQ_NUMERICS_FIELDS one at a time: at most four runs for each cause, and 32 more.
#include "tools/compare/causes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"

//---- Switches ---------------------------------------------------------------

// Copies the fields of one group.
static void take(qdq_numerics *out, const qdq_numerics *from, const char *group) {
#define TAKE(field, cause) \
    if (strcmp(cause, group) == 0) out->field = from->field;
    QDQ_NUMERICS_FIELDS(TAKE)
#undef TAKE
}

static bool has_group(const switch_list *list, const char *group) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].group, group) == 0) return true;
    return false;
}

static void add_switch(switch_list *list, const char *name, const char *group,
                       const qdq_numerics *to) {
    if (list->count < MAX_SWITCHES)
        list->items[list->count++] = (numerics_switch){name, group, *to};
}

static bool either(int a, int b, int wanted) { return a == wanted || b == wanted; }

// A rounding with a bias differs from half-up by the bias, and half-up from the others by its ties:
// two switches.
static void add_rounding(switch_list *list, const qdq_numerics *a, const qdq_numerics *b) {
    bool truncates = either((int)a->rounding, (int)b->rounding, QDQ_ROUND_TRUNCATE);
    const char *name = truncates ? "truncation" : "tie";
    qdq_numerics half_up = *b;
    half_up.rounding = QDQ_ROUND_HALF_UP;
    if (b->rounding == QDQ_ROUND_HALF_UP_BIASED) {
        add_switch(list, name, "rounding", &half_up);
        add_switch(list, "biased sum", "rounding", b);
    } else if (a->rounding == QDQ_ROUND_HALF_UP_BIASED) {
        add_switch(list, "biased sum", "rounding", &half_up);
        add_switch(list, name, "rounding", b);
    } else {
        add_switch(list, name, "rounding", b);
    }
}

static void add_group(switch_list *list, const qdq_numerics *a, const qdq_numerics *b,
                      const char *group) {
    if (strcmp(group, "rounding") == 0)
        add_rounding(list, a, b);
    else if (strcmp(group, "wrap") == 0 &&
             !either((int)a->overflow, (int)b->overflow, QDQ_OVERFLOW_WRAP))
        add_switch(list, "dropped sign", group, b);
    else
        add_switch(list, group, group, b);
}

// QDQ_ZERO_POINT_FMA implies the reciprocal and ignores `scaling`. Setting `scaling` explicitly
// attributes the effect of the reciprocal to the reciprocal, not to the order of operations.
static qdq_numerics spelled_out(const qdq_numerics *numerics, bool makes_int) {
    qdq_numerics n = *numerics;
    if (makes_int && n.zero_point_order == QDQ_ZERO_POINT_FMA) n.scaling = QDQ_SCALE_RECIPROCAL;
    return n;
}

switch_list find_switches(const qdq_numerics *a, const qdq_numerics *b, bool makes_int) {
    switch_list list = {.from = spelled_out(a, makes_int)};
    qdq_numerics to = spelled_out(b, makes_int);
#define ADD(field, cause)                                        \
    if (list.from.field != to.field && !has_group(&list, cause)) \
        add_group(&list, &list.from, &to, cause);
    QDQ_NUMERICS_FIELDS(ADD)
#undef ADD
    return list;
}

static qdq_numerics switched(const switch_list *list, uint32_t switches) {
    qdq_numerics n = list->from;
    for (size_t i = 0; i < list->count; i++)
        if (switches >> i & 1) take(&n, &list->items[i].to, list->items[i].group);
    return n;
}

const char *cause_text(const switch_list *list, uint32_t switches, char *out, size_t capacity) {
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < list->count && at < capacity; i++)
        if (switches >> i & 1)
            at += (size_t)snprintf(out + at, capacity - at, "%s%s", at ? " + " : "",
                                   list->items[i].name);
    return out;
}

//---- Elements ---------------------------------------------------------------

// The bits of an element, which is little-endian.
static uint64_t code_at(const void *data, size_t size, size_t i) {
    uint64_t code = 0;
    memcpy(&code, (const char *)data + i * size, size);
    return code;
}

static bool is_nan_code(qdq_dtype dtype, uint64_t code) {
    double value = 0;
    if (qdq_dtype_is_real(dtype)) qdq_widen_float64(dtype, &code, &value, 1);
    return isnan(value);
}

static bool codes_differ(qdq_dtype dtype, uint64_t a, uint64_t b) {
    return a != b && !(is_nan_code(dtype, a) && is_nan_code(dtype, b));
}

// Maps values to integers in the same order, neighbours one apart.
static int64_t ordinal(qdq_dtype dtype, uint64_t code) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    if (info->kind == QDQ_KIND_EXPONENT) return (int64_t)code;
    if (!qdq_dtype_is_real(dtype)) {
        int64_t whole;
        qdq_widen_int64(dtype, &code, &whole, 1);
        return whole;
    }
    int bits = info->kind == QDQ_KIND_BLOCK_FLOAT ? 32 : info->bits;
    uint64_t sign = UINT64_C(1) << (bits - 1);
    int64_t magnitude = (int64_t)(code & (sign - 1));
    return code & sign ? -magnitude : magnitude;
}

difference measure_difference(const qdq_tensor_info *info, const void *a, const void *b) {
    size_t size = qdq_dtype_size(info->dtype);
    difference d = {.elements = qdq_shape_count(info->shape)};
    if (memcmp(a, b, info->bytes) == 0) return d;
    for (size_t i = 0; i < d.elements; i++) {
        uint64_t x = code_at(a, size, i), y = code_at(b, size, i);
        if (!codes_differ(info->dtype, x, y)) continue;
        d.different++;
        if (is_nan_code(info->dtype, x) || is_nan_code(info->dtype, y)) {
            d.nan_count++;
            continue;
        }
        int64_t from = ordinal(info->dtype, x), to = ordinal(info->dtype, y);
        uint64_t steps = from < to ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
        if (steps > d.steps) d.steps = steps;
    }
    return d;
}

//---- Finding ----------------------------------------------------------------

// An element that no single switch explains.
typedef struct open_element {
    size_t output, at;
    uint32_t needed;  // switches that b's element cannot do without
    uint32_t pile;  // the shortest prefix of the switches that gives b's element; 0: not yet known
    bool done;
} open_element;

typedef struct search {
    const node_run *node;
    const switch_list *list;
    void *const *inputs, *const *a, *const *b;
    void **got;  // results of the last computation
    difference *diffs;
    unsigned char **unexplained;  // [output][element]; NULL where nothing differs
    size_t left;                  // elements that are unexplained
    open_element *open;
} search;

static int compute(const search *s, uint32_t switches) {
    qdq_numerics numerics = switched(s->list, switches);
    return node_compute(s->node, &numerics, s->inputs, s->got);
}

static bool same(const search *s, size_t output, size_t at, void *const *x, void *const *y) {
    qdq_dtype dtype = s->node->outputs[output].info.dtype;
    size_t size = qdq_dtype_size(dtype);
    return !codes_differ(dtype, code_at(x[output], size, at), code_at(y[output], size, at));
}

static void explain(search *s, size_t output, size_t at, uint32_t switches) {
    difference *d = &s->diffs[output];
    size_t i = 0;
    while (i < d->cause_count && d->causes[i].switches != switches) i++;
    if (i == MAX_CAUSES) return;
    if (i == d->cause_count) d->causes[d->cause_count++] = (cause){switches, 0, at};
    d->causes[i].count++;
    if (at < d->causes[i].first) d->causes[i].first = at;
    s->unexplained[output][at] = 0;
    s->left--;
}

static bool start(search *s) {
    size_t outputs = s->node->output_count;
    s->got = calloc(outputs + 1, sizeof *s->got);
    s->unexplained = calloc(outputs + 1, sizeof *s->unexplained);
    if (!s->got || !s->unexplained) return false;
    for (size_t k = 0; k < outputs; k++) {
        s->got[k] = malloc(s->node->outputs[k].info.bytes);
        if (!s->got[k]) return false;
        if (!s->diffs[k].different) continue;
        s->unexplained[k] = malloc(s->diffs[k].elements);
        if (!s->unexplained[k]) return false;
        for (size_t i = 0; i < s->diffs[k].elements; i++)
            s->unexplained[k][i] = !same(s, k, i, s->a, s->b);
        s->left += s->diffs[k].different;
    }
    return true;
}

static void finish(search *s) {
    for (size_t k = 0; k < s->node->output_count; k++) {
        if (s->got) free(s->got[k]);
        if (s->unexplained) free(s->unexplained[k]);
    }
    free(s->got);
    free(s->unexplained);
    free(s->open);
}

static uint32_t all_switches(const search *s) {
    return (uint32_t)((UINT64_C(1) << s->list->count) - 1);
}

// Assigns cause `one` to elements whose last result equals the other side.
static void explain_same(search *s, void *const *other, uint32_t one) {
    for (size_t k = 0; k < s->node->output_count; k++)
        for (size_t at = 0; s->unexplained[k] && at < s->diffs[k].elements; at++)
            if (s->unexplained[k][at] && same(s, k, at, s->got, other)) explain(s, k, at, one);
}

// Tries one switch from a's numerics, then one from b's; both directions count.
static int try_single_switches(search *s) {
    for (size_t i = 0; i < s->list->count; i++) {
        uint32_t one = UINT32_C(1) << i;
        int code = s->left ? compute(s, one) : EXIT_OK;
        if (code == EXIT_OK && s->left) explain_same(s, s->b, one);
        if (code == EXIT_OK && s->left) code = compute(s, all_switches(s) & ~one);
        if (code == EXIT_OK && s->left) explain_same(s, s->a, one);
        if (code != EXIT_OK) return code;
    }
    return EXIT_OK;
}

static bool list_open(search *s) {
    size_t n = 0;
    s->open = calloc(s->left, sizeof *s->open);
    for (size_t k = 0; s->open && k < s->node->output_count; k++)
        for (size_t at = 0; s->unexplained[k] && at < s->diffs[k].elements; at++)
            if (s->unexplained[k][at]) s->open[n++] = (open_element){.output = k, .at = at};
    return s->open != NULL;
}

static void close_element(search *s, open_element *e, uint32_t switches) {
    explain(s, e->output, e->at, switches);
    e->done = true;
}

// Leaves out one switch at a time: if b's element changes, that switch is needed.
static int leave_one_out(search *s, size_t count) {
    for (size_t i = 0; i < s->list->count; i++) {
        int code = compute(s, all_switches(s) & ~(UINT32_C(1) << i));
        if (code != EXIT_OK) return code;
        for (size_t n = 0; n < count; n++) {
            open_element *e = &s->open[n];
            if (!same(s, e->output, e->at, s->got, s->b)) e->needed |= UINT32_C(1) << i;
        }
    }
    return EXIT_OK;
}

// Adds one switch after the other until b's element appears.
static int pile_up(search *s, size_t count) {
    for (size_t i = 0; i < s->list->count; i++) {
        uint32_t pile = (uint32_t)((UINT64_C(2) << i) - 1);
        int code = compute(s, pile);
        if (code != EXIT_OK) return code;
        for (size_t n = 0; n < count; n++) {
            open_element *e = &s->open[n];
            bool there = pile == all_switches(s) || same(s, e->output, e->at, s->got, s->b);
            if (!e->pile && there) e->pile = pile;
        }
    }
    return EXIT_OK;
}

// The needed switches with the last switch of the pile are the smallest set if they suffice;
// otherwise the pile is used.
static int settle(search *s, size_t count) {
    enum { MAX_SETS = 32 };  // bounds the time
    for (size_t first = 0, sets = 0; first < count; first++) {
        if (s->open[first].done) continue;
        uint32_t pile = s->open[first].pile, needed = s->open[first].needed;
        uint32_t set = needed | (pile - (pile >> 1));
        if (sets++ >= MAX_SETS) {
            close_element(s, &s->open[first], pile);
            continue;
        }
        int code = compute(s, set);
        if (code != EXIT_OK) return code;
        for (size_t n = first; n < count; n++) {
            open_element *e = &s->open[n];
            if (e->done || e->pile != pile || e->needed != needed) continue;
            bool enough = same(s, e->output, e->at, s->got, s->b);
            close_element(s, e, enough ? set : pile);
        }
    }
    return EXIT_OK;
}

static int look(search *s) {
    int code = try_single_switches(s);
    if (code != EXIT_OK || s->left == 0) return code;
    size_t count = s->left;
    if (!list_open(s))
        return tell_failure(QDQ_ERR_MEMORY, "no memory to look for the causes of %zu differences",
                            count);
    code = leave_one_out(s, count);
    if (code == EXIT_OK) code = pile_up(s, count);
    return code == EXIT_OK ? settle(s, count) : code;
}

int find_causes(const node_run *node, const switch_list *list, void *const *inputs, void *const *a,
                void *const *b, difference *diffs) {
    search s = {.node = node, .list = list, .inputs = inputs, .a = a, .b = b, .diffs = diffs};
    int code = start(&s) ? look(&s) : tell_failure(QDQ_ERR_MEMORY, "no memory to look for causes");
    finish(&s);
    return code;
}
