// SPDX-License-Identifier: Apache-2.0
// qdq bisect: finds the first node at which two graphs, or two targets, differ, and the cause. The
// other side takes the place of the device of qdq explain.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/html/report_file.h"
#include "tools/lab/explain/explain_report.h"
#include "tools/options.h"

static int no_memory(void) { return tell_failure(QDQ_ERR_MEMORY, "no memory to bisect"); }

//---- Values of the other side -----------------------------------------------

// True if the graph lacks elements for a value of the same type as `v` of the other side, whose
// codes may have an `offset` added.
static bool takes(const given_values *given, const qdq_graph *graph, qdq_value value,
                  const node_value *v, int32_t offset) {
    qdq_dtype dtype;
    qdq_shape shape;
    return value.id && value.id < given->ids && !given->data[value.id] &&
           qdq_value_type(graph, value, &dtype, &shape) && !qdq_value_is_constant(graph, value) &&
           qdq_shape_equal(shape, v->info.shape) && (dtype == v->info.dtype || offset);
}

// Gives elements of the other side to a value of the graph, which owns them.
static void give(given_values *given, qdq_value value, const node_value *v, unsigned char *codes,
                 int32_t offset) {
    for (size_t i = 0; offset && i < v->info.bytes; i++)
        codes[i] = (unsigned char)(codes[i] - (unsigned)offset);
    given->data[value.id] = codes;
    given->count++;
}

// Moves elements that the other side computed to a value of the graph, if it has the same type.
static void move(given_values *given, const qdq_graph *graph, qdq_value value, replay *other,
                 uint32_t v) {
    int32_t offset = other->form.sources[v].offset;
    if (!other->computed[v] || !takes(given, graph, value, &other->values[v], offset)) return;
    give(given, value, &other->values[v], other->computed[v], offset);
    other->computed[v] = NULL;
}

// Copies them instead. False if memory runs out.
static bool copy(given_values *given, const qdq_graph *graph, qdq_value value, const replay *other,
                 uint32_t v) {
    int32_t offset = other->form.sources[v].offset;
    const node_value *from = &other->values[v];
    if (!other->computed[v] || !takes(given, graph, value, from, offset)) return true;
    void *codes = elements_take(given->allocator, from->info.bytes);
    if (!codes) return false;
    memcpy(codes, other->computed[v], from->info.bytes);
    give(given, value, from, codes, offset);
    return true;
}

// Takes all values that another target computes for the same graph.
static void take_target(given_values *given, const session *s, replay *other) {
    for (uint32_t v = 1; v < other->form.value_count; v++)
        move(given, s->graph, replay_source(other, (qdq_value){v}), other, v);
}

// Takes all values and outputs of another graph that have the same names.
static bool take_graph(given_values *given, const session *s, const session *from, replay *other) {
    for (size_t i = 0; i < qdq_plan_output_count(from->plan); i++) {
        const char *name = qdq_plan_output(from->plan, i)->name;
        uint32_t id = qdq_output_value(from->graph, name).id;
        uint32_t own = id < other->given->ids ? other->form.own[id].id : 0;
        if (own && !copy(given, s->graph, qdq_output_value(s->graph, name), other, own))
            return false;
    }
    for (uint32_t v = 1; v < other->form.value_count; v++) {
        const char *name = qdq_value_name(from->graph, replay_source(other, (qdq_value){v}));
        move(given, s->graph, qdq_graph_find(s->graph, name), other, v);
    }
    return true;
}

//---- The two kinds ----------------------------------------------------------

// A side of the comparison: a graph, and the target that runs it.
typedef struct side {
    session *s;
    const char *target;
    given_values given;
    replay run;
} side;

// Opens both sides, with memory for all results, before one of them runs.
static int open_sides(side *own, side *other, const options *opt) {
    qdq_error err = {0};
    side *sides[] = {other, own};
    int code = given_open(&own->given, own->s);
    if (code == EXIT_OK) code = given_take_inputs(&own->given, own->s, opt, NULL);
    if (code == EXIT_OK) code = given_copy_inputs(&other->given, other->s, own->s, &own->given);
    for (size_t i = 0; code == EXIT_OK && i < 2; i++)
        if (replay_open(&sides[i]->run, sides[i]->s->graph, sides[i]->target, &sides[i]->given,
                        &own->s->exec_options, opt, &err) != QDQ_OK)
            code = report_error(&err);
    if (code == EXIT_OK && replay_run(&other->run, &err) != QDQ_OK) code = report_error(&err);
    return code;
}

static void write_page(report_file *page, const side *own, const explanation *e,
                       const report_title *title) {
    qdq_json *json = report_file_json(page);
    if (!json) return;
    qdq_json_begin_object(json);
    json_explanation(json, own->s, &own->run, e, title);
    qdq_json_end_object(json);
}

static int tell(side *own, const options *opt, const char *other, const char *against,
                const char *called, report_file *page) {
    explanation e = {0};
    char command[4096];
    const report_title title = {opt->operands.items[0], command, against, called, own->target};
    (void)explain_command("bisect", opt, &(string_list){0}, command, sizeof command);
    int code = explain(own->s, opt, other, &own->run, &e);
    if (code == EXIT_OK && !opt->json) explain_text(own->s, &own->run, &e, &title);
    if (code == EXIT_OK && opt->json) code = explain_json(own->s, &own->run, &e, &title, opt);
    if (code == EXIT_OK) write_page(page, own, &e, &title);
    explanation_release(&e);
    if (code != EXIT_OK) return code;
    return e.differs ? EXIT_FINDINGS : EXIT_OK;
}

static void close_sides(side *own, side *other) {
    replay_close(&other->run);
    replay_close(&own->run);
    given_release(&other->given);
    given_release(&own->given);
}

static int bisect_targets(session *s, const options *opt, const char *a, const char *b) {
    report_file page = {0};
    side own = {.s = s, .target = a}, other = {.s = s, .target = b};
    char against[128];
    snprintf(against, sizeof against, "target %s", a);
    int code = report_file_open(&page, "bisect", opt, s->graph);
    if (code == EXIT_OK) code = open_sides(&own, &other, opt);
    if (code == EXIT_OK) take_target(&own.given, s, &other.run);
    replay_close(&other.run);
    if (code == EXIT_OK) code = tell(&own, opt, b, against, b, &page);
    close_sides(&own, &other);
    return report_file_close(&page, code);
}

static const char *target_of(const session *s, const options *opt) {
    return opt->load.target ? opt->load.target : qdq_graph_target(s->graph);
}

static int bisect_graphs(session *s, session *from, const options *opt) {
    report_file page = {0};
    side own = {.s = s, .target = target_of(s, opt)};
    side other = {.s = from, .target = target_of(from, opt)};
    int code = report_file_open(&page, "bisect", opt, s->graph);
    if (code == EXIT_OK) code = open_sides(&own, &other, opt);
    if (code == EXIT_OK && !take_graph(&own.given, s, from, &other.run)) code = no_memory();
    replay_close(&other.run);
    if (code == EXIT_OK && !own.given.count)
        code = tell_failure(QDQ_ERR_GRAPH,
                            "the two graphs have no value or output of the same name and type");
    if (code == EXIT_OK) code = tell(&own, opt, NULL, opt->operands.items[0], "second", &page);
    close_sides(&own, &other);
    return report_file_close(&page, code);
}

//---- The command ------------------------------------------------------------

static int open_both(session *s, const options *opt) {
    options second = *opt;
    session from = {0};
    second.operands.items = opt->operands.items + 1;
    second.operands.count = 1;
    int code = session_start_nodes(s, opt, opt->load.target);
    if (code == EXIT_OK) code = session_start_nodes(&from, &second, opt->load.target);
    if (code == EXIT_OK) code = bisect_graphs(s, &from, opt);
    session_close(&from);
    return code;
}

// Compiles a graph for core, or for both targets if core refuses it, of which the first one reads
// the inputs.
static int compile_for_both(session *s, const options *opt, const char *a, const char *b) {
    if (!session_core_refuses(s)) return session_compile(s, opt, "core");
    session second = {.graph = s->graph, .exec_options = s->exec_options};
    int code = session_compile(&second, opt, b);
    second.graph = NULL;
    session_close(&second);
    return code == EXIT_OK ? session_compile(s, opt, a) : code;
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
    const char *other = words + (comma - opt->targets) + 1;
    int code = session_load(s, opt);
    if (code == EXIT_OK) code = compile_for_both(s, opt, words, other);
    return code == EXIT_OK ? bisect_targets(s, opt, words, other) : code;
}

int run_bisect(const options *opt) {
    session s = {0};
    options own = *opt;
    own.compile.rows = true;
    if (opt->operands.count == 2 && opt->targets)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "two graphs and --targets are given, wanted one of them");
    int code = opt->operands.count == 2 ? open_both(&s, &own) : open_one(&s, &own);
    session_close(&s);
    return code;
}
