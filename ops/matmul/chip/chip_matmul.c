// SPDX-License-Identifier: Apache-2.0
// Products on a Tenstorrent chip, a block of y at a time (docs/device_arithmetic.md 7): for each 32
// of the depth, a tile, for each phase, the first 16 products and then the others. K blocks that
// the op spills between tiles are not modelled. A bias of bfloat16 is added to a sum of 16 bits by
// the matrix unit, any other in float32.
#include "ops/matmul/chip/chip_matmul.h"

#include <string.h>

#include "ops/chunks.h"
#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/fpu.h"
#include "runtime/tenstorrent/tile_formats.h"

// Returns an element as an operand register holds it.
static uint32_t operand_at(qdq_dtype dtype, const void *x, size_t at) {
    if (dtype == QDQ_BFLOAT16) return (uint32_t)((const uint16_t *)x)[at] << 16;
    return qdq_chip_unpack_tf32(((const uint32_t *)x)[at]);
}

// A block of y, the work of a unit, and the operands of one tile of the depth.
typedef struct block {
    size_t batch, row, rows, column, columns;
    uint32_t a[QDQ_FPU_ROWS][QDQ_FPU_TILE], b[QDQ_FPU_TILE][QDQ_FPU_COLUMNS];
    uint32_t sums[QDQ_FPU_ROWS][QDQ_FPU_COLUMNS];
} block;

// Reads k..k + n of the rows and columns of a block. The rest of the tile is zero.
static void read_tile(const qdq_gemm *g, const qdq_tensors *tensors, block *o, size_t k, size_t n) {
    size_t matrix = qdq_gemm_at(g, g->batches.b, o->batch);
    size_t from = qdq_gemm_at(g, g->batches.a, o->batch) + k * g->a_depth_stride;
    if (n < QDQ_FPU_TILE) {
        memset(o->a, 0, sizeof o->a);
        memset(o->b, 0, sizeof o->b);
    }
    for (size_t row = 0; row < o->rows; row++)
        for (size_t i = 0; i < n; i++)
            o->a[row][i] =
                operand_at(g->a_dtype, tensors->x[g->a_port],
                           from + (o->row + row) * g->a_row_stride + i * g->a_depth_stride);
    for (size_t i = 0; i < n; i++) {
        size_t at = qdq_gemm_element(&g->weights, matrix, k + i, o->column);
        for (size_t j = 0; j < o->columns; j++)
            o->b[i][j] = operand_at(g->weights.dtype, tensors->x[g->weights.port],
                                    at + j * g->weights.column_stride);
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

bool qdq_chip_matmul_adds(qdq_dtype y, qdq_dtype bias, bool dst32) {
    return y == QDQ_BFLOAT16 && bias == QDQ_BFLOAT16 && !dst32;
}

static uint32_t biased(const qdq_chip_matmul *c, uint32_t sum, float bias) {
    if (qdq_chip_matmul_adds(c->gemm.y.dtype, c->gemm.bias.dtype, c->mode.dst32))
        return qdq_fpu_elwadd(c->mode.chip, false, sum, qdq_float_bits(bias));
    return qdq_float_bits(qdq_float_from_bits(sum) + bias);
}

// Packs sums into elements of y.
static void store(const qdq_chip_matmul *c, const qdq_tensors *tensors, size_t batch, size_t row,
                  size_t column, size_t count, const uint32_t *sums, void *y) {
    const qdq_gemm *g = &c->gemm;
    for (size_t j = 0; j < count; j++) {
        uint32_t v = sums[j];
        if (g->bias.port != SIZE_MAX) v = biased(c, v, bias_at(g, tensors, batch, row, column + j));
        if (g->y.dtype == QDQ_BFLOAT16)
            ((uint16_t *)y)[j] = qdq_chip_pack_bfloat16(v);
        else
            ((uint32_t *)y)[j] = v;
    }
}

static void run_block(const qdq_chip_matmul *c, const qdq_tensors *tensors, block *o,
                      qdq_chunks *chunks) {
    const qdq_gemm *g = &c->gemm;
    memset(o->sums, 0, sizeof o->sums);
    for (size_t k = 0; k < g->depth; k += QDQ_FPU_TILE) {
        read_tile(g, tensors, o, k, g->depth - k < QDQ_FPU_TILE ? g->depth - k : QDQ_FPU_TILE);
        c->tile(&c->mode, o->rows, o->columns, o->a, o->b, o->sums);
    }
    size_t to = qdq_gemm_at(g, g->batches.y, o->batch) + o->row * g->y.row_stride + o->column;
    size_t size = qdq_dtype_size(g->y.dtype), step;
    char *y = qdq_chunks_block(chunks, to, o->columns, o->rows, g->y.row_stride, &step);
    for (size_t row = 0; row < o->rows; row++)
        store(c, tensors, o->batch, o->row + row, o->column, o->columns, o->sums[row],
              y + row * step * size);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t blocks_of(size_t n, size_t size) { return (n + size - 1) / size; }

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_chip_matmul *c = params;
    const qdq_gemm *g = &c->gemm;
    size_t rows = blocks_of(g->rows, QDQ_FPU_ROWS),
           columns = blocks_of(g->columns, QDQ_FPU_COLUMNS);
    qdq_chunks chunks;
    block o;
    memset(&o, 0, sizeof o);
    qdq_chunks_begin(&chunks, tensors, g->y.dtype);
    for (size_t unit = begin; unit < end; unit++) {
        o.batch = unit / (rows * columns);
        o.row = unit / columns % rows * QDQ_FPU_ROWS;
        o.column = unit % columns * QDQ_FPU_COLUMNS;
        o.rows = least(g->rows - o.row, QDQ_FPU_ROWS);
        o.columns = least(g->columns - o.column, QDQ_FPU_COLUMNS);
        run_block(c, tensors, &o, &chunks);
    }
    qdq_chunks_end(&chunks);
}

void qdq_chip_matmul_stage(const qdq_chip_matmul *chip, qdq_stage *stage) {
    const qdq_gemm *g = &chip->gemm;
    *stage = (qdq_stage){.params = chip,
                         .tensor_op = run,
                         .chunks = true,
                         .units = g->batch * blocks_of(g->rows, QDQ_FPU_ROWS) *
                                  blocks_of(g->columns, QDQ_FPU_COLUMNS),
                         .cost = g->batch * g->rows * g->columns * g->depth * 4};
}
