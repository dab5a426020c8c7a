// SPDX-License-Identifier: Apache-2.0
// The portable kernels of elementwise functions on a chip, which call the definition of one
// element, and the choice of a kernel.
#include "ops/kernels/elementwise/chip_elementwise.h"

#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/block_float.h"

//---- Portable kernels -------------------------------------------------------

#define LOOP(name, ...)                                                           \
    static void name(const qdq_elementwise_numbers *numbers, const void *from_a,  \
                     const void *from_b, const uint32_t *c, void *to, size_t n) { \
        const float *a = from_a, *b = from_b;                                     \
        float *y = to;                                                            \
        (void)numbers, (void)b, (void)c;                                          \
        for (size_t i = 0; i < n; i++) y[i] = qdq_float_from_bits(__VA_ARGS__);   \
    }
#define BINARY(name, formats, FORMATS, chip, CHIP)                                               \
    LOOP(name##_##chip##_##formats, qdq_chip_##name(QDQ_MULTIPLY_ADD_##CHIP, QDQ_CHIP_##FORMATS, \
                                                    qdq_float_bits(a[i]), qdq_float_bits(b[i])))
#define UNARY(name, formats, FORMATS, chip, CHIP) \
    LOOP(name##_##chip##_##formats,               \
         qdq_chip_##name(QDQ_MULTIPLY_ADD_##CHIP, QDQ_CHIP_##FORMATS, qdq_float_bits(a[i])))
#define BINARY_LOOPS(name, formats) QDQ_CHIP_OF_##formats(BINARY, name)
#define UNARY_LOOPS(name, formats) QDQ_CHIP_OF_##formats(UNARY, name)

QDQ_CHIP_BINARY_LIST(BINARY_LOOPS)
QDQ_CHIP_UNARY_LIST(UNARY_LOOPS)

#define ROW(name, formats, FORMATS, chip, CHIP) \
    QDQ_CHIP_ROW(name##_##chip##_##formats, name, FORMATS, CHIP)
#define ROWS(name, formats) QDQ_CHIP_OF_##formats(ROW, name)
const qdq_chip_functions qdq_chip_elementwise_portable[QDQ_ELEMENTWISE_COUNT] = {
    QDQ_CHIP_BINARY_LIST(ROWS) QDQ_CHIP_UNARY_LIST(ROWS)};

//---- The choice -------------------------------------------------------------

typedef struct isa_row {
    qdq_isa isa;
    const qdq_chip_functions *functions;
} isa_row;

#define ISA_ROW(ISA, isa) {QDQ_ISA_##ISA, qdq_chip_elementwise_##isa},
static const isa_row isa_rows[] = {QDQ_KERNEL_ISAS(ISA_ROW)};

// Returns the dtype as which the unpacker hands over elements of a dtype, or as which the packer
// takes them before a group gets its exponent.
static qdq_dtype in_source(qdq_dtype dtype) {
    return qdq_dtype_is_block_float(dtype) ? QDQ_BFLOAT16 : dtype;
}

qdq_elementwise_fn *qdq_chip_elementwise_find(qdq_elementwise function, qdq_multiply_add chip,
                                              qdq_dtype a, qdq_dtype b, qdq_dtype y,
                                              uint32_t isas) {
    qdq_chip_formats formats = QDQ_CHIP_FLOAT32;
    a = in_source(a), b = in_source(b), y = in_source(y);
    if (chip == QDQ_MULTIPLY_ADD_IEEE || a != b || function >= QDQ_ELEMENTWISE_COUNT) return NULL;
    if (a == QDQ_BFLOAT16 && (y == QDQ_BFLOAT16 || y == QDQ_FLOAT32))
        formats = y == QDQ_BFLOAT16 ? QDQ_CHIP_BFLOAT16 : QDQ_CHIP_BFLOAT16_TO_FLOAT32;
    else if (a != QDQ_FLOAT32 || y != QDQ_FLOAT32)
        return NULL;
    const isa_row *best = QDQ_BEST_ROW(isa_rows, isas, NULL, NULL);
    return best->functions[function][chip - QDQ_MULTIPLY_ADD_WORMHOLE][formats];
}
