// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/spread.h"

#include <math.h>

#include "tools/common.h"
#include "tools/io/tensor_io.h"

enum { ELEMENTS = 512 };  // converted at once

// Passes the elements of each side to `take`, as doubles.
static void each_element(const qdq_tensor_info *info, const void *const *data, spread *s,
                         void (*take)(spread *s, size_t side, double x)) {
    size_t count = qdq_shape_count(info->shape), size = qdq_dtype_size(info->dtype);
    double part[ELEMENTS];
    for (size_t side = 0; side < s->sides; side++)
        for (size_t at = 0; at < count; at += ELEMENTS) {
            size_t n = count - at < ELEMENTS ? count - at : ELEMENTS;
            to_doubles(info->dtype, (const char *)data[side] + at * size, n, part);
            for (size_t i = 0; i < n; i++) take(s, side, part[i]);
        }
}

// Widens the range to `x`. Until the bins are known, `width` is the greatest number.
static void widen_range(spread *s, size_t side, double x) {
    if (!isfinite(x)) {
        s->not_finite[side]++;
        return;
    }
    if (!s->bins || x < s->low) s->low = x;
    if (!s->bins || x > s->width) s->width = x;
    s->bins = 1;
}

static void count_element(spread *s, size_t side, double x) {
    if (!isfinite(x)) return;
    double bin = (x - s->low) / s->width;
    s->counts[side][bin < (double)s->bins ? (size_t)bin : s->bins - 1]++;
}

// Finds the range of an integer dtype of at most 16 bits or of a small float. False for other
// dtypes, whose numbers do not clip.
static bool range_of(qdq_dtype dtype, double *least, double *greatest) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    *least = (double)info->least, *greatest = (double)info->greatest;
    if (info->kind == QDQ_KIND_INT) return info->bits <= 16;
    if (info->kind != QDQ_KIND_SMALL_FLOAT) return false;
    for (unsigned code = 0; code < 1U << info->bits; code++) {
        unsigned char byte = (unsigned char)code;
        double x;
        to_doubles(dtype, &byte, 1, &x);
        if (isfinite(x) && x > *greatest) *greatest = x, *least = -x;
    }
    return true;
}

static void count_clipped(const qdq_tensor_info *info, const void *const *data, spread *s) {
    size_t count = qdq_shape_count(info->shape), size = qdq_dtype_size(info->dtype);
    double least, greatest, part[ELEMENTS];
    s->can_clip = range_of(info->dtype, &least, &greatest);
    for (size_t side = 0; s->can_clip && side < s->sides; side++)
        for (size_t at = 0; at < count; at += ELEMENTS) {
            size_t n = count - at < ELEMENTS ? count - at : ELEMENTS;
            to_doubles(info->dtype, (const char *)data[side] + at * size, n, part);
            for (size_t i = 0; i < n; i++)
                s->clipped[side] += part[i] <= least || part[i] >= greatest;
        }
}

spread measure_spread(const qdq_tensor_info *info, const void *const *data, size_t sides) {
    spread s = {.sides = sides};
    each_element(info, data, &s, widen_range);
    if (s.bins) {
        double range = s.width - s.low;
        bool whole = !qdq_dtype_is_real(info->dtype);
        bool each = whole && range < SPREAD_CODES;
        s.width = each ? 1 : whole ? ceil((range + 1) / SPREAD_BINS) : range / SPREAD_BINS;
        s.bins = whole ? (size_t)ceil((range + 1) / s.width) : SPREAD_BINS;
        if (!(s.width > 0)) s.width = 1, s.bins = 1;
        if (!isfinite(s.width)) return (spread){.sides = sides};
        each_element(info, data, &s, count_element);
    }
    count_clipped(info, data, &s);
    return s;
}

static void json_counts(qdq_json *json, const size_t *counts, size_t count) {
    qdq_json_begin_line(json);
    for (size_t i = 0; i < count; i++) qdq_json_uint(json, counts[i]);
    qdq_json_end_array(json);
}

void json_spread(qdq_json *json, const spread *s) {
    qdq_json_key(json, "low");
    qdq_json_double(json, s->low);
    qdq_json_key(json, "width");
    qdq_json_double(json, s->width);
    qdq_json_key(json, "counts");
    qdq_json_begin_line(json);
    for (size_t side = 0; side < s->sides; side++) json_counts(json, s->counts[side], s->bins);
    qdq_json_end_array(json);
    qdq_json_key(json, "clipped");
    if (s->can_clip)
        json_counts(json, s->clipped, s->sides);
    else
        qdq_json_null(json);
    qdq_json_key(json, "not_finite");
    json_counts(json, s->not_finite, s->sides);
}
