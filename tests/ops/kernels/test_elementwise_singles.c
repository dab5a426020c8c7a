// SPDX-License-Identifier: Apache-2.0
// Loops of two operands of which one is a single number: on every instruction set, of every length
// around vectors, in place too, each element is what the C operators and the rules for zeros and
// NaN make of the two numbers.
#include <math.h>

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "runtime/base/cpu.h"
#include "runtime/numerics/elementary.h"
#include "tests/unit.h"

enum { MOST = 1031 };

#define FUNCTION(name) QDQ_ELEMENTWISE_##name,
static const qdq_elementwise functions[] = {QDQ_ELEMENTWISE_SINGLES(FUNCTION)};

static const float numbers[] = {0.0f,  -0.0f,  1.5f,     -2.75f,    0x1p-149f, -0x1p-126f,
                                3e38f, -3e38f, INFINITY, -INFINITY, NAN,       0.1f};

static float define(qdq_elementwise function, float a, float b) {
    float y = 0;
    switch ((int)function) {
    case QDQ_ELEMENTWISE_add: y = a + b; break;
    case QDQ_ELEMENTWISE_subtract: y = a - b; break;
    case QDQ_ELEMENTWISE_multiply: y = a * b; break;
    case QDQ_ELEMENTWISE_divide: y = a / b; break;
    case QDQ_ELEMENTWISE_minimum:
        y = isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? a : b) : fminf(a, b);
        break;
    case QDQ_ELEMENTWISE_maximum:
        y = isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? b : a) : fmaxf(a, b);
        break;
    case QDQ_ELEMENTWISE_prelu: y = a > 0 ? a : b * a; break;
    case QDQ_ELEMENTWISE_prelu_ort: y = a >= 0 ? a : b * a; break;
    default: fail_msg("function %d has no definition here", (int)function);
    }
    return isnan(y) ? qdq_float_from_bits(0x7FC00000u) : y;
}

static void fill(float *x) {
    for (size_t i = 0; i < MOST; i++)
        x[i] = i % 5 ? ((float)i - MOST / 2.0f) / 7 : numbers[i / 5 % UNIT_COUNT(numbers)];
}

// The result overwrites the operand that has n elements.
static void check(qdq_elementwise function, uint32_t isas, bool single_a, float number, size_t n) {
    qdq_elementwise_single fns = qdq_elementwise_single_find(function, isas);
    float x[MOST], y[MOST];
    fill(x), fill(y);
    if (single_a)
        fns.a(&number, y, y, n);
    else
        fns.b(y, &number, y, n);
    for (size_t i = 0; i < MOST; i++) {
        float want = single_a ? define(function, number, x[i]) : define(function, x[i], number);
        if (i >= n) want = x[i];
        if (qdq_float_bits(y[i]) != qdq_float_bits(want) && !(i >= n && isnan(x[i])))
            fail_msg("function %d, isas %x, single %c %a, element %zu of %zu: got %a, want %a",
                     (int)function, isas, single_a ? 'a' : 'b', (double)number, i, n, (double)y[i],
                     (double)want);
    }
}

static void every_length_gives_the_bits_of_the_operators(void **state) {
    (void)state;
    for (int isa = 0; isa < 32; isa++) {
        if (!(qdq_cpu_isas() >> isa & 1)) continue;
        uint32_t isas = 1u << isa | 1u << QDQ_ISA_PORTABLE;
        for (size_t f = 0; f < UNIT_COUNT(functions); f++)
            for (size_t k = 0; k < 2 * UNIT_COUNT(numbers); k++) {
                float number = numbers[k / 2];
                for (size_t n = 0; n < 40; n += 1 + k % 3)
                    check(functions[f], isas, k % 2, number, n);
                check(functions[f], isas, k % 2, number, MOST);
            }
    }
}

static void other_functions_have_none(void **state) {
    (void)state;
    qdq_elementwise_single none = qdq_elementwise_single_find(QDQ_ELEMENTWISE_exp, qdq_cpu_isas());
    assert_true(!none.a && !none.b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_gives_the_bits_of_the_operators),
        cmocka_unit_test(other_functions_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
