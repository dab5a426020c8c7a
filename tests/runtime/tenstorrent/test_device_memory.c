// SPDX-License-Identifier: Apache-2.0
// Buffers in the memory of a device: banks in lock step, views, reallocation.
#include "tests/runtime/tenstorrent/device_cases.h"

//---- Buffers ----------------------------------------------------------------

static void a_buffer_takes_the_same_addresses_in_each_bank(void **state) {
    (void)state;
    empty_device device;
    qdq_device n150 = device_named("n150");
    device_begin(&device, n150);
    // One page lies in one bank of 64; the range is taken in all of them.
    qdq_buffer one =
        allocate(&device, layout_of(&n150, tiled(QDQ_BFLOAT16, QDQ_SHAPE(1)), interleaved(QDQ_L1)));
    qdq_buffer next = allocate(
        &device, layout_of(&n150, tiled(QDQ_BFLOAT16, QDQ_SHAPE(2048, 32)), interleaved(QDQ_L1)));
    assert_int_equal(one.address, 1497088);
    assert_int_equal(next.address, 1495040);
    for (uint64_t page = 0; page < 64; page++) {
        qdq_page_place place;
        assert_true(qdq_page_place_of(&next.layout, next.address, page, &place));
        assert_int_equal(place.bank, page);
        assert_int_equal(place.address, 1495040);
    }
    qdq_memory_view view = qdq_device_memory_view(&device.memory, QDQ_L1);
    assert_int_equal(view.num_banks, 64);
    assert_int_equal(view.total_bytes_per_bank, 1395712);
    assert_int_equal(view.total_bytes_allocated_per_bank, 4096);
    assert_int_equal(view.total_bytes_free_per_bank, 1391616);
    assert_int_equal(view.largest_contiguous_bytes_free_per_bank, 1391616);
    assert_int_equal(qdq_device_memory_view(&device.memory, QDQ_SYSTEM_MEMORY).num_banks, 0);
    device_end(&device);
}

// The binaries of a matrix product on a p150: 11 pages, measured at 4,278,185,984.
static void kernel_binaries_lie_at_the_top_of_dram(void **state) {
    (void)state;
    empty_device device;
    qdq_device p150 = device_named("p150");
    qdq_buffer_layout layout;
    qdq_buffer buffer;
    device_begin(&device, p150);
    assert_int_equal(qdq_buffer_layout_raw(&p150, QDQ_DRAM, 22528, 2048, &layout, NULL),
                     QDQ_MEMORY_FINE);
    assert_int_equal(qdq_buffer_allocate(&device.memory, &layout, QDQ_TOP_DOWN, &buffer, NULL),
                     QDQ_FAILURE_NONE);
    assert_int_equal(buffer.address, 4278185984);
    device_end(&device);
}

static void memory_is_free_when_the_last_view_of_it_is(void **state) {
    (void)state;
    empty_device device;
    qdq_device n150 = device_named("n150");
    device_begin(&device, n150);
    qdq_buffer root = allocate(&device, bytes_per_bank(&n150, QDQ_L1, 8192)), view, other, none;
    qdq_buffer_layout smaller = bytes_per_bank(&n150, QDQ_L1, 4096),
                      larger = bytes_per_bank(&n150, QDQ_L1, 16384),
                      elsewhere = bytes_per_bank(&n150, QDQ_DRAM, 4096);
    assert_true(qdq_buffer_view(&device.memory, &root, NULL, &view));
    assert_true(qdq_buffer_view(&device.memory, &view, &smaller, &other));
    assert_false(qdq_buffer_view(&device.memory, &root, &larger, &none));
    assert_false(qdq_buffer_view(&device.memory, &root, &elsewhere, &none));
    assert_int_equal(view.address, root.address);
    assert_int_equal(other.address, root.address);
    assert_int_equal(device.memory.lists[QDQ_L1].allocated, 8192);
    assert_true(qdq_buffer_free(&device.memory, &root));
    assert_false(qdq_buffer_free(&device.memory, &root));
    assert_false(qdq_buffer_view(&device.memory, &root, NULL, &none));
    assert_true(qdq_buffer_free(&device.memory, &other));
    assert_int_equal(device.memory.lists[QDQ_L1].allocated, 8192);
    assert_true(qdq_buffer_free(&device.memory, &view));
    assert_int_equal(device.memory.lists[QDQ_L1].allocated, 0);
    device_end(&device);
}

static void a_buffer_without_pages_takes_nothing(void **state) {
    (void)state;
    empty_device device;
    qdq_device n150 = device_named("n150");
    device_begin(&device, n150);
    qdq_buffer_layout nothing =
        layout_of(&n150, tiled(QDQ_BFLOAT16, (qdq_shape){2, {0, 32}}), interleaved(QDQ_L1));
    qdq_buffer buffer = allocate(&device, nothing), view;
    assert_true(buffer.is_allocated);
    assert_int_equal(device.memory.lists[QDQ_L1].allocated, 0);
    assert_true(qdq_buffer_view(&device.memory, &buffer, NULL, &view));
    assert_int_equal(qdq_buffer_reallocate(&device.memory, &buffer, true, NULL), QDQ_FAILURE_NONE);
    assert_true(qdq_buffer_free(&device.memory, &view));
    assert_true(qdq_buffer_free(&device.memory, &buffer));
    assert_false(qdq_buffer_free(&device.memory, &buffer));
    device_end(&device);
}

static void a_buffer_lies_where_the_caller_wants_it_or_nowhere(void **state) {
    (void)state;
    empty_device device;
    qdq_device n150 = device_named("n150");
    qdq_memory_failure failure;
    qdq_buffer buffer = {0}, other = {0};
    qdq_buffer_layout layout = bytes_per_bank(&n150, QDQ_L1, 4096);
    device_begin(&device, n150);
    assert_int_equal(qdq_buffer_allocate_at(&device.memory, &layout, 1048576, &buffer, &failure),
                     QDQ_FAILURE_NONE);
    assert_int_equal(buffer.address, 1048576);
    assert_int_equal(
        qdq_buffer_allocate_at(&device.memory, &layout, 1048576 + 2048, &other, &failure),
        QDQ_ADDRESS_TAKEN);
    check_failure(&failure, "L1 does not have 4096 B free at address 1050624 of each bank");
    assert_int_equal(qdq_buffer_allocate_at(&device.memory, &layout, 1000, &other, &failure),
                     QDQ_ADDRESS_UNALIGNED);
    check_failure(&failure, "address 1000 is not a multiple of the alignment of L1");
    assert_false(other.is_allocated);
    assert_int_equal(device.memory.lists[QDQ_L1].allocated, 4096);
    device_end(&device);
}

//---- Reallocation -----------------------------------------------------------

// A hole of 8 KiB on top, then a buffer of 4 KiB, and one of 16 KiB.
static void reallocation_moves_up_into_a_hole_that_is_large_enough(void **state) {
    (void)state;
    for (int free_first = 0; free_first < 2; free_first++) {
        empty_device device;
        qdq_device n150 = device_named("n150");
        device_begin(&device, n150);
        qdq_buffer high = allocate(&device, bytes_per_bank(&n150, QDQ_L1, 8192));
        qdq_buffer small = allocate(&device, bytes_per_bank(&n150, QDQ_L1, 4096));
        qdq_buffer large = allocate(&device, bytes_per_bank(&n150, QDQ_L1, 16384));
        qdq_buffer_free(&device.memory, &high);
        assert_int_equal(qdq_buffer_reallocate(&device.memory, &small, free_first, NULL),
                         QDQ_FAILURE_NONE);
        assert_int_equal(small.address, 1499136 - 4096);
        // 8 KiB are free above: too few, unless its own place counts.
        assert_int_equal(large.address, 1499136 - 12288 - 16384);
        assert_int_equal(qdq_buffer_reallocate(&device.memory, &large, free_first, NULL),
                         QDQ_FAILURE_NONE);
        assert_int_equal(large.address,
                         free_first ? 1499136 - 4096 - 16384 : 1499136 - 12288 - 2 * 16384);
        assert_int_equal(device.memory.lists[QDQ_L1].allocated, 4096 + 16384);
        device_end(&device);
    }
}

static void a_buffer_with_views_is_not_moved(void **state) {
    (void)state;
    empty_device device;
    qdq_device n150 = device_named("n150");
    device_begin(&device, n150);
    qdq_buffer high = allocate(&device, bytes_per_bank(&n150, QDQ_L1, 8192)), view;
    qdq_buffer low = allocate(&device, bytes_per_bank(&n150, QDQ_L1, 8192));
    uint64_t address = low.address;
    qdq_buffer_view(&device.memory, &low, NULL, &view);
    qdq_buffer_free(&device.memory, &high);
    assert_int_equal(qdq_buffer_reallocate(&device.memory, &low, true, NULL), QDQ_FAILURE_NONE);
    assert_int_equal(low.address, address);
    qdq_buffer_free(&device.memory, &view);
    assert_int_equal(qdq_buffer_reallocate(&device.memory, &low, true, NULL), QDQ_FAILURE_NONE);
    assert_int_equal(low.address, 1490944);
    device_end(&device);
}

static void reallocation_next_to_itself_can_run_out_of_memory(void **state) {
    (void)state;
    empty_device device;
    qdq_device n150 = device_named("n150");
    qdq_memory_failure failure;
    device_begin(&device, n150);
    qdq_buffer buffer = allocate(&device, bytes_per_bank(&n150, QDQ_L1, 1000000));
    uint64_t address = buffer.address;
    assert_int_equal(qdq_buffer_reallocate(&device.memory, &buffer, false, &failure),
                     QDQ_EXHAUSTED);
    assert_int_equal(buffer.address, address);
    assert_int_equal(qdq_buffer_reallocate(&device.memory, &buffer, true, &failure),
                     QDQ_FAILURE_NONE);
    assert_int_equal(buffer.address, address);
    device_end(&device);
}

//---- Lock step --------------------------------------------------------------

enum { BUFFERS = 12, SCALE = 96, BANKS = 4 };

// A device of 4 banks of 96 units of 32 bytes, each unit of each bank with its owner.
typedef struct bank_map {
    int owner[BANKS][SCALE];
} bank_map;

// Writes each page of a buffer where it lies; no page may lie on another buffer's.
static void write_pages(bank_map *map, const qdq_buffer *buffer, int owner, int before) {
    for (uint64_t page = 0; page < buffer->layout.pages; page++) {
        qdq_page_place place;
        assert_true(qdq_page_place_of(&buffer->layout, buffer->address, page, &place));
        for (uint64_t byte = 0; byte < buffer->layout.slot; byte += 32) {
            uint64_t unit = (place.address + byte - 1024) / 32;
            assert_true(unit < SCALE && place.bank < BANKS);
            assert_int_equal(map->owner[place.bank][unit], before);
            map->owner[place.bank][unit] = owner;
        }
    }
}

static qdq_memory_config random_config(uint64_t *random) {
    uint16_t x = (uint16_t)(1 + unit_random(random) % 2),
             y = (uint16_t)(1 + unit_random(random) % 2);
    uint64_t rows = 1 + unit_random(random) % 5;
    return unit_random(random) % 2
               ? interleaved(QDQ_L1)
               : sharded(QDQ_L1, QDQ_ND_SHARDED, QDQ_SHAPE((int64_t)rows, 32), x, y);
}

static void pages_of_live_buffers_never_share_a_byte_of_any_bank(void **state) {
    (void)state;
    qdq_device tiny = {.name = "tiny",
                       .arch = QDQ_WORMHOLE,
                       .grid_x = 2,
                       .grid_y = 2,
                       .dram_banks = 4,
                       .dram_bank_size = 4096,
                       .dram_base = 32,
                       .dram_alignment = 32,
                       .l1_size = 1024 + SCALE * 32,
                       .l1_base = 1024,
                       .l1_alignment = 16};
    bank_map map = {{{0}}};
    qdq_buffer buffers[BUFFERS] = {{.is_allocated = false}};
    empty_device device;
    uint64_t random = 29, full = 0;
    device_begin(&device, tiny);
    for (int i = 0; i < 20000; i++) {
        size_t k = unit_random(&random) % BUFFERS;
        qdq_buffer *buffer = &buffers[k];
        if (buffer->is_allocated) {
            write_pages(&map, buffer, 0, (int)k + 1);
            assert_true(qdq_buffer_free(&device.memory, buffer));
            continue;
        }
        qdq_shape shape = QDQ_SHAPE(1 + (int64_t)(unit_random(&random) % 40), 32);
        qdq_buffer_layout layout =
            layout_of(&tiny, row_major(QDQ_INT8, shape), random_config(&random));
        if (qdq_buffer_allocate(&device.memory, &layout, (qdq_direction)(unit_random(&random) % 3),
                                buffer, NULL) != QDQ_FAILURE_NONE)
            full++;
        else
            write_pages(&map, buffer, (int)k + 1, 0);
    }
    assert_true(full > 100);
    device_end(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_takes_the_same_addresses_in_each_bank),
        cmocka_unit_test(kernel_binaries_lie_at_the_top_of_dram),
        cmocka_unit_test(memory_is_free_when_the_last_view_of_it_is),
        cmocka_unit_test(a_buffer_without_pages_takes_nothing),
        cmocka_unit_test(a_buffer_lies_where_the_caller_wants_it_or_nowhere),
        cmocka_unit_test(reallocation_moves_up_into_a_hole_that_is_large_enough),
        cmocka_unit_test(a_buffer_with_views_is_not_moved),
        cmocka_unit_test(reallocation_next_to_itself_can_run_out_of_memory),
        cmocka_unit_test(pages_of_live_buffers_never_share_a_byte_of_any_bank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
