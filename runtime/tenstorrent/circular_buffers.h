// SPDX-License-Identifier: Apache-2.0
// The circular buffers of a program: memory of each core, from the base of L1 upward, as long as
// the program runs.
#ifndef QDQ_RUNTIME_TENSTORRENT_CIRCULAR_BUFFERS_H
#define QDQ_RUNTIME_TENSTORRENT_CIRCULAR_BUFFERS_H

#include "include/qdq/device.h"

typedef struct qdq_circular_buffer {
    uint64_t bytes;  // of each core
    const qdq_core_range *cores;
    size_t core_ranges;
    bool globally_allocated;  // it is the memory of a sharded tensor and takes no other memory
    uint64_t address;         // out; of a globally allocated one the tensor's, from the caller
} qdq_circular_buffer;

// The region that the circular buffers of a program take.
typedef struct qdq_circular_region {
    uint64_t begin, end;   // the highest end on any core; `begin` without circular buffers
    qdq_core_range cores;  // of the buffer that ends there
} qdq_circular_region;

// Places circular buffers in their order: each begins at the highest end of the buffers before it
// that share a core with it. `bytes` above 2^40 count as 2^40.
void qdq_circular_buffers_place(const qdq_device *device, qdq_circular_buffer *buffers,
                                size_t count, qdq_circular_region *out);

//---- The quantize family ----------------------------------------------------

// Quantize, dequantize and requantize run as an elementwise op of two operands (binary_ng). A
// tensor backed by its own shards ("native") needs no memory; see docs/device_memory.md.
typedef struct qdq_binary_buffers {
    uint64_t a_tile_bytes, b_tile_bytes, out_tile_bytes;
    bool b_is_scalar;
    bool is_native;        // all three are sharded in L1; never with a scalar b
    uint64_t shard_bytes;  // of each of the three on a core, if they are
    // For the intermediates of activations before and after the op; 0: none.
    uint64_t a_intermediate_bytes, b_intermediate_bytes;
} qdq_binary_buffers;

enum { QDQ_BINARY_CIRCULAR_BUFFERS = 5 };

// Fills in buffers and returns their count. `cores` must outlive them.
size_t qdq_binary_circular_buffers(const qdq_binary_buffers *op, const qdq_core_range *cores,
                                   size_t core_ranges,
                                   qdq_circular_buffer out[QDQ_BINARY_CIRCULAR_BUFFERS]);

#endif
