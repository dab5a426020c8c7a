// SPDX-License-Identifier: Apache-2.0
// The taken and free blocks of a pool while a program runs, for the reports of `qdq plan`.
#ifndef QDQ_TOOLS_PLAN_DEVICE_VIEW_H
#define QDQ_TOOLS_PLAN_DEVICE_VIEW_H

#include <qdq/device.h>
#include <qdq/device_plan.h>

enum { AFTER_THE_RUN = -1 };  // a step

// Addresses of a bank.
typedef struct block {
    uint64_t address, bytes;
    size_t buffer;  // SIZE_MAX: free
} block;

// Returns the letter of a buffer, or of a value of the arena, in pictures.
char letter_of(size_t index);

bool buffer_is_live(const qdq_device_buffer *buffer, long step);

// Writes the free and taken blocks of a pool to `out`, in the order of addresses, and returns their
// number. `out` has room for 2 * buffer_count + 1. A buffer and its views are one block.
size_t pool_blocks(const qdq_device_plan *plan, qdq_buffer_type pool, long step, block *out);

// Returns the free bytes outside the largest free block, in percent of all free bytes.
double fragmentation(const qdq_pool_state *state);

// Returns the index of a buffer.
size_t buffer_number(const qdq_device_plan *plan, const qdq_device_buffer *buffer);

const char *arch_text(qdq_arch arch);

#endif
