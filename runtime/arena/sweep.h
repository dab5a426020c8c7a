// SPDX-License-Identifier: Apache-2.0
// Places slots from one moment outwards, for the memory plan: n log n for any lifetimes.
#ifndef QDQ_RUNTIME_ARENA_SWEEP_H
#define QDQ_RUNTIME_ARENA_SWEEP_H

#include <stdint.h>

#include "runtime/arena/slot.h"
#include "runtime/base/mempool.h"

// How the slots that are alive at the first moment are stacked, from the bottom on.
typedef enum qdq_sweep_order {
    QDQ_SWEEP_BY_END,
    QDQ_SWEEP_BY_LENGTH,
    QDQ_SWEEP_BY_NUMBER,
    QDQ_SWEEP_BY_BYTES,
    QDQ_SWEEP_ORDERS,
} qdq_sweep_order;

typedef struct qdq_sweep {
    struct sweep_item *starts, *ends;
    struct sweep_block *blocks;
    uint32_t *held;  // the block of each slot
} qdq_sweep;

// Allocates the memory for sweeps of up to `count` slots. False when it runs out.
bool qdq_sweep_init(qdq_sweep *sweep, qdq_mempool *mempool, size_t count);

// Stacks the slots alive at `moment`, then goes to later moments and to earlier moments. A slot
// takes the smallest gap that is large enough, in the moment in which it becomes alive. Sets the
// offsets and returns the number of bytes used. If `moment` has the peak of live bytes, fragments
// cost nothing there; elsewhere the slack holds some.
size_t qdq_sweep_place(qdq_sweep *sweep, qdq_slot *slots, size_t count, size_t moment,
                       qdq_sweep_order order);

#endif
