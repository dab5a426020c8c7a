// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of softmax, norms and reductions: numbers that a float dtype holds, running a
// graph in every mode, and how far a rounded result may be from the exact one.
#ifndef QDQ_TESTS_OPS_REDUCE_SLICES_MODEL_H
#define QDQ_TESTS_OPS_REDUCE_SLICES_MODEL_H

#include <float.h>
#include <math.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

//---- Numbers ----------------------------------------------------------------

static const qdq_dtype model_floats[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};

// Fraction digits of a normal number, and the exponents of the least and greatest one.
typedef struct model_format {
    int digits, least, greatest;
} model_format;

static inline model_format model_format_of(qdq_dtype dtype) {
    if (dtype == QDQ_FLOAT16) return (model_format){10, -14, 15};
    if (dtype == QDQ_BFLOAT16) return (model_format){7, -126, 127};
    return (model_format){23, -126, 127};
}

// Numbers of either sign with magnitudes from 2^least to 2^(most + 1), all of which the dtype
// holds.
static inline void model_fill(float *x, size_t n, qdq_dtype dtype, int least, int most,
                              uint64_t seed) {
    int digits = model_format_of(dtype).digits;
    for (size_t i = 0; i < n; i++) {
        uint64_t r = unit_random(&seed);
        int64_t mantissa =
            (int64_t)1 << digits | (int64_t)(r >> 20 & (((uint64_t)1 << digits) - 1));
        int exponent = least + (int)(r >> 8 & 0xFFF) % (most - least + 1);
        x[i] = (float)ldexp((double)mantissa, exponent - digits);
        if (r & 1) x[i] = -x[i];
    }
}

// Half the distance between neighbouring numbers at this magnitude.
static inline long double model_half_ulp(long double value, qdq_dtype dtype) {
    model_format format = model_format_of(dtype);
    int exponent = value == 0 ? format.least : ilogbl(value);
    if (exponent < format.least) exponent = format.least;
    return ldexpl(0.5L, exponent - format.digits);
}

// Checks that `got` is `want` rounded to the dtype; `slack` is how far a sum in double may be off.
static inline void model_check(float got, long double want, qdq_dtype dtype, long double slack,
                               const char *what, size_t index) {
    model_format format = model_format_of(dtype);
    long double top = ldexpl(2 - ldexpl(0.5L, -format.digits), format.greatest);
    bool fine = isnan(want)          ? isnan(got)
                : fabsl(want) >= top ? isinf(got) && (got > 0) == (want > 0)
                                     : fabsl((long double)got - want) <=
                                           model_half_ulp(want, dtype) * 1.0000001L + slack;
    if (!fine)
        fail_msg("%s[%zu] as %s: %.9g, want %.12Lg", what, index, qdq_dtype_name(dtype),
                 (double)got, want);
}

static inline void model_same_bits(const float *a, const float *b, size_t n, const char *what) {
    for (size_t i = 0; i < n; i++)
        if (((const uint32_t *)(const void *)a)[i] != ((const uint32_t *)(const void *)b)[i])
            fail_msg("%s[%zu]: %.9g and %.9g", what, i, (double)a[i], (double)b[i]);
}

//---- Slices -----------------------------------------------------------------

// Which slice an element belongs to. `within` is the mask of the dims that slices span; slices are
// numbered in row-major order of the other dims.
static inline size_t model_slice_of(qdq_shape shape, uint32_t within, size_t index) {
    size_t slice = 0, at[QDQ_MAX_RANK];
    for (int i = shape.rank; i-- > 0; index /= (size_t)shape.dims[i])
        at[i] = index % (size_t)shape.dims[i];
    for (int i = 0; i < shape.rank; i++)
        if (!(within >> i & 1)) slice = slice * (size_t)shape.dims[i] + at[i];
    return slice;
}

static inline size_t model_slice_count(qdq_shape shape, uint32_t within) {
    size_t count = 1;
    for (int i = 0; i < shape.rank; i++)
        if (!(within >> i & 1)) count *= (size_t)shape.dims[i];
    return count;
}

//---- Running ----------------------------------------------------------------

typedef struct model_tensor {
    const char *name;
    float *data;  // NULL: absent
    size_t n;
} model_tensor;

enum { MODEL_MOST = 8 };

// Runs ranges out of order, as several threads might.
static inline void model_ranges(void *self, size_t count,
                                void (*task)(void *context, size_t begin, size_t end),
                                void *context) {
    (void)self;
    size_t cuts[4] = {0, count / 3, count - count / 4, count};
    for (int i = 3; i-- > 0;)
        if (cuts[i] < cuts[i + 1]) task(context, cuts[i], cuts[i + 1]);
}

static inline void model_run_once(qdq_graph *g, const qdq_compile_options *options,
                                  qdq_parallel parallel, const model_tensor *inputs,
                                  const model_tensor *outputs, size_t count) {
    qdq_error err = {0};
    qdq_exec_options how = {.parallel = parallel, .poison = true};
    qdq_plan *plan = qdq_graph_compile(g, options, &err);
    qdq_exec *exec = qdq_exec_create(plan, &how, &err);
    if (!exec) fail_msg("%s", err.text);
    for (size_t i = 0; i < MODEL_MOST && inputs[i].name; i++)
        if (inputs[i].data &&
            qdq_exec_write(exec, inputs[i].name, QDQ_FLOAT32, inputs[i].data, inputs[i].n, &err))
            fail_msg("%s", err.text);
    qdq_exec_run(exec);
    for (size_t i = 0; i < count; i++)
        if (qdq_exec_read(exec, outputs[i].name, QDQ_FLOAT32, outputs[i].data, outputs[i].n, &err))
            fail_msg("%s", err.text);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
}

// Runs a graph fused, materialized, in out-of-order ranges, on threads and on every instruction
// set; all give the same bits. The lists of inputs and outputs end with an empty name. Destroys the
// graph.
static inline void model_run(qdq_graph *g, const model_tensor *inputs, const model_tensor *wanted) {
    static const qdq_compile_options ways[] = {
        {0},
        {.materialize = true},
        {0},
        {0},
        {.isa = "portable"},
#if defined(__x86_64__)
        {.isa = "avx2"},
#endif
    };
    model_tensor outputs[MODEL_MOST];
    size_t count = 0;
    for (size_t i = 0; i < MODEL_MOST && wanted[i].name; i++)
        if (wanted[i].data) outputs[count++] = wanted[i];
    for (size_t way = 0; way < UNIT_COUNT(ways); way++) {
        qdq_parallel parallel = {0};
        model_tensor again[MODEL_MOST];
        if (way == 2) parallel = (qdq_parallel){.run = model_ranges};
        if (way == 3) parallel = qdq_parallel_openmp(2), parallel.least = 1;
        memcpy(again, outputs, sizeof again);
        for (size_t i = 0; way && i < count; i++) again[i].data = calloc(again[i].n, sizeof(float));
        model_run_once(g, &ways[way], parallel, inputs, again, count);
        for (size_t i = 0; way && i < count; i++) {
            model_same_bits(outputs[i].data, again[i].data, again[i].n, outputs[i].name);
            free(again[i].data);
        }
    }
    qdq_graph_destroy(g);
}

// Checks the error of compiling a graph that is refused.
static inline void model_refused(qdq_graph *g, const char *sentence) {
    qdq_error err = {0};
    assert_null(qdq_graph_compile(g, NULL, &err));
    assert_string_equal(err.text, sentence);
    assert_int_equal(err.status, QDQ_ERR_GRAPH);
    qdq_graph_destroy(g);
}

#endif
