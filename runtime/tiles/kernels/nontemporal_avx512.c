// SPDX-License-Identifier: Apache-2.0
// Stores past the cache with AVX-512: one store writes a full cache line, so the line leaves
// complete, however many other lines are on their way.
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "runtime/tiles/kernels/nontemporal.h"

void qdq_stream_copy_avx512(void *y, const void *x, size_t bytes) {
    enum { LINE = 64 };
    const char *from = x;
    char *to = y;
    size_t head = (LINE - (uintptr_t)to % LINE) % LINE;
    if (head > bytes) head = bytes;
    memcpy(to, from, head);
    to += head, from += head, bytes -= head;
    for (; bytes >= LINE; to += LINE, from += LINE, bytes -= LINE)
        _mm512_stream_si512((__m512i *)(void *)to, _mm512_loadu_si512(from));
    memcpy(to, from, bytes);
}
