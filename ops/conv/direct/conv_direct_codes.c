// SPDX-License-Identifier: Apache-2.0
// Runs units of depthwise convolutions whose results are codes without a float in memory
// (ops/kernels/direct/depthwise_codes.h).
#include "ops/conv/direct/conv_direct_unit.h"
#include "runtime/numerics/dtype.h"

enum { LAST = QDQ_MAX_SPATIAL - 1, WORD = QDQ_DEPTHWISE_WORD };

// Packs the weights of a channel. False: a weight is no int8.
static bool pack_channel(const float *weights, size_t size, int32_t *out) {
    int32_t sum = 0;
    size_t words = qdq_depthwise_words(size);
    for (size_t row = 0; row < size; row++)
        for (size_t word = 0; word < words; word++) {
            int8_t taps[WORD] = {0};
            for (size_t t = word * WORD, i = 0; t < size && i < WORD; t++, i++) {
                float w = weights[row * size + t];
                if (!(w >= INT8_MIN && w <= INT8_MAX)) return false;
                taps[i] = (int8_t)w, sum += taps[i];
            }
            memcpy(&out[row * words + word], taps, sizeof taps);
        }
    out[size * words] = -sum;
    return true;
}

// Sets the bytes that the windows of a vector read from columns of x, for a word of a window.
static uint64_t mask_of(const qdq_depthwise_windows *w, size_t first, size_t word) {
    uint64_t mask = 0;
    for (size_t i = 0; i < QDQ_DEPTHWISE_LANES * WORD; i++) {
        size_t column = w->flat ? (first + i / WORD) % w->columns : first + i / WORD;
        size_t x = column * w->stride + word * WORD + i % WORD;
        if (x >= w->lead && x < w->lead + w->x_columns) mask |= (uint64_t)1 << i;
    }
    return mask;
}

static bool set_windows(qdq_direct *d, qdq_mempool *mempool, qdq_depthwise_windows *w) {
    enum { GROUP = QDQ_DEPTHWISE_GROUP, VECTORS = GROUP / QDQ_DEPTHWISE_LANES };
    const qdq_conv *c = &d->conv;
    *w = (qdq_depthwise_windows){.size = c->kernel[1],
                                 .stride = c->stride[1],
                                 .x_rows = c->in[1],
                                 .x_columns = c->in[LAST],
                                 .columns = c->out[LAST],
                                 .lead = c->pad[LAST]};
    w->flat = w->stride == 1 && w->columns == w->x_columns && w->lead < w->size;
    size_t n = w->flat ? w->columns * d->axes[1].band : w->columns, at = 0;
    size_t groups = (n + GROUP - 1) / GROUP, words = qdq_depthwise_words(w->size);
    uint64_t *masks = qdq_mempool_array(mempool, groups * words * VECTORS, sizeof *masks);
    if (!masks) return false;
    w->lanes = n <= GROUP / 4 ? GROUP / 4 : n <= GROUP / 2 ? GROUP / 2 : GROUP;
    for (size_t group = 0; group < groups; group++)
        for (size_t word = 0; word < words; word++)
            for (size_t i = 0; i < VECTORS; i++)
                masks[at++] = mask_of(w, group * GROUP + i * QDQ_DEPTHWISE_LANES % w->lanes, word);
    w->masks = masks;
    return true;
}

bool qdq_direct_pack_codes(qdq_direct *d, qdq_mempool *mempool, size_t *bytes) {
    const qdq_conv *c = &d->conv;
    size_t size = c->kernel[1], words = qdq_depthwise_weights(size);
    if (d->bands[1] > 1) return true;
    int32_t *packed = qdq_mempool_array(mempool, c->groups * words, sizeof *packed);
    if (!packed || !set_windows(d, mempool, &d->windows)) return false;
    for (size_t i = 0; i < c->groups; i++)
        if (!pack_channel(d->weights + i * size * size, size, packed + i * words)) return true;
    *bytes += c->groups * words * sizeof *packed;
    d->code_weights = packed;
    return true;
}

bool qdq_direct_run_codes(qdq_direct_unit *u) {
    const qdq_direct *d = u->d;
    const qdq_conv *c = &d->conv;
    const qdq_gemm *g = &c->gemm;
    if (!d->code_weights || u->tensors->sink || !qdq_gemm_quantizes(g) || g->y.row_stride != 1)
        return false;
    qdq_depthwise_codes_fn *fn = qdq_depthwise_codes_find(g->quantize->fn);
    if (!fn) return false;
    uint8_t flip = g->a_dtype == QDQ_INT8 ? 0x80 : 0;
    size_t x = u->image * g->batches.a[0] + u->channel * g->batches.a[1];
    qdq_depthwise_codes of = {
        .windows = &d->windows,
        .count = u->channels,
        .x = (const uint8_t *)u->tensors->x[g->a_port] + x + u->s->slices[0].at * c->x_stride[0],
        .x_next = g->batches.a[1],
        .x_stride = c->x_stride[1],
        .top = (ptrdiff_t)(u->q[1] * c->stride[1]) - (ptrdiff_t)c->pad[1],
        .flip = flip,
        .padding = (uint8_t)((uint8_t)u->zero_point ^ flip),
        .weights = d->code_weights + u->channel * qdq_depthwise_weights(c->kernel[1]),
        .y = (uint8_t *)u->tensors->y[0] + qdq_direct_place_in_y(u),
        .y_next = g->y.column_stride,
        .rows = u->results[1],
        .quantize = g->quantize->fn,
        .params = g->quantize->params,
        .views = g->quantize->views,
        .room = (uint8_t *)u->s->planes,
    };
    qdq_direct_view_reals(u, &of.scale, &of.scale_next, &of.bias);
    return of.scale && fn(&of);
}
