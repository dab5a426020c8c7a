// SPDX-License-Identifier: Apache-2.0
// A row at a time: the greatest element, the difference of each element and it (ELWSUB), exp in its
// approximate mode, the sum (MVMUL), its reciprocal, and the products with it (ELWMUL). Every step
// stores bfloat16, and the accumulator has 16 bits.
#include "ops/reduce/chip/chip_softmax.h"

#include "include/qdq/ops/reduce.h"
#include "runtime/tenstorrent/fpu_reduce.h"
#include "runtime/tenstorrent/sfpu.h"
#include "runtime/tenstorrent/sfpu_ops.h"
#include "runtime/tenstorrent/tile_formats.h"

enum { PHASES = 4, MINUS_INFINITY = 0xFF80, MOST_RANK = 4, AT_ONCE = QDQ_FPU_SLICE };

typedef struct chip_softmax {
    size_t n;  // of a row
    qdq_fpu_reduction sum;
    qdq_sfpu_program exp;
} chip_softmax;

static uint32_t packed(uint32_t dst) {
    return (uint32_t)qdq_chip_pack_bfloat16_dst16((uint16_t)(dst >> 16)) << 16;
}

// Returns an element. Rows that end within a tile are moved through Dst first, to add minus
// infinity to the elements beyond them.
static uint32_t element(const chip_softmax *p, const uint16_t *x, size_t at) {
    if (at >= p->n) return (uint32_t)MINUS_INFINITY << 16;
    return p->n % QDQ_FPU_SLICE ? packed((uint32_t)x[at] << 16) : (uint32_t)x[at] << 16;
}

// Returns exp(x - most).
static uint32_t power(const chip_softmax *p, uint32_t x, uint32_t most) {
    uint32_t below = qdq_fpu_elwadd(p->sum.chip, false, x, most ^ 0x80000000u);
    return (uint32_t)qdq_sfpu_bfloat16(&p->exp, (uint16_t)(below >> 16)) << 16;
}

static uint32_t greatest(const chip_softmax *p, const uint16_t *x) {
    uint32_t most = element(p, x, 0);
    for (size_t i = 0; i < p->n; i++) most = qdq_fpu_greater(most, element(p, x, i));
    return packed(most);
}

static uint32_t product(const chip_softmax *p, uint32_t a, uint32_t b) {
    uint32_t dst = 0;
    for (int phase = 0; phase < PHASES; phase++)
        dst = qdq_fpu_elwmul(p->sum.chip, false, phase, dst, a, b);
    return packed(dst);
}

static void run_row(const chip_softmax *p, const uint16_t *x, uint16_t *y) {
    uint32_t most = greatest(p, x), sum = 0;
    for (size_t at = 0; at < p->n; at += AT_ONCE) {
        uint32_t powers[AT_ONCE];
        for (size_t i = 0; i < AT_ONCE; i++) {
            powers[i] = power(p, element(p, x, at + i), most);
            if (at + i < p->n) y[at + i] = (uint16_t)(powers[i] >> 16);
        }
        sum = qdq_fpu_add_row(&p->sum, sum, powers, AT_ONCE);
    }
    uint32_t factor = packed(qdq_sfp_approximate_inverse(p->sum.chip, sum));
    for (size_t i = 0; i < p->n; i++)
        y[i] = (uint16_t)(product(p, (uint32_t)y[i] << 16, factor) >> 16);
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const chip_softmax *p = params;
    const uint16_t *x = tensors->x[0];
    uint16_t *y = tensors->y[0];
    for (size_t row = begin; y && row < end; row++) run_row(p, x + row * p->n, y + row * p->n);
}

bool qdq_chip_softmax_fits(const qdq_op_context *ctx, int dim) {
    const qdq_softmax_attrs *a = ctx->attrs;
    qdq_type x = ctx->inputs[0].type;
    return x.dtype == QDQ_BFLOAT16 && ctx->outputs[0].dtype == QDQ_BFLOAT16 &&
           dim == x.shape.rank - 1 && x.shape.rank <= MOST_RANK && !a->mode &&
           a->keep_stats != QDQ_TRUE;
}

bool qdq_chip_softmax_stage(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stage) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    qdq_multiply_add chip = to->numerics.multiply_add;
    chip_softmax *p = QDQ_MEMPOOL_NEW(to->mempool, chip_softmax);
    if (!p) return false;
    *p = (chip_softmax){
        .n = (size_t)shape.dims[shape.rank - 1],
        .sum = {.chip = chip, .phases = PHASES, .scaler = 0x3F800000},
        .exp = {.op = QDQ_SFPU_EXP,
                .chip = chip,
                .generation = to->numerics.sfpu_generation,
                .approximate = true},
    };
    *stage = (qdq_stage){.params = p,
                         .tensor_op = run,
                         .units = qdq_shape_count(shape) / p->n,
                         .cost = 128 * qdq_shape_count(shape)};
    return true;
}
