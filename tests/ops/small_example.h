// SPDX-License-Identifier: Apache-2.0
// Examples of Quantize to a narrow type and Dequantize from it: how their data is made, the results
// they must give, and running them in tiles and strips, on one thread and on three. The wanted
// integers come from oracle.h, the wanted floats from small_floats.h.
#ifndef QDQ_TESTS_OPS_SMALL_EXAMPLE_H
#define QDQ_TESTS_OPS_SMALL_EXAMPLE_H

#include "oracle.h"
#include "tests/small_floats.h"

enum { LARGEST = 2900, OUTPUTS = 3 };

static const struct {
    qdq_dtype dtype;
    int64_t least, greatest;
} ranges[] = {
    {QDQ_INT16, -32768, 32767}, {QDQ_UINT16, 0, 65535}, {QDQ_INT4, -8, 7},     {QDQ_UINT4, 0, 15},
    {QDQ_INT2, -2, 1},          {QDQ_UINT2, 0, 3},      {QDQ_INT8, -128, 127}, {QDQ_UINT8, 0, 255},
};
static inline oracle_range range_of(qdq_dtype dtype) {
    for (size_t i = 0; i < UNIT_COUNT(ranges); i++)
        if (ranges[i].dtype == dtype)
            return (oracle_range){dtype, ranges[i].least, ranges[i].greatest};
    return (oracle_range){QDQ_DTYPE_NONE, 0, 0};
}

//---- Elements as the API holds them -----------------------------------------

// The bits of element i.
static inline uint32_t held(qdq_dtype dtype, const void *data, size_t i) {
    uint32_t bits = 0;
    size_t size = dtype == QDQ_FLOAT32 || dtype == QDQ_INT32      ? 4
                  : dtype == QDQ_INT16 || dtype == QDQ_UINT16     ? 2
                  : dtype == QDQ_FLOAT16 || dtype == QDQ_BFLOAT16 ? 2
                                                                  : 1;
    assert_int_equal(size, qdq_dtype_size(dtype));
    memcpy(&bits, (const char *)data + i * size, size);
    return bits;
}

static inline void hold(qdq_dtype dtype, void *data, size_t i, uint32_t bits) {
    size_t size = qdq_dtype_size(dtype);
    memcpy((char *)data + i * size, &bits, size);
}

// A number as the bits of any dtype; a float8 saturates.
static inline uint32_t bits_of(qdq_dtype dtype, double value) {
    const small_format *f = small_format_of(dtype);
    if (f) return small_encode(f, value, QDQ_FLOAT_SATURATE);
    if (dtype == QDQ_FLOAT32) return unit_bits_of_float((float)value);
    return (uint32_t)(int32_t)value;
}

static inline double value_of(qdq_dtype dtype, uint32_t bits) {
    const small_format *f = small_format_of(dtype);
    if (f) return small_value(f, bits);
    if (dtype == QDQ_FLOAT32) return (double)unit_float_of_bits(bits);
    if (dtype == QDQ_INT16) return (int16_t)bits;
    if (dtype == QDQ_INT4 || dtype == QDQ_INT2 || dtype == QDQ_INT8) return (int8_t)bits;
    return (int32_t)bits;
}

static inline bool same(qdq_dtype dtype, uint32_t a, uint32_t b) {
    const small_format *f = small_format_of(dtype);
    if (f && small_is_nan(f, a) && small_is_nan(f, b)) return true;
    bool nan = dtype == QDQ_FLOAT32 && isnan(unit_float_of_bits(a));
    return a == b || (nan && isnan(unit_float_of_bits(b)));
}

//---- Wanted results ---------------------------------------------------------

typedef struct parameter {
    double scale;
    int64_t zp;
    bool has_zp;
} parameter;

static inline uint32_t quantized(qdq_dtype from, uint32_t x, parameter p, qdq_dtype to,
                                 qdq_float_overflow overflow) {
    double value = value_of(from, x);
    if (from == QDQ_INT32) value = oracle_of_integer((int32_t)x);
    const small_format *f = small_format_of(to);
    if (f) {
        double v = oracle_div(value, p.scale);
        if (to == QDQ_FLOAT4_E2M1 && p.has_zp) v = v + 0.0;  // -0 + 0 is +0
        return small_encode(f, v, overflow);
    }
    int64_t q = oracle_quantize(value, p.scale, p.zp, range_of(to), &oracle_core);
    uint32_t bits = (uint32_t)(int32_t)q;
    return qdq_dtype_size(to) == 2 ? bits & 0xFFFF : bits & 0xFF;
}

static inline uint32_t dequantized(qdq_dtype from, uint32_t q, parameter p, qdq_dtype to) {
    double value = value_of(from, q);
    double y = small_format_of(from) ? oracle_mul(value, p.scale)
                                     : oracle_dequantize(value, p.scale, p.zp, &oracle_core);
    return bits_of(to, y);
}

//---- A case -----------------------------------------------------------------

typedef struct grain {
    qdq_qtype qtype;
    int64_t axis;
    qdq_shape shape, group;
} grain;

static const grain grains[] = {
    {QDQ_PER_TENSOR, 0, {0}, {0}},
    {QDQ_PER_TENSOR, 0, {2, {33, 65}}, {0}},
    {QDQ_PER_CHANNEL, 1, {2, {31, 67}}, {0}},
    {QDQ_PER_CHANNEL, -3, {3, {5, 7, 35}}, {0}},
    {QDQ_PER_CHANNEL, 0, {1, {37}}, {0}},
    {QDQ_PER_GROUP, 0, {2, {37, 45}}, {2, {1, 16}}},
    {QDQ_PER_GROUP, 0, {3, {3, 35, 26}}, {3, {2, 16, 5}}},
    {QDQ_PER_GROUP, 0, {4, {2, 3, 7, 67}}, {4, {1, -1, 2, 32}}},
    {QDQ_PER_GROUP, 0, {1, {129}}, {1, {32}}},
};

// The block extents of a grain, and the shape of its parameters.
static inline qdq_shape grid_of(const grain *g, int64_t extents[QDQ_MAX_RANK]) {
    qdq_shape blocks = g->shape;
    int64_t axis = g->axis < 0 ? g->axis + g->shape.rank : g->axis;
    for (int i = 0; i < QDQ_MAX_RANK; i++) {
        extents[i] = i < g->shape.rank ? g->shape.dims[i] : 1;
        if (g->qtype == QDQ_PER_CHANNEL && i == axis) extents[i] = 1;
        if (g->qtype == QDQ_PER_GROUP && g->group.dims[i] > 0) extents[i] = g->group.dims[i];
        blocks.dims[i] = (g->shape.dims[i] + extents[i] - 1) / extents[i];
    }
    return blocks;
}

static inline size_t block_of(const grain *g, size_t at) {
    int64_t extents[QDQ_MAX_RANK], left = (int64_t)at, block = 0, step = 1;
    qdq_shape blocks = grid_of(g, extents);
    for (int i = QDQ_MAX_RANK - 1; i >= 0; i--) {
        if (i >= g->shape.rank) continue;
        block += left % g->shape.dims[i] / extents[i] * step;
        left /= g->shape.dims[i], step *= blocks.dims[i];
    }
    return (size_t)block;
}

typedef enum origin { ATTRIBUTE, CONSTANT, INPUT, NOWHERE } origin;

// One run: x is quantized to q, q is dequantized to y, and c, all codes of q's dtype, to z.
typedef struct example {
    const grain *grain;
    qdq_dtype from, to, back, scale_dtype;
    origin scale_from, zp_from;
    qdq_dtype zp_dtype;
    qdq_bool saturate;
    bool threads;  // run on three threads as well
    size_t blocks, zp_count, count;
    float scales[LARGEST];
    double zps[LARGEST];
    uint32_t scale_bits[LARGEST], zp_bits[LARGEST], x[LARGEST], c[LARGEST];
} example;

static inline const char *text_of(const example *e) {
    static char text[300];
    snprintf(text, sizeof text,
             "%s -> %s -> %s, grain %d, scale %s from %d, zero point %s from %d, saturate %d",
             qdq_dtype_name(e->from), qdq_dtype_name(e->to), qdq_dtype_name(e->back),
             (int)(e->grain - grains), qdq_dtype_name(e->scale_dtype), e->scale_from,
             qdq_dtype_name(e->zp_dtype), e->zp_from, e->saturate);
    return text;
}

static inline parameter parameter_of(const example *e, size_t at) {
    size_t block = block_of(e->grain, at);
    return (parameter){(double)e->scales[block], (int64_t)e->zps[e->zp_count > 1 ? block : 0],
                       e->zp_from != NOWHERE};
}

// Scales that the dtype holds: near 1 or far from it, one in 16 negative where the dtype allows.
static inline void make_scales(example *e, uint64_t *seed) {
    for (size_t i = 0; i < e->blocks; i++) {
        uint64_t r = unit_random(seed);
        double s = (double)oracle_scale(r % ORACLE_SCALES) * ldexp(1, (int)(r >> 8 & 7) - 4);
        if ((r >> 16) % 16 == 0 && e->scale_dtype != QDQ_FLOAT8_E8M0) s = -s;
        if (e->from == QDQ_INT32) s *= 64;
        e->scale_bits[i] = bits_of(e->scale_dtype, s);
        e->scales[i] = (float)value_of(e->scale_dtype, e->scale_bits[i]);
        if (e->scales[i] == 0) e->scales[i] = 1, e->scale_bits[i] = bits_of(e->scale_dtype, 1);
    }
}

// Zero points in the range of their dtype; a few are beyond the range of the result's dtype.
static inline void make_zps(example *e, uint64_t *seed) {
    oracle_range range = range_of(e->zp_dtype);
    e->zp_count = *seed % 2 || e->blocks == 1 ? 1 : e->blocks;
    for (size_t i = 0; i < LARGEST; i++) e->zps[i] = 0, e->zp_bits[i] = 0;
    for (size_t i = 0; i < e->zp_count && !small_format_of(e->to) && e->zp_from != NOWHERE; i++) {
        uint64_t span = (uint64_t)(range.greatest - range.least + 1);
        int64_t zp = range.least + (int64_t)(unit_random(seed) % span);
        e->zps[i] = (double)zp, e->zp_bits[i] = (uint32_t)(int32_t)zp;
    }
}

// x / s: a tie, next to a tie, a code, anything, or NaN.
static inline double make_quotient(const example *e, uint64_t r, int64_t zp) {
    const small_format *f = small_format_of(e->to);
    oracle_range range = range_of(e->to);
    int64_t span = range.greatest - range.least + 5;
    double at = (double)(range.least - zp + (int64_t)(r >> 8 & 0xFFFF) % span - 2);
    double step = 0.5;
    if (f) {
        unsigned code = (unsigned)(r >> 8) % (small_largest(f) + 1);
        at = small_magnitude(f, code), step = (small_magnitude(f, code + 1) - at) / 2;
    }
    static const double odd[] = {0, 1e30, 1e-30, 0x1p-126, 0x1p-149, 1e5, 3e38, 70000};
    if (r % 16 < 8) at += step;
    if (r % 16 == 15) at = odd[r >> 8 & 7];
    if (r % 256 == 31) at = INFINITY;
    if (r % 256 == 47) at = NAN;
    return f && r >> 40 & 1 ? -at : at;
}

static inline void make_data(example *e, uint64_t *seed) {
    for (size_t i = 0; i < e->count; i++) {
        uint64_t r = unit_random(seed);
        parameter p = parameter_of(e, i);
        double x = make_quotient(e, r, p.zp) * p.scale;
        if (e->from == QDQ_INT32) {
            int32_t whole = isnan(x) ? 0 : x > 2e9 ? INT32_MAX : x < -2e9 ? INT32_MIN : (int32_t)x;
            e->x[i] = (uint32_t)(r % 64 == 5 ? (int32_t)(r >> 32) : whole);
        } else {
            int nudge = (int)(r >> 50) % 3 - 1;  // the tie, or the number next to it
            e->x[i] = bits_of(e->from, x) + (uint32_t)(x == 0 || isnan(x) || isinf(x) ? 0 : nudge);
            if (e->from != QDQ_FLOAT32) e->x[i] &= 0xFFFF;
        }
        const small_format *f = small_format_of(e->to);
        oracle_range range = range_of(e->to);
        e->c[i] = f ? (uint32_t)(i % small_codes(f))
                    : (uint32_t)(int32_t)(range.least + (int64_t)(i * (i < 999 ? 1 : 97)) %
                                                            (range.greatest - range.least + 1));
    }
}

//---- Running ----------------------------------------------------------------

static inline qdq_shape parameter_shape(const example *e, size_t count) {
    int64_t extents[QDQ_MAX_RANK];
    if (count == 1) return e->count % 2 ? (qdq_shape){0} : QDQ_SHAPE(1);
    if (e->grain->qtype == QDQ_PER_CHANNEL) return QDQ_SHAPE((int64_t)count);
    return grid_of(e->grain, extents);
}

typedef struct run {
    qdq_graph *graph;
    oracle_bound bound[8];
    size_t count;
} run;

// Memory with these bits, bound under this name.
static inline void *bind_bits(run *r, const char *name, qdq_dtype dtype, const uint32_t *bits,
                              size_t count) {
    oracle_bound *b = &r->bound[r->count++];
    snprintf(b->name, sizeof b->name, "%s", name);
    b->bytes = count * qdq_dtype_size(dtype);
    b->data = oracle_memory(b->bytes);
    for (size_t i = 0; i < count; i++) hold(dtype, b->data, i, bits ? bits[i] : 0x55555555);
    return b->data;
}

static inline qdq_value tensor(run *r, const char *name, origin from, qdq_dtype dtype,
                               qdq_shape shape, const uint32_t *bits) {
    void *data = bind_bits(r, name, dtype, bits, qdq_shape_count(shape));
    if (from == INPUT) return qdq_input(r->graph, name, dtype, shape);
    qdq_value value = qdq_constant(r->graph, name, dtype, shape, data);
    free(data);
    r->count--;
    return value;
}

static inline void build(const example *e, run *r) {
    *r = (run){.graph = qdq_graph_create("example", NULL)};
    qdq_quantize_attrs a = {.qtype = e->grain->qtype, .dtype = e->to, .saturate = e->saturate};
    if (a.qtype == QDQ_PER_CHANNEL) a.axis = QDQ_INT(e->grain->axis);
    if (a.qtype == QDQ_PER_GROUP)
        a.group_shape = (qdq_ints){e->grain->group.dims, (size_t)e->grain->group.rank};
    if (e->scale_from == ATTRIBUTE)
        a.scales = (qdq_floats){e->scales, e->blocks, false};
    else
        a.scale = tensor(r, "s", e->scale_from, e->scale_dtype, parameter_shape(e, e->blocks),
                         e->scale_bits);
    if (e->zp_from == ATTRIBUTE)
        a.zps = (qdq_numbers){e->zps, e->zp_count, false};
    else if (e->zp_from != NOWHERE)
        a.zero_point =
            tensor(r, "zp", e->zp_from, e->zp_dtype, parameter_shape(e, e->zp_count), e->zp_bits);
    qdq_value x = tensor(r, "x", INPUT, e->from, e->grain->shape, e->x);
    qdq_value c = tensor(r, "c", INPUT, e->to, e->grain->shape, e->c);
    qdq_value q = qdq_quantize(r->graph, x, a);
    a.dtype = e->back;
    qdq_output(r->graph, "q", q);
    qdq_output(r->graph, "y", qdq_dequantize(r->graph, q, a));
    qdq_output(r->graph, "z", qdq_dequantize(r->graph, c, a));
}

static inline void check_output(const example *e, const char *name, qdq_dtype dtype,
                                const void *data, const uint32_t *wanted, const char *how) {
    for (size_t i = 0; i < e->count; i++) {
        uint32_t got = held(dtype, data, i);
        if (same(dtype, got, wanted[i])) continue;
        parameter p = parameter_of(e, i);
        fail_msg("%s, %s: %s[%zu] is %#x, want %#x; x %#x (%a), c %#x, scale %a, zero point %d",
                 text_of(e), how, name, i, got, wanted[i], e->x[i], value_of(e->from, e->x[i]),
                 e->c[i], p.scale, (int)p.zp);
    }
}

static inline void execute(qdq_plan *plan, run *r, int threads) {
    qdq_error err = {0};
    qdq_exec_options options = {.poison = true};
    if (threads > 1) options.parallel = qdq_parallel_openmp(threads), options.parallel.least = 0;
    qdq_exec *exec = qdq_exec_create(plan, &options, &err);
    if (!exec) fail_msg("exec: %s", err.text);
    for (size_t i = 0; i < r->count; i++)
        if (qdq_exec_bind(exec, r->bound[i].name, r->bound[i].data, r->bound[i].bytes, &err))
            fail_msg("bind: %s", err.text);
    qdq_exec_run(exec);
    qdq_exec_destroy(exec);
}

static inline void check_example(const example *e, const qdq_numerics *n,
                                 qdq_float_overflow overflow) {
    static uint32_t q[LARGEST], y[LARGEST], z[LARGEST];
    for (size_t i = 0; i < e->count; i++) {
        parameter p = parameter_of(e, i);
        q[i] = quantized(e->from, e->x[i], p, e->to, overflow);
        y[i] = dequantized(e->to, q[i], p, e->back);
        z[i] = dequantized(e->to, e->c[i], p, e->back);
    }
    run r;
    build(e, &r);
    void *out[OUTPUTS] = {bind_bits(&r, "q", e->to, NULL, e->count),
                          bind_bits(&r, "y", e->back, NULL, e->count),
                          bind_bits(&r, "z", e->back, NULL, e->count)};
    for (int way = 0; way < (e->threads ? 4 : 2); way++) {
        const char *how = way & 1   ? way & 2 ? "tiles, 3 threads" : "tiles"
                          : way & 2 ? "3 threads"
                                    : "";
        qdq_error err = {0};
        qdq_compile_options options = {.layout = way & 1 ? QDQ_PLAN_TILES : QDQ_PLAN_ROWS,
                                       .materialize = way & 1,
                                       .numerics = n};
        qdq_plan *plan = qdq_graph_compile(r.graph, &options, &err);
        if (!plan) fail_msg("%s: %s", text_of(e), err.text);
        for (int i = 0; i < OUTPUTS; i++)
            memset(out[i], 0x55, e->count * qdq_dtype_size(i ? e->back : e->to));
        execute(plan, &r, way & 2 ? 3 : 1);
        qdq_plan_destroy(plan);
        check_output(e, "q", e->to, out[0], q, how);
        check_output(e, "y", e->back, out[1], y, how);
        check_output(e, "z", e->back, out[2], z, how);
    }
    for (size_t i = 0; i < r.count; i++) free(r.bound[i].data);
    qdq_graph_destroy(r.graph);
}

#endif
