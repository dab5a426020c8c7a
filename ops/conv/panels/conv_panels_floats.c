// SPDX-License-Identifier: Apache-2.0
// Dense convolutions of float32 on positions as columns: a k of a panel is a line of x, with zeros
// for elements beyond the border.
#include "ops/conv/panels/conv_panels.h"
#include "ops/gemm/gemm_read.h"
#include "runtime/numerics/dtype.h"

static void pack(const qdq_panels_job *j, size_t k_block, size_t panels) {
    const qdq_conv *c = &j->p->conv;
    size_t k = k_block * qdq_gemm_depth(&c->gemm);
    qdq_gemm_lines_panel to[QDQ_PANELS];
    size_t count = 0;
    if (j->p->planes.at) {
        qdq_panels_fill_planes(j, k_block);
        return;
    }
    for (size_t p = 0; p < panels; p++) {
        const qdq_panel *of = &j->w->panels[p];
        if (qdq_panels_in_place(j, p)) continue;
        to[count++] = (qdq_gemm_lines_panel){of->base, j->p->linear ? NULL : of->at, of->steps,
                                             of->masks, (float *)(void *)j->w->b[p]};
    }
    c->gemm.kernel->lines(&(qdq_gemm_lines){
        .x = (const float *)(const void *)j->x,
        .offsets = c->offsets + k,
        .tap = k % c->taps,
        .taps = c->taps,
        .n = qdq_panels_k(c, k_block),
        .panels = to,
        .count = count,
    });
}

//---- Weights ----------------------------------------------------------------

// Compares magnitudes by their bits.
void qdq_panels_see(qdq_panels_seen *to, const float *weights, size_t n) {
    uint32_t most = 0, least = UINT32_MAX;  // least: that is not 0, less 1
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = qdq_float_bits(weights[i]) & 0x7FFFFFFF, less = bits - 1;
        most = bits > most ? bits : most;
        least = less < least ? less : least;
    }
    if (most >= 0x7F800000) to->finite = false;
    if (least == UINT32_MAX) return;
    double magnitude = (double)qdq_float_from_bits(least + 1);
    if (magnitude < to->least) to->least = magnitude;
}

static void pack_rows(const qdq_gemm *g, const qdq_gemm_part_of_b *of, const qdq_gemm_source *from,
                      char *const *rows, qdq_panels_seen *of_rows) {
    for (size_t r = 0; r < of->columns; r++) {
        float *row = (float *)(void *)rows[r];
        qdq_gemm_column(g, from, of->column + r, of->k, of->n, row);
        qdq_panels_see(&of_rows[r], row, of->n);
    }
}

const qdq_panels_form qdq_panels_floats = {pack, pack_rows, QDQ_CONV_PANELS_LEAST, false};
