// SPDX-License-Identifier: Apache-2.0
// The portable elementwise kernels, and the table of all of them.
#define QDQ_ISA_NAME(name) qdq_##name##_portable
#include "ops/kernels/elementwise/elementwise.inc.h"

typedef struct row {
    qdq_isa isa;
    qdq_elementwise_fn *const (*fns)[QDQ_REGISTERS_COUNT];
    const qdq_elementwise_single *singles;
} row;

#define ROW(ISA, isa) {QDQ_ISA_##ISA, qdq_elementwise_##isa, qdq_elementwise_singles_##isa},
static const row rows[] = {QDQ_KERNEL_ISAS(ROW)};

qdq_elementwise_fn *qdq_elementwise_find(qdq_elementwise function, qdq_registers registers,
                                         uint32_t isas) {
    const row *best = QDQ_BEST_ROW(rows, isas, NULL, NULL);
    return best->fns[function][registers];
}

qdq_elementwise_single qdq_elementwise_single_find(qdq_elementwise function, uint32_t isas) {
    const row *best = QDQ_BEST_ROW(rows, isas, NULL, NULL);
    return best->singles[function];
}
