// SPDX-License-Identifier: Apache-2.0
// One element of Tenstorrent's matrix unit (FPU): sums of products in up to four fidelity phases,
// and elementwise sums and products. Every phase rounds into Dst, the accumulator.
//
// Operands are patterns of float32; 19 bits are used (sign, exponent, 10 fraction bits), as
// qdq_chip_unpack_tf32 leaves them. Dst is the pattern of a float32; a Dst of 16 bits holds a
// bfloat16 in the upper half. Operands with the exponent 255 count as numbers.
#ifndef QDQ_RUNTIME_TENSTORRENT_FPU_H
#define QDQ_RUNTIME_TENSTORRENT_FPU_H

#include "include/qdq/numerics.h"

enum { QDQ_FPU_DEPTH = 16, QDQ_FPU_PHASES = 4 };  // products of one step; phases at most

// An operand of a product as the phases see it: each phase takes a few bits of the significand.
typedef struct qdq_fpu_operand {
    int16_t exponent;  // biased; 0: the operand is zero
    uint8_t sign;
    uint8_t high, low;  // parts of the significand: in the first phases, and in the later ones
} qdq_fpu_operand;

// Returns the parts of a weight (SrcA: 5 and 5 bits) and of an activation (SrcB: 7 and 4 bits).
qdq_fpu_operand qdq_fpu_weight(uint32_t v);
qdq_fpu_operand qdq_fpu_activation(uint32_t v);

// MVMUL: returns dst plus 16 products, of the phase 0 to 3.
uint32_t qdq_fpu_mvmul(qdq_multiply_add chip, bool dst32, int phase, uint32_t dst,
                       const qdq_fpu_operand a[QDQ_FPU_DEPTH],
                       const qdq_fpu_operand b[QDQ_FPU_DEPTH]);

// ELWADD: a + b. ELWMUL: dst + a * b, of one phase.
uint32_t qdq_fpu_elwadd(qdq_multiply_add chip, bool dst32, uint32_t a, uint32_t b);
uint32_t qdq_fpu_elwmul(qdq_multiply_add chip, bool dst32, int phase, uint32_t dst, uint32_t a,
                        uint32_t b);

#endif
