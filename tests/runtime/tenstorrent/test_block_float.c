// SPDX-License-Identifier: Apache-2.0
// The block floats of ttnn: worked groups, the checksums of ttnn's self-check tile, a closed form
// for every code, and the model of tests/block_floats.h.
#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/block_float.h"
#include "tests/block_floats.h"
#include "tests/unit.h"

static const qdq_dtype dtypes[2] = {QDQ_BFLOAT8_B, QDQ_BFLOAT4_B};

static int bits_of(qdq_dtype dtype) { return dtype == QDQ_BFLOAT8_B ? 7 : 3; }

//---- One group --------------------------------------------------------------

typedef struct group {
    int exponent;
    unsigned codes[16];
    float values[16];  // unpacked
} group;

static unsigned code_at(qdq_dtype dtype, const uint8_t *tile, size_t i) {
    return dtype == QDQ_BFLOAT8_B ? tile[64 + i] : (unsigned)tile[64 + i / 2] >> (i % 2 * 4) & 0xFu;
}

// Packs n values, then zeros, as the face row `row` of a tile.
static group pack_row(qdq_dtype dtype, size_t row, const float *values, size_t n) {
    float block[1024] = {0};
    uint8_t tile[1088];
    group out;
    memcpy(block + row * 16, values, n * sizeof *values);
    memset(tile, 0xFF, sizeof tile);
    qdq_block_float_pack(dtype, QDQ_TILE_ELEMENTS, block, tile);
    qdq_block_float_unpack(dtype, QDQ_TILE_ELEMENTS, tile, block);
    out.exponent = tile[row];
    for (size_t i = 0; i < 16; i++) out.codes[i] = code_at(dtype, tile, row * 16 + i);
    memcpy(out.values, block + row * 16, sizeof out.values);
    return out;
}

static group pack_group(qdq_dtype dtype, const float *values, size_t n) {
    return pack_row(dtype, 0, values, n);
}

static const float group_a[16] = {1,     -1,      .5f,       -.5f,     3.1415927f, .1f,
                                  -.1f,  0,       7.9999f,   2,        .01f,       -.01f,
                                  .001f, 1.5625f, .3333333f, -2.71828f};

static void the_worked_group_has_its_published_codes_and_values(void **state) {
    (void)state;
    static const unsigned codes[2][16] = {
        {0x10, 0x90, 0x08, 0x88, 0x32, 0x02, 0x82, 0, 0x7F, 0x20, 0, 0, 0, 0x19, 0x05, 0xAB},
        {1, 9, 0, 0, 3, 0, 0, 0, 7, 2, 0, 0, 0, 2, 0, 0xB}};
    static const float values[2][16] = {{1, -1, .5f, -.5f, 3.125f, .125f, -.125f, 0, 7.9375f, 2, 0,
                                         0, 0, 1.5625f, .3125f, -2.6875f},
                                        {1, -1, 0, 0, 3, 0, 0, 0, 7, 2, 0, 0, 0, 2, 0, -3}};
    for (size_t k = 0; k < 2; k++)
        for (size_t row = 0; row < 64; row++) {
            group g = pack_row(dtypes[k], row, group_a, 16);
            assert_int_equal(g.exponent, 0x81);
            assert_memory_equal(g.codes, codes[k], sizeof g.codes);
            assert_memory_equal(g.values, values[k], sizeof g.values);
        }
}

static void values_alone_in_a_group_round_half_to_even_and_saturate(void **state) {
    (void)state;
    static const struct {
        qdq_dtype dtype;
        float x;
        int exponent;
        unsigned code;
        float value;
    } cases[] = {
        {QDQ_BFLOAT8_B, 64.5f, 133, 0x40, 64},
        {QDQ_BFLOAT8_B, 1.0078125f, 127, 0x40, 1},
        {QDQ_BFLOAT8_B, 1.0234375f, 127, 0x42, 1.03125f},
        {QDQ_BFLOAT8_B, 1.9921875f, 127, 0x7F, 1.984375f},
        {QDQ_BFLOAT8_B, -1.9921875f, 127, 0xFF, -1.984375f},
        {QDQ_BFLOAT8_B, 3.40282347e38f, 254, 0x7F, 0x7Fp121f},
        {QDQ_BFLOAT8_B, 0x1p-126f, 1, 0x40, 0x1p-126f},
        {QDQ_BFLOAT4_B, 1.375f, 127, 6, 1.5f},
        {QDQ_BFLOAT4_B, 1.6875f, 127, 7, 1.75f},
        {QDQ_BFLOAT4_B, 1.2421875f, 127, 5, 1.25f},
        {QDQ_BFLOAT4_B, 1.9921875f, 127, 7, 1.75f},
        {QDQ_BFLOAT4_B, -1.9921875f, 127, 0xF, -1.75f},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        group g = pack_group(cases[i].dtype, &cases[i].x, 1);
        assert_int_equal(g.exponent, cases[i].exponent);
        assert_int_equal(g.codes[0], cases[i].code);
        assert_true(g.values[0] == cases[i].value);
    }
}

// 0x3D200001 is a little more than 2.5 steps of a group that starts at 1. Rounding to nearest would
// give 3, but the shift has dropped the bit above the tie.
static void bits_that_the_shift_drops_do_not_round(void **state) {
    (void)state;
    float x[2] = {qdq_float_from_bits(0x3D200001), 1};
    group g = pack_group(QDQ_BFLOAT8_B, x, 2);
    assert_int_equal(g.exponent, 127);
    assert_int_equal(g.codes[0], 2);
    x[0] = qdq_float_from_bits(0x3D200020);  // the least bit that is kept: above the tie
    assert_int_equal(pack_group(QDQ_BFLOAT8_B, x, 2).codes[0], 3);
}

static void zeros_and_denormals_have_code_zero(void **state) {
    (void)state;
    float x[5] = {0, -0.0f, 0x1p-149f, -0x1p-149f, qdq_float_from_bits(0x807FFFFF)};
    float with_one[6] = {1};
    memcpy(with_one + 1, x, sizeof x);
    for (size_t k = 0; k < 2; k++) {
        group alone = pack_group(dtypes[k], x, 5), beside = pack_group(dtypes[k], with_one, 6);
        assert_int_equal(alone.exponent, 0);
        assert_int_equal(beside.exponent, 127);
        for (size_t i = 0; i < 16; i++) {
            assert_int_equal(alone.codes[i], 0);
            assert_int_equal(qdq_float_bits(alone.values[i]), 0);
            if (i) assert_int_equal(beside.codes[i], 0);
        }
    }
}

static void infinities_and_nan_take_the_whole_group(void **state) {
    (void)state;
    static const struct {
        uint32_t bits;
        unsigned codes[2];
        uint32_t back[2];
    } cases[] = {
        {0x7F800000, {0x40, 4}, {0x7F800000, 0x7F800000}},
        {0xFF800000, {0xC0, 0xC}, {0xFF800000, 0xFF800000}},
        {0x7FC00000, {0x60, 6}, {0x7FC00000, 0x7FC00000}},
        {0xFFC00000, {0xE0, 0xE}, {0xFFC00000, 0xFFC00000}},
        {0x7FFFFFFF, {0x7F, 7}, {0x7FFE0000, 0x7FE00000}},
        {0x7F800001, {0x40, 4}, {0x7F800000, 0x7F800000}},  // a NaN payload in the low bits is lost
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++)
        for (size_t k = 0; k < 2; k++) {
            float x[3] = {qdq_float_from_bits(cases[i].bits), 1, -1};
            group g = pack_group(dtypes[k], x, 3);
            assert_int_equal(g.exponent, 255);
            assert_int_equal(g.codes[0], cases[i].codes[k]);
            assert_int_equal(qdq_float_bits(g.values[0]), cases[i].back[k]);
            for (size_t j = 1; j < 16; j++) {
                assert_int_equal(g.codes[j], 0);
                assert_int_equal(qdq_float_bits(g.values[j]), 0);
            }
        }
}

// With exponent 255, a code means its magnitude times 2^122, up to the largest float32.
static void finite_values_next_to_an_infinity_keep_their_magnitude_bits(void **state) {
    (void)state;
    static const struct {
        float x;
        unsigned codes[2];
        float values[2];
    } cases[] = {
        {0x1p121f, {0, 0}, {0, 0}},
        {0x1.8p121f, {1, 0}, {0x1p122f, 0}},
        {-0x1.8p125f, {0x8C, 9}, {-0x1.8p125f, -0x1p126f}},
        {0x1.FFFFFEp127f, {0x40, 4}, {INFINITY, INFINITY}},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++)
        for (size_t k = 0; k < 2; k++) {
            float x[2] = {-INFINITY, cases[i].x};
            group g = pack_group(dtypes[k], x, 2);
            assert_int_equal(g.codes[1], cases[i].codes[k]);
            assert_true(g.values[1] == cases[i].values[k]);
        }
}

//---- All codes --------------------------------------------------------------

static void unpack_all(qdq_dtype dtype, int exponent, float *out) {
    uint8_t tile[1088] = {0};
    float block[1024];
    size_t codes = dtype == QDQ_BFLOAT8_B ? 256 : 16;
    memset(tile, exponent, 64);
    for (size_t i = 0; i < codes; i++) {
        if (dtype == QDQ_BFLOAT8_B)
            tile[64 + i] = (uint8_t)i;
        else
            tile[64 + i / 2] = (uint8_t)(i % 2 ? tile[64 + i / 2] | i << 4 : i);
    }
    qdq_block_float_unpack(dtype, QDQ_TILE_ELEMENTS, tile, block);
    memcpy(out, block, codes * sizeof *out);
}

static void every_code_is_sign_times_magnitude_times_a_power_of_two(void **state) {
    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (int exponent = 20; exponent < 255; exponent++) {
            float values[256];
            int bits = bits_of(dtypes[k]);
            unpack_all(dtypes[k], exponent, values);
            for (int code = 1; code < 2 << bits; code++) {
                int magnitude = code & ((1 << bits) - 1);
                if (magnitude == 0) continue;
                bool negative = code >> bits;
                assert_true((double)values[code] ==
                            block_value(negative, magnitude, exponent, bits));
            }
            assert_int_equal(qdq_float_bits(values[0]), 0);
        }
}

// Codes that no packer makes: a top bit `k` places down needs an exponent of at least k.
static void magnitudes_below_the_least_exponent_are_zero_without_a_sign(void **state) {
    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (int exponent = 0; exponent < 8; exponent++) {
            float values[256];
            int bits = bits_of(dtypes[k]);
            unpack_all(dtypes[k], exponent, values);
            for (int code = 1; code < 2 << bits; code++) {
                int magnitude = code & ((1 << bits) - 1), down = 0;
                if (magnitude == 0) continue;
                while (magnitude << down < 1 << (bits - 1)) down++;
                if (down > exponent)
                    assert_int_equal(qdq_float_bits(values[code]), 0);
                else if (down < exponent)
                    assert_true((double)values[code] ==
                                block_value(code >> bits, magnitude, exponent, bits));
            }
        }
}

//---- Random groups ----------------------------------------------------------

// Finite values with exponent fields around `middle`, some of them zero or denormal.
static float any_value(uint64_t *random, int middle) {
    uint64_t r = unit_random(random);
    int exponent = middle - (int)(r >> 40 & 15);
    uint32_t fraction = r >> 60 & 1 ? (uint32_t)r & 0x7FFFFF : (uint32_t)r & 0x7E0000;
    if (exponent < 0) exponent = 0;
    return qdq_float_from_bits((uint32_t)(r >> 63) << 31 | (uint32_t)exponent << 23 | fraction);
}

static void random_groups_pack_as_the_model_says_and_no_zero_has_a_sign(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int i = 0; i < 40000; i++) {
        qdq_dtype dtype = dtypes[i % 2];
        int bits = bits_of(dtype);
        float x[16];
        for (size_t k = 0; k < 16; k++) x[k] = any_value(&random, i % 255);
        group g = pack_group(dtype, x, 16);
        int shared = block_shared(x, 16);
        assert_int_equal(g.exponent, shared);
        for (size_t k = 0; k < 16; k++) {
            int magnitude = block_magnitude(x[k], shared, bits);
            unsigned sign = magnitude && signbit(x[k]) ? 1u << bits : 0;
            assert_int_equal(g.codes[k], sign | (unsigned)magnitude);
        }
        block_round(x, 16, bits);
        assert_memory_equal(g.values, x, sizeof x);
    }
}

// Random bit patterns, NaN and infinities included.
static void rounding_is_packing_and_unpacking_and_twice_is_once(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 4000; i++) {
        qdq_dtype dtype = dtypes[i % 2];
        float x[1024], back[1024], again[1024];
        uint8_t tile[1088], tile_again[1088];
        for (size_t k = 0; k < 1024; k++) {
            uint64_t bits = unit_random(&random);
            int top = i % 300 > 255 ? 255 : i % 300;
            bool wild = i % 7 == 0 && k % 5 == 0;
            x[k] = wild ? qdq_float_from_bits((uint32_t)(bits >> 16)) : any_value(&random, top);
        }
        qdq_block_float_pack(dtype, QDQ_TILE_ELEMENTS, x, tile);
        qdq_block_float_unpack(dtype, QDQ_TILE_ELEMENTS, tile, back);
        qdq_block_float_round(dtype, QDQ_BLOCK_FLOAT_HOST, QDQ_TILE_ELEMENTS, x);
        assert_memory_equal(x, back, sizeof x);
        qdq_block_float_pack(dtype, QDQ_TILE_ELEMENTS, x, tile_again);
        assert_memory_equal(tile, tile_again, qdq_tile_bytes(dtype));
        memcpy(again, x, sizeof x);
        qdq_block_float_round(dtype, QDQ_BLOCK_FLOAT_HOST, QDQ_TILE_ELEMENTS, again);
        assert_memory_equal(again, x, sizeof x);
    }
}

//---- Tiles ------------------------------------------------------------------

static uint32_t crc32_of(const uint8_t *bytes, size_t count) {
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return crc ^ 0xFFFFFFFFu;
}

static void the_self_check_tiles_have_the_published_checksums(void **state) {
    (void)state;
    static const uint8_t bfloat8_first[] = {0xC0, 0xBA, 0xB5, 0xB0, 0xAA, 0xA4, 0x9F, 0x9A};
    static const uint8_t bfloat4_first[] = {0xCC, 0xBB, 0xAB, 0xAA, 0x99, 0x09, 0x00, 0x11};
    static const uint8_t exponents[] = {130, 129, 129, 129}, others[] = {129, 130, 129, 129};
    float x[1024];
    uint8_t tile[1088];
    for (unsigned r = 0; r < 32; r++)
        for (unsigned c = 0; c < 32; c++)
            x[r * 32 + c] = ((float)((37 * r + 11 * c) % 257) - 128.0f) / 16.0f;
    memset(tile, 0xFF, sizeof tile);
    qdq_tilize(QDQ_BFLOAT8_B, QDQ_SHAPE(32, 32), x, tile);
    assert_int_equal(crc32_of(tile, 1088), 0x9D2C3B93);
    assert_memory_equal(tile, exponents, 4);
    assert_memory_equal(tile + 16, others, 4);
    assert_memory_equal(tile + 64, bfloat8_first, 8);
    memset(tile, 0xFF, sizeof tile);
    qdq_tilize(QDQ_BFLOAT4_B, QDQ_SHAPE(32, 32), x, tile);
    assert_int_equal(crc32_of(tile, 576), 0x1A6C909F);
    assert_memory_equal(tile + 64, bfloat4_first, 8);
    assert_int_equal(tile[576], 0xFF);
}

static void tiles_have_exponents_before_the_codes(void **state) {
    (void)state;
    assert_int_equal(qdq_tile_bytes(QDQ_BFLOAT8_B), 1088);
    assert_int_equal(qdq_tile_bytes(QDQ_BFLOAT4_B), 576);
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        bool block = d == QDQ_BFLOAT8_B || d == QDQ_BFLOAT4_B;
        assert_int_equal(qdq_dtype_is_block_float((qdq_dtype)d), block);
        if (block) assert_int_equal(qdq_dtype_size((qdq_dtype)d), sizeof(float));
    }
}

// Checks every byte of every tile: exponents and codes from the model, zero in the padding.
static void check_tensor(qdq_dtype dtype, qdq_shape shape, uint64_t *random) {
    qdq_tiling t = qdq_tiling_of(shape);
    size_t count = qdq_shape_count(shape), bytes = qdq_tile_bytes(dtype);
    float *x = malloc(count * sizeof *x), *back = malloc(count * sizeof *x);
    uint8_t *tiles = malloc(t.tiles * bytes);
    int bits = bits_of(dtype);
    for (size_t i = 0; i < count; i++) x[i] = any_value(random, 130);
    memset(tiles, 0xFF, t.tiles * bytes);
    qdq_tilize(dtype, shape, x, tiles);
    qdq_untilize(dtype, shape, tiles, back);
    block_round_rows(x, t.planes * t.rows, t.cols, bits);
    assert_memory_equal(back, x, count * sizeof *x);
    for (size_t tile = 0; tile < t.tiles; tile++)
        for (size_t r = 0; r < 32; r++)
            for (size_t c = 0; c < 32; c++) {
                size_t row = tile / t.tile_cols % t.tile_rows * 32 + r;
                size_t col = tile % t.tile_cols * 32 + c;
                if (row < t.rows && col < t.cols) continue;
                assert_int_equal(code_at(dtype, tiles + tile * bytes, qdq_tile_offset(r, c)), 0);
                if (row >= t.rows || col / 16 * 16 >= t.cols)
                    assert_int_equal(tiles[tile * bytes + qdq_tile_offset(r, c) / 16], 0);
            }
    free(x), free(back), free(tiles);
}

static void tilize_rounds_and_pads_with_zeros(void **state) {
    (void)state;
    uint64_t random = 7;
    for (size_t k = 0; k < 2; k++) {
        check_tensor(dtypes[k], (qdq_shape){0}, &random);
        for (int64_t n = 1; n <= 40; n++) check_tensor(dtypes[k], QDQ_SHAPE(n), &random);
        for (int64_t r = 1; r <= 35; r += 3)
            for (int64_t c = 1; c <= 65; c += 4) check_tensor(dtypes[k], QDQ_SHAPE(r, c), &random);
        check_tensor(dtypes[k], QDQ_SHAPE(2, 3, 7), &random);
        check_tensor(dtypes[k], QDQ_SHAPE(2, 1, 3, 33, 65), &random);
    }
}

//---- A chip's packer --------------------------------------------------------

// Rounds a group of numbers followed by zeros.
static float rounded(qdq_dtype dtype, qdq_block_float_store store, float first, float second,
                     size_t which) {
    float block[1024] = {first, second};
    qdq_block_float_round(dtype, store, QDQ_TILE_ELEMENTS, block);
    return block[which];
}

// Groups of ttnn's packers: 2 with 1.0078125, and numbers alone. Codes are units of 2^-6 of the
// power of two of the greatest number, or of 2^-2.
static void the_packer_of_a_chip_rounds_halves_away(void **state) {
    (void)state;
    static const struct {
        qdq_dtype dtype;
        float first, second;
        size_t which;
        float host, device, precise;
    } rows[] = {
        {QDQ_BFLOAT8_B, 2, 1.0078125f, 0, 2, 2, 2},
        {QDQ_BFLOAT8_B, 2, 1.0078125f, 1, 0x20 / 32.0f, 0x21 / 32.0f, 0x20 / 32.0f},
        {QDQ_BFLOAT8_B, 1.0078125f, 0, 0, 0x40 / 64.0f, 0x41 / 64.0f, 0x41 / 64.0f},
        {QDQ_BFLOAT8_B, 1.9921875f, 0, 0, 0x7F / 64.0f, 2, 0x7F / 64.0f},
        {QDQ_BFLOAT4_B, 1.375f, 0, 0, 6 / 4.0f, 5 / 4.0f, 5 / 4.0f},
        {QDQ_BFLOAT4_B, 1.6875f, 0, 0, 7 / 4.0f, 6 / 4.0f, 6 / 4.0f},
        {QDQ_BFLOAT4_B, 2, 1.4765625f, 1, 3 / 2.0f, 3 / 2.0f, 2 / 2.0f},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        float first = rows[i].first, second = rows[i].second;
        float got[3];
        for (int store = QDQ_BLOCK_FLOAT_HOST; store <= QDQ_BLOCK_FLOAT_PRECISE; store++)
            got[store] =
                rounded(rows[i].dtype, (qdq_block_float_store)store, first, second, rows[i].which);
        assert_true(got[0] == rows[i].host);
        assert_true(got[1] == rows[i].device);
        assert_true(got[2] == rows[i].precise);
    }
}

// Results of a chip are stored to tiles, and cut from rows, as the host does it.
static void the_host_keeps_the_numbers_that_a_chip_packed(void **state) {
    (void)state;
    uint64_t random = 17;
    for (int turn = 0; turn < 400; turn++) {
        static float x[1024], again[1024];
        static uint8_t tile[1088];
        qdq_dtype dtype = dtypes[turn % 2];
        qdq_block_float_store store =
            turn % 4 < 2 ? QDQ_BLOCK_FLOAT_DEVICE : QDQ_BLOCK_FLOAT_PRECISE;
        for (size_t i = 0; i < 1024; i++) {
            uint32_t bits = (uint32_t)unit_random(&random);
            if (turn % 3) bits = (bits & 0x807FFFFF) | (120 + (bits >> 23) % 12) << 23;
            x[i] = unit_float_of_bits(bits);
        }
        qdq_block_float_round(dtype, store, QDQ_TILE_ELEMENTS, x);
        memcpy(again, x, sizeof x);
        qdq_block_float_round(dtype, QDQ_BLOCK_FLOAT_HOST, QDQ_TILE_ELEMENTS, again);
        assert_memory_equal(again, x, sizeof x);
        qdq_block_float_round(dtype, store, QDQ_TILE_ELEMENTS, again);
        assert_memory_equal(again, x, sizeof x);
        qdq_block_float_pack(dtype, QDQ_TILE_ELEMENTS, x, tile);
        qdq_block_float_unpack(dtype, QDQ_TILE_ELEMENTS, tile, again);
        assert_memory_equal(again, x, sizeof x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_group_has_its_published_codes_and_values),
        cmocka_unit_test(values_alone_in_a_group_round_half_to_even_and_saturate),
        cmocka_unit_test(bits_that_the_shift_drops_do_not_round),
        cmocka_unit_test(zeros_and_denormals_have_code_zero),
        cmocka_unit_test(infinities_and_nan_take_the_whole_group),
        cmocka_unit_test(finite_values_next_to_an_infinity_keep_their_magnitude_bits),
        cmocka_unit_test(every_code_is_sign_times_magnitude_times_a_power_of_two),
        cmocka_unit_test(magnitudes_below_the_least_exponent_are_zero_without_a_sign),
        cmocka_unit_test(random_groups_pack_as_the_model_says_and_no_zero_has_a_sign),
        cmocka_unit_test(rounding_is_packing_and_unpacking_and_twice_is_once),
        cmocka_unit_test(the_self_check_tiles_have_the_published_checksums),
        cmocka_unit_test(tiles_have_exponents_before_the_codes),
        cmocka_unit_test(tilize_rounds_and_pads_with_zeros),
        cmocka_unit_test(the_packer_of_a_chip_rounds_halves_away),
        cmocka_unit_test(the_host_keeps_the_numbers_that_a_chip_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
