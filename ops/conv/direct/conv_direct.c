// SPDX-License-Identifier: Apache-2.0
// Lays out direct convolutions: phases of dims, sizes of units, constant weights.
#include "ops/conv/direct/conv_direct.h"

#include <math.h>

#include "ops/gemm/gemm_read.h"
#include "runtime/numerics/dtype.h"

enum { DIMS = QDQ_MAX_SPATIAL, LAST = DIMS - 1 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t parts(size_t n, size_t of) { return (n + of - 1) / of; }

//---- Phases -----------------------------------------------------------------

static void set_shifts(const qdq_conv *c, int d, qdq_direct_axis *axis) {
    ptrdiff_t stride = (ptrdiff_t)c->stride[d];
    axis->low = PTRDIFF_MAX, axis->high = PTRDIFF_MIN;
    for (size_t t = 0; t < c->kernel[d]; t++) {
        ptrdiff_t at = (ptrdiff_t)(t * c->dilation[d]) - (ptrdiff_t)c->pad[d];
        ptrdiff_t phase = (at % stride + stride) % stride, shift = (at - phase) / stride;
        qdq_direct_tap *tap = &axis->taps[t];
        *tap = c->transposed ? (qdq_direct_tap){(size_t)phase, 0, 0, -shift}
                             : (qdq_direct_tap){0, (size_t)phase, 0, shift};
        if (tap->shift < axis->low) axis->low = tap->shift;
        if (tap->shift > axis->high) axis->high = tap->shift;
    }
}

static bool set_axis(const qdq_conv *c, int d, qdq_mempool *mempool, qdq_direct_axis *axis) {
    size_t *in_phases = qdq_mempool_array(mempool, c->kernel[d], sizeof *in_phases);
    axis->taps = qdq_mempool_array(mempool, c->kernel[d], sizeof *axis->taps);
    if (!in_phases || !axis->taps) return false;
    set_shifts(c, d, axis);
    axis->in_step = c->transposed ? 1 : c->stride[d];
    axis->out_step = c->transposed ? c->stride[d] : 1;
    for (size_t t = 0; t < c->kernel[d]; t++) {
        qdq_direct_tap *tap = &axis->taps[t];
        while (tap->slot < axis->slots && in_phases[tap->slot] != tap->in_phase) tap->slot++;
        if (tap->slot == axis->slots) in_phases[axis->slots++] = tap->in_phase;
    }
    axis->in_phases = in_phases;
    axis->reach = (size_t)(axis->high - axis->low);
    axis->count = parts(c->out[d], axis->out_step);
    return true;
}

//---- Sizes ------------------------------------------------------------------

// Floats of the planes of an input channel, and results of an output channel.
static size_t channel_planes(const qdq_direct *d) {
    return d->slices * d->axes[1].slots * d->axes[LAST].slots * d->plane;
}

static size_t results(const qdq_direct *d) {
    const size_t *out = d->conv.out;
    return least(d->axes[1].band * d->axes[1].out_step, out[1]) *
           least(d->axes[LAST].band * d->axes[LAST].out_step, out[LAST]);
}

static size_t up(size_t n) { return parts(n, QDQ_DIRECT_FLAT_ROOM) * QDQ_DIRECT_FLAT_ROOM; }

// True if a unit has room for bands of this size.
static bool bands_fit(qdq_direct *d, size_t rows, size_t columns) {
    d->axes[1].band = rows, d->axes[LAST].band = columns;
    d->plane_width = d->flat ? columns : columns + d->axes[LAST].reach;
    d->plane = (rows + d->axes[1].reach) * d->plane_width;
    if (d->flat) d->plane = up(d->start + d->plane + d->axes[LAST].reach) + QDQ_DIRECT_FLAT_ROOM;
    return d->plane_width <= QDQ_DIRECT_PLANES && d->plane <= QDQ_DIRECT_PLANES &&
           d->inputs_wanted * channel_planes(d) <= QDQ_DIRECT_PLANES &&
           d->outputs * (rows * d->plane_width + QDQ_DIRECT_GAP) <= QDQ_DIRECT_SUMS &&
           d->outputs * results(d) <= QDQ_DIRECT_RESULTS;
}

// Chooses flat planes if the shape allows them.
static void set_flat(qdq_direct *d) {
    const qdq_conv *c = &d->conv;
    qdq_direct_axis *columns = &d->axes[LAST];
    if (c->stride[1] != 1 || c->stride[LAST] != 1 || c->out[LAST] != c->in[LAST]) return;
    if (c->in[LAST] > QDQ_DIRECT_FLAT_WIDTH || c->kernel[LAST] > QDQ_DIRECT_SLOTS) return;
    if (c->x_stride[LAST] != 1 || c->x_stride[1] != c->in[LAST]) return;
    if (columns->low > 0 || columns->high < 0) return;
    size_t padding = (size_t)-columns->low;
    if (d->axes[1].low < 0) padding += (size_t)-d->axes[1].low * c->in[LAST];
    columns->slots = c->kernel[LAST];
    d->flat = true, d->start = up(padding) - padding;
    d->flat = bands_fit(d, 1, columns->count);
    if (!d->flat) columns->slots = 1, d->start = 0;
    for (size_t t = 0; d->flat && t < c->kernel[LAST]; t++) columns->taps[t].slot = t;
}

// The elements of rows that the taps of flat planes read.
static bool set_masks(qdq_direct *d, qdq_mempool *mempool) {
    const qdq_direct_axis *columns = &d->axes[LAST];
    ptrdiff_t width = (ptrdiff_t)columns->count;
    if (!d->flat) return true;
    uint32_t *masks = qdq_mempool_array(mempool, columns->slots * d->plane, sizeof *masks);
    for (size_t i = 0; masks && i < columns->slots * d->plane; i++) {
        ptrdiff_t to = (ptrdiff_t)(i % d->plane) % width - columns->taps[i / d->plane].shift;
        masks[i] = to >= 0 && to < width ? UINT32_MAX : 0;
    }
    d->masks = masks;
    return masks != NULL;
}

// Sets bands of as many rows as fit, or of parts of a row. False if neither fits.
static bool set_bands(qdq_direct *d) {
    size_t rows = d->axes[1].count, columns = d->axes[LAST].count, bands = 1;
    while (rows > 1 && !bands_fit(d, rows, columns)) rows = parts(d->axes[1].count, ++bands);
    for (bands = 1; columns > 1 && !bands_fit(d, rows, columns);)
        columns = parts(d->axes[LAST].count, ++bands);
    if (!bands_fit(d, rows, columns)) return false;
    d->bands[0] = parts(d->axes[1].count, rows);
    d->bands[1] = parts(d->axes[LAST].count, columns);
    return true;
}

// Units of output channels: parts of a group, or groups together.
static void set_channels(qdq_direct *d) {
    const qdq_conv *c = &d->conv;
    size_t own = c->group_outputs;
    d->unit_channels = d->outputs;
    if (own <= d->outputs) {
        size_t groups = least(QDQ_DIRECT_CHANNELS / own, QDQ_DIRECT_RESULTS / (own * results(d)));
        d->unit_channels = own * least(groups ? groups : 1, c->groups);
        d->channel_blocks = parts(c->groups * own, d->unit_channels);
    } else {
        d->channel_blocks = c->groups * parts(own, d->outputs);
    }
}

// Phases of y read the same planes: lowers the bands until the planes of all inputs stay for all
// phases, if whole rows fit.
static void want_inputs(qdq_direct *d) {
    bool phases = d->axes[1].out_step > 1 || d->axes[LAST].out_step > 1;
    if (phases) d->inputs_wanted = d->conv.group_inputs;
    if (!bands_fit(d, 1, d->axes[LAST].count)) d->inputs_wanted = 1;
}

static bool set_sizes(qdq_direct *d) {
    const qdq_conv *c = &d->conv;
    d->outputs = least(c->group_outputs, QDQ_DIRECT_OUTPUTS);
    d->slices = c->kernel[0];
    d->inputs_wanted = 1;
    set_flat(d);
    want_inputs(d);
    if (d->axes[1].slots * d->axes[LAST].slots > QDQ_DIRECT_SLOTS) return false;
    if (c->taps > QDQ_DIRECT_K || !set_bands(d)) return false;
    set_channels(d);
    d->inputs = least(QDQ_DIRECT_PLANES / channel_planes(d), QDQ_DIRECT_K / c->taps);
    // Parts of sums in fours end at a multiple of four k.
    if (d->inputs >= 4 && d->inputs < c->group_inputs) d->inputs -= d->inputs % 4;
    d->inputs = least(d->inputs, c->group_inputs);
    return c->gemm.order.sums != QDQ_SUM_FOURS || d->inputs % 4 == 0 ||
           d->inputs == c->group_inputs;
}

//---- Weights ----------------------------------------------------------------

void qdq_direct_pack(const qdq_conv *c, const void *data, const void *zeros, size_t group,
                     float *out) {
    const qdq_gemm *g = &c->gemm;
    qdq_gemm_source from = {data, zeros, group, group * g->weights.zero_stride, 0, NULL};
    size_t outputs = c->group_outputs;
    for (size_t o = 0; o < outputs; o++)
        for (size_t k = 0, n; k < g->depth; k += n) {
            union {
                float floats[QDQ_GEMM_DEPTH];
                int16_t integers[QDQ_GEMM_DEPTH];
            } column;
            n = least(g->depth - k, QDQ_GEMM_DEPTH);
            qdq_gemm_column(g, &from, o, k, n, &column);
            for (size_t i = 0; i < n; i++)
                out[(k + i) * outputs + o] =
                    g->kind == QDQ_GEMM_INTEGERS ? (float)column.integers[i] : column.floats[i];
        }
}

static bool pack_all(qdq_direct *d, const qdq_gemm_known *known, qdq_mempool *mempool) {
    const qdq_conv *c = &d->conv;
    size_t matrix = c->gemm.depth * c->group_outputs, count = c->groups * matrix;
    float *packed = qdq_mempool_array(mempool, count, sizeof *packed);
    qdq_gemm_reader w = qdq_gemm_reader_of(known, qdq_dtype_size(c->gemm.weights.dtype), mempool);
    bool done = packed && qdq_gemm_reader_read_all(&w, count);
    for (size_t group = 0; done && group < c->groups; group++)
        qdq_direct_pack(c, w.data, known->zeros, group, packed + group * matrix);
    qdq_gemm_reader_close(&w);
    d->weights = packed;
    return done;
}

// Finds the output channels with weights that are infinite or NaNs.
static bool set_odd(qdq_direct *d, qdq_mempool *mempool) {
    const qdq_conv *c = &d->conv;
    size_t outputs = c->group_outputs, matrix = c->gemm.depth * outputs;
    bool *odd = qdq_mempool_array(mempool, c->groups * outputs, sizeof *odd);
    if (!odd) return false;
    for (size_t i = 0; i < c->groups * matrix; i++)
        odd[i / matrix * outputs + i % outputs] |= !isfinite(d->weights[i]);
    d->odd = odd;
    return true;
}

//---- Stages -----------------------------------------------------------------

// Floats hold all whole numbers up to EXACT. A code minus its zero point is at most REACH in size.
enum { EXACT = 1 << 24, REACH = 255, PHASES = 16 };  // the last phase: it and all others

// True if float sums of codes can be exact: for all codes or, if weights are constant, for some
// weights.
static bool sums_may_be_exact(const qdq_gemm *g, bool constant) {
    return g->depth < EXACT / REACH / (constant ? 1 : REACH);
}

// Returns the number of the phase of y that a tap belongs to. Taps of two phases meet in no sum.
static size_t phase_of(const qdq_direct *d, size_t tap) {
    size_t phase = 0, taps = d->conv.taps;
    for (int i = 0; i < DIMS; i++) {
        taps /= d->conv.kernel[i];
        phase = phase * d->axes[i].out_step + d->axes[i].taps[tap / taps].out_phase;
        tap %= taps;
    }
    return phase;
}

// Adds the magnitudes of the weights of n outputs for each phase. True if no sum of codes can
// exceed EXACT.
static bool outputs_are_exact(const qdq_direct *d, const float *weights, size_t n) {
    const qdq_conv *c = &d->conv;
    float sums[PHASES][QDQ_DIRECT_OUTPUTS] = {0};
    for (size_t tap = 0; tap < c->taps; tap++) {
        size_t phase = phase_of(d, tap);
        float *to = sums[phase < PHASES ? phase : PHASES - 1];
        for (size_t i = 0; i < c->group_inputs; i++)
            for (size_t o = 0; o < n; o++)
                to[o] += fabsf(weights[(i * c->taps + tap) * c->group_outputs + o]);
    }
    for (size_t i = 0; i < PHASES * QDQ_DIRECT_OUTPUTS; i++)
        if (sums[i / QDQ_DIRECT_OUTPUTS][i % QDQ_DIRECT_OUTPUTS] * REACH >= EXACT) return false;
    return true;
}

// True if float sums of codes are exact with the constant weights.
static bool sums_are_exact(const qdq_direct *d) {
    const qdq_conv *c = &d->conv;
    size_t outputs = c->group_outputs, matrix = c->gemm.depth * outputs;
    if (c->gemm.kind != QDQ_GEMM_INTEGERS || sums_may_be_exact(&c->gemm, false)) return true;
    for (size_t group = 0; group < c->groups; group++)
        for (size_t o = 0; o < outputs; o += QDQ_DIRECT_OUTPUTS)
            if (!outputs_are_exact(d, d->weights + group * matrix + o,
                                   least(outputs - o, QDQ_DIRECT_OUTPUTS)))
                return false;
    return true;
}

static bool order_fits(const qdq_gemm *g) {
    if (g->order.block || g->order.bias_first) return false;
    if (g->order.sums == QDQ_SUM_CHUNKS) return g->depth <= g->order.chunk;
    if (g->order.sums == QDQ_SUM_FOURS) return g->columns == 1;
    return g->order.sums == QDQ_SUM_CHAIN;
}

// True if direct convolution can compute a convolution and is the better form.
static bool suits(const qdq_conv *c, bool constant) {
    const qdq_gemm *g = &c->gemm;
    bool codes = g->kind == QDQ_GEMM_INTEGERS;
    size_t few = !codes          ? QDQ_CONV_LANES_OUTPUTS
                 : c->transposed ? QDQ_DIRECT_TRANSPOSED_OUTPUTS
                                 : QDQ_DIRECT_CODES_OUTPUTS;
    bool limited = !c->transposed || codes;
    if (!g->depth || (limited && c->group_outputs >= few)) return false;
    if (!c->transposed && (c->groups == 1 || c->x_stride[LAST] != 1)) return false;
    if (!constant && g->depth * c->group_outputs > QDQ_DIRECT_WEIGHTS) return false;
    if (!order_fits(g)) return false;
    return codes ? sums_may_be_exact(g, constant) : g->a_dtype == QDQ_FLOAT32;
}

static bool set_weights(qdq_direct *d, const qdq_op_context *ctx, const qdq_lowering *to,
                        const qdq_gemm_known *known, size_t *bytes) {
    qdq_gemm *g = &d->conv.gemm;
    *bytes = 0;
    d->weights = qdq_gemm_find_packed(g, ctx, to, known, QDQ_PACKED_DIRECT);
    if (!d->weights) {
        *bytes = d->conv.groups * g->depth * g->columns * sizeof *d->weights;
        if (!pack_all(d, known, to->mempool) ||
            !qdq_gemm_add_packed(g, ctx, to, known, QDQ_PACKED_DIRECT, d->weights))
            return false;
    }
    return set_odd(d, to->mempool);
}

static bool lay_out(qdq_direct *d, const qdq_conv *c, const qdq_lowering *to) {
    d->conv = *c;
    for (int i = 0; i < DIMS; i++)
        if (!set_axis(c, i, to->mempool, &d->axes[i])) return false;
    const qdq_gemm *g = &c->gemm;
    d->transposed_gemm = qdq_gemm_transposed(g);
    d->kernels = qdq_direct_find(to->isas);
    d->leaves_out = g->kind == QDQ_GEMM_FLOATS && g->order.sums == QDQ_SUM_CHAIN;
    d->of_reals = g->epilogue == qdq_gemm_epilogue_float || g->epilogue == qdq_gemm_epilogue_scaled;
    d->keeps_all = g->order.sums != QDQ_SUM_CHAIN;
    return true;
}

// Finds kernels that need no planes of floats. False: no memory.
static bool set_depthwise(qdq_direct *d, const qdq_lowering *to, size_t *bytes) {
    const qdq_conv *c = &d->conv;
    bool square = c->kernel[1] == c->kernel[LAST] && c->stride[1] == c->stride[LAST];
    bool codes = c->gemm.kind == QDQ_GEMM_INTEGERS;
    size_t rows = (d->axes[1].band - 1) * c->stride[1] + c->kernel[1];
    if (!d->alone || !square || c->kernel[0] != 1 || c->dilation[1] != 1 || c->dilation[LAST] != 1)
        return true;
    if (codes && qdq_depthwise_codes_has(to->isas, c->kernel[1], c->stride[1]) &&
        !qdq_direct_pack_codes(d, to->mempool, bytes))
        return false;
    if (codes && rows * c->in[LAST] > QDQ_DIRECT_PLANES) return true;
    d->depthwise = qdq_depthwise_find(to->isas, c->kernel[1], c->stride[1], d->axes[LAST].band);
    return true;
}

bool qdq_conv_direct_stage(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                           qdq_stage *stage, bool *done) {
    const qdq_gemm *g = &c->gemm;
    qdq_gemm_known known;
    *done = false;
    if (ctx->inputs[g->weights.port].weight_codes) return true;
    bool constant = qdq_gemm_constant_weights(g, ctx, &known);
    if (!suits(c, constant)) return true;
    qdq_direct *d = QDQ_MEMPOOL_NEW(to->mempool, qdq_direct);
    size_t packed_bytes = 0;
    if (!d || !lay_out(d, c, to)) return false;
    if (!set_sizes(d)) return true;
    if (!set_masks(d, to->mempool)) return false;
    if (constant && !set_weights(d, ctx, to, &known, &packed_bytes)) return false;
    if (constant && !sums_are_exact(d)) return true;
    d->alone = constant && c->group_inputs == 1 && c->group_outputs == 1 && !c->transposed;
    if (!set_depthwise(d, to, &packed_bytes)) return false;
    *done = true;
    *stage = (qdq_stage){.params = d,
                         .tensor_op = qdq_direct_run,
                         .quantize = qdq_gemm_offer_quantize(&d->conv.gemm, to->mempool),
                         .chunks = true,
                         .units = g->batches.dims[0] * c->out[0] * d->channel_blocks * d->bands[0] *
                                  d->bands[1],
                         .cost = g->batch * g->rows * g->columns * g->depth,
                         .packed = (uint64_t)constant << g->weights.port,
                         .packed_bytes = packed_bytes};
    return true;
}
