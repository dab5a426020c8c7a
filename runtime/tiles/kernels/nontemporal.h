// SPDX-License-Identifier: Apache-2.0
// Copies with stores past the cache (non-temporal stores), for results that are larger than the
// cache: the lines that they write are not read first, and the cache keeps its contents.
#ifndef QDQ_RUNTIME_TILES_KERNELS_NONTEMPORAL_H
#define QDQ_RUNTIME_TILES_KERNELS_NONTEMPORAL_H

#include <stdbool.h>
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

// True if a loop of streaming copies should prefetch its input a few parts ahead. Quantize of 64 M
// float32: 1.2 times as fast with it on an Intel Xeon (Rocket Lake), 0.6 times on an AMD EPYC (Zen
// 4), whose own prefetcher keeps the memory busy.
bool qdq_stream_wants_prefetch(void);

#endif
