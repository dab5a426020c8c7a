// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/emit_c.h"

#include <qdq/inspect.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/findings.h"
#include "tools/options.h"
#include "tools/options/plan.h"

// Returns an option that does not apply to the plan in the C file; NULL if none is given.
static const char *other_plan(const options *opt) {
    const plan_options *own = opt->own;
    if (opt->compile.fast) return "--fast";
    if (opt->compile.tiles) return "--tiles";
    if (opt->compile.materialize) return "--materialize";
    if (opt->compile.float_storage) return "--float-storage";
    if (opt->compile.keep.count) return "--keep";
    if (opt->compile.device) return "--device";
    if (own->map) return "--map";
    if (opt->json) return "--json";
    if (opt->html) return "--html";
    if (own->pages) return "--pages";
    if (own->memory_csv) return "--memory-csv";
    return own->trace ? "--trace" : NULL;
}

// Prints a finding for everything that C cannot express. EXIT_OK if nothing is printed.
static int check_graph(qdq_graph *graph) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate_c(graph, &err);
    if (!report) return report_error(&err);
    if (!report->errors) return EXIT_OK;
    print_findings(stderr, report, NULL, LIST_ALL);
    return EXIT_REFUSED;
}

int emit_c(qdq_graph *graph, const options *opt) {
    const plan_options *own = opt->own;
    qdq_error err = {0};
    const char *other = other_plan(opt);
    if (other)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--emit-c writes a plan of its own, row-major and node by node; leave "
                            "out %s",
                            other);
    qdq_graph *deployed = qdq_graph_deployed(graph, opt->load.target, &err);
    if (!deployed) return report_error(&err);
    int code = check_graph(deployed);
    if (code == EXIT_OK && qdq_graph_write_c(deployed, own->emit_c, &err) != QDQ_OK)
        code = report_error(&err);
    qdq_graph_destroy(deployed);
    return code;
}
