// SPDX-License-Identifier: Apache-2.0
// Pooling and interpolation on shapes larger than every block, unit and chunk: the same bits as the
// formulas of docs/ops_neural_network.md, computed element by element here.
#include "ops/blocking.h"
#include "tests/ops/large_images.h"

//---- Pooling ----------------------------------------------------------------

typedef struct pool {
    large_image x, y;
    const double *numbers;  // the elements of x
    qdq_dtype dtype;
    bool max, exclude_pad, ceil;
    bool float_sums;  // in float32, as target onnx adds; the graph is the pool alone
    qdq_auto_pad auto_pad;
    int64_t kernel[LARGE_DIMS], stride[LARGE_DIMS], dilation[LARGE_DIMS], before[LARGE_DIMS],
        after[LARGE_DIMS];
} pool;

// Section 6 of docs/ops_neural_network.md. False if the window does not fit.
static bool size_pool(pool *p) {
    p->y = p->x;
    for (int i = 0; i < LARGE_DIMS; i++) {
        int64_t in = (int64_t)p->x.size[i], reach = (p->kernel[i] - 1) * p->dilation[i] + 1;
        int64_t rest = in % p->stride[i] ? in % p->stride[i] : p->stride[i];
        int64_t total = reach > rest ? reach - rest : 0;
        if (p->auto_pad == QDQ_PAD_VALID) p->before[i] = p->after[i] = 0;
        if (p->auto_pad == QDQ_PAD_SAME_UPPER) p->before[i] = total / 2;
        if (p->auto_pad == QDQ_PAD_SAME_LOWER) p->before[i] = total - total / 2;
        if (p->auto_pad == QDQ_PAD_SAME_UPPER || p->auto_pad == QDQ_PAD_SAME_LOWER)
            p->after[i] = total - p->before[i];
        int64_t steps = in + p->before[i] + p->after[i] - reach;
        if (steps < 0) return false;
        p->y.size[i] = (size_t)((p->ceil ? steps + p->stride[i] - 1 : steps) / p->stride[i] + 1);
    }
    return true;
}

static double lowest(qdq_dtype dtype) {
    if (!large_is_float(dtype)) return product_least(dtype);
    return dtype == QDQ_FLOAT16 ? -65504 : dtype == QDQ_BFLOAT16 ? -0x1.FEp127 : -0x1.FFFFFEp127;
}

// NaN wins; +0 is greater than -0.
static double greater(double a, double b) {
    if (isnan(a) || isnan(b)) return NAN;
    if (a == b) return signbit(a) ? b : a;
    return a > b ? a : b;
}

static double pool_element(const void *self, size_t batch, size_t channel, const size_t *at) {
    const pool *p = self;
    double sum = 0, most = -INFINITY;
    size_t seen = 0, volume = (size_t)(p->kernel[0] * p->kernel[1] * p->kernel[2]);
    for (size_t k = 0; k < volume; k++) {
        int64_t of[LARGE_DIMS] = {(int64_t)k / p->kernel[2] / p->kernel[1],
                                  (int64_t)k / p->kernel[2] % p->kernel[1],
                                  (int64_t)k % p->kernel[2]};
        size_t from[LARGE_DIMS];
        bool inside = true;
        for (int i = 0; i < LARGE_DIMS; i++) {
            int64_t where = (int64_t)at[i] * p->stride[i] + of[i] * p->dilation[i] - p->before[i];
            from[i] = (size_t)where;
            inside = inside && where >= 0 && where < (int64_t)p->x.size[i];
        }
        if (!inside) continue;
        double v = p->numbers[large_image_at(&p->x, batch, channel, from)];
        sum = p->float_sums ? (double)((float)sum + (float)v) : sum + v;
        seen++;
        most = seen == 1 ? v : greater(most, v);
    }
    if (p->max) return seen ? most : lowest(p->dtype);
    if (p->exclude_pad) return seen ? (double)(float)(sum / (double)seen) : 0;
    return (double)(float)(sum / (double)volume);
}

static qdq_value add_pool(const pool *p, qdq_graph *g, qdq_value x) {
    int skip = LARGE_DIMS - p->x.spatial;
    size_t n = (size_t)p->x.spatial;
    qdq_pool_attrs a = {.strides = {p->stride + skip, n},
                        .kernel = {p->kernel + skip, n},
                        .pads_begin = {p->before + skip, n},
                        .pads_end = {p->after + skip, n},
                        .rounding_type = p->ceil ? QDQ_POOL_ROUND_CEIL : QDQ_POOL_ROUND_FLOOR,
                        .auto_pad = p->auto_pad,
                        .data_format = p->x.format};
    if (p->max) a.dilations = (qdq_ints){p->dilation + skip, n};
    a.exclude_pad = p->exclude_pad ? QDQ_TRUE : QDQ_FALSE;
    if (p->max) a.exclude_pad = QDQ_UNSET;
    return p->max ? qdq_max_pool(g, x, a) : qdq_avg_pool(g, x, a);
}

static double *numbers_of(const tensor *t) {
    double *numbers = oracle_memory(tensor_count(t) * sizeof *numbers);
    for (size_t i = 0; i < tensor_count(t); i++) numbers[i] = tensor_at(t, i);
    return numbers;
}

static void say_pool(large_graph *c, const pool *p, qdq_dtype dtype) {
    size_t at, size = sizeof c->what;
    large_say(c, p->max ? "MaxPool " : "AvgPool ", large_image_shape(&p->x), dtype);
    at = strlen(c->what);
    for (int i = LARGE_DIMS - p->x.spatial; i < LARGE_DIMS && at < size; i++)
        at += (size_t)snprintf(c->what + at, size - at, " kernel %lld by %lld, %lld apart",
                               (long long)p->kernel[i], (long long)p->stride[i],
                               (long long)p->dilation[i]);
}

static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};

static void fill_codes(tensor *x, uint64_t *state) {
    for (size_t i = 0; i < tensor_count(x); i++)
        large_put(x, i, product_least(x->dtype) + (double)large_pick(state, 256));
}

// The greatest of int8 or uint8; sometimes a Dequantize reads it, and other nodes follow.
static void check_pooled_codes(pool *p, uint64_t *state, uint64_t seed) {
    large_graph c;
    tensor *x;
    p->dtype = large_pick(state, 2) ? QDQ_INT8 : QDQ_UINT8;
    large_graph_begin(&c, "");
    say_pool(&c, p, p->dtype);
    qdq_value v = large_input(&c, p->dtype, large_image_shape(&p->x), &x);
    fill_codes(x, state);
    double *numbers = numbers_of(x);
    p->numbers = numbers;
    large_value y = {add_pool(p, c.graph, v), large_image_of(&p->y, p->dtype, pool_element, p)};
    free(numbers);
    if (large_pick(state, 2)) {
        tensor reals = large_like(&y.numbers, QDQ_FLOAT32);
        for (size_t i = 0; i < tensor_count(&reals); i++)
            large_put(&reals, i, (tensor_at(&y.numbers, i) - 3) * 0.5);
        qdq_dequantize_attrs halves = {
            .scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(3), .dtype = QDQ_FLOAT32};
        large_replace(&y, qdq_dequantize(c.graph, y.value, halves), reals);
    }
    large_links(&c, state, y, 0);
    large_graph_check(&c, seed);
}

// Numbers that an order of floats may get wrong.
static void put_odd_numbers(tensor *x, uint64_t *state) {
    static const double odd[] = {-INFINITY, (double)NAN, -(double)NAN, -0.0, 0.0};
    for (size_t i = 0; i < tensor_count(x); i += 1 + large_pick(state, 200)) {
        double v = odd[large_pick(state, UNIT_COUNT(odd))];
        if (x->dtype == QDQ_FLOAT32)
            tensor_put(x, i, v);  // which keeps the sign of NaN
        else
            large_put(x, i, v);
    }
}

// The caller sets p->dtype; every third maximum is of codes instead.
static void check_pool(pool *p, uint64_t *state, uint64_t seed) {
    large_graph c;
    tensor *x;
    if (!size_pool(p)) return;
    if (p->max && !large_pick(state, 3)) {
        check_pooled_codes(p, state, seed);
        return;
    }
    large_graph_begin(&c, "");
    say_pool(&c, p, p->dtype);
    qdq_value v = large_input(&c, p->dtype, large_image_shape(&p->x), &x);
    if (p->max && large_pick(state, 2))
        large_fill_whole(x, state, 100);
    else
        large_fill_reals(x, state);
    if (!large_pick(state, 3)) put_odd_numbers(x, state);
    double *numbers = numbers_of(x);
    p->numbers = numbers;
    tensor y = large_image_of(&p->y, p->dtype, pool_element, p);
    if (p->float_sums) {
        c.target = "onnx";
        large_output(&c, add_pool(p, c.graph, v), y);
    } else {
        large_links(&c, state, (large_value){add_pool(p, c.graph, v), y}, 0);
    }
    free(numbers);
    large_graph_check(&c, seed);
}

// A pool between Dequantize and a product: `fast` pools the codes. The product is by the identity
// matrix, so y is the pooled numbers, all of them integers.
static void check_pool_of_codes(pool *p, uint64_t *state, uint64_t seed) {
    large_graph c;
    tensor *x, *w;
    p->max = true, p->dtype = QDQ_FLOAT32;
    if (!size_pool(p)) return;
    large_graph_begin(&c, "codes of ");
    qdq_dtype dtype = large_pick(state, 2) ? QDQ_INT8 : QDQ_UINT8;
    say_pool(&c, p, dtype);
    qdq_value v = large_input(&c, dtype, large_image_shape(&p->x), &x);
    fill_codes(x, state);
    double *numbers = numbers_of(x);
    for (size_t i = 0; i < tensor_count(x); i++) numbers[i] = (numbers[i] - 3) * 0.5;
    p->numbers = numbers;
    tensor y = large_image_of(&p->y, QDQ_FLOAT32, pool_element, p);
    free(numbers);
    qdq_dequantize_attrs halves = {
        .scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(3), .dtype = QDQ_FLOAT32};
    v = add_pool(p, c.graph, qdq_dequantize(c.graph, v, halves));
    int64_t n = y.shape.dims[y.shape.rank - 1];
    qdq_value identity = large_input(&c, QDQ_INT8, QDQ_SHAPE(n, n), &w);
    for (int64_t i = 0; i < n * n; i++) large_put(w, (size_t)i, i % (n + 1) == 0);
    qdq_dequantize_attrs ones = {.scales = QDQ_SCALE(1.0f), .dtype = QDQ_FLOAT32};
    identity = qdq_dequantize(c.graph, identity, ones);
    large_output(&c, qdq_matmul(c.graph, v, identity, (qdq_matmul_attrs){0}), y);
    large_graph_check(&c, seed);
}

static void random_window(pool *p, uint64_t *state) {
    p->max = large_pick(state, 2), p->exclude_pad = large_pick(state, 2);
    p->ceil = large_pick(state, 2);
    p->auto_pad = large_pick(state, 2) ? QDQ_PAD_NONE : (qdq_auto_pad)large_pick(state, 4);
    for (int i = 0; i < LARGE_DIMS; i++) {
        bool there = i >= LARGE_DIMS - p->x.spatial;
        p->kernel[i] = there ? 1 + (int64_t)large_pick(state, 4) : 1;
        p->stride[i] = there ? 1 + (int64_t)large_pick(state, 4) : 1;
        p->dilation[i] = there && p->max ? 1 + (int64_t)large_pick(state, 3) : 1;
        p->before[i] = there ? (int64_t)large_pick(state, (size_t)p->kernel[i] + 2) : 0;
        p->after[i] = there ? (int64_t)large_pick(state, (size_t)p->kernel[i] + 2) : 0;
    }
}

//---- Interpolation ----------------------------------------------------------

typedef struct resize {
    large_image x, y;
    const double *numbers;
    bool nearest, align;
} resize;

typedef struct place {
    size_t before, after;
    double weight;
} place;

// Section 7 of docs/ops_neural_network.md: in float32 and in this order.
static place place_of(const resize *r, int dim, size_t o) {
    float in = (float)r->x.size[dim], out = (float)r->y.size[dim], at;
    if (r->align)
        at = out == 1 ? 0 : (float)o * (in - 1) / (out - 1);
    else
        at = ((float)o + 0.5f) * in / out - 0.5f;
    if (r->nearest) at = roundf(at);
    if (at < 0) at = 0;
    if (at > in - 1) at = in - 1;
    size_t before = (size_t)at;
    return (place){before, before + 1, (double)(at - (float)before)};
}

// The mean along dim i of the means along the later dims.
static double mean_at(const resize *r, size_t batch, size_t channel, const place *places,
                      size_t *at, int i) {
    if (i == LARGE_DIMS) return r->numbers[large_image_at(&r->x, batch, channel, at)];
    at[i] = places[i].before;
    double a = mean_at(r, batch, channel, places, at, i + 1);
    if (places[i].weight == 0) return a;
    at[i] = places[i].after;
    double b = mean_at(r, batch, channel, places, at, i + 1);
    return a * (1 - places[i].weight) + b * places[i].weight;
}

static double resize_element(const void *self, size_t batch, size_t channel, const size_t *at) {
    const resize *r = self;
    place places[LARGE_DIMS];
    size_t from[LARGE_DIMS];
    for (int i = 0; i < LARGE_DIMS; i++) places[i] = place_of(r, i, at[i]);
    return (double)(float)mean_at(r, batch, channel, places, from, 0);
}

static void check_resize_of(resize *r, qdq_dtype dtype, uint64_t *state, uint64_t seed) {
    large_graph c;
    tensor *x;
    int64_t sizes[LARGE_DIMS];
    bool codes = !large_is_float(dtype);
    large_graph_begin(&c, r->nearest ? "nearest" : "linear");
    large_say(&c, r->align ? ", align_corners, " : ", ", large_image_shape(&r->x), dtype);
    large_say(&c, " to ", large_image_shape(&r->y), dtype);
    qdq_value v = large_input(&c, dtype, large_image_shape(&r->x), &x);
    if (codes)
        fill_codes(x, state);
    else
        large_fill_reals(x, state);
    if (r->nearest && !codes) put_odd_numbers(x, state);
    double *numbers = numbers_of(x);
    r->numbers = numbers;
    tensor y = large_image_of(&r->y, dtype, resize_element, r);
    for (int i = 0; i < LARGE_DIMS; i++) sizes[i] = (int64_t)r->y.size[i];
    qdq_interpolate_attrs attrs = {
        .mode = QDQ_MODE(r->nearest ? QDQ_NEAREST : QDQ_LINEAR),
        .sizes = {sizes + LARGE_DIMS - r->x.spatial, (size_t)r->x.spatial},
        .coordinate_transformation_mode = r->align ? QDQ_ALIGN_CORNERS : QDQ_HALF_PIXEL,
        .data_format = r->x.format};
    large_links(&c, state, (large_value){qdq_interpolate(c.graph, v, attrs), y}, 0);
    free(numbers);
    large_graph_check(&c, seed);
}

static void check_resize(resize *r, uint64_t *state, uint64_t seed) {
    qdq_dtype dtype = dtypes[large_pick(state, 3)];
    r->nearest = !large_pick(state, 3), r->align = large_pick(state, 2);
    if (r->nearest && large_pick(state, 2)) dtype = large_pick(state, 2) ? QDQ_INT8 : QDQ_UINT8;
    check_resize_of(r, dtype, state, seed);
}

//---- Tests ------------------------------------------------------------------

#define ACROSS(cut) large_across(&state, (cut))

// How long the last dim of x must be for rows of y longer than the given lanes.
static size_t row_for(const pool *p, size_t lanes) {
    return lanes * (size_t)p->stride[2] + (size_t)(p->kernel[2] * p->dilation[2]);
}

// Channels last, with more channels than lanes.
static void pools_cross_their_lanes_of_channels(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 12; i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        pool p = {.dtype = dtypes[i % 3],
                  .x = {.format = QDQ_NXC,
                        .spatial = 1 + (int)(i % 3),
                        .batch = 1 + i % 2,
                        .channels = ACROSS(QDQ_POOL_LANES),
                        .size = {1, 1, 1}}};
        for (int d = LARGE_DIMS - p.x.spatial; d < LARGE_DIMS; d++)
            p.x.size[d] = 4 + large_pick(&state, 5);
        random_window(&p, &state);
        if (i % 4 == 3)
            check_pool_of_codes(&p, &state, i);
        else
            check_pool(&p, &state, i);
    }
}

// Channels first, with rows of y longer than the lanes.
static void pools_cross_their_lanes_of_positions(void **unused) {
    static const int64_t strides[] = {1, 2, 3, 4, 8, 16, 5, 27};
    (void)unused;
    for (uint64_t i = 0; i < 3 * UNIT_COUNT(strides); i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        pool p = {.dtype = dtypes[i / UNIT_COUNT(strides)],
                  .x = {.format = QDQ_NCX,
                        .spatial = strides[i % UNIT_COUNT(strides)] > 2
                                       ? 1
                                       : 1 + (int)large_pick(&state, 3),
                        .batch = 1 + i % 2,
                        .channels = 2,
                        .size = {1, 1, 1}}};
        for (int d = LARGE_DIMS - p.x.spatial; d < LARGE_DIMS; d++)
            p.x.size[d] = 3 + large_pick(&state, 3);
        random_window(&p, &state);
        p.stride[2] = strides[i % UNIT_COUNT(strides)];
        p.x.size[2] = row_for(&p, ACROSS(QDQ_POOL_LANES));
        check_pool(&p, &state, i);
        if (i < UNIT_COUNT(strides)) check_pool_of_codes(&p, &state, i);
    }
}

// Windows with more elements in both dims than are joined together, over images that a few windows
// cover.
static void windows_cross_their_taps(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 8; i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        pool p = {.dtype = dtypes[i % 3],
                  .x = {.format = i % 4 < 2 ? QDQ_NCX : QDQ_NXC,
                        .spatial = 2,
                        .batch = 1,
                        .channels = 2,
                        .size = {1, 1, 1}}};
        random_window(&p, &state);
        p.auto_pad = QDQ_PAD_NONE;
        for (int d = 1; d < LARGE_DIMS; d++) {
            p.kernel[d] = (int64_t)ACROSS(QDQ_POOL_TAPS);
            p.before[d] = (int64_t)large_pick(&state, (size_t)p.kernel[d] + 2);
            p.x.size[d] = (size_t)(p.kernel[d] * p.dilation[d]) + large_pick(&state, 9);
        }
        if (i % 4 == 3)
            check_pool_of_codes(&p, &state, i);
        else
            check_pool(&p, &state, i);
    }
}

// More rows of y than a band has; the windows of neighbouring bands overlap.
static void pools_cross_their_bands(void **unused) {
    enum { WIDTH = QDQ_POOL_PACKED / 64 };
    (void)unused;
    for (uint64_t i = 0; i < 8; i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        pool p = {.dtype = dtypes[i % 3],
                  .x = {.format = i % 4 < 2 ? QDQ_NCX : QDQ_NXC,
                        .spatial = 2 + (int)(i % 2),
                        .batch = 1,
                        .channels = 1 + i % 4 / 2,
                        .size = {1, 1, 1}}};
        if (i % 2) p.x.size[0] = 2;
        random_window(&p, &state);
        p.x.size[2] = WIDTH + large_pick(&state, 9);
        p.x.size[1] = ACROSS(QDQ_POOL_PACKED / WIDTH) * (size_t)p.stride[1];
        if (i % 4 == 3)
            check_pool_of_codes(&p, &state, i);
        else
            check_pool(&p, &state, i);
    }
}

// Windows of two or three elements of a row, over more rows of y than are computed together, and
// rows around the lengths of vectors. Some rows are too long for the kernels of small windows.
static void small_windows_cross_their_rows(void **unused) {
    static const size_t widths[] = {5, 16, 31, 33, 64, 129, QDQ_POOL_PACKED};
    (void)unused;
    for (uint64_t i = 0; i < 8 * UNIT_COUNT(widths); i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        size_t width = widths[i / 8];
        pool p = {.max = true,
                  .dtype = QDQ_FLOAT32,
                  .x = {.format = QDQ_NCX,
                        .spatial = 2,
                        .batch = 1 + i % 2,
                        .channels = 2,
                        .size = {1, ACROSS(QDQ_POOL_ROWS), large_near(&state, width)}},
                  .kernel = {1, 1 + (int64_t)large_pick(&state, 4), 2 + (int64_t)(i / 4 % 2)},
                  .stride = {1, 1 + (int64_t)large_pick(&state, 3), 1 + (int64_t)(i / 2 % 2)},
                  .dilation = {1, 1 + (int64_t)large_pick(&state, 2), 1}};
        p.x.size[1] *= (size_t)p.stride[1];
        for (int d = 1; d < LARGE_DIMS; d++) {
            p.before[d] = (int64_t)large_pick(&state, (size_t)p.kernel[d]);
            p.after[d] = (int64_t)large_pick(&state, (size_t)p.kernel[d]);
        }
        if (width == QDQ_POOL_PACKED) p.x.size[1] = 4 + (size_t)p.kernel[1];
        if (i % 4 == 3)
            check_pool_of_codes(&p, &state, i);
        else
            check_pool(&p, &state, i);
    }
}

// Means over more rows of y than are computed together, and rows around the lengths of vectors.
static void means_cross_their_rows(void **unused) {
    static const size_t widths[] = {3, 9, 16, 31, 66, QDQ_POOL_LANES};
    (void)unused;
    for (uint64_t i = 0; i < 10 * UNIT_COUNT(widths); i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        int64_t kernel = 1 + (int64_t)(i % 5);
        pool p = {.dtype = QDQ_FLOAT32,
                  .exclude_pad = i % 2,
                  .float_sums = i / 2 % 2,
                  .x = {.format = QDQ_NCX, .spatial = 2, .batch = 1 + i % 2, .channels = 2},
                  .kernel = {1, i % 3 ? kernel : 1 + (int64_t)large_pick(&state, 5), kernel},
                  .stride = {1, 1 + (int64_t)(i / 4 % 2), 1 + (int64_t)(i / 3 % 2)},
                  .dilation = {1, 1, 1}};
        p.x.size[0] = 1;
        p.x.size[1] = ACROSS(QDQ_POOL_ROWS) * (size_t)p.stride[1];
        p.x.size[2] = widths[i / 10] * (size_t)p.stride[2] + large_pick(&state, 4);
        for (int d = 1; d < LARGE_DIMS; d++) {
            p.before[d] = (int64_t)large_pick(&state, (size_t)p.kernel[d] + 1);
            p.after[d] = (int64_t)large_pick(&state, (size_t)p.kernel[d] + 1);
        }
        check_pool(&p, &state, i);
    }
}

// Floats that are stored as bfloat16: x is float32 and y bfloat16, or the other way round. Means of
// four multiples of 4 are bfloat16 numbers.
static void pools_read_and_store_other_floats(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 8; i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        pool p = {.max = i % 2,
                  .dtype = QDQ_FLOAT32,
                  .x = {.format = i & 2 ? QDQ_NCX : QDQ_NXC,
                        .spatial = 2,
                        .batch = 2,
                        .channels = 3,
                        .size = {1, 6, 40}},
                  .kernel = {1, 2, 2},
                  .stride = {1, 2, 2},
                  .dilation = {1, 1, 1}};
        assert_true(size_pool(&p));
        large_graph c;
        tensor *x;
        large_graph_begin(&c, "");
        say_pool(&c, &p, p.dtype);
        c.short_numbers = true;
        large_value v = {large_input(&c, p.dtype, large_image_shape(&p.x), &x), {0}};
        large_fill_whole(x, &state, 25);
        for (size_t k = 0; k < tensor_count(x); k++) large_put(x, k, 4 * tensor_at(x, k));
        v.numbers = large_like(x, p.dtype);
        memcpy(v.numbers.data, x->data, tensor_count(x) * sizeof(float));
        if (i & 4) large_relu(&c, &v);
        double *numbers = numbers_of(&v.numbers);
        p.numbers = numbers;
        tensor y = large_image_of(&p.y, p.dtype, pool_element, &p);
        large_replace(&v, add_pool(&p, c.graph, v.value), y);
        if (!(i & 4)) large_relu(&c, &v);
        large_output(&c, v.value, v.numbers);
        free(numbers);
        large_graph_check(&c, i);
    }
}

// Rows shorter than the stride and the window, so that a window may skip one.
static void windows_reach_over_short_rows(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 60; i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        pool p = {.dtype = dtypes[i % 3],
                  .x = {.format = i % 4 ? QDQ_NCX : QDQ_NXC,
                        .spatial = 1 + (int)large_pick(&state, 2),
                        .batch = 1,
                        .channels = 2,
                        .size = {1, 1, 1}}};
        for (int d = LARGE_DIMS - p.x.spatial; d < LARGE_DIMS; d++)
            p.x.size[d] = 1 + large_pick(&state, 3);
        random_window(&p, &state);
        p.auto_pad = QDQ_PAD_NONE;
        p.stride[2] = 1 + (int64_t)large_pick(&state, 6);
        p.before[2] = (int64_t)large_pick(&state, 7), p.after[2] = (int64_t)large_pick(&state, 7);
        check_pool(&p, &state, i);
    }
}

static void interpolations_cross_their_lanes(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 18; i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        resize r = {.x = {.format = i % 2 ? QDQ_NCX : QDQ_NXC,
                          .spatial = 1 + (int)(i / 2 % 3),
                          .batch = 2,
                          .channels = i % 2 ? 3 : ACROSS(QDQ_INTERPOLATE_LANES),
                          .size = {1, 1, 1}}};
        r.y = r.x;
        for (int d = LARGE_DIMS - r.x.spatial; d < LARGE_DIMS; d++) {
            r.x.size[d] = 1 + large_pick(&state, 9), r.y.size[d] = 1 + large_pick(&state, 9);
        }
        if (i % 2) r.y.size[2] = ACROSS(QDQ_INTERPOLATE_LANES);
        check_resize(&r, &state, i);
    }
}

// Rows of y that lie in several units, and sizes that are doubled, which have loops of their own.
static void interpolations_cross_their_rows(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 12; i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        resize r = {.x = {.format = i % 4 ? QDQ_NCX : QDQ_NXC,
                          .spatial = 2 + (int)(i % 2),
                          .batch = 1,
                          .channels = 2,
                          .size = {1, 1, 1}}};
        if (i % 2) r.x.size[0] = 2;
        r.x.size[1] = ACROSS(QDQ_INTERPOLATE_ROWS / 2), r.x.size[2] = 1 + large_pick(&state, 9);
        if (i % 6 == 2) r.x.size[2] = ACROSS(QDQ_INTERPOLATE_LANES / 2);
        r.y = r.x;
        for (int d = 0; d < LARGE_DIMS; d++)
            if (r.x.size[d] > 1) r.y.size[d] = 2 * r.x.size[d] - (i % 5 ? 0 : (size_t)d);
        check_resize(&r, &state, i);
    }
}

// Nearest elements of float32 that are doubled along rows, over more rows than a unit and more
// elements than the lanes have; in the other dim they are doubled, tripled, or as they were.
static void doubled_rows_cross_their_lanes(void **unused) {
    static const size_t widths[] = {3, 8, 17, 28, QDQ_INTERPOLATE_LANES / 2};
    (void)unused;
    for (uint64_t i = 0; i < 6 * UNIT_COUNT(widths); i++) {
        if (unit_left_out(i)) continue;
        uint64_t state = large_state(i);
        resize r = {.nearest = true,
                    .x = {.format = QDQ_NCX, .spatial = 2, .batch = 1 + i % 2, .channels = 2}};
        r.x.size[0] = 1, r.x.size[1] = ACROSS(QDQ_INTERPOLATE_ROWS / 2);
        r.x.size[2] = i % 2 ? ACROSS(widths[i / 6]) : widths[i / 6];
        r.y = r.x;
        r.y.size[1] *= 1 + i % 3, r.y.size[2] *= 2;
        check_resize_of(&r, QDQ_FLOAT32, &state, i);
    }
}

// Width, or channels if they are neighbours, lie around these sizes.
static void random_image(large_image *x, uint64_t *state, size_t width, size_t channels) {
    *x = (large_image){.format = large_pick(state, 2) ? QDQ_NCX : QDQ_NXC,
                       .spatial = 1 + (int)large_pick(state, LARGE_DIMS),
                       .batch = 1 + large_pick(state, 3),
                       .channels = 1 + large_pick(state, 6),
                       .size = {1, 1, 1}};
    for (int d = LARGE_DIMS - x->spatial; d < LARGE_DIMS; d++)
        x->size[d] = 1 + large_pick(state, x->spatial == 3 ? 5 : 9);
    if (x->format == QDQ_NCX)
        x->size[2] = large_near(state, width);
    else
        x->channels = large_near(state, channels);
}

static void random_windows_agree(void **unused) {
    enum { CHANNELS = 64 };
    (void)unused;
    for (size_t i = 0; i < large_cases.count; i++) {
        uint64_t seed = large_cases.seed + i, state = large_state(seed);
        size_t kind = large_pick(&state, 4);
        if (kind == 3) {
            resize r;
            random_image(&r.x, &state, QDQ_INTERPOLATE_LANES, CHANNELS);
            r.y = r.x;
            for (int d = LARGE_DIMS - r.x.spatial; d < LARGE_DIMS; d++) {
                bool wide = d == 2 && r.x.format == QDQ_NCX;
                r.y.size[d] = large_near(&state, wide ? QDQ_INTERPOLATE_LANES : 4);
            }
            check_resize(&r, &state, seed);
            continue;
        }
        pool p = {.dtype = dtypes[large_pick(&state, 3)]};
        random_image(&p.x, &state, QDQ_POOL_LANES, QDQ_POOL_CHANNELS);
        random_window(&p, &state);
        if (kind)
            check_pool(&p, &state, seed);
        else
            check_pool_of_codes(&p, &state, seed);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_cross_their_lanes_of_channels),
        cmocka_unit_test(pools_cross_their_lanes_of_positions),
        cmocka_unit_test(windows_cross_their_taps),
        cmocka_unit_test(pools_cross_their_bands),
        cmocka_unit_test(small_windows_cross_their_rows),
        cmocka_unit_test(means_cross_their_rows),
        cmocka_unit_test(pools_read_and_store_other_floats),
        cmocka_unit_test(windows_reach_over_short_rows),
        cmocka_unit_test(interpolations_cross_their_lanes),
        cmocka_unit_test(interpolations_cross_their_rows),
        cmocka_unit_test(doubled_rows_cross_their_lanes),
        cmocka_unit_test(random_windows_agree),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
