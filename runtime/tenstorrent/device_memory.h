// SPDX-License-Identifier: Apache-2.0
// The memory of a device: its pools, and the buffers in them.
//
// A buffer is allocated, perhaps shared by views, and freed; it takes the same addresses in each
// bank of its pool. Nothing is stored here: this is where data would lie.
#ifndef QDQ_RUNTIME_TENSTORRENT_DEVICE_MEMORY_H
#define QDQ_RUNTIME_TENSTORRENT_DEVICE_MEMORY_H

#include "runtime/arena/free_list.h"
#include "runtime/tenstorrent/buffer_layout.h"
#include "runtime/tenstorrent/circular_buffers.h"
#include "runtime/tenstorrent/device_pool.h"
#include "runtime/tenstorrent/memory_failure.h"

typedef struct qdq_device_memory {
    qdq_device device;
    qdq_device_pool pools[QDQ_BUFFER_TYPES];  // that of SYSTEM_MEMORY is empty
    qdq_free_list lists[QDQ_BUFFER_TYPES];
} qdq_device_memory;

// Starts as {0}; it is the caller's, who may copy it, but frees one copy only.
typedef struct qdq_buffer {
    qdq_buffer_layout layout;
    uint64_t address;  // in each bank; 0 for a buffer without pages
    bool is_allocated;
} qdq_buffer;

// Creates the empty memory of a device. `mempool` outlives the memory. QDQ_ERR_ARGUMENT for a
// device that fails its check.
qdq_status qdq_device_memory_init(qdq_device_memory *memory, const qdq_device *device,
                                  qdq_mempool *mempool, qdq_error *err);

//---- Buffers ----------------------------------------------------------------

typedef enum qdq_direction {
    QDQ_DIRECTION_DEFAULT = 0,  // the pool's: DRAM bottom-up, others top-down
    QDQ_BOTTOM_UP,
    QDQ_TOP_DOWN,  // in DRAM: the direction of kernel binaries
} qdq_direction;

// All three return QDQ_FAILURE_NONE, or the kind of failure with `failure` (which may be NULL)
// filled in; a failure changes nothing. `layout` was made for the device of the memory.
qdq_failure_kind qdq_buffer_allocate(qdq_device_memory *memory, const qdq_buffer_layout *layout,
                                     qdq_direction direction, qdq_buffer *out,
                                     qdq_memory_failure *failure);
qdq_failure_kind qdq_buffer_allocate_at(qdq_device_memory *memory, const qdq_buffer_layout *layout,
                                        uint64_t address, qdq_buffer *out,
                                        qdq_memory_failure *failure);
// Moves a buffer to a new place by the pool's rule. With `free_first` the buffer's own place counts
// as free, as ttnn.move does it, so that it always fits; without, both exist until the data has
// been copied. A buffer that has views, or no pages, stays. buffer->address tells if it moved.
qdq_failure_kind qdq_buffer_reallocate(qdq_device_memory *memory, qdq_buffer *buffer,
                                       bool free_first, qdq_memory_failure *failure);

// Creates another buffer in the memory of `root`, or of a view; the memory is free when all of them
// are. False if `root` is not allocated, or if `layout` (NULL: that of root) does not fit into it.
bool qdq_buffer_view(qdq_device_memory *memory, const qdq_buffer *root,
                     const qdq_buffer_layout *layout, qdq_buffer *out);
// Frees a buffer. False if the buffer is not allocated.
bool qdq_buffer_free(qdq_device_memory *memory, qdq_buffer *buffer);

//---- Circular buffers -------------------------------------------------------

// Checks that the circular buffers of a program may exist beside the buffers that are alive now:
// they must end within L1, and at or below the lowest buffer in L1 or L1_SMALL, on any core.
qdq_failure_kind qdq_circular_region_check(const qdq_device_memory *memory,
                                           const qdq_circular_region *region,
                                           qdq_memory_failure *failure);

//---- Reports ----------------------------------------------------------------

// The numbers of ttnn.get_memory_view.
typedef struct qdq_memory_view {
    uint64_t num_banks;
    uint64_t total_bytes_per_bank, total_bytes_allocated_per_bank, total_bytes_free_per_bank;
    uint64_t largest_contiguous_bytes_free_per_bank;
    uint64_t peak_bytes_allocated_per_bank;  // since the beginning
} qdq_memory_view;

// Reports the state of a pool. All zero for a buffer type without a pool. The blocks of a pool:
// qdq_free_list_block, over memory->lists[type].
qdq_memory_view qdq_device_memory_view(const qdq_device_memory *memory, qdq_buffer_type type);

#endif
