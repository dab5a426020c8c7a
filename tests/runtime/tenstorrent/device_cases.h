// SPDX-License-Identifier: Apache-2.0
// What the tests of device memory share: tensors, memory configs and layouts in one line each.
#ifndef QDQ_TESTS_RUNTIME_MEMORY_DEVICE_CASES_H
#define QDQ_TESTS_RUNTIME_MEMORY_DEVICE_CASES_H

#include "runtime/tenstorrent/device_memory.h"
#include "tests/unit.h"

static inline qdq_device device_named(const char *name) {
    const qdq_device *device = qdq_device_find(name, NULL);
    assert_non_null(device);
    return *device;
}

// p150 with other cores: harvested chips have 120 or 110 of the 130.
static inline qdq_device blackhole_with_cores(uint64_t grid_x, uint64_t grid_y) {
    qdq_device device = device_named("p150");
    device.grid_x = grid_x;
    device.grid_y = grid_y;
    return device;
}

static inline qdq_device_tensor tiled(qdq_dtype dtype, qdq_shape shape) {
    return (qdq_device_tensor){.dtype = dtype, .shape = shape};
}

static inline qdq_device_tensor row_major(qdq_dtype dtype, qdq_shape shape) {
    return (qdq_device_tensor){.dtype = dtype, .shape = shape, .layout = QDQ_LAYOUT_ROW_MAJOR};
}

static inline qdq_memory_config interleaved(qdq_buffer_type type) {
    return (qdq_memory_config){.buffer_type = type};
}

// Shards on the cores (0,0)-(x-1,y-1).
static inline qdq_memory_config sharded(qdq_buffer_type type, qdq_memory_layout layout,
                                        qdq_shape shape, uint16_t x, uint16_t y) {
    return (qdq_memory_config){
        .buffer_type = type,
        .memory_layout = layout,
        .shard_spec = {.grid = {{0, 0, (uint16_t)(x - 1), (uint16_t)(y - 1)}},
                       .grid_count = 1,
                       .shape = shape}};
}

static inline qdq_buffer_layout layout_of(const qdq_device *device, qdq_device_tensor tensor,
                                          qdq_memory_config config) {
    qdq_buffer_layout layout;
    qdq_error err = {0};
    qdq_memory_rule rule = qdq_buffer_layout_of(device, &tensor, &config, &layout, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rule, QDQ_MEMORY_FINE);
    return layout;
}

// A device with nothing in its memory.
typedef struct empty_device {
    qdq_mempool mempool;
    qdq_device_memory memory;
} empty_device;

static inline void device_begin(empty_device *device, qdq_device facts) {
    qdq_error err = {0};
    qdq_mempool_init(&device->mempool, NULL);
    qdq_device_memory_init(&device->memory, &facts, &device->mempool, &err);
    assert_string_equal(err.text, "");
}

static inline void device_end(empty_device *device) { qdq_mempool_release(&device->mempool); }

static inline qdq_buffer allocate(empty_device *device, qdq_buffer_layout layout) {
    qdq_buffer buffer = {0};
    assert_int_equal(
        qdq_buffer_allocate(&device->memory, &layout, QDQ_DIRECTION_DEFAULT, &buffer, NULL),
        QDQ_FAILURE_NONE);
    return buffer;
}

// A layout that takes `bytes` in each bank: pages of one byte each would do as well.
static inline qdq_buffer_layout bytes_per_bank(const qdq_device *device, qdq_buffer_type type,
                                               uint64_t bytes) {
    qdq_device_pool pool;
    assert_true(qdq_device_pool_of(device, type, &pool));
    return (qdq_buffer_layout){.buffer_type = type,
                               .page_size = bytes,
                               .pages = pool.banks,
                               .slot = bytes,
                               .banks = pool.banks,
                               .bytes_per_bank = bytes};
}

// Where the first buffer of a tensor lies on an empty device.
static inline uint64_t first_address(qdq_device facts, qdq_buffer_layout layout) {
    empty_device device;
    device_begin(&device, facts);
    uint64_t address = allocate(&device, layout).address;
    device_end(&device);
    return address;
}

static inline void check_failure(const qdq_memory_failure *failure, const char *wanted) {
    char text[512];
    qdq_memory_failure_text(failure, text, sizeof text);
    assert_string_equal(text, wanted);
}

#endif
