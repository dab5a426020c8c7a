// SPDX-License-Identifier: Apache-2.0
// The TILE layout (tiles of four 16x16 faces) against tt-metal's tech report on tensor layouts;
// packing and unpacking are inverses.
#include "include/qdq/tile.h"
#include "tests/unit.h"

static void offsets_are_those_of_the_device(void **state) {
    (void)state;
    static const size_t known[][3] = {{0, 0, 0},     {0, 15, 15},   {0, 16, 256},
                                      {1, 0, 16},    {15, 31, 511}, {16, 0, 512},
                                      {16, 16, 768}, {5, 20, 340},  {31, 31, 1023}};
    bool seen[QDQ_TILE_ELEMENTS] = {false};
    for (size_t i = 0; i < UNIT_COUNT(known); i++)
        assert_int_equal(qdq_tile_offset(known[i][0], known[i][1]), known[i][2]);
    for (size_t r = 0; r < 32; r++)
        for (size_t c = 0; c < 32; c++) {
            assert_false(seen[qdq_tile_offset(r, c)]);
            seen[qdq_tile_offset(r, c)] = true;
        }
}

static void check_bytes(qdq_shape shape, size_t rows, size_t cols, size_t tiles) {
    qdq_tiling t = qdq_tiling_of(shape);
    assert_int_equal(t.tiles, tiles);
    assert_int_equal(t.planes * t.tile_rows * 32, rows);
    assert_int_equal(t.tile_cols * 32, cols);
}

static void only_the_last_two_dims_are_padded(void **state) {
    (void)state;
    check_bytes(QDQ_SHAPE(5), 32, 32, 1);
    check_bytes(QDQ_SHAPE(3, 5), 32, 32, 1);
    check_bytes(QDQ_SHAPE(2, 3, 5), 64, 32, 2);
    check_bytes(QDQ_SHAPE(2, 3, 33, 65), 384, 96, 36);
    check_bytes((qdq_shape){0}, 32, 32, 1);
    qdq_shape padded = qdq_padded_shape(QDQ_SHAPE(2, 3, 33, 65));
    assert_int_equal(padded.rank, 4);
    assert_int_equal(padded.dims[1], 3);
    assert_int_equal(padded.dims[2], 64);
    assert_int_equal(padded.dims[3], 96);
    padded = qdq_padded_shape(QDQ_SHAPE(33));
    assert_int_equal(padded.rank, 2);
    assert_int_equal(padded.dims[0], 32);
    assert_int_equal(padded.dims[1], 64);
    assert_int_equal(qdq_padded_shape((qdq_shape){0}).dims[1], 32);
}

static void tiles_have_the_bytes_of_the_device(void **state) {
    (void)state;
    assert_int_equal(qdq_tile_bytes(QDQ_BFLOAT16), 2048);
    assert_int_equal(qdq_tile_bytes(QDQ_FLOAT32), 4096);
    assert_int_equal(qdq_tile_bytes(QDQ_INT32), 4096);
    assert_int_equal(qdq_tile_bytes(QDQ_INT8), 1024);
    assert_int_equal(qdq_tile_bytes(QDQ_UINT8), 1024);
}

// In that layout a [3, 5] tensor of 1...15 lands at offsets 0-4, 16-20 and 32-36.
static void a_small_tensor_lies_where_the_device_puts_it(void **state) {
    (void)state;
    uint8_t rows[15], tile[1024] = {0};
    for (size_t i = 0; i < 15; i++) rows[i] = (uint8_t)(i + 1);
    qdq_tilize(QDQ_UINT8, QDQ_SHAPE(3, 5), rows, tile);
    for (size_t i = 0; i < 1024; i++) {
        size_t row = i / 16, col = i % 16;
        assert_int_equal(tile[i], row < 3 && col < 5 ? row * 5 + col + 1 : 0);
    }
}

// ttnn's self-check tile x[r][c] = (((37r + 11c) mod 257) - 128) / 16 as bfloat16.
static void the_self_check_tile_has_the_published_checksum(void **state) {
    (void)state;
    uint16_t rows[1024], tile[1024];
    for (unsigned r = 0; r < 32; r++)
        for (unsigned c = 0; c < 32; c++) {
            float x = ((float)((37 * r + 11 * c) % 257) - 128.0f) / 16.0f;
            uint32_t bits;
            memcpy(&bits, &x, sizeof bits);
            rows[r * 32 + c] = (uint16_t)(bits >> 16);  // exact, with 8 significant bits
        }
    qdq_tilize(QDQ_BFLOAT16, QDQ_SHAPE(32, 32), rows, tile);
    const unsigned char *bytes = (const unsigned char *)tile;
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < sizeof tile; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    assert_int_equal(crc ^ 0xFFFFFFFFu, 0x3C6F118Du);
}

// Packs, checks every element against the formula and all padding for its poison, and unpacks.
static void round_trip(qdq_dtype dtype, qdq_shape shape) {
    size_t size = qdq_dtype_size(dtype), count = qdq_shape_count(shape);
    qdq_tiling t = qdq_tiling_of(shape);
    size_t bytes = t.tiles * 1024 * size;
    unsigned char *rows = malloc(count * size), *back = malloc(count * size),
                  *tiles = malloc(bytes), *wanted = malloc(bytes);
    for (size_t i = 0; i < count * size; i++) rows[i] = (unsigned char)(i * 7 + i / 251 + 1);
    memset(tiles, 0xFF, bytes);
    memset(wanted, 0xFF, bytes);
    memset(back, 0x77, count * size);
    for (size_t i = 0; i < count; i++) {
        size_t col = i % t.cols, row = i / t.cols % t.rows, plane = i / t.cols / t.rows;
        size_t tile = (plane * t.tile_rows + row / 32) * t.tile_cols + col / 32;
        size_t r = row % 32, c = col % 32;
        size_t offset = ((r >> 4) * 2 + (c >> 4)) * 256 + (r & 15) * 16 + (c & 15);
        memcpy(wanted + (tile * 1024 + offset) * size, rows + i * size, size);
    }
    qdq_tilize(dtype, shape, rows, tiles);
    assert_memory_equal(tiles, wanted, bytes);
    qdq_untilize(dtype, shape, tiles, back);
    assert_memory_equal(back, rows, count * size);
    free(rows), free(back), free(tiles), free(wanted);
}

static void pack_and_unpack_are_the_identity_for_all_shapes_up_to_two_tiles_and_one(void **state) {
    (void)state;
    round_trip(QDQ_INT8, (qdq_shape){0});
    for (int64_t n = 1; n <= 65; n++) round_trip(QDQ_BFLOAT16, QDQ_SHAPE(n));
    for (int64_t r = 1; r <= 65; r++)
        for (int64_t c = 1; c <= 65; c++) {
            round_trip(QDQ_INT8, QDQ_SHAPE(r, c));
            round_trip(QDQ_BFLOAT16, QDQ_SHAPE(r, c));
            if ((r + c) % 7 == 0) round_trip(QDQ_FLOAT32, QDQ_SHAPE(r, c));
        }
}

static void outer_dims_are_planes_up_to_rank_eight(void **state) {
    (void)state;
    round_trip(QDQ_INT32, QDQ_SHAPE(3, 33, 31));
    round_trip(QDQ_UINT8, QDQ_SHAPE(2, 3, 1, 65));
    round_trip(QDQ_BFLOAT16, QDQ_SHAPE(2, 1, 3, 17, 33));
    round_trip(QDQ_FLOAT32, QDQ_SHAPE(1, 2, 1, 2, 2, 33, 1));
    round_trip(QDQ_INT8, QDQ_SHAPE(2, 1, 2, 1, 2, 1, 32, 33));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_those_of_the_device),
        cmocka_unit_test(only_the_last_two_dims_are_padded),
        cmocka_unit_test(tiles_have_the_bytes_of_the_device),
        cmocka_unit_test(a_small_tensor_lies_where_the_device_puts_it),
        cmocka_unit_test(the_self_check_tile_has_the_published_checksum),
        cmocka_unit_test(pack_and_unpack_are_the_identity_for_all_shapes_up_to_two_tiles_and_one),
        cmocka_unit_test(outer_dims_are_planes_up_to_rank_eight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
