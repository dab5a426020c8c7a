// SPDX-License-Identifier: Apache-2.0
// Prints the times of `qdq bench` as JSON.
#include <qdq/inspect.h>

#include "tools/bench/bench.h"
#include "tools/common.h"

static void json_spread(qdq_json *json, const spread *s) {
    qdq_json_key(json, "median_seconds");
    qdq_json_double(json, s->median);
    qdq_json_key(json, "minimum_seconds");
    qdq_json_double(json, s->least);
    qdq_json_key(json, "quartile_seconds");
    qdq_json_begin_line(json);
    qdq_json_double(json, s->low);
    qdq_json_double(json, s->high);
    qdq_json_end_array(json);
}

static void json_rate(qdq_json *json, size_t bytes, double seconds) {
    qdq_json_key(json, "gb_per_second");
    qdq_json_double(json, bench_rate(bytes, seconds));
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
        double fraction = bench_fraction_of_limit(step, &bound);
        qdq_json_begin_object(json);
        json_uint_key(json, "step", step->index);
        json_string_key(json, "chain", qdq_plan_get_step(b->session.plan, step->index)->text);
        json_spread(json, &step->seconds);
        qdq_json_key(json, "share");
        qdq_json_double(json, step->share);
        json_uint_key(json, "bytes", step->bytes);
        json_uint_key(json, "operations", step->operations);
        json_string_key(json, "limit", bound);
        qdq_json_key(json, "fraction");
        qdq_json_double(json, fraction);
        qdq_json_key(json, "memory_seconds");
        qdq_json_double(json, step->memory_seconds);
        json_string_key(json, "level", step->level);
        qdq_json_key(json, "arithmetic_seconds");
        qdq_json_double(json, step->arithmetic_seconds);
        json_string_key(json, "arithmetic", step->arithmetic);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
    json_string_key(json, "isa", b->arithmetic.isa);
    qdq_json_key(json, "multiply_adds_per_second");
    qdq_json_begin_object(json);
    for (size_t i = 0; i < MULTIPLY_KINDS; i++) {
        if (!arithmetic_names[i] || b->rates[i] <= 0) continue;
        qdq_json_key(json, arithmetic_names[i]);
        qdq_json_double(json, b->rates[i]);
    }
    qdq_json_end_object(json);
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
    qdq_json_double(json, bench_ratio_to_best(b));
    json_string_key(json, "fastest_limit", b->limits.items[bench_best_limit(b)].name);
}

void bench_print_json(const bench *b) {
    const member *run = &b->members[RUN];
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "graph", b->opt->operands.items[0]);
    json_string_key(&json, "mode", bench_mode_name(b->opt->compile.fast));
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
        json_string_key(&json, "mode", bench_mode_name(!b->opt->compile.fast));
        json_spread(&json, &b->members[OTHER_MODE].spread);
        qdq_json_end_object(&json);
    }
    for (size_t i = 0; i < STAGES; i++) {
        qdq_json_key(&json, bench_stage_names[i]);
        qdq_json_begin_object(&json);
        json_spread(&json, &b->stage_spreads[i]);
        qdq_json_end_object(&json);
    }
    if (b->limits.count) json_limits(&json, b);
    json_end(&json);
}
