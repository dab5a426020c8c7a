// SPDX-License-Identifier: Apache-2.0
// Stores past the cache with SSE2, memcpy on other machines, and the choice of the copy function.
#include "runtime/tiles/kernels/nontemporal.h"

#include <stdint.h>
#include <string.h>

#include "runtime/base/cpu.h"

#if defined(__x86_64__)
#include <emmintrin.h>

void qdq_stream_copy(void *y, const void *x, size_t bytes) {
    enum { LINE = 64 };
    const char *from = x;
    char *to = y;
    size_t head = (LINE - (uintptr_t)to % LINE) % LINE;
    if (head > bytes) head = bytes;
    memcpy(to, from, head);
    to += head, from += head, bytes -= head;
    for (; bytes >= LINE; to += LINE, from += LINE, bytes -= LINE)
        for (int i = 0; i < LINE; i += 16)
            _mm_stream_si128((__m128i *)(void *)(to + i),
                             _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
    memcpy(to, from, bytes);
}

void qdq_stream_fence(void) { _mm_sfence(); }
bool qdq_stream_wants_prefetch(void) { return __builtin_cpu_is("intel"); }

#else

void qdq_stream_copy(void *y, const void *x, size_t bytes) { memcpy(y, x, bytes); }
void qdq_stream_fence(void) {}
bool qdq_stream_wants_prefetch(void) { return false; }

#endif

qdq_stream_fn *qdq_stream_find(void) {
#if defined(QDQ_SIMD_X86)
    if (qdq_cpu_has_avx512()) return qdq_stream_copy_avx512;
#endif
    return qdq_stream_copy;
}
