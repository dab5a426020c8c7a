// SPDX-License-Identifier: Apache-2.0
// Marks scratch memory as dead between units of work, so that tests notice reads of old contents.
#ifndef QDQ_RUNTIME_BASE_SCRATCH_H
#define QDQ_RUNTIME_BASE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Ends the use of `scratch`: it must be written before it is read again. With `poison` (a setting
// of the exec, passed to tensor ops in qdq_tensors) its bytes become 0xFF: a read of bytes that
// another unit left gives NaN, -1 or 255 instead of a number that may be right.
static inline void qdq_scratch_drop(bool poison, void *scratch, size_t bytes) {
    if (poison) memset(scratch, 0xFF, bytes);
}

#endif
