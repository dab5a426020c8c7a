// SPDX-License-Identifier: Apache-2.0
// Elementwise functions (Add, ReLU, GELU and their like) over arrays of registers.
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_ELEMENTWISE_KERNELS_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_ELEMENTWISE_KERNELS_H

#include "ops/kernels/best_row.h"
#include "runtime/exec/plan.h"

// X(name, operands, registers). A new function is a row here and its body, one_<name>, in
// elementwise.inc.h; the enumerator, the loops and the tables follow from the row. The operands are
// the body's arguments: elements of a, b and c, and the numbers of the op. The registers are the
// types that the function computes in: `floats` is float alone; `quick` is too, and has a quick
// loop (quick.inc.h); `pairs` also has a quicker one (quick_pairs.inc.h); `vectors` has a loop of
// vectors (runtime_vectors.inc.h). `reals` adds double, whose body is f64_<name> in typed.inc.h;
// `integers` are int32_t, int64_t and uint64_t (i32_<name>, i64_<name>, u64_<name>); `numbers` are
// all five, and `not_double` are all but double.
#define QDQ_ELEMENTWISE_LIST(X)            \
    X(abs, a, numbers)                     \
    X(neg, a, numbers)                     \
    X(exp, a, pairs)                       \
    X(log, a, floats)                      \
    X(log_ort, a, floats)                  \
    X(log_libm, a, floats)                 \
    X(log1p, a, floats)                    \
    X(sqrt, a, reals)                      \
    X(rsqrt, a, floats)                    \
    X(square, a, floats)                   \
    X(tanh, a, pairs)                      \
    X(sigmoid, a, pairs)                   \
    X(silu, a, quick)                      \
    X(relu, a, floats)                     \
    X(relu6, a, floats)                    \
    X(relu_ort, a, floats)                 \
    X(relu_dnn, a, floats)                 \
    X(reciprocal, a, floats)               \
    X(round, a, floats)                    \
    X(hard_swish, a, floats)               \
    X(hard_swish_ort, a, floats)           \
    X(sigmoid_ort, a, vectors)             \
    X(tanh_ort, a, vectors)                \
    X(tanh_recurrent, a, vectors)          \
    X(exp_ort, a, vectors)                 \
    X(erf_ort, a, vectors)                 \
    X(gelu_erf_ort, a, vectors)            \
    X(gelu_tanh_ort, a, vectors)           \
    X(mish, a, floats)                     \
    X(sign, a, numbers)                    \
    X(sign_ort, a, reals)                  \
    X(floor, a, reals)                     \
    X(ceil, a, reals)                      \
    X(trunc, a, reals)                     \
    X(erf, a, quick)                       \
    X(softplus, a, floats)                 \
    X(sin, a, floats)                      \
    X(cos, a, floats)                      \
    X(tan, a, floats)                      \
    X(asin, a, floats)                     \
    X(acos, a, floats)                     \
    X(atan, a, floats)                     \
    X(sinh, a, floats)                     \
    X(cosh, a, floats)                     \
    X(asinh, a, floats)                    \
    X(acosh, a, floats)                    \
    X(atanh, a, floats)                    \
    X(leaky_relu, a_numbers, floats)       \
    X(leaky_relu_ort, a_numbers, floats)   \
    X(elu, a_numbers, floats)              \
    X(hard_sigmoid, a_numbers, floats)     \
    X(hard_sigmoid_ort, a_numbers, floats) \
    X(clamp, a_numbers, floats)            \
    X(clamp_recurrent, a_numbers, floats)  \
    X(clamp_dnn, a_numbers, floats)        \
    X(gelu_erf, a, quick)                  \
    X(gelu_tanh, a, pairs)                 \
    X(is_nan, a, reals)                    \
    X(is_inf, a_numbers, reals)            \
    X(logical_not, a, integers)            \
    X(bitwise_not, a, integers)            \
    X(add, a_b, numbers)                   \
    X(subtract, a_b, numbers)              \
    X(multiply, a_b, numbers)              \
    X(divide, a_b, numbers)                \
    X(minimum, a_b, numbers)               \
    X(maximum, a_b, numbers)               \
    X(minimum_dnn, a_b, floats)            \
    X(maximum_dnn, a_b, floats)            \
    X(equal, a_b, numbers)                 \
    X(greater, a_b, numbers)               \
    X(less, a_b, numbers)                  \
    X(greater_equal, a_b, numbers)         \
    X(less_or_equal, a_b, numbers)         \
    X(logical_and, a_b, integers)          \
    X(logical_or, a_b, integers)           \
    X(logical_xor, a_b, integers)          \
    X(bitwise_and, a_b, integers)          \
    X(bitwise_or, a_b, integers)           \
    X(bitwise_xor, a_b, integers)          \
    X(shift_left, a_b, integers)           \
    X(shift_right, a_b, integers)          \
    X(pow, a_b, not_double)                \
    X(pow_ort, a_b, floats)                \
    X(mod, a_b, numbers)                   \
    X(fmod, a_b, numbers)                  \
    X(prelu, a_b, floats)                  \
    X(prelu_ort, a_b, floats)              \
    X(select, a_b_c, numbers)

// Functions of float operands a and b that have loops for a single a or b, too.
#define QDQ_ELEMENTWISE_SINGLES(X) \
    X(add) X(subtract) X(multiply) X(divide) X(minimum) X(maximum) X(prelu) X(prelu_ort)

// The functions that ONNX Runtime computes in its own way: rows above whose names end in _ort.
#define QDQ_RUNTIME_FUNCTIONS(X) \
    X(relu) X(prelu) X(leaky_relu) X(sign) \
    X(pow) X(hard_swish) X(hard_sigmoid) X(sigmoid) X(tanh) X(exp) X(log) X(erf) X(gelu_erf) \
    X(gelu_tanh)

// The functions that oneDNN computes in its own way: rows above whose names end in _dnn.
#define QDQ_ONEDNN_FUNCTIONS(X) X(relu) X(clamp) X(minimum) X(maximum)

typedef enum qdq_elementwise {
#define QDQ_ELEMENTWISE_ENUMERATOR(name, operands, registers) QDQ_ELEMENTWISE_##name,
    QDQ_ELEMENTWISE_LIST(QDQ_ELEMENTWISE_ENUMERATOR)
#undef QDQ_ELEMENTWISE_ENUMERATOR
        QDQ_ELEMENTWISE_COUNT
} qdq_elementwise;

// The types that a function computes in. 32-bit registers hold the operands of links, too.
typedef enum qdq_registers {
    QDQ_REGISTERS_F32,  // floats of at most 32 bits, and integers that are mixed with them
    QDQ_REGISTERS_I32,  // bool and integers of kind INT, which wrap around at 32 bits
    QDQ_REGISTERS_I64,  // int64 and uint32, which wrap around
    QDQ_REGISTERS_U64,  // uint64, which wraps around
    QDQ_REGISTERS_F64,  // float64
    QDQ_REGISTERS_COUNT
} qdq_registers;

// Numbers of the op: alpha and beta, or min and max.
typedef struct qdq_elementwise_numbers {
    float alpha, beta;
} qdq_elementwise_numbers;

// Computes y[i] from a[i], b[i] and c[i] for n elements; a, b and y are arrays of registers.
// Operands that the function does not use may be NULL; y may be a or b. c is the condition of
// select. A NaN result is 0x7FC00000, in a double 0x7FF8000000000000, except that select passes on
// the bits of its operands. Comparisons give 0 or 1.
typedef void qdq_elementwise_fn(const qdq_elementwise_numbers *numbers, const void *a,
                                const void *b, const uint32_t *c, void *y, size_t n);
typedef qdq_elementwise_fn *const qdq_elementwise_fns[QDQ_ELEMENTWISE_COUNT][QDQ_REGISTERS_COUNT];

// The same for floats, where one operand is a single number.
typedef void qdq_elementwise_single_fn(const float *a, const float *b, float *y, size_t n);
typedef struct qdq_elementwise_single {
    qdq_elementwise_single_fn *a, *b;  // the operand that is a single number
} qdq_elementwise_single;
typedef const qdq_elementwise_single qdq_elementwise_singles[QDQ_ELEMENTWISE_COUNT];

#define QDQ_ELEMENTWISE_DECLARE(ISA, isa)             \
    extern qdq_elementwise_fns qdq_elementwise_##isa; \
    extern qdq_elementwise_singles qdq_elementwise_singles_##isa;
QDQ_KERNEL_ISAS(QDQ_ELEMENTWISE_DECLARE)

// Returns the best kernel for the instruction sets `isas`; all give the same bits. NULL: the
// function does not compute in these registers.
qdq_elementwise_fn *qdq_elementwise_find(qdq_elementwise function, qdq_registers registers,
                                         uint32_t isas);

// Returns the kernels of a function that take a single a or b; both are NULL if it has none.
qdq_elementwise_single qdq_elementwise_single_find(qdq_elementwise function, uint32_t isas);

#endif
