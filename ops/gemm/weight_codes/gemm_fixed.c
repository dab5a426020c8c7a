// SPDX-License-Identifier: Apache-2.0
// Multiplies a row of floats in fixed point by weight codes. Blocks with an infinite element or a
// NaN have no digits: their weights become floats.
#include "ops/gemm/weight_codes/gemm_fixed.h"

#include "ops/gemm/weight_codes/gemm_weight_codes.h"
#include "runtime/numerics/fma.h"

enum { COLUMNS = QDQ_GEMM_COLUMNS, BLOCK = QDQ_GEMM_FIXED_DEPTH, EIGHTH = QDQ_GEMM_EIGHTH };

static size_t line_depth(const struct qdq_gemm_weight_codes *c) { return c->halves ? 8 : 4; }

//---- The row of A -----------------------------------------------------------

static qdq_gemm_fixed_group group_of(const struct qdq_gemm_weight_codes *c,
                                     const qdq_gemm_stretch *s, const qdq_gemm_fixed_block *block,
                                     size_t first, size_t n) {
    size_t lines = (n + line_depth(c) - 1) / line_depth(c);
    qdq_gemm_fixed_group group = {.block = block,
                                  .first = (uint32_t)first,
                                  .lines = (uint32_t)lines,
                                  .scale = s->scale,
                                  .zero = s->zero};
    for (size_t i = 0; i < QDQ_GEMM_DIGITS; i++)
        for (size_t e = first / EIGHTH; e * EIGHTH < first + n; e++)
            group.sums[i] += block->sums[i][e];
    return group;
}

void qdq_gemm_fix(const qdq_gemm *g, size_t k, size_t n, const float *a, qdq_gemm_fixed *f) {
    const struct qdq_gemm_weight_codes *c = g->weight_codes;
    const qdq_gemm_stretch *s = qdq_gemm_stretch_at(c, k);
    size_t count = 0, at = 0;
    for (size_t i = 0; i < n; i += BLOCK, at++) {
        size_t in_block = n - i < BLOCK ? n - i : BLOCK, rows;
        g->kernel->fix(a + i, in_block, &f->blocks[at]);
        f->begins[at] = count;
        for (size_t first = 0; first < in_block; first += rows) {
            size_t begin = k + i + first, end = k + i + in_block;
            if (s + 1 < c->stretches + c->stretch_count && s[1].begin <= begin) s++;
            rows = qdq_gemm_stretch_rows(c, s, begin, end);
            f->groups[count++] = group_of(c, s, &f->blocks[at], first, rows);
        }
    }
    f->begins[at] = count;
}

//---- Products ---------------------------------------------------------------

// Row `row` of the parameters of a panel begins at (base + row) * columns.
static size_t parameter_base(const qdq_gemm *g, const qdq_gemm_parameters *p, size_t panel) {
    return (p->alike ? panel / qdq_gemm_panels(g) : panel) * p->rows;
}
static size_t parameter_columns(const qdq_gemm_parameters *p) { return p->alike ? 1 : COLUMNS; }

static qdq_gemm_fixed_row panel_row(const qdq_gemm *g, size_t panel, float *sums) {
    const struct qdq_gemm_weight_codes *c = g->weight_codes;
    size_t scales = parameter_columns(&c->scale), zeros = parameter_columns(&c->zero);
    return (qdq_gemm_fixed_row){
        .halves = c->halves,
        .scales = c->scale.scales + parameter_base(g, &c->scale, panel) * scales,
        .scale_columns = scales,
        .zeros = c->zero.zeros + parameter_base(g, &c->zero, panel) * zeros,
        .zero_columns = zeros,
        .sums = sums,
    };
}

static int code_at(const qdq_gemm_fixed_row *r, size_t k, size_t j) {
    if (!r->halves) return r->codes[k / 4 * QDQ_GEMM_LINE_BYTES + j * 4 + k % 4];
    int both = r->codes[k / 8 * QDQ_GEMM_LINE_BYTES + j * 4 + k % 4];
    return k % 8 < 4 ? both & 15 : both >> 4;
}

// A block without digits: chains of multiply-adds with dequantized weights.
static void add_floats(const qdq_gemm_fixed_row *r, size_t n, const float *a) {
    for (size_t at = 0; at < r->count; at++) {
        const qdq_gemm_fixed_group *group = &r->groups[at];
        size_t end = at + 1 < r->count ? group[1].first : n;
        for (size_t j = 0; j < COLUMNS; j++) {
            float scale = r->scales[group->scale * r->scale_columns + j % r->scale_columns];
            int zero = r->zeros[group->zero * r->zero_columns + j % r->zero_columns];
            for (size_t k = group->first; k < end; k++)
                r->sums[j] = qdq_fmaf(a[k], (float)(code_at(r, k, j) - zero) * scale, r->sums[j]);
        }
    }
}

void qdq_gemm_multiply_fixed(const qdq_gemm *g, size_t panel, size_t k, size_t n, const float *a,
                             const qdq_gemm_fixed *f, float *sums) {
    const struct qdq_gemm_weight_codes *c = g->weight_codes;
    const uint8_t *codes =
        c->codes + panel * c->panel_bytes + k / line_depth(c) * QDQ_GEMM_LINE_BYTES;
    size_t blocks = (n + BLOCK - 1) / BLOCK,
           block_bytes = BLOCK / line_depth(c) * QDQ_GEMM_LINE_BYTES;
    qdq_gemm_fixed_row row = panel_row(g, panel, sums);
    for (size_t at = 0, end; at < blocks; at = end) {
        bool digits = f->blocks[at].unit != 0;
        end = at + 1;
        while (digits && end < blocks && f->blocks[end].unit != 0) end++;
        row.codes = codes + at * block_bytes;
        row.groups = f->groups + f->begins[at];
        row.count = f->begins[end] - f->begins[at];
        if (digits)
            g->kernel->fixed(&row);
        else
            add_floats(&row, n - at * BLOCK < BLOCK ? n - at * BLOCK : BLOCK, a + at * BLOCK);
    }
}
