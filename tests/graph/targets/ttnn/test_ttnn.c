// SPDX-License-Identifier: Apache-2.0
// Target `ttnn` computes as its device does: the oracle is checked against worked examples, then
// graphs against the oracle, on constructed ties, extremes and special values. Every graph runs
// fused and materialized.
#include "tests/graph/targets/ttnn/ttnn_check.h"
#include "tests/graph/targets/ttnn/ttnn_feed.h"

enum { MILLION = 1000000 };
static const qdq_dtype codes[3] = {QDQ_INT32, QDQ_INT8, QDQ_UINT8};

//---- The oracle itself ------------------------------------------------------

static void the_integer_stages_give_the_worked_table(void **state) {
    (void)state;
    enum { CLIPPED = 2147483647 };
    static const struct {
        double v;
        int64_t int32, int8, uint8, composite, even;
    } rows[] = {
        {0x1.fffffep-2, 0, 1, 0, 0, 0},
        {0.5, 1, 1, 1, 0, 0},
        {2.5, 3, 3, 3, 2, 2},
        {-0.5, -1, 0, 1, 0, 0},
        {-2.5, -3, -2, 3, -2, -2},
        {127.5, 127, 127, 128, 127, 128},
        {-127.5, -127, -127, 128, -127, -128},
        {-128.0, -127, -128, 128, -128, -128},
        {200.0, 127, 127, 200, 200, 200},
        {-5.0, -5, -5, 5, -5, -5},
        {300.0, 127, 127, 255, 300, 300},
        {NAN, 127, 127, 255, -CLIPPED - 1, 0},
    };
    ttnn_side scalar = {.scale = 1}, tensor = {.scale = 1, .zp_tensor = true};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        double v = rows[i].v;
        assert_int_equal(ttnn_round(v, QDQ_INT32), rows[i].int32);
        assert_int_equal(ttnn_round(v, QDQ_INT8), rows[i].int8);
        assert_int_equal(ttnn_round(v, QDQ_UINT8), rows[i].uint8);
        assert_int_equal(ttnn_quantize(v, QDQ_FLOAT32, scalar, QDQ_INT32), rows[i].int32);
        assert_int_equal(ttnn_quantize(v, QDQ_FLOAT32, scalar, QDQ_INT8), rows[i].int8);
        assert_int_equal(ttnn_quantize(v, QDQ_FLOAT32, scalar, QDQ_UINT8), rows[i].uint8);
        assert_int_equal(ttnn_quantize(v, QDQ_FLOAT32, tensor, QDQ_INT32), rows[i].composite);
        if (!isnan(v)) assert_int_equal(oracle_to_integer(v, QDQ_ROUND_HALF_EVEN), rows[i].even);
    }
    assert_int_equal(ttnn_quantize(300, QDQ_FLOAT32, tensor, QDQ_UINT8), 44);
    assert_int_equal(ttnn_quantize(-1, QDQ_FLOAT32, tensor, QDQ_UINT8), 255);
    // Close to a half, adding 128 lands on the tie.
    assert_int_equal(ttnn_round(-0.5 - 0x1p-20, QDQ_INT8), 0);
    assert_int_equal(ttnn_round(0.5 - 0x1p-17 - 0x1p-20, QDQ_INT8), 0);
    assert_int_equal(ttnn_round(0.5 - 0x1p-17 + 0x1p-20, QDQ_INT8), 1);
}

// Requantize of -128..127, against the exact value rounded half to even.
static void requantize_errs_as_often_as_the_worked_numbers(void **state) {
    (void)state;
    static const struct {
        double in;
        int64_t in_zp;
        double out;
        int64_t out_zp;
        int mixed, fused;
    } rows[] = {{0.02, 7, 0.05, 3, 95, 0},
                {0.001173, -213, 0.002727, -73, 72, 0},
                {0.1, 0, 0.03, 0, 111, -1}};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        ttnn_side in = {(double)(float)rows[i].in, rows[i].in_zp, false, false};
        ttnn_side out = {(double)(float)rows[i].out, rows[i].out_zp, false, false};
        ttnn_side in_tensor = in, out_tensor = out;
        in_tensor.zp_tensor = out_tensor.zp_tensor = true;
        int mixed = 0, fused = 0;
        for (int64_t q = -128; q < 128; q++) {
            double real = (double)(q - in.zp) * rows[i].in / rows[i].out + (double)out.zp;
            int64_t exact = oracle_to_integer(real, QDQ_ROUND_HALF_EVEN);
            int64_t m = ttnn_requantize(q, QDQ_INT32, in_tensor, out_tensor, false, QDQ_INT32);
            assert_true(llabs(m - exact) <= 1);
            mixed += m != exact;
            fused += ttnn_requantize(q, QDQ_INT32, in, out, false, QDQ_INT32) != exact;
        }
        assert_int_equal(mixed, rows[i].mixed);
        if (rows[i].fused >= 0) assert_int_equal(fused, rows[i].fused);
    }
}

static void bfloat16_is_stored_as_the_packer_does(void **state) {
    (void)state;
    static const struct {
        uint32_t bits;
        uint16_t even, away, truncated;
    } rows[] = {{0x43008000, 0x4300, 0x4301, 0x4300},  // 128.5
                {0x43018000, 0x4302, 0x4302, 0x4301},  // 129.5
                {0x3F808000, 0x3F80, 0x3F81, 0x3F80},  // 1.00390625
                {0x7FC00001, 0x7FC0, 0x7F80, 0x7FC0}};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        double v = (double)unit_float_of_bits(rows[i].bits);
        assert_true(ttnn_bfloat16(v) == oracle_of_bfloat16(rows[i].away));
        assert_int_equal(oracle_to_bfloat16(v, QDQ_BFLOAT16_HALF_EVEN), rows[i].even);
        assert_int_equal(oracle_to_bfloat16(v, QDQ_BFLOAT16_TRUNCATE), rows[i].truncated);
    }
    uint64_t seed = 5;  // both compute the same rounding
    for (int i = 0; i < 200000; i++) {
        double v = (double)unit_float_of_bits((uint32_t)unit_random(&seed) &
                                              (i % 2 ? 0xFFFF8000 : 0xFFFFFFFF));
        double stored = ttnn_bfloat16(v);
        assert_true(stored == oracle_of_bfloat16(oracle_to_bfloat16(v, QDQ_BFLOAT16_DEVICE)));
        assert_true(stored != 0 || !signbit(stored));
    }
    // A zero point of 257 becomes 258; sums above 256 are even, too.
    ttnn_side p = {1, 257, false, true};
    assert_int_equal(ttnn_quantize(0, QDQ_BFLOAT16, p, QDQ_INT32), 258);
    assert_int_equal(ttnn_quantize(0, QDQ_FLOAT32, p, QDQ_INT32), 257);
    for (int x = 0; x < 255; x++)
        assert_int_equal(ttnn_quantize(x, QDQ_BFLOAT16, p, QDQ_INT32) % 2, 0);
}

// The two paths of Dequantize agree in float32 and differ by at most one unit in bfloat16; the
// paths of Quantize differ by at most 1.
static void the_paths_agree_where_documented(void **state) {
    (void)state;
    uint64_t seed = 17;
    for (int i = 0; i < 200000; i++) {
        uint64_t r = unit_random(&seed);
        qdq_dtype type = codes[i % 3];
        int64_t q = (int64_t)(r & 255) - (type == QDQ_INT8 ? 128 : 0);
        ttnn_side scalar = {(double)ldexpf(1.0f + (float)(r >> 40) * 0x1p-24f, (int)(r >> 8 & 15)),
                            (int64_t)(r >> 16 & 1023) - 512, false, false};
        ttnn_side tensor = scalar;
        tensor.zp_tensor = true;
        double y = ttnn_dequantize(q, type, scalar, QDQ_FLOAT32);
        assert_true(y == ttnn_dequantize(q, type, tensor, QDQ_FLOAT32));
        double half = ttnn_dequantize(q, type, scalar, QDQ_BFLOAT16);
        assert_true(fabs(half - ttnn_dequantize(q, type, tensor, QDQ_BFLOAT16)) <= fabs(y) / 128);
        double x = ((double)q - 100) * scalar.scale / 3;
        scalar.zp = tensor.zp = (int64_t)(r >> 30 & 31) - 16;
        int64_t fused = ttnn_quantize((double)(float)x, QDQ_FLOAT32, scalar, QDQ_INT32);
        assert_true(
            llabs(fused - ttnn_quantize((double)(float)x, QDQ_FLOAT32, tensor, QDQ_INT32)) <= 1);
    }
}

//---- Quantize ---------------------------------------------------------------

// Quantizes one x with all kinds of arguments and all result dtypes.
static void add_quantize(batch *b, qdq_dtype from, double scale, int64_t zp, bool ports) {
    for (size_t n = 0; n < 12; n++) {
        size_t kind = n / 3;
        ttnn_side p = {scale, zp, (kind & 1) != 0, (kind & 2) != 0};
        cell c = {.op = CELL_QUANTIZE, .from = from, .to = codes[n % 3], .in = &p, .in_count = 1};
        c.ports = ports, c.run_time = ports && kind == 3;
        batch_add(b, 0, c);
    }
}

static void quantize_of_float32_equals_the_oracle(void **state) {
    (void)state;
    static float x[ROW];
    tally t = {0};
    uint64_t seed = 3;
    for (size_t i = 0; i < 3 * SCALES; i++) {
        ttnn_side p = side_of(i, i * 5 + i / SCALES, 0);
        fill_row(x, p, &seed);
        batch *b = batch_start();
        batch_input(b, QDQ_FLOAT32, QDQ_SHAPE(32, ROW / 32), x);
        add_quantize(b, QDQ_FLOAT32, p.scale, p.zp, i % 4 == 3);
        batch_finish(b, &t);
    }
    tally_settle(t, 3 * MILLION);
}

static void quantize_of_every_bfloat16_equals_the_oracle(void **state) {
    (void)state;
    static uint16_t x[65536];
    static const size_t scales[6] = {7, 19, 14, 24, 21, 6}, zps[6] = {0, 6, 1, 5, 7, 13};
    tally t = {0};
    for (size_t i = 0; i < 65536; i++) x[i] = (uint16_t)i;
    for (size_t i = 0; i < 6; i++) {
        batch *b = batch_start();
        batch_input(b, QDQ_BFLOAT16, QDQ_SHAPE(256, 256), x);
        add_quantize(b, QDQ_BFLOAT16, scale_of(scales[i]), zp_of(zps[i]), i % 2 == 1);
        batch_finish(b, &t);
    }
    tally_settle(t, 3 * MILLION);
}

// Per-channel results are int32 only.
static void add_quantize_channels(batch *b, qdq_dtype from, ttnn_side *p, size_t count) {
    for (size_t kind = 1; kind < 4; kind += 2) {
        for (size_t i = 0; i < count; i++) p[i].scale_tensor = true, p[i].zp_tensor = kind == 3;
        cell c = {.op = CELL_QUANTIZE, .from = from, .to = QDQ_INT32, .in = p, .axis = true};
        c.in_count = count;
        batch_add(b, 0, c);
        c.ports = true;
        batch_add(b, 0, c);
    }
}

static void quantize_per_channel_equals_the_oracle(void **state) {
    (void)state;
    enum { CHANNELS = 64, WIDE = 2048 };
    static float x[CHANNELS * ROW];
    static uint16_t h[WIDE * 32];
    ttnn_side p[WIDE];
    tally t = {0};
    uint64_t seed = 4;
    for (size_t i = 0; i < CHANNELS; i++) {
        p[i] = side_of(i * 3, i * 7, 0);
        fill_row(x + i * ROW, p[i], &seed);
    }
    batch *b = batch_start();
    batch_input(b, QDQ_FLOAT32, QDQ_SHAPE(CHANNELS, ROW), x);
    add_quantize_channels(b, QDQ_FLOAT32, p, CHANNELS);
    batch_finish(b, &t);
    for (size_t k = 0; k < 8; k++) {  // the middle element of each row is a tie
        if (unit_left_out(k)) continue;
        for (size_t i = 0; i < WIDE * 32; i++) h[i] = (uint16_t)i;
        for (size_t i = 0; i < WIDE; i++) {
            double at = fabs(oracle_of_bfloat16(h[i * 32 + 15]));
            float s = (float)(at / ((double)(k * k * 3) + 0.5));
            p[i] = side_of(i, i + k, 0);
            if (isfinite(s) && s >= 0x1p-126f) p[i].scale = (double)s;
        }
        b = batch_start();
        batch_input(b, QDQ_BFLOAT16, QDQ_SHAPE(WIDE, 32), h);
        add_quantize_channels(b, QDQ_BFLOAT16, p, WIDE);
        batch_finish(b, &t);
    }
    tally_settle(t, 2 * MILLION);
}

//---- Dequantize -------------------------------------------------------------

enum { ROWS = 512, CODES = 256 };

// Rows of codes: all 8-bit codes; int32 around the zero points, special ones, and ones that float32
// cannot hold.
typedef struct code_rows {
    int32_t i32[ROWS * CODES];
    uint8_t bytes[ROWS * CODES];  // of int8 and of uint8
} code_rows;
static code_rows rows;

static void fill_codes(size_t count, size_t shift) {
    static const int64_t ends[] = {1 << 24, -(1 << 24), 1 << 25, -(1 << 30), INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < count * CODES; i++) {
        int64_t k = (int64_t)(i % CODES), q = zp_of(i / CODES + shift) + k - 96;
        if (k >= 160) q = (k - 200) * (2 * k + 1);
        if (k >= 224) q = ends[k % 6] + (k - 240);
        if (q > INT32_MAX || q < INT32_MIN) q = -ends[k % 6] / 2;
        rows.i32[i] = (int32_t)q, rows.bytes[i] = (uint8_t)i;
    }
}

static batch *start_codes(size_t count) {
    batch *b = batch_start();
    batch_input(b, QDQ_INT32, QDQ_SHAPE((int64_t)count, CODES), rows.i32);
    batch_input(b, QDQ_INT8, QDQ_SHAPE((int64_t)count, CODES), rows.bytes);
    batch_input(b, QDQ_UINT8, QDQ_SHAPE((int64_t)count, CODES), rows.bytes);
    return b;
}

static void dequantize_equals_the_oracle(void **state) {
    (void)state;
    static const qdq_dtype to[2] = {QDQ_FLOAT32, QDQ_BFLOAT16};
    ttnn_side p[ROWS];
    tally t = {0};
    for (size_t round = 0; round < 2; round++) {
        fill_codes(ROWS, round);
        batch *b = start_codes(ROWS);
        for (size_t n = 0; n < 30; n++) {  // a third of them have parameters per tensor
            size_t kind = n / 6 == 4 ? round * 3 : n / 6 % 2 * 2 + 1, count = n / 6 == 4 ? 1 : ROWS;
            for (size_t i = 0; i < ROWS; i++) {
                size_t at = i + n / 12 * 97 + round * 131;
                p[i] = side_of(0, at / 2 + round, kind), p[i].scale = tie_scale(at);
            }
            batch_add(b, n % 3,
                      (cell){.op = CELL_DEQUANTIZE,
                             .from = codes[n % 3],
                             .to = to[n / 3 % 2],
                             .in = p,
                             .in_count = count,
                             .axis = count > 1,
                             .ports = round % 2 == 1});
        }
        batch_finish(b, &t);
    }
    for (size_t i = 0; i < 64; i++) {  // scalars and tensors of one element
        if (unit_left_out(i)) continue;
        fill_codes(1, i);
        batch *b = start_codes(1);
        for (size_t n = 0; n < 144; n++) {
            p[0] = side_of(0, i + n / 24, n / 6 % 4), p[0].scale = tie_scale(i * 6 + n / 24);
            batch_add(b, n % 3,
                      (cell){.op = CELL_DEQUANTIZE,
                             .from = codes[n % 3],
                             .to = to[n / 3 % 2],
                             .in = p,
                             .in_count = 1,
                             .ports = i % 2 == 1});
        }
        batch_finish(b, &t);
    }
    tally_settle(t, 6 * MILLION);
}

//---- Requantize -------------------------------------------------------------

// The nodes that the target accepts without an axis: int8 with a tensor argument gives int32 only.
static bool legal(size_t kinds, qdq_dtype from, qdq_dtype to) {
    return kinds == 0 || from != QDQ_INT8 || to == QDQ_INT32;
}

static void check_requantize(size_t batches, size_t most_kinds, tally *t) {
    ttnn_side in, out;
    for (size_t i = 0; i < batches; i++) {
        if (unit_left_out(i)) continue;
        fill_codes(1, i);
        batch *b = start_codes(1);
        for (size_t n = 0; n < 144; n++) {
            size_t at = i * 16 + n / 9, kinds = most_kinds ? at % most_kinds + 1 : 0;
            qdq_dtype from = codes[n % 3], to = codes[n / 3 % 3];
            if (!legal(kinds, from, to)) continue;
            requantize_sides(at * 31 + i, kinds, &in, &out);
            batch_add(b, n % 3,
                      (cell){.op = CELL_REQUANTIZE,
                             .from = from,
                             .to = to,
                             .in = &in,
                             .out = &out,
                             .in_count = 1,
                             .out_count = 1,
                             .axis = kinds == 0 && i % 3 == 0 && to == QDQ_INT32,
                             .ports = i % 2 == 1});
        }
        batch_finish(b, t);
    }
}

static void requantize_of_scalars_equals_the_oracle(void **state) {
    (void)state;
    tally t = {0};
    check_requantize(245, 0, &t);
    tally_settle(t, 9 * MILLION);
}

static void requantize_of_mixed_arguments_equals_the_oracle(void **state) {
    (void)state;
    tally t = {0};
    check_requantize(90, 15, &t);
    tally_settle(t, 2 * MILLION);
}

// Sides with an axis, in every combination of scalars and tensors, with one element and with all
// channels.
static void requantize_with_an_axis_equals_the_oracle(void **state) {
    (void)state;
    static const struct {
        uint8_t kind;
        bool channels;
    } sides[5] = {{0, false}, {2, false}, {1, true}, {3, true}, {3, false}};
    static const uint8_t pairs[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3},
                                       {2, 0}, {2, 1}, {2, 2}, {2, 3}, {3, 0}, {3, 1}, {3, 2},
                                       {3, 3}, {3, 3}, {3, 3}, {3, 4}, {4, 3}, {4, 4}, {3, 3}};
    ttnn_side in[128], out[128];
    tally t = {0};
    for (size_t round = 0; round < 4; round++) {
        fill_codes(128, round);
        batch *b = start_codes(128);
        for (size_t n = 0; n < 3 * UNIT_COUNT(pairs); n++) {
            size_t l = pairs[n / 3][0], r = pairs[n / 3][1];
            size_t kinds = sides[l].kind | (size_t)sides[r].kind << 2;
            for (size_t i = 0; i < 128; i++)
                requantize_sides(round * 128 + n / 3 * 512 + i, kinds, &in[i], &out[i]);
            batch_add(b, n % 3,
                      (cell){.op = CELL_REQUANTIZE,
                             .from = codes[n % 3],
                             .to = QDQ_INT32,
                             .in = in,
                             .out = out,
                             .in_count = sides[l].channels ? 128 : 1,
                             .out_count = sides[r].channels ? 128 : 1,
                             .axis = true,
                             .ports = round % 2 == 1});
        }
        batch_finish(b, &t);
    }
    tally_settle(t, 8 * MILLION);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_integer_stages_give_the_worked_table),
        cmocka_unit_test(requantize_errs_as_often_as_the_worked_numbers),
        cmocka_unit_test(bfloat16_is_stored_as_the_packer_does),
        cmocka_unit_test(the_paths_agree_where_documented),
        cmocka_unit_test(quantize_of_float32_equals_the_oracle),
        cmocka_unit_test(quantize_of_every_bfloat16_equals_the_oracle),
        cmocka_unit_test(quantize_per_channel_equals_the_oracle),
        cmocka_unit_test(dequantize_equals_the_oracle),
        cmocka_unit_test(requantize_of_scalars_equals_the_oracle),
        cmocka_unit_test(requantize_of_mixed_arguments_equals_the_oracle),
        cmocka_unit_test(requantize_with_an_axis_equals_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
