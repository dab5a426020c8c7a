// SPDX-License-Identifier: Apache-2.0
// qdq convert: writes a graph that was read from any format as a qdq/1 file.
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/findings.h"

// Prints all errors of reading; EXIT_OK if there are none.
static int check_graph(qdq_graph *graph) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate(graph, "core", &err);
    if (!report) return report_error(&err);
    if (!report->errors) return EXIT_OK;
    print_findings(stderr, report, NULL, LIST_ALL);
    return EXIT_REFUSED;
}

int run_convert(const options *opt) {
    int code;
    qdq_error err = {0};
    if (opt->outputs.count != 1)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%zu files are given with -o, wanted one: -o OUT.json",
                            opt->outputs.count);
    qdq_graph *graph = load_graph(opt->operands.items[0], opt, &code);
    if (!graph) return code;
    code = check_graph(graph);
    if (code == EXIT_OK && qdq_graph_write(graph, opt->outputs.items[0], &err) != QDQ_OK)
        code = report_error(&err);
    qdq_graph_destroy(graph);
    return code;
}
