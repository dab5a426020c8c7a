// SPDX-License-Identifier: Apache-2.0
// Arithmetic on elements: the functions of Add, ReLU, GELU and their like over lists of float32.
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_ELEMENTWISE_KERNELS_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_ELEMENTWISE_KERNELS_H

#include "ops/kernels/best_row.h"
#include "runtime/exec/plan.h"

// X(name); ops/kernels/elementwise/elementwise.inc.h has the function of each.
#define QDQ_ELEMENTWISE_LIST(X) \
    X(abs)                      \
    X(exp)                      \
    X(log)                      \
    X(sqrt)                     \
    X(square)                   \
    X(tanh)                     \
    X(sigmoid)                  \
    X(relu)                     \
    X(reciprocal)               \
    X(round)                    \
    X(hard_swish)               \
    X(mish)                     \
    X(leaky_relu)               \
    X(elu)                      \
    X(hard_sigmoid)             \
    X(clamp)                    \
    X(gelu_erf)                 \
    X(gelu_tanh)                \
    X(add)                      \
    X(subtract)                 \
    X(multiply)                 \
    X(divide)                   \
    X(minimum)                  \
    X(maximum)                  \
    X(greater_equal)            \
    X(prelu)                    \
    X(select)

typedef enum qdq_elementwise {
#define QDQ_ELEMENTWISE_ENUMERATOR(name) QDQ_ELEMENTWISE_##name,
    QDQ_ELEMENTWISE_LIST(QDQ_ELEMENTWISE_ENUMERATOR)
#undef QDQ_ELEMENTWISE_ENUMERATOR
        QDQ_ELEMENTWISE_COUNT
} qdq_elementwise;

// Numbers of the op: alpha and beta, or min and max.
typedef struct qdq_elementwise_numbers {
    float alpha, beta;
} qdq_elementwise_numbers;

// y[i] of a[i], b[i] and c[i], for n elements; functions of one operand look at a alone, and c is
// the condition of select. y may be a or b. A result that is no number is 0x7FC00000, but select
// hands on what it is given.
typedef void qdq_elementwise_fn(const qdq_elementwise_numbers *numbers, const float *a,
                                const float *b, const uint32_t *c, float *y, size_t n);

// The best function for some instruction sets; all give the same bits.
qdq_elementwise_fn *qdq_elementwise_find(qdq_elementwise function, uint32_t isas);

#endif
