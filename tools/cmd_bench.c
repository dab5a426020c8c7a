// SPDX-License-Identifier: Apache-2.0
// qdq bench: times a run, each of its steps, loading and compiling; compares a run with the limit
// of memory bandwidth.
#include <qdq/device_plan.h>
#include <qdq/inspect.h>
#include <stdlib.h>

#include "tools/bench/bandwidth.h"
#include "tools/bench/measure.h"
#include "tools/bench/slowest.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/input_shapes.h"
#include "tools/io/streams.h"
#include "tools/options.h"
#include "tools/options/bench.h"
#include "tools/options/option_number.h"
#include "tools/session.h"

enum { RUN, STEPS, OTHER_MODE, LOAD_COMPILE, FIRST_LIMIT, MEMBERS = FIRST_LIMIT + MAX_LIMITS };
enum { LOAD, COMPILE, STAGES };
static const char *const stage_names[STAGES] = {"load", "compile"};

typedef struct bench {
    const options *opt;
    const bench_options *own;
    session session;
    session other;  // the other mode, fast or literal; without an exec if both are the same
    limits limits;  // empty without --vs-copy
    qdq_graph_options graph_options;
    qdq_compile_options compile_options;
    size_t repeat, step_count;
    size_t read_bytes, write_bytes, step_bytes;  // of inputs, of outputs, and moved by all steps
    double clock_cost;
    double *step_seconds;  // step_count x repeat
    spread *step_spreads;
    slowest slowest;        // empty without --steps
    double *stage_seconds;  // STAGES x repeat; NULL without --compile
    spread stage_spreads[STAGES];
    qdq_error err;  // of a stage that succeeded at first and then failed
    member members[MEMBERS];
} bench;

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

static bool list_members(bench *b) {
    for (size_t i = 0; i < MEMBERS; i++) b->members[i] = (member){.run = do_nothing, .batch = 1};
    b->members[RUN] = (member){.run = run_graph, .context = &b->session};
    b->members[STEPS] = (member){.run = run_steps, .context = b, .batch = 1};
    if (b->other.exec) b->members[OTHER_MODE] = (member){.run = run_graph, .context = &b->other};
    b->step_seconds = times_of(b, b->step_count);
    b->step_spreads = calloc(b->step_count + 1, sizeof *b->step_spreads);
    if (!b->step_seconds || !b->step_spreads) return false;
    if (b->own->compile) {
        b->members[LOAD_COMPILE] = (member){.run = run_stages, .context = b, .batch = 1};
        b->stage_seconds = times_of(b, STAGES);
        if (!b->stage_seconds) return false;
    }
    if (b->own->vs_copy &&
        !limits_open(&b->limits, b->read_bytes, b->write_bytes, b->session.exec_options.parallel))
        return false;
    for (size_t i = 0; i < b->limits.count; i++)
        b->members[FIRST_LIMIT + i] = (member){.run = run_pass, .context = &b->limits.items[i]};
    return true;
}

// Finds the slowest steps for --steps, after everything else is timed.
static bool find_slowest(bench *b) {
    double *medians = times_of(b, b->step_count);
    if (!medians) return false;
    for (size_t i = 0; i < b->step_count; i++) medians[i] = b->step_spreads[i].median;
    bool done = slowest_find(&b->slowest, b->session.plan, medians,
                             b->session.exec_options.parallel, b->compile_options.isa);
    free(medians);
    return done;
}

static int measure_all(bench *b) {
    b->clock_cost = clock_cost();
    count_bytes(b);
    if (!list_members(b) || !measure(b->members, MEMBERS, b->repeat, b->opt->watch))
        return no_memory();
    if (b->err.status != QDQ_OK) return report_error(&b->err);
    for (size_t i = 0; i < b->step_count; i++)
        b->step_spreads[i] = spread_of(b->step_seconds + i * b->repeat, b->repeat);
    for (size_t i = 0; b->stage_seconds && i < STAGES; i++)
        b->stage_spreads[i] = spread_of(b->stage_seconds + i * b->repeat, b->repeat);
    if (b->own->steps && !find_slowest(b)) return no_memory();
    return EXIT_OK;
}

//---- Printing ---------------------------------------------------------------

static double rate(size_t bytes, double seconds) {
    return seconds > 0 ? (double)bytes / seconds * 1e-9 : 0;
}

static double limit_rate(const bench *b, size_t i) {
    return rate(b->limits.items[i].bytes, b->members[FIRST_LIMIT + i].spread.median);
}

static size_t best_limit(const bench *b) {
    size_t best = 0;
    for (size_t i = 1; i < b->limits.count; i++)
        if (limit_rate(b, i) > limit_rate(b, best)) best = i;
    return best;
}

static double ratio_to_best(const bench *b) {
    double best = limit_rate(b, best_limit(b));
    double run = rate(b->read_bytes + b->write_bytes, b->members[RUN].spread.median);
    return best > 0 ? run / best : 0;
}

static void print_spread(const char *what, const spread *s) {
    printf("%s: median %.3f us (quartiles %.3f to %.3f)", what, s->median * 1e6, s->low * 1e6,
           s->high * 1e6);
}

static void print_rate(size_t bytes, double seconds) {
    printf(", %zu bytes, %.2f GB/s", bytes, rate(bytes, seconds));
}

static const char *mode_name(bool fast) { return fast ? "fast" : "literal"; }

static void print_steps(const bench *b) {
    for (size_t i = 0; i < b->step_count; i++) {
        const qdq_plan_step *step = qdq_plan_get_step(b->session.plan, i);
        printf("  step %zu", i);
        print_spread("", &b->step_spreads[i]);
        print_rate(step->read_bytes + step->write_bytes, b->step_spreads[i].median);
        printf("  %s\n", step->text);
    }
}

static double fraction_of_limit(const slow_step *step, const char **bound) {
    double least = slow_step_limit(step, bound);
    return step->seconds > 0 ? least / step->seconds : 0;
}

static void print_slowest(const bench *b) {
    for (size_t i = 0; i < b->slowest.count; i++) {
        const slow_step *step = &b->slowest.items[i];
        const char *bound;
        double fraction = fraction_of_limit(step, &bound);
        printf(
            "  step %zu: %.1f %%, median %.3f us, %zu bytes, %zu operations, %.2f of the limit of "
            "%s  %s\n",
            step->index, step->share * 100, step->seconds * 1e6, step->bytes, step->operations,
            fraction, bound, qdq_plan_get_step(b->session.plan, step->index)->text);
    }
    if (b->step_count > b->slowest.count)
        printf("  %zu more steps are faster\n", b->step_count - b->slowest.count);
}

static void print_text(const bench *b) {
    const member *run = &b->members[RUN];
    print_spread(b->opt->operands.items[0], &run->spread);
    print_rate(b->read_bytes + b->write_bytes, run->spread.median);
    printf(" in and out; all steps move %zu bytes, %.2f GB/s, %.2f times the necessary %zu\n",
           b->step_bytes, rate(b->step_bytes, run->spread.median),
           moved_over_necessary(b->session.plan),
           qdq_plan_get_stats(b->session.plan).necessary_bytes);
    if (b->own->steps)
        print_slowest(b);
    else
        print_steps(b);
    if (b->other.exec) {
        printf("  other mode, %s", mode_name(!b->opt->compile.fast));
        print_spread("", &b->members[OTHER_MODE].spread);
        printf("\n");
    }
    for (size_t i = 0; b->stage_seconds && i < STAGES; i++) {
        printf("  ");
        print_spread(stage_names[i], &b->stage_spreads[i]);
        printf("\n");
    }
    for (size_t i = 0; i < b->limits.count; i++) {
        const member *m = &b->members[FIRST_LIMIT + i];
        printf("  ");
        print_spread(b->limits.items[i].name, &m->spread);
        print_rate(b->limits.items[i].bytes, m->spread.median);
        printf("\n");
    }
    if (b->limits.count)
        printf("  the run has %.2f of the rate of the fastest, %s\n", ratio_to_best(b),
               b->limits.items[best_limit(b)].name);
}

static void json_spread(qdq_json *json, const spread *s) {
    qdq_json_key(json, "median_seconds");
    qdq_json_double(json, s->median);
    qdq_json_key(json, "quartile_seconds");
    qdq_json_begin_line(json);
    qdq_json_double(json, s->low);
    qdq_json_double(json, s->high);
    qdq_json_end_array(json);
}

static void json_rate(qdq_json *json, size_t bytes, double seconds) {
    qdq_json_key(json, "gb_per_second");
    qdq_json_double(json, rate(bytes, seconds));
}

static void json_steps(qdq_json *json, const bench *b) {
    qdq_json_key(json, "steps");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < b->step_count; i++) {
        const qdq_plan_step *step = qdq_plan_get_step(b->session.plan, i);
        qdq_json_begin_object(json);
        json_string_key(json, "chain", step->text);
        json_spread(json, &b->step_spreads[i]);
        json_uint_key(json, "bytes", step->read_bytes + step->write_bytes);
        json_rate(json, step->read_bytes + step->write_bytes, b->step_spreads[i].median);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

static void json_slowest(qdq_json *json, const bench *b) {
    qdq_json_key(json, "slowest");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < b->slowest.count; i++) {
        const slow_step *step = &b->slowest.items[i];
        const char *bound;
        double fraction = fraction_of_limit(step, &bound);
        qdq_json_begin_object(json);
        json_uint_key(json, "step", step->index);
        json_string_key(json, "chain", qdq_plan_get_step(b->session.plan, step->index)->text);
        qdq_json_key(json, "median_seconds");
        qdq_json_double(json, step->seconds);
        qdq_json_key(json, "share");
        qdq_json_double(json, step->share);
        json_uint_key(json, "bytes", step->bytes);
        json_uint_key(json, "operations", step->operations);
        json_string_key(json, "limit", bound);
        qdq_json_key(json, "fraction");
        qdq_json_double(json, fraction);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

static void json_limits(qdq_json *json, const bench *b) {
    qdq_json_key(json, "limits");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < b->limits.count; i++) {
        const spread *s = &b->members[FIRST_LIMIT + i].spread;
        qdq_json_begin_object(json);
        json_string_key(json, "name", b->limits.items[i].name);
        json_spread(json, s);
        json_uint_key(json, "bytes", b->limits.items[i].bytes);
        json_rate(json, b->limits.items[i].bytes, s->median);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
    qdq_json_key(json, "ratio");
    qdq_json_double(json, ratio_to_best(b));
    json_string_key(json, "fastest_limit", b->limits.items[best_limit(b)].name);
}

static void print_json(const bench *b) {
    const member *run = &b->members[RUN];
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "graph", b->opt->operands.items[0]);
    json_string_key(&json, "mode", mode_name(b->opt->compile.fast));
    json_uint_key(&json, "runs", b->repeat * run->batch);
    json_uint_key(&json, "timings", b->repeat);
    json_spread(&json, &run->spread);
    json_uint_key(&json, "bytes", b->step_bytes);
    json_traffic(&json, b->session.plan);
    json_uint_key(&json, "input_bytes", b->read_bytes);
    json_uint_key(&json, "output_bytes", b->write_bytes);
    json_rate(&json, b->read_bytes + b->write_bytes, run->spread.median);
    json_steps(&json, b);
    if (b->own->steps) json_slowest(&json, b);
    if (b->other.exec) {
        qdq_json_key(&json, "other_mode");
        qdq_json_begin_object(&json);
        json_string_key(&json, "mode", mode_name(!b->opt->compile.fast));
        json_spread(&json, &b->members[OTHER_MODE].spread);
        qdq_json_end_object(&json);
    }
    for (size_t i = 0; b->stage_seconds && i < STAGES; i++) {
        qdq_json_key(&json, stage_names[i]);
        qdq_json_begin_object(&json);
        json_spread(&json, &b->stage_spreads[i]);
        qdq_json_end_object(&json);
    }
    if (b->limits.count) json_limits(&json, b);
    json_end(&json);
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
        print_json(&b);
    else if (code == EXIT_OK)
        print_text(&b);
    release(&b);
    return code;
}
