// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/target_causes.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/watch.h"
#include "tools/lab/compare/compare_graph.h"
#include "tools/options.h"

// Notes the first output of a node that differs between the targets.
static void note_node(const comparison *c, const node_comparison *n, first_difference *out) {
    const node_pair *pair = &n->pairs[0];
    for (size_t i = 0; i < n->output_count && (!out->differs || out->by_zeros); i++) {
        const difference *d = &pair->values[i].local;
        bool by_zeros = d->steps == 0 && d->nan_count == 0;
        if (pair->values[i].absent || !d->different || (out->differs && by_zeros)) continue;
        size_t most = 0;
        for (size_t k = 1; k < d->cause_count; k++)
            if (d->causes[k].count > d->causes[most].count) most = k;
        qdq_node_info info = qdq_graph_node(c->graph, n->node);
        *out = (first_difference){.differs = true,
                                  .by_zeros = by_zeros,
                                  .node = info.name,
                                  .op = info.op,
                                  .value = n->outputs[i].info.name,
                                  .elements = d->elements,
                                  .differing = d->different};
        if (d->cause_count)
            (void)cause_text(&pair->reasons, d->causes[most].switches, out->cause,
                             sizeof out->cause);
    }
}

static int compare_until(comparison *c, first_difference *out) {
    int code = EXIT_OK;
    for (size_t i = 0;
         code == EXIT_OK && (!out->differs || out->by_zeros) && i < qdq_graph_node_count(c->graph);
         i++) {
        node_comparison n;
        code = compare_node(c, i, &n);
        if (code == EXIT_OK && n.output_count && n.pairs[0].values) note_node(c, &n, out);
        node_comparison_release(&n);
    }
    watch_clear(c->watch);
    return code;
}

// Copies the inputs for a comparison, which frees its inputs as it goes.
static void **copy_inputs(const session *s, const given_values *given) {
    size_t count = qdq_plan_input_count(s->plan);
    void **inputs = calloc(count + 1, sizeof *inputs);
    for (size_t i = 0; inputs && i < count; i++) {
        const qdq_tensor_info *info = qdq_plan_input(s->plan, i);
        uint32_t id = qdq_graph_find(s->graph, info->name).id;
        const void *from = given->data[id] ? given->data[id] : given->inputs[id];
        inputs[i] = elements_take(s->exec_options.allocator, info->bytes);
        if (inputs[i] && from) memcpy(inputs[i], from, info->bytes);
    }
    return inputs;
}

int find_first_difference(const session *s, const options *opt, const given_values *given,
                          const char *a, const char *b, first_difference *out) {
    *out = (first_difference){0};
    comparison c = {.graph = s->graph,
                    .targets = {a, b},
                    .target_count = 2,
                    .watch = opt->watch,
                    .exec_options = s->exec_options,
                    .isa = isa_of(opt)};
    void **inputs = copy_inputs(s, given);
    if (!inputs) return tell_failure(QDQ_ERR_MEMORY, "no memory for the inputs");
    int code = comparison_open(&c, s->plan);
    comparison_give(&c, s->plan, inputs);
    if (code == EXIT_OK) code = compare_until(&c, out);
    comparison_close(&c);
    free(inputs);
    return code;
}
