// SPDX-License-Identifier: Apache-2.0
// Memory for elements that commands hold in addition to plans. It comes from the allocator of
// graphs and execs, so that --max-bytes counts it and --spill may write it to files.
#ifndef QDQ_TOOLS_ELEMENTS_H
#define QDQ_TOOLS_ELEMENTS_H

#include <qdq/base.h>

// Allocates at least `bytes` bytes from `from` (NULL: the C library). NULL if memory runs out.
void *elements_take(const qdq_allocator *from, size_t bytes);
// Allocates `count` numbers in the same way.
double *elements_take_numbers(const qdq_allocator *from, size_t count);
// Frees memory of elements_take; does nothing for NULL.
void elements_free(void *elements);

#endif
