// SPDX-License-Identifier: Apache-2.0
// Tries other attributes of the op: other words, flags, small constants, and pads, strides and
// dilations of other dims; and optional inputs that are left out.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/explain/mistakes/trial.h"

static const char *const name = "wrong-attribute";

// True for attributes that other mistakes cover, or that change no number.
static bool is_covered(const char *attr) {
    static const char *const covered[] = {"axis",        "qtype",       "zero_point_domain",
                                          "transpose_a", "transpose_b", "data_format",
                                          "quant_min",   "quant_max",   "scales",
                                          "zps",         "dtype"};
    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++)
        if (strcmp(covered[i], attr) == 0) return true;
    return false;
}

static void try_words(mistake_trial *t, const qdq_attr_info *a) {
    char detail[128];
    for (size_t i = 0; a->words && a->words[i] && trial_begin(t); i++) {
        snprintf(detail, sizeof detail, "%s %s", a->name, a->words[i]);
        if (strcmp(document_attr_word(t->d, a->name), a->words[i]) != 0 &&
            document_set_word(t->d, a->name, a->words[i]))
            trial_take(t, name, detail);
    }
}

static void try_flag(mistake_trial *t, const qdq_attr_info *a) {
    char detail[128];
    for (int set = 0; set < 2 && trial_begin(t); set++) {
        snprintf(detail, sizeof detail, "%s %s", a->name, set ? "true" : "false");
        if (document_set_flag(t->d, a->name, set)) trial_take(t, name, detail);
    }
}

// Tries usual constants: epsilons, slopes, factors.
static void try_number(mistake_trial *t, const qdq_attr_info *a) {
    static const double epsilons[] = {0, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-12};
    static const double factors[] = {0, 1, 2, 0.5, 0.01, 0.1, 0.2, 1.702, 1 / 6.0, -1, 6};
    bool small = strncmp(a->name, "eps", 3) == 0;
    const double *values = small ? epsilons : factors;
    size_t count = small ? sizeof epsilons / sizeof *epsilons : sizeof factors / sizeof *factors;
    char detail[128];
    for (size_t i = 0; i < count && trial_begin(t); i++) {
        snprintf(detail, sizeof detail, "%s %.9g", a->name, values[i]);
        if (document_set_attr(t->d, a->name, NULL, &values[i], 1)) trial_take(t, name, detail);
    }
}

// Tries other dims, or another whole number.
static void try_whole(mistake_trial *t, const qdq_attr_info *a) {
    size_t count = 0;
    char detail[128];
    double *given = document_attr_numbers(t->d, a->name, &count), one = given ? given[0] : 1;
    bool dims = strstr(a->name, "axis") != NULL;
    int rank = trial_output(t)->info.shape.rank;
    double values[QDQ_MAX_RANK] = {2 * one, floor(one / 2), one + 1, one - 1};
    for (int i = 0; dims && i < rank; i++) values[i] = i;
    elements_free(given);
    for (int i = 0; i < (dims ? rank : 4) && trial_begin(t); i++) {
        snprintf(detail, sizeof detail, "%s %.9g", a->name, values[i]);
        if (document_set_attr(t->d, a->name, NULL, &values[i], 1)) trial_take(t, name, detail);
    }
}

// Tries the default of an attribute.
static void try_left_out(mistake_trial *t, const qdq_attr_info *a) {
    char detail[128];
    if (a->required || !trial_begin(t)) return;
    document_drop_attr(t->d, a->name);
    snprintf(detail, sizeof detail, "no %s", a->name);
    trial_take(t, name, detail);
}

// Tries a list of dims in reverse order.
static void try_reversed(mistake_trial *t, const char *attr) {
    size_t count = 0;
    char detail[128];
    double *given = document_attr_numbers(t->d, attr, &count), other[QDQ_MAX_RANK];
    if (given && count > 1 && count <= QDQ_MAX_RANK && trial_begin(t)) {
        for (size_t i = 0; i < count; i++) other[i] = given[count - 1 - i];
        snprintf(detail, sizeof detail, "%s in reverse order", attr);
        if (memcmp(given, other, count * sizeof *other) != 0 &&
            document_set_list(t->d, attr, other, count))
            trial_take(t, name, detail);
    }
    elements_free(given);
}

// Tries pads that are exchanged, both in reverse order, and none.
static void try_pads(mistake_trial *t) {
    size_t before = 0, after = 0;
    double *begin = document_attr_numbers(t->d, "pads_begin", &before);
    double *end = document_attr_numbers(t->d, "pads_end", &after);
    if (begin && end && before == after && trial_begin(t) &&
        document_set_list(t->d, "pads_begin", end, after) &&
        document_set_list(t->d, "pads_end", begin, before))
        trial_take(t, name, "pads_begin and pads_end exchanged");
    for (size_t i = 0; begin && end && before == after && i < before; i++) {
        double total = begin[i] + end[i];
        begin[i] = floor(total / 2), end[i] = total - begin[i];
    }
    if (begin && end && before == after && trial_begin(t) &&
        document_set_list(t->d, "pads_begin", begin, before) &&
        document_set_list(t->d, "pads_end", end, after))
        trial_take(t, name, "equal pads on both sides");
    elements_free(begin);
    elements_free(end);
}

void try_attributes(mistake_trial *t) {
    size_t op = trial_op(t);
    if (trial_has_attr(t, "pads_begin", "int[]")) try_pads(t);
    for (size_t i = 0; i < qdq_op_get(op).attr_count && !t->stopped; i++) {
        const qdq_attr_info a = qdq_op_attr(op, i);
        if (is_covered(a.name)) continue;
        if (strcmp(a.type, "word") == 0) try_words(t, &a);
        if (strcmp(a.type, "bool") == 0) try_flag(t, &a);
        if (strcmp(a.type, "number") == 0) try_number(t, &a);
        if (strcmp(a.type, "int") == 0) try_whole(t, &a);
        if (strcmp(a.type, "int[]") == 0) try_reversed(t, a.name);
        try_left_out(t, &a);
    }
}

void try_dropped_inputs(mistake_trial *t) {
    size_t op = trial_op(t);
    char detail[96];
    for (size_t i = 0; i < qdq_op_get(op).input_count; i++) {
        qdq_port_info port = qdq_op_input(op, i);
        if (!port.optional || port.variadic || !document_value(t->d, port.name).id ||
            strstr(port.name, "scale") || strstr(port.name, "zero_point") || !trial_begin(t))
            continue;
        document_drop_port(t->d, port.name);
        snprintf(detail, sizeof detail, "no %s", port.name);
        trial_take(t, "dropped-input", detail);
    }
}
