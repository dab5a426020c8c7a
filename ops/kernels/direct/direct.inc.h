// SPDX-License-Identifier: Apache-2.0
// The kernels of direct convolution.
#include <math.h>
#include <string.h>

#include "ops/kernels/direct/depthwise.inc.h"
#include "ops/kernels/direct/direct.h"
#include "ops/kernels/direct/direct_fill.inc.h"
#include "ops/kernels/direct/direct_vectors.inc.h"

//---- Sums -------------------------------------------------------------------

// Tiles of O outputs and V vectors of positions, from position i on.
typedef void direct_tile_fn(const qdq_direct_part *p, size_t o, size_t i);

#define DIRECT_BEGIN(O, V)                                           \
    direct_floats sum[O][V];                                         \
    const float *x = p->x + i, *w = p->weights + o;                  \
    float *y = p->sums + o * p->stride + i;                          \
    DIRECT_UNROLLED for (size_t r = 0; r < (O); r++)                 \
        DIRECT_UNROLLED for (size_t v = 0; v < (V); v++) sum[r][v] = \
            p->more ? direct_load(y + r * p->stride + v * DIRECT_LANES) : direct_zero();

#define DIRECT_END(O, V)                                 \
    DIRECT_UNROLLED for (size_t r = 0; r < (O); r++)     \
        DIRECT_UNROLLED for (size_t v = 0; v < (V); v++) \
            direct_store(y + r * p->stride + v * DIRECT_LANES, sum[r][v]);

#define DIRECT_TILE(O, V)                                                             \
    static void direct_tile_##O##_##V(const qdq_direct_part *p, size_t o, size_t i) { \
        DIRECT_BEGIN(O, V)                                                            \
        for (size_t k = 0; k < p->depth; k++) {                                       \
            const float *from = x + p->k[k].x, *by = w + p->k[k].w * p->w_stride;     \
            direct_floats of_x[V];                                                    \
            DIRECT_UNROLLED for (size_t v = 0; v < (V); v++) of_x[v] =                \
                direct_load(from + v * DIRECT_LANES);                                 \
            DIRECT_UNROLLED for (size_t r = 0; r < (O); r++) {                        \
                direct_floats of_w = direct_all(by + r);                              \
                DIRECT_UNROLLED for (size_t v = 0; v < (V); v++) sum[r][v] =          \
                    direct_madd(sum[r][v], of_x[v], of_w);                            \
            }                                                                         \
        }                                                                             \
        DIRECT_END(O, V)                                                              \
    }

DIRECT_TILE(1, 1)
DIRECT_TILE(1, 2)
DIRECT_TILE(1, 3)
DIRECT_TILE(1, 4)
DIRECT_TILE(1, 8)
DIRECT_TILE(2, 1)
DIRECT_TILE(2, 2)
DIRECT_TILE(2, 3)
DIRECT_TILE(2, 4)
DIRECT_TILE(4, 1)
DIRECT_TILE(4, 2)
DIRECT_TILE(4, 3)
#if DIRECT_MOST_OUTPUTS == 8
DIRECT_TILE(8, 1)
DIRECT_TILE(8, 2)
DIRECT_TILE(8, 3)
#endif

// The tile functions for a count of outputs: for 1, 2, 3 and 4 vectors, and the widest.
typedef struct direct_tiles {
    size_t outputs, wide;
    direct_tile_fn *tiles[5], *widest;
} direct_tiles;

// Cuts positions into tiles of nearly the same width. No position belongs to two tiles, because
// sums may continue from memory; after the last position the widest tile computes results that
// nobody reads.
static void direct_run(const qdq_direct_part *p, const direct_tiles *of, size_t o) {
    size_t vectors = (p->n + DIRECT_LANES - 1) / DIRECT_LANES;
    size_t tiles = vectors <= of->wide ? 1 : (vectors + of->wide - 1) / of->wide;
    for (size_t v = 0, n; v < vectors; v += n, tiles--) {
        n = tiles == 1 ? vectors - v : (vectors - v + tiles - 1) / tiles;
        (n > 4 ? of->widest : of->tiles[n])(p, o, v * DIRECT_LANES);
        if (n > 4) n = of->wide;
    }
}

static void QDQ_ISA_NAME(direct_chain)(const qdq_direct_part *p) {
    static const direct_tiles tiles[] = {
#if DIRECT_MOST_OUTPUTS == 8
        {8, 3, {NULL, direct_tile_8_1, direct_tile_8_2, direct_tile_8_3, NULL}, NULL},
#endif
        {4, 3, {NULL, direct_tile_4_1, direct_tile_4_2, direct_tile_4_3, NULL}, NULL},
        {2, 4, {NULL, direct_tile_2_1, direct_tile_2_2, direct_tile_2_3, direct_tile_2_4}, NULL},
        {1,
         8,
         {NULL, direct_tile_1_1, direct_tile_1_2, direct_tile_1_3, direct_tile_1_4},
         direct_tile_1_8},
    };
    const direct_tiles *of = tiles;
    for (size_t o = 0; o < p->outputs; o += of->outputs) {
        while (of->outputs > p->outputs - o) of++;
        direct_run(p, of, o);
    }
}

// Products of V vectors with a k.
#define DIRECT_PRODUCTS(V, own, at)                                    \
    {                                                                  \
        const float *from = x + p->k[at].x;                            \
        direct_floats of_w = direct_all(w + p->k[at].w * p->w_stride); \
        DIRECT_UNROLLED for (size_t v = 0; v < (V); v++)(own)[v] =     \
            direct_mul(direct_load(from + v * DIRECT_LANES), of_w);    \
    }

#define DIRECT_FOURS(V)                                                          \
    static void direct_fours_##V(const qdq_direct_part *p, size_t o, size_t i) { \
        DIRECT_BEGIN(1, V)                                                       \
        for (size_t k = 0, few; k < p->depth; k += few) {                        \
            direct_floats group[V], more[V];                                     \
            few = p->depth - k >= 4 ? 4 : p->depth - k >= 2 ? 2 : 1;             \
            DIRECT_PRODUCTS(V, group, k)                                         \
            for (size_t m = 1; m < few; m++) {                                   \
                DIRECT_PRODUCTS(V, more, k + m)                                  \
                DIRECT_UNROLLED for (size_t v = 0; v < (V); v++) group[v] =      \
                    direct_add(group[v], more[v]);                               \
            }                                                                    \
            DIRECT_UNROLLED for (size_t v = 0; v < (V); v++) sum[0][v] =         \
                direct_add(sum[0][v], group[v]);                                 \
        }                                                                        \
        DIRECT_END(1, V)                                                         \
    }
DIRECT_FOURS(1)
DIRECT_FOURS(4)

static void QDQ_ISA_NAME(direct_fours)(const qdq_direct_part *p) {
    size_t vectors = (p->n + DIRECT_LANES - 1) / DIRECT_LANES;
    for (size_t o = 0; o < p->outputs; o++) {
        size_t v = 0;
        for (; v + 1 < vectors; v += 4) direct_fours_4(p, o, v * DIRECT_LANES);
        for (; v < vectors; v++) direct_fours_1(p, o, v * DIRECT_LANES);
    }
}

//---- Results ----------------------------------------------------------------

// Finishes a row, with and without a scale and a bias. Returns bits that are not 0 if a sum is 0.
static inline unsigned direct_finish_row(const float *sums, float *y, size_t n, const float *scale,
                                         const float *bias) {
    direct_floats by = scale ? direct_all(scale) : direct_zero();
    direct_floats plus = bias ? direct_all(bias) : direct_zero();
    unsigned zeros = 0;
    for (size_t i = 0; i < n; i += DIRECT_LANES) {
        direct_floats v = direct_load(sums + i);
        zeros |= direct_zeros(v);
        if (scale) v = direct_add(direct_mul(v, by), direct_zero());
        if (bias) v = direct_add(v, plus);
        direct_store(y + i, direct_quiet(v));
    }
    return zeros;
}

static inline unsigned direct_finish_plain(const float *sums, float *y, size_t n,
                                           const float *scale, const float *bias) {
    if (scale && bias) return direct_finish_row(sums, y, n, scale, bias);
    if (scale) return direct_finish_row(sums, y, n, scale, NULL);
    if (bias) return direct_finish_row(sums, y, n, NULL, bias);
    return direct_finish_row(sums, y, n, NULL, NULL);
}

// Stores n elements `step` apart.
static inline void direct_scatter(const float *x, float *y, size_t n, size_t step) {
    size_t i = 0;
    for (; step == 2 && i + DIRECT_LANES < n; i += DIRECT_LANES)
        direct_spread(y + 2 * i, direct_load(x + i));
    for (; i < n; i++) y[i * step] = x[i];
}

static bool QDQ_ISA_NAME(direct_finish)(const qdq_direct_results *p) {
    enum { SPREAD = 64 };
    unsigned zeros = 0;
    for (size_t r = 0; r < p->rows; r++) {
        const float *sums = p->sums + r * p->sums_stride;
        float *y = p->y + r * p->y_stride, part[SPREAD];
        if (p->step == 1) zeros |= direct_finish_plain(sums, y, p->n, p->scale, p->bias);
        for (size_t i = 0, n; p->step > 1 && i < p->n; i += n) {
            n = p->n - i < SPREAD ? p->n - i : SPREAD;
            zeros |= direct_finish_plain(sums + i, part, n, p->scale, p->bias);
            direct_scatter(part, y + i * p->step, n, p->step);
        }
    }
    return zeros;
}

static void QDQ_ISA_NAME(direct_add_rows)(const qdq_direct_row_sums *p) {
    for (size_t r = 0; r < p->rows; r++) {
        const float *sums = p->sums + r * p->sums_stride;
        float *to = p->results + r * p->results_stride;
        size_t i = 0;
        for (; i + DIRECT_LANES <= p->n; i += DIRECT_LANES)
            direct_store(to + i, direct_add(direct_load(to + i), direct_load(sums + i)));
        for (; i < p->n; i++) to[i] += sums[i];
    }
}

//---- Channels ---------------------------------------------------------------

static inline void direct_fill_channel(const qdq_direct_channels *p, size_t x) {
    if (p->flat && p->flat->n) direct_flat_from(p->flat, (const char *)p->flat->x + x);
    for (size_t i = 0; i < p->slots; i++)
        direct_fill_from(&p->rows[i], (const char *)p->rows[i].x + x);
}

static size_t QDQ_ISA_NAME(direct_channels)(const qdq_direct_channels *p, size_t first) {
    qdq_direct_part part = p->part;
    qdq_direct_results results = p->results;
    part.weights += first * p->w_next;
    results.y += first * p->y_next;
    if (results.scale) results.scale += first * p->scale_next;
    if (results.bias) results.bias += first;
    for (size_t at = first; at < p->count; at++) {
        direct_fill_channel(p, at * p->x_next);
        if (p->fours)
            QDQ_ISA_NAME(direct_fours)(&part);
        else
            QDQ_ISA_NAME(direct_chain)(&part);
        bool zeros = QDQ_ISA_NAME(direct_finish)(&results);
        if (p->odd && (zeros || p->odd[at])) return at;
        part.weights += p->w_next;
        results.y += p->y_next;
        if (results.scale) results.scale += p->scale_next;
        if (results.bias) results.bias++;
    }
    return p->count;
}

static float QDQ_ISA_NAME(direct_least)(const float *x, size_t n) {
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits = (bits & 0x7FFFFFFF) - 1;  // 0 becomes the greatest
        least = bits < least ? bits : least;
    }
    float magnitude;
    least++;
    if (!least) return INFINITY;
    memcpy(&magnitude, &least, sizeof magnitude);
    return magnitude;
}

const qdq_direct_kernels QDQ_ISA_NAME(direct_kernels) = {
    QDQ_ISA_NAME(direct_chain),
    QDQ_ISA_NAME(direct_fours),
    QDQ_ISA_NAME(direct_fill),
    QDQ_ISA_NAME(direct_flat),
    QDQ_ISA_NAME(direct_finish),
    QDQ_ISA_NAME(direct_add_rows),
    QDQ_ISA_NAME(direct_channels),
    QDQ_ISA_NAME(direct_least),
    {QDQ_DEPTHWISE_SHAPES(DEPTHWISE_KERNEL)},
    DIRECT_LANES,
};
