// SPDX-License-Identifier: Apache-2.0
// What the ops that move elements share: the dtypes that they take, and copying.
#ifndef QDQ_OPS_MOVEMENT_MOVEMENT_H
#define QDQ_OPS_MOVEMENT_MOVEMENT_H

#include "ops/chunks.h"
#include "ops/infer.h"

// Block floats are rounded by their place in a tile, which moving changes.
#define QDQ_SET_MOVED (QDQ_SET_ALL & ~QDQ_SET_BLOCK_FLOATS)

// Elements of y that one unit of work copies.
enum { QDQ_MOVE_UNIT = 16384 };

static inline size_t qdq_move_units(size_t count) {
    return (count + QDQ_MOVE_UNIT - 1) / QDQ_MOVE_UNIT;
}

// Copies n elements. Dtypes differ where floats are stored as another one: then they are rounded.
void qdq_move(qdq_dtype x_dtype, const void *x, qdq_dtype y_dtype, void *y, size_t n);

// Makes n elements of y of those of x, from number `at` on. What needs no conversion is handed over
// where it lies.
void qdq_move_chunk(qdq_dtype x_dtype, const void *x, qdq_dtype y_dtype, qdq_chunks *y, size_t at,
                    size_t n);

// The position behind p elements of a dtype.
static inline const char *qdq_at(const void *x, qdq_dtype dtype, size_t p) {
    return (const char *)x + p * qdq_dtype_size(dtype);
}
static inline char *qdq_at_mutable(void *y, qdq_dtype dtype, size_t p) {
    return (char *)y + p * qdq_dtype_size(dtype);
}

#endif
