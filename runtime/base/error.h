// SPDX-License-Identifier: Apache-2.0
// Sets a qdq_error: functions for the place where a failure is found, and QDQ_TRY for its callers.
#ifndef QDQ_RUNTIME_BASE_ERROR_H
#define QDQ_RUNTIME_BASE_ERROR_H

#include "include/qdq/base.h"

#if defined(__GNUC__)
#define QDQ_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define QDQ_PRINTF(text, first)
#endif

// Sets `err` (which may be NULL) to one sentence, unless it is already set, and returns `status`.
// The text is cut, never overrun; a cut text ends in "...".
qdq_status qdq_fail(qdq_error *err, qdq_status status, const char *format, ...) QDQ_PRINTF(3, 4);

// Fails with the sentence for a failed allocation of `bytes`.
qdq_status qdq_fail_memory(qdq_error *err, size_t bytes);

// Puts "prefix: " before a text that is already set, for callers that know more of the context.
void qdq_error_prefix(qdq_error *err, const char *prefix);

// Returns from the calling function with the status of `expr` unless it is QDQ_OK.
#define QDQ_TRY(expr)                                        \
    do {                                                     \
        qdq_status qdq_try_status = (expr);                  \
        if (qdq_try_status != QDQ_OK) return qdq_try_status; \
    } while (0)

#endif
