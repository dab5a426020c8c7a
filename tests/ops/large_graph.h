// SPDX-License-Identifier: Apache-2.0
// Runs a graph of large tensors in every mode: thread counts, units out of order, in tiles,
// fast, bfloat16 storage, instruction sets. Each must give the wanted numbers bit for bit.
#ifndef QDQ_TESTS_OPS_LARGE_GRAPH_H
#define QDQ_TESTS_OPS_LARGE_GRAPH_H

#include "large_numbers.h"

//---- Cases ------------------------------------------------------------------

enum { LARGE_INPUTS = 72, LARGE_OUTPUTS = 8 };

// A graph, its inputs, and the outputs it must have.
typedef struct large_graph {
    char what[256];
    qdq_graph *graph;
    tensor in[LARGE_INPUTS], want[LARGE_OUTPUTS];
    size_t in_count, want_count;
    char names[LARGE_INPUTS + LARGE_OUTPUTS][12];
    // all values are bfloat16 numbers, so that bfloat16 storage changes nothing
    bool short_numbers;
    const char *target;  // NULL: core
} large_graph;

static inline void large_graph_begin(large_graph *c, const char *what) {
    memset(c, 0, sizeof *c);
    snprintf(c->what, sizeof c->what, "%s", what);
    c->graph = qdq_graph_create("large", NULL);
}

// Appends to the name of the case, as in "SoftMax [3, 5, 4099] float32".
static inline void large_say(large_graph *c, const char *text, qdq_shape shape, qdq_dtype dtype) {
    size_t at = strlen(c->what), size = sizeof c->what;
    at += (size_t)snprintf(c->what + at, size - at, "%s[", text);
    for (int i = 0; i < shape.rank && at < size; i++)
        at += (size_t)snprintf(c->what + at, size - at, "%s%lld", i ? ", " : "",
                               (long long)shape.dims[i]);
    if (at < size) snprintf(c->what + at, size - at, "] %s", qdq_dtype_name(dtype));
}

// Adds an input; the caller fills in its data through *data.
static inline qdq_value large_input(large_graph *c, qdq_dtype dtype, qdq_shape shape,
                                    tensor **data) {
    char *name = c->names[c->in_count];
    assert_true(c->in_count < LARGE_INPUTS);
    snprintf(name, sizeof c->names[0], "in%zu", c->in_count);
    *data = &c->in[c->in_count++];
    **data = tensor_of(name, dtype, shape);
    return qdq_input(c->graph, name, dtype, shape);
}

// Adds an output that must equal `want`; the case owns the data of `want`.
static inline void large_output(large_graph *c, qdq_value v, tensor want) {
    char *name = c->names[LARGE_INPUTS + c->want_count];
    assert_true(c->want_count < LARGE_OUTPUTS);
    snprintf(name, sizeof c->names[0], "out%zu", c->want_count);
    want.name = name;
    c->want[c->want_count++] = want;
    qdq_output(c->graph, name, v);
}

//---- Modes ------------------------------------------------------------------

typedef struct large_way {
    const char *name;
    int threads;
    bool out_of_order, tiles, materialize, fast, as_bfloat16;
} large_way;

static const large_way large_ways[] = {
    {.name = "1 thread", .threads = 1},
    {.name = "2 threads", .threads = 2},
    {.name = "3 threads", .threads = 3},
    {.name = "out of order", .out_of_order = true},
    {.name = "fast", .threads = 1, .fast = true},
    {.name = "fast, 2 threads", .threads = 2, .fast = true},
    {.name = "fast, 3 threads", .threads = 3, .fast = true},
    {.name = "in tiles", .threads = 1, .tiles = true},
    {.name = "in tiles, 3 threads", .threads = 3, .tiles = true},
    {.name = "materialized", .threads = 1, .materialize = true},
    {.name = "materialized, 2 threads", .threads = 2, .materialize = true},
    {.name = "materialized, 3 threads", .threads = 3, .materialize = true},
    {.name = "stored as bfloat16", .threads = 3, .tiles = true, .as_bfloat16 = true},
};

enum { LARGE_MOST_WAYS = UNIT_COUNT(large_ways) };

// A parallel runner with more parts than any machine has threads, the last part first. Parts have
// ceil(count / 7) units, so that the last may be empty, and begin at the end or beyond it.
static inline void large_ranges(void *self, size_t count,
                                void (*task)(void *context, size_t begin, size_t end),
                                void *context) {
    size_t parts = 7, most = (count + parts - 1) / parts;
    (void)self;
    for (size_t i = parts; i-- > 0;)
        task(context, i * most, (i + 1) * most < count ? (i + 1) * most : count);
}

static inline void large_compare(const large_graph *c, const tensor *want, const tensor *got,
                                 const char *isa, const large_way *way, uint64_t seed) {
    size_t size = qdq_dtype_size(want->dtype), n = tensor_count(want);
    if (memcmp(want->data, got->data, n * size) == 0) return;
    for (size_t i = 0; i < n; i++)
        if (memcmp((char *)want->data + i * size, (char *)got->data + i * size, size) != 0)
            fail_msg("%s: %s, %s, %s element %zu of %zu: got %.9g, want %.9g; "
                     "QDQ_SEED=%llu QDQ_RANDOM=1 repeats a random case",
                     c->what, isa ? isa : "best", way->name, want->name, i, n, tensor_at(got, i),
                     tensor_at(want, i), (unsigned long long)seed);
}

static inline void large_run_once(const large_graph *c, const char *isa, const large_way *way,
                                  uint64_t seed) {
    enum { MOST = 1 << 29 };
    qdq_error err = {0};
    qdq_compile_options options = {.target = c->target,
                                   .isa = isa,
                                   .layout = way->tiles         ? QDQ_PLAN_TILES
                                             : way->materialize ? QDQ_PLAN_DEFAULT
                                                                : QDQ_PLAN_ROWS,
                                   .materialize = way->materialize,
                                   .fast = way->fast,
                                   .float_storage =
                                       way->as_bfloat16 ? QDQ_FLOAT_BFLOAT16 : QDQ_FLOAT_DECLARED};
    qdq_exec_options run = {.poison = true, .parallel = qdq_parallel_openmp(way->threads)};
    if (way->out_of_order) run.parallel.run = large_ranges;
    run.parallel.least = 1;
    options.parallel = run.parallel;
    qdq_plan *plan = qdq_graph_compile(c->graph, &options, &err);
    if (!plan) fail_msg("%s: %s", c->what, err.text);
    if (qdq_plan_get_stats(plan).arena_bytes > MOST) {
        // Tiles pad dims of a few elements to 32.
        if (options.layout == QDQ_PLAN_ROWS)
            fail_msg("%s: %s takes too much memory; seed %llu", c->what, way->name,
                     (unsigned long long)seed);
        qdq_plan_destroy(plan);
        return;
    }
    qdq_exec *exec = qdq_exec_create(plan, &run, &err);
    if (!exec) fail_msg("%s: %s", c->what, err.text);
    tensor got[LARGE_OUTPUTS];
    for (size_t i = 0; i < c->in_count; i++)
        if (qdq_exec_bind(exec, c->in[i].name, c->in[i].data,
                          tensor_count(&c->in[i]) * qdq_dtype_size(c->in[i].dtype), &err))
            fail_msg("%s: %s", c->what, err.text);
    for (size_t i = 0; i < c->want_count; i++) {
        size_t bytes = tensor_count(&c->want[i]) * qdq_dtype_size(c->want[i].dtype);
        got[i] = tensor_of(c->want[i].name, c->want[i].dtype, c->want[i].shape);
        memset(got[i].data, 0xA5, bytes);
        if (qdq_exec_bind(exec, got[i].name, got[i].data, bytes, &err))
            fail_msg("%s: %s", c->what, err.text);
    }
    qdq_exec_run(exec);
    for (size_t i = 0; i < c->want_count; i++)
        large_compare(c, &c->want[i], &got[i], isa, way, seed);
    tensors_free(got, c->want_count);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
}

// Runs all modes with the best instruction set and one mode with each other instruction set, then
// destroys the case. Messages name `seed`, which repeats it.
static inline void large_graph_check(large_graph *c, uint64_t seed) {
    size_t ways = UNIT_COUNT(large_ways) - !c->short_numbers;
    for (size_t w = 0; w < ways; w++)
        if (!unit_left_out(seed * LARGE_MOST_WAYS + w))
            large_run_once(c, NULL, &large_ways[w], seed);
    for (size_t isa = 0; qdq_isa_get(isa).name; isa++) {
        const char *name = qdq_isa_get(isa).name;
        if (!qdq_isa_get(isa).available) continue;
        large_run_once(c, name, &large_ways[(seed + isa) % ways], seed);
    }
    tensors_free(c->in, c->in_count), tensors_free(c->want, c->want_count);
    qdq_graph_destroy(c->graph);
}

#endif
