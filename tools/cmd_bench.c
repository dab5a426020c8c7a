// SPDX-License-Identifier: Apache-2.0
// qdq bench: times a run, each of its steps, loading and compiling; compares a run with the limit
// of memory bandwidth.
#include <qdq/device_plan.h>
#include <qdq/inspect.h>
#include <stdlib.h>

#include "tools/bench/bench.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/input_shapes.h"
#include "tools/io/streams.h"
#include "tools/options/option_number.h"

// Timings of loading and compiling without --compile: they may take longer than all others.
enum { FEW = 3 };

//---- The timed work ---------------------------------------------------------

static void run_graph(member *self) {
    const session *s = self->context;
    qdq_exec_run(s->exec);
}

// Runs all steps in order, so that each finds the caches as in a complete run.
static void run_steps(member *self) {
    const bench *b = self->context;
    for (size_t i = 0; i < b->step_count; i++) {
        double start = now();
        qdq_exec_run_step(b->session.exec, i);
        double seconds = now() - start - b->clock_cost;
        b->step_seconds[i * b->repeat + self->sample] = seconds > 0 ? seconds : 0;
    }
}

static void run_stages(member *self) {
    bench *b = self->context;
    if (self->sample >= b->stage_repeat) return;
    double start = now();
    qdq_graph *graph = stream_read_graph(b->opt->operands.items[0], &b->graph_options, &b->err);
    double loaded = now();
    if (graph) qdq_plan_destroy(qdq_graph_compile(graph, &b->compile_options, &b->err));
    double compiled = now();
    qdq_graph_destroy(graph);
    b->stage_seconds[LOAD * b->repeat + self->sample] = loaded - start;
    b->stage_seconds[COMPILE * b->repeat + self->sample] = compiled - loaded;
}

static void do_nothing(member *self) { (void)self; }

static void run_pass(member *self) {
    const limit *l = self->context;
    l->run(l);
}

static void run_multiply_adds(member *self) { arithmetic_run(self->context); }

//---- Measuring --------------------------------------------------------------

static int no_memory(void) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for the times; use a smaller --repeat");
}

static void count_bytes(bench *b) {
    const qdq_plan *plan = b->session.plan;
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++)
        b->read_bytes += qdq_plan_input(plan, i)->bytes;
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++)
        b->write_bytes += qdq_plan_output(plan, i)->bytes;
    b->step_count = qdq_plan_get_stats(plan).step_count;
    b->step_bytes = qdq_plan_get_stats(plan).moved_bytes;
}

// Allocates `rows` rows of `repeat` times each.
static double *times_of(const bench *b, size_t rows) {
    return rows ? calloc(rows, b->repeat * sizeof(double)) : calloc(1, sizeof(double));
}

static void list_arithmetic(bench *b) {
    arithmetic_open(&b->arithmetic, b->compile_options.isa, b->session.exec_options.parallel);
    for (size_t i = 0; i < MULTIPLY_KINDS; i++) {
        arithmetic_pass *pass = &b->arithmetic.passes[i];
        if (pass->fn)
            b->members[FIRST_ARITHMETIC + i] =
                (member){.run = run_multiply_adds, .context = pass, .batch = 1};
    }
}

static bool list_members(bench *b) {
    for (size_t i = 0; i < MEMBERS; i++) b->members[i] = (member){.run = do_nothing, .batch = 1};
    b->members[RUN] = (member){.run = run_graph, .context = &b->session};
    b->members[STEPS] = (member){.run = run_steps, .context = b, .batch = 1};
    if (b->other.exec) b->members[OTHER_MODE] = (member){.run = run_graph, .context = &b->other};
    b->step_seconds = times_of(b, b->step_count);
    b->step_spreads = calloc(b->step_count + 1, sizeof *b->step_spreads);
    if (!b->step_seconds || !b->step_spreads) return false;
    b->members[LOAD_COMPILE] = (member){.run = run_stages, .context = b, .batch = 1};
    b->stage_seconds = times_of(b, STAGES);
    b->stage_repeat = b->own->compile || b->repeat < FEW ? b->repeat : FEW;
    if (!b->stage_seconds) return false;
    if (b->own->vs_copy && !limits_open(&b->limits, b->read_bytes, b->write_bytes,
                                        b->session.exec_options.parallel, b->compile_options.isa))
        return false;
    for (size_t i = 0; i < b->limits.count; i++)
        b->members[FIRST_LIMIT + i] = (member){.run = run_pass, .context = &b->limits.items[i]};
    if (b->own->steps) list_arithmetic(b);
    return true;
}

// Finds the slowest steps for --steps, after everything else is timed.
static bool find_slowest(bench *b) {
    for (size_t i = 0; i < MULTIPLY_KINDS; i++) {
        double seconds = b->members[FIRST_ARITHMETIC + i].spread.least;
        if (seconds > 0) b->rates[i] = b->arithmetic.passes[i].operations / seconds;
    }
    if (b->rates[MULTIPLY_BYTES] < b->rates[MULTIPLY_PAIRS])
        b->rates[MULTIPLY_BYTES] = b->rates[MULTIPLY_PAIRS];
    return slowest_find(&b->slowest, b->session.plan, b->step_spreads,
                        b->session.exec_options.parallel, b->compile_options.isa, b->rates);
}

static int measure_all(bench *b) {
    b->clock_cost = clock_cost();
    count_bytes(b);
    if (!list_members(b) || !measure(b->members, MEMBERS, b->repeat, b->opt->watch))
        return no_memory();
    if (b->err.status != QDQ_OK) return report_error(&b->err);
    for (size_t i = 0; i < b->step_count; i++)
        b->step_spreads[i] = spread_of(b->step_seconds + i * b->repeat, b->repeat);
    for (size_t i = 0; i < STAGES; i++)
        b->stage_spreads[i] = spread_of(b->stage_seconds + i * b->repeat, b->stage_repeat);
    if (b->own->steps && !find_slowest(b)) return no_memory();
    return EXIT_OK;
}

//---- Entry ------------------------------------------------------------------

static void release(bench *b) {
    for (size_t i = 0; i < MEMBERS; i++) free(b->members[i].seconds);
    free(b->step_seconds);
    free(b->step_spreads);
    free(b->stage_seconds);
    limits_close(&b->limits);
    session_close(&b->other);
    session_close(&b->session);
    input_shapes_release(&b->graph_options);
}

int run_bench(const options *opt) {
    bench b = {.opt = opt, .own = opt->own};
    options filled = *opt;
    if (!filled.fill) filled.fill = "1";
    if (!options_number("repeat", b.own->repeat, 1, 101, &b.repeat) ||
        !graph_options_of(opt, opt->operands.items[0], &b.graph_options) ||
        !compile_options_of(opt, &b.compile_options))
        return EXIT_USAGE;
    int code = session_open(&b.session, &filled);
    b.compile_options.parallel = b.session.exec_options.parallel;
    const qdq_compile_options *c = &b.compile_options;
    bool one_mode = c->materialize || c->layout == QDQ_PLAN_TILES || c->keep_all || c->keep_count ||
                    c->float_storage || qdq_plan_device(b.session.plan);
    if (code == EXIT_OK && !one_mode)
        code = session_open_mode(&b.other, &b.session, &filled, !opt->compile.fast);
    if (code == EXIT_OK) code = measure_all(&b);
    if (code == EXIT_OK && opt->json)
        bench_print_json(&b);
    else if (code == EXIT_OK)
        bench_print_text(&b);
    release(&b);
    return code;
}
