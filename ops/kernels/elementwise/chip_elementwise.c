// SPDX-License-Identifier: Apache-2.0
// The portable kernels of elementwise functions on a chip, which call the definition of one
// element, and the choice of a kernel.
#include "ops/kernels/elementwise/chip_elementwise.h"

#include "runtime/numerics/dtype.h"

//---- Portable kernels -------------------------------------------------------

// X(chip, CHIP, formats, FORMATS, name): every chip with every pair of dtypes.
#define CHIPS(X, formats, FORMATS, name)          \
    X(wormhole, WORMHOLE, formats, FORMATS, name) \
    X(blackhole, BLACKHOLE, formats, FORMATS, name)
#define WAYS(X, name)                  \
    CHIPS(X, float32, FLOAT32, name)   \
    CHIPS(X, bfloat16, BFLOAT16, name) \
    CHIPS(X, widened, BFLOAT16_TO_FLOAT32, name)
// The kernel that inverts a bfloat16 is unknown.
#define RECIPROCAL_WAYS(X) CHIPS(X, float32, FLOAT32, reciprocal)
#define BINARY_WAYS(X) \
    WAYS(X, add)       \
    WAYS(X, subtract) WAYS(X, multiply) WAYS(X, divide) WAYS(X, minimum) WAYS(X, maximum)
#define UNARY_WAYS(X) WAYS(X, relu) RECIPROCAL_WAYS(X)

#define LOOP(name, ...)                                                                      \
    static void name(const qdq_elementwise_numbers *numbers, const float *a, const float *b, \
                     const uint32_t *c, float *y, size_t n) {                                \
        (void)numbers, (void)b, (void)c;                                                     \
        for (size_t i = 0; i < n; i++) y[i] = qdq_float_from_bits(__VA_ARGS__);              \
    }
#define BINARY(chip, CHIP, formats, FORMATS, name)                                               \
    LOOP(name##_##chip##_##formats, qdq_chip_##name(QDQ_MULTIPLY_ADD_##CHIP, QDQ_CHIP_##FORMATS, \
                                                    qdq_float_bits(a[i]), qdq_float_bits(b[i])))
#define UNARY(chip, CHIP, formats, FORMATS, name) \
    LOOP(name##_##chip##_##formats,               \
         qdq_chip_##name(QDQ_MULTIPLY_ADD_##CHIP, QDQ_CHIP_##FORMATS, qdq_float_bits(a[i])))

BINARY_WAYS(BINARY)
UNARY_WAYS(UNARY)

typedef struct portable_row {
    qdq_elementwise function;
    qdq_multiply_add chip;
    qdq_chip_formats formats;
    qdq_elementwise_fn *fn;
} portable_row;

#define ROW(chip, CHIP, formats, FORMATS, name)                           \
    {QDQ_ELEMENTWISE_##name, QDQ_MULTIPLY_ADD_##CHIP, QDQ_CHIP_##FORMATS, \
     name##_##chip##_##formats},
static const portable_row portable[] = {BINARY_WAYS(ROW) UNARY_WAYS(ROW)};

//---- The choice -------------------------------------------------------------

typedef struct vector_row {
    qdq_isa isa;
    qdq_elementwise_fn *const (*fns)[QDQ_CHIP_VECTOR_COUNT];
} vector_row;

qdq_elementwise_fn *const qdq_chip_elementwise_portable[QDQ_CHIP_CHIPS][QDQ_CHIP_VECTOR_COUNT] = {
    {add_wormhole_float32, subtract_wormhole_float32, multiply_wormhole_float32},
    {add_blackhole_float32, subtract_blackhole_float32, multiply_blackhole_float32},
};

#define VECTOR_ROW(ISA, isa) {QDQ_ISA_##ISA, qdq_chip_elementwise_##isa},
static const vector_row vectors[] = {QDQ_KERNEL_ISAS(VECTOR_ROW)};

static qdq_chip_vector vector_of(qdq_elementwise function) {
    switch ((int)function) {
    case QDQ_ELEMENTWISE_add: return QDQ_CHIP_VECTOR_ADD;
    case QDQ_ELEMENTWISE_subtract: return QDQ_CHIP_VECTOR_SUBTRACT;
    case QDQ_ELEMENTWISE_multiply: return QDQ_CHIP_VECTOR_MULTIPLY;
    default: return QDQ_CHIP_VECTOR_COUNT;
    }
}

qdq_elementwise_fn *qdq_chip_elementwise_find(qdq_elementwise function, qdq_multiply_add chip,
                                              qdq_dtype a, qdq_dtype b, qdq_dtype y,
                                              uint32_t isas) {
    qdq_chip_formats formats = QDQ_CHIP_FLOAT32;
    if (chip == QDQ_MULTIPLY_ADD_IEEE || a != b) return NULL;
    if (a == QDQ_BFLOAT16 && (y == QDQ_BFLOAT16 || y == QDQ_FLOAT32))
        formats = y == QDQ_BFLOAT16 ? QDQ_CHIP_BFLOAT16 : QDQ_CHIP_BFLOAT16_TO_FLOAT32;
    else if (a != QDQ_FLOAT32 || y != QDQ_FLOAT32)
        return NULL;
    qdq_chip_vector vector = vector_of(function);
    if (formats == QDQ_CHIP_FLOAT32 && vector < QDQ_CHIP_VECTOR_COUNT) {
        const vector_row *best = QDQ_BEST_ROW(vectors, isas, NULL, NULL);
        return best->fns[chip - QDQ_MULTIPLY_ADD_WORMHOLE][vector];
    }
    for (size_t i = 0; i < sizeof portable / sizeof portable[0]; i++)
        if (portable[i].function == function && portable[i].chip == chip &&
            portable[i].formats == formats)
            return portable[i].fn;
    return NULL;
}
