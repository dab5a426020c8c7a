// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of integer execution: runs a product of Dequantize results fast and
// literally, in every mode, and bounds the error of both against exact arithmetic.
#ifndef QDQ_TESTS_OPS_PRODUCTS_INTEGER_EXECUTION_H
#define QDQ_TESTS_OPS_PRODUCTS_INTEGER_EXECUTION_H

#include "tests/ops/products.h"

enum { CODES_MAX_CHANNELS = 64 };

// The parameters of an operand. `axis` -1: per tensor.
typedef struct code_params {
    qdq_dtype dtype;
    int axis;
    size_t count;
    float scales[CODES_MAX_CHANNELS];
    double zps[CODES_MAX_CHANNELS];
} code_params;

typedef enum code_scales { CODES_POWERS, CODES_RANDOM } code_scales;

// Zero points over the whole range, the first ones odd and near its ends. `middle`: all are the
// middle of the range, where the codes of symmetric weights have theirs.
static inline void codes_choose(code_params *p, code_scales scales, bool middle, uint64_t *seed) {
    int least = product_least(p->dtype), codes = product_codes(p->dtype);
    for (size_t i = 0; codes && i < p->count; i++) {
        uint64_t r = unit_random(seed) >> 20;
        p->zps[i] = least + (i == 0 ? 37 : (int)(r % 256)) % codes;
        if (i == 1) p->zps[i] = least + codes - 1;
        if (middle) p->zps[i] = least + codes / 2;
        p->scales[i] = scales == CODES_POWERS ? ldexpf(1, -4 - (int)(r >> 8 & 3))
                                              : 0.01f + (float)(r >> 8 & 0xFFFF) * 1e-7f;
        if (r >> 30 & 1) p->scales[i] = -p->scales[i];
    }
}

static inline double codes_less_zero(const code_params *p, const tensor *t, size_t at,
                                     size_t channel) {
    return tensor_at(t, at) - p->zps[p->count == 1 ? 0 : channel];
}

static inline double codes_scale(const code_params *p, size_t channel) {
    return (double)p->scales[p->count == 1 ? 0 : channel];
}

static inline qdq_dequantize_attrs codes_attrs(const code_params *p) {
    return (qdq_dequantize_attrs){.dtype = QDQ_FLOAT32,
                                  .qtype = p->axis < 0 ? QDQ_PER_TENSOR : QDQ_PER_CHANNEL,
                                  .axis = QDQ_INT(p->axis < 0 ? 0 : p->axis),
                                  .scales = {.data = p->scales, .count = p->count},
                                  .zps = {.data = p->zps, .count = p->count}};
}

// An element in double: the result, its sum of products without the bias, and the sum of their
// magnitudes. Sums of products of (code - zero point) are integers below 2^53, so they are exact;
// the product of two scales has 48 bits. That leaves two or three roundings to 53 bits.
typedef struct code_sum {
    double y, products, magnitudes;
} code_sum;

static inline void codes_add(code_sum *s, double a, double b) {
    s->products += a * b, s->magnitudes += fabs(a * b);
}

static inline void codes_scale_sum(code_sum *s, double a_scale, double b_scale, double bias) {
    s->products *= a_scale * b_scale, s->magnitudes *= fabs(a_scale * b_scale);
    s->y = s->products + bias;
}

typedef struct code_check {
    const char *what;
    const tensor *in;  // codes of a and b, and sometimes a bias
    product_build *build;
    const void *self;
    qdq_shape y;
    size_t depth;
    const code_sum *sums;
    bool powers;
} code_check;

// The total error of the results.
typedef struct code_errors {
    double integer, literal;
    size_t different;  // how many elements differ
} code_errors;

static inline bool codes_same_bits(const tensor *a, const tensor *b, size_t i) {
    return ((const uint32_t *)a->data)[i] == ((const uint32_t *)b->data)[i];
}

static inline void codes_same(const code_check *c, const char *how, const tensor *got,
                              const tensor *want) {
    for (size_t i = 0; i < tensor_count(want); i++)
        if (!codes_same_bits(got, want, i))
            fail_msg("%s: %s, element %zu of %zu: %.9g, not %.9g", c->what, how, i,
                     tensor_count(want), tensor_at(got, i), tensor_at(want, i));
}

// With u = 2^-24: integer execution rounds the product of the scales, the sum if it has more than
// 24 bits, and the product of both: 3u. A literal product rounds each operand and each fma: at most
// (K + 2) u for a term. A bias adds one rounding to each. The factor 1.01 covers the second-order
// terms.
static inline void codes_bounded(const code_check *c, const tensor *integer, const tensor *literal,
                                 code_errors *errors) {
    const double u = 0x1p-24 * 1.01;
    for (size_t i = 0; i < tensor_count(integer); i++) {
        const code_sum *s = &c->sums[i];
        double bias = fabs(s->y - s->products);
        double far = fabs(tensor_at(integer, i) - s->y), was = fabs(tensor_at(literal, i) - s->y);
        double most = 3 * u * fabs(s->products) + (bias > 0 ? u * fabs(s->y) : 0);
        double most_literal = (double)(c->depth + 3) * u * (s->magnitudes + bias);
        if (far > most) fail_msg("%s: element %zu is %g away, not %g", c->what, i, far, most);
        if (was > most_literal)
            fail_msg("%s: literal element %zu is %g away, not %g", c->what, i, was, most_literal);
        errors->integer += far, errors->literal += was;
        errors->different += !codes_same_bits(integer, literal, i);
    }
}

// Each of the two results has the same bits on every instruction set, on one thread and three, and
// with constant operands; the literal result also when materialized.
static inline code_errors codes_check(const code_check *c) {
    enum { OPERANDS = 3 };
    static const struct {
        int threads;
        unsigned constant;
    } ways[] = {{1, 0}, {1, ~1u}, {3, ~3u}, {3, ~0u}};
    code_errors errors = {0};
    tensor literal = tensor_of("literal", QDQ_FLOAT32, c->y), integer = literal, out = literal;
    integer.data = oracle_memory(tensor_count(&out) * 4);
    out.data = oracle_memory(tensor_count(&out) * 4);
    product_run_as(c->in, OPERANDS, 0, c->build, c->self, NULL, 1, &literal);
    product_run_as(c->in, OPERANDS, 0, c->build, c->self,
                   &(qdq_compile_options){.materialize = true}, 1, &out);
    codes_same(c, "materialized", &out, &literal);
    product_run_as(c->in, OPERANDS, 0, c->build, c->self, &(qdq_compile_options){.fast = true}, 1,
                   &integer);
    for (size_t isa = 0; qdq_isa_get(isa).name; isa++) {
        if (!qdq_isa_get(isa).available) continue;
        for (size_t way = 0; way < UNIT_COUNT(ways); way++) {
            qdq_compile_options options = {.isa = qdq_isa_get(isa).name, .fast = true};
            product_run_as(c->in, OPERANDS, ways[way].constant, c->build, c->self, &options,
                           ways[way].threads, &out);
            codes_same(c, options.isa, &out, &integer);
        }
    }
    if (c->powers) codes_same(c, "powers of two", &integer, &literal);
    codes_bounded(c, &integer, &literal, &errors);
    for (size_t i = 0; c->powers && i < tensor_count(&integer); i++)
        if (tensor_at(&integer, i) != (double)(float)c->sums[i].y)
            fail_msg("%s: element %zu is %.9g, not %.9g", c->what, i, tensor_at(&integer, i),
                     c->sums[i].y);
    free(literal.data), free(integer.data), free(out.data);
    return errors;
}

// Whether, with `fast`, a step of the plan computes on integers.
static inline bool codes_are_used(qdq_graph *g, const qdq_compile_options *options) {
    qdq_error err = {0};
    qdq_compile_options fast = options ? *options : (qdq_compile_options){0};
    fast.fast = true;
    qdq_plan *plan = qdq_graph_compile(g, &fast, &err);
    if (!plan) fail_msg("compile: %s", err.text);
    bool used = false;
    for (size_t i = 0; i < qdq_plan_get_stats(plan).step_count; i++)
        used |= strstr(qdq_plan_get_step(plan, i)->text, " on codes") != NULL;
    qdq_plan_destroy(plan);
    return used;
}

#endif
