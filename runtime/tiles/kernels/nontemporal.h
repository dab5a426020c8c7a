// SPDX-License-Identifier: Apache-2.0
// Copies with stores past the cache (non-temporal stores), for results that are larger than the
// cache: the lines that they write are not read first, and the cache keeps its contents.
#ifndef QDQ_RUNTIME_TILES_KERNELS_NONTEMPORAL_H
#define QDQ_RUNTIME_TILES_KERNELS_NONTEMPORAL_H

#include <stddef.h>

// Results of at least this size are stored past the cache.
enum { QDQ_STREAM_BYTES = 16 << 20 };

typedef void qdq_stream_fn(void *y, const void *x, size_t bytes);

// Copies as memcpy does. Other threads are sure to see the copy only after a fence.
qdq_stream_fn qdq_stream_copy;
void qdq_stream_fence(void);

// The copy function with the widest stores that the CPU has.
qdq_stream_fn *qdq_stream_find(void);
qdq_stream_fn qdq_stream_copy_avx512;

#endif
