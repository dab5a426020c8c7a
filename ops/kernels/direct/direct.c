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

#define SHAPE(size, stride) {size, stride},
static const struct { size_t size, stride; } shapes[] = {QDQ_DEPTHWISE_SHAPES(SHAPE)};

// A number of QDQ_DEPTHWISE_SHAPES, and the columns of y.
typedef struct shape {
    size_t number, columns;
} shape;

// True if a row has a kernel for a shape whose rows fill more than half of a vector.
static bool has_depthwise(const void *given, const void *wanted) {
    const row *of = given;
    const shape *s = wanted;
    return of->kernels->depthwise[s->number] && s->columns > of->kernels->lanes / 2;
}

qdq_depthwise_fn *qdq_depthwise_find(uint32_t isas, size_t size, size_t stride, size_t columns) {
    shape s = {0, columns};
    while (s.number < QDQ_DEPTHWISE_COUNT &&
           (shapes[s.number].size != size || shapes[s.number].stride != stride))
        s.number++;
    if (s.number == QDQ_DEPTHWISE_COUNT) return NULL;
    const row *best = QDQ_BEST_ROW(rows, isas, has_depthwise, &s);
    return best ? best->kernels->depthwise[s.number] : NULL;
}
