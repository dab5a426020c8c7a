// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenstorrent/fpu_reduce.h"

#include "runtime/tenstorrent/patterns.h"
#include "runtime/tenstorrent/sfpu.h"

// The operands of a slice: elements, and scalers. Elements beyond the slice are zero.
typedef struct operands {
    qdq_fpu_operand elements[QDQ_FPU_SLICE], scalers[QDQ_FPU_SLICE];
} operands;

typedef qdq_fpu_operand operand_fn(uint32_t v);

static void fill(operands *o, const uint32_t *x, size_t n, operand_fn *element,
                 qdq_fpu_operand scaler) {
    for (size_t i = 0; i < QDQ_FPU_SLICE; i++) {
        o->elements[i] = element(i < n ? x[i] : 0);
        o->scalers[i] = scaler;
    }
}

uint32_t qdq_fpu_add_row(const qdq_fpu_reduction *r, uint32_t dst, const uint32_t *x, size_t n) {
    operands o;
    fill(&o, x, n, qdq_fpu_activation, qdq_fpu_weight(r->scaler));
    for (int phase = 0; phase < r->phases; phase++)
        for (int half = 0; half < QDQ_FPU_SLICE; half += QDQ_FPU_DEPTH)
            dst = qdq_fpu_mvmul(r->chip, r->dst32, phase, dst, o.scalers + half, o.elements + half);
    return dst;
}

uint32_t qdq_fpu_add_column(const qdq_fpu_reduction *r, uint32_t dst, const uint32_t *x, size_t n) {
    operands o;
    fill(&o, x, n, qdq_fpu_weight, qdq_fpu_activation(r->scaler));
    for (int half = 0; half < QDQ_FPU_SLICE; half += QDQ_FPU_DEPTH)
        for (int phase = 0; phase < r->phases; phase++)
            dst = qdq_fpu_mvmul(r->chip, r->dst32, phase, dst, o.elements + half, o.scalers + half);
    return dst;
}

uint32_t qdq_fpu_greater(uint32_t dst, uint32_t v) {
    return qdq_sfp_max(dst, v & INFINITY_BITS ? v : 0);
}
