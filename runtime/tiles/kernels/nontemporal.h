// SPDX-License-Identifier: Apache-2.0
// Stores past the cache, for results that are larger than it: the lines that are written need not
// be read first, and what the cache holds stays.
#ifndef QDQ_RUNTIME_TILES_KERNELS_NONTEMPORAL_H
#define QDQ_RUNTIME_TILES_KERNELS_NONTEMPORAL_H

#include <stddef.h>

// Results of so many bytes or more are stored past the cache.
enum { QDQ_STREAM_BYTES = 16 << 20 };

typedef void qdq_stream_fn(void *y, const void *x, size_t bytes);

// Copies as memcpy does. What was copied is sure to be seen by other threads after a fence.
qdq_stream_fn qdq_stream_copy;
void qdq_stream_fence(void);

// The one of these with the widest stores that the CPU has.
qdq_stream_fn *qdq_stream_find(void);
qdq_stream_fn qdq_stream_copy_avx512;

#endif
