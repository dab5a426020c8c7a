// SPDX-License-Identifier: Apache-2.0
// Hands over the results of a unit of a direct convolution.
#include "ops/conv/direct/conv_direct_unit.h"
#include "runtime/numerics/dtype.h"

enum { LAST = QDQ_MAX_SPATIAL - 1 };

#define TRANSPOSE(type)                      \
    for (size_t j = 0; j < b->channels; j++) \
        for (size_t i = 0; i < n; i++)       \
            ((type *)out)[i * b->channels + j] = ((const type *)data)[j * positions + first + i];

// Hands over n positions of y from number `first` of the block on, whose channels are neighbours.
static void put_pixels(const qdq_direct_block *b, size_t at, size_t first, size_t n,
                       const void *data, void *out) {
    size_t positions = b->rows * b->n, size = qdq_dtype_size(qdq_gemm_result_dtype(b->gemm));
    if (size == 4) {
        TRANSPOSE(uint32_t)
    } else if (size == 2) {
        TRANSPOSE(uint16_t)
    } else {
        TRANSPOSE(uint8_t)
    }
    qdq_gemm_put_chunk(b->gemm, b->tensors,
                       &(qdq_chunk){at, b->channels, n, b->gemm->y.row_stride, out});
}

void qdq_direct_put_reals(const qdq_direct_block *b) {
    const qdq_gemm *g = b->gemm;
    size_t rows = b->rows, n = b->n, positions = rows * n;
    size_t size = qdq_dtype_size(qdq_gemm_result_dtype(g));
    const char *data = (const char *)b->results;
    void *out = b->other;
    if (qdq_gemm_quantizes(g)) {
        const qdq_stage_quantize *by = g->quantize;
        by->fn(by->params, by->views, data, out, b->channels * positions);
        data = out, out = b->results;
    } else if (g->y.dtype != QDQ_FLOAT32) {
        g->kernel->narrow(g->y.dtype, b->results, out, b->channels * positions);
        data = out, out = b->results;
    }
    if (n == b->width) n *= rows, rows = 1;
    if (g->y.row_stride != 1) {
        for (size_t r = 0; r < rows; r++)
            put_pixels(b, b->at + r * b->width * g->y.row_stride, r * n, n, data, out);
        return;
    }
    if (rows == 1) {
        qdq_gemm_put_chunk(g, b->tensors,
                           &(qdq_chunk){b->at, n, b->channels, g->y.column_stride, data});
        return;
    }
    for (size_t j = 0; j < b->channels; j++)
        qdq_gemm_put_chunk(g, b->tensors,
                           &(qdq_chunk){b->at + j * g->y.column_stride, n, rows, b->width,
                                        data + j * positions * size});
}

// Takes n results of a channel that are sums of integers through the epilogue of products.
static void put_integers(const qdq_direct_unit *u, size_t channel, size_t position,
                         const float *results, size_t n) {
    enum { MOST = QDQ_GEMM_BLOCK_COLUMNS };
    const qdq_conv *c = &u->d->conv;
    int32_t sums[MOST + QDQ_GEMM_COLUMNS];
    qdq_gemm_block block = {.batch = u->image * c->groups + channel / c->group_outputs,
                            .row = channel % c->group_outputs,
                            .rows = 1};
    for (size_t i = 0; i < n; i += block.columns) {
        block.column = position + i;
        block.columns = n - i < MOST ? n - i : MOST;
        for (size_t at = 0; at < block.columns; at++) sums[at] = (int32_t)results[i + at];
        c->gemm.epilogue(&u->d->transposed_gemm, u->tensors, &block, sums, MOST);
    }
}

// Returns the number of the first position of a unit.
static size_t first_position(const qdq_direct_unit *u) {
    const size_t *out = u->d->conv.out;
    return (u->plane * out[1] + u->out[1]) * out[LAST] + u->out[LAST];
}

size_t qdq_direct_place_in_y(const qdq_direct_unit *u) {
    const qdq_gemm *g = &u->d->conv.gemm;
    size_t own = u->d->conv.group_outputs;
    return u->image * g->batches.y[0] + u->channel / own * g->batches.y[1] +
           u->channel % own * g->y.column_stride + first_position(u) * g->y.row_stride;
}

void qdq_direct_put(const qdq_direct_unit *u) {
    const qdq_direct *d = u->d;
    const qdq_conv *c = &d->conv;
    size_t positions = u->results[1] * u->results[LAST], position = first_position(u);
    if (d->of_reals) {
        qdq_direct_put_reals(&(qdq_direct_block){
            .gemm = &c->gemm,
            .tensors = u->tensors,
            .at = qdq_direct_place_in_y(u),
            .channels = u->channels,
            .rows = u->results[1],
            .n = u->results[LAST],
            .width = c->out[LAST],
            .results = u->s->results,
            .other = u->s->other,
        });
        return;
    }
    for (size_t j = 0; j < u->channels; j++)
        for (size_t r = 0, n = u->results[LAST]; r < u->results[1]; r++)
            put_integers(u, u->channel + j, position + r * c->out[LAST],
                         u->s->results + j * positions + r * n, n);
}
