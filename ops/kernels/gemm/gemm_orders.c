// SPDX-License-Identifier: Apache-2.0
// The portable kernels of gemm_orders.h, and the table of all of them.
#define QDQ_ISA_NAME(name) qdq_##name##_portable
#include "ops/kernels/gemm/gemm_orders.inc.h"

typedef struct row {
    qdq_isa isa;
    const qdq_gemm_orders *orders;
} row;

#define ROW(ISA, isa) {QDQ_ISA_##ISA, &qdq_gemm_orders_##isa},
static const row rows[] = {QDQ_KERNEL_ISAS(ROW)};

const qdq_gemm_orders *qdq_gemm_orders_find(uint32_t isas) {
    const row *best = QDQ_BEST_ROW(rows, isas, NULL, NULL);
    return best->orders;
}
