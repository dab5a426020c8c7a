// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenstorrent/circular_buffers.h"

#include "runtime/tenstorrent/device_pool.h"

#define MOST_BYTES (UINT64_C(1) << 40)

static bool share_a_core(const qdq_circular_buffer *a, const qdq_circular_buffer *b) {
    for (size_t i = 0; i < a->core_ranges; i++)
        for (size_t k = 0; k < b->core_ranges; k++) {
            qdq_core_range x = a->cores[i], y = b->cores[k];
            if (x.x0 <= y.x1 && y.x0 <= x.x1 && x.y0 <= y.y1 && y.y0 <= x.y1) return true;
        }
    return false;
}

static uint64_t bytes_of(const qdq_device *device, const qdq_circular_buffer *b) {
    return qdq_round_up(b->bytes < MOST_BYTES ? b->bytes : MOST_BYTES, device->dram_alignment);
}

void qdq_circular_buffers_place(const qdq_device *device, qdq_circular_buffer *buffers,
                                size_t count, qdq_circular_region *out) {
    *out = (qdq_circular_region){.begin = device->l1_base, .end = device->l1_base};
    for (size_t i = 0; i < count; i++) {
        qdq_circular_buffer *b = &buffers[i];
        if (b->globally_allocated) continue;
        b->address = device->l1_base;
        for (size_t k = 0; k < i; k++) {
            uint64_t end = buffers[k].address + bytes_of(device, &buffers[k]);
            if (!buffers[k].globally_allocated && end > b->address && share_a_core(b, &buffers[k]))
                b->address = end;
        }
        uint64_t end = b->address + bytes_of(device, b);
        if (end <= out->end || b->core_ranges == 0) continue;
        out->end = end;
        out->cores = b->cores[0];
    }
}

size_t qdq_binary_circular_buffers(const qdq_binary_buffers *op, const qdq_core_range *cores,
                                   size_t core_ranges,
                                   qdq_circular_buffer out[QDQ_BINARY_CIRCULAR_BUFFERS]) {
    bool is_native = op->is_native && !op->b_is_scalar;
    // Two tiles of each tensor, so that one can be moved while the other is used; a scalar is one.
    uint64_t bytes[QDQ_BINARY_CIRCULAR_BUFFERS] = {
        2 * op->a_tile_bytes, (op->b_is_scalar ? 1 : 2) * op->b_tile_bytes, 2 * op->out_tile_bytes,
        op->a_intermediate_bytes, op->b_intermediate_bytes};
    size_t count = 0;
    for (size_t i = 0; i < QDQ_BINARY_CIRCULAR_BUFFERS; i++)
        if (bytes[i])
            out[count++] = (qdq_circular_buffer){.bytes = is_native && i < 3 ? op->shard_bytes
                                                                             : bytes[i],
                                                 .cores = cores,
                                                 .core_ranges = core_ranges,
                                                 .globally_allocated = is_native && i < 3};
    return count;
}
