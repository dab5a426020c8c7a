// SPDX-License-Identifier: Apache-2.0
// Elementwise functions as ttnn's kernels compute them on a chip, from the elements of tiles to the
// element that the packer stores.
//
// Operands and results are patterns of float32; a bfloat16 is the upper half of one.
#ifndef QDQ_RUNTIME_TENSTORRENT_ELTWISE_H
#define QDQ_RUNTIME_TENSTORRENT_ELTWISE_H

#include "include/qdq/numerics.h"

// The dtypes of the operands and of the result. Dst has 32 bits if the result is float32.
typedef enum qdq_chip_formats {
    QDQ_CHIP_FLOAT32,
    QDQ_CHIP_BFLOAT16,
    QDQ_CHIP_BFLOAT16_TO_FLOAT32,
    QDQ_CHIP_FORMATS_COUNT
} qdq_chip_formats;

// X(name, formats): a function of a and b, or of a alone, and for which formats it is known.
#define QDQ_CHIP_BINARY_LIST(X) \
    X(add, all) X(subtract, all) X(multiply, all) X(divide, all) X(minimum, all) X(maximum, all)
#define QDQ_CHIP_UNARY_LIST(X) X(relu, all) X(reciprocal, float32)

#define QDQ_CHIP_DECLARE_BINARY(name, ...)                                                \
    uint32_t qdq_chip_##name(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a, \
                             uint32_t b);
#define QDQ_CHIP_DECLARE_UNARY(name, ...) \
    uint32_t qdq_chip_##name(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a);
QDQ_CHIP_BINARY_LIST(QDQ_CHIP_DECLARE_BINARY)
QDQ_CHIP_UNARY_LIST(QDQ_CHIP_DECLARE_UNARY)

#endif
