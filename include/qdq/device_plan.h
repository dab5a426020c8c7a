// SPDX-License-Identifier: Apache-2.0
// The memory of a device during a run: which buffer lies where, and from when to when.
//
// A graph compiled for a device has a device plan. It follows ttnn, which runs node by node: inputs
// and constants get buffers first, the output of a program before the program runs, and an input is
// freed after its last use. docs/device_memory.md has the formulas. Everything here belongs to the
// plan, lives as long as it, and never changes. Bytes and addresses belong to one bank, unless a
// comment says otherwise.
#ifndef QDQ_DEVICE_PLAN_H
#define QDQ_DEVICE_PLAN_H

#include <qdq/device.h>
#include <qdq/exec.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { QDQ_POOLS = 5 };  // enumerators of qdq_buffer_type, which number the pools

typedef enum qdq_buffer_role {
    QDQ_ROLE_INPUT = 0,
    QDQ_ROLE_CONSTANT,      // a constant, or a list of numbers in an attribute
    QDQ_ROLE_RESULT,        // an output of a node
    QDQ_ROLE_INTERMEDIATE,  // allocated and freed while a node runs
} qdq_buffer_role;

typedef struct qdq_device_buffer {
    const char *name;  // of the value; NODE.ATTRIBUTE of a list, NODE.PROGRAM of an intermediate
    qdq_buffer_role role;
    qdq_dtype dtype;
    qdq_shape shape;
    qdq_layout layout;
    qdq_buffer_type pool;
    qdq_memory_layout memory_layout;
    const qdq_memory_config *memory_config;
    qdq_tile_shape tile;  // of layout TILE; of rows it is all zero
    uint64_t address;
    uint64_t page_bytes, pages;  // pages: in all banks
    uint64_t size;               // in all banks, as ttnn counts it
    uint64_t slot_bytes;         // from a page to the next page in its bank
    uint64_t banks;
    uint64_t bytes_per_bank;  // of its slots; a bank without pages of the buffer has them too
    uint64_t taken;           // bytes_per_bank rounded up as the allocator does
    size_t view_of;           // the buffer whose memory it shares; SIZE_MAX: it has its own
    size_t cores;             // that hold shards; 0: interleaved
    // Programs, from which to which it is allocated, both included. A buffer that lives on has the
    // last program of the plan.
    size_t first_step, last_step;
    size_t last_use;  // the last program that writes or reads it
    bool lives_on;    // an output of the graph, or a value that is kept: never freed
} qdq_device_buffer;

// The state of a pool when a program runs.
typedef struct qdq_pool_state {
    uint64_t allocated, free;
    uint64_t largest_free;  // the largest block of it
} qdq_pool_state;

// A program that runs on the device: a node is one of them or several.
typedef struct qdq_device_step {
    const char *node;     // its name
    const char *op;       // "Quantize"
    const char *program;  // "quantize", "divide", "typecast", ...
    size_t node_index;    // of the graph, as in qdq_graph_node
    // The output, and the buffers that the program reads; SIZE_MAX: none.
    size_t output, inputs[2];
    size_t first_event, event_count;
    qdq_pool_state pools[QDQ_POOLS];
    // Circular buffers on each core of `cores`; equal: none, or the program's are not known.
    uint64_t circular_begin, circular_end;
    qdq_core_range cores;
} qdq_device_step;

typedef enum qdq_event_kind {
    QDQ_EVENT_ALLOCATE = 0,
    QDQ_EVENT_FREE,
    QDQ_EVENT_CIRCULAR_BUFFER,  // one is placed; all of a program's vanish when it has run
} qdq_event_kind;

// In the order in which they happen. Inputs and constants are allocated in step 0.
typedef struct qdq_device_event {
    qdq_event_kind kind;
    size_t step;
    size_t buffer;  // SIZE_MAX for a circular buffer
    uint64_t address;
    uint64_t bytes;  // that are no longer free, or free again: 0 for a view, and for a buffer whose
                     // views live on; of a circular buffer on each core
    bool globally_allocated;  // a circular buffer that is the memory of a sharded tensor
    // Of a circular buffer: the cores that have it.
    const qdq_core_range *cores;
    size_t core_ranges;
} qdq_device_event;

// A pool over the whole run. A pool that the device has not set up has 0 bytes.
typedef struct qdq_pool_info {
    uint64_t banks;
    uint64_t base, bytes;  // the range of addresses
    uint64_t peak;         // the most that is allocated at once
    size_t peak_step;      // the first program that reaches it
    qdq_pool_state end;    // after the run
} qdq_pool_info;

typedef struct qdq_device_plan {
    const qdq_device *device;
    const qdq_device_buffer *buffers;
    size_t buffer_count;
    const qdq_device_step *steps;
    size_t step_count;
    const qdq_device_event *events;
    size_t event_count;
    qdq_pool_info pools[QDQ_POOLS];
    uint64_t peak_circular;  // the most that circular buffers take on a core
    uint64_t peak_l1;        // the most of circular buffers, L1 and L1_SMALL together
} qdq_device_plan;

// Returns the device plan; NULL for a NULL plan and for a plan without a device.
QDQ_API const qdq_device_plan *qdq_plan_device(const qdq_plan *plan);

// Returns the buffer of value number `value` (qdq_plan_get_value); NULL without a device, for an
// index out of range, and for a value that no program on the device writes or reads.
QDQ_API const qdq_device_buffer *qdq_plan_value_buffer(const qdq_plan *plan, size_t value);

// The place of a page. `bank` is a bank id; of a shard in L1 it is a core, y * grid_x + x.
typedef struct qdq_page {
    uint64_t bank;
    uint64_t address;
    uint16_t core_x, core_y;  // of a shard in L1; else 0
} qdq_page;

// Sets *out to the place of page number `page` of a buffer, or of value number `value`. False, with
// *out untouched, if the page does not exist.
QDQ_API bool qdq_plan_buffer_page(const qdq_plan *plan, size_t buffer, uint64_t page,
                                  qdq_page *out);
QDQ_API bool qdq_plan_value_page(const qdq_plan *plan, size_t value, uint64_t page, qdq_page *out);

#ifdef __cplusplus
}
#endif
#endif
