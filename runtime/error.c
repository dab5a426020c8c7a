// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void mark_cut(char *text, size_t capacity, int wanted) {
    if (wanted >= (int)capacity) memcpy(text + capacity - 4, "...", 4);
}

qdq_status qdq_fail(qdq_error *err, qdq_status status, const char *format, ...) {
    if (!err || err->status != QDQ_OK) return status;
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    mark_cut(err->text, sizeof err->text, wanted);
    err->status = status;
    return status;
}

qdq_status qdq_fail_memory(qdq_error *err, size_t bytes) {
    return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory: %zu bytes could not be allocated", bytes);
}

void qdq_error_prefix(qdq_error *err, const char *prefix) {
    if (!err || err->status == QDQ_OK) return;
    char old[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    int wanted = snprintf(err->text, sizeof err->text, "%s: %s", prefix, old);
    mark_cut(err->text, sizeof err->text, wanted);
}
