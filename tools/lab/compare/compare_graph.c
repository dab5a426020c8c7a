// SPDX-License-Identifier: Apache-2.0
// Runs each unit of nodes as every target computes it, on the same inputs.
#include "tools/lab/compare/compare_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/io/watch.h"
#include "tools/lab/compare/units/steps.h"
#include "tools/lab/compare/units/unit.h"

static int no_memory(const comparison *c, size_t node) {
    (void)tell_failure(QDQ_ERR_MEMORY, "no memory to compare node '%s'",
                       qdq_graph_node(c->graph, node).name);
    return EXIT_LIMIT;
}

//---- Memory of results ------------------------------------------------------

// Memory for each output of a node.
typedef struct buffers {
    void **items;
    size_t count;
} buffers;

static bool make_outputs(const comparison *c, const node_comparison *n, buffers *out) {
    *out = (buffers){calloc(n->output_count + 1, sizeof *out->items), n->output_count};
    for (size_t i = 0; out->items && i < out->count; i++) {
        out->items[i] = elements_take(c->exec_options.allocator, n->outputs[i].info.bytes);
        if (!out->items[i]) return false;
    }
    return out->items != NULL;
}

static void release_buffers(buffers *b) {
    for (size_t i = 0; b->items && i < b->count; i++) elements_free(b->items[i]);
    free(b->items);
    *b = (buffers){0};
}

static bool has_own_inputs(const comparison *c, const unit *u, size_t target) {
    for (size_t i = 0; i < u->other.cone.input_count; i++)
        if (*comparison_slot(c, target, u->other.cone.inputs[i])) return true;
    return false;
}

// Computes a unit as its other target does, on the data of target `of`.
static int compute(const comparison *c, const node_comparison *n, const unit *u, size_t of,
                   buffers *outputs) {
    target_data data = {c, of};
    feed from = comparison_feed(&data);
    return make_outputs(c, n, outputs) ? unit_run_other(u, &from, outputs->items)
                                       : no_memory(c, n->node);
}

// Moves the outputs to the target's memory, except outputs equal to the first target's.
static void keep(const comparison *c, const unit *u, size_t target, const buffers *first,
                 buffers *outputs) {
    for (size_t i = 0; i < outputs->count; i++) {
        const node_value *out = &u->outputs[i];
        if (!out->value.id) continue;
        if (target && memcmp(outputs->items[i], first->items[i], out->info.bytes) == 0) continue;
        *comparison_slot(c, target, out->value) = outputs->items[i];
        outputs->items[i] = NULL;
    }
}

//---- Examples ---------------------------------------------------------------

// Finds a value that the unit reads and that has the shape of the output: the first input of a
// node, or any input of a group. No value if there is none.
static qdq_value find_x(const comparison *c, const unit *u, size_t node,
                        const qdq_tensor_info *output, qdq_dtype *dtype) {
    bool single = u->nodes.node_count == 1;
    size_t count = single ? 1 : u->other.cone.input_count;
    qdq_shape shape;
    for (size_t i = 0; i < count; i++) {
        qdq_value x = single ? qdq_graph_node_input(c->graph, node, 0) : u->other.cone.inputs[i];
        if (qdq_value_type(c->graph, x, dtype, &shape) && qdq_shape_equal(shape, output->shape))
            return x;
    }
    return (qdq_value){0};
}

static double element_of(qdq_dtype dtype, const void *data, size_t at) {
    double value = 0;
    to_doubles(dtype, (const char *)data + at * qdq_dtype_size(dtype), 1, &value);
    return value;
}

static uint64_t bits_of(qdq_dtype dtype, const void *data, size_t at) {
    uint64_t bits = 0;  // elements are little-endian
    size_t size = qdq_dtype_size(dtype);
    memcpy(&bits, (const char *)data + at * size, size);
    return bits;
}

static bool take_examples(const comparison *c, const unit *u, size_t node, size_t output,
                          const void *a, const void *b, node_pair *to) {
    value_pair *pair = &to->values[output];
    const qdq_tensor_info *info = &u->outputs[output].info;
    qdq_value x = find_x(c, u, node, info, &to->x_dtype);
    const void *constant = qdq_value_data(c->graph, x);
    const void *data = constant || !x.id ? constant : comparison_data_of(c, 0, x);
    pair->examples = calloc(pair->local.cause_count + 1, sizeof *pair->examples);
    for (size_t i = 0; pair->examples && i < pair->local.cause_count; i++) {
        size_t at = pair->local.causes[i].first;
        pair->examples[i] =
            (example){.has_x = data != NULL,
                      .x = data ? element_of(to->x_dtype, data, at) : 0,
                      .values = {element_of(info->dtype, a, at), element_of(info->dtype, b, at)},
                      .bits = {bits_of(info->dtype, a, at), bits_of(info->dtype, b, at)}};
    }
    return pair->examples != NULL;
}

static bool take_spread(const comparison *c, const qdq_tensor_info *info, const void *a,
                        const void *b, value_pair *to) {
    if (!c->wants_spread || !to->local.different) return true;
    to->spread = malloc(sizeof *to->spread);
    if (to->spread) *to->spread = measure_spread(info, (const void *const[]){a, b}, 2);
    return to->spread != NULL;
}

//---- A pair of targets ------------------------------------------------------

// Computes a unit on the first target's data, with some reasons switched.
typedef struct unit_trial {
    unit *unit;
    const feed *from;
} unit_trial;

static int try_reasons(void *with, uint32_t reasons, void *const *results) {
    const unit_trial *t = with;
    return unit_run(t->unit, reasons, t->from, results);
}

static uint32_t explain_by_steps(void *with, size_t output, size_t at, int64_t a, int64_t b) {
    return steps_explain(with, output, at, a, b);
}

static int look_for_causes(const comparison *c, unit *u, const buffers *first, const buffers *other,
                           difference *diffs) {
    target_data data = {c, 0};
    feed from = comparison_feed(&data);
    unit_trial with = {u, &from};
    unit_expect_difference(u);
    steps s = {0};
    trial t = {.outputs = u->outputs,
               .output_count = u->output_count,
               .switch_count = u->reasons.count,
               .rewrites = u->reasons.rewrites,
               .explain = u->same_form ? NULL : explain_by_steps,
               .explainer = &s,
               .run = try_reasons,
               .with = &with,
               .allocator = c->exec_options.allocator,
               .tolerance = &c->tolerance};
    int code = u->same_form ? EXIT_OK : steps_open(&s, u, &from);
    if (code == EXIT_OK) code = find_causes(&t, first->items, other->items, diffs);
    steps_close(&s);
    return code;
}

// Measures the difference between both targets' results from the first target's data, and finds its
// causes.
static int compare_local(const comparison *c, size_t node, unit *u, node_pair *pair,
                         const buffers *first, const buffers *other) {
    size_t outputs = u->output_count, different = 0;
    difference *diffs = calloc(outputs + 1, sizeof *diffs);
    int code = diffs ? EXIT_OK : no_memory(c, node);
    for (size_t i = 0; code == EXIT_OK && i < outputs; i++) {
        if (!u->outputs[i].value.id) continue;
        diffs[i] = measure_difference(&u->outputs[i].info, first->items[i], other->items[i],
                                      &c->tolerance);
        different += diffs[i].different;
    }
    if (different) code = look_for_causes(c, u, first, other, diffs);
    for (size_t i = 0; code == EXIT_OK && i < outputs; i++) {
        if (!u->outputs[i].value.id) continue;
        pair->values[i].local = diffs[i];
        pair->values[i].overall = diffs[i].different;
        const void *a = first->items[i], *b = other->items[i];
        if (diffs[i].different && qdq_dtype_is_real(u->outputs[i].info.dtype))
            pair->values[i].closeness = measure_closeness(&u->outputs[i].info, a, b);
        pair->values[i].overall_error = pair->values[i].closeness.relative_error;
        if (!take_examples(c, u, node, i, a, b, pair) ||
            !take_spread(c, &u->outputs[i].info, a, b, &pair->values[i]))
            code = no_memory(c, node);
    }
    free(diffs);
    return code;
}

static int compare_overall(const comparison *c, const node_comparison *n, const unit *u,
                           size_t target, const buffers *first, buffers *own) {
    node_pair *pair = &n->pairs[target - 1];
    int code = compute(c, n, u, target, own);
    for (size_t i = 0; code == EXIT_OK && i < n->output_count; i++) {
        const qdq_tensor_info *info = &n->outputs[i].info;
        const void *a = first->items[i], *b = own->items[i];
        value_pair *v = &pair->values[i];
        if (!u->outputs[i].value.id) continue;
        v->overall = measure_difference(info, a, b, &c->tolerance).different;
        v->overall_error = v->overall && qdq_dtype_is_real(info->dtype)
                               ? measure_closeness(info, a, b).relative_error
                               : 0;
    }
    return code;
}

// The results of a unit in the other target: from the first target's data, and from its own.
// Without items they equal the first target's.
typedef struct unit_results {
    buffers local, own;
} unit_results;

static int compare_unit(const comparison *c, const node_comparison *n, unit *u, size_t target,
                        const buffers *first, unit_results *out) {
    node_pair *pair = &n->pairs[target - 1];
    int code = EXIT_OK;
    if (u->reasons.count || !u->same_form) {
        code = compute(c, n, u, 0, &out->local);
        if (code == EXIT_OK) code = compare_local(c, n->node, u, pair, first, &out->local);
    }
    if (code == EXIT_OK && has_own_inputs(c, u, target))
        code = compare_overall(c, n, u, target, first, &out->own);
    return code;
}

// Sets the dtype of x of examples without computing them.
static void describe_unit(const comparison *c, size_t node, const unit *u, node_pair *pair) {
    for (size_t i = 0; i < u->output_count; i++)
        if (u->outputs[i].value.id) (void)find_x(c, u, node, &u->outputs[i].info, &pair->x_dtype);
}

static int tell_sink(const comparison *c, const node_comparison *n, const unit *u, size_t target,
                     const buffers *first, const unit_results *other) {
    int code = EXIT_OK;
    for (size_t i = 0; c->sink.take && code == EXIT_OK && i < u->output_count; i++) {
        const void *a = first->items ? first->items[i] : NULL;
        const void *local = other->local.items ? other->local.items[i] : a;
        const void *own = other->own.items ? other->own.items[i] : local;
        if (u->outputs[i].value.id) code = c->sink.take(c->sink.with, n, target, i, a, local, own);
    }
    return code;
}

// Sets the ops and the group, and moves the list of its nodes out of the unit.
static void note_group(const comparison *c, size_t node, unit *u, node_pair *pair) {
    const char *op = unit_group(u);
    pair->ops[0] = unit_op(u, u->pair->first);
    pair->ops[1] = unit_op(u, &u->pair->own);
    if (u->nodes.node_count == 1 && (!*op || strcmp(op, qdq_graph_node(c->graph, node).op) == 0))
        return;
    pair->group = op;
    pair->nodes = u->nodes.nodes;
    pair->node_count = u->nodes.node_count;
    u->nodes = (cone){.inputs = u->nodes.inputs};
}

static void tell_progress(const comparison *c, size_t node, size_t target) {
    watch_tell(c->watch, "node %zu of %zu, %s", node + 1, qdq_graph_node_count(c->graph),
               c->targets[target]);
}

// Chooses the outputs of the node that both targets have, and marks all others as absent. False if
// none is left.
static bool choose_outputs(const comparison *c, const node_comparison *n, size_t target,
                           node_value *outputs) {
    bool any = false;
    for (size_t i = 0; i < n->output_count; i++) {
        value_pair *v = &n->pairs[target - 1].values[i];
        outputs[i] = n->outputs[i];
        v->local.elements = qdq_shape_count(outputs[i].info.shape);
        v->absent = !c->pairs[target].cut[outputs[i].value.id];
        if (v->absent) outputs[i].value.id = 0;
        any |= !v->absent;
    }
    return any;
}

static int compare_pair(const comparison *c, const node_comparison *n, size_t target,
                        const buffers *first) {
    node_pair *pair = &n->pairs[target - 1];
    node_value *outputs = calloc(n->output_count + 1, sizeof *outputs);
    pair->values = calloc(n->output_count + 1, sizeof *pair->values);
    int code = outputs && pair->values ? EXIT_OK : no_memory(c, n->node);
    tell_progress(c, n->node, target);
    if (code == EXIT_OK && choose_outputs(c, n, target, outputs)) {
        unit u;
        unit_results other = {0};
        code = unit_open(&u, &c->pairs[target], &c->given, outputs, n->output_count,
                         &c->exec_options, c->isa);
        if (code == EXIT_OK && c->describes) describe_unit(c, n->node, &u, pair);
        if (code == EXIT_OK && !c->describes) code = compare_unit(c, n, &u, target, first, &other);
        pair->reasons = u.reasons;
        if (code == EXIT_OK) note_group(c, n->node, &u, pair);
        if (code == EXIT_OK) code = tell_sink(c, n, &u, target, first, &other);
        buffers *last = other.own.items ? &other.own : &other.local;
        if (code == EXIT_OK && last->items) keep(c, &u, target, first, last);
        release_buffers(&other.local);
        release_buffers(&other.own);
        unit_close(&u);
    }
    free(outputs);
    return code;
}

//---- A node -----------------------------------------------------------------

// Finds the left-out targets that would compute the node differently.
static int look_at_left_out(const comparison *c, node_comparison *n) {
    qdq_numerics first, other;
    qdq_error err = {0};
    bool makes_int = qdq_dtype_get(n->outputs[0].info.dtype)->kind == QDQ_KIND_INT;
    if (qdq_graph_numerics(c->graph, c->targets[0], n->node, &first, &err) != QDQ_OK)
        return report_error(&err);
    for (size_t i = 0; i < c->left_out_count; i++) {
        if (qdq_graph_numerics(c->graph, c->left_out[i], n->node, &other, &err) != QDQ_OK)
            return report_error(&err);
        if (find_switches(&first, &other, makes_int).count) n->left_out |= (uint64_t)1 << i;
    }
    return EXIT_OK;
}

// Lists the outputs of the node that the first target has.
static bool list_outputs(const comparison *c, node_comparison *n) {
    size_t count = qdq_graph_node(c->graph, n->node).output_count;
    n->outputs = calloc(count + 1, sizeof *n->outputs);
    n->pairs = calloc(n->pair_count + 1, sizeof *n->pairs);
    for (size_t i = 0; n->outputs && i < count; i++) {
        qdq_value value = qdq_graph_node_output(c->graph, n->node, i);
        if (c->pairs[0].cut[value.id])
            n->outputs[n->output_count++] = node_value_of(c->graph, value);
    }
    return n->outputs && n->pairs;
}

// Describes for JSON the spread of the first target's results, and the numerics of each target.
static int describe_first(const comparison *c, node_comparison *n, const buffers *first) {
    qdq_error err = {0};
    n->spreads = calloc(n->output_count + 1, sizeof *n->spreads);
    n->numerics = calloc(c->target_count, sizeof *n->numerics);
    if (!n->spreads || !n->numerics) return no_memory(c, n->node);
    for (size_t i = 0; i < n->output_count; i++)
        n->spreads[i] =
            measure_spread(&n->outputs[i].info, (const void *const[]){first->items[i]}, 1);
    for (size_t t = 0; t < c->target_count; t++)
        if (qdq_graph_numerics(c->graph, c->targets[t], n->node, &n->numerics[t], &err) != QDQ_OK)
            return report_error(&err);
    return EXIT_OK;
}

static int compare_first(const comparison *c, node_comparison *n) {
    buffers first = {0};
    unit u;
    int code = unit_open(&u, &c->pairs[0], &c->given, n->outputs, n->output_count, &c->exec_options,
                         c->isa);
    if (code == EXIT_OK && !c->describes) code = compute(c, n, &u, 0, &first);
    if (code == EXIT_OK && first.items && c->wants_spread) code = describe_first(c, n, &first);
    for (size_t t = 1; code == EXIT_OK && t < c->target_count; t++)
        code = compare_pair(c, n, t, &first);
    if (code == EXIT_OK && first.items) keep(c, &u, 0, &first, &first);
    release_buffers(&first);
    unit_close(&u);
    return code;
}

int compare_node(comparison *c, size_t node, node_comparison *out) {
    *out = (node_comparison){.node = node, .pair_count = c->target_count - 1};
    tell_progress(c, node, 0);
    if (!list_outputs(c, out)) return no_memory(c, node);
    int code = EXIT_OK;
    if (out->output_count) {
        code = look_at_left_out(c, out);
        if (code == EXIT_OK) code = compare_first(c, out);
    }
    if (code == EXIT_OK) comparison_drop_ended(c, node);
    return code;
}

void node_comparison_release(node_comparison *n) {
    for (size_t t = 0; n->pairs && t < n->pair_count; t++) {
        for (size_t i = 0; n->pairs[t].values && i < n->output_count; i++) {
            free(n->pairs[t].values[i].examples);
            free(n->pairs[t].values[i].spread);
        }
        free(n->pairs[t].values);
        free(n->pairs[t].nodes);
    }
    free(n->pairs), free(n->outputs), free(n->spreads), free(n->numerics);
}
