// SPDX-License-Identifier: Apache-2.0
// Finds the causes for which two targets differ at a unit, by switching one reason at a time.
// Bounds: four runs for each reason, and 32 more, each followed by a run for each rewrite in
// question.
#include "tools/lab/compare/causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"

//---- Elements ---------------------------------------------------------------

// Returns the bits of an element, which is little-endian.
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

// Maps values to integers in the same order; neighbours differ by 1.
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

// True if the difference of element `at` is within the tolerance. NaN and infinities are within no
// tolerance of other numbers.
static bool is_within(const tolerances *t, qdq_dtype dtype, const void *a, const void *b,
                      size_t at) {
    size_t from = at * qdq_dtype_size(dtype);
    double x, y;
    if (!t || (t->atol == 0 && t->rtol == 0)) return false;
    to_doubles(dtype, (const char *)a + from, 1, &x);
    to_doubles(dtype, (const char *)b + from, 1, &y);
    return isfinite(x) && isfinite(y) && fabs(x - y) <= t->atol + t->rtol * fabs(x);
}

difference measure_difference(const qdq_tensor_info *info, const void *a, const void *b,
                              const tolerances *tolerance) {
    size_t size = qdq_dtype_size(info->dtype);
    difference d = {.elements = qdq_shape_count(info->shape)};
    if (memcmp(a, b, info->bytes) == 0) return d;
    for (size_t i = 0; i < d.elements; i++) {
        uint64_t x = code_at(a, size, i), y = code_at(b, size, i);
        if (!codes_differ(info->dtype, x, y)) continue;
        if (is_within(tolerance, info->dtype, a, b, i)) {
            d.within++;
            continue;
        }
        d.different++;
        if (is_nan_code(info->dtype, x) || is_nan_code(info->dtype, y)) {
            d.nan_count++;
            continue;
        }
        int64_t from = ordinal(info->dtype, x), to = ordinal(info->dtype, y);
        uint64_t steps = from < to ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
        if (steps > d.steps) d.steps = steps, d.steps_at = i;
    }
    return d;
}

//---- Finding ----------------------------------------------------------------

// An element that no single switch explains.
typedef struct open_element {
    size_t output, at;
    uint32_t needed;  // switches without which b's element changes
    uint32_t pile;    // shortest prefix of all switches that gives b's element; 0: not known yet
    uint32_t chosen;  // the cause
    bool done;
} open_element;

typedef struct search {
    const trial *trial;
    void *const *a, *const *b;
    void **got;  // results of the last computation
    difference *diffs;
    unsigned char **unexplained;  // [output][element]; NULL where nothing differs
    size_t left;                  // unexplained elements
    open_element *open;
} search;

static int compute(const search *s, uint32_t switches) {
    return s->trial->run(s->trial->with, switches, s->got);
}

static bool same(const search *s, size_t output, size_t at, void *const *x, void *const *y) {
    qdq_dtype dtype = s->trial->outputs[output].info.dtype;
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
    size_t outputs = s->trial->output_count;
    s->got = calloc(outputs + 1, sizeof *s->got);
    s->unexplained = calloc(outputs + 1, sizeof *s->unexplained);
    if (!s->got || !s->unexplained) return false;
    for (size_t k = 0; k < outputs; k++) {
        s->got[k] = elements_take(s->trial->allocator, s->trial->outputs[k].info.bytes);
        if (!s->got[k]) return false;
        if (!s->diffs[k].different) continue;
        s->unexplained[k] = elements_take(s->trial->allocator, s->diffs[k].elements);
        if (!s->unexplained[k]) return false;
        for (size_t i = 0; i < s->diffs[k].elements; i++)
            s->unexplained[k][i] = !same(s, k, i, s->a, s->b) &&
                                   !is_within(s->trial->tolerance, s->trial->outputs[k].info.dtype,
                                              s->a[k], s->b[k], i);
        s->left += s->diffs[k].different;
    }
    return true;
}

static int64_t integer_at(const search *s, size_t output, size_t at, void *const *from) {
    qdq_dtype dtype = s->trial->outputs[output].info.dtype;
    int64_t code = 0;
    qdq_widen_int64(dtype, (const char *)from[output] + at * qdq_dtype_size(dtype), &code, 1);
    return code;
}

// Asks for the reasons of elements before reasons are switched.
static void explain_steps(search *s) {
    for (size_t k = 0; s->trial->explain && k < s->trial->output_count; k++) {
        qdq_dtype dtype = s->trial->outputs[k].info.dtype;
        if (!s->unexplained[k] || qdq_dtype_get(dtype)->kind != QDQ_KIND_INT) continue;
        for (size_t at = 0; at < s->diffs[k].elements; at++) {
            if (!s->unexplained[k][at]) continue;
            uint32_t reasons = s->trial->explain(
                s->trial->explainer, k, at, integer_at(s, k, at, s->a), integer_at(s, k, at, s->b));
            if (reasons) explain(s, k, at, reasons);
        }
    }
}

static void finish(search *s) {
    for (size_t k = 0; k < s->trial->output_count; k++) {
        if (s->got) elements_free(s->got[k]);
        if (s->unexplained) elements_free(s->unexplained[k]);
    }
    free(s->got);
    free(s->unexplained);
    elements_free(s->open);
}

static uint32_t all_switches(const search *s) {
    return (uint32_t)((UINT64_C(1) << s->trial->switch_count) - 1);
}

// Assigns cause `one` to the elements whose last result equals `other`.
static void explain_same(search *s, void *const *other, uint32_t one) {
    for (size_t k = 0; k < s->trial->output_count; k++)
        for (size_t at = 0; s->unexplained[k] && at < s->diffs[k].elements; at++)
            if (s->unexplained[k][at] && same(s, k, at, s->got, other)) explain(s, k, at, one);
}

// Computes with only switch `i` on; it is the cause of each element that then equals b's.
static int try_alone(search *s, size_t i) {
    int code = s->left ? compute(s, UINT32_C(1) << i) : EXIT_OK;
    if (code == EXIT_OK && s->left) explain_same(s, s->b, UINT32_C(1) << i);
    return code;
}

// Computes with only switch `i` off; it is the cause of each element that then equals a's.
static int try_without(search *s, size_t i) {
    int code = s->left ? compute(s, all_switches(s) & ~(UINT32_C(1) << i)) : EXIT_OK;
    if (code == EXIT_OK && s->left) explain_same(s, s->a, UINT32_C(1) << i);
    return code;
}

// Tries to leave out each rewrite, from the last to the first: without a rewrite, later rewrites
// that need it do not form either.
static int try_without_rewrites(search *s) {
    int code = EXIT_OK;
    for (size_t i = s->trial->switch_count; code == EXIT_OK && i-- > 0;)
        if (s->trial->rewrites >> i & 1) code = try_without(s, i);
    return code;
}

// Tries each switch alone, and leaves out each. With rewrites every switch is tried alone before
// any is left out.
static int try_single_switches(search *s) {
    size_t count = s->trial->switch_count;
    bool rewrites = s->trial->rewrites != 0;
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < count; i++) {
        code = try_alone(s, i);
        if (code == EXIT_OK && !rewrites) code = try_without(s, i);
    }
    for (size_t i = 0; code == EXIT_OK && rewrites && i < count; i++)
        if (!(s->trial->rewrites >> i & 1)) code = try_without(s, i);
    return code == EXIT_OK && rewrites ? try_without_rewrites(s) : code;
}

static bool list_open(search *s) {
    size_t n = 0;
    s->open = s->left < SIZE_MAX / sizeof *s->open
                  ? elements_take(s->trial->allocator, s->left * sizeof *s->open)
                  : NULL;
    for (size_t k = 0; s->open && k < s->trial->output_count; k++)
        for (size_t at = 0; s->unexplained[k] && at < s->diffs[k].elements; at++)
            if (s->unexplained[k][at]) s->open[n++] = (open_element){.output = k, .at = at};
    return s->open != NULL;
}

static void close_element(search *s, open_element *e, uint32_t switches) {
    explain(s, e->output, e->at, switches);
    e->done = true;
}

// Leaves out one switch at a time. If b's element changes, the switch is needed.
static int leave_one_out(search *s, size_t count) {
    for (size_t i = 0; i < s->trial->switch_count; i++) {
        int code = compute(s, all_switches(s) & ~(UINT32_C(1) << i));
        if (code != EXIT_OK) return code;
        for (size_t n = 0; n < count; n++) {
            open_element *e = &s->open[n];
            if (!same(s, e->output, e->at, s->got, s->b)) e->needed |= UINT32_C(1) << i;
        }
    }
    return EXIT_OK;
}

// Adds one switch after another until b's element appears.
static int pile_up(search *s, size_t count) {
    for (size_t i = 0; i < s->trial->switch_count; i++) {
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

// Open elements that need the same switches and are settled together.
typedef struct group {
    uint32_t needed, pile;
    size_t first, end;
} group;

static bool is_in(const group *g, const open_element *e) {
    return !e->done && e->pile == g->pile && e->needed == g->needed;
}

// Chooses `set`, the needed switches with the last switch of the pile, for elements for which it
// suffices: no smaller set does. Otherwise chooses the pile.
static int choose_set(search *s, const group *g, uint32_t set) {
    int code = compute(s, set);
    for (size_t n = g->first; code == EXIT_OK && n < g->end; n++) {
        open_element *e = &s->open[n];
        bool enough = is_in(g, e) && same(s, e->output, e->at, s->got, s->b);
        if (is_in(g, e)) e->chosen = enough ? set : g->pile;
    }
    return code;
}

// Drops a rewrite that is in the set only because another switch has no effect without it: if b
// without the rest of the set gives a's element.
static int shorten(search *s, const group *g, uint32_t set) {
    for (size_t i = 0; i < s->trial->switch_count; i++) {
        uint32_t one = UINT32_C(1) << i & set & s->trial->rewrites, rest = set & ~one;
        if (!one || !rest) continue;
        int code = compute(s, all_switches(s) & ~rest);
        if (code != EXIT_OK) return code;
        for (size_t n = g->first; n < g->end; n++) {
            open_element *e = &s->open[n];
            if (is_in(g, e) && e->chosen == set && same(s, e->output, e->at, s->got, s->a))
                e->chosen = rest;
        }
    }
    return EXIT_OK;
}

static int settle_group(search *s, const group *g) {
    uint32_t set = g->needed | (g->pile - (g->pile >> 1));
    int code = choose_set(s, g, set);
    if (code == EXIT_OK) code = shorten(s, g, set);
    for (size_t n = g->first; code == EXIT_OK && n < g->end; n++)
        if (is_in(g, &s->open[n])) close_element(s, &s->open[n], s->open[n].chosen);
    return code;
}

static int settle(search *s, size_t count) {
    enum { MAX_GROUPS = 32 };  // bounds the time
    int code = EXIT_OK;
    for (size_t n = 0, groups = 0; code == EXIT_OK && n < count; n++) {
        open_element *e = &s->open[n];
        if (e->done) continue;
        group g = {e->needed, e->pile, n, count};
        if (groups++ < MAX_GROUPS)
            code = settle_group(s, &g);
        else
            close_element(s, e, e->pile);
    }
    return code;
}

static int look(search *s) {
    explain_steps(s);
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

int find_causes(const trial *of, void *const *a, void *const *b, difference *diffs) {
    search s = {.trial = of, .a = a, .b = b, .diffs = diffs};
    int code = start(&s) ? look(&s) : tell_failure(QDQ_ERR_MEMORY, "no memory to look for causes");
    finish(&s);
    return code;
}
