// SPDX-License-Identifier: Apache-2.0
// The kernels of winograd.h.
#include "ops/kernels/direct/direct_vectors.inc.h"
#include "ops/kernels/winograd/winograd.h"

enum {
    WINOGRAD_SIDE = QDQ_WINOGRAD_SIDE,
    WINOGRAD_STEP = WINOGRAD_SIDE / 2,  // from one tile to the next
    // Elements of a row under a run and after it, up to which vectors read.
    WINOGRAD_ROW = WINOGRAD_SIDE * QDQ_WINOGRAD_RUN,
    WINOGRAD_VECTORS = WINOGRAD_ROW / DIRECT_LANES,
    WINOGRAD_AHEAD = 2,  // channels
};

typedef struct winograd_rows {
    _Alignas(64) float of[WINOGRAD_SIDE][WINOGRAD_ROW];
} winograd_rows;

// Transforms the rows of a run of one channel. x: its first element, which may lie beyond the
// plane.
static inline void winograd_begin_rows(const qdq_winograd_tiles *t, const float *x,
                                       const direct_mask *masks, size_t vectors,
                                       winograd_rows *to) {
    for (size_t i = 0; i < vectors; i++) {
        direct_floats d[WINOGRAD_SIDE];
        DIRECT_UNROLLED for (ptrdiff_t r = 0; r < WINOGRAD_SIDE; r++) {
            bool there = (size_t)(t->row + r) < t->rows;
            const float *from = x + r * (ptrdiff_t)t->row_stride + i * DIRECT_LANES;
            d[r] = there ? direct_load_some(from, masks[i]) : direct_zero();
            __builtin_prefetch(from + WINOGRAD_AHEAD * t->channel_stride);
        }
        direct_store(to->of[0] + i * DIRECT_LANES, direct_sub(d[0], d[2]));
        direct_store(to->of[1] + i * DIRECT_LANES, direct_add(d[1], d[2]));
        direct_store(to->of[2] + i * DIRECT_LANES, direct_sub(d[2], d[1]));
        direct_store(to->of[3] + i * DIRECT_LANES, direct_sub(d[1], d[3]));
    }
}

static inline void winograd_store(float *to, direct_floats v, size_t room) {
    if (room < DIRECT_LANES)
        direct_store_some(to, v, room);
    else
        direct_store(to, v);
}

// Transforms the columns.
static inline void winograd_begin_columns(const qdq_winograd_tiles *t, const winograd_rows *rows,
                                          float *points) {
    for (size_t j = 0; j < t->n; j += DIRECT_LANES)
        DIRECT_UNROLLED for (size_t r = 0; r < WINOGRAD_SIDE; r++) {
            size_t room = t->room - j;
            const float *row = rows->of[r] + j * WINOGRAD_STEP;
            float *to = points + r * WINOGRAD_SIDE * t->point_stride + j;
            direct_floats low = direct_load(row), high = direct_load(row + DIRECT_LANES);
            direct_floats d0 = direct_even(low, high), d1 = direct_odd(low, high);
            low = direct_load(row + WINOGRAD_STEP);
            high = direct_load(row + WINOGRAD_STEP + DIRECT_LANES);
            direct_floats d2 = direct_even(low, high), d3 = direct_odd(low, high);
            winograd_store(to, direct_sub(d0, d2), room);
            winograd_store(to + t->point_stride, direct_add(d1, d2), room);
            winograd_store(to + 2 * t->point_stride, direct_sub(d2, d1), room);
            winograd_store(to + 3 * t->point_stride, direct_sub(d1, d3), room);
        }
}

static void winograd_begin(const qdq_winograd_tiles *t) {
    winograd_rows rows;
    direct_mask masks[WINOGRAD_VECTORS];
    size_t elements = WINOGRAD_STEP * (t->n + 1);
    size_t vectors = (elements + DIRECT_LANES - 1) / DIRECT_LANES;
    memset(&rows, 0, sizeof rows);
    for (size_t i = 0; i < vectors; i++) {
        ptrdiff_t first = t->column + (ptrdiff_t)(i * DIRECT_LANES);
        masks[i] = direct_lanes_of(-first, (ptrdiff_t)t->columns - first);
    }
    const float *x = (const float *)t->x + t->row * (ptrdiff_t)t->row_stride + t->column;
    for (size_t k = 0; k < t->channels; k++) {
        winograd_begin_rows(t, x + k * t->channel_stride, masks, vectors, &rows);
        winograd_begin_columns(t, &rows, t->points + k * QDQ_WINOGRAD_PITCH);
    }
}

// Computes y0 and y1 of four sums.
static inline void winograd_end_four(const direct_floats m[WINOGRAD_SIDE], direct_floats *y0,
                                     direct_floats *y1) {
    *y0 = direct_add(direct_add(m[0], m[1]), m[2]);
    *y1 = direct_sub(direct_sub(m[1], m[2]), m[3]);
}

// Computes the results of a row of each tile. `odd`: + 0 for each finite result, else a NaN.
static inline void winograd_end_row(const direct_floats m[WINOGRAD_SIDE], float *y,
                                    direct_floats *odd) {
    direct_floats y0, y1, low, high;
    winograd_end_four(m, &y0, &y1);
    *odd = direct_madd(*odd, y0, direct_zero());
    *odd = direct_madd(*odd, y1, direct_zero());
    direct_zip(y0, y1, &low, &high);
    direct_store(y, low);
    direct_store(y + DIRECT_LANES, high);
}

static bool winograd_end(const qdq_winograd_sums *s) {
    direct_floats odd = direct_zero(), last = direct_zero();
    for (size_t j = 0; j < s->n; j += DIRECT_LANES) {
        direct_floats upper[WINOGRAD_SIDE], lower[WINOGRAD_SIDE];
        direct_floats *seen = j + DIRECT_LANES <= s->n ? &odd : &last;
        DIRECT_UNROLLED for (size_t c = 0; c < WINOGRAD_SIDE; c++) {
            direct_floats m[WINOGRAD_SIDE];
            DIRECT_UNROLLED for (size_t r = 0; r < WINOGRAD_SIDE; r++) m[r] =
                direct_load(s->sums + (r * WINOGRAD_SIDE + c) * s->point_stride + j);
            winograd_end_four(m, &upper[c], &lower[c]);
        }
        winograd_end_row(upper, s->upper + j * WINOGRAD_STEP, seen);
        winograd_end_row(lower, s->lower + j * WINOGRAD_STEP, seen);
    }
    float of_vectors[DIRECT_LANES], of_last[DIRECT_LANES], any = 0;
    direct_store(of_vectors, odd);
    direct_store(of_last, last);
    for (size_t j = 0; j < DIRECT_LANES; j++) any += of_vectors[j];
    for (size_t j = 0; j < s->n % DIRECT_LANES; j++) any += of_last[j];
    return any == 0;
}

// An element of the weights or of their transform, of some input channels.
enum { WINOGRAD_WEIGHTS = 8 };
typedef struct winograd_weight {
    double of[WINOGRAD_WEIGHTS];
} winograd_weight;

// Multiplies G by three elements that lie `step` and, in the results, `u_step` apart.
static inline void winograd_weights_three(const winograd_weight *g, size_t step, winograd_weight *u,
                                          size_t u_step) {
    for (size_t i = 0; i < WINOGRAD_WEIGHTS; i++) {
        double outer = g[0].of[i] + g[2 * step].of[i], middle = g[step].of[i];
        u[0].of[i] = g[0].of[i];
        u[u_step].of[i] = (outer + middle) / 2;
        u[2 * u_step].of[i] = (outer - middle) / 2;
        u[3 * u_step].of[i] = g[2 * step].of[i];
    }
}

static void winograd_weights(const void *elements, size_t n, void *const points[]) {
    enum { WINDOW = QDQ_WINOGRAD_WINDOW, ELEMENTS = WINDOW * WINDOW };
    const float *weights = elements;
    winograd_weight g[ELEMENTS] = {0}, rows[WINOGRAD_SIDE * WINDOW], u[QDQ_WINOGRAD_POINTS];
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < WINOGRAD_WEIGHTS ? n - i : WINOGRAD_WEIGHTS;
        for (size_t j = 0; j < some; j++)
            for (size_t e = 0; e < ELEMENTS; e++)
                g[e].of[j] = (double)weights[(i + j) * ELEMENTS + e];
        for (size_t c = 0; c < WINDOW; c++) winograd_weights_three(g + c, WINDOW, rows + c, WINDOW);
        for (size_t r = 0; r < WINOGRAD_SIDE; r++)
            winograd_weights_three(rows + r * WINDOW, 1, u + r * WINOGRAD_SIDE, 1);
        for (size_t p = 0; p < QDQ_WINOGRAD_POINTS; p++) {
            float made[WINOGRAD_WEIGHTS];
            for (size_t j = 0; j < WINOGRAD_WEIGHTS; j++) made[j] = (float)u[p].of[j];
            if (some == WINOGRAD_WEIGHTS)  // a copy of known size is one store
                memcpy((float *)points[p] + i, made, sizeof made);
            else
                memcpy((float *)points[p] + i, made, some * sizeof *made);
        }
    }
}

const qdq_winograd_kernels QDQ_ISA_NAME(winograd) = {winograd_begin, winograd_end,
                                                     winograd_weights};
