// SPDX-License-Identifier: Apache-2.0
// Runs a case of onednn_cases.h in the library with target `onednn`.
#ifndef QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_RUN_H
#define QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_RUN_H

#include "tests/graph/targets/onednn/onednn_model.h"

static const qdq_compile_options onednn_fused = {.target = "onednn"};
static const qdq_compile_options onednn_tiles = {.target = "onednn", .materialize = true};

// A graph and the memory bound to its inputs.
typedef struct onednn_job {
    qdq_graph *graph;
    oracle_bound bound[8];
    size_t count;
} onednn_job;

static inline onednn_job job_make(void) {
    return (onednn_job){.graph = qdq_graph_create("onednn", NULL)};
}

static inline void job_free(onednn_job *job) {
    for (size_t i = 0; i < job->count; i++) free(job->bound[i].data);
    qdq_graph_destroy(job->graph);
}

static inline void *job_bind(onednn_job *job, const char *name, size_t bytes) {
    oracle_bound *b = &job->bound[job->count++];
    snprintf(b->name, sizeof b->name, "%s", name);
    b->bytes = bytes, b->data = oracle_memory(bytes);
    return b->data;
}

// A tensor with these codes, as an input or a constant.
static inline qdq_value job_tensor(onednn_job *job, const char *name, onednn_type type,
                                   qdq_shape shape, const uint32_t *codes, bool constant) {
    size_t count = qdq_shape_count(shape), size = onednn_size(type);
    qdq_dtype dtype = onednn_dtypes[type].dtype;
    char *data = job_bind(job, name, count * size);
    for (size_t i = 0; i < count; i++) memcpy(data + i * size, &codes[i], size);
    if (!constant) return qdq_input(job->graph, name, dtype, shape);
    qdq_value value = qdq_constant(job->graph, name, dtype, shape, data);
    free(data);
    job->count--;
    return value;
}

// Runs the job and returns y: `count` elements of `type`, as codes.
static inline uint32_t *job_run(onednn_job *job, const qdq_compile_options *options,
                                onednn_type type, size_t count) {
    size_t size = onednn_size(type);
    char *data = job_bind(job, "y", count * size);
    memset(data, 0x55, count * size);
    oracle_run(job->graph, options, job->bound, job->count);
    uint32_t *y = oracle_memory(count * sizeof *y);
    memset(y, 0, count * sizeof *y);
    for (size_t i = 0; i < count; i++) memcpy(&y[i], data + i * size, size);
    free(data);
    job->count--;
    return y;
}

// Whether the target accepts the graph. Any other error fails the test.
static inline bool job_is_taken(const onednn_job *job) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(job->graph, &onednn_fused, &err);
    if (plan) qdq_plan_destroy(plan);
    if (!plan && err.status != QDQ_ERR_UNSUPPORTED) fail_msg("compile: %s", err.text);
    return plan != NULL;
}

//---- A case -----------------------------------------------------------------

static inline qdq_shape case_parameter_shape(const onednn_case *c) {
    if (c->batch.kind != ONEDNN_GROUPS) return QDQ_SHAPE((int64_t)c->parameters);
    return QDQ_SHAPE((int64_t)c->rows, (int64_t)(c->cols / c->span));
}

// In attributes for the static ops; in ports otherwise, as inputs or, where allowed, constants.
static inline void case_parameters(const onednn_case *c, onednn_job *job, bool constant,
                                   float *scales, double *zp, qdq_quantize_attrs *a) {
    if (c->batch.op == ONEDNN_QUANTIZE || c->batch.op == ONEDNN_DEQUANTIZE) {
        for (size_t i = 0; i < c->parameters; i++) scales[i] = onednn_float(c->scales[i]);
        a->scales = (qdq_floats){scales, c->parameters, constant && c->parameters == 1};
        *zp = c->zps[0];
        if (c->zp_type != ONEDNN_NONE) a->zps = (qdq_numbers){zp, 1, constant};
        return;
    }
    if (c->batch.kind == ONEDNN_ODD) constant = false;  // constants with these scales are refused
    qdq_shape shape = case_parameter_shape(c);
    a->scale = job_tensor(job, "s", c->scale_type, shape, c->scales, constant);
    const uint32_t *zps = (const uint32_t *)(const void *)c->zps;
    if (c->zp_type != ONEDNN_NONE)
        a->zero_point = job_tensor(job, "z", c->zp_type, shape, zps, constant);
}

// The graph of a case, x -> y, with its data.
static inline onednn_job case_job(const onednn_case *c, bool constant) {
    onednn_job job = job_make();
    int64_t group[2] = {1, (int64_t)c->span};
    float *scales = oracle_memory(c->parameters * sizeof *scales);
    double zp;
    qdq_quantize_attrs a = {.dtype = onednn_dtypes[c->batch.to].dtype};
    if (c->batch.kind == ONEDNN_GROUPS)
        a.qtype = QDQ_PER_GROUP, a.group_shape = (qdq_ints){group, 2};
    else if (c->parameters > 1)
        a.qtype = QDQ_PER_CHANNEL, a.axis = QDQ_INT(0);
    qdq_shape shape = QDQ_SHAPE((int64_t)c->rows, (int64_t)c->cols);
    qdq_value x = job_tensor(&job, "x", c->batch.from, shape, c->x, false), y;
    case_parameters(c, &job, constant, scales, &zp, &a);
    if (c->batch.op == ONEDNN_DYNAMIC_QUANTIZE)
        y = qdq_dynamic_quantize(job.graph, x, (qdq_dynamic_quantize_attrs){.quantize = a});
    else if (c->batch.op == ONEDNN_QUANTIZE)
        y = qdq_quantize(job.graph, x, a);
    else
        y = qdq_dequantize(job.graph, x, a);
    qdq_output(job.graph, "y", y);
    free(scales);
    return job;
}

// The codes that the library gives for case `number` of its batch. Every fourth case also runs in
// tiles, with the same bits; every third one has constant parameters.
static inline uint32_t *case_run(const onednn_case *c, size_t number) {
    onednn_job job = case_job(c, number % 3 == 1);
    uint32_t *y = job_run(&job, &onednn_fused, c->batch.to, c->count);
    if (number % 4 == 0) {
        uint32_t *tiles = job_run(&job, &onednn_tiles, c->batch.to, c->count);
        assert_memory_equal(y, tiles, c->count * sizeof *y);
        free(tiles);
    }
    job_free(&job);
    return y;
}

// Fails at the first element of y that differs from the model.
static inline void case_check(const onednn_case *c, size_t number, const uint32_t *y) {
    uint32_t *wanted = model_run(c);
    for (size_t i = 0; i < c->count; i++) {
        uint32_t got = onednn_canonical(c, i, y[i]), want = onednn_canonical(c, i, wanted[i]);
        if (got == want) continue;
        size_t at = i / c->span;
        fail_msg("op %d, %s to %s, scales %d, case %zu, element %zu: x %#x (%a), scale %#x (%a), "
                 "zero point %d: got %#x, want %#x",
                 c->batch.op, qdq_dtype_name(onednn_dtypes[c->batch.from].dtype),
                 qdq_dtype_name(onednn_dtypes[c->batch.to].dtype), c->batch.kind, number, i,
                 c->x[i], model_value(c->batch.from, c->x[i]), c->scales[at],
                 model_value(c->scale_type, c->scales[at]), c->zps[at], got, want);
    }
    free(wanted);
}

#endif
