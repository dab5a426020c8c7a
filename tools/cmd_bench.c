// SPDX-License-Identifier: Apache-2.0
// qdq bench: the median time of a run, and what it moves in that time.
#include <stdlib.h>

#include "tools/commands.h"
#include "tools/common.h"
#include "tools/session.h"

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef struct timing {
    double median, low, high;  // seconds; low and high are the quartiles
    size_t bytes;              // read and written by all steps
} timing;

static timing time_runs(session *s, double *seconds, size_t repeat) {
    for (size_t i = 0; i < repeat / 10 + 1; i++) qdq_exec_run(s->exec);
    for (size_t i = 0; i < repeat; i++) {
        double start = now();
        qdq_exec_run(s->exec);
        seconds[i] = now() - start;
    }
    qsort(seconds, repeat, sizeof *seconds, by_value);
    timing t = {seconds[repeat / 2], seconds[repeat / 4], seconds[repeat - 1 - repeat / 4], 0};
    for (size_t i = 0; i < qdq_plan_get_stats(s->plan).step_count; i++) {
        const qdq_plan_step *step = qdq_plan_get_step(s->plan, i);
        t.bytes += step->read_bytes + step->write_bytes;
    }
    return t;
}

static void print_timing(const options *opt, const timing *t, size_t repeat) {
    if (!opt->json) {
        printf("%s: median %.3f us of %zu runs (quartiles %.3f to %.3f), %zu bytes, %.2f GB/s\n",
               opt->operands.items[0], t->median * 1e6, repeat, t->low * 1e6, t->high * 1e6,
               t->bytes, (double)t->bytes / t->median * 1e-9);
        return;
    }
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "graph", opt->operands.items[0]);
    json_uint_key(&json, "runs", repeat);
    qdq_json_key(&json, "median_seconds");
    qdq_json_double(&json, t->median);
    qdq_json_key(&json, "quartile_seconds");
    qdq_json_begin_line(&json);
    qdq_json_double(&json, t->low);
    qdq_json_double(&json, t->high);
    qdq_json_end_array(&json);
    json_uint_key(&json, "bytes", t->bytes);
    json_end(&json);
}

int run_bench(const options *opt) {
    size_t repeat;
    session s;
    if (!options_number("repeat", opt->repeat, 1, 101, &repeat)) return EXIT_USAGE;
    options filled = *opt;
    if (!filled.fill) filled.fill = "1";
    int code = session_open(&s, &filled);
    double *seconds = code == EXIT_OK ? calloc(repeat, sizeof *seconds) : NULL;
    if (seconds) {
        timing t = time_runs(&s, seconds, repeat);
        print_timing(opt, &t, repeat);
    } else if (code == EXIT_OK) {
        fprintf(stderr, "qdq: no memory for %zu times\n", repeat);
        code = EXIT_LIMIT;
    }
    free(seconds);
    session_close(&s);
    return code;
}
