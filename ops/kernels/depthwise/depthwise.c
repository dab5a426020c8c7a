// SPDX-License-Identifier: Apache-2.0
// The portable depthwise kernel, and the table of all of them.
#define QDQ_ISA_NAME(name) qdq_##name##_portable
#include "ops/kernels/depthwise/depthwise.inc.h"

typedef struct row {
    qdq_isa isa;
    qdq_depthwise_fn *fn, *fours;
} row;

#define ROW(ISA, isa) {QDQ_ISA_##ISA, qdq_depthwise_##isa, qdq_depthwise_fours_##isa},
static const row rows[] = {QDQ_KERNEL_ISAS(ROW)};

qdq_depthwise_fn *qdq_depthwise_find(uint32_t isas, bool fours) {
    const row *best = QDQ_BEST_ROW(rows, isas, NULL, NULL);
    return fours ? best->fours : best->fn;
}
