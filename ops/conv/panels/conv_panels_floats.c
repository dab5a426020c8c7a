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

// The bits of magnitudes, which compare as magnitudes do. As signed numbers, because SSE2 has no
// comparison of unsigned ones.
typedef struct magnitudes {
    int32_t most, least;  // least: that is not 0, less 1; INT32_MAX: none
} magnitudes;

static magnitudes both(magnitudes of, int32_t most, int32_t least) {
    of.most = most > of.most ? most : of.most;
    of.least = least < of.least ? least : of.least;
    return of;
}

// Lanes have a known number, so that compilers make vectors of them without being asked for speed.
static magnitudes magnitudes_of(const float *weights, size_t n) {
    enum { LANES = 16 };
    magnitudes all = {0, INT32_MAX};
    int32_t most[LANES], least[LANES];
    for (size_t k = 0; k < LANES; k++) most[k] = 0, least[k] = INT32_MAX;
    size_t i = 0;
    for (; n - i >= LANES; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            int32_t bits = (int32_t)(qdq_float_bits(weights[i + k]) & 0x7FFFFFFF);
            int32_t less = (bits - 1) & INT32_MAX;
            most[k] = bits > most[k] ? bits : most[k];
            least[k] = less < least[k] ? less : least[k];
        }
    for (size_t k = 0; k < LANES; k++) all = both(all, most[k], least[k]);
    for (; i < n; i++) {
        int32_t bits = (int32_t)(qdq_float_bits(weights[i]) & 0x7FFFFFFF);
        all = both(all, bits, (bits - 1) & INT32_MAX);
    }
    return all;
}

void qdq_panels_see(qdq_panels_seen *to, const float *weights, size_t n) {
    magnitudes all = magnitudes_of(weights, n);
    if (all.most >= 0x7F800000) to->finite = false;
    if (all.least == INT32_MAX) return;
    double magnitude = (double)qdq_float_from_bits((uint32_t)all.least + 1);
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
