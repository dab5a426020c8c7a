// SPDX-License-Identifier: Apache-2.0
// Sums go through a slice in tiles of 32 elements, two halves of 16 each. Wormhole multiplies in
// three phases, Blackhole in four; the accumulator is float32, which the packer rounds. The other
// operand of each product is the scaler, 1 or 1 / n truncated to bfloat16.
#include "ops/reduce/chip/chip_reduce.h"

#include <string.h>

#include "runtime/tenstorrent/fpu_reduce.h"
#include "runtime/tenstorrent/tile_formats.h"

enum { TILE = QDQ_FPU_SLICE, INFINITE = 0x7F800000 };

typedef struct chip_params {
    qdq_fpu_reduction sum;
    uint32_t sign;  // flipped before and after the greatest is taken: for Min
} chip_params;

//---- Sums -------------------------------------------------------------------

typedef uint32_t add_fn(const qdq_fpu_reduction *r, uint32_t dst, const uint32_t *x, size_t n);

// A part begins at a tile, because tiles divide QDQ_SLICE_PART.
static void take(const qdq_part *part, add_fn *add) {
    const chip_params *p = part->params;
    for (size_t at = 0, n; at < part->n; at += n) {
        uint32_t x[TILE];
        n = part->n - at < TILE ? part->n - at : (size_t)TILE;
        memcpy(x, part->x + at, n * sizeof *x);
        part->state->dst = add(&p->sum, part->state->dst, x, n);
    }
}

static void begin_sum(const qdq_part *part) { part->state->dst = 0; }

static void take_row(const qdq_part *part) { take(part, qdq_fpu_add_row); }
static void take_column(const qdq_part *part) { take(part, qdq_fpu_add_column); }

static void end_sum(const qdq_part *part) {
    uint16_t *y = part->tensors->y[0];
    if (y) y[part->slice] = qdq_chip_pack_bfloat16(part->state->dst);
}

//---- Max, Min ---------------------------------------------------------------

// Returns a number with its sign flipped for Min, as the packer stores it.
static uint32_t flipped(const chip_params *p, uint32_t v) {
    if ((v & 0x7FFFFFFF) > INFINITE) v = (v & 0x80000000u) | INFINITE;
    return v & INFINITE ? v ^ p->sign : 0;
}

static void begin_extreme(const qdq_part *part) { part->state->dst = 0x80000000u | INFINITE; }

static void take_extreme(const qdq_part *part) {
    uint32_t most = part->state->dst;
    for (size_t i = 0; i < part->n; i++)
        most = qdq_fpu_greater(most, flipped(part->params, qdq_float_bits(part->x[i])));
    part->state->dst = most;
}

static void end_extreme(const qdq_part *part) {
    uint16_t *y = part->tensors->y[0];
    if (y) y[part->slice] = (uint16_t)(flipped(part->params, part->state->dst) >> 16);
}

//---- Entry ------------------------------------------------------------------

qdq_chip_order qdq_chip_order_of(qdq_chip_reduction reduction, qdq_type x, uint32_t dims) {
    if (reduction == QDQ_CHIP_NONE || x.dtype != QDQ_BFLOAT16) return QDQ_CHIP_UNKNOWN;
    if (reduction <= QDQ_CHIP_MIN) return QDQ_CHIP_ANY;
    if (!dims || dims & (dims - 1)) return QDQ_CHIP_UNKNOWN;
    if (dims >> (x.shape.rank - 1)) return QDQ_CHIP_ROWS;
    // A mean along a further dim is transposed to the last but one; sums are another op.
    bool columns = reduction == QDQ_CHIP_MEAN || dims >> (x.shape.rank - 2);
    return columns ? QDQ_CHIP_COLUMNS : QDQ_CHIP_UNKNOWN;
}

static const qdq_slice_op extreme = {
    .passes = {{begin_extreme, take_extreme, end_extreme}},
    .pass_count = 1,
};
static const qdq_slice_op rows = {.passes = {{begin_sum, take_row, end_sum}}, .pass_count = 1};
static const qdq_slice_op columns = {.passes = {{begin_sum, take_column, end_sum}},
                                     .pass_count = 1};

bool qdq_chip_reduce_stage(const qdq_op_context *ctx, const qdq_lowering *to,
                           qdq_chip_reduction reduction, uint32_t dims, qdq_stage *stage) {
    qdq_type x = ctx->inputs[0].type;
    qdq_reduce_axes slices = qdq_reduce_axes_of(x.shape, dims);
    chip_params *p = QDQ_MEMPOOL_NEW(to->mempool, chip_params);
    if (!p) return false;
    bool wormhole = to->numerics.multiply_add == QDQ_MULTIPLY_ADD_WORMHOLE;
    float scaler = reduction == QDQ_CHIP_MEAN ? 1.0f / (float)slices.n : 1.0f;
    *p = (chip_params){
        .sum = {.chip = to->numerics.multiply_add,
                .phases = wormhole ? 3 : 4,
                .dst32 = true,
                .scaler = qdq_float_bits(scaler) & 0xFFFF0000u},
        .sign = reduction == QDQ_CHIP_MIN ? 0x80000000u : 0,
    };
    qdq_chip_order order = qdq_chip_order_of(reduction, x, dims);
    const qdq_slice_op *op = order == QDQ_CHIP_ROWS      ? &rows
                             : order == QDQ_CHIP_COLUMNS ? &columns
                                                         : &extreme;
    return qdq_slice_stage(ctx, to, op, slices, p, order == QDQ_CHIP_ANY ? 2 : 64, stage);
}
