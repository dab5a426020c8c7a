// SPDX-License-Identifier: Apache-2.0
// Tries other axes, exchanged inputs and transposed operands.
#include <stdio.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/explain/mistakes/trial.h"

void try_axes(mistake_trial *t) {
    const replay *r = document_replay(t->d);
    const node_run *run = &r->nodes[document_node(t->d)].run;
    size_t count = 0;
    char detail[32];
    if (!trial_has_attr(t, "axis", "int")) return;
    double *given = document_attr_numbers(t->d, "axis", &count);
    double axis = given && count ? given[0] : 1;
    elements_free(given);
    int rank = run->outputs[0].info.shape.rank;
    if (axis < 0) axis += rank;
    for (int i = 0; i < rank && !t->stopped; i++) {
        double other = i;
        if (other == axis) continue;
        snprintf(detail, sizeof detail, "axis %d", i);
        if (trial_begin(t) && document_set_attr(t->d, "axis", NULL, &other, 1))
            trial_take(t, "wrong-axis", detail);
    }
}

static bool is_parameter(const char *port) {
    size_t length = strlen(port);
    return (length >= 5 && strcmp(port + length - 5, "scale") == 0) ||
           (length >= 10 && strcmp(port + length - 10, "zero_point") == 0);
}

void try_swapped_inputs(mistake_trial *t) {
    size_t op = trial_op(t);
    char detail[96];
    size_t count = qdq_op_get(op).input_count;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count && !t->stopped; k++) {
            const char *a = qdq_op_input(op, i).name, *b = qdq_op_input(op, k).name;
            if (qdq_op_input(op, k).variadic || !document_value(t->d, a).id ||
                !document_value(t->d, b).id || is_parameter(a) != is_parameter(b))
                continue;
            snprintf(detail, sizeof detail, "%s and %s", a, b);
            if (trial_begin(t) && document_swap(t->d, a, b))
                trial_take(t, "swapped-inputs", detail);
        }
}

void try_transposed(mistake_trial *t) {
    static const char *const attrs[] = {"transpose_a", "transpose_b"};
    for (size_t i = 0; i < 2 && !t->stopped; i++) {
        if (!trial_has_attr(t, attrs[i], "bool")) continue;
        if (trial_begin(t) && document_set_flag(t->d, attrs[i], true))
            trial_take(t, "wrong-axis", attrs[i]);
        if (trial_begin(t) && document_set_flag(t->d, attrs[i], false))
            trial_take(t, "wrong-axis", attrs[i]);
    }
}
