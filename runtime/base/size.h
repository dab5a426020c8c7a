// SPDX-License-Identifier: Apache-2.0
// Sums and products of sizes that stop at SIZE_MAX instead of overflowing.
#ifndef QDQ_RUNTIME_BASE_SIZE_H
#define QDQ_RUNTIME_BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

// For counts of bytes or operations; SIZE_MAX means more than a size_t can count.
static inline size_t qdq_size_add(size_t a, size_t b) {
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t qdq_size_times(size_t a, size_t b) {
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

#endif
