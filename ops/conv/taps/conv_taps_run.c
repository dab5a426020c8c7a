// SPDX-License-Identifier: Apache-2.0
// Runs transposed convolutions that are sums of taps.
#include "ops/conv/direct/conv_direct_unit.h"
#include "ops/conv/taps/conv_taps.h"

enum {
    DIMS = QDQ_MAX_SPATIAL,
    LAST = DIMS - 1,
    COLUMNS = QDQ_GEMM_COLUMNS,
    DEPTH = QDQ_TAPS_DEPTH,
    SUMS = QDQ_TAPS_RESULTS + QDQ_TAPS_OUTPUTS * QDQ_DIRECT_GAP + QDQ_DIRECT_ROOM,
};

typedef struct scratch {
    _Alignas(64) float results[QDQ_TAPS_RESULTS + QDQ_DIRECT_ROOM];
    _Alignas(64) float sums[SUMS];  // of a tap; then all results, in the order of y
    _Alignas(64) float chunk[SUMS];
    _Alignas(64) float copied[QDQ_TAPS_COPIED + QDQ_DIRECT_ROOM];  // elements of x
    _Alignas(64) float weights[DEPTH * COLUMNS];                   // that are not packed
    qdq_direct_k k[DEPTH];
    size_t k_step;  // elements of x from each k to the next; SIZE_MAX: k are not set
} scratch;

typedef struct unit {
    const qdq_conv_taps *t;
    const qdq_tensors *tensors;
    scratch *s;
    size_t image, group, output, outputs;
    size_t plane, row, rows, column, columns;  // of y
    const float *x;                            // of the image and the group
    size_t x_left;                             // elements from there to the end of x
} unit;

// The positions begin..end of a dim of x.
typedef struct span {
    size_t begin, end;
} span;

// A tap, the positions of x that it takes to the band, and rows of them that are computed together:
// `n` positions from `place` on.
typedef struct tap_sums {
    size_t tap, at[DIMS];
    span of[DIMS];
    size_t row, rows, place, n;
} tap_sums;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

//---- Products ---------------------------------------------------------------

// n rows of 32 weights from k on.
static const float *weights_of(const unit *u, size_t k, size_t n) {
    const qdq_gemm *g = &u->t->conv.gemm;
    size_t number = u->output / COLUMNS, panel = u->group * qdq_gemm_panels(g) + number;
    if (g->packed)
        return (const float *)g->packed + panel * (qdq_gemm_panel_bytes(g) / sizeof(float)) +
               k * COLUMNS;
    if (g->weight_codes) {
        qdq_gemm_decode(g, panel, k, n, u->s->weights);
    } else {
        qdq_gemm_source from = {u->tensors->x[g->weights.port], NULL, u->group, 0, 0, NULL};
        qdq_gemm_pack(g, &from, number * COLUMNS, k, n, u->s->weights);
    }
    return u->s->weights;
}

// Sets the elements of x for the input channels i..i + n, at most *n. Kernels read beyond the
// last position: there elements are copied, and where positions are no neighbours.
static const float *set_elements(const unit *u, const tap_sums *of, size_t i, size_t *n) {
    const qdq_conv *c = &u->t->conv;
    scratch *s = u->s;
    size_t step = c->channel_stride, from = i * step + of->place, most = DEPTH;
    if (step > UINT32_MAX / DEPTH) most = step > UINT32_MAX ? 1 : UINT32_MAX / step;
    *n = least(*n, most);
    const float *x = u->x + from;
    size_t end = from + (*n - 1) * step + of->n + QDQ_DIRECT_ROOM;
    if (c->x_stride[LAST] != 1 || end > u->x_left) {
        *n = least(*n, QDQ_TAPS_COPIED / of->n);
        for (size_t k = 0; k < *n; k++)
            for (size_t p = 0; p < of->n; p++)
                s->copied[k * of->n + p] = x[k * step + p * c->x_stride[LAST]];
        x = s->copied, step = of->n;
    }
    if (s->k_step != step)
        for (size_t k = 0; k < DEPTH; k++)
            s->k[k] = (qdq_direct_k){(uint32_t)(k * step), (uint32_t)k};
    s->k_step = step;
    return x;
}

// The sums of a tap are chains over chunks of input channels, which are added in order.
static void add_chunks(const unit *u, const tap_sums *of) {
    const qdq_conv *c = &u->t->conv;
    scratch *s = u->s;
    size_t chunk = c->gemm.order.chunk, inputs = c->group_inputs, stride = of->n + QDQ_DIRECT_GAP;
    for (size_t i = 0, n; i < inputs; i += n) {
        n = least(least(inputs - i, DEPTH), chunk - i % chunk);
        const float *x = set_elements(u, of, i, &n);
        u->t->kernels->chain(&(qdq_direct_part){
            .x = x,
            .weights = weights_of(u, of->tap * inputs + i, n) + u->output % COLUMNS,
            .k = s->k,
            .depth = n,
            .w_stride = COLUMNS,
            .sums = i < chunk ? s->sums : s->chunk,
            .stride = stride,
            .outputs = u->outputs,
            .n = of->n,
            .more = i % chunk > 0,
        });
        bool ends = (i + n) % chunk == 0 || i + n == inputs;
        if (i >= chunk && ends)
            u->t->kernels->add_rows(
                &(qdq_direct_row_sums){s->chunk, s->sums, stride, stride, u->outputs, of->n});
    }
}

// The same for an x of one position, whose sums are rounded products in fours or eights.
static void add_rounded(const unit *u, const tap_sums *of) {
    enum { LANES = QDQ_GEMM_EIGHTS };
    const qdq_conv *c = &u->t->conv;
    const qdq_gemm *g = &c->gemm;
    bool fours = g->order.sums == QDQ_SUM_FOURS;
    float sums[LANES * COLUMNS] = {0};
    for (size_t i = 0, n; i < c->group_inputs; i += n) {
        n = least(c->group_inputs - i, DEPTH);
        qdq_gemm_part part = {.a = u->x + i,
                              .b = weights_of(u, of->tap * c->group_inputs + i, n),
                              .c = sums,
                              .c_stride = COLUMNS,
                              .rows = 1,
                              .steps = n};
        (fours ? g->orders->fours : g->orders->eights)(&part);
    }
    for (size_t o = 0; o < u->outputs; o++) {
        const float *lanes = sums + u->output % COLUMNS + o;
        size_t number = (u->output + o) * c->taps + of->tap;
        u->s->sums[o * (of->n + QDQ_DIRECT_GAP)] =
            fours ? *lanes : qdq_gemm_fold_eights(lanes, COLUMNS, number, g->order.count);
    }
}

//---- Taps -------------------------------------------------------------------

// Returns the position in y, counted from `first`, to which a tap takes position `at` of x.
static size_t to_y(const qdq_conv *c, int d, size_t tap, size_t at, size_t first) {
    return at * c->stride[d] + tap * c->dilation[d] - c->pad[d] - first;
}

// Adds sums of an output to its results from `to` on. The last stride is too great for phases if
// results have a step.
static void add_output(const unit *u, const tap_sums *of, const float *sums, float *to) {
    const qdq_conv_taps *t = u->t;
    const qdq_conv *c = &t->conv;
    size_t step = c->stride[LAST] / t->phases, n = of->of[LAST].end - of->of[LAST].begin;
    size_t below = c->stride[1] * t->phases * t->lines;
    if (step == 1) {
        t->kernels->add_rows(&(qdq_direct_row_sums){sums, to, c->in[LAST], below, of->rows, n});
        return;
    }
    for (size_t r = 0; r < of->rows; r++)
        for (size_t i = 0; i < n; i++) to[r * below + i * step] += sums[r * c->in[LAST] + i];
}

static void add_to_results(const unit *u, const tap_sums *of) {
    const qdq_conv_taps *t = u->t;
    size_t row = to_y(&t->conv, 1, of->at[1], of->row, u->row);
    size_t column = to_y(&t->conv, LAST, of->at[LAST], of->of[LAST].begin, u->column);
    size_t at = (row * t->phases + column % t->phases) * t->lines + column / t->phases;
    for (size_t o = 0; o < u->outputs; o++)
        add_output(u, of, u->s->sums + o * (of->n + QDQ_DIRECT_GAP),
                   u->s->results + o * t->room + at);
}

// Finds the positions of x that a tap of dim d takes to first..first + n of y. False: none.
static bool set_span(const qdq_conv *c, int d, size_t tap, size_t first, size_t n, span *to) {
    size_t before = tap * c->dilation[d], begin = first + c->pad[d], end = begin + n;
    size_t stride = c->stride[d];
    to->begin = begin > before ? (begin - before + stride - 1) / stride : 0;
    to->end = end > before ? (end - before + stride - 1) / stride : 0;
    to->end = least(to->end, c->in[d]);
    return to->begin < to->end;
}

// Adds a tap, as many rows of x at a time as fit. Elements between the columns of two rows are
// computed too, unless these are most.
static void add_tap(const unit *u, tap_sums *of) {
    const qdq_conv *c = &u->t->conv;
    span rows = of->of[1], columns = of->of[LAST];
    size_t width = columns.end - columns.begin, in_row = c->in[LAST];
    size_t together = in_row > 2 * width ? 1 : 1 + (u->t->room - width) / in_row;
    for (of->row = rows.begin; of->row < rows.end; of->row += of->rows) {
        of->rows = least(rows.end - of->row, together);
        of->n = (of->rows - 1) * in_row + width;
        of->place = of->of[0].begin * c->x_stride[0] + of->row * c->x_stride[1] +
                    columns.begin * c->x_stride[LAST];
        (c->gemm.order.sums == QDQ_SUM_CHUNKS ? add_chunks : add_rounded)(u, of);
        add_to_results(u, of);
    }
}

static void add_taps(const unit *u) {
    const qdq_conv *c = &u->t->conv;
    for (size_t tap = 0; tap < c->taps; tap++) {
        size_t line = tap / c->kernel[LAST];
        tap_sums of = {.tap = tap,
                       .at = {line / c->kernel[1], line % c->kernel[1], tap % c->kernel[LAST]}};
        if (set_span(c, 0, of.at[0], u->plane, 1, &of.of[0]) &&
            set_span(c, 1, of.at[1], u->row, u->rows, &of.of[1]) &&
            set_span(c, LAST, of.at[LAST], u->column, u->columns, &of.of[LAST]))
            add_tap(u, &of);
    }
}

//---- Units ------------------------------------------------------------------

// Joins phases and adds the bias.
static void finish(const unit *u) {
    const qdq_conv_taps *t = u->t;
    const qdq_gemm *g = &t->conv.gemm;
    const float *bias = NULL;
    if (g->bias.port != SIZE_MAX)
        bias = (const float *)qdq_gemm_numbers(&g->bias, u->tensors) +
               u->group * t->conv.group_outputs + u->output;
    for (size_t o = 0; o < u->outputs; o++)
        for (size_t phase = 0; phase < t->phases && phase < u->columns; phase++)
            t->kernels->finish(&(qdq_direct_results){
                .sums = u->s->results + o * t->room + phase * t->lines,
                .bias = bias ? bias + o : NULL,
                .y = u->s->sums + o * u->rows * u->columns + phase,
                .sums_stride = t->phases * t->lines,
                .y_stride = u->columns,
                .rows = u->rows,
                .n = (u->columns - phase + t->phases - 1) / t->phases,
                .step = t->phases,
            });
}

static void run_unit(const unit *u) {
    const qdq_conv *c = &u->t->conv;
    const qdq_gemm *g = &c->gemm;
    scratch *s = u->s;
    size_t first = (u->plane * c->out[1] + u->row) * c->out[LAST] + u->column;
    qdq_scratch_drop(u->tensors->poison, s->sums, sizeof s->sums);
    qdq_scratch_drop(u->tensors->poison, s->chunk, sizeof s->chunk);
    qdq_scratch_drop(u->tensors->poison, s->copied, sizeof s->copied);
    qdq_scratch_drop(u->tensors->poison, s->weights, sizeof s->weights);
    memset(s->results, 0, u->outputs * u->t->room * sizeof *s->results);
    add_taps(u);
    finish(u);
    qdq_direct_put_reals(&(qdq_direct_block){
        .gemm = g,
        .tensors = u->tensors,
        .at = u->image * g->batches.y[0] + u->group * g->batches.y[1] +
              u->output * g->y.column_stride + first * g->y.row_stride,
        .channels = u->outputs,
        .rows = u->rows,
        .n = u->columns,
        .width = c->out[LAST],
        .results = s->sums,
        .other = s->copied,
    });
}

// Describes unit number i, the bands of a plane first.
static void set_unit(unit *u, size_t i) {
    const qdq_conv_taps *t = u->t;
    const qdq_conv *c = &t->conv;
    u->column = i % t->column_bands * t->lines * t->phases, i /= t->column_bands;
    u->row = i % t->row_bands * t->rows, i /= t->row_bands;
    u->plane = i % c->out[0], i /= c->out[0];
    u->output = i % t->output_blocks * t->outputs, i /= t->output_blocks;
    u->group = i % c->groups, u->image = i / c->groups;
    u->columns = least(c->out[LAST] - u->column, t->lines * t->phases);
    u->rows = least(c->out[1] - u->row, t->rows);
    u->outputs = least(c->group_outputs - u->output, t->outputs);
    size_t from = u->image * c->gemm.batches.a[0] + u->group * c->gemm.batches.a[1];
    u->x = (const float *)u->tensors->x[c->gemm.a_port] + from, u->x_left = t->x_count - from;
}

void qdq_conv_taps_run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    scratch s;
    s.k_step = SIZE_MAX;
    for (size_t i = begin; i < end; i++) {
        unit u = {.t = params, .tensors = tensors, .s = &s};
        set_unit(&u, i);
        run_unit(&u);
    }
}
