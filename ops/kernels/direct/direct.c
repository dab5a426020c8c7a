// SPDX-License-Identifier: Apache-2.0
// The portable kernels of direct convolution, and the table of all of them.
#define QDQ_ISA_NAME(name) qdq_##name##_portable
#include "ops/kernels/direct/direct.inc.h"

typedef struct row {
    qdq_isa isa;
    const qdq_direct_kernels *kernels;
} row;

#define ROW(ISA, isa) {QDQ_ISA_##ISA, &qdq_direct_kernels_##isa},
static const row rows[] = {QDQ_KERNEL_ISAS(ROW)};

const qdq_direct_kernels *qdq_direct_find(uint32_t isas) {
    const row *best = QDQ_BEST_ROW(rows, isas, NULL, NULL);
    return best->kernels;
}
