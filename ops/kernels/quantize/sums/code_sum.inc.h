// SPDX-License-Identifier: Apache-2.0
// The loop of qdq_code_sum, included by the file of an instruction set, which defines `reals_of`: a
// vector of codes as reals.
#include <string.h>

#include "ops/kernels/quantize/sums/code_sum.h"

qdq_code_sum_takes_fn QDQ_ISA_NAME(code_sum_takes);
bool QDQ_ISA_NAME(code_sum_takes)(const qdq_code_sum *sum) {
    return qdq_may_multiply(sum->params, qdq_float_from_bits(sum->views[0].data[0]),
                            (int32_t)sum->views[1].data[0]);
}

#define CODE_SUM(dtype, is_signed)                                                                \
    static inline void sum_group_##dtype(const factors *f, const code_operand *operands,          \
                                         const uint8_t *x, const uint8_t *other, uint8_t *y) {    \
        real_vector v[4];                                                                         \
        for (size_t i = 0; i < 4; i++)                                                            \
            v[i] = add(reals_of(&operands[0], x + i * REALS, is_signed),                          \
                       reals_of(&operands[1], other + i * REALS, is_signed));                     \
        store_codes(f, v, is_signed, y);                                                          \
    }                                                                                             \
    qdq_tile_fn QDQ_ISA_NAME(code_sum_##dtype);                                                   \
    void QDQ_ISA_NAME(code_sum_##dtype)(const void *params, const qdq_view *views, const void *x, \
                                        void *y, size_t n) {                                      \
        const qdq_code_sum *sum = params;                                                         \
        const factors f = factors_for(sum->params, qdq_float_from_bits(sum->views[0].data[0]),    \
                                      (int32_t)sum->views[1].data[0]);                            \
        const code_operand operands[2] = {operand_of(&sum->operands[0]),                          \
                                          operand_of(&sum->operands[1])};                         \
        const uint8_t *from = x, *other = (const uint8_t *)(const void *)views[0].data;           \
        uint8_t *to = y, last[3][GROUP] = {{0}};                                                  \
        size_t at = 0;                                                                            \
        for (; at + GROUP <= n; at += GROUP)                                                      \
            sum_group_##dtype(&f, operands, from + at, other + at, to + at);                      \
        if (at == n) return;                                                                      \
        memcpy(last[0], from + at, n - at);                                                       \
        memcpy(last[1], other + at, n - at);                                                      \
        sum_group_##dtype(&f, operands, last[0], last[1], last[2]);                               \
        memcpy(to + at, last[2], n - at);                                                         \
    }
CODE_SUM(int8, true)
CODE_SUM(uint8, false)
