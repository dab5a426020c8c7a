// SPDX-License-Identifier: Apache-2.0
// Tile functions of Requantize by multiplier and shift, int32 to bytes, over groups of elements.
// The file that includes this one defines GROUP, `lanes` (the parameters of a vector), `lanes_of`
// (one for all elements), `factors`, `codes_of`, `group_at` and `leave` (the kernel of all calls).

static inline __attribute__((always_inline)) void
all_groups(qdq_fixed_rounding rounding, const qdq_quant_params *p, const qdq_view *views,
           const int32_t *x, uint8_t *y, size_t n) {
    const factors f = codes_of(p);
    const lanes one = lanes_of(rounding, views);
    bool is_signed = p->y_dtype == QDQ_INT8;
    size_t at = 0;
    if (!(views[0].step | views[2].step | views[3].step)) {
        for (; at + GROUP <= n; at += GROUP)
            group_at(rounding, &f, is_signed, views, &one, x, y, at, n, true);
        if (at < n) group_at(rounding, &f, is_signed, views, &one, x, y, at, n, false);
        return;
    }
    for (; at + GROUP <= n; at += GROUP)
        group_at(rounding, &f, is_signed, views, NULL, x, y, at, n, true);
    if (at < n) group_at(rounding, &f, is_signed, views, NULL, x, y, at, n, false);
}

// Calls that qdq_fixed_is_plain excludes go to the general kernel.
static void fixed_tile(const void *params, const qdq_view *views, const void *x, void *y,
                       size_t n) {
    const qdq_quant_params *p = params;
    qdq_fixed_rounding rounding = qdq_fixed_is_plain(p, views, n) ? p->rounding : QDQ_FIXED_FLOAT64;
    switch (rounding) {
    case QDQ_FIXED_SINGLE: all_groups(QDQ_FIXED_SINGLE, p, views, x, y, n); break;
    case QDQ_FIXED_DOUBLE: all_groups(QDQ_FIXED_DOUBLE, p, views, x, y, n); break;
    case QDQ_FIXED_UP: all_groups(QDQ_FIXED_UP, p, views, x, y, n); break;
    case QDQ_FIXED_FLOAT32: all_groups(QDQ_FIXED_FLOAT32, p, views, x, y, n); break;
    case QDQ_FIXED_INEXACT:
    case QDQ_FIXED_FLOAT64: leave(params, views, x, y, n); break;
    }
}

#define FIXED_TILES(isa)                                                                       \
    void qdq_fixed_int32_int8_##isa(const void *params, const qdq_view *views, const void *x,  \
                                    void *y, size_t n) {                                       \
        fixed_tile(params, views, x, y, n);                                                    \
    }                                                                                          \
    void qdq_fixed_int32_uint8_##isa(const void *params, const qdq_view *views, const void *x, \
                                     void *y, size_t n) {                                      \
        fixed_tile(params, views, x, y, n);                                                    \
    }
