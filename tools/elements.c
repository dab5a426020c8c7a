// SPDX-License-Identifier: Apache-2.0
// Stores the allocator in a header in front of the elements.
#include "tools/elements.h"

#include <stdint.h>

#include "runtime/base/mempool.h"

enum { ALIGN = 64 };

typedef struct header {
    const qdq_allocator *from;
    size_t bytes;  // including the header
} header;

_Static_assert(sizeof(header) <= ALIGN, "elements begin at a multiple of ALIGN");

void *elements_take(const qdq_allocator *from, size_t bytes) {
    from = qdq_allocator_or_default(from);
    char *memory = bytes < SIZE_MAX - ALIGN ? qdq_alloc_array(from, bytes + ALIGN, 1, ALIGN) : NULL;
    if (!memory) return NULL;
    *(header *)(void *)memory = (header){from, bytes + ALIGN};
    return memory + ALIGN;
}

double *elements_take_numbers(const qdq_allocator *from, size_t count) {
    return count < SIZE_MAX / sizeof(double) ? elements_take(from, count * sizeof(double)) : NULL;
}

void elements_free(void *elements) {
    if (!elements) return;
    header *own = (header *)(void *)((char *)elements - ALIGN);
    qdq_free_array(own->from, own, own->bytes, 1);
}
