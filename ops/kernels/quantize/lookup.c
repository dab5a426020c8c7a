// SPDX-License-Identifier: Apache-2.0
// The portable lookup kernels: each byte selects a result from a table of 256.
#include "ops/kernels/kernel.h"

// NOLINTBEGIN(bugprone-macro-parentheses)
#define LOOKUP(name, type)                                                                      \
    void qdq_lookup_##name##_portable(const void *params, const qdq_view *views, const void *x, \
                                      void *y, size_t n) {                                      \
        const qdq_lookup_params *p = params;                                                    \
        const type *tables = p->tables;                                                         \
        const uint8_t *codes = x;                                                               \
        type *out = y;                                                                          \
        for (size_t i = 0; i < n; i++)                                                          \
            out[i] = tables[(size_t)views[0].data[i * views[0].step] * 256 + codes[i]];         \
    }
// NOLINTEND(bugprone-macro-parentheses)

LOOKUP(bytes, uint8_t)
LOOKUP(halves, uint16_t)
LOOKUP(words, uint32_t)
