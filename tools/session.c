// SPDX-License-Identifier: Apache-2.0
// Loads, compiles and runs a graph for run, bench and compare.
#include "tools/session.h"

#include <qdq/device_plan.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/findings.h"
#include "tools/io/inputs.h"
#include "tools/io/watch.h"
#include "tools/options.h"
#include "tools/options/option_number.h"
#include "tools/spill.h"

// True if OpenMP binds the thread of main() to a processor, which one of these variables requests.
// Threads that main() starts would then stay on this processor too.
static bool openmp_binds_threads(void) {
    const char *names[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) return true;
    return false;
}

static int start_threads(session *s, int count, const options *opt) {
    qdq_error err = {0};
    bool bound = openmp_binds_threads();
    s->exec_options.allocator = &opt->memory->allocator;
    s->threads = bound ? NULL : qdq_threads_create(count, NULL, &err);
    s->exec_options.parallel =
        bound ? qdq_parallel_openmp(count) : qdq_parallel_threads(s->threads);
    if (opt->spill) s->exec_options.parallel = spill_parallel(opt->spill, s->exec_options.parallel);
    // A build without threads runs on this one.
    bool alone = err.status == QDQ_ERR_UNSUPPORTED;
    return bound || s->threads || alone ? EXIT_OK : report_error(&err);
}

int session_start(session *s, const options *opt) {
    return session_start_as(s, opt, opt->load.target);
}

int session_load(session *s, const options *opt) {
    int code;
    size_t threads;
    *s = (session){0};
    if (!options_number("threads", opt->threads, 1, 0, &threads)) return EXIT_USAGE;
    s->graph = load_graph(opt->operands.items[0], opt, &code);
    return s->graph ? start_threads(s, threads > 1024 ? 1024 : (int)threads, opt) : code;
}

int session_compile(session *s, const options *opt, const char *target) {
    int code;
    options compile = *opt;
    compile.load.target = target;
    qdq_error err = {0};
    s->plan = compile_graph(s->graph, &compile, s->exec_options.parallel, &s->report, &code);
    if (!s->plan) return code;
    s->exec = qdq_exec_create(s->plan, &s->exec_options, &err);
    return s->exec ? EXIT_OK : report_error(&err);
}

int session_compile_told(session *s, const options *opt, const char *target) {
    qdq_error err = {0};
    const qdq_compile_options compile = {.target = target,
                                         .layout = QDQ_PLAN_ROWS,
                                         .isa = isa_of(opt),
                                         .device = qdq_device_find("none", NULL),
                                         .parallel = s->exec_options.parallel};
    s->plan = qdq_graph_compile(s->graph, &compile, &err);
    s->exec = qdq_exec_create(s->plan, &s->exec_options, &err);
    return s->exec ? EXIT_OK : report_error(&err);
}

int session_start_as(session *s, const options *opt, const char *target) {
    int code = session_load(s, opt);
    return code == EXIT_OK ? session_compile(s, opt, target) : code;
}

bool session_core_refuses(const session *s) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate(s->graph, "core", &err);
    if (!report || !report->errors) return false;
    const qdq_compile_options core = {.target = "core"};
    qdq_plan_destroy(qdq_graph_compile(s->graph, &core, &err));  // fails, and says why
    return err.status == QDQ_ERR_UNSUPPORTED;
}

const char *session_core_or(const session *s, const char *target) {
    if (!session_core_refuses(s)) return "core";
    return target ? target : qdq_graph_target(s->graph);
}

int session_start_nodes(session *s, const options *opt, const char *target) {
    int code = session_load(s, opt);
    if (code != EXIT_OK) return code;
    const char *own = target ? target : qdq_graph_target(s->graph);
    if (session_core_refuses(s)) return session_compile(s, opt, own);
    code = session_compile_told(s, opt, "core");
    if (code != EXIT_OK) return code;
    qdq_error err = {0};
    s->report = qdq_graph_validate_on(s->graph, own, device_for(opt, own), &err);
    if (!s->report) return report_error(&err);
    print_findings(stderr, s->report, "core", LIST_BRIEFLY);
    return EXIT_OK;
}

int session_open(session *s, const options *opt) {
    int code = session_start(s, opt);
    return code == EXIT_OK ? give_inputs(s->graph, s->plan, s->exec, opt) : code;
}

int session_open_mode(session *s, const session *of, const options *opt, bool fast) {
    qdq_compile_options compile;
    qdq_error err = {0};
    *s = (session){.exec_options = of->exec_options};
    if (!compile_options_of(opt, &compile)) return EXIT_USAGE;
    compile.fast = fast;
    compile.parallel = s->exec_options.parallel;
    if (of->plan && !qdq_plan_device(of->plan)) compile.device = qdq_device_find("none", NULL);
    s->plan = qdq_graph_compile(of->graph, &compile, &err);
    s->exec = qdq_exec_create(s->plan, &s->exec_options, &err);
    return s->exec ? give_inputs(of->graph, s->plan, s->exec, opt) : report_error(&err);
}

void session_free_inputs(const session *s, void **inputs) {
    for (size_t i = 0; inputs && i < qdq_plan_input_count(s->plan); i++) elements_free(inputs[i]);
    free(inputs);
}

void **session_bind_inputs(const session *s, int *code) {
    size_t count = qdq_plan_input_count(s->plan);
    void **inputs = calloc(count + 1, sizeof *inputs);
    qdq_error err = {0};
    bool bound = inputs != NULL;
    for (size_t i = 0; bound && i < count; i++) {
        const qdq_tensor_info *info = qdq_plan_input(s->plan, i);
        inputs[i] = elements_take(s->exec_options.allocator, info->bytes);
        if (inputs[i]) memset(inputs[i], 0, info->bytes);
        bound = inputs[i] && qdq_exec_bind(s->exec, info->name, inputs[i], info->bytes, &err) == 0;
    }
    *code = bound ? EXIT_OK : tell_failure(QDQ_ERR_MEMORY, "no memory for the inputs");
    if (bound) return inputs;
    session_free_inputs(s, inputs);
    return NULL;
}

void **session_take_inputs(session *s, const options *opt, int *code) {
    void **inputs = session_bind_inputs(s, code);
    if (!inputs) return NULL;
    *code = give_inputs(s->graph, s->plan, s->exec, opt);
    if (*code == EXIT_OK) return inputs;
    session_free_inputs(s, inputs);
    return NULL;
}

void session_run(const session *s, const options *opt) {
    size_t steps = qdq_plan_get_stats(s->plan).step_count;
    if (!watch_shows(opt->watch)) {
        qdq_exec_run(s->exec);
        return;
    }
    for (size_t i = 0; i < steps; i++) {
        if (s->graph)
            watch_tell(opt->watch, "step %zu of %zu, %s", i + 1, steps,
                       opt->load.target ? opt->load.target : qdq_graph_target(s->graph));
        else
            watch_tell(opt->watch, "step %zu of %zu", i + 1, steps);
        qdq_exec_run_step(s->exec, i);
    }
    watch_clear(opt->watch);
}

void session_close(session *s) {
    qdq_exec_destroy(s->exec);
    qdq_threads_destroy(s->threads);
    qdq_plan_destroy(s->plan);
    qdq_graph_destroy(s->graph);
}
