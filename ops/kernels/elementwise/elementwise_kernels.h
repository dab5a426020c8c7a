// SPDX-License-Identifier: Apache-2.0
// Elementwise functions (Add, ReLU, GELU and their like) over arrays of float32.
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_ELEMENTWISE_KERNELS_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_ELEMENTWISE_KERNELS_H

#include "ops/kernels/best_row.h"
#include "runtime/exec/plan.h"

// X(name, operands). A new function is a row here and its body, one_<name>, in elementwise.inc.h;
// the enumerator, the loops and the tables follow from the row. The operands are the body's
// arguments: elements of a, b and c, and the numbers of the op.
#define QDQ_ELEMENTWISE_LIST(X) \
    X(abs, a)                   \
    X(exp, a)                   \
    X(log, a)                   \
    X(sqrt, a)                  \
    X(square, a)                \
    X(tanh, a)                  \
    X(sigmoid, a)               \
    X(relu, a)                  \
    X(reciprocal, a)            \
    X(round, a)                 \
    X(hard_swish, a)            \
    X(mish, a)                  \
    X(leaky_relu, a_numbers)    \
    X(elu, a_numbers)           \
    X(hard_sigmoid, a_numbers)  \
    X(clamp, a_numbers)         \
    X(gelu_erf, a)              \
    X(gelu_tanh, a)             \
    X(add, a_b)                 \
    X(subtract, a_b)            \
    X(multiply, a_b)            \
    X(divide, a_b)              \
    X(minimum, a_b)             \
    X(maximum, a_b)             \
    X(greater_equal, a_b)       \
    X(prelu, a_b)               \
    X(select, a_b_c)

typedef enum qdq_elementwise {
#define QDQ_ELEMENTWISE_ENUMERATOR(name, operands) QDQ_ELEMENTWISE_##name,
    QDQ_ELEMENTWISE_LIST(QDQ_ELEMENTWISE_ENUMERATOR)
#undef QDQ_ELEMENTWISE_ENUMERATOR
        QDQ_ELEMENTWISE_COUNT
} qdq_elementwise;

// Numbers of the op: alpha and beta, or min and max.
typedef struct qdq_elementwise_numbers {
    float alpha, beta;
} qdq_elementwise_numbers;

// Computes y[i] from a[i], b[i] and c[i] for n elements. Operands that the function does not use
// may be NULL; y may be a or b. c is the condition of select. A NaN result is 0x7FC00000, except
// that select passes on the bits of its operands.
typedef void qdq_elementwise_fn(const qdq_elementwise_numbers *numbers, const float *a,
                                const float *b, const uint32_t *c, float *y, size_t n);

#define QDQ_ELEMENTWISE_DECLARE(ISA, isa) \
    extern qdq_elementwise_fn *const qdq_elementwise_##isa[QDQ_ELEMENTWISE_COUNT];
QDQ_KERNEL_ISAS(QDQ_ELEMENTWISE_DECLARE)

// The best kernel for the instruction sets `isas`; all give the same bits.
qdq_elementwise_fn *qdq_elementwise_find(qdq_elementwise function, uint32_t isas);

#endif
