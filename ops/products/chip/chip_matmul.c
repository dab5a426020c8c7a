// SPDX-License-Identifier: Apache-2.0
// Products on a Tenstorrent chip, a row at a time (docs/device_arithmetic.md 7): for each 32 of the
// depth, a tile, for each phase, the first 16 products and then the others. K blocks that the op
// spills between tiles are not modelled. A bias is added to the sum in float32.
#include "ops/products/chip/chip_matmul.h"

#include "ops/chunks.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/tenstorrent/fpu.h"
#include "runtime/numerics/tenstorrent/tile_formats.h"

enum { TILE = 32, COLUMNS = 64 };  // of the depth; columns of one turn

// An element as an operand register holds it.
static uint32_t operand_at(qdq_dtype dtype, const void *x, size_t at) {
    if (dtype == QDQ_BFLOAT16) return (uint32_t)((const uint16_t *)x)[at] << 16;
    return qdq_chip_unpack_tf32(((const uint32_t *)x)[at]);
}

// Adds the products of one tile of the depth to the sums of `count` columns from `column` on.
static void add_tile(const qdq_chip_matmul *c, const qdq_fpu_operand *a, const void *b,
                     size_t matrix, size_t k, size_t column, size_t count, uint32_t *sums) {
    const qdq_gemm *g = &c->gemm;
    size_t left = g->depth - k < TILE ? g->depth - k : TILE;
    for (size_t j = 0; j < count; j++) {
        qdq_fpu_operand weights[TILE] = {{0}};
        for (size_t i = 0; i < left; i++)
            weights[i] = qdq_fpu_weight(operand_at(
                g->weights.dtype, b, qdq_gemm_element(&g->weights, matrix, k + i, column + j)));
        for (int phase = 0; phase < c->phases; phase++)
            for (size_t half = 0; half < TILE; half += QDQ_FPU_DEPTH)
                sums[j] =
                    qdq_fpu_mvmul(c->chip, c->dst32, phase, sums[j], weights + half, a + half);
    }
}

static float bias_at(const qdq_gemm *g, const qdq_tensors *tensors, size_t batch, size_t row,
                     size_t column) {
    float bias;
    size_t at = qdq_gemm_at(g, g->batches.bias, batch) + row * g->bias.row_stride +
                column * g->bias.column_stride;
    const char *x = tensors->x[g->bias.port];
    qdq_decode_float(g->bias.dtype, x + at * qdq_dtype_size(g->bias.dtype), &bias, 1);
    return bias;
}

// Packs sums into elements of y.
static void store(const qdq_chip_matmul *c, const qdq_tensors *tensors, size_t batch, size_t row,
                  size_t column, size_t count, const uint32_t *sums, void *y) {
    const qdq_gemm *g = &c->gemm;
    for (size_t j = 0; j < count; j++) {
        uint32_t v = sums[j];
        if (g->bias.port != SIZE_MAX)
            v = qdq_float_bits(qdq_float_from_bits(v) +
                               bias_at(g, tensors, batch, row, column + j));
        if (g->y.dtype == QDQ_BFLOAT16)
            ((uint16_t *)y)[j] = qdq_chip_pack_bfloat16(v);
        else
            ((uint32_t *)y)[j] = v;
    }
}

static void run_row(const qdq_chip_matmul *c, const qdq_tensors *tensors, size_t batch, size_t row,
                    qdq_chunks *chunks) {
    const qdq_gemm *g = &c->gemm;
    size_t matrix = qdq_gemm_at(g, g->batches.b, batch);
    size_t from = qdq_gemm_at(g, g->batches.a, batch) + row * g->a_row_stride;
    size_t to = qdq_gemm_at(g, g->batches.y, batch) + row * g->y.row_stride;
    for (size_t column = 0; column < g->columns; column += COLUMNS) {
        size_t count = g->columns - column < COLUMNS ? g->columns - column : COLUMNS;
        uint32_t sums[COLUMNS] = {0};
        for (size_t k = 0; k < g->depth; k += TILE) {
            qdq_fpu_operand a[TILE] = {{0}};
            for (size_t i = 0; i < TILE && k + i < g->depth; i++)
                a[i] = qdq_fpu_activation(operand_at(g->a_dtype, tensors->x[g->a_port],
                                                     from + (k + i) * g->a_depth_stride));
            add_tile(c, a, tensors->x[g->weights.port], matrix, k, column, count, sums);
        }
        void *y = qdq_chunks_room(chunks, to + column, count);
        store(c, tensors, batch, row, column, count, sums, y);
    }
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_chip_matmul *c = params;
    qdq_chunks chunks;
    qdq_chunks_begin(&chunks, tensors, c->gemm.y.dtype);
    for (size_t unit = begin; unit < end; unit++)
        run_row(c, tensors, unit / c->gemm.rows, unit % c->gemm.rows, &chunks);
    qdq_chunks_end(&chunks);
}

void qdq_chip_matmul_stage(const qdq_chip_matmul *chip, qdq_stage *stage) {
    const qdq_gemm *g = &chip->gemm;
    *stage = (qdq_stage){.params = chip,
                         .tensor_op = run,
                         .chunks = true,
                         .units = g->batch * g->rows,
                         .cost = g->batch * g->rows * g->columns * g->depth * 16};
}
