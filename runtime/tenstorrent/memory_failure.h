// SPDX-License-Identifier: Apache-2.0
// Why a buffer does not fit in a device, with the numbers that tell.
#ifndef QDQ_RUNTIME_TENSTORRENT_MEMORY_FAILURE_H
#define QDQ_RUNTIME_TENSTORRENT_MEMORY_FAILURE_H

#include "include/qdq/device.h"

typedef enum qdq_failure_kind {
    QDQ_FAILURE_NONE = 0,
    QDQ_EXHAUSTED,           // less is free than is needed
    QDQ_FRAGMENTED,          // enough is free, but not in one block
    QDQ_NEVER_FITS,          // more than a bank has
    QDQ_CIRCULAR_BEYOND_L1,  // circular buffers end above L1
    QDQ_CIRCULAR_CLASH,      // circular buffers end above the lowest buffer in L1
    QDQ_ADDRESS_TAKEN,       // the range asked for is not free
    QDQ_ADDRESS_UNALIGNED,   // the address asked for is none that the allocator could give
    QDQ_HOST_MEMORY,         // the model itself is out of memory
} qdq_failure_kind;
enum { QDQ_FAILURE_KINDS = QDQ_HOST_MEMORY + 1 };

// Bytes, of a bank where not said otherwise.
typedef struct qdq_memory_failure {
    qdq_failure_kind kind;
    // Out of memory: the pool and seven numbers.
    qdq_buffer_type pool;
    uint64_t size;            // of the buffer, in all banks
    uint64_t banks;           // a count
    uint64_t bytes_per_bank;  // wanted of each bank
    uint64_t bank_size;       // that can be allocated
    uint64_t allocated, free, largest_free;
    uint64_t address;  // asked for, or that of the lowest buffer in L1 (`pool` says which L1)
    // Circular buffers.
    uint64_t region_end, l1_size;
    qdq_core_range cores;
} qdq_memory_failure;

// Writes one sentence, cut to fit. "" for QDQ_FAILURE_NONE.
void qdq_memory_failure_text(const qdq_memory_failure *failure, char *out, size_t capacity);
// Returns "exhausted", "fragmented", ...
const char *qdq_failure_kind_name(qdq_failure_kind kind);

#endif
