// SPDX-License-Identifier: Apache-2.0
// Arithmetic of float32 by nodes of float64. A float64 has the exact product of two float32, and
// enough bits of their sum and quotient: rounded to float32 behind the node, they are rounded once.
#ifndef QDQ_GRAPH_TARGETS_LITERT_LITERT_WIDE_H
#define QDQ_GRAPH_TARGETS_LITERT_LITERT_WIDE_H

#include "graph/targets/litert/litert.h"

// New nodes of the unit `name`.
typedef struct litert_wide {
    const qdq_rewriter *r;
    const char *name;
} litert_wide;

// Add float64 values: of another dtype, a number, and `count` float32 numbers along the last dim.
qdq_value litert_widened(const litert_wide *w, qdq_value x);
qdq_value litert_number(const litert_wide *w, double number);
qdq_value litert_numbers(const litert_wide *w, const float *numbers, size_t count);

// Adds a `op` b, with the bits of float64.
qdq_value litert_exactly(const litert_wide *w, const char *op, qdq_value a, qdq_value b);
// Adds a `op` b, rounded to float32.
qdq_value litert_singly(const litert_wide *w, const char *op, qdq_value a, qdq_value b);
// Adds x rounded to float32.
qdq_value litert_rounded(const litert_wide *w, qdq_value x);
// Adds a * b + c of float32, rounded to float32 once.
qdq_value litert_fused(const litert_wide *w, qdq_value a, qdq_value b, qdq_value c);
qdq_value litert_choice(const litert_wide *w, qdq_value condition, qdq_value a, qdq_value b);

// Add x without its fraction, and x rounded to a whole number, half away from zero or half to even.
// All take |x| below 2^31.
qdq_value litert_truncated(const litert_wide *w, qdq_value x);
qdq_value litert_half_away(const litert_wide *w, qdq_value x);
qdq_value litert_half_even(const litert_wide *w, qdq_value x);

#endif
