// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/mistakes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/explain/fit.h"

enum { MOST_POOLED = 256, MOST_PARAMETERS = 65536 };

//---- Parameters of other nodes ----------------------------------------------

typedef struct pooled {
    char node[96];
    bool zero;
    double *values;  // owned
    size_t count;
} pooled;

struct parameter_pool {
    pooled items[MOST_POOLED];
    size_t count;
};

parameter_pool *pool_create(void) { return calloc(1, sizeof(parameter_pool)); }

static bool same_numbers(const double *a, const double *b, size_t count) {
    return memcmp(a, b, count * sizeof *a) == 0;
}

static void pool_one(parameter_pool *pool, const char *node, const parameter *p, bool zero) {
    if (!p->count || p->count > MOST_PARAMETERS || pool->count == MOST_POOLED) return;
    for (size_t i = 0; i < pool->count; i++)
        if (pool->items[i].zero == zero && pool->items[i].count == p->count &&
            same_numbers(pool->items[i].values, p->values, p->count))
            return;
    pooled one = {.zero = zero, .count = p->count, .values = malloc(p->count * sizeof(double))};
    if (!one.values) return;
    snprintf(one.node, sizeof one.node, "%s", node);
    memcpy(one.values, p->values, p->count * sizeof(double));
    pool->items[pool->count++] = one;
}

void pool_add(parameter_pool *pool, const node_document *d) {
    const char *name = qdq_graph_node(document_replay(d)->form.graph, document_node(d)).name;
    parameter_list list = parameters_of(d);
    for (size_t i = 0; pool && i < list.count; i++) {
        pool_one(pool, name, &list.pairs[i].scale, false);
        pool_one(pool, name, &list.pairs[i].zero, true);
    }
    parameters_release(&list);
}

void pool_destroy(parameter_pool *pool) {
    for (size_t i = 0; pool && i < pool->count; i++) free(pool->items[i].values);
    free(pool);
}

//---- Trying -----------------------------------------------------------------

typedef struct trial_run {
    node_document *d;
    const parameter_pool *pool;
    const mistake_taker *taker;
    double *values;  // room for the parameters of any port
    bool stopped;
} trial_run;

static void hand_over(trial_run *t, const char *cause, const char *detail) {
    variant v = {.cause = cause, .detail = detail};
    if (document_take(t->d, &v))
        t->stopped = t->taker->take(t->taker->with, document_node(t->d), &v);
}

// Tries t->values in place of a parameter.
static void try_values(trial_run *t, const parameter *p, const char *cause, const char *detail) {
    size_t count = p->count ? p->count : 1;
    if (t->stopped || (p->count && same_numbers(t->values, p->values, count))) return;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(t->values[i])) return;
    document_begin(t->d);
    if (parameter_set(t->d, p, t->values)) hand_over(t, cause, detail);
}

static void fill(trial_run *t, size_t count, double value) {
    for (size_t i = 0; i < count; i++) t->values[i] = value;
}

//---- Scales -----------------------------------------------------------------

static void try_one_for_all(trial_run *t, const parameter *p, const char *cause) {
    double least = p->values[0], most = p->values[0], sum = 0;
    size_t n = p->count;
    for (size_t i = 0; i < n; i++) {
        sum += p->values[i];
        least = fmin(least, p->values[i]), most = fmax(most, p->values[i]);
    }
    const struct {
        const char *detail;
        double value;
    } tried[] = {{"the first for all", p->values[0]},
                 {"the largest for all", most},
                 {"the mean for all", sum / (double)n},
                 {"the smallest for all", least},
                 {"the last for all", p->values[n - 1]}};
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        fill(t, n, tried[i].value);
        try_values(t, p, cause, tried[i].detail);
    }
}

static void try_other_order(trial_run *t, const parameter *p, const char *cause) {
    size_t n = p->count;
    for (size_t i = 0; i < n; i++) t->values[i] = p->values[n - 1 - i];
    try_values(t, p, cause, "in reverse order");
    for (size_t i = 0; i < n; i++) t->values[i] = p->values[(i + 1) % n];
    try_values(t, p, cause, "one place on");
    for (size_t i = 0; i < n; i++) t->values[i] = p->values[(i + n - 1) % n];
    try_values(t, p, cause, "one place back");
}

static void try_pooled(trial_run *t, const parameter *p, bool zero, const char *cause) {
    char detail[160];
    for (size_t i = 0; i < t->pool->count; i++) {
        const pooled *one = &t->pool->items[i];
        if (one->zero != zero || one->count != (p->count ? p->count : 1)) continue;
        snprintf(detail, sizeof detail, "the %s of '%s'", zero ? "zero point" : "scale", one->node);
        memcpy(t->values, one->values, one->count * sizeof(double));
        try_values(t, p, cause, detail);
    }
}

// Rounds a scale to the upper 16 bits of a float32, or to 11 binary digits.
static double rounded_scale(double scale, variant_rounding how) {
    float x = (float)scale;
    variant_round(how, &x, 1);
    return x;
}

static void try_scaled(trial_run *t, const parameter *p) {
    static const double factors[] = {2,           0.5,         127 / 128., 128 / 127., 127 / 127.5,
                                     127.5 / 127, 255 / 256.,  256 / 255., 255 / 254., 254 / 255.,
                                     10,          0.1,         4,          0.25,       256,
                                     1 / 256.,    127 / 255.0, 255 / 127.};
    char detail[64];
    size_t n = p->count;
    for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++) {
        for (size_t i = 0; i < n; i++) t->values[i] = p->values[i] * factors[k];
        snprintf(detail, sizeof detail, "scale * %.6g", factors[k]);
        try_values(t, p, "wrong-scale", detail);
    }
    for (size_t i = 0; i < n; i++) t->values[i] = rounded_scale(p->values[i], ROUND_BFLOAT16);
    try_values(t, p, "scale precision", "scale in bfloat16");
    for (size_t i = 0; i < n; i++) t->values[i] = rounded_scale(p->values[i], ROUND_FLOAT16);
    try_values(t, p, "scale precision", "scale in float16");
    for (size_t i = 0; i < n; i++) t->values[i] = exp2(nearbyint(log2(p->values[i])));
    try_values(t, p, "wrong-scale", "scale rounded to a power of two");
    for (size_t i = 0; i < n; i++) t->values[i] = exp2(ceil(log2(p->values[i])));
    try_values(t, p, "wrong-scale", "scale rounded up to a power of two");
}

static void try_scales(trial_run *t, const parameter *p) {
    if (!p->count || t->stopped) return;
    for (size_t i = 0; i < p->count; i++) t->values[i] = 1 / p->values[i];
    try_values(t, p, "wrong-scale", "1 / scale");
    fill(t, p->count, 1);
    try_values(t, p, "wrong-scale", "scale 1");
    if (p->count > 1) try_one_for_all(t, p, "per-tensor");
    if (p->count > 1) try_other_order(t, p, "wrong-scale");
    try_pooled(t, p, false, "wrong-scale");
    try_scaled(t, p);
}

//---- Zero points ------------------------------------------------------------

static void try_zeros(trial_run *t, const parameter *p) {
    static const struct {
        const char *detail;
        double factor, add;
    } tried[] = {
        {"no zero point", 0, 0},  {"zero point + 1", 1, 1},     {"zero point - 1", 1, -1},
        {"- zero point", -1, 0},  {"zero point + 128", 1, 128}, {"zero point - 128", 1, -128},
        {"zero point + 8", 1, 8}, {"zero point - 8", 1, -8},    {"-zero point - 1", -1, -1},
        {"2 * zero point", 2, 0}, {"zero point 128", 0, 128},   {"zero point -128", 0, -128}};
    for (size_t k = 0; k < sizeof tried / sizeof tried[0]; k++) {
        t->values[0] = tried[k].add;
        for (size_t i = 0; i < p->count; i++)
            t->values[i] = p->values[i] * tried[k].factor + tried[k].add;
        try_values(t, p, "wrong-zero-point", tried[k].detail);
    }
    if (p->count > 1) try_one_for_all(t, p, "wrong-zero-point");
    if (p->count > 1) try_other_order(t, p, "wrong-zero-point");
    try_pooled(t, p, true, "wrong-zero-point");
}

//---- Fitted parameters ------------------------------------------------------

static void detail_of_numbers(const char *what, const double *values, size_t count, char *out,
                              size_t capacity) {
    snprintf(out, capacity, "%s %.9g%s", what, values[0], count > 1 ? ", ..." : "");
}

static void try_both(trial_run *t, const fit_data *f, const parameter_pair *p) {
    double zero, guess;
    char detail[96];
    if (!fit_zero_of_both(f, &guess)) return;
    for (int step = 0; step < 3 && !t->stopped; step++) {
        zero = guess + (step == 2 ? -1 : step);
        if (!fit_scales(f, &zero, 1, t->values)) continue;
        snprintf(detail, sizeof detail, "scale %.9g and zero point %.0f", t->values[0], zero);
        document_begin(t->d);
        if (parameter_set(t->d, &p->scale, t->values) && parameter_set(t->d, &p->zero, &zero))
            hand_over(t, "wrong-scale", detail);
    }
}

static void try_fitted(trial_run *t, const parameter_pair *p) {
    fit_data f;
    char detail[96];
    if (!t->stopped && fit_open(&f, t->d, p)) {
        if (fit_zeros(&f, t->values)) {
            detail_of_numbers("zero point", t->values, p->zero.count, detail, sizeof detail);
            try_values(t, &p->zero, "wrong-zero-point", detail);
        }
        if (fit_scales(&f, p->zero.values, p->zero.count, t->values)) {
            detail_of_numbers("scale", t->values, p->scale.count, detail, sizeof detail);
            try_values(t, &p->scale, "wrong-scale", detail);
        }
        if (!t->stopped) try_both(t, &f, p);
        fit_release(&f);
    }
}

//---- Axes, inputs and flags -------------------------------------------------

static bool has_attr(const node_document *d, const char *attr, const char *type) {
    for (size_t i = 0; i < qdq_op_count(); i++) {
        qdq_op_info info = qdq_op_get(i);
        for (size_t k = 0; strcmp(info.name, document_op(d)) == 0 && k < info.attr_count; k++) {
            qdq_attr_info a = qdq_op_attr(i, k);
            if (strcmp(a.name, attr) == 0) return strcmp(a.type, type) == 0;
        }
    }
    return false;
}

static void try_axes(trial_run *t) {
    const replay *r = document_replay(t->d);
    const node_run *run = &r->nodes[document_node(t->d)].run;
    size_t count = 0;
    char detail[32];
    if (!has_attr(t->d, "axis", "int")) return;
    double *given = document_attr_numbers(t->d, "axis", &count);
    double axis = given && count ? given[0] : 1;
    elements_free(given);
    int rank = run->outputs[0].info.shape.rank;
    if (axis < 0) axis += rank;
    for (int i = 0; i < rank && !t->stopped; i++) {
        double other = i;
        if (other == axis) continue;
        snprintf(detail, sizeof detail, "axis %d", i);
        document_begin(t->d);
        if (document_set_attr(t->d, "axis", NULL, &other, 1)) hand_over(t, "wrong-axis", detail);
    }
}

static bool is_parameter(const char *port) {
    size_t length = strlen(port);
    return (length >= 5 && strcmp(port + length - 5, "scale") == 0) ||
           (length >= 10 && strcmp(port + length - 10, "zero_point") == 0);
}

static void try_swaps(trial_run *t) {
    size_t op = 0;
    char detail[96];
    while (op < qdq_op_count() && strcmp(qdq_op_get(op).name, document_op(t->d)) != 0) op++;
    size_t count = qdq_op_get(op).input_count;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count && !t->stopped; k++) {
            const char *a = qdq_op_input(op, i).name, *b = qdq_op_input(op, k).name;
            if (qdq_op_input(op, k).variadic || !document_value(t->d, a).id ||
                !document_value(t->d, b).id || is_parameter(a) != is_parameter(b))
                continue;
            snprintf(detail, sizeof detail, "%s and %s", a, b);
            document_begin(t->d);
            if (document_swap(t->d, a, b)) hand_over(t, "swapped-inputs", detail);
        }
}

static void try_transposed(trial_run *t) {
    static const char *const attrs[] = {"transpose_a", "transpose_b"};
    for (size_t i = 0; i < 2 && !t->stopped; i++) {
        if (!has_attr(t->d, attrs[i], "bool")) continue;
        document_begin(t->d);
        if (document_set_flag(t->d, attrs[i], true)) hand_over(t, "wrong-axis", attrs[i]);
        document_begin(t->d);
        if (!t->stopped && document_set_flag(t->d, attrs[i], false))
            hand_over(t, "wrong-axis", attrs[i]);
    }
}

//---- A node -----------------------------------------------------------------

bool try_mistakes(node_document *d, const parameter_pool *pool, const mistake_taker *taker) {
    parameter_list list = parameters_of(d);
    size_t room = 1;
    for (size_t i = 0; i < list.count; i++) {
        if (list.pairs[i].scale.count > room) room = list.pairs[i].scale.count;
        if (list.pairs[i].zero.count > room) room = list.pairs[i].zero.count;
    }
    trial_run t = {d, pool, taker, calloc(room, sizeof(double)), false};
    if (t.values && room <= MOST_PARAMETERS) {
        try_axes(&t);
        for (size_t i = 0; i < list.count && !t.stopped; i++) {
            try_scales(&t, &list.pairs[i].scale);
            if (!t.stopped) try_zeros(&t, &list.pairs[i].zero);
            try_fitted(&t, &list.pairs[i]);
        }
        if (!t.stopped) try_swaps(&t);
        try_transposed(&t);
    }
    free(t.values);
    parameters_release(&list);
    return t.stopped;
}
