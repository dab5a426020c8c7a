// SPDX-License-Identifier: Apache-2.0
// Shared by the ops that move elements: the dtypes they take, and copying.
#ifndef QDQ_OPS_MOVEMENT_MOVEMENT_H
#define QDQ_OPS_MOVEMENT_MOVEMENT_H

#include "ops/chunks.h"
#include "ops/infer.h"

// Without block floats: their rounding depends on the place in a tile, and moving changes the
// place.
#define QDQ_SET_MOVED (QDQ_SET_ALL & ~QDQ_SET_BLOCK_FLOATS)

// Elements of y that a unit copies.
enum { QDQ_MOVE_UNIT = 16384 };

static inline size_t qdq_move_units(size_t count) {
    return (count + QDQ_MOVE_UNIT - 1) / QDQ_MOVE_UNIT;
}

// Copies n elements. The dtypes differ if --float-storage changed one of them; the elements are
// rounded then.
void qdq_move(qdq_dtype x_dtype, const void *x, qdq_dtype y_dtype, void *y, size_t n);

// Copies n elements of x to y from number `at` on. Without a conversion, a chunk points into x
// itself.
void qdq_move_chunk(qdq_dtype x_dtype, const void *x, qdq_dtype y_dtype, qdq_chunks *y, size_t at,
                    size_t n);

// Implements `lower` of an op that copies its input in order.
size_t qdq_lower_copy(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages);
// The same for an op whose y has the dims of x in another order: dim i is dim order[i], with x seen
// as a tensor of the shape given.
size_t qdq_lower_transpose(const qdq_op_context *ctx, const qdq_lowering *to, qdq_shape x,
                           const int *order, qdq_stage *stages);
// Describes a transpose stage: the dims of y and, for each, the distance in x from an index to the
// next. Returns the number of dims.
int qdq_transpose_show(const qdq_stage *stage, size_t *sizes, size_t *x_strides);
// Implements the hook passes_quantized of an op that keeps the shape and all elements in their
// places.
bool qdq_same_quantized(const qdq_op_context *ctx, qdq_quantized *quantized);

// Returns the address of element p.
static inline const char *qdq_at(const void *x, qdq_dtype dtype, size_t p) {
    return (const char *)x + p * qdq_dtype_size(dtype);
}
static inline char *qdq_at_mutable(void *y, qdq_dtype dtype, size_t p) {
    return (char *)y + p * qdq_dtype_size(dtype);
}

#endif
