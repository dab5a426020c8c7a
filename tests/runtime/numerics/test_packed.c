// SPDX-License-Identifier: Apache-2.0
// Integers of at most 16 bits and types narrower than a byte: every code, packed bytes against
// published ones, and packed tiles, where padding and elements share bytes.
#include "include/qdq/tile.h"
#include "runtime/numerics/dtype.h"
#include "runtime/tiles/tile.h"
#include "tests/unit.h"

typedef struct narrow {
    qdq_dtype dtype;
    int bits;
    bool is_signed;
} narrow;

static const narrow integers[] = {
    {QDQ_INT8, 8, true},     {QDQ_UINT8, 8, false}, {QDQ_INT16, 16, true},
    {QDQ_UINT16, 16, false}, {QDQ_INT4, 4, true},   {QDQ_UINT4, 4, false},
    {QDQ_INT2, 2, true},     {QDQ_UINT2, 2, false}, {QDQ_BOOL, 1, false},
};

// A code as the API holds it: an (u)int8 or (u)int16.
static uint16_t held(const narrow *t, int code) {
    int value = t->is_signed && code >> (t->bits - 1) ? code - (1 << t->bits) : code;
    return (uint16_t)(t->bits > 8 ? value & 0xFFFF : value & 0xFF);
}

static void every_code_of_an_integer_round_trips_and_widens_exactly(void **state) {
    (void)state;
    static int32_t wide[65536], public[65536];
    static float real[65536];
    static uint16_t in[65536], out[65536];
    for (size_t k = 0; k < UNIT_COUNT(integers); k++) {
        const narrow *t = &integers[k];
        size_t count = (size_t)1 << t->bits, size = qdq_dtype_size(t->dtype);
        assert_int_equal(size, t->bits > 8 ? 2 : 1);
        for (size_t i = 0; i < count; i++) {
            if (size == 2)
                in[i] = held(t, (int)i);
            else
                ((uint8_t *)in)[i] = (uint8_t)held(t, (int)i);
        }
        qdq_decode_int(t->dtype, in, wide, count);
        qdq_widen_int(t->dtype, in, public, count);
        qdq_decode_float(t->dtype, in, real, count);
        qdq_encode_int(t->dtype, wide, out, count);
        assert_memory_equal(in, out, count * size);
        for (size_t i = 0; i < count; i++) {
            int want = t->is_signed && i >= count / 2 ? (int)i - (int)count : (int)i;
            assert_int_equal(wide[i], want);
            assert_int_equal(public[i], want);
            assert_true(real[i] == (float)want);
        }
    }
}

//---- Bytes ------------------------------------------------------------------

static const narrow packs[] = {
    {QDQ_INT4, 4, true},   {QDQ_UINT4, 4, false},       {QDQ_INT2, 2, true},
    {QDQ_UINT2, 2, false}, {QDQ_FLOAT4_E2M1, 4, false},
};

// Element i of packed bytes, as the API holds it.
static uint8_t unpacked(const narrow *p, const uint8_t *bytes, size_t i) {
    size_t each = (size_t)(8 / p->bits);
    int code = bytes[i / each] >> (i % each * (size_t)p->bits) & ((1 << p->bits) - 1);
    return (uint8_t)held(p, code);
}

static void only_types_narrower_than_a_byte_are_packed(void **state) {
    (void)state;
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        bool found = false;
        for (size_t k = 0; k < UNIT_COUNT(packs); k++) found |= packs[k].dtype == (qdq_dtype)d;
        assert_int_equal(qdq_dtype_is_packed((qdq_dtype)d), found);
    }
}

static void every_byte_holds_its_first_element_in_the_low_bits(void **state) {
    (void)state;
    uint8_t bytes[256], back[257], elements[1025];
    for (size_t i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
    for (size_t k = 0; k < UNIT_COUNT(packs); k++) {
        size_t count = 256 * 8 / (size_t)packs[k].bits;
        memset(elements, 0x66, sizeof elements);
        memset(back, 0x66, sizeof back);
        qdq_unpack_bits(packs[k].dtype, bytes, elements, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(elements[i], unpacked(&packs[k], bytes, i));
        assert_int_equal(elements[count], 0x66);
        qdq_pack_bits(packs[k].dtype, elements, back, count);
        assert_memory_equal(back, bytes, 256);
        assert_int_equal(back[256], 0x66);
    }
}

// The packing published by ONNX (TensorProto, int4 and uint4) and TensorRT (its INT4 layout).
static void published_bytes_are_packed_and_unpacked(void **state) {
    (void)state;
    static const struct {
        qdq_dtype dtype;
        size_t count;
        int8_t elements[8];
        uint8_t bytes[4];
    } rows[] = {
        {QDQ_INT4, 6, {0, 1, 7, -4, -8, 0}, {0x10, 0xC7, 0x08}},
        {QDQ_INT2, 4, {0, 1, -1, -2}, {0xB4}},
        {QDQ_UINT2, 4, {0, 1, 2, 3}, {0xE4}},
        {QDQ_INT4, 6, {-8, 0, 7, 0, -8, 7}, {0x08, 0x07, 0x78}},
        {QDQ_UINT4, 4, {15, 0, 7, 0}, {0x0F, 0x07}},
        {QDQ_INT4, 8, {3, 7, -5, 2, 1, -8, 0, 4}, {115, 43, 129, 64}},
        {QDQ_INT4, 8, {1, 2, 3, 4, 5, 6, 7, 7}, {33, 67, 101, 119}},
        {QDQ_INT4, 4, {-8, 7, 7, -8}, {120, 135}},
        {QDQ_INT4, 4, {3, 3, 6, 1}, {51, 22}},
        {QDQ_FLOAT4_E2M1, 2, {0x1, 0xA}, {0xA1}},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        uint8_t bytes[8], elements[8];
        size_t bits = rows[i].dtype == QDQ_INT2 || rows[i].dtype == QDQ_UINT2 ? 2 : 4;
        qdq_pack_bits(rows[i].dtype, rows[i].elements, bytes, rows[i].count);
        assert_memory_equal(bytes, rows[i].bytes, rows[i].count * bits / 8);
        qdq_unpack_bits(rows[i].dtype, rows[i].bytes, elements, rows[i].count);
        assert_memory_equal(elements, rows[i].elements, rows[i].count);
    }
}

// Numbers of elements around a block of the search; every byte, in the last place of a block too.
static void the_first_byte_beyond_a_type_is_found(void **state) {
    (void)state;
    enum { BLOCK = 4096, MOST = 2 * BLOCK + 9 };
    static const size_t places[] = {0, 1, BLOCK - 1, BLOCK, 2 * BLOCK - 1, MOST - 1};
    static uint8_t elements[MOST];
    for (size_t k = 0; k < UNIT_COUNT(packs); k++) {
        int count = 1 << packs[k].bits;
        for (size_t p = 0; p < UNIT_COUNT(places); p++)
            for (int byte = 0; byte < 256; byte++) {
                bool code = false;
                for (int i = 0; i < count; i++) code |= held(&packs[k], i) == byte;
                memset(elements, held(&packs[k], count - 1), sizeof elements);
                elements[places[p]] = (uint8_t)byte;
                size_t found = qdq_first_beyond(packs[k].dtype, elements, MOST);
                assert_int_equal(found, code ? SIZE_MAX : places[p]);
            }
    }
    assert_int_equal(qdq_first_beyond(QDQ_INT8, elements, MOST), SIZE_MAX);
}

//---- Tiles ------------------------------------------------------------------

static void tiles_of_narrow_types_have_512_and_256_bytes(void **state) {
    (void)state;
    assert_int_equal(qdq_tile_bytes(QDQ_INT4), 512);
    assert_int_equal(qdq_tile_bytes(QDQ_UINT4), 512);
    assert_int_equal(qdq_tile_bytes(QDQ_FLOAT4_E2M1), 512);
    assert_int_equal(qdq_tile_bytes(QDQ_INT2), 256);
    assert_int_equal(qdq_tile_bytes(QDQ_UINT2), 256);
    assert_int_equal(qdq_tile_bytes(QDQ_FLOAT16), 2048);
    assert_int_equal(qdq_tile_bytes(QDQ_INT16), 2048);
    assert_int_equal(qdq_tile_bytes(QDQ_UINT16), 2048);
    assert_int_equal(qdq_tile_bytes(QDQ_BOOL), 1024);
    assert_int_equal(qdq_tile_bytes(QDQ_FLOAT8_E4M3FN), 1024);
    assert_int_equal(qdq_tile_bytes(QDQ_FLOAT8_E5M2), 1024);
    assert_int_equal(qdq_tile_bytes(QDQ_FLOAT8_E4M3FNUZ), 1024);
    assert_int_equal(qdq_tile_bytes(QDQ_FLOAT8_E5M2FNUZ), 1024);
    assert_int_equal(qdq_tile_bytes(QDQ_FLOAT8_E8M0), 1024);
}

// Where element i of a row-major tensor of this tiling lies, in elements.
static size_t place(const qdq_tiling *t, size_t i) {
    size_t col = i % t->cols, row = i / t->cols % t->rows, plane = i / t->cols / t->rows;
    size_t tile = (plane * t->tile_rows + row / 32) * t->tile_cols + col / 32;
    size_t r = row % 32, c = col % 32;
    return tile * 1024 + ((r >> 4) * 2 + (c >> 4)) * 256 + (r & 15) * 16 + (c & 15);
}

// Tilizes into memory filled with `fill`, compares every bit with a copy that was packed element by
// element, and untilizes.
static void round_trip(const narrow *p, qdq_shape shape, uint8_t fill) {
    qdq_tiling t = qdq_tiling_of(shape);
    size_t count = qdq_shape_count(shape), bytes = t.tiles * 128 * (size_t)p->bits;
    size_t each = (size_t)(8 / p->bits);
    int mask = (1 << p->bits) - 1;
    uint8_t *rows = malloc(count + 1), *back = malloc(count + 1), *tiles = malloc(bytes + 1),
            *wanted = malloc(bytes + 1);
    assert_true(rows && back && tiles && wanted);
    memset(tiles, fill, bytes + 1), memset(wanted, fill, bytes + 1);
    memset(back, 0x77, count + 1);
    for (size_t i = 0; i < count; i++) {
        int code = (int)(i * 7 + i / 13 + 1) & mask;
        rows[i] = (uint8_t)held(p, code);
        size_t at = place(&t, i), shift = at % each * (size_t)p->bits;
        wanted[at / each] = (uint8_t)((wanted[at / each] & ~(mask << shift)) | code << shift);
    }
    rows[count] = 0x5C;
    qdq_tilize(p->dtype, shape, rows, tiles);
    if (memcmp(tiles, wanted, bytes + 1) != 0)
        fail_msg("%s [%zu, %zu, %zu] over %#x", qdq_dtype_name(p->dtype), t.planes, t.rows, t.cols,
                 fill);
    qdq_untilize(p->dtype, shape, tiles, back);
    assert_memory_equal(back, rows, count);
    assert_int_equal(back[count], 0x77);
    free(rows), free(back), free(tiles), free(wanted);
}

static void
packed_tiles_round_trip_and_leave_padding_for_shapes_to_two_tiles_and_one(void **state) {
    (void)state;
    static const uint8_t fills[] = {0xFF, 0x00, 0x9C};
    for (size_t k = 0; k < UNIT_COUNT(packs); k++) {
        round_trip(&packs[k], (qdq_shape){0}, 0xFF);
        for (int64_t n = 1; n <= 65; n++) round_trip(&packs[k], QDQ_SHAPE(n), 0xA5);
        for (int64_t r = 1; r <= 65; r++)
            for (int64_t c = 1; c <= 65; c++) {
                bool edge = (r % 16 < 2 || r % 16 == 15) && (c % 16 < 4 || c % 16 > 12);
                if (edge || (r + 3 * c) % 11 == 0)
                    round_trip(&packs[k], QDQ_SHAPE(r, c), fills[(r + c) % 3]);
            }
    }
}

static void packed_planes_begin_on_a_byte_up_to_rank_eight(void **state) {
    (void)state;
    for (size_t k = 0; k < UNIT_COUNT(packs); k++) {
        round_trip(&packs[k], QDQ_SHAPE(3, 33, 31), 0xFF);
        round_trip(&packs[k], QDQ_SHAPE(2, 3, 1, 65), 0x00);
        round_trip(&packs[k], QDQ_SHAPE(1, 2, 1, 2, 2, 33, 1), 0x6B);
        round_trip(&packs[k], QDQ_SHAPE(2, 1, 2, 1, 2, 1, 3, 3), 0xFF);
    }
}

// A block has 1024 elements as the API holds them.
static void storing_and_loading_a_block_of_any_other_type_is_the_identity(void **state) {
    (void)state;
    static uint8_t block[8192], tile[8193], back[8192];
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        qdq_dtype dtype = (qdq_dtype)d;
        // rounds, so loading does not give back the same
        if (qdq_dtype_get(dtype)->kind == QDQ_KIND_BLOCK_FLOAT) continue;
        size_t bytes = 1024 * qdq_dtype_size(dtype), stored = qdq_tile_bytes(dtype);
        const narrow *p = NULL;
        for (size_t k = 0; k < UNIT_COUNT(packs); k++)
            if (packs[k].dtype == dtype) p = &packs[k];
        for (size_t i = 0; i < bytes; i++) {
            block[i] = (uint8_t)(i * 5 + i / 256);
            if (p) block[i] = unpacked(p, (uint8_t[]){(uint8_t)(i + i / 7)}, 0);
        }
        memset(tile, 0x99, sizeof tile), memset(back, 0x77, sizeof back);
        qdq_tile_store(dtype, QDQ_TILE_ELEMENTS, block, tile);
        assert_int_equal(tile[stored], 0x99);
        for (size_t i = 0; p && i < 1024; i++) assert_int_equal(unpacked(p, tile, i), block[i]);
        if (!p) assert_memory_equal(tile, block, bytes);
        qdq_tile_load(dtype, QDQ_TILE_ELEMENTS, tile, back);
        assert_memory_equal(back, block, bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_of_an_integer_round_trips_and_widens_exactly),
        cmocka_unit_test(only_types_narrower_than_a_byte_are_packed),
        cmocka_unit_test(every_byte_holds_its_first_element_in_the_low_bits),
        cmocka_unit_test(published_bytes_are_packed_and_unpacked),
        cmocka_unit_test(the_first_byte_beyond_a_type_is_found),
        cmocka_unit_test(tiles_of_narrow_types_have_512_and_256_bytes),
        cmocka_unit_test(packed_tiles_round_trip_and_leave_padding_for_shapes_to_two_tiles_and_one),
        cmocka_unit_test(packed_planes_begin_on_a_byte_up_to_rank_eight),
        cmocka_unit_test(storing_and_loading_a_block_of_any_other_type_is_the_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
