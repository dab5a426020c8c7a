// SPDX-License-Identifier: Apache-2.0
// MAX_POOL_2D, AVERAGE_POOL_2D and MEAN of codes.
#include <math.h>
#include <string.h>

#include "graph/core/copy.h"
#include "graph/targets/litert/litert.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/reduce.h"
#include "include/qdq/ops/spatial.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fixed_point.h"
#include "runtime/numerics/fma.h"

enum { X, CODES = 256, IMAGE_RANK = 4, SPATIAL = 2 };

//---- Pools ------------------------------------------------------------------

// Finds the unit of a pool. False if it is no operator of TensorFlow Lite.
static bool pool_of(const qdq_rewriter *r, qdq_match *m, litert_unit *u) {
    litert_unit_of(r, m->anchor, u);
    const qdq_pool_attrs *a = u->qdq.node->attrs;
    if (!u->qdq.x[X].given) return false;
    const char *why = litert_bytes_differ(r, u, 1);
    bool padded = a->pads_begin.count || a->pads_end.count;
    if (!why && !litert_same_params(r, &u->qdq.x[X], &u->qdq.y))
        why = "a pool's x and y share parameters";
    if (!why && (a->auto_pad != QDQ_PAD_NONE || a->rounding_type != QDQ_POOL_ROUND_FLOOR ||
                 a->dilations.count))
        why = "the pool has options that TensorFlow Lite lacks";
    if (!why && padded && a->exclude_pad == QDQ_FALSE)
        why = "the mean counts elements of the padding";
    if (!why && r->from->values[u->qdq.x[X].codes].type.shape.rank != IMAGE_RANK)
        why = "x is no image";
    return why ? litert_refuses(m, why) : true;
}

static void read_x(const qdq_rewriter *r, qdq_match *m, const litert_unit *u) {
    qdq_match_reads(r, m, u->qdq.x[X].codes);
    litert_replace(r, m, u);
}

// True if windows lie apart, which XNNPACK does not take.
static bool leaves_gaps(const qdq_pool_attrs *a) {
    for (size_t i = 0; i < a->strides.count; i++)
        if (a->strides.data[i] > a->kernel.data[i]) return true;
    return false;
}

bool litert_match_max_pool(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("MAX_POOL_2D");
    litert_unit u;
    litert_engine engine = litert_engine_of(r->version);
    if (!pool_of(r, m, &u)) return false;
    if (engine == LITERT_XNNPACK && leaves_gaps(u.qdq.node->attrs)) engine = LITERT_BUILTIN;
    litert_run_by(m, engine, names);
    read_x(r, m, &u);
    return true;
}

void litert_build_max_pool(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_table t;
    litert_unit_of(r, m->anchor, &u);
    const qdq_coder *y = &u.qdq.y;
    litert_range range = litert_range_of(r, (litert_engine)m->form, u.activation, y);
    qdq_value x = qdq_rewrite_value(r, u.qdq.x[X].codes);
    const char *name = litert_name(r, &u);
    int32_t least = (int32_t)qdq_dtype_get(y->dtype)->least;
    if (u.clip == SIZE_MAX) {
        m->made[0] = qdq_copy_node(r->to, u.qdq.node, name, &x);
        return;
    }
    for (int i = 0; i < CODES; i++)
        t.results[i] = (int32_t)(least + i < range.lo   ? range.lo
                                 : least + i > range.hi ? range.hi
                                                        : least + i);
    x = qdq_copy_node(r->to, u.qdq.node, litert_part(r, name, "/greatest"), &x);
    m->made[0] = litert_add_table(r, name, x, y->dtype, &t);
}

bool litert_match_average_pool(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("AVERAGE_POOL_2D");
    litert_unit u;
    litert_engine engine = litert_engine_of(r->version);
    if (!pool_of(r, m, &u)) return false;
    litert_run_by(m, engine == LITERT_XNNPACK ? LITERT_BUILTIN : engine, names);
    read_x(r, m, &u);
    return true;
}

// Returns the number of elements of x under a window, along one dim.
static int32_t count_under(const qdq_pool_attrs *a, size_t i, int64_t place, int64_t size) {
    int64_t begin = a->pads_begin.count ? a->pads_begin.data[i] : 0;
    int64_t from = place * a->strides.data[i] - begin, to = from + a->kernel.data[i];
    if (from < 0) from = 0;
    if (to > size) to = size;
    return (int32_t)(to - from);
}

// Adds the counts of elements under each window, divided by `by`.
static qdq_value add_counts(const qdq_rewriter *r, const litert_unit *u, const char *part,
                            int32_t by) {
    const qdq_pool_attrs *a = u->qdq.node->attrs;
    const qdq_shape *x = &r->from->values[u->qdq.x[X].codes].type.shape,
                    *y = &r->from->values[u->qdq.node->outputs[0]].type.shape;
    int first = a->data_format == QDQ_NXC ? 1 : 2;
    qdq_shape shape = {IMAGE_RANK, {1, 1, 1, 1}};
    for (int i = 0; i < SPATIAL; i++) shape.dims[first + i] = y->dims[first + i];
    int64_t rows = shape.dims[first], columns = shape.dims[first + 1];
    int32_t *counts = qdq_mempool_array(r->mempool, (size_t)(rows * columns), sizeof *counts);
    for (int64_t i = 0; counts && i < rows * columns; i++)
        counts[i] = count_under(a, 0, i / columns, x->dims[first]) *
                    count_under(a, 1, i % columns, x->dims[first + 1]) / by;
    return litert_int32(r, litert_name(r, u), part, shape, counts);
}

// Adds the sums of windows: a convolution of each channel with ones.
static qdq_value add_sums(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_pool_attrs *a = u->qdq.node->attrs;
    const qdq_shape *x = &r->from->values[u->qdq.x[X].codes].type.shape;
    const char *name = litert_name(r, u);
    int64_t channels = x->dims[a->data_format == QDQ_NXC ? IMAGE_RANK - 1 : 1];
    qdq_shape shape = {IMAGE_RANK, {channels, 1, a->kernel.data[0], a->kernel.data[1]}};
    char *ones = qdq_mempool_array(r->mempool, qdq_shape_count(shape), 1);
    if (!ones) return (qdq_value){0};
    memset(ones, 1, qdq_shape_count(shape));
    return qdq_conv_integer(r->to, qdq_rewrite_value(r, u->qdq.x[X].codes),
                            qdq_rewrite_constant(r, name, "/ones", QDQ_INT8, shape, ones),
                            (qdq_conv_integer_attrs){.name = litert_part(r, name, "/sums"),
                                                     .strides = a->strides,
                                                     .pads_begin = a->pads_begin,
                                                     .pads_end = a->pads_end,
                                                     .groups = QDQ_INT(channels),
                                                     .data_format = a->data_format == QDQ_NXC
                                                                        ? QDQ_INTEGER_NXC
                                                                        : QDQ_INTEGER_NCX});
}

// Rounds int32 to codes without scaling, after `zero` is subtracted.
static qdq_value to_codes(const qdq_rewriter *r, const litert_unit *u, litert_engine engine,
                          qdq_value x, int32_t zero) {
    litert_scaling s = {.rounding = QDQ_FIXED_SINGLE, .in_zero = zero, .dtype = u->qdq.y.dtype};
    if (!litert_new_scaling(r, &s, 1)) return (qdq_value){0};
    s.multiplier[0] = 1, s.shift[0] = 0;
    s.range = litert_range_of(r, engine, u->activation, &u->qdq.y);
    return litert_requantize(r, litert_name(r, u), x, &s);
}

// (sum > 0 ? sum + n / 2 : sum - n / 2) / n, and the quotient loses its fraction.
void litert_build_average_pool(qdq_rewriter *r, qdq_match *m) {
    static const int32_t none = 0;
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    const char *name = litert_name(r, &u);
    qdq_value sums = add_sums(r, &u), counts = add_counts(r, &u, "/counts", 1),
              halves = add_counts(r, &u, "/halves", 2),
              zero = litert_int32(r, name, "/zero", (qdq_shape){0}, &none);
    qdq_value above = litert_binary(r, "Greater", litert_part(r, name, "/above"), sums, zero),
              up = litert_binary(r, "Add", litert_part(r, name, "/up"), sums, halves),
              down = litert_binary(r, "Subtract", litert_part(r, name, "/down"), sums, halves);
    qdq_value moved = qdq_select(r->to, above, up, down,
                                 (qdq_select_attrs){.name = litert_part(r, name, "/moved")});
    qdq_value means = litert_binary(r, "Divide", litert_part(r, name, "/means"), moved, counts);
    m->made[0] = to_codes(r, &u, (litert_engine)m->form, means, 0);
}

//---- MEAN -------------------------------------------------------------------

// A mean over dims.
typedef struct mean_of {
    int64_t count;     // of elements
    bool over_images;  // over dims 1 and 2 of [N, H, W, C]
    bool keeps_dims;
    int channels;  // the dim of them in the result
} mean_of;

static mean_of read_mean(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_reduce_attrs *a = u->qdq.node->attrs;
    const qdq_shape *x = &r->from->values[u->qdq.x[X].codes].type.shape;
    bool dims[QDQ_MAX_RANK] = {false};
    mean_of mean = {.count = 1, .keeps_dims = a->keep_dims == QDQ_TRUE};
    for (size_t i = 0; i < a->axes.count; i++) {
        int64_t axis = a->axes.data[i] + (a->axes.data[i] < 0 ? x->rank : 0);
        dims[axis] = true;
        mean.count *= x->dims[axis];
    }
    mean.over_images = x->rank == IMAGE_RANK && a->axes.count == SPATIAL && dims[1] && dims[2];
    mean.channels = mean.keeps_dims ? IMAGE_RANK - 1 : 1;
    return mean;
}

enum { MOST_OF_TABLE = 1 << 14, MEAN_BLOCK = 16 };

bool litert_match_mean(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("MEAN");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = litert_engine_of(r->version);
    const qdq_reduce_attrs *a = u.qdq.node->attrs;
    if (!u.qdq.x[X].given) return false;
    const char *why = litert_bytes_differ(r, &u, 1);
    if (!why && u.clip != SIZE_MAX) why = "an activation follows";
    if (!why && a->global_pool == QDQ_TRUE) why = "the mean has options of other backends";
    if (why) return litert_refuses(m, why);
    mean_of mean = read_mean(r, &u);
    if (mean.count > MOST_OF_TABLE)
        return litert_refuses(m, "the mean has more than 2^14 elements");
    litert_run_by(m, engine, names);
    read_x(r, m, &u);
    return true;
}

// Adds the sums of the codes: the reduced dims last, times ones.
static qdq_value add_sum(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_reduce_attrs *a = u->qdq.node->attrs;
    const char *name = litert_name(r, u);
    qdq_value x = qdq_rewrite_value(r, u->qdq.x[X].codes);
    qdq_shape shape = litert_shape(r->to, x),
              y = r->from->values[u->qdq.node->outputs[0]].type.shape;
    bool reduced[QDQ_MAX_RANK] = {false};
    int64_t order[QDQ_MAX_RANK], count = 1;
    int rank = 0;
    for (size_t i = 0; i < a->axes.count; i++)
        reduced[a->axes.data[i] + (a->axes.data[i] < 0 ? shape.rank : 0)] = true;
    for (int i = 0; i < 2 * shape.rank; i++) {
        int dim = i % shape.rank;
        if (reduced[dim] != (i >= shape.rank)) continue;
        order[rank++] = dim;
        if (reduced[dim]) count *= shape.dims[dim];
    }
    x = qdq_transpose(r->to, x,
                      (qdq_transpose_attrs){.name = litert_part(r, name, "/reduced_last"),
                                            .order = {order, (size_t)rank}});
    qdq_shape rows = {2, {(int64_t)qdq_shape_count(shape) / count, count}};
    x = litert_reshape(r, litert_part(r, name, "/rows"), x, rows);
    char *ones = qdq_mempool_array(r->mempool, (size_t)count, 1);
    if (!ones) return (qdq_value){0};
    memset(ones, 1, (size_t)count);
    qdq_value column =
        qdq_rewrite_constant(r, name, "/ones", QDQ_INT8, (qdq_shape){2, {count, 1}}, ones);
    x = qdq_matmul_integer(r->to, x, column,
                           (qdq_matmul_integer_attrs){.name = litert_part(r, name, "/totals")});
    return litert_reshape(r, litert_part(r, name, "/sums"), x, y);
}

// The quotient of scales divided by the count, with as many bits as fit.
static qdq_value fixed_mean(const qdq_rewriter *r, const litert_unit *u, litert_engine engine,
                            const mean_of *mean) {
    const qdq_coder *x = &u->qdq.x[X], *y = &u->qdq.y;
    litert_scaling s = {.rounding = QDQ_FIXED_DOUBLE,
                        .in_zero = (int32_t)(qdq_coder_zero(r, x, 0) * mean->count)};
    if (!litert_new_scaling(r, &s, 1)) return (qdq_value){0};
    qdq_fixed_scale by = qdq_quantize_multiplier(
        (double)qdq_coder_scale(r, x, 0) / (double)qdq_coder_scale(r, y, 0), 31);
    int bits = 0;
    while (mean->count >> (bits + 1)) bits++;
    if (bits > 62 - by.shift) bits = 62 - by.shift;
    int64_t share = (int64_t)by.multiplier * (INT64_C(1) << bits) / mean->count;
    s.multiplier[0] = (double)share;
    s.shift[0] = by.shift + bits;
    litert_ends_in(r, &s, engine, u);
    return litert_requantize(r, litert_name(r, u), add_sum(r, u), &s);
}

// Rounds the channels of a part in blocks.
static qdq_value mean_part(const qdq_rewriter *r, const char *name, qdq_value sums,
                           const litert_scaling *s, int axis) {
    int64_t channels = litert_shape(r->to, sums).dims[axis];
    return litert_requantize_parts(r, name, sums, s, axis, channels / MEAN_BLOCK * MEAN_BLOCK);
}

// Rounds the sums of all channels: each thread takes a part, and its blocks begin anew.
static qdq_value mean_parts(const qdq_rewriter *r, const char *name, qdq_value sums,
                            const litert_scaling *s, int axis) {
    const int64_t least = 8;  // channels of a thread
    int64_t channels = litert_shape(r->to, sums).dims[axis], threads = litert_threads(r->version);
    int64_t parts = channels / least < threads ? channels / least : threads, from = 0;
    if (parts <= 1) return mean_part(r, name, sums, s, axis);
    qdq_value all = {0};
    for (int64_t left = parts; left > 0; left--) {
        int64_t to = from + (channels - from) / left;
        qdq_value part =
            litert_part_of(r, litert_part(r, name, "/sums_of_thread"), sums, axis, from, to);
        part = mean_part(r, litert_part(r, name, "/of_thread"), part, s, axis);
        const char *joined = left > 1 ? litert_part(r, name, "/of_threads") : name;
        all = all.id ? litert_join(r, joined, all, part, axis) : part;
        from = to;
    }
    return all;
}

// The optimized kernel's: channels in blocks round half up, and the zero points become one number.
static qdq_value blocked_mean(const qdq_rewriter *r, const litert_unit *u, litert_engine engine,
                              const mean_of *mean) {
    const qdq_coder *x = &u->qdq.x[X], *y = &u->qdq.y;
    const char *name = litert_name(r, u);
    float x_scale = qdq_coder_scale(r, x, 0), y_scale = qdq_coder_scale(r, y, 0);
    float zero = (float)qdq_coder_zero(r, x, 0) * x_scale / y_scale;
    zero = zero > 0 ? zero + 0.5f : zero - 0.5f;
    int32_t bias = qdq_coder_zero(r, y, 0) - (int32_t)zero;
    litert_scaling s = {.dtype = QDQ_INT32};
    if (!litert_new_scaling(r, &s, 1)) return (qdq_value){0};
    litert_set_fixed(&s, 0, (double)(x_scale / ((float)mean->count * y_scale)));
    qdq_value sums = add_sum(r, u);
    sums = mean_parts(r, litert_part(r, name, "/means"), sums, &s, mean->channels);
    return to_codes(r, u, engine, sums, -bias);
}

// XNNPACK's: a float32 of the sum times a scale plus a zero point, as a table of all sums.
static qdq_value delegated_mean(const qdq_rewriter *r, const litert_unit *u, const mean_of *mean) {
    const qdq_coder *x = &u->qdq.x[X], *y = &u->qdq.y;
    const qdq_dtype_info *info = qdq_dtype_get(y->dtype);
    const char *name = litert_name(r, u);
    float n = (float)mean->count, zero = (float)qdq_coder_zero(r, x, 0),
          y_zero = (float)qdq_coder_zero(r, y, 0);
    float scale = qdq_coder_scale(r, x, 0) / qdq_coder_scale(r, y, 0) * (1.0f / n);
    bool arm = litert_is_arm(r->version);
    float offset = arm ? qdq_fmaf(-(n * zero), scale, y_zero) : y_zero - n * zero * scale;
    int32_t least = (int32_t)(mean->count * (int64_t)info->least);
    size_t count = (size_t)mean->count * (CODES - 1) + 1;
    int32_t *codes = qdq_mempool_array(r->mempool, count, sizeof *codes);
    char *table = qdq_mempool_array(r->mempool, count, 1);
    if (!codes || !table) return (qdq_value){0};
    for (size_t i = 0; i < count; i++) {
        float sum = (float)(least + (int32_t)i);
        float v = rintf(arm ? qdq_fmaf(sum, scale, offset) : sum * scale + offset);
        codes[i] = v < (float)info->least      ? (int32_t)info->least
                   : v > (float)info->greatest ? (int32_t)info->greatest
                                               : (int32_t)v;
    }
    qdq_encode_int(y->dtype, codes, table, count);
    qdq_value places = litert_binary(r, "Subtract", litert_part(r, name, "/places"), add_sum(r, u),
                                     litert_int32(r, name, "/least", (qdq_shape){0}, &least));
    qdq_value means =
        qdq_rewrite_constant(r, name, "/table", y->dtype, (qdq_shape){1, {(int64_t)count}}, table);
    return qdq_gather(r->to, means, places, (qdq_gather_attrs){.name = name});
}

void litert_build_mean(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = (litert_engine)m->form;
    mean_of mean = read_mean(r, &u);
    bool blocks = engine == LITERT_BUILTIN && mean.over_images && mean.keeps_dims;
    m->made[0] = engine == LITERT_XNNPACK ? delegated_mean(r, &u, &mean)
                 : blocks                 ? blocked_mean(r, &u, engine, &mean)
                                          : fixed_mean(r, &u, engine, &mean);
}
