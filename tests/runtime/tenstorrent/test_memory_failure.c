// SPDX-License-Identifier: Apache-2.0
// What does not fit in a device, and its sentence: out of memory, and circular buffers.
#include "tests/runtime/tenstorrent/device_cases.h"

static const qdq_core_range all_cores = {0, 0, 7, 7};

//---- Out of memory ----------------------------------------------------------

// Measured on a p150: 335,544,320 B over 8 banks do not fit though 76,413,184 B are free.
static void enough_memory_in_too_small_blocks_is_fragmentation(void **state) {
    (void)state;
    empty_device device;
    qdq_device p150 = device_named("p150");
    qdq_memory_failure failure;
    qdq_buffer_layout layout;
    qdq_buffer buffer = {0};
    p150.trace_region_size = 38400000;
    device_begin(&device, p150);
    // Two holes of the largest free block's size, and what is left of the free bytes above them.
    uint64_t hole = 37030336, rest = 76413184 - 2 * hole, wall = 4096;
    qdq_buffer first = allocate(&device, bytes_per_bank(&p150, QDQ_DRAM, hole));
    allocate(&device, bytes_per_bank(&p150, QDQ_DRAM, wall));
    qdq_buffer second = allocate(&device, bytes_per_bank(&p150, QDQ_DRAM, hole));
    allocate(&device, bytes_per_bank(&p150, QDQ_DRAM, 4196976832 - wall));
    qdq_buffer_free(&device.memory, &first);
    qdq_buffer_free(&device.memory, &second);
    assert_int_equal(rest, 2352512);
    assert_int_equal(qdq_buffer_layout_raw(&p150, QDQ_DRAM, 335544320, 2048, &layout, NULL),
                     QDQ_MEMORY_FINE);
    assert_int_equal(
        qdq_buffer_allocate(&device.memory, &layout, QDQ_DIRECTION_DEFAULT, &buffer, &failure),
        QDQ_FRAGMENTED);
    assert_int_equal(failure.kind, QDQ_FRAGMENTED);
    assert_false(buffer.is_allocated);
    check_failure(
        &failure,
        "DRAM is fragmented: a buffer of 335544320 B over 8 banks needs 41943040 B in each, "
        "a bank has 4273390016 B, allocated 4196976832 B, free 76413184 B, largest free "
        "block 37030336 B");
    device_end(&device);
}

static void less_memory_than_is_needed_is_exhaustion(void **state) {
    (void)state;
    empty_device device;
    qdq_device n150 = device_named("n150");
    qdq_memory_failure failure;
    qdq_buffer buffer = {0};
    device_begin(&device, n150);
    allocate(&device, bytes_per_bank(&n150, QDQ_L1, 1395712 - 8192));
    qdq_buffer_layout layout =
        layout_of(&n150, tiled(QDQ_FLOAT32, QDQ_SHAPE(512, 512)), interleaved(QDQ_L1));
    assert_int_equal(
        qdq_buffer_allocate(&device.memory, &layout, QDQ_DIRECTION_DEFAULT, &buffer, &failure),
        QDQ_EXHAUSTED);
    check_failure(&failure, "L1 is exhausted: a buffer of 1048576 B over 64 banks needs 16384 B in "
                            "each, a bank has 1395712 B, allocated 1387520 B, free 8192 B, largest "
                            "free block 8192 B");
    device_end(&device);
}

static void more_than_a_bank_can_never_fit(void **state) {
    (void)state;
    empty_device device;
    qdq_device n150 = device_named("n150");
    qdq_memory_failure failure;
    qdq_buffer buffer = {0};
    device_begin(&device, n150);
    qdq_buffer_layout layout =
        layout_of(&n150, tiled(QDQ_FLOAT32, QDQ_SHAPE(8192, 8192)), interleaved(QDQ_L1));
    assert_int_equal(
        qdq_buffer_allocate(&device.memory, &layout, QDQ_DIRECTION_DEFAULT, &buffer, &failure),
        QDQ_NEVER_FITS);
    check_failure(&failure,
                  "L1 is too small even when empty: a buffer of 268435456 B over 64 banks "
                  "needs 4194304 B in each, a bank has 1395712 B, allocated 0 B, free "
                  "1395712 B, largest free block 1395712 B");
    // L1_SMALL has no bytes unless the device is opened with some.
    layout = layout_of(&n150, tiled(QDQ_INT8, QDQ_SHAPE(1)), interleaved(QDQ_L1_SMALL));
    assert_int_equal(
        qdq_buffer_allocate(&device.memory, &layout, QDQ_DIRECTION_DEFAULT, &buffer, &failure),
        QDQ_NEVER_FITS);
    assert_int_equal(failure.pool, QDQ_L1_SMALL);
    assert_int_equal(failure.bank_size, 0);
    device_end(&device);
}

//---- Circular buffers -------------------------------------------------------

// float32 to int32 with a scalar: 2 + 1 + 2 tiles of 4,096 bytes.
static void quantize_with_a_scalar_takes_five_tiles_of_each_core(void **state) {
    (void)state;
    qdq_device n150 = device_named("n150");
    qdq_binary_buffers op = {.a_tile_bytes = 4096,
                             .b_tile_bytes = 4096,
                             .out_tile_bytes = 4096,
                             .b_is_scalar = true,
                             .is_native = true};  // which a scalar never is
    qdq_circular_buffer buffers[QDQ_BINARY_CIRCULAR_BUFFERS];
    qdq_circular_region region;
    size_t count = qdq_binary_circular_buffers(&op, &all_cores, 1, buffers);
    assert_int_equal(count, 3);
    qdq_circular_buffers_place(&n150, buffers, count, &region);
    assert_int_equal(buffers[0].address, 103424);
    assert_int_equal(buffers[1].address, 103424 + 8192);
    assert_int_equal(buffers[2].address, 103424 + 12288);
    assert_int_equal(region.begin, 103424);
    assert_int_equal(region.end, 123904);
}

static void natively_sharded_operands_take_no_circular_memory(void **state) {
    (void)state;
    qdq_device n150 = device_named("n150");
    qdq_binary_buffers op = {.a_tile_bytes = 2048,
                             .b_tile_bytes = 2048,
                             .out_tile_bytes = 2048,
                             .is_native = true,
                             .shard_bytes = 32768};
    qdq_circular_buffer buffers[QDQ_BINARY_CIRCULAR_BUFFERS];
    qdq_circular_region region;
    size_t count = qdq_binary_circular_buffers(&op, &all_cores, 1, buffers);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_true(buffers[i].globally_allocated);
        assert_int_equal(buffers[i].bytes, 32768);
    }
    qdq_circular_buffers_place(&n150, buffers, count, &region);
    assert_int_equal(region.end, region.begin);
    op.is_native = false;
    count = qdq_binary_circular_buffers(&op, &all_cores, 1, buffers);
    qdq_circular_buffers_place(&n150, buffers, count, &region);
    assert_int_equal(region.end, 103424 + 6 * 2048);
    op.a_intermediate_bytes = 4096;
    assert_int_equal(qdq_binary_circular_buffers(&op, &all_cores, 1, buffers), 4);
    op.is_native = true;  // an intermediate is never a buffer of the caller
    assert_int_equal(qdq_binary_circular_buffers(&op, &all_cores, 1, buffers), 4);
    for (size_t i = 0; i < 4; i++) assert_true(buffers[i].globally_allocated == (i < 3));
}

// A matrix product on a p150 whose L1 base was 111,616, as measured.
static void circular_buffers_lie_back_to_back(void **state) {
    (void)state;
    qdq_device device = blackhole_with_cores(11, 10);
    qdq_core_range cores = {0, 0, 10, 9};
    qdq_circular_buffer buffers[] = {{.bytes = 131072, .cores = &cores, .core_ranges = 1},
                                     {.bytes = 131072, .cores = &cores, .core_ranges = 1},
                                     {.bytes = 524288, .cores = &cores, .core_ranges = 1}};
    qdq_circular_region region;
    device.l1_base = 111616;
    qdq_circular_buffers_place(&device, buffers, 3, &region);
    assert_int_equal(buffers[0].address, 111616);
    assert_int_equal(buffers[1].address, 242688);
    assert_int_equal(buffers[2].address, 373760);
    assert_int_equal(region.end, 373760 + 524288);
}

static void circular_buffers_of_other_cores_share_addresses(void **state) {
    (void)state;
    qdq_device n150 = device_named("n150");
    static const qdq_core_range left = {0, 0, 3, 7}, right = {4, 0, 7, 7}, middle = {3, 0, 4, 0};
    qdq_circular_buffer buffers[] = {{.bytes = 100, .cores = &left, .core_ranges = 1},
                                     {.bytes = 4096, .cores = &right, .core_ranges = 1},
                                     {.bytes = 64, .cores = &left, .core_ranges = 1},
                                     {.bytes = 32, .cores = &middle, .core_ranges = 1}};
    qdq_circular_region region;
    qdq_circular_buffers_place(&n150, buffers, 4, &region);
    assert_int_equal(buffers[0].address, 103424);
    assert_int_equal(buffers[1].address, 103424);
    assert_int_equal(buffers[2].address, 103424 + 128);  // sizes are multiples of 32
    assert_int_equal(buffers[3].address, 103424 + 4096);
    assert_int_equal(region.end, 103424 + 4096 + 32);
    assert_int_equal(region.cores.x0, 3);
}

// Measured on a p150: a buffer at 1,462,656, the region ends at 1,505,408.
static void circular_buffers_clash_with_the_lowest_buffer_of_any_core(void **state) {
    (void)state;
    empty_device device;
    qdq_device p150 = device_named("p150");
    qdq_memory_failure failure;
    qdq_circular_region region = {111360, 1505408, {0, 0, 12, 9}};
    device_begin(&device, p150);
    assert_int_equal(qdq_circular_region_check(&device.memory, &region, &failure),
                     QDQ_FAILURE_NONE);
    qdq_buffer low = allocate(&device, bytes_per_bank(&p150, QDQ_L1, 1572864 - 1462656));
    assert_int_equal(low.address, 1462656);
    assert_int_equal(qdq_circular_region_check(&device.memory, &region, &failure),
                     QDQ_CIRCULAR_CLASH);
    assert_int_equal(failure.address, 1462656);
    assert_int_equal(failure.region_end - failure.address, 42752);
    check_failure(&failure,
                  "circular buffers on cores (0,0)-(12,9) end at 1505408, 42752 B above the "
                  "lowest L1 buffer at 1462656");
    region.end = 1462656;
    assert_int_equal(qdq_circular_region_check(&device.memory, &region, &failure),
                     QDQ_FAILURE_NONE);
    region.end = 1572865;
    assert_int_equal(qdq_circular_region_check(&device.memory, &region, &failure),
                     QDQ_CIRCULAR_BEYOND_L1);
    check_failure(&failure,
                  "circular buffers on cores (0,0)-(12,9) end at 1572865, 1 B above the L1 "
                  "size of 1572864");
    device_end(&device);
}

static void circular_buffers_clash_with_l1_small_too(void **state) {
    (void)state;
    empty_device device;
    qdq_device n150 = device_named("n150");
    qdq_memory_failure failure;
    n150.l1_small_size = 32768;
    device_begin(&device, n150);
    qdq_buffer small = allocate(&device, bytes_per_bank(&n150, QDQ_L1_SMALL, 1024));
    assert_int_equal(small.address, 1499136 - 1024);
    qdq_circular_region region = {103424, 1499136, {0, 0, 7, 7}};
    assert_int_equal(qdq_circular_region_check(&device.memory, &region, &failure),
                     QDQ_CIRCULAR_CLASH);
    assert_int_equal(failure.pool, QDQ_L1_SMALL);
    device_end(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_memory_in_too_small_blocks_is_fragmentation),
        cmocka_unit_test(less_memory_than_is_needed_is_exhaustion),
        cmocka_unit_test(more_than_a_bank_can_never_fit),
        cmocka_unit_test(quantize_with_a_scalar_takes_five_tiles_of_each_core),
        cmocka_unit_test(natively_sharded_operands_take_no_circular_memory),
        cmocka_unit_test(circular_buffers_lie_back_to_back),
        cmocka_unit_test(circular_buffers_of_other_cores_share_addresses),
        cmocka_unit_test(circular_buffers_clash_with_the_lowest_buffer_of_any_core),
        cmocka_unit_test(circular_buffers_clash_with_l1_small_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
