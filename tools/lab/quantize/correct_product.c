// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/correct_product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/quantize/correct_rounding.h"
#include "tools/options.h"

static const double damping = 0.01;  // of the mean moment of a column

//---- The bias ---------------------------------------------------------------

bool correct_bias(quantization *q, candidate *a, bool alone) {
    const product_rows *p = &a->site.rows;
    if (!a->site.takes_bias || !(alone ? a->sums.count : a->sums.rows)) return true;
    double *bias = malloc((a->site.channels + 1) * sizeof *bias);
    if (!bias) return false;
    site_bias_read(q, &a->site, bias);
    const int8_t *codes = q->list.codings[a->site.coding].codes;
    for (size_t o = 0; o < a->site.channels; o++) {
        double error = a->means[o] - a->sums.results[o] / (double)a->sums.count;
        size_t group = o / p->channels;
        if (!alone) error = 0;
        for (size_t k = 0; !alone && k < p->depth; k++) {
            size_t w = product_weight(p, group, o % p->channels, k);
            double wrong = (double)a->site.real[w] - codes[w] * site_weight_scale(q, &a->site, w);
            error += wrong * a->sums.inputs[group * p->depth + k] / (double)a->sums.rows;
        }
        if (isfinite(error)) bias[o] += error;
    }
    bool written = site_bias_write(q, &a->site, bias);
    free(bias);
    return written;
}

//---- The weights ------------------------------------------------------------

// Copies weights of channels `first` and later between their order and a block.
static void fill_block(const quantization *q, const candidate *a, size_t group, size_t first,
                       double *weights, double *scales) {
    const product_rows *p = &a->site.rows;
    for (size_t k = 0; k < p->depth; k++)
        for (size_t o = 0; o < ROUNDED_CHANNELS; o++) {
            size_t at = k * ROUNDED_CHANNELS + o;
            bool used = first + o < p->channels;
            size_t w = used ? product_weight(p, group, first + o, k) : 0;
            weights[at] = used ? (double)a->site.real[w] : 0;
            scales[at] = used ? site_weight_scale(q, &a->site, w) : 1;
        }
}

// Rounds the weights of a group of channels to `codes`.
static void round_group(const quantization *q, const candidate *a, size_t group, double *memory,
                        int8_t *codes) {
    const product_rows *p = &a->site.rows;
    size_t block_size = p->depth * ROUNDED_CHANNELS;
    rounded_block block = {.weights = memory,
                           .scales = memory + block_size,
                           .errors = memory + 2 * block_size,
                           .codes = (int32_t *)(void *)(memory + 3 * block_size),
                           .least = -127,
                           .greatest = 127};  // within the scales
    const double *factor = a->sums.moments + group * p->depth * p->depth;
    for (size_t first = 0; first < p->channels; first += ROUNDED_CHANNELS) {
        fill_block(q, a, group, first, memory, memory + block_size);
        round_by_moments(factor, p->depth, &block);
        for (size_t k = 0; k < p->depth; k++)
            for (size_t o = 0; o < ROUNDED_CHANNELS && first + o < p->channels; o++)
                codes[product_weight(p, group, first + o, k)] =
                    (int8_t)block.codes[k * ROUNDED_CHANNELS + o];
    }
}

// Computes the codes of a product, which replaces its moments by their factors.
static bool round_weights(quantization *q, candidate *a) {
    const product_rows *p = &a->site.rows;
    double *memory =
        elements_take_numbers(&q->opt->memory->allocator, 4 * p->depth * ROUNDED_CHANNELS);
    int8_t *codes = coding_list_memory(&q->list, a->site.weights, 1);
    const int8_t *before = q->list.codings[a->site.coding].codes;
    if (codes) memcpy(codes, before, a->site.weights);
    for (size_t g = 0; memory && codes && g < p->groups; g++)
        if (moments_factor(a->sums.moments + g * p->depth * p->depth, p->depth, damping))
            round_group(q, a, g, memory, codes);
    a->changed = 0;
    for (size_t i = 0; codes && i < a->site.weights; i++) a->changed += codes[i] != before[i];
    a->rounded = codes;
    elements_free(memory);
    return memory && codes;
}

// Changes the bias so that other codes of the weights keep the mean of the result.
static bool keep_means(quantization *q, candidate *a, const int8_t *before) {
    const product_rows *p = &a->site.rows;
    double *bias = malloc((a->site.channels + 1) * sizeof *bias);
    if (!bias) return false;
    site_bias_read(q, &a->site, bias);
    for (size_t o = 0; o < a->site.channels; o++)
        for (size_t k = 0; k < p->depth; k++) {
            size_t group = o / p->channels, w = product_weight(p, group, o % p->channels, k);
            double scale = site_weight_scale(q, &a->site, w) / (double)a->sums.rows;
            bias[o] += (before[w] - a->rounded[w]) * scale * a->sums.inputs[group * p->depth + k];
        }
    bool written = site_bias_write(q, &a->site, bias);
    free(bias);
    return written;
}

bool correct_rounding(quantization *q, candidate *a) {
    qdq_coding *coding = &q->list.codings[a->site.coding];
    const int8_t *before = coding->codes;
    if (!a->sums.moments || !a->sums.rows) return true;
    if (!a->rounded && !round_weights(q, a)) return false;
    coding->codes = a->rounded;
    return a->biased ? keep_means(q, a, before) : true;
}
