// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/comparison.h"

#include <stdlib.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"

void **comparison_slot(const comparison *c, size_t target, qdq_value value) {
    return &c->data[target * c->ids + value.id];
}

void *comparison_data_of(const comparison *c, size_t target, qdq_value value) {
    void *own = *comparison_slot(c, target, value);
    return own ? own : *comparison_slot(c, 0, value);
}

static void *fed(const void *with, qdq_value value) {
    const target_data *d = with;
    return comparison_data_of(d->c, d->target, value);
}

feed comparison_feed(const target_data *of) { return (feed){fed, of}; }

static void drop(comparison *c, qdq_value value) {
    for (size_t t = 0; t < c->target_count; t++) {
        elements_free(*comparison_slot(c, t, value));
        *comparison_slot(c, t, value) = NULL;
    }
}

void comparison_drop_ended(comparison *c, size_t node) {
    for (uint32_t id = c->ends[node]; id; id = c->next_end[id]) drop(c, (qdq_value){id});
}

//---- Opening ----------------------------------------------------------------

static void note_need(size_t *last, const qdq_value *values, size_t count, size_t node) {
    for (size_t i = 0; i < count; i++) last[values[i].id] = node;
}

// Notes that node `n` needs its outputs, and the values from which the graphs compute them.
static bool note_needs(comparison *c, size_t *last, size_t n) {
    size_t count = qdq_graph_node(c->graph, n).output_count;
    qdq_value *outputs = calloc(count + 1, sizeof *outputs);
    bool done = outputs != NULL;
    for (size_t i = 0; done && i < count; i++) outputs[i] = qdq_graph_node_output(c->graph, n, i);
    if (done) note_need(last, outputs, count, n);
    for (size_t t = 0; done && t < c->target_count; t++) {
        const deployed *graphs[] = {&c->given, c->pairs[t].first, &c->pairs[t].own};
        for (size_t k = 0; done && k < sizeof graphs / sizeof graphs[0]; k++) {
            cone part;
            done = cone_find(graphs[k], c->pairs[t].cut, outputs, count, &part);
            if (done) note_need(last, part.inputs, part.input_count, n);
            cone_release(&part);
        }
    }
    free(outputs);
    return done;
}

static bool list_ends(comparison *c) {
    size_t nodes = qdq_graph_node_count(c->graph);
    size_t *last = calloc(c->ids, sizeof *last);
    bool done = last != NULL;
    for (size_t v = 0; done && v < c->ids; v++) last[v] = SIZE_MAX;
    for (size_t n = 0; done && n < nodes; n++) done = note_needs(c, last, n);
    for (size_t v = 1; done && v < c->ids; v++) {
        if (last[v] == SIZE_MAX) continue;
        c->next_end[v] = c->ends[last[v]];
        c->ends[last[v]] = (uint32_t)v;
    }
    free(last);
    return done;
}

static int open_pairs(comparison *c) {
    int code = EXIT_OK;
    for (size_t t = 0; code == EXIT_OK && t < c->target_count; t++)
        code = target_pair_open(&c->pairs[t], &c->pairs[0], c->graph, c->ids, c->targets[t]);
    return code;
}

void comparison_give(comparison *c, const qdq_plan *plan, void *const *inputs) {
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        qdq_value value = qdq_graph_find(c->graph, qdq_plan_input(plan, i)->name);
        if (!c->data) {
            elements_free(inputs[i]);
            continue;
        }
        drop(c, value);  // inputs that no node reads are not dropped yet
        *comparison_slot(c, 0, value) = inputs[i];
    }
}

int comparison_open(comparison *c, const qdq_plan *plan) {
    size_t nodes = qdq_graph_node_count(c->graph);
    c->ids = count_values(c->graph);
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        uint32_t id = qdq_graph_find(c->graph, qdq_plan_input(plan, i)->name).id;
        if (id >= c->ids) c->ids = (size_t)id + 1;
    }
    c->data = calloc(c->ids * c->target_count, sizeof *c->data);
    c->pairs = calloc(c->target_count, sizeof *c->pairs);
    c->ends = calloc(nodes + 1, sizeof *c->ends);
    c->next_end = calloc(c->ids, sizeof *c->next_end);
    bool done = c->data && c->pairs && c->ends && c->next_end &&
                deployed_open(&c->given, c->graph, c->ids, NULL);
    int code = done ? open_pairs(c) : EXIT_OK;
    if (code == EXIT_OK && done) done = list_ends(c);
    if (!done) return tell_failure(QDQ_ERR_MEMORY, "no memory to compare %zu nodes", nodes);
    return code;
}

void comparison_close(comparison *c) {
    for (size_t i = 0; c->data && i < c->ids * c->target_count; i++) elements_free(c->data[i]);
    for (size_t t = 0; c->pairs && t < c->target_count; t++) target_pair_close(&c->pairs[t]);
    deployed_close(&c->given);
    free(c->data), free(c->pairs), free(c->ends), free(c->next_end);
}
