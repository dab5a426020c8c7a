// SPDX-License-Identifier: Apache-2.0
// Elementwise functions as a Tenstorrent chip computes them
// (runtime/numerics/tenstorrent/eltwise.h), over arrays of float32.
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_CHIP_ELEMENTWISE_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_CHIP_ELEMENTWISE_H

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "runtime/numerics/tenstorrent/eltwise.h"

// The best kernel for operands a and b (a again if the function has one operand) and a result of
// these dtypes. NULL: IEEE arithmetic, or how the chip computes it is unknown. Results of dtype
// bfloat16 are exact as bfloat16, and no kernel changes the bits of a NaN.
qdq_elementwise_fn *qdq_chip_elementwise_find(qdq_elementwise function, qdq_multiply_add chip,
                                              qdq_dtype a, qdq_dtype b, qdq_dtype y, uint32_t isas);

// The vector kernels: functions of float32 for which chip_mad suffices.
enum { QDQ_CHIP_CHIPS = 2 };  // Wormhole, Blackhole
typedef enum qdq_chip_vector {
    QDQ_CHIP_VECTOR_ADD,
    QDQ_CHIP_VECTOR_SUBTRACT,
    QDQ_CHIP_VECTOR_MULTIPLY,
    QDQ_CHIP_VECTOR_COUNT
} qdq_chip_vector;

#define QDQ_CHIP_DECLARE_VECTORS(ISA, isa) \
    extern qdq_elementwise_fn              \
        *const qdq_chip_elementwise_##isa[QDQ_CHIP_CHIPS][QDQ_CHIP_VECTOR_COUNT];
QDQ_KERNEL_ISAS(QDQ_CHIP_DECLARE_VECTORS)

#endif
