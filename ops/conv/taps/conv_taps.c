// SPDX-License-Identifier: Apache-2.0
// Lays out transposed convolutions that are sums of taps.
#include "ops/conv/taps/conv_taps.h"

#include "ops/gemm/gemm_read.h"

enum { DIMS = QDQ_MAX_SPATIAL, LAST = DIMS - 1 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t parts(size_t n, size_t of) { return (n + of - 1) / of; }

// Returns the number of rows of y of a band: as many as fit, as long as x stays in the cache while
// one tap after the other reads it.
static size_t band_rows(const qdq_conv_taps *t) {
    const qdq_conv *c = &t->conv;
    size_t near = QDQ_TAPS_ROWS / c->group_inputs / c->in[LAST];
    size_t fewest = parts(QDQ_TAPS_POSITIONS, c->in[LAST]);
    size_t rows = (near > fewest ? near : fewest) * c->stride[1];
    return least(rows, t->room / (t->lines * t->phases));
}

// Sets bands of rows, all about as high, or of parts of a row.
static void set_bands(qdq_conv_taps *t) {
    const qdq_conv *c = &t->conv;
    t->outputs = least(c->group_outputs, QDQ_TAPS_OUTPUTS);
    t->output_blocks = parts(c->group_outputs, t->outputs);
    t->phases = c->stride[LAST] <= QDQ_TAPS_PHASES ? c->stride[LAST] : 1;
    t->room = QDQ_TAPS_RESULTS / t->outputs;
    t->lines = least(parts(c->out[LAST], t->phases), t->room / t->phases);
    t->column_bands = parts(c->out[LAST], t->lines * t->phases);
    t->row_bands = parts(c->out[1], band_rows(t));
    t->rows = parts(c->out[1], t->row_bands);
    t->row_bands = parts(c->out[1], t->rows);
}

bool qdq_conv_taps_stage(const qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                         qdq_stage *stage) {
    qdq_conv_taps *t = QDQ_MEMPOOL_NEW(to->mempool, qdq_conv_taps);
    if (!t) return false;
    t->conv = *c;
    qdq_gemm *g = &t->conv.gemm;
    t->kernels = qdq_direct_find(to->isas);
    t->x_count = (size_t)qdq_shape_count(ctx->inputs[g->a_port].type.shape);
    set_bands(t);
    if (!qdq_gemm_pack_constant(g, ctx, to)) return false;
    *stage = (qdq_stage){.params = t,
                         .tensor_op = qdq_conv_taps_run,
                         .quantize = qdq_gemm_offer_quantize(g, to->mempool),
                         .chunks = true,
                         .units = g->batch * t->output_blocks * c->out[0] * t->row_bands *
                                  t->column_bands,
                         .cost = g->batch * g->rows * g->columns * g->depth,
                         .packed = (uint64_t)(g->packed || g->weight_codes) << g->weights.port,
                         .packed_bytes = g->packed_bytes};
    return true;
}
