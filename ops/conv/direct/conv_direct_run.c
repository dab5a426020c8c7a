// SPDX-License-Identifier: Apache-2.0
// Runs direct convolutions. A unit is a band of positions and some output channels: for each group
// it copies planes of x, adds, and finishes rows of results, which it hands over together.
#include <math.h>

#include "ops/conv/direct/conv_direct_unit.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fma.h"

enum { DIMS = QDQ_MAX_SPATIAL, LAST = DIMS - 1, ROOM = QDQ_DIRECT_ROOM };
#define NOWHERE SIZE_MAX

// Output channels of a group.
typedef struct outputs {
    size_t group, first, n;
    const float *weights;
    const bool *odd;
    size_t stride;  // of sums
    float least;    // of x and of weights that are not 0, their product; < 0: not known
} outputs;

//---- Sums -------------------------------------------------------------------

// Lists the k of a phase of y for the channels of a block, in the order of the sum.
static void list_k(qdq_direct_unit *u, size_t phase1, size_t phase2) {
    const qdq_direct *d = u->d;
    const qdq_conv *c = &d->conv;
    const qdq_direct_axis *rows = &d->axes[1], *columns = &d->axes[LAST];
    size_t n = 0;
    if (u->listed[1] == phase1 && u->listed[LAST] == phase2) return;
    u->listed[1] = phase1, u->listed[LAST] = phase2, u->depth = 0;
    for (size_t part = 0; part < d->inputs * u->slices; part++) {
        size_t weight = part / u->slices * c->taps;
        weight += u->s->slices[part % u->slices].tap * c->kernel[1] * c->kernel[LAST];
        for (size_t t1 = 0; t1 < c->kernel[1]; t1++) {
            const qdq_direct_tap *y = &rows->taps[t1];
            if (y->out_phase != phase1) continue;
            size_t at = (size_t)(y->shift - rows->low) * d->plane_width + d->start;
            for (size_t t2 = 0; t2 < c->kernel[LAST]; t2++) {
                const qdq_direct_tap *x = &columns->taps[t2];
                if (x->out_phase != phase2) continue;
                size_t plane = (part * rows->slots + y->slot) * columns->slots + x->slot;
                plane = plane * d->plane + at + (size_t)(x->shift - columns->low);
                u->s->k[n++] =
                    (qdq_direct_k){(uint32_t)plane, (uint32_t)(weight + t1 * c->kernel[LAST] + t2)};
            }
        }
        if (part + 1 == u->slices) u->depth = n;
    }
}

// Adds a phase of y.
static void add(qdq_direct_unit *u, const outputs *of, size_t phase1, size_t phase2) {
    const qdq_direct *d = u->d;
    const qdq_conv *c = &d->conv;
    bool fours = c->gemm.order.sums == QDQ_SUM_FOURS;
    qdq_scratch_drop(u->tensors->poison, u->s->sums, sizeof u->s->sums);
    list_k(u, phase1, phase2);
    for (size_t i = 0; i < c->group_inputs; i += d->inputs) {
        size_t left = c->group_inputs - i, n = left < d->inputs ? left : d->inputs;
        qdq_direct_fill_planes(u, of->group, i, i + n);
        (fours ? d->kernels->fours : d->kernels->chain)(&(qdq_direct_part){
            .x = u->s->planes,
            .weights = of->weights + i * c->taps * c->group_outputs,
            .k = u->s->k,
            .depth = u->depth * n,
            .w_stride = c->group_outputs,
            .sums = u->s->sums,
            .stride = of->stride,
            .outputs = of->n,
            .n = (u->n[1] - 1) * d->plane_width + u->n[LAST],
            .more = i > 0,
        });
    }
}

//---- Borders ----------------------------------------------------------------

// Returns the sum of an output at a position, without products beyond the border.
static float sum_inside(const qdq_direct_unit *u, const outputs *of, size_t output,
                        size_t position) {
    enum { PART = 64 };
    const qdq_conv *c = &u->d->conv;
    const qdq_gemm *g = &c->gemm;
    const float *x = u->tensors->x[g->a_port];
    float sum = 0;
    x += u->image * g->batches.a[0] + of->group * g->batches.a[1];
    for (size_t k = 0, n; k < g->depth; k += n) {
        size_t from[PART];
        n = g->depth - k < PART ? g->depth - k : PART;
        qdq_conv_sources(c, position, k, n, from);
        for (size_t i = 0; i < n; i++)
            if (from[i] != NOWHERE)
                sum = qdq_fmaf(x[from[i]], of->weights[(k + i) * c->group_outputs + output], sum);
    }
    return sum;
}

// True if no sum of an output can be -0, because its products are too large to underflow.
static bool no_sum_underflows(const qdq_direct_unit *u, outputs *of, size_t output) {
    const qdq_direct *d = u->d;
    const qdq_conv *c = &d->conv;
    float weight = INFINITY;
    if (d->inputs < c->group_inputs) return false;
    if (of->least < 0)
        of->least =
            d->kernels->least(u->s->planes, c->group_inputs * u->slices * u->slots * d->plane);
    for (size_t k = 0; k < c->gemm.depth; k++) {
        float w = fabsf(of->weights[k * c->group_outputs + output]);
        if (w != 0 && w < weight) weight = w;
    }
    return of->least * weight >= 0x1p-100f;
}

// True if windows at q may reach beyond the border.
static bool is_border(const qdq_direct *d, int dim, size_t q) {
    const qdq_direct_axis *axis = &d->axes[dim];
    ptrdiff_t first = (ptrdiff_t)q + axis->low, last = (ptrdiff_t)q + axis->high;
    return first < 0 || (ptrdiff_t)axis->in_step * (last + 1) > (ptrdiff_t)d->conv.in[dim];
}

// Recomputes the sums of a row that zeros beyond the border may have changed. q: of the row and of
// its first element. False if no other row has any either.
static bool mend_row(const qdq_direct_unit *u, outputs *of, size_t output, const size_t *q,
                     const size_t *phases, size_t n, float *sums) {
    const qdq_direct *d = u->d;
    const size_t *out = d->conv.out;
    bool all = is_border(d, 1, q[1]) || is_border(d, 0, u->plane / d->axes[0].out_step);
    bool odd = of->odd[output];
    size_t row = (u->plane * out[1] + q[1] * d->axes[1].out_step + phases[1]) * out[LAST];
    for (size_t i = 0; i < n; i++) {
        if (!odd && sums[i] != 0) continue;
        if (!all && !is_border(d, LAST, q[LAST] + i)) continue;
        if (!odd && no_sum_underflows(u, of, output)) return false;
        sums[i] =
            sum_inside(u, of, output, row + (q[LAST] + i) * d->axes[LAST].out_step + phases[LAST]);
    }
    return true;
}

static void mend(const qdq_direct_unit *u, outputs *of, size_t output, const size_t *phases,
                 size_t rows, size_t n) {
    float *sums = u->s->sums + output * of->stride;
    for (size_t r = 0; r < rows; r++, sums += u->d->plane_width) {
        size_t q[DIMS] = {0, u->q[1] + r, u->q[LAST]};
        if (!mend_row(u, of, output, q, phases, n, sums)) return;
    }
}

//---- Results ----------------------------------------------------------------

// The scale and the bias of an output channel; NULL: none.
typedef struct reals {
    const float *scale, *bias;
    float room;
} reals;

static void set_reals(const qdq_direct_unit *u, const outputs *of, size_t output, reals *to) {
    const qdq_conv *c = &u->d->conv;
    const qdq_gemm *g = &c->gemm;
    size_t bias = of->group * c->group_outputs + of->first + output;
    *to = (reals){0};
    if (!u->d->of_reals) return;
    if (g->b_scale.port != SIZE_MAX)
        to->scale = (const float *)qdq_gemm_numbers(&g->b_scale, u->tensors) +
                    of->group * g->weights.scale_stride +
                    (of->first + output) * g->b_scale.column_stride;
    if (g->bias.port == SIZE_MAX) return;
    g->kernel->widen(g->bias.dtype,
                     (const char *)qdq_gemm_numbers(&g->bias, u->tensors) +
                         bias * qdq_dtype_size(g->bias.dtype),
                     &to->room, 1);
    to->bias = &to->room;
}

// Finishes the sums of an output in a phase of y. `results`: of its channel.
static void finish(const qdq_direct_unit *u, outputs *of, size_t output, const size_t *phases,
                   float *results) {
    const qdq_direct *d = u->d;
    size_t step1 = d->axes[1].out_step, step2 = d->axes[LAST].out_step;
    if (phases[1] >= u->results[1] || phases[LAST] >= u->results[LAST]) return;
    reals with;
    set_reals(u, of, output, &with);
    qdq_direct_results to = {
        .sums = u->s->sums + output * of->stride,
        .scale = with.scale,
        .bias = with.bias,
        .y = results + phases[1] * u->results[LAST] + phases[LAST],
        .sums_stride = d->plane_width,
        .y_stride = step1 * u->results[LAST],
        .rows = (u->results[1] - phases[1] + step1 - 1) / step1,
        .n = (u->results[LAST] - phases[LAST] + step2 - 1) / step2,
        .step = step2,
    };
    size_t rows = to.rows, n = to.n;
    if (d->flat) to.n *= to.rows, to.rows = 1;
    bool between = step1 > 1 && step2 == 1;  // rows of y that may not be written beyond their end
    if (between) to.y = u->s->other, to.y_stride = u->results[LAST];
    bool zeros = d->kernels->finish(&to);
    if (d->leaves_out && (zeros || of->odd[output])) {
        mend(u, of, output, phases, rows, n);
        d->kernels->finish(&to);
    }
    for (size_t r = 0; between && r < to.rows; r++)
        memcpy(results + (r * step1 + phases[1]) * u->results[LAST], u->s->other + r * to.y_stride,
               to.n * sizeof *results);
}

//---- Units ------------------------------------------------------------------

// Packs the weights of a group that are not constant.
static void pack(const qdq_direct_unit *u, outputs *of) {
    const qdq_conv *c = &u->d->conv;
    const qdq_gemm *g = &c->gemm;
    float *weights = u->s->weights;
    const void *zeros = NULL;
    if (g->b_zero.port != SIZE_MAX) zeros = qdq_gemm_numbers(&g->b_zero, u->tensors);
    qdq_direct_pack(c, u->tensors->x[g->weights.port], zeros, of->group, weights);
    memset(u->s->odd, 0, sizeof u->s->odd);
    for (size_t k = 0; k < g->depth; k++)
        for (size_t o = 0; o < of->n; o++)
            u->s->odd[o] |= !isfinite(weights[k * c->group_outputs + of->first + o]);
    of->weights = weights, of->odd = u->s->odd;
}

// Computes outputs of a group. `results`: of their first channel.
static void run_outputs(qdq_direct_unit *u, outputs *of, float *results) {
    const qdq_direct *d = u->d;
    const qdq_conv *c = &d->conv;
    if (d->weights) {
        of->weights = d->weights + of->group * c->gemm.depth * c->group_outputs;
        of->odd = d->odd + of->group * c->group_outputs + of->first;
    } else {
        pack(u, of);
    }
    of->weights += of->first;
    of->stride = u->n[1] * d->plane_width + QDQ_DIRECT_GAP;
    of->least = -1;
    size_t positions = u->results[1] * u->results[LAST], phases[DIMS] = {0};
    for (phases[1] = 0; phases[1] < d->axes[1].out_step; phases[1]++)
        for (phases[LAST] = 0; phases[LAST] < d->axes[LAST].out_step; phases[LAST]++) {
            add(u, of, phases[1], phases[LAST]);
            for (size_t o = 0; o < of->n; o++) finish(u, of, o, phases, results + o * positions);
        }
}

// Sets the fields that all channels of a unit share, for groups of one input and one output.
static void set_channels_part(qdq_direct_unit *u, const outputs *of, qdq_direct_channels *to) {
    const qdq_direct *d = u->d;
    const qdq_gemm *g = &d->conv.gemm;
    size_t rows = u->results[1], n = u->results[LAST];
    qdq_direct_view_planes(u, to);
    to->count = u->channels, to->w_next = g->depth;
    to->part = (qdq_direct_part){
        .x = u->s->planes,
        .weights = of->weights,
        .k = u->s->k,
        .depth = u->depth,
        .w_stride = 1,
        .sums = u->s->sums,
        .stride = of->stride,
        .outputs = 1,
        .n = (u->n[1] - 1) * d->plane_width + u->n[LAST],
    };
    to->fours = g->order.sums == QDQ_SUM_FOURS;
    to->odd = d->leaves_out ? of->odd : NULL;
    to->results = (qdq_direct_results){u->s->sums,
                                       NULL,
                                       NULL,
                                       u->s->results,
                                       d->plane_width,
                                       n,
                                       d->flat ? 1 : rows,
                                       d->flat ? rows * n : n,
                                       1};
    to->y_next = rows * n;
    qdq_direct_view_reals(u, &to->results.scale, &to->scale_next, &to->results.bias);
}

// Runs a unit whose groups have one input and one output.
static void run_channels(qdq_direct_unit *u) {
    const qdq_direct *d = u->d;
    size_t phases[DIMS] = {0}, depth = d->conv.gemm.depth, at = 0;
    outputs of = {.weights = d->weights + u->channel * depth,
                  .odd = d->odd + u->channel,
                  .stride = u->n[1] * d->plane_width + QDQ_DIRECT_GAP};
    qdq_direct_channels channels;
    qdq_scratch_drop(u->tensors->poison, u->s->sums, sizeof u->s->sums);
    list_k(u, 0, 0);
    set_channels_part(u, &of, &channels);
    while ((at = d->kernels->channels(&channels, at)) < u->channels) {
        outputs one = of;
        one.group = u->channel + at, one.n = 1, one.least = -1;
        one.weights += at * depth, one.odd += at;
        mend(u, &one, 0, phases, u->results[1], u->results[LAST]);
        finish(u, &one, 0, phases, u->s->results + at * channels.y_next);
        at++;
    }
}

void qdq_direct_run_channel(qdq_direct_unit *u, size_t channel, float *results) {
    qdq_direct_zero_planes(u);
    run_outputs(u, &(outputs){.group = channel, .n = 1}, results);
}

static void set_band(qdq_direct_unit *u, int dim, size_t band) {
    const qdq_direct_axis *axis = &u->d->axes[dim];
    u->q[dim] = band * axis->band;
    u->n[dim] = axis->count - u->q[dim] < axis->band ? axis->count - u->q[dim] : axis->band;
    u->out[dim] = u->q[dim] * axis->out_step;
    size_t left = u->d->conv.out[dim] - u->out[dim], n = u->n[dim] * axis->out_step;
    u->results[dim] = n < left ? n : left;
}

// The output channels of a unit.
static void set_channels(qdq_direct_unit *u, size_t block) {
    const qdq_direct *d = u->d;
    size_t own = d->conv.group_outputs, all = d->conv.groups * own, end = all;
    u->channel = block * d->unit_channels;
    if (own > d->outputs) {
        size_t blocks = d->channel_blocks / d->conv.groups, group = block / blocks;
        u->channel = group * own + block % blocks * d->outputs;
        end = (group + 1) * own;
    }
    u->channels = end - u->channel < d->unit_channels ? end - u->channel : d->unit_channels;
}

static void run_unit(qdq_direct_unit *u) {
    const qdq_direct *d = u->d;
    size_t positions = u->results[1] * u->results[LAST], own = d->conv.group_outputs;
    qdq_scratch_drop(u->tensors->poison, u->s->results, sizeof u->s->results);
    u->listed[1] = NOWHERE;
    qdq_direct_begin_planes(u);
    bool alone = d->alone && u->slices == 1 && u->s->slices[0].at != NOWHERE;
    if (alone && qdq_direct_run_codes(u)) return;
    if (alone && d->depthwise) {
        qdq_direct_run_depthwise(u);
        return;
    }
    qdq_direct_zero_planes(u);
    if (alone) run_channels(u);
    for (size_t j = alone ? u->channels : 0; j < u->channels;) {
        outputs of = {.group = (u->channel + j) / own, .first = (u->channel + j) % own};
        of.n = own < d->outputs ? own : d->outputs;
        if (of.n > u->channels - j) of.n = u->channels - j;
        run_outputs(u, &of, u->s->results + j * positions);
        j += of.n;
    }
    qdq_direct_put(u);
}

void qdq_direct_run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_direct *d = params;
    const qdq_gemm *g = &d->conv.gemm;
    qdq_direct_scratch s;
    qdq_direct_unit u = {.d = d, .tensors = tensors, .s = &s};
    if (g->a_zero.port != SIZE_MAX)
        u.zero_point =
            qdq_gemm_integer_at(g->a_zero.dtype, qdq_gemm_numbers(&g->a_zero, tensors), 0);
    for (size_t i = begin; i < end; i++) {
        size_t left = i;
        set_band(&u, LAST, left % d->bands[1]), left /= d->bands[1];
        set_band(&u, 1, left % d->bands[0]), left /= d->bands[0];
        u.plane = left % d->conv.out[0], left /= d->conv.out[0];
        set_channels(&u, left % d->channel_blocks);
        u.image = left / d->channel_blocks;
        run_unit(&u);
    }
}
