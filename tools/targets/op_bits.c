// SPDX-License-Identifier: Apache-2.0
// Counts how well the bits of ops are known at a version of a target.
#include "tools/targets/op_bits.h"

#include <qdq/evidence.h>
#include <qdq/inspect.h>

static void count_op(op_bits *counts, const char *target, const char *op) {
    qdq_bits best = QDQ_BITS_UNKNOWN;  // of rows with a condition
    qdq_evidence row = qdq_evidence_at(target, op, 0);
    for (size_t i = 1; row.kind && *row.condition; i++) {
        if (row.bits > best) best = row.bits;
        row = qdq_evidence_at(target, op, i);
    }
    if (best == QDQ_BITS_EXACT)
        counts->exact_on_condition++;
    else
        counts->with[row.kind && row.bits > best ? row.bits : best]++;
}

op_bits op_bits_of(const char *target) {
    op_bits counts = {0};
    for (size_t op = 0; op < qdq_op_count(); op++) count_op(&counts, target, qdq_op_get(op).name);
    return counts;
}
