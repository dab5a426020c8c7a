// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of large products and convolutions. All operands are small integers, so the
// wanted results are exact; a graph is run with several instruction sets, thread counts and
// constant operands, which must all give these results.
#ifndef QDQ_TESTS_OPS_PRODUCTS_LARGE_PRODUCTS_H
#define QDQ_TESTS_OPS_PRODUCTS_LARGE_PRODUCTS_H

#include "tests/ops/large_numbers.h"

// The zero point of quantized results.
enum { LARGE_ZERO = 3 };

//---- Operands ---------------------------------------------------------------

// Which operands a product has: floats, integers, integers with scales (QLinear), two Dequantize
// results (CODES), or a float and a Dequantize result (WEIGHTS).
typedef enum large_kind { FLOATS, INTEGERS, QLINEAR, CODES, WEIGHTS } large_kind;
typedef enum large_blocks { PER_TENSOR, PER_COLUMN, PER_BLOCK } large_blocks;

#define F32 QDQ_FLOAT32
#define F16 QDQ_FLOAT16
#define BF16 QDQ_BFLOAT16
#define I8 QDQ_INT8
#define U8 QDQ_UINT8

static inline bool large_is_integer(large_kind kind) { return kind == INTEGERS || kind == QLINEAR; }

// A small integer as a float, or a code at most `reach` from its zero point.
static inline int large_number(uint64_t *state, qdq_dtype dtype, int zero, int reach) {
    int codes = product_codes(dtype), least = product_least(dtype);
    if (!codes) return (int)large_pick(state, 8) - 4;
    int low = zero - reach < least ? least : zero - reach;
    int high = zero + reach > least + codes - 1 ? least + codes - 1 : zero + reach;
    return low + (int)large_pick(state, 1 + (size_t)((int64_t)high - low));
}

// The least power of two that, as a scale, brings the largest of the numbers to at most `most`.
static inline float large_fitting(const int32_t *numbers, size_t count, double most) {
    double largest = 1;
    for (size_t i = 0; i < count; i++)
        if (abs(numbers[i]) > largest) largest = abs(numbers[i]);
    return ldexpf(1, (int)ceil(log2(largest / most)));
}

// clamp(rne(sum * scale) + LARGE_ZERO), where `scale` is a power of two.
static inline double large_requantized(qdq_dtype dtype, int32_t sum, float scale) {
    double q = rint((double)((float)sum * scale)) + LARGE_ZERO;
    int least = product_least(dtype), most = least + product_codes(dtype) - 1;
    return q < least ? least : q > most ? most : q;
}

//---- Exact results ----------------------------------------------------------

// Rounds to `digits` binary digits, ties to even.
static inline int64_t large_digits(int64_t value, int digits) {
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, unit = 1;
    while (size / unit >> digits) unit *= 2;
    uint64_t rest = size % unit, kept = size - rest;
    if (rest * 2 > unit || (rest * 2 == unit && (kept / unit & 1))) kept += unit;
    return value < 0 ? -(int64_t)kept : (int64_t)kept;
}

// An integer rounded to a float dtype.
static inline double large_round(qdq_dtype dtype, int64_t value) {
    if (dtype == QDQ_FLOAT32) return (double)large_digits(value, 24);
    int64_t rounded = large_digits(value, dtype == QDQ_BFLOAT16 ? 8 : 11);
    if (dtype == QDQ_FLOAT16 && llabs(rounded) >= 65536) return value < 0 ? -INFINITY : INFINITY;
    return (double)rounded;
}

//---- Links ------------------------------------------------------------------

// The nodes after the product: float results take the first five, integer results the first and the
// last. QUANTIZE_BACK is Quantize and Dequantize.
typedef enum large_link {
    PLAIN,
    RELU,
    QUANTIZE,
    RELU_QUANTIZE,
    QUANTIZE_BACK,
    DEQUANTIZE
} large_link;

// One of the links that may follow a product of this kind.
static inline large_link large_link_after(large_kind kind, size_t choice) {
    static const large_link floats[] = {PLAIN, QUANTIZE, RELU, RELU_QUANTIZE, QUANTIZE_BACK};
    if (large_is_integer(kind)) return choice % 2 ? DEQUANTIZE : PLAIN;
    return floats[choice % 5];
}

typedef struct large_after {
    large_link link;
    float scale;  // a power of two
} large_after;

static inline qdq_dtype large_dtype(qdq_dtype made, const large_after *after) {
    if (after->link == QUANTIZE || after->link == RELU_QUANTIZE) return QDQ_INT8;
    return after->link == DEQUANTIZE || after->link == QUANTIZE_BACK ? QDQ_FLOAT32 : made;
}

static inline qdq_value large_follow(qdq_graph *g, qdq_value y, const large_after *after) {
    static const double zero = LARGE_ZERO;
    qdq_quantize_attrs attrs = {.name = "after",
                                .scales = {.data = &after->scale, .count = 1},
                                .zps = {.data = &zero, .count = 1},
                                .dtype = QDQ_INT8};
    if (after->link == DEQUANTIZE) {
        attrs.zps = (qdq_numbers){0}, attrs.dtype = QDQ_FLOAT32;
        return qdq_dequantize(g, y, attrs);
    }
    if (after->link == RELU || after->link == RELU_QUANTIZE)
        y = qdq_relu(g, y, (qdq_unary_attrs){.name = "relu"});
    if (after->link == RELU || after->link == PLAIN) return y;
    y = qdq_quantize(g, y, attrs);
    if (after->link != QUANTIZE_BACK) return y;
    attrs.name = "back", attrs.dtype = QDQ_FLOAT32;
    return qdq_dequantize(g, y, attrs);
}

static inline double large_followed(double y, const large_after *after) {
    if (after->link == PLAIN) return y;
    if (after->link == DEQUANTIZE) return (double)(float)y * (double)after->scale;
    if ((after->link == RELU || after->link == RELU_QUANTIZE) && y < 0) y = 0;
    if (after->link == RELU) return y;
    double q = rint(y / (double)after->scale) + LARGE_ZERO;
    q = q < -128 ? -128 : q > 127 ? 127 : q;
    return after->link == QUANTIZE_BACK ? (q - LARGE_ZERO) * (double)after->scale : q;
}

//---- Modes ------------------------------------------------------------------

typedef struct large_way {
    int threads;
    bool materialize, fast;
    unsigned constant;  // bit i: operand i is a constant
} large_way;

static const large_way large_ways[] = {
    {1, false, false, 0},  {1, false, true, ~1u}, {2, false, false, ~1u}, {3, false, true, ~3u},
    {3, true, false, ~1u}, {2, false, true, 1u},  {3, false, false, ~1u},
};
enum { LARGE_WAYS = sizeof large_ways / sizeof large_ways[0] };

// A random mode; operand 1 is the matrix B or the weights.
static inline large_way large_random_way(uint64_t *state) {
    static const unsigned constants[] = {0, ~1u, ~3u, 1u, 1u << 1, ~0u};
    int threads = 1 + (int)large_pick(state, 3);
    bool materialize = large_pick(state, 4) == 0, fast = large_pick(state, 2);
    return (large_way){threads, materialize, fast, constants[large_pick(state, 6)]};
}

typedef struct large_case {
    const char *what;
    const tensor *in;
    size_t count;
    product_build *build;
    const void *self;
    const tensor *want;
} large_case;

static inline void large_run(const large_case *c, const char *isa, const large_way *way) {
    qdq_compile_options options = {
        .isa = isa, .materialize = way->materialize, .fast = way->fast && !way->materialize};
    tensor out = tensor_of("out", c->want->dtype, c->want->shape);
    size_t size = qdq_dtype_size(out.dtype);
    product_run_as(c->in, c->count, way->constant, c->build, c->self, &options, way->threads, &out);
    for (size_t i = 0; i < tensor_count(&out); i++)
        if (memcmp((char *)out.data + i * size, (char *)c->want->data + i * size, size) != 0)
            fail_msg(
                "%s: %s, %d threads, constants %x%s%s, element %zu of %zu: got %.9g, want %.9g",
                c->what, isa ? isa : "best", way->threads, way->constant,
                way->materialize ? ", materialized" : "", way->fast ? ", fast" : "", i,
                tensor_count(&out), tensor_at(&out, i), tensor_at(c->want, i));
    free(out.data);
}

// The instruction sets of this machine; returns their number.
static inline size_t large_isas(const char *names[32]) {
    size_t count = 0;
    for (size_t i = 0; qdq_isa_get(i).name; i++)
        if (qdq_isa_get(i).available) names[count++] = qdq_isa_get(i).name;
    return count;
}

#endif
