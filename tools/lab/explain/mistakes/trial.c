// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/mistakes/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/common.h"

bool trial_begin(mistake_trial *t) {
    if (!t->stopped) t->stopped = t->taker->ends(t->taker->with);
    if (!t->stopped) document_begin(t->d);
    return !t->stopped;
}

void trial_take_variant(mistake_trial *t, variant *v) {
    const variant given = *v;
    if (!document_take(t->d, v)) return;
    if (given.own_numerics) memcpy(&v->numerics, &given.numerics, sizeof v->numerics);
    t->stopped = t->taker->take(t->taker->with, document_node(t->d), v);
}

void trial_take(mistake_trial *t, const char *cause, const char *detail) {
    variant v = {.cause = cause, .detail = detail};
    trial_take_variant(t, &v);
}

void trial_values(mistake_trial *t, const parameter *p, const char *cause, const char *detail) {
    trial_values_of(t, p, cause, detail, 1);
}

void trial_values_of(mistake_trial *t, const parameter *p, const char *cause, const char *detail,
                     int changes) {
    char text[160];
    // A node with several scales says which one.
    snprintf(text, sizeof text, "%s%s%s", t->list->count > 1 ? p->port : "",
             t->list->count > 1 ? ": " : "", detail);
    variant v = {.cause = cause, .detail = text, .changes = changes};
    size_t count = p->count ? p->count : 1;
    if (t->stopped || (p->count && memcmp(t->values, p->values, count * sizeof *t->values) == 0))
        return;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(t->values[i])) return;
    if (trial_begin(t) && parameter_set(t->d, p, t->values)) trial_take_variant(t, &v);
}

void trial_fill(mistake_trial *t, size_t count, double value) {
    for (size_t i = 0; i < count; i++) t->values[i] = value;
}

bool trial_input(const mistake_trial *t, size_t port, trial_elements *out) {
    const replay *r = document_replay(t->d);
    qdq_port_info info = qdq_op_input(trial_op(t), port);
    qdq_value value = document_value(t->d, info.name);
    out->port = info.name;
    if (info.variadic || strstr(info.name, "scale") || strstr(info.name, "zero_point") ||
        !qdq_value_type(r->form.graph, value, &out->dtype, &out->shape))
        return false;
    bool constant = qdq_value_is_constant(r->form.graph, value);
    out->data = constant ? qdq_value_data(r->form.graph, value) : r->used[value.id];
    return out->data != NULL && qdq_shape_count(out->shape) > 1;
}

const node_value *trial_output(const mistake_trial *t) {
    return &document_replay(t->d)->nodes[document_node(t->d)].run.outputs[0];
}

size_t trial_op(const mistake_trial *t) { return find_op(document_op(t->d)); }

bool trial_has_attr(const mistake_trial *t, const char *attr, const char *type) {
    size_t op = trial_op(t);
    for (size_t k = 0; k < qdq_op_get(op).attr_count; k++) {
        qdq_attr_info a = qdq_op_attr(op, k);
        if (strcmp(a.name, attr) == 0) return strcmp(a.type, type) == 0;
    }
    return false;
}
