// SPDX-License-Identifier: Apache-2.0
// The kernels for numerics that have no kernel of their own. With random choices of all fields they
// give the bits of the portable kernel, the definition, for ties and their neighbours, all kinds of
// floats, extreme codes and zero points, at many lengths, with one parameter or lists of them. Each
// rounding with each overflow, NaN and order of the zero point also equals a plain formula in
// doubles.
#include <math.h>

#include "ops/kernels/kernel.h"
#include "tests/unit.h"

enum { MOST = 1024, GUARD = 64, ROUNDS = 6000 };

typedef struct work {
    uint32_t params[4][MOST];
    _Alignas(64) unsigned char x[MOST * 4 + 64], y[2][MOST * 4 + 2 * GUARD];
} work;

static qdq_tile_fn *portable_of(qdq_family family) {
    return qdq_kernel_find(family, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, 1u << QDQ_ISA_PORTABLE);
}

// The kernels for all numerics on one instruction set that this machine has.
static bool is_general(const qdq_kernel *k) {
    return k->family <= QDQ_FAMILY_REQUANTIZE && !k->numerics && k->isa != QDQ_ISA_PORTABLE &&
           (qdq_cpu_isas() >> k->isa & 1);
}

//---- All fields -------------------------------------------------------------

static uint64_t pick(uint64_t *seed, uint64_t count) { return (unit_random(seed) >> 17) % count; }

static qdq_dtype pick_step(uint64_t *seed) {
    static const qdq_dtype steps[] = {QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, QDQ_BFLOAT16,
                                      QDQ_FLOAT16,    QDQ_FLOAT32,    QDQ_FLOAT8_E5M2};
    return steps[pick(seed, 6) % (pick(seed, 8) ? 4 : 6)];
}

// Half of the fields keep their default, so that the others matter.
static qdq_numerics pick_numerics(uint64_t *seed) {
    qdq_numerics n = {0};
#define SOME(field, value) \
    if (pick(seed, 2)) n.field = value
    SOME(rounding, (qdq_rounding)pick(seed, 5));
    SOME(scaling, (qdq_scaling)pick(seed, 2));
    SOME(zero_point_order, (qdq_zero_point_order)pick(seed, 4));
    SOME(overflow, (qdq_overflow)pick(seed, 5));
    SOME(nan, (qdq_nan)pick(seed, 4));
    SOME(subtraction, (qdq_subtraction)pick(seed, 2));
    SOME(requantize_form, (qdq_requantize_form)pick(seed, 3));
    SOME(bfloat16_store, (qdq_bfloat16_store)pick(seed, 4));
    SOME(input_dtype, pick_step(seed));
    SOME(scale_dtype, pick_step(seed));
    SOME(reciprocal_dtype, pick_step(seed));
    SOME(quantize_step_dtype, pick_step(seed));
    SOME(dequantize_step_dtype, pick_step(seed));
    SOME(requantize_dtype, pick_step(seed));
    SOME(code_bias, (int32_t)pick(seed, 3) * 64);
    SOME(flush_denormals, true);
    SOME(bfloat16_load, (qdq_bfloat16_load)pick(seed, 2));
#undef SOME
    if (pick(seed, 8) == 0) n.narrow = true, n.quant_min = -127, n.quant_max = 127;
    return n;
}

static uint32_t pick_scale(uint64_t *seed) {
    static const float odd[8] = {0, -0.0f, INFINITY, NAN, -0.25f, 1e-40f, 0x1p-126f, 3e38f};
    uint64_t r = unit_random(seed);
    if (r % 64 == 0) return qdq_float_bits(odd[r >> 8 & 7]);
    if (r % 64 == 1) return qdq_float_bits(-NAN);
    if (r % 4 == 1) return qdq_float_bits(ldexpf(1.0f, (int)(r >> 8 & 15) - 8));
    return qdq_float_bits((float)((r >> 8 & 127) + 1) / 127.0f);
}

static uint32_t pick_zero_point(uint64_t *seed, bool is_unsigned) {
    static const int32_t odd[4] = {INT32_MAX, INT32_MIN, 1 << 20, -(1 << 20) - 1};
    uint64_t r = unit_random(seed);
    if (r % 256 == 0) return (uint32_t)odd[r >> 8 & 3];
    if (r % 4 == 0) return 0;
    return (uint32_t)(r >> 8 & 255) - (is_unsigned ? 0 : 128);
}

static void make_params(work *w, const qdq_quant_params *p, unsigned round, qdq_view *views,
                        uint64_t *seed) {
    bool x_unsigned = p->x_dtype == QDQ_UINT8, y_unsigned = p->y_dtype == QDQ_UINT8;
    for (unsigned k = 0; k < 4; k++) {
        bool alike = round % 3 != 1 || pick(seed, 8) == 0;
        views[k] = (qdq_view){w->params[k], alike ? 0 : 1};
        for (size_t i = 0; i < MOST; i++) {
            w->params[k][i] = k % 2 == 0 ? pick_scale(seed)
                                         : pick_zero_point(seed, k == 1 ? x_unsigned : y_unsigned);
            if (round % 4 && (w->params[k][i] + (1u << 20) > 1u << 21) == (k % 2))
                w->params[k][i] = k % 2 ? 3 : qdq_float_bits(0.03125f);  // nothing odd
            if (alike) w->params[k][i] = w->params[k][0];
        }
    }
}

// A tie, a neighbour, an odd float or any float.
static float pick_float(uint64_t *seed, float scale) {
    static const uint32_t odd[16] = {0,          0x80000000, 0x7F800000, 0xFF800000,
                                     0x7FC00000, 0xFFC12345, 0x00000001, 0x80000001,
                                     0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF,
                                     0x4F000000, 0xCF000000, 0x3F7FFFFF, 0x7FA00001};
    uint64_t r = unit_random(seed);
    if (r % 32 == 0) return qdq_float_from_bits(odd[r >> 8 & 15]);
    if (r % 32 == 1) return qdq_float_from_bits((uint32_t)(r >> 16));
    float x = ((float)((int)(r >> 20 & 1023) - 512) + (r >> 8 & 1 ? 0.5f : 0.0f)) * scale;
    uint32_t bits = qdq_float_bits(x) + (uint32_t)((int)(r >> 9 & 3) - 1);
    return r % 16 < 9 ? qdq_float_from_bits(bits) : x;
}

static void make_x(work *w, qdq_dtype dtype, size_t at, bool small, uint64_t *seed) {
    size_t size = qdq_dtype_size(dtype);
    for (size_t i = 0; i < MOST; i++) {
        uint32_t bits = (uint32_t)(unit_random(seed) >> 13);
        float scale = qdq_float_from_bits(w->params[0][i]);
        float real = pick_float(seed, scale);
        if (small && !(fabsf(real) < 1e6f)) real = 1.5f * scale;
        if (qdq_dtype_is_real(dtype)) qdq_encode_float(dtype, &real, &bits, 1, NULL);
        if (dtype == QDQ_INT32 && (small || bits % 16)) bits = bits % 2000 - 1000;
        memcpy(w->x + at + i * size, &bits, size);
    }
}

static qdq_quant_params pick_params(qdq_family family, uint64_t *seed) {
    static const qdq_dtype floats[] = {QDQ_FLOAT32, QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    static const qdq_dtype ints[] = {QDQ_INT8,  QDQ_UINT8,  QDQ_INT8, QDQ_INT32,
                                     QDQ_INT16, QDQ_UINT16, QDQ_INT4, QDQ_UINT4};
    qdq_quant_params p = {.numerics = pick_numerics(seed)};
    qdq_dtype real = floats[pick(seed, 4)], codes = ints[pick(seed, 8)];
    int64_t least = -3, most = 6;
    p.x_dtype = family == QDQ_FAMILY_QUANTIZE     ? (pick(seed, 6) ? real : QDQ_INT32)
                : family == QDQ_FAMILY_DEQUANTIZE ? codes
                : pick(seed, 4)                   ? ints[pick(seed, 8)]
                                                  : real;
    p.y_dtype = family == QDQ_FAMILY_DEQUANTIZE ? real : codes;
    if (codes == QDQ_UINT8 || codes == QDQ_UINT4 || codes == QDQ_UINT16) least = 2;
    p.range = qdq_range_of(codes, pick(seed, 8) ? NULL : &least, pick(seed, 8) ? NULL : &most,
                           &p.numerics);
    return p;
}

static void check(const qdq_kernel *k, unsigned round, work *w) {
    static const size_t lengths[] = {1, 7, 31, 64, 255, 256, 257, 600, MOST};
    uint64_t seed = round * 7919 + 1 + (uint64_t)k->family;
    for (int i = 0; i < 4; i++) (void)unit_random(&seed);
    qdq_quant_params p = pick_params(k->family, &seed);
    size_t n = lengths[round % 9], x_size = qdq_dtype_size(p.x_dtype);
    size_t y_size = qdq_dtype_size(p.y_dtype), x_at = round % 3 * x_size;
    size_t y_at = GUARD + round % 5 * y_size, bytes = y_at + n * y_size + GUARD / 2;
    qdq_view views[4];
    make_params(w, &p, round, views, &seed);
    make_x(w, p.x_dtype, x_at, round % 2, &seed);
    memset(w->y, 0xA5, sizeof w->y);
    portable_of(k->family)(&p, views, w->x + x_at, w->y[0] + y_at, n);
    k->fn(&p, views, w->x + x_at, w->y[1] + y_at, n);
    if (memcmp(w->y[0], w->y[1], bytes) == 0) return;
    size_t i = 0;
    while (w->y[0][i] == w->y[1][i]) i++;
#define PRINT_FIELD(field, cause) print_message("%s %g\n", #field, (double)p.numerics.field);
    QDQ_NUMERICS_FIELDS(PRINT_FIELD)
#undef PRINT_FIELD
    fail_msg("%s, round %u, %s to %s, n %zu, element %zu of byte %zu: got %#x, want %#x", k->name,
             round, qdq_dtype_name(p.x_dtype), qdq_dtype_name(p.y_dtype), n, (i - y_at) / y_size,
             (i - y_at) % y_size, w->y[1][i], w->y[0][i]);
}

static void all_numerics_give_the_bits_of_the_portable_kernel(void **state) {
    static work w;
    size_t count;
    const qdq_kernel *kernels = qdq_kernels(&count);
    unsigned rounds = unit_slow() ? ROUNDS / 10 : ROUNDS;
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (unsigned round = 0; is_general(&kernels[i]) && round < rounds; round++)
            check(&kernels[i], round, &w);
}

//---- A plain formula --------------------------------------------------------

// v has few bits, so that sums of doubles are exact.
static double rounded(qdq_rounding rounding, double v) {
    switch (rounding) {
    case QDQ_ROUND_HALF_AWAY: return v < 0 ? -floor(0.5 - v) : floor(v + 0.5);
    case QDQ_ROUND_HALF_UP: return floor(v + 0.5);
    case QDQ_ROUND_TRUNCATE: return v < 0 ? ceil(v) : floor(v);
    case QDQ_ROUND_HALF_UP_BIASED: {
        double up = floor((double)((float)v + 128.0f) + 0.5);
        return (up < 0 ? 0 : up > 255 ? 255 : up) - 128;
    }
    default: {
        double low = floor(v), rest = v - low;
        if (rest < 0.5 || (rest == 0.5 && fmod(low, 2) == 0)) return low;
        return low + 1;
    }
    }
}

// The code of x with scale s and zero point z as int8.
static int code_of(const qdq_numerics *n, float x, float s, int z) {
    double v = n->scaling == QDQ_SCALE_RECIPROCAL ? x * (1.0f / s) : x / s, q;
    if (n->zero_point_order == QDQ_ZERO_POINT_BEFORE)
        q = rounded(n->rounding, (float)v + (float)z);
    else if (n->zero_point_order == QDQ_ZERO_POINT_AFTER_FLOAT)
        q = rounded(n->rounding, rounded(n->rounding, v) + z);
    else if (n->zero_point_order == QDQ_ZERO_POINT_FMA)
        q = rounded(n->rounding, fmaf(x, 1.0f / s, (float)z));
    else
        q = rounded(n->rounding, v) + z;
    // NaN as int32, to which a zero point is added that may wrap around
    int after = n->zero_point_order == QDQ_ZERO_POINT_AFTER ? z : 0;
    if (isnan(x) && n->overflow == QDQ_OVERFLOW_X86) return after < 0 ? 127 : -128;
    if (isnan(x) && n->overflow == QDQ_OVERFLOW_ARM) return after;
    if (isnan(x)) q = n->nan == QDQ_NAN_QUANT_MAX ? 127 : n->nan == QDQ_NAN_ZERO_POINT ? z : -128;
    if (n->overflow == QDQ_OVERFLOW_MAGNITUDE) q = fabs(q);
    if (n->overflow == QDQ_OVERFLOW_WRAP) return (int8_t)(uint8_t)((int64_t)q & 255);
    return q < -128 ? -128 : q > 127 ? 127 : (int)q;
}

// Quotients from -400 to 400 in steps of a quarter, each with its neighbours, and NaN.
static size_t make_quotients(float scale, float *x) {
    size_t n = 0;
    for (int i = -1600; i <= 1600; i++)
        for (int side = -1; side <= 1; side++) {
            float v = (float)i * 0.25f * scale;
            x[n++] = side ? nextafterf(v, side < 0 ? -INFINITY : INFINITY) : v;
        }
    x[n++] = NAN;
    return n;
}

// Quotients that are far from ties, so that products may stand for them; one in 64 is up to 0.001
// from a tie or an integer.
static size_t make_far_quotients(float scale, uint64_t seed, float *x) {
    enum { COUNT = 4096 };
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t r = unit_random(&seed);
        float whole = (float)((int)(r >> 8 & 511) - 256), rest = (float)(r >> 20 & 1023) / 1024.0f;
        rest = 0.05f + rest * 0.4f + (r & 1 ? 0.5f : 0.0f);
        if (i % 64 == (i / 64) % 64)
            rest = (r & 1 ? 0.5f : 0.0f) + ((float)(r >> 20 & 4095) - 2048.0f) * 0x1p-21f;
        x[i] = (whole + rest) * scale;
    }
    return COUNT;
}

static void check_formula(const qdq_kernel *k, const qdq_numerics *n, float scale, int z,
                          const float *x, size_t count) {
    static int8_t y[9700];
    qdq_quant_params p = {.numerics = *n, .x_dtype = QDQ_FLOAT32, .y_dtype = QDQ_INT8};
    p.range = qdq_range_of(QDQ_INT8, NULL, NULL, n);
    uint32_t s = qdq_float_bits(scale), zero_point = (uint32_t)z;
    k->fn(&p, (qdq_view[2]){{&s, 0}, {&zero_point, 0}}, x, y, count);
    for (size_t i = 0; i < count; i++)
        if (y[i] != code_of(n, x[i], scale, z))
            fail_msg("%s, rounding %d, scaling %d, order %d, overflow %d, NaN %d: %a / %a, z %d: "
                     "got %d, want %d",
                     k->name, (int)n->rounding, (int)n->scaling, (int)n->zero_point_order,
                     (int)n->overflow, (int)n->nan, (double)x[i], (double)scale, z, y[i],
                     code_of(n, x[i], scale, z));
}

static void check_formulas(const qdq_kernel *k, const qdq_numerics *n, float scale, int z) {
    static float x[9700];
    check_formula(k, n, scale, z, x, make_quotients(scale, x));
    check_formula(k, n, scale, z, x, make_far_quotients(scale, (uint64_t)z + 1000, x));
}

static void quantize_equals_a_plain_formula(void **state) {
    size_t count;
    const qdq_kernel *kernels = qdq_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!is_general(&kernels[i]) || kernels[i].family != QDQ_FAMILY_QUANTIZE) continue;
        for (int choice = 0; choice < 5 * 2 * 4 * 5 * 3; choice++) {
            qdq_numerics n = {.rounding = (qdq_rounding)(choice % 5),
                              .scaling = (qdq_scaling)(choice / 5 % 2),
                              .zero_point_order = (qdq_zero_point_order)(choice / 10 % 4),
                              .overflow = (qdq_overflow)(choice / 40 % 5),
                              .nan = (qdq_nan)(choice / 200)};
            check_formulas(&kernels[i], &n, 0.25f, 3);
            check_formulas(&kernels[i], &n, 0.3f, -7);
            check_formulas(&kernels[i], &n, 0.0371f, -128);
        }
    }
}

// No numerics but a chip's arithmetic are left to the portable kernel.
static void every_field_has_a_vector_kernel(void **state) {
    uint64_t seed = 3;
    (void)state;
    if (qdq_cpu_isas() == 1u << QDQ_ISA_PORTABLE) skip();
    for (int round = 0; round < 2000; round++)
        for (int f = QDQ_FAMILY_QUANTIZE; f <= QDQ_FAMILY_REQUANTIZE; f++) {
            qdq_quant_params p = pick_params((qdq_family)f, &seed);
            assert_ptr_not_equal(qdq_quant_kernel((qdq_family)f, &p, qdq_cpu_isas()),
                                 portable_of((qdq_family)f));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_numerics_give_the_bits_of_the_portable_kernel),
        cmocka_unit_test(quantize_equals_a_plain_formula),
        cmocka_unit_test(every_field_has_a_vector_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
