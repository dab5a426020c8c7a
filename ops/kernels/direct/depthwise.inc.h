// SPDX-License-Identifier: Apache-2.0
// The kernels of depthwise.h. direct.inc.h includes this file.
#ifndef QDQ_OPS_KERNELS_DIRECT_DEPTHWISE_INC_H
#define QDQ_OPS_KERNELS_DIRECT_DEPTHWISE_INC_H

#include "ops/kernels/direct/depthwise.h"
#include "ops/kernels/direct/direct_fill.inc.h"
#include "ops/kernels/direct/direct_vectors.inc.h"

#if defined(__AVX2__)
#define DEPTHWISE_INLINE static inline __attribute__((always_inline))

// Constants of a kernel, for which the compiler unrolls all loops over them.
typedef struct depthwise_form {
    size_t size, stride;
    bool fours;
    size_t vectors;  // strips next to each other
    bool masked;     // windows reach beyond the border, or may
    bool narrow;     // rows of y are narrower than a vector
} depthwise_form;

enum {
    DEPTHWISE_MOST = 5,  // size of a window
    DEPTHWISE_VECTORS = 2,
    // Strips that fit into registers. A narrow form has one.
    DEPTHWISE_WIDE = DIRECT_LANES == 16 ? 2 : 1,
    DEPTHWISE_PLANE = 4096,                              // floats of rows of codes that stay in L1
    DEPTHWISE_READ = 2 * DIRECT_LANES + DEPTHWISE_MOST,  // most elements of a row in hand
};

//---- Rows of x --------------------------------------------------------------

// The elements under the windows of a strip, for each tap of a row. With a stride of 2 two vectors
// have the elements of two taps.
typedef struct depthwise_strip {
    ptrdiff_t column;  // of x, under the first tap
    direct_mask masks[2 * DEPTHWISE_MOST];
} depthwise_strip;

DEPTHWISE_INLINE void depthwise_set_strip(depthwise_form form, const qdq_depthwise *p,
                                          size_t column, depthwise_strip *strip) {
    strip->column = p->left + (ptrdiff_t)(column * form.stride);
    for (size_t t = 0; form.masked && t < form.size; t += form.stride)
        for (size_t half = 0; half < form.stride; half++) {
            ptrdiff_t first = strip->column + (ptrdiff_t)(t + half * DIRECT_LANES);
            strip->masks[t + half] = direct_lanes_of(-first, (ptrdiff_t)p->x_columns - first);
        }
}

DEPTHWISE_INLINE direct_floats depthwise_load(depthwise_form form, const float *x,
                                              const direct_mask *mask) {
    return form.masked ? direct_load_some(x, *mask) : direct_load(x);
}

// Loads a row of strip v. x: its element under the first tap. With a stride of 2 lanes get their
// order when sums are complete.
DEPTHWISE_INLINE void depthwise_load_row(depthwise_form form, const depthwise_strip *strip,
                                         const float *x, size_t v,
                                         direct_floats (*taps)[DEPTHWISE_VECTORS]) {
    DIRECT_UNROLLED for (size_t t = 0; t < form.size; t += form.stride) {
        direct_floats low = depthwise_load(form, x + t, &strip->masks[t]);
        taps[t][v] = low;
        if (form.stride == 1) continue;
        direct_floats high = depthwise_load(form, x + t + DIRECT_LANES, &strip->masks[t + 1]);
        taps[t][v] = direct_even_mixed(low, high);
        if (t + 1 < form.size) taps[t + 1][v] = direct_odd_mixed(low, high);
    }
}

//---- Sums -------------------------------------------------------------------

typedef struct depthwise_sum {
    direct_floats all, group;  // group: of up to four products, in order of fours
} depthwise_sum;

// Adds row `row` of a window.
DEPTHWISE_INLINE void depthwise_add(depthwise_form form, depthwise_sum *sums,
                                    direct_floats (*taps)[DEPTHWISE_VECTORS],
                                    const direct_floats *weights, size_t row) {
    size_t depth = form.size * form.size;
    DIRECT_UNROLLED for (size_t t = 0; t < form.size; t++) {
        size_t k = row * form.size + t;
        DIRECT_UNROLLED for (size_t v = 0; v < form.vectors; v++) {
            depthwise_sum *sum = &sums[v];
            if (k == 0) sum->all = direct_zero();
            if (!form.fours) {
                sum->all = direct_madd(sum->all, taps[t][v], weights[k]);
                continue;
            }
            direct_floats product = direct_mul(taps[t][v], weights[k]);
            sum->group = k % 4 ? direct_add(sum->group, product) : product;
            if (k % 4 == 3 || k + 1 == depth) sum->all = direct_add(sum->all, sum->group);
        }
    }
}

// The scale and the bias of a channel. A bias of -0 changes nothing.
typedef struct depthwise_reals {
    bool scaled;
    direct_floats scale, bias;
} depthwise_reals;

DEPTHWISE_INLINE depthwise_reals depthwise_reals_of(const qdq_depthwise *p, size_t channel) {
    static const float none = -0.0f;
    const float *scale = p->scale ? p->scale + channel * p->scale_next : &none;
    const float *bias = p->bias ? p->bias + channel : &none;
    return (depthwise_reals){p->scale != NULL, direct_all(scale), direct_all(bias)};
}

DEPTHWISE_INLINE direct_floats depthwise_finish(const depthwise_reals *reals, direct_floats sum) {
    if (reals->scaled) sum = direct_add(direct_mul(sum, reals->scale), direct_zero());
    return direct_quiet(direct_add(sum, reals->bias));
}

//---- Strips -----------------------------------------------------------------

// Strips of all rows of a channel, at `columns` of y. Windows that begin with the row of x in hand
// have age 0, windows that began `stride` rows before it age 1. x: the first row of the image.
// Returns nonzero if a sum is 0 and that matters.
DEPTHWISE_INLINE unsigned depthwise_walk(depthwise_form form, const qdq_depthwise *p,
                                         size_t channel, const float *x,
                                         const depthwise_strip *strips, const size_t *columns) {
    enum { SIZE = DEPTHWISE_MOST, VECTORS = DEPTHWISE_VECTORS };
    static const float border[DEPTHWISE_READ] = {0};
    size_t oldest = (form.size - 1) / form.stride, depth = form.size * form.size;
    depthwise_reals reals = depthwise_reals_of(p, channel);
    const float *w = p->weights + channel * depth;
    float *y = p->y + channel * p->y_next;
    direct_floats weights[SIZE * SIZE];
    depthwise_sum sums[SIZE][VECTORS] = {{{direct_zero(), direct_zero()}}};
    // Stores to y may alias the struct, so fields are read before the loop.
    size_t stride = p->dtype == QDQ_FLOAT32 ? p->x_stride : p->x_columns;
    size_t rows = p->rows, x_rows = p->x_rows, y_stride = p->y_stride, n = p->columns;
    bool odd = p->odd != NULL;
    ptrdiff_t row = p->top;
    unsigned zeros = 0;
    DIRECT_UNROLLED for (size_t k = 0; k < depth; k++) weights[k] = direct_all(w + k);
    for (size_t i = 0; i < rows + oldest; i++) {
        DIRECT_UNROLLED for (size_t phase = 0; phase < form.stride; phase++, row++) {
            direct_floats taps[SIZE][VECTORS];
            const float *from = x + row * (ptrdiff_t)stride;
            bool inside = (size_t)row < x_rows;
            DIRECT_UNROLLED for (size_t v = 0; v < form.vectors; v++) depthwise_load_row(
                form, &strips[v], inside ? from + strips[v].column : border, v, taps);
            DIRECT_UNROLLED for (size_t a = 0; a <= oldest; a++) {
                size_t of = a * form.stride + phase;
                if (of < form.size) depthwise_add(form, sums[a], taps, weights, of);
            }
        }
        DIRECT_UNROLLED for (size_t v = 0; v < form.vectors; v++) {
            if (i < oldest) continue;
            direct_floats sum = sums[oldest][v].all;
            if (form.stride > 1) sum = direct_in_order(sum);
            if (!form.fours && odd) zeros |= direct_zeros(sum);
            sum = depthwise_finish(&reals, sum);
            if (form.narrow)
                direct_store_some(y, sum, n);
            else
                direct_store(y + columns[v], sum);
        }
        y += i >= oldest ? y_stride : 0;
        DIRECT_UNROLLED for (size_t a = oldest; a > 0; a--)
            DIRECT_UNROLLED for (size_t v = 0; v < form.vectors; v++) sums[a][v] = sums[a - 1][v];
    }
    return form.narrow ? zeros & ((1u << n) - 1) : zeros;
}

// True if the windows of the strip at a column lie inside the image, with all elements that their
// loads read.
DEPTHWISE_INLINE bool depthwise_is_inside(depthwise_form form, const qdq_depthwise *p,
                                          size_t column) {
    ptrdiff_t first = p->left + (ptrdiff_t)(column * form.stride);
    size_t reach = form.size + form.stride * DIRECT_LANES - 1;
    return first >= 0 && first + (ptrdiff_t)reach <= (ptrdiff_t)p->x_columns;
}

// Computes all strips of a channel. The last strip ends with the row, and computes its overlap with
// the strip before again.
DEPTHWISE_INLINE unsigned depthwise_wide(depthwise_form form, const qdq_depthwise *p,
                                         size_t channel, const float *x) {
    size_t last = p->columns - DIRECT_LANES;
    unsigned zeros = 0;
    depthwise_form one = form, inside = form;
    one.vectors = 1, one.masked = form.masked = true, inside.masked = false;
    for (size_t at = 0; at < p->columns; at += form.vectors * DIRECT_LANES) {
        size_t columns[DEPTHWISE_VECTORS];
        depthwise_strip strips[DEPTHWISE_VECTORS];
        bool masked = false;
        for (size_t v = 0; v < form.vectors; v++) {
            size_t column = at + v * DIRECT_LANES;
            columns[v] = column < last ? column : last;
            masked |= !depthwise_is_inside(form, p, columns[v]);
            depthwise_set_strip(form, p, columns[v], &strips[v]);
        }
        zeros |= form.vectors > 1 && at >= last
                     ? depthwise_walk(one, p, channel, x, strips, columns)
                 : masked ? depthwise_walk(form, p, channel, x, strips, columns)
                          : depthwise_walk(inside, p, channel, x, strips, columns);
    }
    return zeros;
}

//---- Channels ---------------------------------------------------------------

// Returns the image of a channel: its first row, which codes have in front of the plane if it is
// not under the windows.
DEPTHWISE_INLINE const float *depthwise_image(depthwise_form form, const qdq_depthwise *p,
                                              size_t channel) {
    if (p->dtype == QDQ_FLOAT32) return (const float *)p->x + channel * p->x_next;
    ptrdiff_t begin = p->top > 0 ? p->top : 0;
    ptrdiff_t end = p->top + (ptrdiff_t)((p->rows - 1) * form.stride + form.size);
    if (end > (ptrdiff_t)p->x_rows) end = (ptrdiff_t)p->x_rows;
    qdq_direct_rows rows = {.dtype = p->dtype,
                            .zero_point = p->zero_point,
                            .row_stride = p->x_stride,
                            .step = 1,
                            .rows = end > begin ? (size_t)(end - begin) : 0,
                            .n = p->x_columns,
                            .plane = p->plane,
                            .plane_stride = p->x_columns};
    if (rows.row_stride == rows.n && rows.rows) rows.n *= rows.rows, rows.rows = 1;
    direct_fill_from(&rows, (const char *)p->x + channel * p->x_next + (size_t)begin * p->x_stride);
    return p->plane - begin * (ptrdiff_t)p->x_columns;
}

// Computes a channel, in parts whose rows of codes stay in L1.
DEPTHWISE_INLINE unsigned depthwise_parts(depthwise_form form, const qdq_depthwise *p,
                                          size_t channel) {
    enum { LEAST = 8 };
    qdq_depthwise part = *p;
    size_t most = DEPTHWISE_PLANE / p->x_columns / form.stride;
    unsigned zeros = 0;
    if (most < LEAST) most = LEAST;
    if (p->dtype == QDQ_FLOAT32) most = p->rows;
    for (size_t row = 0; row < p->rows; row += most) {
        part.top = p->top + (ptrdiff_t)(row * form.stride);
        part.y = p->y + row * p->y_stride;
        part.rows = p->rows - row < most ? p->rows - row : most;
        zeros |= depthwise_wide(form, &part, channel, depthwise_image(form, &part, channel));
    }
    return zeros;
}

DEPTHWISE_INLINE size_t depthwise_channels(depthwise_form form, const qdq_depthwise *p,
                                           size_t first) {
    size_t column = 0;
    depthwise_strip strip;
    depthwise_set_strip(form, p, column, &strip);
    for (size_t at = first; at < p->count; at++) {
        unsigned zeros =
            form.narrow ? depthwise_walk(form, p, at, depthwise_image(form, p, at), &strip, &column)
                        : depthwise_parts(form, p, at);
        if (p->odd && (zeros || p->odd[at])) return at;
    }
    return p->count;
}

#define DEPTHWISE(size, stride)                                                         \
    static size_t QDQ_ISA_NAME(depthwise_##size##_##stride)(const qdq_depthwise *p,     \
                                                            size_t first) {             \
        bool narrow = p->columns < DIRECT_LANES;                                        \
        depthwise_form chain = {size, stride, false, 1, true, true}, fours = chain;     \
        depthwise_form wide_chain = {size, stride, false, DEPTHWISE_WIDE, true, false}; \
        depthwise_form wide_fours = {size, stride, true, DEPTHWISE_WIDE, true, false};  \
        fours.fours = true;                                                             \
        if (p->fours)                                                                   \
            return narrow ? depthwise_channels(fours, p, first)                         \
                          : depthwise_channels(wide_fours, p, first);                   \
        return narrow ? depthwise_channels(chain, p, first)                             \
                      : depthwise_channels(wide_chain, p, first);                       \
    }
QDQ_DEPTHWISE_SHAPES(DEPTHWISE)
#define DEPTHWISE_KERNEL(size, stride) QDQ_ISA_NAME(depthwise_##size##_##stride),
#else
#define DEPTHWISE_KERNEL(size, stride) NULL,
#endif

#endif
