// SPDX-License-Identifier: Apache-2.0
// A loop over elements that compilers turn into vectors, for kernels whose rows are short.
#ifndef QDQ_OPS_KERNELS_EACH_H
#define QDQ_OPS_KERNELS_EACH_H

#include <stddef.h>

// EACH(i) for all i < n, in blocks of constant length, which compilers turn into vectors. The last
// block overlaps the block before: functions of single elements may compute an element twice.
#define QDQ_EACH_BLOCK(length, from, EACH) \
    for (size_t j = 0, first = (from); j < (length); j++) EACH(first + j)
#define QDQ_EACH(n, EACH)                                          \
    {                                                              \
        size_t i = 0;                                              \
        for (; i + 16 <= (n); i += 16) QDQ_EACH_BLOCK(16, i, EACH) \
        if (i < (n) && (n) >= 16) {                                \
            QDQ_EACH_BLOCK(16, (n)-16, EACH)                       \
        } else if ((n) >= 8 && i < (n)) {                          \
            QDQ_EACH_BLOCK(8, 0, EACH)                             \
            QDQ_EACH_BLOCK(8, (n)-8, EACH)                         \
        } else if ((n) >= 4 && i < (n)) {                          \
            QDQ_EACH_BLOCK(4, 0, EACH)                             \
            QDQ_EACH_BLOCK(4, (n)-4, EACH)                         \
        } else {                                                   \
            for (; i < (n); i++) EACH(i)                           \
        }                                                          \
    }

#endif
