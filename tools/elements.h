// SPDX-License-Identifier: Apache-2.0
// Memory for elements of values that commands hold beside plans. It comes from the allocator of
// graphs and execs, so that --max-bytes counts it and --spill may write it to files.
#ifndef QDQ_TOOLS_ELEMENTS_H
#define QDQ_TOOLS_ELEMENTS_H

#include <qdq/base.h>


// Returns at least `bytes` bytes from `from` (NULL: the C library), or NULL if it has none.
void *elements_take(const qdq_allocator *from, size_t bytes);
// The same for `count` numbers.
double *elements_take_numbers(const qdq_allocator *from, size_t count);
// Frees memory of elements_take; NULL is fine.
void elements_free(void *elements);

#endif
