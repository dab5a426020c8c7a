// SPDX-License-Identifier: Apache-2.0
// Writes a shape as text: "[2, 3]".
#include "runtime/base/shape_text.h"

#include <stdio.h>

const char *qdq_write_shape(qdq_shape shape, char *out, size_t capacity) {
    size_t at = (size_t)snprintf(out, capacity, "[");
    for (int i = 0; i < shape.rank && i < QDQ_MAX_RANK && at < capacity; i++)
        at += (size_t)snprintf(out + at, capacity - at, "%s%lld", i ? ", " : "",
                               (long long)shape.dims[i]);
    if (at < capacity) (void)snprintf(out + at, capacity - at, "]");
    return out;
}
