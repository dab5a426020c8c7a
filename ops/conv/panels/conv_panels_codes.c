// SPDX-License-Identifier: Apache-2.0
// Dense convolutions of codes on positions as columns: a panel holds codes in groups of 4 k where
// an instruction multiplies int8 weights by them, be it only weights that conv_panels_split.c has
// split, else differences from the zero point in pairs of int16_t. Elements beyond the border are
// the zero point.
//
// Let x' be a code as packed in the panel, perhaps with 128 added or subtracted, and z' the zero
// point in the same form. The sum((x' - z') * w) of an output channel begins with -z' * sum(w),
// modulo 2^32, and adds x' * w.
//
// Positions that are not neighbours (strides, a result narrower than x) are picked from two
// stretches of x, if they lie in them and an instruction does it. Else they are first staged: some
// lines of all positions of the unit are copied, row by row of the result.
#include "ops/conv/panels/conv_panels.h"
#include "ops/gemm/gemm_read.h"
#include "ops/kernels/gemm/weights/gemm_weights.h"
#include "ops/kernels/transpose_block.h"
#include "runtime/numerics/dtype.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    COLUMNS = QDQ_GEMM_COLUMNS,
    POSITIONS = QDQ_CONV_PANELS_POSITIONS,
    STAGED = QDQ_CONV_PANELS_STAGED,
};

//---- Zero points ------------------------------------------------------------

// The packed form of a code: the bits to flip, and the zero point in the same form.
typedef struct code_form {
    uint8_t pad, flip;
    int16_t zero;
} code_form;

// Codes are unsigned, or signed where the kernel wants it.
static code_form form_of(const qdq_gemm *g, int32_t zero) {
    bool is_signed = g->a_dtype == QDQ_INT8;
    bool wants_signed = g->kind == QDQ_GEMM_CODES && g->kernel->signs_codes;
    int own = zero + (wants_signed - is_signed) * -128;
    return (code_form){(uint8_t)zero, is_signed == wants_signed ? 0 : 0x80, (int16_t)own};
}

static int32_t zero_point(const qdq_gemm *g, const void *numbers) {
    return numbers ? qdq_gemm_integer_at(g->a_zero.dtype, numbers, 0) : 0;
}

static code_form form_at_run(const qdq_panels_job *j) {
    const qdq_gemm *g = &j->p->conv.gemm;
    bool has = g->a_zero.port != SIZE_MAX;
    return form_of(g, zero_point(g, has ? qdq_gemm_numbers(&g->a_zero, j->tensors) : NULL));
}

//---- Panels -----------------------------------------------------------------

static void pack_lines(const qdq_gemm *g, const qdq_gemm_code_lines *lines) {
    (g->kind == QDQ_GEMM_INTEGERS ? g->kernel->pair_lines : g->kernel->byte_lines)(lines);
}

// The lines of x for a k block of a panel.
static qdq_gemm_code_lines lines_of(const qdq_panels_job *j, size_t k_block, size_t p,
                                    code_form form) {
    const qdq_conv *c = &j->p->conv;
    size_t k = k_block * qdq_gemm_depth(&c->gemm);
    return (qdq_gemm_code_lines){.x = (const uint8_t *)j->x,
                                 .size = j->x_bytes,
                                 .base = j->w->panels[p].base,
                                 .offsets = c->offsets + k,
                                 .masks = j->w->panels[p].masks,
                                 .tap = k % c->taps,
                                 .taps = c->taps,
                                 .n = qdq_panels_k(c, k_block),
                                 .pad = form.pad,
                                 .flip = form.flip,
                                 .zero = form.zero,
                                 .out = j->w->b[p]};
}

static void pack_linear(const qdq_panels_job *j, size_t k_block, size_t panels) {
    code_form form = form_at_run(j);
    for (size_t p = 0; p < panels; p++) {
        qdq_gemm_code_lines lines = lines_of(j, k_block, p, form);
        pack_lines(&j->p->conv.gemm, &lines);
    }
}

//---- Picked lines -----------------------------------------------------------

// The bytes of two stretches that the columns of a panel take, as in qdq_gemm_code_lines.
typedef struct picks {
    uint8_t from[COLUMNS];
    size_t second;
} picks;

// False if the columns do not lie in two stretches.
static bool set_picks(const qdq_panel *panel, picks *to) {
    enum { STRETCH = 64 };
    to->second = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        size_t at = (size_t)panel->at[i];  // modulo 2^64
        if (at >= STRETCH) {
            if (!to->second) to->second = at;
            at -= to->second;
            if (at >= STRETCH) return false;
            at += STRETCH;
        }
        to->from[i] = (uint8_t)at;
    }
    return true;
}

// False if a panel has other columns.
static bool pack_picked(const qdq_panels_job *j, size_t k_block, size_t panels) {
    picks of[QDQ_PANELS];
    code_form form = form_at_run(j);
    for (size_t p = 0; p < panels; p++)
        if (!set_picks(&j->w->panels[p], &of[p])) return false;
    for (size_t p = 0; p < panels; p++) {
        qdq_gemm_code_lines lines = lines_of(j, k_block, p, form);
        lines.from = of[p].from, lines.second = of[p].second;
        j->p->conv.gemm.kernel->picked_lines(&lines);
    }
    return true;
}

//---- Staged lines -----------------------------------------------------------

// Cuts the positions of a unit into rows of the result.
static size_t set_runs(const qdq_panels_job *j, qdq_gemm_run *runs) {
    const qdq_conv *c = &j->p->conv;
    size_t count = 0, o[DIMS];
    for (size_t done = 0; done < j->block.columns; done += runs[count++].n) {
        size_t row = j->block.column + done, at = (size_t)0 - c->pad[LAST] * c->x_stride[LAST];
        for (int d = DIMS; d-- > 0; row /= c->out[d]) o[d] = row % c->out[d];
        size_t y = qdq_panels_index(c, 0, o[0], 0), z = qdq_panels_index(c, 1, o[1], 0);
        size_t n = c->out[LAST] - o[LAST], left = j->block.columns - done;
        at += y * c->x_stride[0] + z * c->x_stride[1];
        runs[count] = (qdq_gemm_run){at, {y, z}, o[LAST], n < left ? n : left, done};
    }
    return count;
}

// Stages n lines from k on.
static void stage_lines(const qdq_panels_params *p, qdq_gemm_code_runs *runs, size_t k, size_t n,
                        uint8_t *lines) {
    const qdq_conv *c = &p->conv;
    size_t tap[DIMS], rest = k % c->taps;
    for (int d = DIMS; d-- > 0; rest /= c->kernel[d]) tap[d] = rest % c->kernel[d];
    for (size_t i = 0; i < n; i++) {
        runs->offset = c->offsets[k + i];
        for (int d = 0; d < LAST; d++) runs->step[d] = tap[d] * c->dilation[d];
        runs->begin = p->ends[tap[LAST]].begin, runs->end = p->ends[tap[LAST]].end;
        runs->out = lines + i * POSITIONS;
        c->gemm.kernel->code_runs(runs);
        for (int d = DIMS; d-- > 0; tap[d] = 0)
            if (++tap[d] < c->kernel[d]) break;
    }
}

static void pack_staged(const qdq_panels_job *j, size_t k_block, size_t panels) {
    static const uint32_t all = ~0U;
    const qdq_conv *c = &j->p->conv;
    const qdq_gemm *g = &c->gemm;
    qdq_gemm_run of_unit[POSITIONS];
    uint8_t lines[STAGED * POSITIONS + COLUMNS];
    size_t offsets[STAGED], depth = qdq_panels_k(c, k_block);
    code_form form = form_at_run(j);
    qdq_gemm_code_runs runs = {.x = (const uint8_t *)j->x,
                               .size = j->x_bytes,
                               .runs = of_unit,
                               .stride = c->stride[LAST],
                               .in = {c->in[0], c->in[1]},
                               .pad = form.pad,
                               .count = set_runs(j, of_unit)};
    qdq_gemm_code_lines part = {.size = sizeof lines,
                                .offsets = offsets,
                                .masks = &all,
                                .taps = 1,
                                .pad = form.pad,
                                .flip = form.flip,
                                .zero = form.zero};
    memset(lines, form.pad, sizeof lines);
    for (size_t i = 0; i < STAGED; i++) offsets[i] = i * POSITIONS;
    for (size_t done = 0; done < depth; done += STAGED) {
        part.n = depth - done < STAGED ? depth - done : STAGED;
        stage_lines(j->p, &runs, k_block * qdq_gemm_depth(g) + done, part.n, lines);
        for (size_t p = 0; p < panels; p++) {
            part.x = lines + p * COLUMNS;
            part.out = j->w->b[p] + done * COLUMNS * qdq_gemm_size(g->kind);
            pack_lines(g, &part);
        }
    }
}

//---- Rows of a matrix -------------------------------------------------------

// Packs positions whose k are neighbours. The k of a step are a word, so that words change places.
static void pack_rows(const qdq_panels_job *j, size_t k_block, size_t panels) {
    enum { STEPS = QDQ_GEMM_ROW_BYTES / QDQ_GEMM_STEP_BYTES };
    const qdq_conv *c = &j->p->conv;
    size_t n = qdq_panels_k(c, k_block), steps = qdq_gemm_steps(c->gemm.kind, n);
    const uint8_t *x = (const uint8_t *)j->x + k_block * qdq_gemm_depth(&c->gemm);
    uint32_t words[COLUMNS][STEPS], flip = 0x01010101U * form_at_run(j).flip;
    const void *rows[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++) rows[i] = words[i];
    for (size_t p = 0; p < panels; p++) {
        size_t column = p * COLUMNS, left = j->block.columns - column;
        for (size_t i = 0; i < COLUMNS; i++) {
            size_t row = j->block.column + column + (i < left ? i : 0);
            words[i][steps - 1] = 0;
            memcpy(words[i], x + row * c->x_stride[LAST], n);
            for (size_t k = 0; flip && k < steps; k++) words[i][k] ^= flip;
        }
        qdq_transpose_block(sizeof words[0][0], rows, COLUMNS, steps, j->w->b[p], COLUMNS);
    }
}

static void pack(const qdq_panels_job *j, size_t k_block, size_t panels) {
    if (j->p->linear)
        pack_linear(j, k_block, panels);
    else if (!j->p->picks || !pack_picked(j, k_block, panels))
        pack_staged(j, k_block, panels);
}

//---- Weights ----------------------------------------------------------------

// True if the bytes of the weights are packed unchanged and lie in the order of k.
static bool is_copied(const qdq_gemm *g, const qdq_gemm_source *from, size_t channel) {
    const qdq_gemm_weights *w = &g->weights;
    bool dense =
        w->taps == 1 ? w->depth_stride == 1 : w->tap_stride == 1 && w->depth_stride == w->taps;
    return dense && w->dtype == QDQ_INT8 && !qdq_gemm_column_zero(g, from, channel);
}

static void pack_bytes(const qdq_gemm *g, const qdq_gemm_source *from, size_t channel, size_t k,
                       size_t n, int8_t *row, qdq_panels_seen *of_row) {
    if (is_copied(g, from, channel)) {
        memcpy(row, qdq_gemm_source_at(g, from, k, channel), n);
    } else {
        int16_t codes[QDQ_GEMM_DEPTH];
        qdq_gemm_column(g, from, channel, k, n, codes);
        for (size_t i = 0; i < n; i++) row[i] = (int8_t)codes[i];
    }
    int32_t zero = form_of(g, zero_point(g, g->a_zero.known)).zero;
    of_row->first_sum -= (uint32_t)zero * (uint32_t)qdq_gemm_sum_weights(row, n);
}

// The same for channels that are neighbours in memory.
static void pack_lines_of_bytes(const qdq_gemm *g, const qdq_gemm_part_of_b *of,
                                const qdq_gemm_source *from, char *const *rows,
                                qdq_panels_seen *of_rows) {
    enum { MOST = 8 };
    int32_t zero = form_of(g, zero_point(g, g->a_zero.known)).zero;
    for (size_t done = 0; done < of->columns; done += MOST) {
        size_t count = of->columns - done < MOST ? of->columns - done : MOST;
        int8_t codes[MOST][QDQ_GEMM_ROW_BYTES];
        const void *lines[QDQ_GEMM_ROW_BYTES];
        const int8_t *first = qdq_gemm_source_at(g, from, of->k, of->column + done);
        for (size_t k = 0; k < of->n; k++) lines[k] = first + k * g->weights.depth_stride;
        qdq_transpose_block(1, lines, of->n, count, codes, QDQ_GEMM_ROW_BYTES);
        for (size_t r = 0; r < count; r++) {
            uint32_t sum = (uint32_t)qdq_gemm_sum_weights(codes[r], of->n);
            of_rows[done + r].first_sum -= (uint32_t)zero * sum;
            memcpy(rows[done + r], codes[r], of->n);
        }
    }
}

static void pack_weights(const qdq_gemm *g, const qdq_gemm_part_of_b *of,
                         const qdq_gemm_source *from, char *const *rows, qdq_panels_seen *of_rows) {
    if (g->kind != QDQ_GEMM_INTEGERS && qdq_gemm_has_byte_lines(g, from, of)) {
        pack_lines_of_bytes(g, of, from, rows, of_rows);
        return;
    }
    for (size_t r = 0; r < of->columns; r++)
        if (g->kind == QDQ_GEMM_INTEGERS)
            qdq_gemm_column(g, from, of->column + r, of->k, of->n, rows[r]);
        else
            pack_bytes(g, from, of->column + r, of->k, of->n, (int8_t *)rows[r], &of_rows[r]);
}

const qdq_panels_form qdq_panels_codes = {pack, pack_weights, QDQ_CONV_PANELS_LEAST_CODES, true};
const qdq_panels_form qdq_panels_code_rows = {pack_rows, pack_weights, QDQ_GEMM_WIDE_ROWS, true};
