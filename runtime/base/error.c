// SPDX-License-Identifier: Apache-2.0
// Fills in a qdq_error: one sentence, safe to print, cut to fit.
#include "runtime/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/utf8.h"

qdq_status qdq_fail(qdq_error *err, qdq_status status, const char *format, ...) {
    if (!err || err->status != QDQ_OK) return status;
    char text[sizeof err->text + 1];  // one byte more, so that qdq_utf8_show sees a cut text
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    qdq_utf8_show(err->text, sizeof err->text, text, strlen(text));
    err->status = status;
    return status;
}

qdq_status qdq_fail_memory(qdq_error *err, size_t bytes) {
    return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory: %zu bytes could not be allocated", bytes);
}

void qdq_error_prefix(qdq_error *err, const char *prefix) {
    if (!err || err->status == QDQ_OK) return;
    qdq_error inner = *err;
    err->status = QDQ_OK;
    qdq_fail(err, inner.status, "%s: %s", prefix, inner.text);
}
