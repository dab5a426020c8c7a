// SPDX-License-Identifier: Apache-2.0
// Quantize and Dequantize under the targets core, tensorrt and tripy: x / s in one float32
// division, half to even, saturated; the product in one float32 multiplication. At least a million
// constructed elements for each op and pair of dtypes, in the forms that the backends accept: no
// zero points, constant scales per channel, blocks that divide the dim.
#include "tests/ops/small_example.h"
#include "tests/small_halves.h"

enum { COUNT = 65536, CASES = 16, TABLE = 65536 };

typedef enum backend { CORE = 1, TENSORRT = 2, TRIPY = 4 } backend;
static const struct {
    backend bit;
    const char *name;
} backends[] = {{CORE, "core"}, {TENSORRT, "tensorrt"}, {TRIPY, "tripy"}};

// Each has COUNT elements.
static const grain tensors[] = {
    {QDQ_PER_TENSOR, 0, {2, {256, 256}}, {0}},
    {QDQ_PER_TENSOR, 0, {3, {8, 64, 128}}, {0}},
};
static const grain channels[] = {
    {QDQ_PER_CHANNEL, 0, {2, {256, 256}}, {0}},
    {QDQ_PER_CHANNEL, 1, {2, {1024, 64}}, {0}},
    {QDQ_PER_CHANNEL, 1, {4, {4, 128, 16, 8}}, {0}},
    {QDQ_PER_CHANNEL, 2, {3, {2, 512, 64}}, {0}},
};
static const grain groups[] = {
    {QDQ_PER_GROUP, 0, {2, {128, 512}}, {2, {1, 64}}},
    {QDQ_PER_GROUP, 0, {2, {512, 128}}, {2, {64, 1}}},
    {QDQ_PER_GROUP, 0, {3, {2, 64, 512}}, {3, {1, 1, 16}}},
    {QDQ_PER_GROUP, 0, {3, {2, 64, 512}}, {3, {1, 32, 1}}},
};
static const grain blocks_of_matrices[] = {
    {QDQ_PER_GROUP, 0, {2, {128, 512}}, {2, {1, 64}}},
    {QDQ_PER_GROUP, 0, {2, {512, 128}}, {2, {64, 1}}},
    {QDQ_PER_GROUP, 0, {2, {64, 1024}}, {2, {2, 1}}},
};

typedef struct form {
    const grain *grain;
    qdq_dtype from, to, back, scale_dtype;
    bool attribute;  // the scale is an attribute, otherwise a constant
    bool constant;   // x and the codes are constants, otherwise inputs
    unsigned backends;
    size_t blocks;
    float scales[COUNT / 2];
    uint32_t scale_bits[COUNT / 2], block[COUNT], x[COUNT], c[COUNT];
} form;

//---- Wanted results ---------------------------------------------------------

static uint32_t quantized_to(qdq_dtype to, double x, double scale) {
    const small_halves *f = small_halves_of(to);
    if (f) return small_saturated(f, oracle_div(x, scale));
    return (uint32_t)oracle_quantize(x, scale, 0, range_of(to), &oracle_core) & 0xFF;
}

static uint32_t dequantized_from(qdq_dtype from, uint32_t code, double scale, qdq_dtype to) {
    return bits_of(to, oracle_mul(value_of(from, code), scale));
}

// Dequantizes all codes; with a table for each block if that is less work.
static void dequantize_all(const form *f, const uint32_t *codes, uint32_t *y) {
    static uint32_t table[TABLE];
    size_t n = (size_t)1 << qdq_dtype_get(f->to)->bits;
    bool tabled = f->blocks * n <= TABLE;
    for (size_t b = 0; b < f->blocks && tabled; b++)
        for (size_t k = 0; k < n; k++) {
            uint32_t code =
                n == 16 && f->to == QDQ_INT4 && k > 7 ? (uint32_t)k | 0xF0 : (uint32_t)k;
            table[b * n + k] = dequantized_from(f->to, code, (double)f->scales[b], f->back);
        }
    for (size_t i = 0; i < COUNT; i++) {
        size_t b = f->block[i];
        y[i] = tabled ? table[b * n + (codes[i] & (n - 1))]
                      : dequantized_from(f->to, codes[i], (double)f->scales[b], f->back);
    }
}

//---- Data -------------------------------------------------------------------

// A scale whose product with a code lies just next to the middle of two values of y and becomes
// that middle as a float32, so rounding once and twice differ.
static double make_twice_rounded(const form *f, uint64_t r) {
    int digits = f->back == QDQ_FLOAT16 ? 11 : 8;
    double middle = (double)((1 << digits) + 2 * (int)(r % (1u << (digits - 1))) + 1);
    double code = f->to == QDQ_FLOAT4_E2M1 ? 3
                  : f->to == QDQ_INT8      ? 3 + 2 * (int)(r >> 20 & 31)
                                           : 7;
    return (double)(float)(ldexp(middle, -digits - (int)(r >> 30 & 3)) / code);
}

// Positive: powers of two, k / 127, decimals, values near 1, and some far from 1.
static void make_form_scales(form *f, uint64_t *seed) {
    for (size_t b = 0; b < f->blocks; b++) {
        uint64_t r = unit_random(seed);
        double s = (double)oracle_scale(r % ORACLE_SCALES);
        if (r >> 8 & 1) s = (double)(float)((double)(1 + (r >> 16 & 1023)) / 1016.5);
        if ((r >> 32) % 8 == 0) s *= ldexp(1, (int)(r >> 40 & 15) - 9);
        if ((r >> 32) % 4 == 1 && f->back != QDQ_FLOAT32) s = make_twice_rounded(f, r);
        f->scale_bits[b] = bits_of(f->scale_dtype, s);
        f->scales[b] = (float)value_of(f->scale_dtype, f->scale_bits[b]);
        assert_true(f->scales[b] > 0 && isfinite(f->scales[b]));
    }
}

// Halfway between two codes, at a code, at the ends of the range, or beyond.
static double make_code(qdq_dtype to, uint64_t r) {
    const small_halves *f = small_halves_of(to);
    if (f) {
        unsigned code = (unsigned)(r >> 8) % (f->largest + 1);
        double v = code < f->largest && r % 4 ? f->half[code] : small_magnitude(f->format, code);
        if (r % 16 == 0)
            v = (small_magnitude(f->format, f->largest) +
                 small_magnitude(f->format, f->largest + 1)) /
                2;
        return r >> 40 & 1 ? -v : v;
    }
    oracle_range range = range_of(to);
    int64_t span = range.greatest - range.least + 7;
    double v = (double)(range.least - 3 + (int64_t)(r >> 8 & 0xFFFF) % span);
    return r % 4 ? v + 0.5 : v;
}

// Zeros, denormals, the greatest numbers, infinities and NaN, of either sign.
static uint32_t make_odd(qdq_dtype dtype, uint64_t r) {
    bool wide = dtype == QDQ_FLOAT32;
    unsigned mantissa = wide ? 23 : dtype == QDQ_FLOAT16 ? 10 : 7;
    uint32_t infinity = dtype == QDQ_FLOAT16 ? 0x7C00 : wide ? 0x7F800000 : 0x7F80, bits = 0;
    switch (r % 8) {
    case 0: bits = 0; break;
    case 1: bits = 1; break;
    case 2: bits = (uint32_t)(r >> 20) & ((1u << mantissa) - 1); break;
    case 3: bits = 1u << mantissa; break;
    case 4: bits = (1u << mantissa) - 1; break;
    case 5: bits = infinity - 1; break;
    case 6: bits = infinity; break;
    default: bits = infinity + 1 + (uint32_t)(r >> 20 & 63); break;
    }
    return bits | (r >> 8 & 1 ? wide ? 0x80000000u : 0x8000u : 0);
}

// Codes times their scale and the four floats around them, special values, and random bits. With a
// scale per tensor, 16-bit types have all their values.
static void make_form_data(form *f, uint64_t *seed) {
    uint32_t all = f->from == QDQ_FLOAT32 ? UINT32_MAX : 0xFFFF;
    oracle_range range = range_of(f->to);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t r = unit_random(seed);
        double scale = (double)f->scales[f->block[i]];
        f->x[i] = bits_of(f->from, make_code(f->to, r) * scale);
        if ((f->x[i] & (all >> 1)) > 2) f->x[i] += (uint32_t)((r >> 48) % 5) - 2;
        if (r >> 56 < 8) f->x[i] = make_odd(f->from, r >> 8);
        if (r >> 56 > 247) f->x[i] = (uint32_t)(r >> 8) & all;
        if (f->blocks == 1 && all == 0xFFFF) f->x[i] = (uint32_t)i;
        f->c[i] = small_halves_of(f->to)
                      ? (uint32_t)(i & (small_codes(small_format_of(f->to)) - 1))
                      : (uint32_t)(range.least +
                                   (int64_t)(i % 256) % (range.greatest - range.least + 1)) &
                            0xFF;
    }
}

//---- Running ----------------------------------------------------------------

// Whether q may be an output: in TensorRT 4-bit values must be dequantized first.
static bool shows_codes(const form *f, backend on) {
    return on == CORE || qdq_dtype_get(f->to)->bits == 8;
}

static qdq_value held_tensor(run *r, const form *f, const char *name, qdq_dtype dtype,
                             const uint32_t *bits) {
    return tensor(r, name, f->constant ? CONSTANT : INPUT, dtype, f->grain->shape, bits);
}

static void build_form(const form *f, backend on, run *r) {
    *r = (run){.graph = qdq_graph_create("form", NULL)};
    int64_t extents[QDQ_MAX_RANK];
    qdq_quantize_attrs a = {.qtype = f->grain->qtype, .dtype = f->to};
    if (a.qtype == QDQ_PER_CHANNEL) a.axis = QDQ_INT(f->grain->axis);
    if (a.qtype == QDQ_PER_GROUP)
        a.group_shape = (qdq_ints){f->grain->group.dims, (size_t)f->grain->group.rank};
    qdq_shape shape = grid_of(f->grain, extents);
    if (a.qtype == QDQ_PER_TENSOR) shape = (qdq_shape){0};
    if (a.qtype == QDQ_PER_CHANNEL) shape = QDQ_SHAPE((int64_t)f->blocks);
    if (f->attribute)
        a.scales = (qdq_floats){f->scales, f->blocks, f->blocks == 1};
    else
        a.scale = tensor(r, "s", CONSTANT, f->scale_dtype, shape, f->scale_bits);
    qdq_value q = qdq_quantize(r->graph, held_tensor(r, f, "x", f->from, f->x), a);
    if (shows_codes(f, on)) qdq_output(r->graph, "q", q);
    a.dtype = f->back;
    qdq_output(r->graph, "y", qdq_dequantize(r->graph, q, a));
    qdq_output(r->graph, "z", qdq_dequantize(r->graph, held_tensor(r, f, "c", f->to, f->c), a));
}

static void check_results(const form *f, const char *target, const char *name, qdq_dtype dtype,
                          const void *data, const uint32_t *wanted) {
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t got = held(dtype, data, i);
        if (same(dtype, got, wanted[i])) continue;
        fail_msg("%s, %s -> %s -> %s, qtype %d: %s[%zu] is %#x, want %#x; x %#x (%a), c %#x, scale "
                 "%a",
                 target, qdq_dtype_name(f->from), qdq_dtype_name(f->to), qdq_dtype_name(f->back),
                 f->grain->qtype, name, i, got, wanted[i], f->x[i], value_of(f->from, f->x[i]),
                 f->c[i], (double)f->scales[f->block[i]]);
    }
}

static void check_form(const form *f, bool materialize) {
    static uint32_t q[COUNT], y[COUNT], z[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        q[i] = quantized_to(f->to, value_of(f->from, f->x[i]), (double)f->scales[f->block[i]]);
    dequantize_all(f, q, y);
    dequantize_all(f, f->c, z);
    for (size_t t = 0; t < UNIT_COUNT(backends); t++) {
        if (!(f->backends & backends[t].bit)) continue;
        run r;
        build_form(f, backends[t].bit, &r);
        void *out_q = NULL, *out_y = bind_bits(&r, "y", f->back, NULL, COUNT),
             *out_z = bind_bits(&r, "z", f->back, NULL, COUNT);
        if (shows_codes(f, backends[t].bit)) out_q = bind_bits(&r, "q", f->to, NULL, COUNT);
        qdq_compile_options options = {.target = backends[t].name, .materialize = materialize};
        oracle_run(r.graph, &options, r.bound, r.count);
        if (out_q) check_results(f, backends[t].name, "q", f->to, out_q, q);
        check_results(f, backends[t].name, "y", f->back, out_y, y);
        check_results(f, backends[t].name, "z", f->back, out_z, z);
        for (size_t i = 0; i < r.count; i++) free(r.bound[i].data);
        qdq_graph_destroy(r.graph);
    }
}

//---- Forms ------------------------------------------------------------------

static const qdq_dtype results[] = {QDQ_INT8, QDQ_INT4, QDQ_FLOAT8_E4M3FN, QDQ_FLOAT4_E2M1};
static const qdq_dtype floats[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};

// Form k of a pair of dtypes. If the scale is float16 or bfloat16, x and y have its dtype.
static void make_form(form *f, const grain *g, qdq_dtype scale_dtype, unsigned k) {
    int64_t extents[QDQ_MAX_RANK];
    uint64_t seed = (k + 1) * 0x9E3779B97F4A7C15u;
    for (int i = 0; i < 8; i++) (void)unit_random(&seed);
    f->grain = g;
    f->scale_dtype = scale_dtype;
    bool free = scale_dtype == QDQ_FLOAT32 || scale_dtype == QDQ_FLOAT8_E8M0;
    f->back = free && f->backends != TRIPY ? floats[k / 2 % 3] : f->from;
    f->attribute = f->scale_dtype == QDQ_FLOAT32 && k / 2 % 2;
    f->constant = g->qtype != QDQ_PER_TENSOR || f->to == QDQ_INT4;
    f->blocks = qdq_shape_count(grid_of(g, extents));
    assert_int_equal(qdq_shape_count(g->shape), COUNT);
    for (size_t i = 0; i < COUNT; i++) f->block[i] = (uint32_t)block_of(g, i);
    make_form_scales(f, &seed);
    make_form_data(f, &seed);
}

// Blocks only for the types that support them.
static void tensorrt_and_core_divide_and_round_half_to_even(void **state) {
    (void)state;
    static form f;
    for (size_t s = 0; s < UNIT_COUNT(floats); s++)
        for (size_t t = 0; t < UNIT_COUNT(results); t++)
            for (unsigned k = 0; k < CASES; k++) {
                if (unit_left_out(k + 100 * (s * 4 + t))) continue;
                bool by_blocks = k % 4 > 1 && results[t] != QDQ_INT8;
                const grain *g = by_blocks    ? &groups[k / 4]
                                 : k % 4 == 0 ? &tensors[k / 4 % 2]
                                              : &channels[k / 4];
                f.from = floats[s], f.to = results[t], f.backends = CORE | TENSORRT;
                make_form(&f, g, k % 5 < 2 ? f.from : QDQ_FLOAT32, k + 100 * (unsigned)(s * 4 + t));
                check_form(&f, k / 4 % 2);
            }
}

// A power of two for each block of 32 elements or 32 rows: the scales of MXFP8.
static void scales_that_are_powers_of_two_divide_exactly(void **state) {
    (void)state;
    static const grain mx[] = {{QDQ_PER_GROUP, 0, {2, {64, 1024}}, {2, {1, 32}}},
                               {QDQ_PER_GROUP, 0, {3, {2, 64, 512}}, {3, {1, 32, 1}}}};
    static form f;
    for (unsigned k = 0; k < 6; k++) {
        f.from = floats[k % 3], f.to = QDQ_FLOAT8_E4M3FN, f.backends = CORE | TENSORRT;
        make_form(&f, &mx[k / 3], QDQ_FLOAT8_E8M0, k + 9000);
        check_form(&f, k % 2);
    }
}

// Scales have the dtype of x; no float4; blocks for int4 matrices only.
static void tripy_divides_and_rounds_half_to_even(void **state) {
    (void)state;
    static form f;
    for (size_t s = 0; s < UNIT_COUNT(floats); s++)
        for (size_t t = 0; t < 3; t++)
            for (unsigned k = 0; k < CASES; k++) {
                if (unit_left_out(k + 100 * (s * 4 + t))) continue;
                bool by_blocks = k % 4 > 1 && results[t] == QDQ_INT4;
                // Blocks of rows only: the scale has a column for each column of x.
                const grain *g = by_blocks    ? &blocks_of_matrices[1 + k / 4 % 2]
                                 : k % 4 == 0 ? &tensors[k / 4 % 2]
                                              : &channels[k / 4];
                f.from = floats[s], f.to = results[t], f.backends = TRIPY;
                make_form(&f, g, f.from, k + 100 * (unsigned)(20 + s * 4 + t));
                check_form(&f, k / 4 % 2);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensorrt_and_core_divide_and_round_half_to_even),
        cmocka_unit_test(scales_that_are_powers_of_two_divide_exactly),
        cmocka_unit_test(tripy_divides_and_rounds_half_to_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
