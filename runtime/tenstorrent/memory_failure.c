// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenstorrent/memory_failure.h"

#include <stdio.h>

typedef unsigned long long ull;

const char *qdq_failure_kind_name(qdq_failure_kind kind) {
    static const char *const names[] = {"none",          "exhausted",          "fragmented",
                                        "never_fits",    "circular_beyond_l1", "circular_clash",
                                        "address_taken", "address_unaligned",  "host_memory"};
    return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "none";
}

// Writes the verdict, then the eight numbers.
static void tell_out_of_memory(const qdq_memory_failure *f, const char *verdict, char *out,
                               size_t capacity) {
    snprintf(out, capacity,
             "%s %s: a buffer of %llu B over %llu banks needs %llu B in each, a bank has %llu B, "
             "allocated %llu B, free %llu B, largest free block %llu B",
             qdq_buffer_type_name(f->pool), verdict, (ull)f->size, (ull)f->banks,
             (ull)f->bytes_per_bank, (ull)f->bank_size, (ull)f->allocated, (ull)f->free,
             (ull)f->largest_free);
}

static void tell_beyond_l1(const qdq_memory_failure *f, char *out, size_t capacity) {
    snprintf(out, capacity,
             "circular buffers on cores (%u,%u)-(%u,%u) end at %llu, %llu B above the L1 size of "
             "%llu",
             f->cores.x0, f->cores.y0, f->cores.x1, f->cores.y1, (ull)f->region_end,
             (ull)(f->region_end - f->l1_size), (ull)f->l1_size);
}

static void tell_clash(const qdq_memory_failure *f, char *out, size_t capacity) {
    snprintf(out, capacity,
             "circular buffers on cores (%u,%u)-(%u,%u) end at %llu, %llu B above the lowest %s "
             "buffer at %llu",
             f->cores.x0, f->cores.y0, f->cores.x1, f->cores.y1, (ull)f->region_end,
             (ull)(f->region_end - f->address), qdq_buffer_type_name(f->pool), (ull)f->address);
}

void qdq_memory_failure_text(const qdq_memory_failure *f, char *out, size_t capacity) {
    if (capacity) *out = '\0';
    switch (f->kind) {
    case QDQ_FAILURE_NONE: break;
    case QDQ_EXHAUSTED: tell_out_of_memory(f, "is exhausted", out, capacity); break;
    case QDQ_FRAGMENTED: tell_out_of_memory(f, "is fragmented", out, capacity); break;
    case QDQ_NEVER_FITS:
        tell_out_of_memory(f, "is too small even when empty", out, capacity);
        break;
    case QDQ_CIRCULAR_BEYOND_L1: tell_beyond_l1(f, out, capacity); break;
    case QDQ_CIRCULAR_CLASH: tell_clash(f, out, capacity); break;
    case QDQ_ADDRESS_TAKEN:
        snprintf(out, capacity, "%s does not have %llu B free at address %llu of each bank",
                 qdq_buffer_type_name(f->pool), (ull)f->bytes_per_bank, (ull)f->address);
        break;
    case QDQ_ADDRESS_UNALIGNED:
        snprintf(out, capacity, "address %llu is not a multiple of the alignment of %s",
                 (ull)f->address, qdq_buffer_type_name(f->pool));
        break;
    case QDQ_HOST_MEMORY:
        snprintf(out, capacity, "the host has no memory left for the model of %s",
                 qdq_buffer_type_name(f->pool));
        break;
    }
}
