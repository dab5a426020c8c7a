// SPDX-License-Identifier: Apache-2.0
// Weight codes of float32 as rows of a convolution: they stay bytes in memory, and a group of rows
// becomes floats while it is multiplied.
#include "ops/conv/panels/conv_panels.h"
#include "ops/gemm/gemm_read.h"
#include "ops/gemm/weight_codes/gemm_weight_codes.h"
#include "ops/kernels/transpose_block.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/threads/parallel_run.h"

enum {
    COLUMNS = QDQ_GEMM_COLUMNS,
    DEPTH = QDQ_PANELS_CODE_ROW_BYTES,
    PARTS = QDQ_PANELS_CODE_PARTS,
};

void qdq_panels_decode(const qdq_panels_params *p, size_t matrix, size_t k_block, size_t row,
                       size_t rows, float *to) {
    const qdq_panels_weights *w = p->weights;
    size_t channel = matrix * p->conv.gemm.columns + row;
    p->conv.gemm.kernel->decode(&(qdq_gemm_weight_part){
        .codes = (const uint8_t *)qdq_panels_row(p, matrix, k_block, row),
        .by_row = true,
        .scale = w->scales + channel * PARTS,
        .zero = w->zeros + channel * PARTS,
        .dtype = QDQ_FLOAT32,
        .rows = rows * PARTS,
        .b = to,
    });
}

//---- Packing ----------------------------------------------------------------

typedef struct packing {
    const qdq_panels_params *p;
    const qdq_gemm *codes;  // packed in panels of 32 output channels
    float *scales, *zeros;
    qdq_panels_seen *seen;
} packing;

// The parameters of a column of a panel, which are the same for all k.
static void put_parameters(const packing *of, size_t panel, size_t column, size_t channel) {
    const struct qdq_gemm_weight_codes *c = of->codes->weight_codes;
    size_t matrix = panel / qdq_gemm_panels(of->codes), at = panel * COLUMNS + column;
    for (size_t i = 0; i < PARTS; i++) {
        of->scales[channel * PARTS + i] = c->scale.scales[c->scale.alike ? matrix : at];
        of->zeros[channel * PARTS + i] = (float)c->zero.zeros[c->zero.alike ? matrix : at];
    }
}

// A k block of a panel, counted through all matrices.
static void pack_block(const packing *of, size_t panel, size_t k_block) {
    const qdq_panels_params *p = of->p;
    const qdq_gemm *g = of->codes;
    size_t matrix = panel / qdq_gemm_panels(g), first = panel % qdq_gemm_panels(g) * COLUMNS;
    size_t n = qdq_panels_k(&p->conv, k_block), left = g->columns - first;
    const uint8_t *codes = g->weight_codes->codes + panel * g->weight_codes->panel_bytes;
    const void *line_at[DEPTH];
    uint8_t rows[COLUMNS][DEPTH];
    for (size_t k = 0; k < n; k++) line_at[k] = codes + (k_block * DEPTH + k) * COLUMNS;
    qdq_transpose_block(1, line_at, n, COLUMNS, rows, DEPTH);
    for (size_t r = 0; r < COLUMNS && r < left; r++) {
        float numbers[DEPTH];
        size_t channel = matrix * g->columns + first + r;
        memcpy(qdq_panels_row(p, matrix, k_block, first + r), rows[r], n);
        if (!k_block) put_parameters(of, panel, r, channel);
        qdq_panels_decode(p, matrix, k_block, first + r, 1, numbers);
        qdq_panels_see(&of->seen[channel], numbers, n);
    }
}

static void pack_panels(void *context, size_t begin, size_t end) {
    QDQ_FIXED_ENVIRONMENT;
    const packing *of = context;
    for (size_t panel = begin; panel < end; panel++)
        for (size_t b = 0; b < qdq_panels_k_blocks(&of->p->conv); b++) pack_block(of, panel, b);
}

bool qdq_panels_pack_codes(const qdq_panels_params *p, const qdq_weight_codes *codes,
                           const qdq_lowering *to, qdq_panels_weights *weights,
                           qdq_panels_seen *seen, size_t *bytes) {
    qdq_mempool temporary;
    qdq_lowering own = *to;
    qdq_gemm g = p->conv.gemm;
    size_t panels = g.weights.matrices * qdq_gemm_panels(&g);
    size_t count = g.weights.matrices * g.columns * PARTS;
    packing of = {p, &g, qdq_mempool_array(to->mempool, count, sizeof(float)),
                  qdq_mempool_array(to->mempool, count, sizeof(float)), seen};
    weights->scales = of.scales, weights->zeros = of.zeros;
    *bytes += 2 * count * sizeof(float);
    qdq_mempool_init(&temporary, to->mempool->allocator);
    own.mempool = &temporary;
    bool done = of.scales && of.zeros && qdq_gemm_pack_weight_codes(&g, codes, &own);
    if (done) qdq_parallel_run(to->parallel, panels * COLUMNS * g.depth, panels, pack_panels, &of);
    qdq_mempool_release(&temporary);
    return done;
}
