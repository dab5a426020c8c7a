// SPDX-License-Identifier: Apache-2.0
// Tells ONNX models from other files by their first bytes.
#include <string.h>

#include "graph/formats/onnx/onnx_read.h"

// True if a file begins with field 1, the version of the format, followed by another field of a
// model.
bool qdq_onnx_is_model(const void *head, size_t length) {
    static const unsigned char fields[] = {0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72};
    const unsigned char *bytes = head;
    return length >= 3 && bytes[0] == 0x08 && bytes[1] >= 1 && bytes[1] <= 0x7f &&
           memchr(fields, bytes[2], sizeof fields) != NULL;
}
