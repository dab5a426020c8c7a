// SPDX-License-Identifier: Apache-2.0
// A model of DynamicQuantize for schemes with special scales: power-of-two block scales (OCP MX and
// its other roundings), NVFP4, symmetric without clipping, and symmetric with float8 results. It
// compares and divides exactly (oracle.h) and finds floats by searching all codes (small_floats.h).
// Only the runner calls the library.
#ifndef QDQ_TESTS_OPS_QUANTIZE_SCHEME_MODEL_H
#define QDQ_TESTS_OPS_QUANTIZE_SCHEME_MODEL_H

#include "tests/ops/small_example.h"
#include "tests/small_halves.h"

enum { MX_NAN = 255, MX_BIAS = 127 };

typedef struct scheme_case {
    const char *what;
    const grain *grain;
    qdq_dtype from, to;
    qdq_scheme scheme;
    double eps;              // 0: none
    qdq_int least, most;     // quant_min, quant_max
    origin global_from;      // for nvfp4: where the global scale comes from
    qdq_dtype global_dtype;  // the dtype of its port
    float global;            // a value of that dtype
    uint32_t x[LARGEST];
} scheme_case;

// The bits of the three outputs.
typedef struct scheme_result {
    uint32_t y[LARGEST], scale[LARGEST], zero_point[LARGEST];
} scheme_result;

static inline bool scheme_is_mx(qdq_scheme scheme) {
    return scheme == QDQ_MX_FLOOR || scheme == QDQ_MX_CEIL || scheme == QDQ_MX_EVEN ||
           scheme == QDQ_MX_RCEIL;
}

static inline qdq_dtype scheme_scale_dtype(qdq_scheme scheme) {
    if (scheme_is_mx(scheme)) return QDQ_FLOAT8_E8M0;
    return scheme == QDQ_NVFP4 ? QDQ_FLOAT8_E4M3FN : QDQ_FLOAT32;
}

static inline double scheme_largest(qdq_dtype to) {
    const small_format *f = small_format_of(to);
    return small_magnitude(f, small_largest(f));
}

//---- Powers of two ----------------------------------------------------------

// The exponent of a float32; zero and denormals get one less than the least normal number.
static inline int mx_exponent(double size) { return size < 0x1p-126 ? -127 : ilogb(size); }

// The code of the scale for a block whose greatest magnitude is `size`.
static inline unsigned mx_scale(qdq_scheme scheme, qdq_dtype to, double size) {
    double largest = scheme_largest(to);
    if (!isfinite(size)) return MX_NAN;
    if (scheme == QDQ_MX_RCEIL) {  // the least power of two that is not smaller
        double d = oracle_mul(size, oracle_div(1, largest));
        unsigned code = 0;
        while (code < MX_NAN && ldexp(1, (int)code - MX_BIAS) < d) code++;
        return code;
    }
    int exponent = mx_exponent(size), mantissa_bits = small_format_of(to)->mantissa_bits;
    double power = ldexp(1, exponent);
    if (scheme == QDQ_MX_CEIL && size != 0 && size != power) exponent++;
    if (scheme == QDQ_MX_EVEN && size >= (2 - ldexp(0.5, -mantissa_bits)) * power) exponent++;
    if (exponent > 127 && scheme == QDQ_MX_EVEN) return MX_NAN;  // rounded up to infinity
    exponent -= ilogb(largest);
    return exponent < -127 ? 0 : (unsigned)(exponent + MX_BIAS);
}

//---- All schemes ------------------------------------------------------------

typedef struct scheme_facts {
    double lo, hi;  // least and greatest of 0 and the block's numbers
    bool nan;       // one of them is NaN
} scheme_facts;

static inline oracle_range scheme_range(const scheme_case *c) {
    oracle_range r = range_of(c->to);
    if (c->to == QDQ_INT32) r = oracle_range_of(c->to, &oracle_core);
    if (c->least.set != 0) r.least = c->least.value;
    if (c->most.set != 0) r.greatest = c->most.value;
    return r;
}

static inline double scheme_global(const scheme_case *c) {
    return c->global_from == NOWHERE ? 1 : (double)c->global;
}

static inline uint32_t nvfp4_scale(const scheme_case *c, double size) {
    const small_format *f = small_format_of(QDQ_FLOAT8_E4M3FN);
    if (size == 0) return small_encode(f, 1, QDQ_FLOAT_SATURATE);
    double s = oracle_div(oracle_div(size, 6), scheme_global(c));
    s = s < 0x1p-9 ? 0x1p-9 : s > 448 ? 448 : s;
    return small_encode(f, s, QDQ_FLOAT_SATURATE);
}

// The scale of a block, in the dtype of the scheme's scales.
static inline uint32_t scheme_scale(const scheme_case *c, scheme_facts block) {
    double size = -block.lo > block.hi ? -block.lo : block.hi, s;
    if (scheme_is_mx(c->scheme)) return mx_scale(c->scheme, c->to, block.nan ? (double)NAN : size);
    if (c->scheme == QDQ_NVFP4) return nvfp4_scale(c, size);
    if (c->scheme == QDQ_SYMMETRIC) {
        s = oracle_div(size, scheme_largest(c->to));
    } else {
        oracle_range range = scheme_range(c);
        double below = range.least < 0 ? oracle_div(block.lo, oracle_of_integer(range.least)) : 0;
        s = oracle_div(block.hi, oracle_of_integer(range.greatest));
        if (below > s) s = below;
    }
    if (s > 0 && s < c->eps) s = c->eps;
    return unit_bits_of_float(s == 0 ? 1.0f : (float)s);
}

static inline int64_t scheme_zero_point(const scheme_case *c) {
    if (small_format_of(c->to)) return 0;
    return oracle_overflow(0, scheme_range(c), QDQ_OVERFLOW_SATURATE);
}

static inline uint32_t scheme_element(const scheme_case *c, uint32_t scale, double x) {
    const small_halves *f = small_halves_of(c->to);
    if (scheme_is_mx(c->scheme))
        return small_saturated(f, scale == MX_NAN ? (double)NAN : ldexp(x, MX_BIAS - (int)scale));
    double s = value_of(scheme_scale_dtype(c->scheme), scale);
    if (c->scheme == QDQ_NVFP4) s = oracle_mul(s, scheme_global(c));
    if (f) return small_saturated(f, oracle_div(x, s));
    int64_t q = oracle_quantize(x, s, scheme_zero_point(c), scheme_range(c), &oracle_core);
    return (uint32_t)(int32_t)q;
}

// The bytes that the API holds of one element.
static inline uint32_t scheme_held(qdq_dtype dtype, uint32_t bits) {
    size_t size = qdq_dtype_size(dtype);
    return size == 4 ? bits : bits & ((1u << 8 * size) - 1);
}

static inline void scheme_expect(const scheme_case *c, scheme_result *want) {
    static scheme_facts facts[LARGEST];
    size_t count = qdq_shape_count(c->grain->shape);
    memset(facts, 0, sizeof facts);
    for (size_t i = 0; i < count; i++) {
        scheme_facts *block = &facts[block_of(c->grain, i)];
        double x = value_of(c->from, c->x[i]);
        if (isnan(x)) block->nan = true;
        if (x < block->lo) block->lo = x;
        if (x > block->hi) block->hi = x;
    }
    size_t blocks = block_of(c->grain, count - 1) + 1;
    for (size_t b = 0; b < blocks; b++) {
        want->scale[b] = scheme_scale(c, facts[b]);
        want->zero_point[b] = scheme_held(c->to, (uint32_t)scheme_zero_point(c));
    }
    for (size_t i = 0; i < count; i++)
        want->y[i] = scheme_held(c->to, scheme_element(c, want->scale[block_of(c->grain, i)],
                                                       value_of(c->from, c->x[i])));
}

//---- Running ----------------------------------------------------------------

static inline qdq_shape scheme_scale_shape(const grain *g) {
    int64_t extents[QDQ_MAX_RANK];
    qdq_shape grid = grid_of(g, extents);
    if (g->qtype == QDQ_PER_TENSOR) return (qdq_shape){0};
    if (g->qtype == QDQ_PER_GROUP) return grid;
    return QDQ_SHAPE((int64_t)qdq_shape_count(grid));
}

// Adds the node for an x of the case's dtype and shape.
static inline qdq_value scheme_node(run *r, const scheme_case *c, qdq_value x) {
    qdq_dynamic_quantize_attrs a = {.scheme = c->scheme};
    a.quantize.qtype = c->grain->qtype, a.quantize.dtype = c->to;
    a.quantize.quant_min = c->least, a.quantize.quant_max = c->most;
    if (a.quantize.qtype == QDQ_PER_CHANNEL) a.quantize.axis = QDQ_INT(c->grain->axis);
    if (a.quantize.qtype == QDQ_PER_GROUP)
        a.quantize.group_shape = (qdq_ints){c->grain->group.dims, (size_t)c->grain->group.rank};
    if (c->eps > 0) a.eps = QDQ_FLOAT(c->eps);
    uint32_t global = bits_of(c->global_dtype, (double)c->global);
    qdq_shape one = c->grain->shape.rank % 2 ? QDQ_SHAPE(1) : (qdq_shape){0};
    if (c->global_from == ATTRIBUTE)
        a.global_scales = (qdq_floats){&c->global, 1, true};
    else if (c->global_from != NOWHERE)
        a.global_scale = tensor(r, "g", c->global_from, c->global_dtype, one, &global);
    return qdq_dynamic_quantize(r->graph, x, a);
}

static inline void check_port(qdq_graph *graph, qdq_value value, qdq_dtype dtype, qdq_shape shape) {
    qdq_dtype found = QDQ_DTYPE_NONE;
    qdq_shape found_shape = {0};
    assert_true(qdq_value_type(graph, value, &found, &found_shape));
    assert_string_equal(qdq_dtype_name(found), qdq_dtype_name(dtype));
    assert_true(qdq_shape_equal(found_shape, shape));
}

// Compiles and runs the graph of `r`; the outputs y, s, z are the outputs of `node`.
static inline void scheme_execute(run *r, const scheme_case *c, qdq_value node,
                                  const qdq_compile_options *options, scheme_result *got) {
    qdq_dtype scale_dtype = scheme_scale_dtype(c->scheme);
    qdq_value scale = qdq_port(r->graph, node, "scale");
    qdq_value zero_point = qdq_port(r->graph, node, "zero_point");
    qdq_shape shape = scheme_scale_shape(c->grain);
    size_t count = qdq_shape_count(c->grain->shape), blocks = qdq_shape_count(shape);
    check_port(r->graph, node, c->to, c->grain->shape);
    check_port(r->graph, scale, scale_dtype, shape);
    check_port(r->graph, zero_point, c->to, shape);
    qdq_output(r->graph, "y", node);
    qdq_output(r->graph, "s", scale);
    qdq_output(r->graph, "z", zero_point);
    void *y = bind_bits(r, "y", c->to, NULL, count);
    void *s = bind_bits(r, "s", scale_dtype, NULL, blocks);
    void *z = bind_bits(r, "z", c->to, NULL, blocks);
    oracle_run(r->graph, options, r->bound, r->count);
    for (size_t i = 0; i < count; i++) got->y[i] = held(c->to, y, i);
    for (size_t b = 0; b < blocks; b++) {
        got->scale[b] = held(scale_dtype, s, b);
        got->zero_point[b] = held(c->to, z, b);
    }
    for (size_t i = 0; i < r->count; i++) free(r->bound[i].data);
    qdq_graph_destroy(r->graph);
}

static inline void scheme_run(const scheme_case *c, const qdq_compile_options *options,
                              scheme_result *got) {
    run r = {.graph = qdq_graph_create("schemes", NULL)};
    qdq_value x = tensor(&r, "x", INPUT, c->from, c->grain->shape, c->x);
    scheme_execute(&r, c, scheme_node(&r, c, x), options, got);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what the run holds is freed
}

// Fails if an element of the three outputs is not as wanted.
static inline void scheme_compare(const scheme_case *c, const char *how, const scheme_result *got,
                                  const scheme_result *want) {
    qdq_dtype scale_dtype = scheme_scale_dtype(c->scheme);
    size_t blocks = qdq_shape_count(scheme_scale_shape(c->grain));
    for (size_t b = 0; b < blocks; b++)
        if (!same(scale_dtype, got->scale[b], want->scale[b]) ||
            got->zero_point[b] != want->zero_point[b])
            fail_msg("%s%s, scheme %d, %s to %s, block %zu of %zu: got scale %#x (%g) zero point "
                     "%#x, want %#x (%g) and %#x",
                     c->what, how, c->scheme, qdq_dtype_name(c->from), qdq_dtype_name(c->to), b,
                     blocks, got->scale[b], value_of(scale_dtype, got->scale[b]),
                     got->zero_point[b], want->scale[b], value_of(scale_dtype, want->scale[b]),
                     want->zero_point[b]);
    for (size_t i = 0; i < qdq_shape_count(c->grain->shape); i++) {
        size_t b = block_of(c->grain, i);
        if (!same(c->to, got->y[i], want->y[i]))
            fail_msg("%s%s, scheme %d, %s to %s, y[%zu] of block %zu: x %#x (%a), scale %#x (%a), "
                     "global %a: got %#x, want %#x",
                     c->what, how, c->scheme, qdq_dtype_name(c->from), qdq_dtype_name(c->to), i, b,
                     c->x[i], value_of(c->from, c->x[i]), want->scale[b],
                     value_of(scale_dtype, want->scale[b]), scheme_global(c), got->y[i],
                     want->y[i]);
    }
}

#endif
