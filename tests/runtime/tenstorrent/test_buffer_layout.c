// SPDX-License-Identifier: Apache-2.0
// Where pages lie: interleaved and sharded tensors, their banks and addresses, and back.
#include "tests/runtime/tenstorrent/device_cases.h"

//---- Interleaved ------------------------------------------------------------

static void check_interleaved(qdq_device device, qdq_device_tensor tensor, qdq_buffer_type type,
                              uint64_t per_bank, uint64_t base, uint64_t page, uint64_t bank,
                              uint64_t address) {
    qdq_buffer_layout layout = layout_of(&device, tensor, interleaved(type));
    qdq_page_place place;
    assert_int_equal(layout.bytes_per_bank, per_bank);
    uint64_t at = first_address(device, layout);
    assert_int_equal(at, base);
    assert_true(qdq_page_place_of(&layout, at, page, &place));
    assert_int_equal(place.bank, bank);
    assert_int_equal(place.address, address);
}

static void interleaved_pages_go_round_the_banks(void **state) {
    (void)state;
    qdq_device_tensor bf16 = tiled(QDQ_BFLOAT16, QDQ_SHAPE(512, 512));
    qdq_device n150 = device_named("n150"), p150 = device_named("p150");
    check_interleaved(n150, bf16, QDQ_DRAM, 45056, 32, 100, 4, 16416);
    check_interleaved(device_named("n300"), bf16, QDQ_DRAM, 45056, 32, 100, 4, 16416);
    check_interleaved(p150, bf16, QDQ_DRAM, 65536, 64, 100, 4, 24640);
    check_interleaved(n150, bf16, QDQ_L1, 8192, 1490944, 100, 36, 1492992);
    check_interleaved(device_named("n300"), bf16, QDQ_L1, 10240, 1488896, 100, 44, 1490944);
    check_interleaved(p150, bf16, QDQ_L1, 4096, 1568768, 100, 100, 1568768);
    check_interleaved(device_named("p100"), bf16, QDQ_L1, 6144, 1566720, 100, 100, 1566720);
    check_interleaved(blackhole_with_cores(11, 10), bf16, QDQ_L1, 6144, 1566720, 100, 100, 1566720);
    check_interleaved(n150, tiled(QDQ_BFLOAT8_B, QDQ_SHAPE(512, 512)), QDQ_DRAM, 23936, 32, 100, 4,
                      8736);
    check_interleaved(n150, tiled(QDQ_BFLOAT16, QDQ_SHAPE(32, 32)), QDQ_L1, 2048, 1497088, 0, 0,
                      1497088);
    check_interleaved(p150, row_major(QDQ_UINT8, QDQ_SHAPE(100, 30)), QDQ_DRAM, 832, 64, 99, 3,
                      832);
    // 1024 x 1024 on a p150 with 110 cores, as measured.
    check_interleaved(blackhole_with_cores(11, 10), tiled(QDQ_BFLOAT16, QDQ_SHAPE(1024, 1024)),
                      QDQ_L1, 20480, 1552384, 110, 0, 1552384 + 2048);
}

static void a_second_buffer_lies_above_the_first_in_dram_and_below_it_in_l1(void **state) {
    (void)state;
    empty_device device;
    qdq_device n150 = device_named("n150");
    qdq_device_tensor tensor = tiled(QDQ_BFLOAT16, QDQ_SHAPE(512, 512));
    device_begin(&device, n150);
    allocate(&device, layout_of(&n150, tensor, interleaved(QDQ_DRAM)));
    allocate(&device, layout_of(&n150, tensor, interleaved(QDQ_L1)));
    assert_int_equal(allocate(&device, layout_of(&n150, tensor, interleaved(QDQ_DRAM))).address,
                     45088);
    assert_int_equal(allocate(&device, layout_of(&n150, tensor, interleaved(QDQ_L1))).address,
                     1490944 - 8192);
    device_end(&device);
}

//---- Sharded ----------------------------------------------------------------

// Counts padding pages by asking for each slot of each core.
static uint64_t count_kind(const qdq_buffer_layout *layout, qdq_page_kind kind) {
    uint64_t count = 0, page, byte;
    for (uint64_t bank = 0; bank < layout->banks; bank++)
        for (uint64_t at = 0; at < layout->bytes_per_bank; at += layout->slot)
            count += qdq_page_at(layout, 4096, bank, 4096 + at, &page, &byte) == kind;
    return count;
}

static void check_sharded(qdq_device_tensor tensor, qdq_memory_config config, uint64_t shards,
                          uint64_t pages_per_shard, uint64_t bytes, uint64_t address,
                          uint64_t padding) {
    qdq_device device = device_named("n150");
    qdq_buffer_layout layout = layout_of(&device, tensor, config);
    assert_int_equal(layout.shards, shards);
    assert_int_equal(layout.pages_per_shard, pages_per_shard);
    assert_int_equal(layout.bytes_per_bank, bytes);
    assert_int_equal(first_address(device, layout), address);
    assert_int_equal(count_kind(&layout, QDQ_PAGE_PADDING), padding);
    assert_int_equal(count_kind(&layout, QDQ_PAGE_REAL), layout.pages);
}

// conv2d.json: 16,384 rows of 64 bytes in 103 shards of 160 rows have a size of 103 x 10,240 bytes,
// and its result, 1,024 tiles in 103 shards of 10, one of 2,097,152 without padding pages.
static void padding_pages_count_in_the_size_of_rows(void **state) {
    (void)state;
    qdq_device device = device_named("p150");
    qdq_memory_config config = sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(160, 32), 11, 9);
    device.grid_x = 11;
    config.shard_spec.grid[1] = (qdq_core_range){0, 9, 3, 9};
    config.shard_spec.grid_count = 2;
    qdq_buffer_layout layout =
        layout_of(&device, row_major(QDQ_BFLOAT16, QDQ_SHAPE(1, 1, 16384, 32)), config);
    assert_int_equal(layout.page_size, 64);
    assert_int_equal(layout.bytes_per_bank, 10240);
    assert_int_equal(qdq_buffer_layout_size(&layout), 1054720);
    config.shard_spec.shape = QDQ_SHAPE(160, 64);
    layout = layout_of(&device, tiled(QDQ_BFLOAT16, QDQ_SHAPE(1, 1, 16384, 64)), config);
    assert_int_equal(layout.bytes_per_bank, 20480);
    assert_int_equal(qdq_buffer_layout_size(&layout), 2097152);
}

static void shards_take_the_same_bytes_on_each_core(void **state) {
    (void)state;
    check_sharded(tiled(QDQ_BFLOAT16, QDQ_SHAPE(2048, 512)),
                  sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(32, 512), 8, 8), 64, 16, 32768,
                  1466368, 0);
    check_sharded(tiled(QDQ_BFLOAT16, QDQ_SHAPE(1000, 64)),
                  sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(160, 64), 7, 1), 7, 10, 20480,
                  1478656, 6);
    check_sharded(tiled(QDQ_INT8, QDQ_SHAPE(32, 4096)),
                  sharded(QDQ_L1, QDQ_WIDTH_SHARDED, QDQ_SHAPE(32, 64), 8, 8), 64, 2, 2048, 1497088,
                  0);
    check_sharded(tiled(QDQ_FLOAT32, QDQ_SHAPE(256, 512)),
                  sharded(QDQ_L1, QDQ_BLOCK_SHARDED, QDQ_SHAPE(64, 64), 8, 4), 32, 4, 16384,
                  1482752, 0);
    check_sharded(row_major(QDQ_BFLOAT16, QDQ_SHAPE(100, 64)),
                  sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(13, 64), 8, 1), 8, 13, 1664,
                  1497472, 4);
    check_sharded(tiled(QDQ_BFLOAT16, QDQ_SHAPE(3, 64, 64)),
                  sharded(QDQ_L1, QDQ_ND_SHARDED, QDQ_SHAPE(1, 32, 64), 4, 1), 6, 2, 8192, 1490944,
                  0);
}

static void the_last_shard_of_an_uneven_tensor_has_its_real_pages_first(void **state) {
    (void)state;
    qdq_device device = device_named("n150");
    qdq_buffer_layout layout =
        layout_of(&device, row_major(QDQ_BFLOAT16, QDQ_SHAPE(100, 64)),
                  sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(13, 64), 8, 1));
    uint64_t page, byte;
    for (uint64_t row = 0; row < 13; row++) {
        qdq_page_kind kind =
            qdq_page_at(&layout, 1497472, 7, 1497472 + row * 128 + 5, &page, &byte);
        assert_int_equal(kind, row < 9 ? QDQ_PAGE_REAL : QDQ_PAGE_PADDING);
        if (row < 9) assert_int_equal(page, 91 + row);
        if (row < 9) assert_int_equal(byte, 5);
    }
    // A core outside the grid has given the memory too.
    assert_int_equal(qdq_page_at(&layout, 1497472, 8, 1497472, &page, &byte), QDQ_PAGE_IDLE);
    assert_int_equal(qdq_page_at(&layout, 1497472, 7, 1497471, &page, &byte), QDQ_PAGE_NONE);
    assert_int_equal(qdq_page_at(&layout, 1497472, 7, 1499136, &page, &byte), QDQ_PAGE_NONE);
    assert_int_equal(qdq_page_at(&layout, 1497472, 64, 1497472, &page, &byte), QDQ_PAGE_NONE);
}

// Element (70, 200) of the block-sharded example.
static void an_element_of_a_block_sharded_tensor_has_a_core_and_an_address(void **state) {
    (void)state;
    qdq_device device = device_named("n150");
    qdq_device_tensor tensor = tiled(QDQ_FLOAT32, QDQ_SHAPE(256, 512));
    qdq_memory_config config = sharded(QDQ_L1, QDQ_BLOCK_SHARDED, QDQ_SHAPE(64, 64), 8, 4);
    qdq_buffer_layout layout = layout_of(&device, tensor, config);
    qdq_page_layout pages;
    qdq_page_place place;
    uint64_t page, element;
    assert_int_equal(qdq_page_layout_of(&tensor, 64, &pages, NULL), QDQ_MEMORY_FINE);
    qdq_page_layout_element(&pages, &tensor, 70, 200, &page, &element);
    assert_int_equal(element, 104);
    assert_true(qdq_page_place_of(&layout, 1482752, page, &place));
    assert_int_equal(place.core_x, 3);
    assert_int_equal(place.core_y, 1);
    assert_int_equal(place.bank, 1 * 8 + 3);
    assert_int_equal(place.address + element * 4, 1483168);
}

// Every page is found again at its place, and no two share one.
static void check_both_ways(const qdq_buffer_layout *layout) {
    uint64_t base = 1024, real, byte;
    for (uint64_t page = 0; page < layout->pages; page++) {
        qdq_page_place place;
        assert_true(qdq_page_place_of(layout, base, page, &place));
        assert_true(place.bank < layout->banks);
        assert_int_equal(qdq_page_at(layout, base, place.bank, place.address, &real, &byte),
                         QDQ_PAGE_REAL);
        assert_int_equal(real, page);
        assert_int_equal(byte, 0);
    }
    qdq_page_place none;
    assert_false(qdq_page_place_of(layout, base, layout->pages, &none));
    assert_int_equal(count_kind(layout, QDQ_PAGE_REAL), layout->pages);
    if (layout->shards)
        assert_int_equal(count_kind(layout, QDQ_PAGE_PADDING),
                         layout->shards * layout->pages_per_shard - layout->pages);
}

static void nd_shards_go_round_the_cores_and_contiguous_ones_in_runs(void **state) {
    (void)state;
    qdq_device device = device_named("n150");
    qdq_device_tensor tensor = tiled(QDQ_BFLOAT16, QDQ_SHAPE(3, 64, 64));
    qdq_memory_config config = sharded(QDQ_L1, QDQ_ND_SHARDED, QDQ_SHAPE(1, 32, 64), 4, 1);
    qdq_buffer_layout layout = layout_of(&device, tensor, config);
    qdq_page_place place;
    // Shard 4, the upper half of plane 2, is the second one of core 0.
    assert_true(qdq_page_place_of(&layout, 1490944, 9, &place));
    assert_int_equal(place.core_x, 0);
    assert_int_equal(place.address, 1490944 + 3 * 2048);
    config.shard_spec.distribution = QDQ_CONTIGUOUS_1D;
    config.shard_spec.grid[0].x1 = 2;  // 6 shards on 3 cores
    layout = layout_of(&device, tensor, config);
    assert_true(qdq_page_place_of(&layout, 1490944, 11, &place));
    assert_int_equal(place.core_x, 2);
    assert_int_equal(place.address, 1490944 + 3 * 2048);
    check_both_ways(&layout);
    // A shard of lower rank folds what it lacks into its height: 192 rows in shards of 128.
    config = sharded(QDQ_L1, QDQ_ND_SHARDED, QDQ_SHAPE(128, 64), 4, 1);
    layout = layout_of(&device, tensor, config);
    assert_int_equal(layout.shards, 2);
    assert_int_equal(layout.pages_per_shard, 8);
    // 5 * 3 * 64 rows in shards of 32.
    tensor = tiled(QDQ_BFLOAT16, QDQ_SHAPE(5, 3, 64, 64));
    config = sharded(QDQ_L1, QDQ_ND_SHARDED, QDQ_SHAPE(32, 64), 4, 1);
    layout = layout_of(&device, tensor, config);
    assert_int_equal(layout.shards, 30);
    assert_int_equal(layout.pages_per_shard, 2);
    check_both_ways(&layout);
}

static void the_orientation_says_which_core_a_shard_gets(void **state) {
    (void)state;
    qdq_device device = device_named("n150");
    qdq_page_place place;
    // 4 x 2 shards on 2 columns of 4 rows; COL_MAJOR: row i of shards is column i of cores.
    qdq_device_tensor tensor = tiled(QDQ_BFLOAT16, QDQ_SHAPE(64, 128));
    qdq_memory_config config = sharded(QDQ_L1, QDQ_BLOCK_SHARDED, QDQ_SHAPE(32, 32), 2, 4);
    config.shard_spec.orientation = QDQ_SHARD_COL_MAJOR;
    qdq_buffer_layout layout = layout_of(&device, tensor, config);
    assert_true(qdq_page_place_of(&layout, 0, 1 * 4 + 3, &place));
    assert_int_equal(place.core_x, 1);
    assert_int_equal(place.core_y, 3);
    // Height shards over two ranges: range by range, each along y first.
    tensor = tiled(QDQ_BFLOAT16, QDQ_SHAPE(256, 32));
    config = sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(32, 32), 2, 2);
    config.shard_spec.grid[1] = (qdq_core_range){4, 3, 5, 4};
    config.shard_spec.grid_count = 2;
    static const uint16_t along_x[8][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1},
                                           {4, 3}, {5, 3}, {4, 4}, {5, 4}};
    static const uint16_t along_y[8][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1},
                                           {4, 3}, {4, 4}, {5, 3}, {5, 4}};
    for (int turned = 0; turned < 2; turned++) {
        config.shard_spec.orientation = (qdq_shard_orientation)turned;
        layout = layout_of(&device, tensor, config);
        for (uint64_t page = 0; page < 8; page++) {
            assert_true(qdq_page_place_of(&layout, 0, page, &place));
            assert_int_equal(place.core_x, (turned ? along_y : along_x)[page][0]);
            assert_int_equal(place.core_y, (turned ? along_y : along_x)[page][1]);
        }
        check_both_ways(&layout);
    }
}

static void dram_shards_lie_in_dram_banks(void **state) {
    (void)state;
    qdq_device device = device_named("n150");
    qdq_memory_config config = sharded(QDQ_DRAM, QDQ_WIDTH_SHARDED, QDQ_SHAPE(32, 64), 12, 1);
    qdq_buffer_layout layout = layout_of(&device, tiled(QDQ_BFLOAT16, QDQ_SHAPE(32, 768)), config);
    qdq_page_place place;
    assert_int_equal(layout.bytes_per_bank, 4096);
    assert_true(qdq_page_place_of(&layout, 32, 23, &place));
    assert_int_equal(place.bank, 11);
    assert_int_equal(place.address, 32 + 2048);
}

static void pages_and_places_are_one_to_one_in_every_layout(void **state) {
    (void)state;
    static const uint32_t heights[] = {32, 16, 1}, widths[] = {32, 16};
    qdq_device device = device_named("n150");
    uint64_t random = 13, tried = 0;
    for (int round = 0; round < 4000; round++) {
        qdq_tile_shape tile = {heights[unit_random(&random) % 3], widths[unit_random(&random) % 2],
                               false};
        int rank = 1 + (int)(unit_random(&random) % 4);
        qdq_device_tensor tensor = tiled(QDQ_INT8, (qdq_shape){.rank = rank});
        tensor.tile = tile;
        tensor.layout = (qdq_layout)(unit_random(&random) % 2);
        for (int i = 0; i < rank; i++)
            tensor.shape.dims[i] = 1 + (int64_t)(unit_random(&random) % (i + 2 < rank ? 3 : 150));
        qdq_memory_layout how = (qdq_memory_layout)(unit_random(&random) % 5);
        qdq_memory_config config = {.memory_layout = how, .buffer_type = QDQ_L1};
        if (how != QDQ_INTERLEAVED) {
            qdq_shape shard = {.rank = how == QDQ_ND_SHARDED ? (rank < 2 ? 2 : rank) : 2};
            for (int i = 0; i < shard.rank; i++)
                shard.dims[i] = 1 + (int64_t)(unit_random(&random) % 3);
            shard.dims[shard.rank - 1] *= tile.width;
            shard.dims[shard.rank - 2] *= tile.height;
            config = sharded(QDQ_L1, how, shard, (uint16_t)(1 + unit_random(&random) % 8),
                             (uint16_t)(1 + unit_random(&random) % 8));
            config.shard_spec.orientation = (qdq_shard_orientation)(unit_random(&random) % 2);
            // The dim that is not cut.
            qdq_page_layout pages;
            assert_int_equal(qdq_page_layout_of(&tensor, 0, &pages, NULL), QDQ_MEMORY_FINE);
            if (how == QDQ_HEIGHT_SHARDED) config.shard_spec.shape.dims[1] = (int64_t)pages.width;
            if (how == QDQ_WIDTH_SHARDED) config.shard_spec.shape.dims[0] = (int64_t)pages.height;
        }
        qdq_buffer_layout layout;
        qdq_memory_rule rule = qdq_buffer_layout_of(&device, &tensor, &config, &layout, NULL);
        assert_true(rule == QDQ_MEMORY_FINE || rule == QDQ_MEMORY_GRID_CORES);
        if (rule != QDQ_MEMORY_FINE) continue;
        tried++;
        check_both_ways(&layout);
    }
    assert_true(tried > 1000);
}

static void configs_are_equal_if_pool_layout_and_spec_are(void **state) {
    (void)state;
    const qdq_memory_config a = sharded(QDQ_L1, QDQ_ND_SHARDED, QDQ_SHAPE(32, 64), 4, 2);
    qdq_memory_config b = a;
    assert_true(qdq_memory_config_equal(&a, &b));
    b.shard_spec.grid[1] = (qdq_core_range){1, 1, 1, 1};  // not one of the ranges
    assert_true(qdq_memory_config_equal(&a, &b));
    const qdq_memory_config others[] = {
        sharded(QDQ_DRAM, QDQ_ND_SHARDED, QDQ_SHAPE(32, 64), 4, 2),
        sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(32, 64), 4, 2),
        sharded(QDQ_L1, QDQ_ND_SHARDED, QDQ_SHAPE(64, 64), 4, 2),
        sharded(QDQ_L1, QDQ_ND_SHARDED, QDQ_SHAPE(32, 64), 4, 3),
        interleaved(QDQ_L1),
    };
    for (size_t i = 0; i < UNIT_COUNT(others); i++)
        assert_false(qdq_memory_config_equal(&a, &others[i]));
    b = a, b.shard_spec.orientation = QDQ_SHARD_COL_MAJOR;
    assert_false(qdq_memory_config_equal(&a, &b));
    b = a, b.shard_spec.distribution = QDQ_CONTIGUOUS_1D;
    assert_false(qdq_memory_config_equal(&a, &b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configs_are_equal_if_pool_layout_and_spec_are),
        cmocka_unit_test(interleaved_pages_go_round_the_banks),
        cmocka_unit_test(a_second_buffer_lies_above_the_first_in_dram_and_below_it_in_l1),
        cmocka_unit_test(padding_pages_count_in_the_size_of_rows),
        cmocka_unit_test(shards_take_the_same_bytes_on_each_core),
        cmocka_unit_test(the_last_shard_of_an_uneven_tensor_has_its_real_pages_first),
        cmocka_unit_test(an_element_of_a_block_sharded_tensor_has_a_core_and_an_address),
        cmocka_unit_test(nd_shards_go_round_the_cores_and_contiguous_ones_in_runs),
        cmocka_unit_test(the_orientation_says_which_core_a_shard_gets),
        cmocka_unit_test(dram_shards_lie_in_dram_banks),
        cmocka_unit_test(pages_and_places_are_one_to_one_in_every_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
