// SPDX-License-Identifier: Apache-2.0
// Tells TensorFlow Lite models from other files by their first bytes.
#include <string.h>

#include "graph/formats/tflite/tflite_read.h"

bool qdq_tflite_is_model(const void *head, size_t length) {
    return length >= 8 && memcmp((const char *)head + 4, "TFL3", 4) == 0;
}

const char *qdq_tflite_mark(const qdq_node *node) {
    for (const char *at = node->original_op; at && *at; at++)
        if (*at >= 'a' && *at <= 'z') return NULL;
    return node->original_op;
}
