// SPDX-License-Identifier: Apache-2.0
// The kernels of elementary functions give the bits of their definition on every instruction set,
// also where a vector kernel computes less exactly and has to find the results that this could
// change: over floats of every exponent, special values, and floats around the ends of its ranges.
#include <float.h>
#include <math.h>

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "runtime/base/cpu.h"
#include "runtime/numerics/elementary.h"
#include "tests/unit.h"

enum { BLOCK = 1000, STEP = 8009 };  // a prime: over 1000 floats of every exponent and sign

static const qdq_elementwise functions[] = {
    QDQ_ELEMENTWISE_exp,           QDQ_ELEMENTWISE_sigmoid,
    QDQ_ELEMENTWISE_silu,          QDQ_ELEMENTWISE_tanh,
    QDQ_ELEMENTWISE_erf,           QDQ_ELEMENTWISE_gelu_erf,
    QDQ_ELEMENTWISE_gelu_tanh,     QDQ_ELEMENTWISE_exp_ort,
    QDQ_ELEMENTWISE_sigmoid_ort,   QDQ_ELEMENTWISE_tanh_ort,
    QDQ_ELEMENTWISE_erf_ort,       QDQ_ELEMENTWISE_gelu_erf_ort,
    QDQ_ELEMENTWISE_gelu_tanh_ort, QDQ_ELEMENTWISE_tanh_recurrent,
};

// The definition of each function, in double; elementary.h rounds it to float.
static float define(qdq_elementwise function, float a) {
    qdq_elementwise_numbers numbers = {0};
    float y;
    switch (function) {
    case QDQ_ELEMENTWISE_exp: return qdq_expf(a);
    case QDQ_ELEMENTWISE_sigmoid: return qdq_sigmoidf(a);
    case QDQ_ELEMENTWISE_tanh: return qdq_tanhf(a);
    case QDQ_ELEMENTWISE_erf: return qdq_erff(a);
    default:
        qdq_elementwise_find(function, QDQ_REGISTERS_F32,
                             1u << QDQ_ISA_PORTABLE)(&numbers, &a, NULL, NULL, &y, 1);
        return y;
    }
}

static void check(qdq_elementwise function, uint32_t isas, const float *x, const float *want,
                  size_t n) {
    float y[BLOCK];
    qdq_elementwise_numbers numbers = {0};
    qdq_elementwise_find(function, QDQ_REGISTERS_F32, isas)(&numbers, x, NULL, NULL, y, n);
    for (size_t i = 0; i < n; i++)
        if (qdq_float_bits(y[i]) != qdq_float_bits(want[i]))
            fail_msg("function %d, isas %x, of %a: got %a, want %a", (int)function, isas,
                     (double)x[i], (double)y[i], (double)want[i]);
}

static void on_every_instruction_set(const float *x, size_t n) {
    for (size_t f = 0; f < UNIT_COUNT(functions); f++) {
        float want[BLOCK];
        for (size_t i = 0; i < n; i++) want[i] = define(functions[f], x[i]);
        for (int isa = 0; isa < 32; isa++)
            if (qdq_cpu_isas() >> isa & 1)
                check(functions[f], 1u << isa | 1u << QDQ_ISA_PORTABLE, x, want, n);
    }
}

static void floats_of_every_exponent_give_the_bits_of_the_definition(void **state) {
    (void)state;
    float x[BLOCK];
    const uint64_t step = unit_slow() ? 64 * STEP : STEP;
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32;) {
        size_t n = 0;
        for (; n < BLOCK && bits < (uint64_t)1 << 32; n++, bits += step)
            x[n] = qdq_float_from_bits((uint32_t)bits);
        on_every_instruction_set(x, n);
    }
}

// Numbers from 2^-10 to 2^4, where results are neither limits nor almost x.
static void common_numbers_give_the_bits_of_the_definition(void **state) {
    (void)state;
    float x[BLOCK];
    uint64_t seed = 1;
    for (size_t k = 0; k < (unit_slow() ? 10u : 300u); k++) {
        for (size_t i = 0; i < BLOCK; i++) {
            uint64_t r = unit_random(&seed);
            float size = ldexpf(1 + (float)(r & 0x7FFFFF) / 0x1p23f, (int)(r >> 32) % 14 - 10);
            x[i] = r >> 31 & 1 ? -size : size;
        }
        on_every_instruction_set(x, BLOCK);
    }
}

static void special_values_and_ends_of_ranges_give_the_bits_of_the_definition(void **state) {
    static const float ends[] = {0,      FLT_MIN, FLT_MAX, INFINITY, 4,         9.875f,   10,
                                 11.5f,  12,      12.9f,   14.2f,    15,        30,       87,
                                 87.34f, 88.73f,  89,      103.98f,  104,       120,      1e-41f,
                                 88.37f, 88.776f, 18,      9,        0.921875f, 0x1p-23f, 0x1p-25f,
                                 3.925f, 9.02f,   16.64f,  1e30f,    1e-30f,    6.5f,     9.5f,
                                 77,     88,      20,      0x1p-60f, 0x1p-126f, 8,        14.5f};
    (void)state;
    float x[BLOCK];
    for (size_t e = 0; e < UNIT_COUNT(ends); e++) {
        uint32_t bits = qdq_float_bits(ends[e]);
        for (uint32_t i = 0; i < BLOCK; i++)
            x[i] = qdq_float_from_bits((bits + i / 2 - BLOCK / 4) ^ (i % 2 ? 0x80000000u : 0));
        on_every_instruction_set(x, BLOCK);
    }
    for (size_t i = 0; i < BLOCK; i++)
        x[i] = i % 7 == 3 ? qdq_float_from_bits(0xFFC12345u) : (float)i / 500;
    on_every_instruction_set(x, BLOCK);
}

// Floats from 2^-6 to 20 whose results are nearest to halfway between two floats, within 2^-21 of
// an ulp, and the results by mpmath with 300 bits.
static const struct {
    qdq_elementwise function;
    float x, y;
} near_ties[] = {
    {QDQ_ELEMENTWISE_exp, -0x1.d2259ap+3f, 0x1.fa6636p-22f},
    {QDQ_ELEMENTWISE_exp, 0x1.344e9cp-5f, 0x1.09d174p+0f},
    {QDQ_ELEMENTWISE_exp, 0x1.036492p+1f, 0x1.e59a28p+2f},
    {QDQ_ELEMENTWISE_exp, 0x1.62b666p+1f, 0x1.ff48fap+3f},
    {QDQ_ELEMENTWISE_exp, 0x1.cce332p+0f, 0x1.834f4cp+2f},
    {QDQ_ELEMENTWISE_exp, -0x1.f02a66p+1f, 0x1.53997p-6f},
    {QDQ_ELEMENTWISE_sigmoid, -0x1.2082ep-3f, 0x1.dbfeep-2f},
    {QDQ_ELEMENTWISE_sigmoid, 0x1.437902p-5f, 0x1.050db8p-1f},
    {QDQ_ELEMENTWISE_sigmoid, -0x1.32c9ap-1f, 0x1.6b0962p-2f},
    {QDQ_ELEMENTWISE_sigmoid, -0x1.46c7e8p-4f, 0x1.eb9646p-2f},
    {QDQ_ELEMENTWISE_sigmoid, 0x1.1bff5ep-2f, 0x1.23461ep-1f},
    {QDQ_ELEMENTWISE_sigmoid, -0x1.c9bb96p+3f, 0x1.49596cp-21f},
    {QDQ_ELEMENTWISE_silu, -0x1.51f626p+2f, -0x1.b61294p-6f},
    {QDQ_ELEMENTWISE_silu, 0x1.4c4efep+3f, 0x1.4c4c5ep+3f},
    {QDQ_ELEMENTWISE_silu, 0x1.f5a86ap-1f, 0x1.6cbd5cp-1f},
    {QDQ_ELEMENTWISE_silu, -0x1.7b532ap+3f, -0x1.618948p-14f},
    {QDQ_ELEMENTWISE_tanh, -0x1.dc0accp-2f, -0x1.bc797cp-2f},
    {QDQ_ELEMENTWISE_tanh, 0x1.dc0accp-2f, 0x1.bc797cp-2f},
    {QDQ_ELEMENTWISE_tanh, -0x1.a83722p-6f, -0x1.a81eep-6f},
    {QDQ_ELEMENTWISE_tanh, 0x1.5969ap+2f, 0x1.fffaap-1f},
    {QDQ_ELEMENTWISE_tanh, -0x1.8bd194p+2f, -0x1.fffee2p-1f},
    {QDQ_ELEMENTWISE_tanh, -0x1.f860aap-5f, -0x1.f7bdc2p-5f},
    {QDQ_ELEMENTWISE_erf, -0x1.7c77b2p-5f, -0x1.ad00dp-5f},
    {QDQ_ELEMENTWISE_erf, 0x1.6cab96p-6f, 0x1.9b6b1cp-6f},
    {QDQ_ELEMENTWISE_erf, 0x1.9c4dd8p-2f, 0x1.b94568p-2f},
    {QDQ_ELEMENTWISE_gelu_erf, -0x1.24b10ap+2f, -0x1.705c0cp-17f},
    {QDQ_ELEMENTWISE_gelu_erf, -0x1.fbc95ep+1f, -0x1.2ea82p-13f},
    {QDQ_ELEMENTWISE_gelu_erf, 0x1.d3411ap+0f, 0x1.c35ff8p+0f},
    {QDQ_ELEMENTWISE_gelu_erf, -0x1.cdfc5cp-4f, -0x1.a47f9p-5f},
    {QDQ_ELEMENTWISE_gelu_tanh, 0x1.0f167p+2f, 0x1.0f1616p+2f},
    {QDQ_ELEMENTWISE_gelu_tanh, 0x1.f25becp-5f, 0x1.05445cp-5f},
    {QDQ_ELEMENTWISE_gelu_tanh, -0x1.f398eep-1f, -0x1.4934a6p-3f},
    {QDQ_ELEMENTWISE_gelu_tanh, 0x1.0cbcc2p-3f, 0x1.28caecp-4f},
};

// One such float in a vector, whose other results are certain.
static void results_near_ties_are_rounded_right_in_every_lane(void **state) {
    enum { LENGTH = 67 };
    (void)state;
    for (size_t k = 0; k < UNIT_COUNT(near_ties); k++)
        for (int isa = 0; isa < 32; isa++)
            for (size_t at = 0; at < LENGTH && (qdq_cpu_isas() >> isa & 1); at++) {
                float x[LENGTH], want[LENGTH];
                for (size_t i = 0; i < LENGTH; i++) x[i] = i == at ? near_ties[k].x : 0;
                for (size_t i = 0; i < LENGTH; i++)
                    want[i] = i == at ? near_ties[k].y : define(near_ties[k].function, 0);
                check(near_ties[k].function, 1u << isa | 1u << QDQ_ISA_PORTABLE, x, want, LENGTH);
            }
}

// Uncertain results are collected from blocks of 256 floats, computed again as soon as more than
// 256 of them are there, and at the end: all, every other one, and one of each 37, over four blocks
// and a rest, in place.
static void many_uncertain_results_are_rounded_right_where_they_lie(void **state) {
    enum { LENGTH = 4 * 256 + 53 };
    static const size_t steps[] = {1, 2, 37};
    (void)state;
    qdq_elementwise_numbers numbers = {0};
    for (size_t k = 0; k < UNIT_COUNT(near_ties) * UNIT_COUNT(steps); k++) {
        const size_t tie = k / UNIT_COUNT(steps), step = steps[k % UNIT_COUNT(steps)];
        const qdq_elementwise function = near_ties[tie].function;
        for (int isa = 0; isa < 32; isa++) {
            float y[LENGTH];
            if (!(qdq_cpu_isas() >> isa & 1)) continue;
            for (size_t i = 0; i < LENGTH; i++) y[i] = i % step ? (float)i / 64 : near_ties[tie].x;
            qdq_elementwise_find(function, QDQ_REGISTERS_F32, 1u << isa | 1u << QDQ_ISA_PORTABLE)(
                &numbers, y, NULL, NULL, y, LENGTH);
            for (size_t i = 0; i < LENGTH; i++)
                assert_true(y[i] ==
                            (i % step ? define(function, (float)i / 64) : near_ties[tie].y));
        }
    }
}

// Lengths around vectors, and a result that overwrites its operand.
static void every_length_gives_its_elements_alone_also_in_place(void **state) {
    (void)state;
    qdq_elementwise_numbers numbers = {0};
    for (size_t f = 0; f < UNIT_COUNT(functions); f++) {
        qdq_elementwise_fn *fn =
            qdq_elementwise_find(functions[f], QDQ_REGISTERS_F32, qdq_cpu_isas());
        for (size_t n = 1; n < 70; n++) {
            float y[72];
            for (size_t i = 0; i < UNIT_COUNT(y); i++) y[i] = (float)i / 8 - 4;
            fn(&numbers, y, NULL, NULL, y, n);
            for (size_t i = 0; i < UNIT_COUNT(y); i++) {
                float x = (float)i / 8 - 4;
                assert_true(y[i] == (i < n ? define(functions[f], x) : x));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_of_every_exponent_give_the_bits_of_the_definition),
        cmocka_unit_test(common_numbers_give_the_bits_of_the_definition),
        cmocka_unit_test(special_values_and_ends_of_ranges_give_the_bits_of_the_definition),
        cmocka_unit_test(results_near_ties_are_rounded_right_in_every_lane),
        cmocka_unit_test(many_uncertain_results_are_rounded_right_where_they_lie),
        cmocka_unit_test(every_length_gives_its_elements_alone_also_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
