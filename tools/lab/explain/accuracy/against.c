// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/against.h"

#include <stdlib.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/html/report_file.h"
#include "tools/lab/explain/accuracy/accuracy_report.h"
#include "tools/lab/explain/accuracy/answers.h"
#include "tools/lab/explain/accuracy/equalized_model.h"
#include "tools/lab/explain/accuracy/forms.h"
#include "tools/options.h"
#include "tools/options/explain.h"

static void write_page(report_file *page, const accuracy *a, const accuracy_title *title) {
    qdq_json *json = report_file_json(page);
    if (!json) return;
    qdq_json_begin_object(json);
    json_accuracy(json, a, title);
    qdq_json_end_object(json);
}

// Runs the float model, and measures the nodes of the quantized graph against it.
static int measure(const session *s, const session *real, const options *opt,
                   const given_values *given, const given_values *inputs, report_file *page) {
    const explain_options *own = opt->own;
    opened_forms f = {0};
    accuracy a = {0};
    qdq_error err = {0};
    bool differs = false;
    const accuracy_graphs graphs = {s, real};
    const char *target = opt->load.target ? opt->load.target : qdq_graph_target(s->graph);
    labels truth;
    accuracy_title title = {.graph = opt->operands.items[0],
                            .model = own->against,
                            .target = target,
                            .seed = opt->fill,
                            .forms = &f.forms};
    int code = labels_open(&truth, opt, s->graph, s->plan, 1);
    if (code == EXIT_OK && forms_open(&f, &graphs, target, given, inputs, opt, &err) != QDQ_OK)
        code = report_error(&err);
    if (code == EXIT_OK) {
        title.labelled = answers_output(&truth, &graphs);
        code = answers_count(&truth, &graphs, f.forms.deployed, 0, &title.right);
    }
    replay_drop_programs(&f.real);
    if (code == EXIT_OK) code = accuracy_measure(&f.forms, &graphs, WORST_NODES, &a);
    if (code == EXIT_OK) {
        differs = accuracy_differs(&a);
        if (opt->json)
            code = accuracy_json(&a, &title, s->graph);
        else
            accuracy_text(&a, &title);
        write_page(page, &a, &title);
    }
    accuracy_release(&a);
    forms_close(&f);
    labels_close(&truth);
    return code == EXIT_OK && differs ? EXIT_FINDINGS : code;
}

int against_sessions(const options *opt, session *quantized, session *real) {
    const explain_options *own = opt->own;
    const char *model = own->against;
    options first = *opt, second = *opt;
    first.load.loose_dims = true;
    second.operands = (string_list){.items = &model, .count = 1};
    second.load.target = NULL;
    second.load.sizes_of = quantized;
    int code = session_start_nodes(quantized, &first, opt->load.target);
    return code == EXIT_OK ? session_start_nodes(real, &second, NULL) : code;
}

static int add_bits(report_file *page, const session *s, const options *opt) {
    const char *target = opt->load.target ? opt->load.target : qdq_graph_target(s->graph);
    return report_file_bits(page, target, s->report);
}

int explain_against(const options *opt) {
    session s = {0}, real = {0};
    given_values given = {0}, inputs = {0};
    report_file page = {0};
    int code = against_sessions(opt, &s, &real);
    if (code == EXIT_OK) code = report_file_open(&page, "explain", opt, s.graph);
    if (code == EXIT_OK) code = add_bits(&page, &s, opt);
    if (code == EXIT_OK) code = equalized_model(&s, &real, opt);
    if (code == EXIT_OK) code = given_open(&given, &s);
    if (code == EXIT_OK) code = given_take_inputs(&given, &s, opt, NULL);
    if (code == EXIT_OK) code = given_copy_inputs(&inputs, &real, &s, &given);
    if (code == EXIT_OK) code = measure(&s, &real, opt, &given, &inputs, &page);
    code = report_file_close(&page, code);
    given_release(&inputs);
    given_release(&given);
    session_close(&real);
    session_close(&s);
    return code;
}
