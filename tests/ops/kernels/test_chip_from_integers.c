// SPDX-License-Identifier: Apache-2.0
// The kernels of Dequantize and of Requantize with tensors, on a chip, equal the definition of one
// element: with codes of every dtype, one parameter for all and lists.
#include "ops/kernels/kernel.h"
#include "tests/ops/oracle.h"

enum { COUNT = 4096 };

static const qdq_dtype codes[3] = {QDQ_INT32, QDQ_INT8, QDQ_UINT8};

// The parameters of both sides: ordinary ones, and rare ones in a few parts.
typedef struct lists {
    uint32_t in_scale[COUNT], in_zero[COUNT], out_scale[COUNT], out_zero[COUNT];
} lists;

static float scale_of(uint64_t r, bool rare) {
    static const float odd[] = {1e-30f, 1e30f,  3e-39f,  0x1p100f, 0x1p-100f, -0.5f,
                                0,      1e-20f, 0x1p90f, 0x1p-89f, 1e38f,     1e-38f};
    if (rare) return odd[r % UNIT_COUNT(odd)];
    return (0.001f + (float)(r % 4096) / 1024.0f) * (r & 4096 ? -1.0f : 1.0f);
}

static void fill(lists *l, uint64_t *seed) {
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t r = unit_random(seed);
        bool rare = i / 256 % 4 == 3 && i % 17 == 0;
        l->in_scale[i] = qdq_float_bits(scale_of(r, rare));
        l->out_scale[i] = qdq_float_bits(scale_of(r >> 13, rare));
        l->in_zero[i] = (uint32_t)((int32_t)(r >> 26 & 511) - 256) << (rare ? 13 : 0);
        l->out_zero[i] = (uint32_t)((int32_t)(r >> 35 & 511) - 256);
    }
}

// Codes as int32 and in the dtype of x.
static void fill_codes(qdq_dtype dtype, int32_t *q, void *x, uint64_t *seed) {
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t r = unit_random(seed);
        q[i] = (int32_t)(r >> 32) >> (r % 4 * 8);
        if (i % 501 == 0) q[i] = i & 1 ? INT32_MIN : INT32_MAX;
        if (dtype == QDQ_INT8) q[i] = ((q[i] & 255) ^ 128) - 128;
        if (dtype == QDQ_UINT8) q[i] &= 255;
    }
    qdq_encode_int(dtype, q, x, COUNT);
}

static qdq_view nth(const uint32_t *list, bool many, size_t i) {
    return many ? (qdq_view){list, 1} : (qdq_view){list + i, 0};
}

static float at(qdq_view v, size_t i) { return qdq_float_from_bits(v.data[i * v.step]); }
static int32_t int_at(qdq_view v, size_t i) { return (int32_t)v.data[i * v.step]; }

//---- Dequantize -------------------------------------------------------------

static void check_back(const qdq_quant_params *p, const void *x, const int32_t *q,
                       const qdq_view *views) {
    static float want[COUNT], got[COUNT];
    static uint8_t bytes[COUNT * 4], wanted[COUNT * 4];
    for (size_t i = 0; i < COUNT; i++)
        want[i] = qdq_dequantize_one(&p->numerics, q[i], at(views[0], i), int_at(views[1], i));
    qdq_encode_float(p->y_dtype, want, wanted, COUNT, &p->numerics);
    for (int isa = 0; isa < 32; isa++) {
        if (!(qdq_cpu_isas() >> isa & 1)) continue;
        qdq_tile_fn *fn =
            qdq_quant_kernel(QDQ_FAMILY_DEQUANTIZE, p, 1u << isa | 1u << QDQ_ISA_PORTABLE);
        if (isa == QDQ_ISA_AVX2) assert_ptr_not_equal(fn, qdq_dequantize_tile_portable);
        fn(p, views, x, bytes, COUNT);
        qdq_decode_float(p->y_dtype, bytes, got, COUNT);
        for (size_t i = 0; i < COUNT * qdq_dtype_size(p->y_dtype); i++)
            if (bytes[i] != wanted[i])
                fail_msg("%s to %s, isa %d: byte %zu", qdq_dtype_name(p->x_dtype),
                         qdq_dtype_name(p->y_dtype), isa, i);
    }
}

static void dequantize_gives_the_bits_of_the_definition(void **state) {
    (void)state;
    static lists l;
    static int32_t q[COUNT], x[COUNT];
    uint64_t seed = 3;
    for (int kind = 0; kind < 48; kind++) {
        qdq_multiply_add chip = kind & 1 ? QDQ_MULTIPLY_ADD_BLACKHOLE : QDQ_MULTIPLY_ADD_WORMHOLE;
        bool exact = kind & 2, many = kind & 4;
        qdq_quant_params p = {.x_dtype = codes[kind / 16],
                              .y_dtype = kind & 8 ? QDQ_FLOAT32 : QDQ_BFLOAT16,
                              .numerics = {.multiply_add = chip,
                                           .bfloat16_store = QDQ_BFLOAT16_DEVICE,
                                           .sign_magnitude = true}};
        if (!exact) {
            p.numerics.subtraction = QDQ_SUBTRACT_FLOAT;
            p.numerics.code_bias = p.x_dtype == QDQ_INT8 ? 128 : 0;
        }
        p.range = qdq_range_of(p.x_dtype, NULL, NULL, &p.numerics);
        fill(&l, &seed), fill_codes(p.x_dtype, q, x, &seed);
        for (size_t i = 0; i < (many ? 1 : 5); i++)
            check_back(&p, x, q, (qdq_view[2]){nth(l.in_scale, many, i), nth(l.in_zero, many, i)});
    }
}

//---- Requantize -------------------------------------------------------------

static void check_again(const qdq_quant_params *p, qdq_tile_fn *fn, const void *params,
                        const void *x, const int32_t *q, const qdq_view *v) {
    static uint8_t y[COUNT * 4];
    static int32_t got[COUNT];
    fn(params, v, x, y, COUNT);
    qdq_decode_int(p->y_dtype, y, got, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const qdq_requantize_scales s = {at(v[0], i), at(v[2], i), int_at(v[1], i),
                                         int_at(v[3], i)};
        int32_t want = qdq_requantize_one(&p->numerics, (float)q[i], q[i], true, &s, &p->range);
        if (got[i] != want)
            fail_msg("%s to %s, chip %d: (%d - %d) * %a / %a + %d: want %d, got %d",
                     qdq_dtype_name(p->x_dtype), qdq_dtype_name(p->y_dtype),
                     (int)p->numerics.multiply_add, q[i], s.in_zero_point, s.in_scale, s.out_scale,
                     s.out_zero_point, want, got[i]);
    }
}

static void four_tensors_along_an_axis_give_the_bits_of_the_definition(void **state) {
    (void)state;
    static lists l;
    static int32_t q[COUNT], x[COUNT];
    uint64_t seed = 4;
    for (int kind = 0; kind < 12; kind++) {
        qdq_quant_params p = {.x_dtype = codes[kind / 4],
                              .y_dtype = QDQ_INT32,
                              .numerics = {.multiply_add = kind & 1 ? QDQ_MULTIPLY_ADD_BLACKHOLE
                                                                    : QDQ_MULTIPLY_ADD_WORMHOLE,
                                           .requantize_form = QDQ_REQUANTIZE_EXPANDED,
                                           .bfloat16_store = QDQ_BFLOAT16_DEVICE,
                                           .rounding = QDQ_ROUND_TRUNCATE}};
        p.range = qdq_range_of(p.y_dtype, NULL, NULL, &p.numerics);
        fill(&l, &seed), fill_codes(p.x_dtype, q, x, &seed);
        bool many = kind & 2;
        const qdq_view v[4] = {nth(l.in_scale, many, 1), nth(l.in_zero, many, 1),
                               nth(l.out_scale, true, 1), nth(l.out_zero, many, 1)};
        for (int isa = 0; isa < 32; isa++) {
            if (!(qdq_cpu_isas() >> isa & 1)) continue;
            qdq_tile_fn *fn =
                qdq_quant_kernel(QDQ_FAMILY_REQUANTIZE, &p, 1u << isa | 1u << QDQ_ISA_PORTABLE);
            if (isa == QDQ_ISA_AVX2) assert_ptr_not_equal(fn, qdq_requantize_tile_portable);
            check_again(&p, fn, &p, x, q, v);
        }
    }
}

// The second half with each kind of out_scale and out_zero_point.
static void set_second_half(qdq_numerics *n, int kind) {
    n->rounding = QDQ_ROUND_HALF_AWAY, n->nan = QDQ_NAN_BY_SIGN, n->fold_128 = true;
    if (kind == 0) n->zero_point_order = QDQ_ZERO_POINT_FMA;
    if (kind == 1) {
        n->zero_point_order = QDQ_ZERO_POINT_AFTER_MAGIC, n->rounding = QDQ_ROUND_HALF_EVEN;
        n->fold_128 = false, n->scaling = QDQ_SCALE_DEVICE_RECIPROCAL;
    }
    if (kind < 2) return;
    n->zero_point_order = QDQ_ZERO_POINT_BEFORE, n->quantize_step_dtype = QDQ_BFLOAT16;
    n->scaling = kind == 2 ? QDQ_SCALE_DIVIDE : QDQ_SCALE_RECIPROCAL;
    *(kind == 2 ? &n->scale_dtype : &n->reciprocal_dtype) = QDQ_BFLOAT16;
}

static void two_kernels_with_bfloat16_between_give_the_bits_of_the_definition(void **state) {
    (void)state;
    static lists l;
    static int32_t q[COUNT], x[COUNT];
    uint64_t seed = 5;
    for (int kind = 0; kind < 48; kind++) {
        qdq_quant_params p = {.x_dtype = codes[kind / 16],
                              .y_dtype = QDQ_INT8,
                              .numerics = {.multiply_add = kind & 1 ? QDQ_MULTIPLY_ADD_BLACKHOLE
                                                                    : QDQ_MULTIPLY_ADD_WORMHOLE,
                                           .requantize_dtype = QDQ_BFLOAT16,
                                           .bfloat16_load = QDQ_BFLOAT16_LOAD_DEVICE,
                                           .bfloat16_store = QDQ_BFLOAT16_DEVICE,
                                           .sign_magnitude = true}};
        if (kind & 8) p.numerics.subtraction = QDQ_SUBTRACT_FLOAT;
        if (kind & 8) p.numerics.code_bias = p.x_dtype == QDQ_INT8 ? 128 : 0;
        set_second_half(&p.numerics, kind / 2 % 4);
        p.range = qdq_range_of(p.y_dtype, NULL, NULL, &p.numerics);
        qdq_pair_params pair = {.first = p, .second = p};
        pair.first.y_dtype = pair.second.x_dtype = QDQ_BFLOAT16;
        fill(&l, &seed), fill_codes(p.x_dtype, q, x, &seed);
        const qdq_view v[4] = {nth(l.in_scale, true, 0), nth(l.in_zero, true, 0),
                               nth(l.out_scale, kind % 3, 0), nth(l.out_zero, kind % 5, 0)};
        for (int isa = 0; isa < 32; isa++) {
            if (!(qdq_cpu_isas() >> isa & 1)) continue;
            uint32_t isas = 1u << isa | 1u << QDQ_ISA_PORTABLE;
            pair.dequantize = qdq_quant_kernel(QDQ_FAMILY_DEQUANTIZE, &pair.first, isas);
            pair.quantize = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &pair.second, isas);
            check_again(&p, qdq_requantize_pair_tile, &pair, x, q, v);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dequantize_gives_the_bits_of_the_definition),
        cmocka_unit_test(four_tensors_along_an_axis_give_the_bits_of_the_definition),
        cmocka_unit_test(two_kernels_with_bfloat16_between_give_the_bits_of_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
