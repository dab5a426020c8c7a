// SPDX-License-Identifier: Apache-2.0
// Pages: shapes of tiles, bytes of a page, slots in banks.
#include "include/qdq/tile.h"
#include "tests/runtime/tenstorrent/device_cases.h"

static void check_pages(qdq_device_tensor tensor, uint64_t pages, uint64_t page_size, uint64_t l1,
                        uint64_t wormhole, uint64_t blackhole) {
    qdq_device wh = device_named("n150"), bh = device_named("p150");
    qdq_buffer_layout layout = layout_of(&wh, tensor, interleaved(QDQ_L1));
    assert_int_equal(layout.pages, pages);
    assert_int_equal(layout.page_size, page_size);
    assert_int_equal(layout.slot, l1);
    assert_int_equal(layout_of(&wh, tensor, interleaved(QDQ_DRAM)).slot, wormhole);
    assert_int_equal(layout_of(&bh, tensor, interleaved(QDQ_DRAM)).slot, blackhole);
}

static void a_page_is_a_tile_or_a_row_in_a_slot_of_whole_alignments(void **state) {
    (void)state;
    check_pages(tiled(QDQ_BFLOAT16, QDQ_SHAPE(512, 512)), 256, 2048, 2048, 2048, 2048);
    check_pages(tiled(QDQ_BFLOAT8_B, QDQ_SHAPE(512, 512)), 256, 1088, 1088, 1088, 1088);
    check_pages(tiled(QDQ_BFLOAT4_B, QDQ_SHAPE(512, 512)), 256, 576, 576, 576, 576);
    check_pages(row_major(QDQ_INT32, QDQ_SHAPE(100, 30)), 100, 120, 128, 128, 128);
    check_pages(row_major(QDQ_UINT8, QDQ_SHAPE(100, 30)), 100, 30, 32, 32, 64);
    check_pages(tiled(QDQ_INT32, QDQ_SHAPE(100, 30)), 4, 4096, 4096, 4096, 4096);
    check_pages(tiled(QDQ_BFLOAT16, QDQ_SHAPE(2, 3, 33, 65)), 36, 2048, 2048, 2048, 2048);
    check_pages(row_major(QDQ_FLOAT32, QDQ_SHAPE(64)), 1, 256, 256, 256, 256);
    check_pages(tiled(QDQ_BFLOAT16, QDQ_SHAPE(5)), 1, 2048, 2048, 2048, 2048);
    check_pages(tiled(QDQ_BFLOAT16, QDQ_SHAPE(2, 3, 5)), 2, 2048, 2048, 2048, 2048);
    check_pages(tiled(QDQ_BFLOAT16, (qdq_shape){0}), 1, 2048, 2048, 2048, 2048);
}

static void a_tensor_without_elements_has_no_page_and_takes_nothing(void **state) {
    (void)state;
    qdq_device device = device_named("n150");
    qdq_device_tensor empty = tiled(QDQ_BFLOAT16, (qdq_shape){2, {0, 64}});
    qdq_buffer_layout layout = layout_of(&device, empty, interleaved(QDQ_L1));
    assert_int_equal(layout.pages, 0);
    assert_int_equal(layout.page_size, 4);
    assert_int_equal(layout.bytes_per_bank, 0);
}

static void bytes_of_a_tile_follow_from_its_shape(void **state) {
    (void)state;
    static const struct {
        qdq_tile_shape tile;
        qdq_dtype dtype;
        uint64_t bytes;
    } wanted[] = {
        {{16, 32, false}, QDQ_BFLOAT16, 1024}, {{32, 16, false}, QDQ_BFLOAT16, 1024},
        {{16, 16, false}, QDQ_BFLOAT16, 512},  {{16, 32, false}, QDQ_BFLOAT8_B, 544},
        {{16, 16, false}, QDQ_BFLOAT8_B, 272}, {{32, 32, false}, QDQ_BFLOAT16, 2048},
        {{32, 32, false}, QDQ_UINT16, 2048},   {{32, 32, false}, QDQ_FLOAT32, 4096},
        {{32, 32, false}, QDQ_INT32, 4096},    {{32, 32, false}, QDQ_UINT8, 1024},
        {{32, 32, true}, QDQ_BFLOAT16, 2048},  {{1, 32, false}, QDQ_BFLOAT16, 64},
        {{4, 16, false}, QDQ_FLOAT32, 256},    {{32, 32, false}, QDQ_DTYPE_NONE, 0},
    };
    for (size_t i = 0; i < UNIT_COUNT(wanted); i++)
        assert_int_equal(qdq_tile_shape_bytes(wanted[i].tile, wanted[i].dtype), wanted[i].bytes);
}

static void padding_and_pages_follow_the_tensors_tile(void **state) {
    (void)state;
    qdq_device_tensor tensor = tiled(QDQ_BFLOAT16, QDQ_SHAPE(20, 40));
    qdq_page_layout pages;
    assert_int_equal(qdq_page_layout_of(&tensor, 0, &pages, NULL), QDQ_MEMORY_FINE);
    assert_int_equal(pages.height, 32);
    assert_int_equal(pages.width, 64);
    check_pages(tensor, 2, 2048, 2048, 2048, 2048);
    tensor.tile = (qdq_tile_shape){16, 32, false};
    assert_int_equal(qdq_page_layout_of(&tensor, 0, &pages, NULL), QDQ_MEMORY_FINE);
    assert_int_equal(pages.height, 32);
    assert_int_equal(pages.width, 64);
    check_pages(tensor, 4, 1024, 1024, 1024, 1024);
    tensor.tile.transpose = true;  // pages stay as they are
    check_pages(tensor, 4, 1024, 1024, 1024, 1024);
}

static void exactly_the_tiles_of_the_hardware_are_legal(void **state) {
    (void)state;
    size_t legal = 0, general = 0, transposed = 0;
    for (uint32_t h = 0; h <= 64; h++)
        for (uint32_t w = h ? 0 : 1; w <= 64; w++) {
            legal += qdq_tile_shape_is_legal((qdq_tile_shape){h, w, false});
            general += qdq_tile_shape_is_general((qdq_tile_shape){h, w, false});
            transposed += qdq_tile_shape_is_legal((qdq_tile_shape){h, w, true});
        }
    assert_int_equal(legal, 12);  // 32, 16, 8, 4, 2, 1 high, 32 or 16 wide
    assert_int_equal(general, 4);
    assert_int_equal(transposed, 4);                              // 32 or 16 high
    assert_true(qdq_tile_shape_is_general((qdq_tile_shape){0}));  // 32x32
    assert_true(qdq_tile_shape_is_legal((qdq_tile_shape){1, 16, false}));
    assert_false(qdq_tile_shape_is_legal((qdq_tile_shape){32, 8, false}));
    assert_true(qdq_tile_shape_is_legal((qdq_tile_shape){16, 32, true}));
}

static void elements_lie_in_faces_and_a_transposed_tile_swaps_both(void **state) {
    (void)state;
    static const uint64_t known[][3] = {{0, 0, 0},     {0, 15, 15},   {0, 16, 256},
                                        {1, 0, 16},    {15, 31, 511}, {16, 0, 512},
                                        {16, 16, 768}, {5, 20, 340},  {31, 31, 1023}};
    qdq_tile_shape plain = {32, 32, false}, turned = {32, 32, true};
    for (size_t i = 0; i < UNIT_COUNT(known); i++) {
        assert_int_equal(qdq_tile_shape_offset(plain, known[i][0], known[i][1]), known[i][2]);
        assert_int_equal(qdq_tile_shape_offset(turned, known[i][1], known[i][0]), known[i][2]);
    }
    assert_int_equal(qdq_tile_shape_offset(turned, 0, 16), 512);
    assert_int_equal(qdq_tile_shape_offset(turned, 16, 0), 256);
    assert_int_equal(qdq_tile_shape_offset(turned, 1, 0), 1);
    // One row or one column of faces: only the elements of a face are transposed.
    assert_int_equal(qdq_tile_shape_offset((qdq_tile_shape){16, 32, true}, 3, 18),
                     256 + 2 * 16 + 3);
    assert_int_equal(qdq_tile_shape_offset((qdq_tile_shape){32, 16, true}, 18, 3),
                     256 + 3 * 16 + 2);
    assert_int_equal(qdq_tile_shape_offset((qdq_tile_shape){4, 32, false}, 3, 18), 64 + 3 * 16 + 2);
}

static void every_element_of_every_tile_has_a_place_of_its_own(void **state) {
    (void)state;
    for (uint32_t h = 1; h <= 32; h *= 2)
        for (uint32_t w = 16; w <= 32; w *= 2)
            for (int transpose = 0; transpose <= (h >= 16); transpose++) {
                qdq_tile_shape tile = {h, w, transpose};
                bool seen[1024] = {false};
                for (uint32_t r = 0; r < h; r++)
                    for (uint32_t c = 0; c < w; c++) {
                        uint64_t at = qdq_tile_shape_offset(tile, r, c);
                        assert_true(at < (uint64_t)h * w);
                        assert_false(seen[at]);
                        seen[at] = true;
                    }
            }
}

static void check_refused(qdq_device_tensor tensor, qdq_memory_rule rule, const char *text) {
    qdq_page_layout pages;
    qdq_error err = {0};
    assert_int_equal(qdq_page_layout_of(&tensor, 0, &pages, &err), rule);
    assert_string_equal(err.text, text);
}

static void tensors_that_have_no_pages_are_refused_with_a_sentence(void **state) {
    (void)state;
    qdq_device_tensor tensor = row_major(QDQ_BFLOAT8_B, QDQ_SHAPE(32, 32));
    check_refused(tensor, QDQ_MEMORY_DTYPE, "bfloat8_b lies in tiles only, wanted layout TILE");
    tensor = tiled(QDQ_DTYPE_NONE, QDQ_SHAPE(32));
    check_refused(tensor, QDQ_MEMORY_DTYPE, "the tensor has no dtype");
    tensor = tiled(QDQ_INT8, QDQ_SHAPE(32));
    tensor.tile = (qdq_tile_shape){8, 32, true};
    check_refused(tensor, QDQ_MEMORY_TILE,
                  "a tile of 8x32, transposed, does not exist: wanted a height of 32, 16, 8, 4, 2 "
                  "or 1 and a width of 32 or 16, and to be transposed a height of 32 or 16");
    tensor = tiled(QDQ_INT8, (qdq_shape){9, {1}});
    check_refused(tensor, QDQ_MEMORY_SHAPE, "the rank is 9, wanted 0 to 8");
    tensor = tiled(QDQ_INT8, QDQ_SHAPE(1, 1, 1, 1));
    for (int i = 0; i < 4; i++) {
        tensor.shape.dims[i] = INT64_MAX;
        check_refused(tensor, QDQ_MEMORY_SHAPE,
                      "the shape has a negative dim or more than 2^48 elements with its padding");
        tensor.shape.dims[i] = -1;
        check_refused(tensor, QDQ_MEMORY_SHAPE,
                      "the shape has a negative dim or more than 2^48 elements with its padding");
        tensor.shape.dims[i] = INT64_C(1) << 24;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_a_tile_or_a_row_in_a_slot_of_whole_alignments),
        cmocka_unit_test(a_tensor_without_elements_has_no_page_and_takes_nothing),
        cmocka_unit_test(bytes_of_a_tile_follow_from_its_shape),
        cmocka_unit_test(padding_and_pages_follow_the_tensors_tile),
        cmocka_unit_test(exactly_the_tiles_of_the_hardware_are_legal),
        cmocka_unit_test(elements_lie_in_faces_and_a_transposed_tile_swaps_both),
        cmocka_unit_test(every_element_of_every_tile_has_a_place_of_its_own),
        cmocka_unit_test(tensors_that_have_no_pages_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
