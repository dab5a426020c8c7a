// SPDX-License-Identifier: Apache-2.0
// Scratch that lives longer than the unit of work that fills it.
#ifndef QDQ_RUNTIME_BASE_SCRATCH_H
#define QDQ_RUNTIME_BASE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Says that nobody may read this any more before it is written again. With `poison` (that of an
// exec, which work on whole tensors finds in its qdq_tensors) it becomes 0xFF, so that a read of
// what another unit has left gives NaN, -1 or 255 and not a number that may be right.
static inline void qdq_scratch_drop(bool poison, void *scratch, size_t bytes) {
    if (poison) memset(scratch, 0xFF, bytes);
}

#endif
