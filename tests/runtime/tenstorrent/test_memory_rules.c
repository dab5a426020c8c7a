// SPDX-License-Identifier: Apache-2.0
// What no buffer can be: each rule of shards and memory configs, and its sentence.
#include "tests/runtime/tenstorrent/device_cases.h"

static void check_refused(qdq_device_tensor tensor, qdq_memory_config config, qdq_memory_rule rule,
                          const char *text) {
    qdq_device device = device_named("n150");
    qdq_buffer_layout layout;
    qdq_error err = {0};
    assert_int_equal(qdq_buffer_layout_of(&device, &tensor, &config, &layout, &err), rule);
    assert_string_equal(err.text, text);
}

static void a_shard_spec_that_breaks_a_rule_is_refused_with_a_sentence(void **state) {
    (void)state;
    qdq_device_tensor t = tiled(QDQ_BFLOAT16, QDQ_SHAPE(256, 128));
    qdq_memory_config c = sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(33, 128), 8, 1);
    check_refused(t, c, QDQ_MEMORY_SPEC_TILES,
                  "a shard of 33x128 elements is not a whole number of 32x32 tiles");
    c.shard_spec.shape = QDQ_SHAPE(32, 64);
    check_refused(t, c, QDQ_MEMORY_SPEC_WIDTH,
                  "the shard is 64 wide, wanted 128: HEIGHT_SHARDED does not cut rows");
    // Rows are padded to the shard's width only where it cuts them.
    check_refused(row_major(QDQ_BFLOAT16, QDQ_SHAPE(256, 60)), c, QDQ_MEMORY_SPEC_WIDTH,
                  "the shard is 64 wide, wanted 60: HEIGHT_SHARDED does not cut rows");
    c.memory_layout = QDQ_WIDTH_SHARDED;
    check_refused(t, c, QDQ_MEMORY_SPEC_HEIGHT,
                  "the shard is 32 high, wanted 256: WIDTH_SHARDED does not cut columns");
    c = sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(32, 128), 7, 1);
    check_refused(t, c, QDQ_MEMORY_GRID_CORES,
                  "8 shards are more than 7 cores: make shards larger");
    c = sharded(QDQ_L1, QDQ_BLOCK_SHARDED, QDQ_SHAPE(32, 32), 3, 8);
    check_refused(t, c, QDQ_MEMORY_GRID_CORES,
                  "the tensor is 8x4 shards, more than 8x3 cores: make shards larger");
    c.shard_spec.grid[1] = (qdq_core_range){4, 0, 4, 0};
    c.shard_spec.grid_count = 2;
    check_refused(t, c, QDQ_MEMORY_GRID_SQUARE,
                  "BLOCK_SHARDED wants one rectangle of cores, the shard's grid has 2 ranges");
    c.shard_spec.grid[1] = (qdq_core_range){2, 7, 4, 7};
    check_refused(t, c, QDQ_MEMORY_GRID, "the shard's cores (2,7)-(4,7) overlap those of range 0");
    c = sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(32, 128), 9, 1);
    check_refused(t, c, QDQ_MEMORY_GRID,
                  "the shard's cores (0,0)-(8,0) are not all within the device's 8x8");
    c.buffer_type = QDQ_DRAM;
    c.shard_spec.grid[0] = (qdq_core_range){0, 0, 7, 1};
    check_refused(t, c, QDQ_MEMORY_GRID,
                  "the shard's cores (0,0)-(7,1) are not all within the device's 12x1");
    c.shard_spec.grid[0] = (qdq_core_range){3, 0, 2, 0};
    check_refused(t, c, QDQ_MEMORY_GRID, "the shard's cores (3,0)-(2,0) end before they begin");
    c.shard_spec.grid_count = 17;
    check_refused(t, c, QDQ_MEMORY_GRID, "the shard's grid has 17 ranges of cores, wanted 1 to 16");
}

static void a_memory_config_that_does_not_fit_itself_is_refused_with_a_sentence(void **state) {
    (void)state;
    qdq_device_tensor t = tiled(QDQ_BFLOAT16, QDQ_SHAPE(6, 32, 32));
    qdq_memory_config c = {.memory_layout = QDQ_HEIGHT_SHARDED, .buffer_type = QDQ_L1};
    check_refused(t, c, QDQ_MEMORY_SPEC,
                  "the memory_layout is HEIGHT_SHARDED, wanted a shard_spec");
    c = sharded(QDQ_L1, QDQ_INTERLEAVED, QDQ_SHAPE(32, 32), 8, 1);
    check_refused(t, c, QDQ_MEMORY_SPEC, "the memory_layout is INTERLEAVED, wanted no shard_spec");
    c = sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(1, 32, 32), 8, 1);
    check_refused(t, c, QDQ_MEMORY_SPEC_RANK, "the shard's rank is 3, wanted 2");
    c = sharded(QDQ_L1, QDQ_ND_SHARDED, QDQ_SHAPE(1, 1, 32, 32), 8, 1);
    check_refused(t, c, QDQ_MEMORY_SPEC_RANK, "the shard's rank is 4, wanted 1 to 3");
    c.shard_spec.shape = QDQ_SHAPE(0, 32, 32);
    check_refused(t, c, QDQ_MEMORY_SPEC_SHAPE, "dim 0 of the shard is 0, wanted 1 to 2^31 - 1");
    c.shard_spec.shape = QDQ_SHAPE(INT32_MAX, 2147483616, 2147483616);
    check_refused(t, c, QDQ_MEMORY_SPEC_SHAPE, "the shards of a core have more than 2^63 bytes");
    c.shard_spec.shape = QDQ_SHAPE(1, 32, 32);
    c.shard_spec.distribution = QDQ_CONTIGUOUS_1D;
    check_refused(t, c, QDQ_MEMORY_DISTRIBUTION,
                  "CONTIGUOUS_1D needs shards divisible by cores: 6 shards, 8 cores");
    c = sharded(QDQ_L1, QDQ_HEIGHT_SHARDED, QDQ_SHAPE(32, 32), 8, 1);
    c.shard_spec.distribution = QDQ_CONTIGUOUS_1D;
    check_refused(t, c, QDQ_MEMORY_DISTRIBUTION,
                  "the distribution CONTIGUOUS_1D needs memory_layout ND_SHARDED");
    c = interleaved(QDQ_SYSTEM_MEMORY);
    check_refused(t, c, QDQ_MEMORY_POOL,
                  "the buffer_type is SYSTEM_MEMORY, wanted DRAM, L1, L1_SMALL or TRACE");
    c.memory_layout = (qdq_memory_layout)9;
    c.buffer_type = QDQ_L1;
    check_refused(t, c, QDQ_MEMORY_LAYOUT,
                  "the memory_config has memory_layout 9, orientation 0 and distribution 0: one of "
                  "these does not exist");
}

static void a_buffer_is_whole_pages(void **state) {
    (void)state;
    qdq_device device = device_named("p150");
    qdq_buffer_layout layout;
    qdq_error err = {0};
    assert_int_equal(qdq_buffer_layout_raw(&device, QDQ_DRAM, 100, 48, &layout, &err),
                     QDQ_MEMORY_PAGES);
    assert_string_equal(err.text, "a buffer of 100 bytes is not a whole number of 48-byte pages");
    assert_int_equal(qdq_buffer_layout_raw(&device, QDQ_DRAM, 0, UINT64_MAX, &layout, NULL),
                     QDQ_MEMORY_PAGES);
    assert_int_equal(qdq_buffer_layout_raw(&device, QDQ_DRAM, 22528, 2048, &layout, NULL),
                     QDQ_MEMORY_FINE);
    assert_int_equal(layout.bytes_per_bank, 4096);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shard_spec_that_breaks_a_rule_is_refused_with_a_sentence),
        cmocka_unit_test(a_memory_config_that_does_not_fit_itself_is_refused_with_a_sentence),
        cmocka_unit_test(a_buffer_is_whole_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
