// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenstorrent/device_memory.h"

#include "runtime/base/error.h"

qdq_status qdq_device_memory_init(qdq_device_memory *memory, const qdq_device *device,
                                  qdq_mempool *mempool, qdq_error *err) {
    *memory = (qdq_device_memory){0};
    qdq_status status = qdq_device_check(device, err);
    if (status != QDQ_OK) return status;
    memory->device = *device;
    for (int type = 0; type < QDQ_BUFFER_TYPES; type++) {
        qdq_device_pool *pool = &memory->pools[type];
        if (!qdq_device_pool_of(device, (qdq_buffer_type)type, pool)) continue;
        if (!qdq_free_list_init(&memory->lists[type], mempool, pool->base, pool->bytes,
                                pool->alignment))
            return qdq_fail_memory(err, sizeof(qdq_memory_block));
    }
    return QDQ_OK;
}

qdq_memory_view qdq_device_memory_view(const qdq_device_memory *memory, qdq_buffer_type type) {
    if ((unsigned)type >= QDQ_BUFFER_TYPES || type == QDQ_SYSTEM_MEMORY)
        return (qdq_memory_view){0};
    const qdq_free_list *list = &memory->lists[type];
    return (qdq_memory_view){
        .num_banks = memory->pools[type].banks,
        .total_bytes_per_bank = list->bytes,
        .total_bytes_allocated_per_bank = list->allocated,
        .total_bytes_free_per_bank = list->bytes - list->allocated,
        .largest_contiguous_bytes_free_per_bank = qdq_free_list_largest(list),
        .peak_bytes_allocated_per_bank = list->peak,
    };
}

//---- Failures ---------------------------------------------------------------

static qdq_failure_kind kind_of(const qdq_free_list *list, qdq_fit fit, uint64_t bytes, bool at) {
    if (fit == QDQ_NO_MEMORY) return QDQ_HOST_MEMORY;
    if (fit == QDQ_UNALIGNED) return QDQ_ADDRESS_UNALIGNED;
    if (at) return QDQ_ADDRESS_TAKEN;
    uint64_t needed = qdq_free_list_rounded(list, bytes);
    if (needed > list->bytes) return QDQ_NEVER_FITS;
    return needed > list->bytes - list->allocated ? QDQ_EXHAUSTED : QDQ_FRAGMENTED;
}

// `at`: the caller named an address.
static qdq_failure_kind fail(const qdq_device_memory *memory, const qdq_buffer_layout *layout,
                             qdq_fit fit, bool at, uint64_t address, qdq_memory_failure *failure) {
    const qdq_free_list *list = &memory->lists[layout->buffer_type];
    qdq_memory_view view = qdq_device_memory_view(memory, layout->buffer_type);
    qdq_failure_kind kind = kind_of(list, fit, layout->bytes_per_bank, at);
    if (failure)
        *failure = (qdq_memory_failure){
            .kind = kind,
            .pool = layout->buffer_type,
            .size = qdq_buffer_layout_size(layout),
            .banks = view.num_banks,
            .bytes_per_bank = layout->bytes_per_bank,
            .bank_size = view.total_bytes_per_bank,
            .allocated = view.total_bytes_allocated_per_bank,
            .free = view.total_bytes_free_per_bank,
            .largest_free = view.largest_contiguous_bytes_free_per_bank,
            .address = address,
        };
    return kind;
}

//---- Buffers ----------------------------------------------------------------

qdq_failure_kind qdq_buffer_allocate(qdq_device_memory *memory, const qdq_buffer_layout *layout,
                                     qdq_direction direction, qdq_buffer *out,
                                     qdq_memory_failure *failure) {
    const qdq_device_pool *pool = &memory->pools[layout->buffer_type];
    qdq_buffer made = {.layout = *layout, .is_allocated = true};
    bool top_down = direction == QDQ_DIRECTION_DEFAULT ? pool->top_down : direction == QDQ_TOP_DOWN;
    if (layout->bytes_per_bank) {
        qdq_fit fit =
            qdq_free_list_allocate(&memory->lists[layout->buffer_type], layout->bytes_per_bank,
                                   top_down, pool->base, &made.address);
        if (fit != QDQ_FITS) return fail(memory, layout, fit, false, 0, failure);
    }
    *out = made;
    return QDQ_FAILURE_NONE;
}

qdq_failure_kind qdq_buffer_allocate_at(qdq_device_memory *memory, const qdq_buffer_layout *layout,
                                        uint64_t address, qdq_buffer *out,
                                        qdq_memory_failure *failure) {
    qdq_buffer made = {.layout = *layout, .is_allocated = true};
    if (layout->bytes_per_bank) {
        qdq_fit fit = qdq_free_list_allocate_at(&memory->lists[layout->buffer_type],
                                                layout->bytes_per_bank, address);
        if (fit != QDQ_FITS) return fail(memory, layout, fit, true, address, failure);
        made.address = address;
    }
    *out = made;
    return QDQ_FAILURE_NONE;
}

bool qdq_buffer_view(qdq_device_memory *memory, const qdq_buffer *root,
                     const qdq_buffer_layout *layout, qdq_buffer *out) {
    if (!layout) layout = &root->layout;
    if (!root->is_allocated || layout->buffer_type != root->layout.buffer_type) return false;
    qdq_buffer made = {.layout = *layout, .address = root->address, .is_allocated = true};
    if (root->layout.bytes_per_bank == 0) {
        if (layout->bytes_per_bank) return false;
    } else {
        qdq_free_list *list = &memory->lists[root->layout.buffer_type];
        const qdq_memory_block *block = qdq_free_list_find(list, root->address);
        // A view without pages would hold nothing, and have nothing to give back.
        if (!block || layout->bytes_per_bank == 0 || layout->bytes_per_bank > block->bytes)
            return false;
        qdq_free_list_share(list, root->address);
    }
    *out = made;
    return true;
}

bool qdq_buffer_free(qdq_device_memory *memory, qdq_buffer *buffer) {
    if (!buffer->is_allocated) return false;
    qdq_free_list *list = &memory->lists[buffer->layout.buffer_type];
    if (buffer->layout.bytes_per_bank && !qdq_free_list_release(list, buffer->address))
        return false;
    *buffer = (qdq_buffer){.layout = buffer->layout};
    return true;
}

qdq_failure_kind qdq_buffer_reallocate(qdq_device_memory *memory, qdq_buffer *buffer,
                                       bool free_first, qdq_memory_failure *failure) {
    const qdq_buffer_layout *layout = &buffer->layout;
    qdq_free_list *list = &memory->lists[layout->buffer_type];
    const qdq_memory_block *block = qdq_free_list_find(list, buffer->address);
    if (!buffer->is_allocated || layout->bytes_per_bank == 0 || !block || block->holders > 1)
        return QDQ_FAILURE_NONE;
    uint64_t old = buffer->address, size = block->bytes, address;
    if (free_first) qdq_free_list_release(list, old);
    qdq_fit fit = qdq_free_list_allocate(list, size, memory->pools[layout->buffer_type].top_down,
                                         memory->pools[layout->buffer_type].base, &address);
    if (fit != QDQ_FITS) {
        // Its own place fits and needs no memory of the host: it has just been given back.
        if (free_first) qdq_free_list_allocate_at(list, size, old);
        return fail(memory, layout, fit, false, 0, failure);
    }
    if (!free_first) qdq_free_list_release(list, old);
    buffer->address = address;
    return QDQ_FAILURE_NONE;
}

//---- Circular buffers -------------------------------------------------------

qdq_failure_kind qdq_circular_region_check(const qdq_device_memory *memory,
                                           const qdq_circular_region *region,
                                           qdq_memory_failure *failure) {
    uint64_t l1 = qdq_free_list_lowest(&memory->lists[QDQ_L1]);
    uint64_t small = qdq_free_list_lowest(&memory->lists[QDQ_L1_SMALL]);
    qdq_memory_failure found = {
        .pool = small < l1 ? QDQ_L1_SMALL : QDQ_L1,
        .address = small < l1 ? small : l1,
        .region_end = region->end,
        .l1_size = memory->device.l1_size,
        .cores = region->cores,
    };
    if (region->end > found.l1_size)
        found.kind = QDQ_CIRCULAR_BEYOND_L1;
    else if (region->end > region->begin && region->end > found.address)
        found.kind = QDQ_CIRCULAR_CLASH;
    if (found.kind != QDQ_FAILURE_NONE && failure) *failure = found;
    return found.kind;
}
