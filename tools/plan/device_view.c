// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/device_view.h"

#include <stdlib.h>

char letter_of(size_t index) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return letters[index % (sizeof letters - 1)];
}

bool buffer_is_live(const qdq_device_buffer *buffer, long step) {
    if (step == AFTER_THE_RUN) return buffer->lives_on;
    return buffer->first_step <= (size_t)step && (size_t)step <= buffer->last_step;
}

static int by_address(const void *a, const void *b) {
    uint64_t x = ((const block *)a)->address, y = ((const block *)b)->address;
    return x < y ? -1 : x > y;
}

// Writes `count` taken blocks and the free blocks between them to `out`. `taken` is the end of the
// same array.
static size_t add_free(const qdq_pool_info *pool, const block *taken, size_t count, block *out) {
    size_t n = 0;
    uint64_t at = pool->base;
    for (size_t i = 0; i < count; i++) {
        block next = taken[i];
        if (next.address < at) continue;  // a view
        if (next.address > at) out[n++] = (block){at, next.address - at, SIZE_MAX};
        out[n++] = next;
        at = next.address + next.bytes;
    }
    if (at < pool->base + pool->bytes)
        out[n++] = (block){at, pool->base + pool->bytes - at, SIZE_MAX};
    return n;
}

size_t pool_blocks(const qdq_device_plan *plan, qdq_buffer_type pool, long step, block *out) {
    block *taken = out + plan->buffer_count + 1;
    size_t count = 0;
    for (size_t i = 0; i < plan->buffer_count; i++) {
        const qdq_device_buffer *b = &plan->buffers[i];
        if (b->pool == pool && b->taken && buffer_is_live(b, step))
            taken[count++] = (block){b->address, b->taken, i};
    }
    // Moves the taken blocks to the end of the array, so that writing never overtakes reading.
    block *end = out + 2 * plan->buffer_count + 1 - count;
    for (size_t i = count; i-- > 0;) end[i] = taken[i];
    qsort(end, count, sizeof *end, by_address);
    return add_free(&plan->pools[pool], end, count, out);
}

double fragmentation(const qdq_pool_state *state) {
    if (!state->free) return 0;
    return 100.0 * (double)(state->free - state->largest_free) / (double)state->free;
}

size_t buffer_number(const qdq_device_plan *plan, const qdq_device_buffer *buffer) {
    return (size_t)(buffer - plan->buffers);
}

const char *arch_text(qdq_arch arch) { return arch == QDQ_BLACKHOLE ? "blackhole" : "wormhole"; }
