// SPDX-License-Identifier: Apache-2.0
// Tiles of other shapes than 32x32, against tt-metal's list of shapes and faces and a walk through
// a tile's memory: faces in their order, rows or columns of a face, and elements of these.
#include <math.h>

#include "include/qdq/numerics.h"
#include "include/qdq/tile.h"
#include "tests/unit.h"

// tt-metal's list: a tile and its face, which is always 16 wide.
static const uint32_t shapes[][3] = {
    {32, 32, 16}, {16, 32, 16}, {32, 16, 16}, {16, 16, 16}, {8, 32, 8}, {4, 32, 4},
    {2, 32, 2},   {1, 32, 1},   {8, 16, 8},   {4, 16, 4},   {2, 16, 2}, {1, 16, 1},
};

enum { TILES = 12 + 4, MOST = 1024 };  // four of them may be transposed

static qdq_tile_shape tile_number(size_t i) {
    size_t k = i < 12 ? i : i - 12;
    return (qdq_tile_shape){shapes[k][0], shapes[k][1], i >= 12};
}

// Where each element of a tile lies: walk[k] is row * 32 + column of the one at offset k.
typedef struct walk {
    uint32_t at[MOST];
    size_t count;
} walk;

static walk walk_through(size_t number) {
    qdq_tile_shape tile = tile_number(number);
    uint32_t high = shapes[number < 12 ? number : number - 12][2];
    uint32_t down = tile.height / high, across = tile.width / 16;
    walk w = {.count = 0};
    for (uint32_t outer = 0; outer < (tile.transpose ? across : down); outer++)
        for (uint32_t inner = 0; inner < (tile.transpose ? down : across); inner++)
            for (uint32_t line = 0; line < (tile.transpose ? 16 : high); line++)
                for (uint32_t k = 0; k < (tile.transpose ? high : 16); k++) {
                    uint32_t row = tile.transpose ? inner * high + k : outer * high + line;
                    uint32_t col = tile.transpose ? outer * 16 + line : inner * 16 + k;
                    w.at[w.count++] = row * 32 + col;
                }
    return w;
}

static void tiles_have_the_shapes_of_tt_metal(void **state) {
    (void)state;
    size_t plain = 0, transposed = 0;
    for (uint32_t h = 0; h <= 64; h++)
        for (uint32_t w = 0; w <= 64; w++) {
            if (!h && !w) continue;
            plain += qdq_tile_shape_is_legal((qdq_tile_shape){h, w, false});
            transposed += qdq_tile_shape_is_legal((qdq_tile_shape){h, w, true});
        }
    assert_int_equal(plain, 12);
    assert_int_equal(transposed, 4);
    for (size_t i = 0; i < TILES; i++) assert_true(qdq_tile_shape_is_legal(tile_number(i)));
    assert_true(qdq_tile_shape_is_legal((qdq_tile_shape){0}));
}

static void elements_follow_the_walk_through_the_faces(void **state) {
    (void)state;
    for (size_t i = 0; i < TILES; i++) {
        walk w = walk_through(i);
        for (size_t k = 0; k < w.count; k++)
            assert_int_equal(qdq_tile_shape_offset(tile_number(i), w.at[k] / 32, w.at[k] % 32), k);
    }
    assert_int_equal(qdq_tile_shape_offset((qdq_tile_shape){0}, 5, 20), 340);
    assert_int_equal(qdq_tile_shape_offset((qdq_tile_shape){4, 32, false}, 4, 0), 0);  // no row 4
}

static void tiles_have_the_bytes_of_tt_metal(void **state) {
    (void)state;
    static const struct {
        uint32_t height, width;
        qdq_dtype dtype;
        size_t bytes;
    } known[] = {
        {16, 32, QDQ_BFLOAT16, 1024},  {32, 16, QDQ_BFLOAT16, 1024}, {16, 16, QDQ_BFLOAT16, 512},
        {1, 32, QDQ_BFLOAT16, 64},     {8, 16, QDQ_FLOAT32, 512},    {4, 32, QDQ_INT32, 512},
        {2, 32, QDQ_UINT8, 64},        {1, 16, QDQ_INT8, 16},        {16, 32, QDQ_BFLOAT8_B, 544},
        {32, 16, QDQ_BFLOAT8_B, 544},  {16, 16, QDQ_BFLOAT8_B, 272}, {16, 32, QDQ_BFLOAT4_B, 288},
        {16, 16, QDQ_BFLOAT4_B, 144},  {8, 32, QDQ_BFLOAT8_B, 272},  {4, 32, QDQ_BFLOAT8_B, 144},
        {1, 32, QDQ_BFLOAT8_B, 48},    {1, 32, QDQ_BFLOAT4_B, 32},   {1, 16, QDQ_BFLOAT8_B, 32},
        {32, 32, QDQ_BFLOAT8_B, 1088}, {0, 0, QDQ_BFLOAT4_B, 576},   {4, 16, QDQ_INT4, 32},
    };
    for (size_t i = 0; i < UNIT_COUNT(known); i++) {
        qdq_tile_shape tile = {known[i].height, known[i].width, false};
        assert_int_equal(qdq_tile_shape_bytes(tile, known[i].dtype), known[i].bytes);
    }
}

static void check_cut(qdq_shape shape, qdq_tile_shape tile, int64_t rows, int64_t cols,
                      size_t tiles) {
    qdq_shape padded = qdq_padded_shape_in(shape, tile);
    assert_int_equal(padded.dims[padded.rank - 2], rows);
    assert_int_equal(padded.dims[padded.rank - 1], cols);
    assert_int_equal(qdq_tiling_in(shape, tile).tiles, tiles);
}

static void the_last_two_dims_are_padded_to_the_tile(void **state) {
    (void)state;
    check_cut(QDQ_SHAPE(20, 40), (qdq_tile_shape){16, 32, false}, 32, 64, 4);
    check_cut(QDQ_SHAPE(20, 40), (qdq_tile_shape){32, 16, false}, 32, 48, 3);
    check_cut(QDQ_SHAPE(20, 40), (qdq_tile_shape){16, 16, false}, 32, 48, 6);
    check_cut(QDQ_SHAPE(20, 40), (qdq_tile_shape){8, 16, false}, 24, 48, 9);
    check_cut(QDQ_SHAPE(20, 40), (qdq_tile_shape){16, 32, true}, 32, 64, 4);
    check_cut(QDQ_SHAPE(3, 33, 65), (qdq_tile_shape){2, 32, false}, 34, 96, 3 * 17 * 3);
    check_cut(QDQ_SHAPE(40), (qdq_tile_shape){1, 32, false}, 1, 64, 2);
    check_cut((qdq_shape){0}, (qdq_tile_shape){4, 16, false}, 4, 16, 1);
}

// Copies into tiles and back. Each element lies where the walk says, and padding keeps its bytes.
static void round_trip(qdq_dtype dtype, qdq_shape shape, size_t number) {
    qdq_tile_shape tile = tile_number(number);
    walk w = walk_through(number);
    size_t size = qdq_dtype_size(dtype), count = qdq_shape_count(shape);
    qdq_tiling t = qdq_tiling_in(shape, tile);
    size_t bytes = t.tiles * w.count * size;
    unsigned char *rows = malloc(count * size), *back = malloc(count * size),
                  *tiles = malloc(bytes), *wanted = malloc(bytes);
    for (size_t i = 0; i < count * size; i++) rows[i] = (unsigned char)(i * 7 + i / 251 + 1);
    memset(tiles, 0xFF, bytes), memset(wanted, 0xFF, bytes), memset(back, 0x77, count * size);
    for (size_t i = 0; i < t.tiles * w.count; i++) {
        size_t n = i / w.count, at = w.at[i % w.count];
        size_t row = n / t.tile_cols % t.tile_rows * tile.height + at / 32;
        size_t col = n % t.tile_cols * tile.width + at % 32, plane = n / t.tile_cols / t.tile_rows;
        if (row < t.rows && col < t.cols)
            memcpy(wanted + i * size, rows + ((plane * t.rows + row) * t.cols + col) * size, size);
    }
    qdq_tilize_in(dtype, shape, tile, rows, tiles, NULL);
    assert_memory_equal(tiles, wanted, bytes);
    qdq_untilize_in(dtype, shape, tile, tiles, back, NULL);
    assert_memory_equal(back, rows, count * size);
    free(rows), free(back), free(tiles), free(wanted);
}

static void tilize_and_untilize_are_inverse_in_tiles_of_every_shape(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_INT8, QDQ_BFLOAT16, QDQ_FLOAT32};
    for (size_t i = 0; i < TILES; i++)
        for (size_t d = 0; d < UNIT_COUNT(dtypes); d++) {
            round_trip(dtypes[d], (qdq_shape){0}, i);
            round_trip(dtypes[d], QDQ_SHAPE(70), i);
            round_trip(dtypes[d], QDQ_SHAPE(64, 64), i);
            round_trip(dtypes[d], QDQ_SHAPE(3, 1, 33, 31), i);
            for (int64_t n = 1; n <= 34; n++) {
                round_trip(dtypes[d], QDQ_SHAPE(n, 49), i);
                round_trip(dtypes[d], QDQ_SHAPE(19, n), i);
            }
        }
}

//---- Block floats -----------------------------------------------------------

// Element j of group g is magnitude * 2^(e - (bits - 1)), which a tile holds exactly.
static unsigned magnitude_of(int bits, size_t j) {
    return bits == 7 ? 64 + (unsigned)j * 4 : 4 + j % 4;
}

static int exponent_of(size_t group) { return (int)(group % 8) - 3; }

static void check_block_float(qdq_dtype dtype, int bits, size_t number) {
    qdq_tile_shape tile = tile_number(number);
    qdq_shape shape = QDQ_SHAPE((int64_t)tile.height, (int64_t)tile.width);
    walk w = walk_through(number);
    size_t groups = w.count / 16, codes_at = groups > 16 ? groups : 16;  // one of 16, 32, 64
    float rows[MOST], back[MOST];
    uint8_t bytes[1088], wanted[1088] = {0};
    size_t size = qdq_tile_shape_bytes(tile, dtype);
    assert_int_equal(size, codes_at + w.count * (size_t)(bits + 1) / 8);
    for (size_t k = 0; k < w.count; k++) {
        unsigned magnitude = magnitude_of(bits, k % 16);
        size_t row = w.at[k] / 32, col = w.at[k] % 32;
        rows[row * tile.width + col] =
            ldexpf((float)magnitude, exponent_of(k / 16) - (bits - 1)) * (k % 3 ? 1.0f : -1.0f);
        wanted[k / 16] = (uint8_t)(127 + exponent_of(k / 16));
        unsigned code = magnitude | (k % 3 ? 0u : 1u << bits);
        size_t bit = k * (size_t)(bits + 1);
        wanted[codes_at + bit / 8] |= (uint8_t)(code << bit % 8);
    }
    memset(bytes, 0x99, sizeof bytes);
    qdq_tilize_in(dtype, shape, tile, rows, bytes, NULL);
    assert_memory_equal(bytes, wanted, size);
    for (size_t i = size; i < sizeof bytes; i++) assert_int_equal(bytes[i], 0x99);
    qdq_untilize_in(dtype, shape, tile, bytes, back, NULL);
    assert_memory_equal(back, rows, w.count * sizeof *rows);
}

static void a_block_float_has_exponents_of_16_neighbours_in_memory_padded_to_16(void **state) {
    (void)state;
    for (size_t i = 0; i < TILES; i++) {
        check_block_float(QDQ_BFLOAT8_B, 7, i);
        check_block_float(QDQ_BFLOAT4_B, 3, i);
    }
}

// Without transposing, the sixteen columns that share an exponent are the same in any tile.
static void block_floats_round_alike_in_every_tile_that_is_not_transposed(void **state) {
    (void)state;
    enum { ROWS = 37, COLS = 50 };
    static float rows[ROWS * COLS], wanted[ROWS * COLS], back[ROWS * COLS];
    static uint8_t tiles[64 * 64 * 4];
    const qdq_shape shape = QDQ_SHAPE(ROWS, COLS);
    uint64_t random = 7;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        rows[i] = ldexpf((float)(unit_random(&random) % 4001) - 2000, (int)(i % 9) - 12);
    for (size_t d = 0; d < 2; d++) {
        qdq_dtype dtype = d ? QDQ_BFLOAT4_B : QDQ_BFLOAT8_B;
        qdq_tilize(dtype, shape, rows, tiles);
        qdq_untilize(dtype, shape, tiles, wanted);
        for (size_t i = 0; i < 12; i++) {
            qdq_tilize_in(dtype, shape, tile_number(i), rows, tiles, NULL);
            qdq_untilize_in(dtype, shape, tile_number(i), tiles, back, NULL);
            assert_memory_equal(back, wanted, sizeof back);
        }
        qdq_tilize_in(dtype, shape, (qdq_tile_shape){32, 32, true}, rows, tiles, NULL);
        qdq_untilize_in(dtype, shape, (qdq_tile_shape){32, 32, true}, tiles, back, NULL);
        size_t others = 0;
        for (size_t i = 0; i < UNIT_COUNT(back); i++) others += back[i] != wanted[i];
        assert_true(others > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_have_the_shapes_of_tt_metal),
        cmocka_unit_test(elements_follow_the_walk_through_the_faces),
        cmocka_unit_test(tiles_have_the_bytes_of_tt_metal),
        cmocka_unit_test(the_last_two_dims_are_padded_to_the_tile),
        cmocka_unit_test(tilize_and_untilize_are_inverse_in_tiles_of_every_shape),
        cmocka_unit_test(a_block_float_has_exponents_of_16_neighbours_in_memory_padded_to_16),
        cmocka_unit_test(block_floats_round_alike_in_every_tile_that_is_not_transposed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
