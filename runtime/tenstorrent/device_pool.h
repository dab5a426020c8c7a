// SPDX-License-Identifier: Apache-2.0
// The pools of a device: DRAM, L1, L1_SMALL and TRACE, each the same range of addresses in each of
// its banks.
#ifndef QDQ_RUNTIME_TENSTORRENT_DEVICE_POOL_H
#define QDQ_RUNTIME_TENSTORRENT_DEVICE_POOL_H

#include "include/qdq/device.h"

enum { QDQ_BUFFER_TYPES = 5 };  // enumerators of qdq_buffer_type

typedef struct qdq_device_pool {
    qdq_buffer_type buffer_type;
    uint64_t banks;
    uint64_t base, bytes;     // the range of each bank; bytes is 0 for a pool that is not set up
    uint64_t page_alignment;  // a page takes a multiple of it
    // Allocations are multiples of it, and at least this long: the DRAM alignment, in L1 as well.
    uint64_t alignment;
    bool top_down;  // where tensors are put by default
} qdq_device_pool;

// Describes a pool. `device` passed qdq_device_check. False for QDQ_SYSTEM_MEMORY and numbers that
// are no buffer type.
bool qdq_device_pool_of(const qdq_device *device, qdq_buffer_type type, qdq_device_pool *out);

// Returns `n` rounded up to a multiple of `unit`, which is not 0; the caller knows that it does not
// overflow.
static inline uint64_t qdq_round_up(uint64_t n, uint64_t unit) {
    return (n + unit - 1) / unit * unit;
}

#endif
