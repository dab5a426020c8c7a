// SPDX-License-Identifier: Apache-2.0
// Runs each node of a graph under the numerics of every target, on the same inputs.
// qdq_graph_extract makes a graph of one node; qdq_graph_numerics says how a target computes it.
#include "tools/compare/compare_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"

static int no_memory(const comparison *c, size_t node) {
    (void)tell_failure(QDQ_ERR_MEMORY, "no memory to compare node '%s'",
                       qdq_graph_node(c->graph, node).name);
    return EXIT_LIMIT;
}

//---- What each target has ---------------------------------------------------

static void **slot(const comparison *c, size_t target, qdq_value value) {
    return &c->data[target * c->ids + value.id];
}

static void *data_of(const comparison *c, size_t target, qdq_value value) {
    void *own = *slot(c, target, value);
    return own ? own : *slot(c, 0, value);
}

static void drop(comparison *c, qdq_value value) {
    for (size_t t = 0; t < c->target_count; t++) {
        free(*slot(c, t, value));
        *slot(c, t, value) = NULL;
    }
}

static void count_ids(comparison *c, qdq_value value) {
    if (value.id >= c->ids) c->ids = (size_t)value.id + 1;
}

static void note_use(comparison *c, qdq_value value, size_t node) {
    if (value.id) c->last_use[value.id] = node;
}

// Calls `see` for every value that node `n` reads or makes.
static void see_values(comparison *c, size_t n,
                       void (*see)(comparison *c, qdq_value value, size_t node)) {
    qdq_node_info info = qdq_graph_node(c->graph, n);
    for (size_t i = 0; i < info.input_count; i++) see(c, qdq_graph_node_input(c->graph, n, i), n);
    for (size_t i = 0; i < info.output_count; i++) see(c, qdq_graph_node_output(c->graph, n, i), n);
}

static void see_id(comparison *c, qdq_value value, size_t node) {
    (void)node;
    count_ids(c, value);
}

static void see_end(comparison *c, qdq_value value, size_t node) {
    if (value.id && c->last_use[value.id] == node) drop(c, value);
}

int comparison_open(comparison *c, const qdq_plan *plan, void *const *inputs) {
    size_t nodes = qdq_graph_node_count(c->graph);
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++)
        count_ids(c, qdq_graph_find(c->graph, qdq_plan_input(plan, i)->name));
    for (size_t n = 0; n < nodes; n++) see_values(c, n, see_id);
    c->data = calloc((c->ids + 1) * c->target_count, sizeof *c->data);
    c->last_use = calloc(c->ids + 1, sizeof *c->last_use);
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        if (c->data)
            *slot(c, 0, qdq_graph_find(c->graph, qdq_plan_input(plan, i)->name)) = inputs[i];
        else
            free(inputs[i]);
    }
    if (!c->data || !c->last_use)
        return tell_failure(QDQ_ERR_MEMORY, "no memory to compare %zu nodes", nodes);
    for (size_t n = 0; n < nodes; n++) see_values(c, n, note_use);
    return EXIT_OK;
}

void comparison_close(comparison *c) {
    for (size_t i = 0; c->data && i < c->ids * c->target_count; i++) free(c->data[i]);
    free(c->data);
    free(c->last_use);
}

//---- A node -----------------------------------------------------------------

// Memory of each input or output of a node.
typedef struct buffers {
    void **items;
    size_t count;
} buffers;

static bool gather_inputs(const comparison *c, const node_run *run, size_t target, buffers *out) {
    *out = (buffers){calloc(run->input_count + 1, sizeof *out->items), 0};
    for (size_t i = 0; out->items && i < run->input_count; i++)
        out->items[i] = data_of(c, target, run->inputs[i].value);
    return out->items != NULL;
}

static bool make_outputs(const node_run *run, buffers *out) {
    *out = (buffers){calloc(run->output_count + 1, sizeof *out->items), run->output_count};
    for (size_t i = 0; out->items && i < out->count; i++) {
        out->items[i] = malloc(run->outputs[i].info.bytes);
        if (!out->items[i]) return false;
    }
    return out->items != NULL;
}

// The memory of inputs is borrowed: the count is 0.
static void release_buffers(buffers *b) {
    for (size_t i = 0; b->items && i < b->count; i++) free(b->items[i]);
    free(b->items);
    *b = (buffers){0};
}

static bool has_own_inputs(const comparison *c, const node_run *run, size_t target) {
    for (size_t i = 0; i < run->input_count; i++)
        if (*slot(c, target, run->inputs[i].value)) return true;
    return false;
}

static int compute(const comparison *c, const node_run *run, size_t target,
                   const qdq_numerics *numerics, buffers *outputs, size_t node) {
    buffers inputs;
    int code = gather_inputs(c, run, target, &inputs) && make_outputs(run, outputs)
                   ? node_compute(run, numerics, inputs.items, outputs->items)
                   : no_memory(c, node);
    release_buffers(&inputs);
    return code;
}

// Passes the outputs to the target, except those equal to the first target's.
static void keep(const comparison *c, const node_run *run, size_t target, const buffers *first,
                 buffers *outputs) {
    for (size_t i = 0; i < outputs->count; i++) {
        const node_value *out = &run->outputs[i];
        if (target && memcmp(outputs->items[i], first->items[i], out->info.bytes) == 0) continue;
        *slot(c, target, out->value) = outputs->items[i];
        outputs->items[i] = NULL;
    }
}

// The first target's x, if it has the shape of the output.
static const void *x_data(const comparison *c, size_t node, const qdq_tensor_info *output,
                          qdq_dtype *dtype) {
    qdq_value x = qdq_graph_node_input(c->graph, node, 0);
    qdq_shape shape;
    if (!qdq_value_type(c->graph, x, dtype, &shape) || !qdq_shape_equal(shape, output->shape))
        return NULL;
    const void *constant = qdq_value_data(c->graph, x);
    return constant ? constant : data_of(c, 0, x);
}

static double element_of(qdq_dtype dtype, const void *data, size_t at) {
    double value = 0;
    to_doubles(dtype, (const char *)data + at * qdq_dtype_size(dtype), 1, &value);
    return value;
}

static bool take_examples(const comparison *c, node_comparison *n, size_t output, const void *a,
                          const void *b, value_pair *pair) {
    const qdq_tensor_info *info = &n->run.outputs[output].info;
    const void *x = x_data(c, n->node, info, &n->x_dtype);
    pair->examples = calloc(pair->local.cause_count + 1, sizeof *pair->examples);
    for (size_t i = 0; pair->examples && i < pair->local.cause_count; i++) {
        size_t at = pair->local.causes[i].first;
        pair->examples[i] =
            (example){.has_x = x != NULL,
                      .x = x ? element_of(n->x_dtype, x, at) : 0,
                      .values = {element_of(info->dtype, a, at), element_of(info->dtype, b, at)}};
    }
    return pair->examples != NULL;
}

// Runs the other target on the first target's data: what differs, and why.
static int compare_local(const comparison *c, node_comparison *n, node_pair *pair,
                         const buffers *first, const buffers *other) {
    size_t outputs = n->run.output_count, different = 0;
    difference *diffs = calloc(outputs + 1, sizeof *diffs);
    buffers inputs = {0};
    int code = EXIT_OK;
    if (!diffs || !gather_inputs(c, &n->run, 0, &inputs)) code = no_memory(c, n->node);
    for (size_t i = 0; code == EXIT_OK && i < outputs; i++) {
        diffs[i] = measure_difference(&n->run.outputs[i].info, first->items[i], other->items[i]);
        different += diffs[i].different;
    }
    if (code == EXIT_OK && different)
        code =
            find_causes(&n->run, &pair->switches, inputs.items, first->items, other->items, diffs);
    for (size_t i = 0; code == EXIT_OK && i < outputs; i++) {
        pair->values[i].local = diffs[i];
        pair->values[i].overall = diffs[i].different;
        if (!take_examples(c, n, i, first->items[i], other->items[i], &pair->values[i]))
            code = no_memory(c, n->node);
    }
    release_buffers(&inputs);
    free(diffs);
    return code;
}

static bool makes_int(const node_comparison *n) {
    return n->run.output_count && qdq_dtype_get(n->run.outputs[0].info.dtype)->kind == QDQ_KIND_INT;
}

// Finds the left-out targets that compute the node differently.
static int look_at_left_out(const comparison *c, node_comparison *n, const qdq_numerics *first) {
    qdq_numerics numerics;
    qdq_error err = {0};
    for (size_t i = 0; i < c->left_out_count; i++) {
        if (qdq_graph_numerics(c->graph, c->left_out[i], n->node, &numerics, &err) != QDQ_OK)
            return report_error(&err);
        if (find_switches(first, &numerics, makes_int(n)).count) n->left_out |= (uint64_t)1 << i;
    }
    return EXIT_OK;
}

static void tell_progress(const comparison *c, size_t node, size_t target) {
    watch_tell(c->watch, "node %zu of %zu, %s", node + 1, qdq_graph_node_count(c->graph),
               c->targets[target]);
}

static int compare_pair(const comparison *c, node_comparison *n, size_t target,
                        const qdq_numerics *first_numerics, const buffers *first) {
    node_pair *pair = &n->pairs[target - 1];
    qdq_numerics numerics = *first_numerics;
    qdq_error err = {0};
    buffers local = {0}, own = {0};
    size_t outputs = n->run.output_count;
    tell_progress(c, n->node, target);
    if (qdq_graph_numerics(c->graph, c->targets[target], n->node, &numerics, &err) != QDQ_OK)
        return report_error(&err);
    pair->switches = find_switches(first_numerics, &numerics, makes_int(n));
    pair->values = calloc(outputs + 1, sizeof *pair->values);
    if (!pair->values) return no_memory(c, n->node);
    int code = EXIT_OK;
    for (size_t i = 0; i < outputs; i++)
        pair->values[i].local.elements = qdq_shape_count(n->run.outputs[i].info.shape);
    if (pair->switches.count) {
        code = compute(c, &n->run, 0, &numerics, &local, n->node);
        if (code == EXIT_OK) code = compare_local(c, n, pair, first, &local);
        if (code == EXIT_OK && !has_own_inputs(c, &n->run, target))
            keep(c, &n->run, target, first, &local);
    }
    release_buffers(&local);
    if (code == EXIT_OK && has_own_inputs(c, &n->run, target)) {
        code = compute(c, &n->run, target, &numerics, &own, n->node);
        for (size_t i = 0; code == EXIT_OK && i < outputs; i++)
            pair->values[i].overall =
                measure_difference(&n->run.outputs[i].info, first->items[i], own.items[i])
                    .different;
        if (code == EXIT_OK) keep(c, &n->run, target, first, &own);
    }
    release_buffers(&own);
    return code;
}

int compare_node(comparison *c, size_t node, node_comparison *out) {
    qdq_numerics numerics;
    qdq_error err = {0};
    buffers first = {0};
    *out = (node_comparison){.node = node, .pair_count = c->target_count - 1};
    tell_progress(c, node, 0);
    int code = node_open(&out->run, c->graph, node, &c->exec_options, c->isa);
    out->pairs = calloc(out->pair_count + 1, sizeof *out->pairs);
    if (code == EXIT_OK && !out->pairs) code = no_memory(c, node);
    if (code == EXIT_OK &&
        qdq_graph_numerics(c->graph, c->targets[0], node, &numerics, &err) != QDQ_OK)
        code = report_error(&err);
    if (code == EXIT_OK) code = look_at_left_out(c, out, &numerics);
    if (code == EXIT_OK) code = compute(c, &out->run, 0, &numerics, &first, node);
    for (size_t t = 1; code == EXIT_OK && t < c->target_count; t++)
        code = compare_pair(c, out, t, &numerics, &first);
    if (code == EXIT_OK) {
        keep(c, &out->run, 0, &first, &first);
        see_values(c, node, see_end);
    }
    release_buffers(&first);
    return code;
}

void node_comparison_release(node_comparison *n) {
    for (size_t t = 0; n->pairs && t < n->pair_count; t++) {
        for (size_t i = 0; n->pairs[t].values && i < n->run.output_count; i++)
            free(n->pairs[t].values[i].examples);
        free(n->pairs[t].values);
    }
    free(n->pairs);
    node_close(&n->run);
}
