// SPDX-License-Identifier: Apache-2.0
// DynamicQuantize with the block-float and torchao schemes, on the core target, against
// scheme_model.h: every granularity on ragged shapes, every kind of block contents, in strips and
// in tiles.
#include "tests/ops/quantize/scheme_model.h"

static const grain shapes[] = {
    {QDQ_PER_TENSOR, 0, {2, {33, 65}}, {0}},
    {QDQ_PER_TENSOR, 0, {1, {5}}, {0}},
    {QDQ_PER_TENSOR, 0, {3, {2, 3, 70}}, {0}},
    {QDQ_PER_CHANNEL, 0, {2, {33, 65}}, {0}},
    {QDQ_PER_CHANNEL, 1, {2, {33, 65}}, {0}},
    {QDQ_PER_CHANNEL, -3, {3, {2, 3, 70}}, {0}},
    {QDQ_PER_CHANNEL, 1, {3, {2, 3, 70}}, {0}},
    {QDQ_PER_CHANNEL, -1, {3, {2, 3, 70}}, {0}},
    {QDQ_PER_CHANNEL, 0, {1, {5}}, {0}},
    {QDQ_PER_GROUP, 0, {2, {33, 65}}, {2, {1, 32}}},
    {QDQ_PER_GROUP, 0, {2, {33, 65}}, {2, {1, 16}}},
    {QDQ_PER_GROUP, 0, {2, {33, 65}}, {2, {32, 1}}},
    {QDQ_PER_GROUP, 0, {2, {33, 65}}, {2, {5, 31}}},
    {QDQ_PER_GROUP, 0, {2, {33, 65}}, {2, {1, 1}}},
    {QDQ_PER_GROUP, 0, {3, {2, 3, 70}}, {3, {1, 1, 32}}},
    {QDQ_PER_GROUP, 0, {3, {2, 3, 70}}, {3, {-1, 2, 17}}},
    {QDQ_PER_GROUP, 0, {3, {2, 3, 70}}, {3, {1, -1, 16}}},
    {QDQ_PER_GROUP, 0, {1, {5}}, {1, {2}}},
};
static const qdq_dtype floats[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
static const qdq_dtype small_results[] = {QDQ_FLOAT8_E4M3FN, QDQ_FLOAT8_E5M2, QDQ_FLOAT4_E2M1,
                                          QDQ_FLOAT8_E4M3FNUZ, QDQ_FLOAT8_E5M2FNUZ};
static const qdq_scheme mx_schemes[] = {QDQ_MX_FLOOR, QDQ_MX_CEIL, QDQ_MX_EVEN, QDQ_MX_RCEIL};

//---- Data -------------------------------------------------------------------

enum { KINDS = 16 };

// A value of the dtype, or a neighbour of it.
static uint32_t nudged(qdq_dtype dtype, double value, uint64_t r) {
    uint32_t bits = bits_of(dtype, value), rest = dtype == QDQ_FLOAT32 ? 0x7FFFFFFF : 0x7FFF;
    if (isnan(value) || isinf(value) || (bits & rest) == 0) return bits;
    return bits + (uint32_t)((int)(r % 3) - 1);
}

// Magnitudes where a scale changes to the next code: the factors of 2^k at which a mode rounds, and
// the largest code times each possible float8 scale.
static double turning(const scheme_case *c, uint64_t r) {
    static const double at[] = {1, 1.75, 1.9375, 1.875, 1.5, 2};
    const small_format *f = small_format_of(c->to), *e4m3 = small_format_of(QDQ_FLOAT8_E4M3FN);
    double size = at[r % 6] * ldexp(1, (int)(r >> 8 & 15) - 8);
    if (c->scheme == QDQ_NVFP4) {
        unsigned code = (unsigned)(r >> 16) % 126;
        double half = (small_magnitude(e4m3, code) + small_magnitude(e4m3, code + 1)) / 2;
        return r & 1 ? size : 6 * half * scheme_global(c);
    }
    return f && r & 16 ? scheme_largest(c->to) * ldexp(1, (int)(r >> 8 & 7) - 7) : size;
}

// Halfway between two codes of the result, in a block with scale 2^power.
static double halfway(const scheme_case *c, uint64_t r, int power) {
    const small_format *f = small_format_of(c->to);
    double v = (double)(r % 255) - 127.5;
    if (f) {
        unsigned code = (unsigned)(r % small_largest(f));
        v = (small_magnitude(f, code) + small_magnitude(f, code + 1)) / 2;
        if (r >> 20 & 1) v = -v;
    }
    return ldexp(v, power);
}

// One element of a block of a kind. `size` is the block's critical magnitude, the same for all its
// elements.
static double element(const scheme_case *c, size_t kind, double size, uint64_t r) {
    double unit = (double)(int32_t)(r >> 32) * 0x1p-31;
    double tiny = c->from == QDQ_FLOAT16 ? 0x1p-14 : 0x1p-126;  // the least normal number
    double huge = c->from == QDQ_FLOAT16    ? 65504
                  : c->from == QDQ_BFLOAT16 ? 0x1.FEp127
                                            : 0x1.FFFFFEp127;
    switch (kind) {
    case 0: return unit;
    case 1: return 0;
    case 2: return r % 5 ? -0.0 : 0;
    case 3: return 2.5;
    case 4: return -size;
    case 5: return r % 5 ? unit * 7 : (double)NAN;
    case 6: return NAN;
    case 7: return r % 9 ? unit : r & 64 ? INFINITY : -INFINITY;
    case 8: return unit * tiny;  // denormals
    case 9: return r % 7 ? 1.0 : unit * tiny;
    case 10: return unit * huge;
    case 11: return r % 3 ? unit * huge : unit;
    case 12: return r % 2 ? size : -size * fabs(unit);
    case 13: return r % 3 == 0 ? size : r % 3 == 1 ? 0.25 * size : unit * size;
    case 14: return halfway(c, r, (int)(size < 1) - 2);
    default: return r % 64 ? (double)(r % 9) * 0.5 - 2 : unit * 1000;
    }
}

// Block b has kind first + b.
static void fill(scheme_case *c, size_t first, uint64_t *seed) {
    uint64_t salt = unit_random(seed);
    for (size_t i = 0, n = qdq_shape_count(c->grain->shape); i < n; i++) {
        size_t kind = block_of(c->grain, i) + first;
        uint64_t of_block = salt + kind * 0x9E3779B97F4A7C15u, r = unit_random(seed);
        of_block ^= of_block >> 29;
        double size = turning(c, of_block), v = element(c, kind % KINDS, size, r);
        uint64_t nudge = kind % KINDS == 14 || kind % KINDS == 3 ? 1 : of_block >> 50;
        c->x[i] = kind % KINDS < 3 ? bits_of(c->from, v) : nudged(c->from, v, nudge);
    }
}

//---- Every combination ------------------------------------------------------

static size_t elements;  // how many were compared in the whole run

// Runs a case with all kinds of blocks, in strips and in tiles.
static void check_case(scheme_case *c, uint64_t seed) {
    static scheme_result want, got;
    size_t blocks = qdq_shape_count(scheme_scale_shape(c->grain));
    size_t step = blocks < KINDS ? blocks : KINDS;
    for (int i = 0; i < 8; i++) (void)unit_random(&seed);
    for (size_t first = 0; first < KINDS; first += step) {
        fill(c, first, &seed);
        scheme_expect(c, &want);
        for (int materialize = 0; materialize < 2; materialize++) {
            scheme_run(c, &(qdq_compile_options){.materialize = materialize}, &got);
            scheme_compare(c, materialize ? " in tiles" : "", &got, &want);
        }
        elements += qdq_shape_count(c->grain->shape);
    }
}

static void block_scales_of_every_mode_equal_the_model(void **state) {
    (void)state;
    static scheme_case c;
    uint64_t seed = 1;
    for (size_t g = 0; g < UNIT_COUNT(shapes); g++)
        for (size_t s = 0; s < UNIT_COUNT(mx_schemes); s++)
            for (size_t f = 0; f < UNIT_COUNT(floats); f++)
                for (size_t t = 0; t < UNIT_COUNT(small_results); t++) {
                    if (t > 2 && g % 3) continue;
                    c = (scheme_case){"mx",          &shapes[g],
                                      floats[f],     small_results[t],
                                      mx_schemes[s], .global_from = NOWHERE};
                    check_case(&c, ++seed);
                }
}

static void nvfp4_equals_the_model_with_and_without_a_global_scale(void **state) {
    (void)state;
    static scheme_case c;
    static const float globals[] = {1, 0.5f, 3.0f / 7, 1.0f / 2688, 1e-4f, 6e4f, 0.1f};
    uint64_t seed = 1000;
    for (size_t g = 0; g < UNIT_COUNT(shapes); g++)
        for (size_t f = 0; f < UNIT_COUNT(floats); f++)
            for (unsigned k = 0; k < 1 + 3 * UNIT_COUNT(globals); k++) {
                if ((k + g) % 3 != f && k) continue;
                c = (scheme_case){"nvfp4",         &shapes[g], floats[f],
                                  QDQ_FLOAT4_E2M1, QDQ_NVFP4,  .global_from = NOWHERE};
                if (k) c.global_from = (origin)(k % 3), c.global = globals[(k - 1) / 3];
                c.global_dtype = c.global_from == ATTRIBUTE ? QDQ_FLOAT32 : floats[(k + g) % 3];
                c.global =
                    (float)value_of(c.global_dtype, bits_of(c.global_dtype, (double)c.global));
                check_case(&c, ++seed);
            }
}

// Scales that overflow, vanish or change sign follow the formulas as they are.
static void nvfp4_equals_the_model_with_a_global_scale_of_any_kind(void **state) {
    (void)state;
    static scheme_case c;
    static const float globals[] = {1e-38f, 3e38f, 0x1p-149f, 0x1p-126f, 0.0f, -0.0f, -1.0f, -0.3f};
    uint64_t seed = 1500;
    for (size_t g = 0; g < UNIT_COUNT(shapes); g++)
        for (size_t k = 0; k < UNIT_COUNT(globals); k++) {
            c = (scheme_case){"odd global scale",
                              &shapes[g],
                              floats[k % 3],
                              QDQ_FLOAT4_E2M1,
                              QDQ_NVFP4,
                              .global_from = INPUT,
                              .global_dtype = QDQ_FLOAT32,
                              .global = globals[k]};
            check_case(&c, ++seed);
        }
}

static void symmetric_float8_spreads_the_magnitude_over_the_largest_value(void **state) {
    (void)state;
    static scheme_case c;
    uint64_t seed = 2000;
    for (size_t g = 0; g < UNIT_COUNT(shapes); g++)
        for (size_t f = 0; f < UNIT_COUNT(floats); f++)
            for (size_t t = 0; t < UNIT_COUNT(small_results); t++)
                for (int eps = 0; eps < 2; eps++) {
                    if (small_results[t] == QDQ_FLOAT4_E2M1 || (size_t)eps > g % 2) continue;
                    c = (scheme_case){"symmetric",           &shapes[g],    floats[f],
                                      small_results[t],      QDQ_SYMMETRIC, .eps = eps * 0.125,
                                      .global_from = NOWHERE};
                    check_case(&c, ++seed);
                }
}

static void symmetric_without_clipping_takes_the_greater_of_both_sides(void **state) {
    (void)state;
    static scheme_case c;
    static const struct {
        qdq_dtype to;
        qdq_int least, most;
    } results[] = {{QDQ_INT8, {.set = 0}, {.set = 0}},
                   {QDQ_UINT8, {.set = 0}, {.set = 0}},
                   {QDQ_INT4, {.set = 0}, {.set = 0}},
                   {QDQ_INT16, {.set = 0}, {.set = 0}},
                   {QDQ_INT32, {.set = 0}, {.set = 0}},
                   {QDQ_INT2, {.set = 0}, {.set = 0}},
                   {QDQ_UINT4, {.set = 0}, {.set = 0}},
                   {QDQ_INT8, {QDQ_GIVEN, -127, 0}, {.set = 0}},
                   {QDQ_INT8, {QDQ_GIVEN, -8, 0}, {QDQ_GIVEN, 7, 0}},
                   {QDQ_INT8, {QDQ_GIVEN, -3, 0}, {QDQ_GIVEN, 100, 0}},
                   {QDQ_INT8, {QDQ_GIVEN, 5, 0}, {QDQ_GIVEN, 90, 0}}};
    uint64_t seed = 3000;
    for (size_t g = 0; g < UNIT_COUNT(shapes); g++)
        for (size_t f = 0; f < UNIT_COUNT(floats); f++)
            for (size_t t = 0; t < UNIT_COUNT(results); t++) {
                c = (scheme_case){"no clipping",
                                  &shapes[g],
                                  floats[f],
                                  results[t].to,
                                  QDQ_SYMMETRIC_NO_CLIPPING,
                                  .eps = t % 3 == 1 ? 0.125 : 0,
                                  results[t].least,
                                  results[t].most,
                                  NOWHERE};
                check_case(&c, ++seed);
            }
}

static void a_million_elements_were_compared(void **state) {
    (void)state;
    if (elements < 1000000) fail_msg("%zu", elements);
}

//---- Padding ----------------------------------------------------------------

// x is an intermediate value made from codes near the zero point; padding would be far off if it
// counted.
static void padding_never_enters_a_block(void **state) {
    (void)state;
    static scheme_case c;
    static scheme_result want, got;
    static uint32_t codes[LARGEST];
    static const qdq_scheme schemes[] = {QDQ_MX_FLOOR,
                                         QDQ_MX_CEIL,
                                         QDQ_MX_EVEN,
                                         QDQ_MX_RCEIL,
                                         QDQ_NVFP4,
                                         QDQ_SYMMETRIC,
                                         QDQ_SYMMETRIC_NO_CLIPPING};
    for (size_t g = 0; g < UNIT_COUNT(shapes); g++)
        for (unsigned k = 0; k < 2 * UNIT_COUNT(schemes) * 3; k++) {
            qdq_scheme scheme = schemes[k / 6];
            qdq_dtype to = scheme == QDQ_NVFP4                   ? QDQ_FLOAT4_E2M1
                           : scheme == QDQ_SYMMETRIC_NO_CLIPPING ? QDQ_INT8
                                                                 : QDQ_FLOAT8_E4M3FN;
            c = (scheme_case){"padding", &shapes[g], floats[k / 2 % 3],
                              to,        scheme,     .global_from = NOWHERE};
            for (size_t i = 0; i < qdq_shape_count(shapes[g].shape); i++) {
                codes[i] = (uint32_t)(97 + i % 7);
                c.x[i] = bits_of(c.from, ((double)codes[i] - 100) * 0.5);
            }
            run r = {.graph = qdq_graph_create("padding", NULL)};
            qdq_value x = tensor(&r, "x", INPUT, QDQ_INT8, shapes[g].shape, codes);
            x = qdq_dequantize(r.graph, x,
                               (qdq_dequantize_attrs){
                                   .scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(100), .dtype = c.from});
            scheme_expect(&c, &want);
            scheme_execute(&r, &c, scheme_node(&r, &c, x),
                           &(qdq_compile_options){.materialize = k & 1}, &got);
            scheme_compare(&c, k & 1 ? " in tiles" : "", &got, &want);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_scales_of_every_mode_equal_the_model),
        cmocka_unit_test(nvfp4_equals_the_model_with_and_without_a_global_scale),
        cmocka_unit_test(nvfp4_equals_the_model_with_a_global_scale_of_any_kind),
        cmocka_unit_test(symmetric_float8_spreads_the_magnitude_over_the_largest_value),
        cmocka_unit_test(symmetric_without_clipping_takes_the_greater_of_both_sides),
        cmocka_unit_test(a_million_elements_were_compared),
        cmocka_unit_test(padding_never_enters_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
