// SPDX-License-Identifier: Apache-2.0
// qdq bisect: where two graphs, or two targets, first compute something else, and why. The other
// side takes the place of the device of qdq explain.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/lab/explain/explain_report.h"

static int no_memory(void) { return tell_failure(QDQ_ERR_MEMORY, "no memory to bisect"); }

//---- Values of the other side -----------------------------------------------

// Takes a value that the other side computed, if the graph has one of its type. `offset`: what was
// added to its codes.
static bool take(given_values *given, const qdq_graph *graph, qdq_value value, const node_value *v,
                 const void *data, int32_t offset) {
    qdq_dtype dtype;
    qdq_shape shape;
    if (!data || !value.id || value.id >= given->ids || given->data[value.id]) return true;
    if (!qdq_value_type(graph, value, &dtype, &shape) || qdq_value_is_constant(graph, value) ||
        !qdq_shape_equal(shape, v->info.shape) || (dtype != v->info.dtype && !offset))
        return true;
    unsigned char *copy = malloc(v->info.bytes + 1);
    if (!copy) return false;
    memcpy(copy, data, v->info.bytes);
    for (size_t i = 0; offset && i < v->info.bytes; i++)
        copy[i] = (unsigned char)(copy[i] - (unsigned)offset);
    given->data[value.id] = copy;
    given->count++;
    return true;
}

// All values that a target computes of the same graph.
static bool take_target(given_values *given, const session *s, const replay *other) {
    for (uint32_t v = 1; v < other->form.value_count; v++)
        if (other->computed[v] &&
            !take(given, s->graph, replay_source(other, (qdq_value){v}), &other->values[v],
                  other->computed[v], other->form.sources[v].offset))
            return false;
    return true;
}

// All values and outputs of another graph that have the same names.
static bool take_graph(given_values *given, const session *s, const session *from,
                       const replay *other) {
    for (size_t i = 0; i < qdq_plan_output_count(from->plan); i++) {
        const char *name = qdq_plan_output(from->plan, i)->name;
        uint32_t id = qdq_output_value(from->graph, name).id;
        uint32_t own = id < other->given->ids ? other->form.own[id].id : 0;
        if (own && !take(given, s->graph, qdq_output_value(s->graph, name), &other->values[own],
                         other->computed[own], other->form.sources[own].offset))
            return false;
    }
    for (uint32_t v = 1; v < other->form.value_count; v++) {
        const char *name = qdq_value_name(from->graph, replay_source(other, (qdq_value){v}));
        if (other->computed[v] &&
            !take(given, s->graph, qdq_graph_find(s->graph, name), &other->values[v],
                  other->computed[v], other->form.sources[v].offset))
            return false;
    }
    return true;
}

//---- The two kinds ----------------------------------------------------------

static int tell(const session *s, const options *opt, const char *target, const char *other,
                const given_values *given, const char *against, const char *called) {
    replay base = {0};
    explanation e = {0};
    char command[4096];
    const report_title title = {command, against, called};
    (void)explain_command("bisect", opt, command, sizeof command);
    int code = explain(s, opt, target, other, given, &base, &e);
    if (code == EXIT_OK && opt->json) explain_json(s, &base, &e, &title);
    if (code == EXIT_OK && !opt->json) explain_text(s, &base, &e, &title);
    explanation_release(&e);
    replay_close(&base);
    if (code != EXIT_OK) return code;
    return e.differs ? EXIT_FINDINGS : EXIT_OK;
}

static int bisect_targets(session *s, const options *opt, const char *a, const char *b) {
    given_values given, inputs = {0};
    replay other = {0};
    qdq_error err = {0};
    char against[128];
    snprintf(against, sizeof against, "target %s", a);
    int code = given_open(&given, s->graph, s->plan);
    if (code == EXIT_OK) code = given_take_inputs(&given, s, opt);
    if (code == EXIT_OK) code = given_copy_inputs(&inputs, s, s, &given);
    if (code == EXIT_OK &&
        replay_open(&other, s->graph, b, &inputs, &s->exec_options, isa_of(opt), &err) != QDQ_OK)
        code = report_error(&err);
    if (code == EXIT_OK && !take_target(&given, s, &other)) code = no_memory();
    replay_close(&other);
    if (code == EXIT_OK) code = tell(s, opt, a, b, &given, against, b);
    given_release(&inputs);
    given_release(&given);
    return code;
}

static const char *target_of(const session *s, const options *opt) {
    return opt->target ? opt->target : qdq_graph_target(s->graph);
}

static int bisect_graphs(session *s, session *from, const options *opt) {
    given_values given, inputs = {0};
    replay other = {0};
    qdq_error err = {0};
    int code = given_open(&given, s->graph, s->plan);
    if (code == EXIT_OK) code = given_take_inputs(&given, s, opt);
    if (code == EXIT_OK) code = given_copy_inputs(&inputs, from, s, &given);
    if (code == EXIT_OK && replay_open(&other, from->graph, target_of(from, opt), &inputs,
                                       &s->exec_options, isa_of(opt), &err) != QDQ_OK)
        code = report_error(&err);
    if (code == EXIT_OK && !take_graph(&given, s, from, &other)) code = no_memory();
    replay_close(&other);
    if (code == EXIT_OK && !given.count)
        code = tell_failure(QDQ_ERR_GRAPH,
                            "the two graphs have no value or output of the same name and type");
    if (code == EXIT_OK)
        code = tell(s, opt, target_of(s, opt), NULL, &given, opt->operands.items[0], "second");
    given_release(&inputs);
    given_release(&given);
    return code;
}

//---- The command ------------------------------------------------------------

static int open_both(session *s, const options *opt) {
    options second = *opt;
    session from = {0};
    second.operands.items = opt->operands.items + 1;
    second.operands.count = 1;
    int code = session_start_as(s, opt, "core");
    if (code == EXIT_OK) code = session_start_as(&from, &second, "core");
    if (code == EXIT_OK) code = bisect_graphs(s, &from, opt);
    session_close(&from);
    return code;
}

static int open_one(session *s, const options *opt) {
    char words[256];
    const char *comma = opt->targets ? strchr(opt->targets, ',') : NULL;
    if (!comma || strchr(comma + 1, ',') || !comma[1] || comma == opt->targets ||
        strlen(opt->targets) >= sizeof words)
        return tell_failure(
            QDQ_ERR_ARGUMENT,
            "wanted two graphs, or one with two targets, as in --targets onnx,ttnn");
    memcpy(words, opt->targets, strlen(opt->targets) + 1);
    words[comma - opt->targets] = '\0';
    int code = session_start_as(s, opt, "core");
    return code == EXIT_OK ? bisect_targets(s, opt, words, words + (comma - opt->targets) + 1)
                           : code;
}

int run_bisect(const options *opt) {
    session s = {0};
    if (opt->operands.count == 2 && opt->targets)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "two graphs and --targets are given, wanted one of them");
    int code = opt->operands.count == 2 ? open_both(&s, opt) : open_one(&s, opt);
    session_close(&s);
    return code;
}
