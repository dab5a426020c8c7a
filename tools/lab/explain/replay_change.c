// SPDX-License-Identifier: Apache-2.0
// Counts the elements that differ from the given values, with and without changed results of nodes.
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/compare/causes.h"
#include "tools/lab/explain/replay.h"

size_t replay_count(const replay *r, qdq_value value, const void *data) {
    const void *given = replay_given(r, value);
    return given ? measure_difference(&r->values[value.id].info, data, given, NULL).different : 0;
}

replay_left replay_difference(const replay *r, qdq_value first) {
    replay_left left = {0};
    for (uint32_t v = 1; v < r->form.value_count; v++) {
        if (!r->computed[v]) continue;
        size_t count = replay_count(r, (qdq_value){v}, r->computed[v]);
        left.all += count;
        if (v == first.id) left.first = count;
    }
    return left;
}

static bool reads_change(const replay *r, size_t node) {
    const node_run *run = &r->nodes[node].run;
    for (size_t i = 0; i < run->input_count; i++)
        if (r->changed[run->inputs[i].value.id]) return true;
    return false;
}

// Counts the differences that new elements of a value explain. Later nodes read them unless the
// value is given.
static void accept_output(replay *r, const node_value *v, void *data, qdq_value first,
                          replay_left *left) {
    uint32_t id = v->value.id;
    bool same = memcmp(data, r->computed[id], v->info.bytes) == 0;
    if (!same) left->changes = true;
    if (!same && replay_given(r, v->value)) {
        size_t now = replay_count(r, v->value, data);
        left->all += now;
        left->all -= replay_count(r, v->value, r->computed[id]);
        if (id == first.id) left->first = now;
    } else if (!same && r->last[id]) {
        r->changed[id] = data;
        return;
    }
    elements_free(data);
}

static void accept_outputs(replay *r, size_t node, void **outputs, qdq_value first,
                           replay_left *left) {
    const node_run *run = &r->nodes[node].run;
    for (size_t i = 0; i < run->output_count; i++)
        accept_output(r, &run->outputs[i], outputs[i], first, left);
    free(outputs);
}

// Computes a node again if its inputs have changed or `others` changes it.
static qdq_status pass_on(replay *r, size_t n, const replay_changer *others, qdq_value first,
                          replay_left *out, qdq_error *err) {
    bool reads = reads_change(r, n);
    if (!reads && !others) return QDQ_OK;
    void **next = replay_outputs(r, n);
    if (!next) return replay_no_memory(err);
    bool made = others && others->run(others->with, n, next);
    qdq_status status = made || !reads ? QDQ_OK : replay_run_node(r, n, next, err);
    if (status == QDQ_OK && (made || reads))
        accept_outputs(r, n, next, first, out);
    else
        replay_free_outputs(r, n, next);
    return status;
}

qdq_status replay_change(replay *r, size_t node, void **outputs, const replay_changer *others,
                         qdq_value first, replay_left *out, qdq_error *err) {
    qdq_status status = QDQ_OK;
    accept_outputs(r, node, outputs, first, out);
    for (size_t n = node + 1; status == QDQ_OK && n < r->node_count; n++) {
        status = pass_on(r, n, others, first, out, err);
        replay_drop_ended(r, n, r->changed);
    }
    for (size_t v = 0; v < r->form.value_count; v++) {
        elements_free(r->changed[v]);
        r->changed[v] = NULL;
    }
    return status;
}
