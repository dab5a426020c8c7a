// SPDX-License-Identifier: Apache-2.0
// Elementwise functions as a Tenstorrent chip computes them
// (runtime/tenstorrent/eltwise.h), over arrays of float32.
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_CHIP_ELEMENTWISE_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_CHIP_ELEMENTWISE_H

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "runtime/tenstorrent/eltwise.h"

// Returns the best kernel for operands a and b (a again if the function has one operand) and a
// result of these dtypes. NULL: IEEE arithmetic, or the chip's arithmetic is unknown. Results of
// dtype bfloat16 are exact as bfloat16, and no kernel changes the bits of a NaN. A block float
// counts as bfloat16, in float32.
qdq_elementwise_fn *qdq_chip_elementwise_find(qdq_elementwise function, qdq_multiply_add chip,
                                              qdq_dtype a, qdq_dtype b, qdq_dtype y, uint32_t isas);

// X(name, formats, FORMATS, chip, CHIP) for the formats of a row of eltwise.h, on each chip.
#define QDQ_CHIP_OF_float32(X, name)              \
    X(name, float32, FLOAT32, wormhole, WORMHOLE) \
    X(name, float32, FLOAT32, blackhole, BLACKHOLE)
#define QDQ_CHIP_OF_all(X, name)                                                 \
    QDQ_CHIP_OF_float32(X, name) X(name, bfloat16, BFLOAT16, wormhole, WORMHOLE) \
        X(name, bfloat16, BFLOAT16, blackhole, BLACKHOLE)                        \
            X(name, widened, BFLOAT16_TO_FLOAT32, wormhole, WORMHOLE)            \
                X(name, widened, BFLOAT16_TO_FLOAT32, blackhole, BLACKHOLE)

// A kernel for each function, chip (Wormhole, Blackhole) and qdq_chip_formats; NULL: none.
enum { QDQ_CHIP_CHIPS = 2 };
typedef qdq_elementwise_fn *qdq_chip_functions[QDQ_CHIP_CHIPS][QDQ_CHIP_FORMATS_COUNT];
#define QDQ_CHIP_DECLARE_KERNELS(ISA, isa) \
    extern const qdq_chip_functions qdq_chip_elementwise_##isa[QDQ_ELEMENTWISE_COUNT];
QDQ_KERNEL_ISAS(QDQ_CHIP_DECLARE_KERNELS)

// The row of an entry X of the lists above.
#define QDQ_CHIP_ROW(fn, name, FORMATS, CHIP) \
    [QDQ_ELEMENTWISE_##                       \
        name][QDQ_MULTIPLY_ADD_##CHIP - QDQ_MULTIPLY_ADD_WORMHOLE][QDQ_CHIP_##FORMATS] = (fn),

#endif
