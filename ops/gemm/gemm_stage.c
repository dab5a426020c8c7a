// SPDX-License-Identifier: Apache-2.0
// Chooses the kind of a product's sums, packs its constant operand, and sets its stage.
#include "ops/gemm/gemm_read.h"
#include "ops/gemm/pairs/pair_sums.h"
#include "ops/gemm/weight_codes/gemm_fixed.h"

bool qdq_gemm_choose_kind(qdq_gemm *g, const qdq_op_context *ctx, const qdq_lowering *to) {
    if (!to->plain && qdq_gemm_takes_bfloats(g)) g->kind = QDQ_GEMM_BFLOATS;
    return qdq_pair_sums_choose(g, ctx, to);
}

// Returns a bit for A and for B if units pack them from memory in which k or columns are
// neighbours. These are also packed from tiles.
static uint64_t packs_tiles(const qdq_gemm *g) {
    const qdq_gemm_weights *w = &g->weights;
    uint64_t ports = 0;
    bool units_pack_b = !g->packed && !g->weight_codes && !qdq_gemm_saturates(g->kind);
    if (g->pack_a != qdq_gemm_pack_rows) return 0;
    if (g->a_depth_stride == 1) ports |= (uint64_t)1 << g->a_port;
    if (units_pack_b && w->taps == 1 && !w->block &&
        (w->column_stride == 1 || w->depth_stride == 1))
        ports |= (uint64_t)1 << w->port;
    return ports;
}

bool qdq_gemm_stage(qdq_gemm *g, const qdq_op_context *ctx, const qdq_lowering *to,
                    qdq_stage *stage) {
    if (to->plain) {
        *stage = (qdq_stage){.params = g};
        return true;
    }
    if (!qdq_gemm_pack_constant(g, ctx, to)) return false;
    if (qdq_gemm_sums_fixed(g)) g->order = (qdq_gemm_order){.sums = QDQ_SUM_FIXED};
    // The bytes that each order reads.
    size_t b_bytes = qdq_gemm_panels(g) * qdq_gemm_panel_bytes(g);
    size_t a_bytes = g->rows * g->depth * qdq_gemm_size(g->kind);
    bool large = b_bytes > QDQ_GEMM_CACHE_BYTES &&
                 b_bytes * qdq_gemm_row_blocks(g) > a_bytes * qdq_gemm_column_blocks(g);
    g->columns_outer = g->pack_a == qdq_gemm_pack_rows && (large || qdq_gemm_packs_again(g));
    *stage = (qdq_stage){.params = g,
                         .tensor_op = qdq_gemm_run_units,
                         .quantize = qdq_gemm_offer_quantize(g, to->mempool),
                         .reads_tiles = packs_tiles(g),
                         .chunks = true,
                         .units = g->batch * qdq_gemm_row_blocks(g) * qdq_gemm_column_blocks(g),
                         .cost = g->batch * g->rows * g->columns * g->depth,
                         .packed = (uint64_t)(g->packed || g->weight_codes) << g->weights.port,
                         .scales_later = g->order.sums == QDQ_SUM_FIXED,
                         .packed_bytes = g->packed_bytes};
    return true;
}
