// SPDX-License-Identifier: Apache-2.0
// A row at a time, in the matrix unit but for the mean's division and the root. LayerNorm has a Dst
// of 32 bits and keeps float32 between its steps, of which operands have the 19 bits of TF32;
// RMSNorm has a Dst of 16 bits and keeps bfloat16.
#include "ops/reduce/chip/chip_norm.h"

#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/fpu_reduce.h"
#include "runtime/tenstorrent/sfpmad.h"
#include "runtime/tenstorrent/sfpu_ops.h"
#include "runtime/tenstorrent/tile_formats.h"

enum { PHASES = 4, NO_PORT = 0, GAMMA = 1, BETA = 2, AT_ONCE = QDQ_FPU_SLICE };

typedef struct chip_norm {
    size_t n;  // of a row
    bool centers;
    size_t gamma, beta;  // ports, or NO_PORT
    qdq_fpu_reduction sum;
    qdq_sfpu_program root;
    uint32_t share;    // 1 / n
    uint32_t epsilon;  // a bfloat16
} chip_norm;

typedef struct chip_row {
    const uint16_t *x;
    uint32_t mean;  // 0 in RMSNorm
} chip_row;

// Returns Dst as the next step reads it from a tile.
static uint32_t stored(const chip_norm *p, uint32_t dst) {
    if (p->sum.dst32) return qdq_chip_unpack_tf32(dst);
    return (uint32_t)qdq_chip_pack_bfloat16_dst16((uint16_t)(dst >> 16)) << 16;
}

static uint32_t sum(const chip_norm *p, uint32_t a, uint32_t b) {
    return qdq_fpu_elwadd(p->sum.chip, p->sum.dst32, a, b);
}

static uint32_t product(const chip_norm *p, uint32_t a, uint32_t b) {
    uint32_t dst = 0;
    for (int phase = 0; phase < PHASES; phase++)
        dst = qdq_fpu_elwmul(p->sum.chip, p->sum.dst32, phase, dst, a, b);
    return dst;
}

static uint32_t element(const chip_norm *p, const chip_row *row, size_t at) {
    uint32_t x = (uint32_t)row->x[at] << 16;
    return p->centers ? stored(p, sum(p, x, row->mean ^ 0x80000000u)) : x;
}

static uint32_t raw(const chip_norm *p, const chip_row *row, size_t at) {
    (void)p;
    return (uint32_t)row->x[at] << 16;
}

static uint32_t square(const chip_norm *p, const chip_row *row, size_t at) {
    uint32_t x = element(p, row, at);
    return stored(p, product(p, x, x));
}

typedef uint32_t term_fn(const chip_norm *p, const chip_row *row, size_t at);

static uint32_t mean_of(const chip_norm *p, const chip_row *row, term_fn *term) {
    uint32_t dst = 0;
    for (size_t at = 0, n; at < p->n; at += n) {
        uint32_t terms[AT_ONCE];
        n = p->n - at < AT_ONCE ? p->n - at : (size_t)AT_ONCE;
        for (size_t i = 0; i < n; i++) terms[i] = term(p, row, at + i);
        dst = qdq_fpu_add_row(&p->sum, dst, terms, n);
    }
    return stored(p, qdq_sfpmul(p->sum.chip, dst, p->share));
}

static uint32_t inverse_root(const chip_norm *p, uint32_t variance) {
    uint32_t dst = sum(p, variance, p->epsilon);
    if (p->sum.dst32) return stored(p, qdq_sfpu_float32(&p->root, dst));
    return (uint32_t)qdq_sfpu_bfloat16(&p->root, (uint16_t)(dst >> 16)) << 16;
}

static uint32_t weight(const qdq_tensors *tensors, size_t port, size_t at) {
    return (uint32_t)((const uint16_t *)tensors->x[port])[at] << 16;
}

static uint16_t result(const chip_norm *p, const qdq_tensors *tensors, size_t at, uint32_t x,
                       uint32_t factor) {
    uint32_t dst = product(p, x, factor);
    if (p->gamma) dst = product(p, stored(p, dst), weight(tensors, p->gamma, at));
    if (p->beta) dst = sum(p, stored(p, dst), weight(tensors, p->beta, at));
    return p->sum.dst32 ? qdq_chip_pack_bfloat16(dst)
                        : qdq_chip_pack_bfloat16_dst16((uint16_t)(dst >> 16));
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const chip_norm *p = params;
    const uint16_t *x = tensors->x[0];
    uint16_t *y = tensors->y[0];
    for (size_t at = begin; y && at < end; at++) {
        chip_row row = {.x = x + at * p->n};
        if (p->centers) row.mean = mean_of(p, &row, raw);
        uint32_t factor = inverse_root(p, mean_of(p, &row, square));
        for (size_t i = 0; i < p->n; i++)
            y[at * p->n + i] = result(p, tensors, i, element(p, &row, i), factor);
    }
}

static size_t port_of(const qdq_op_context *ctx, size_t port) {
    return port < ctx->input_count && ctx->inputs[port].given ? port : (size_t)NO_PORT;
}

bool qdq_chip_norm_fits(const qdq_op_context *ctx, qdq_int begin_norm_axis) {
    int rank = ctx->inputs[0].type.shape.rank;
    int64_t axis = begin_norm_axis.set != 0 ? begin_norm_axis.value : -1;
    if (axis != -1 && axis != rank - 1) return false;
    for (size_t i = 0; i < ctx->input_count; i++)
        if (ctx->inputs[i].given && ctx->inputs[i].type.dtype != QDQ_BFLOAT16) return false;
    return ctx->output_count == 1;
}

bool qdq_chip_norm_stage(const qdq_op_context *ctx, const qdq_lowering *to, bool centers,
                         qdq_float epsilon, qdq_stage *stage) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    qdq_multiply_add chip = to->numerics.multiply_add;
    chip_norm *p = QDQ_MEMPOOL_NEW(to->mempool, chip_norm);
    if (!p) return false;
    size_t n = (size_t)shape.dims[shape.rank - 1];
    float added = (float)(epsilon.set != 0 ? epsilon.value : 1e-5);
    *p = (chip_norm){
        .n = n,
        .centers = centers,
        .gamma = port_of(ctx, GAMMA),
        .beta = port_of(ctx, BETA),
        .sum = {.chip = chip, .phases = PHASES, .dst32 = centers, .scaler = 0x3F800000},
        .root = {.op = QDQ_SFPU_RSQRT,
                 .chip = chip,
                 .generation = to->numerics.sfpu_generation,
                 .approximate = !centers},
        .share = qdq_float_bits(1.0f / (float)n),
        .epsilon = qdq_float_bits(added) & 0xFFFF0000u,
    };
    *stage = (qdq_stage){.params = p,
                         .tensor_op = run,
                         .units = qdq_shape_count(shape) / n,
                         .cost = 256 * qdq_shape_count(shape)};
    return true;
}
