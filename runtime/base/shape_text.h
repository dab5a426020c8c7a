// SPDX-License-Identifier: Apache-2.0
// Writes a shape as text, as in messages.
#ifndef QDQ_RUNTIME_BASE_SHAPE_TEXT_H
#define QDQ_RUNTIME_BASE_SHAPE_TEXT_H

#include "include/qdq/base.h"

enum { QDQ_SHAPE_TEXT_BYTES = 192 };  // enough for any shape

// Writes "[2, 3]" to `out`, cut to fit, and returns it.
const char *qdq_write_shape(qdq_shape shape, char *out, size_t capacity);

#endif
