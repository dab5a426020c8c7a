// SPDX-License-Identifier: Apache-2.0
// AvgPool of float32 with `columns_first`: the orders of ONNX Runtime's MlasPool, which computes
// AveragePool before opset 19.
//
//     a window that is the image    the four lanes of ops/reduce/order/global_pool.h
//     two or three spatial dims, the last stride at most 2, all of the kernel at most 32, and
//     rows of at most 2045 elements with their padding
//                                   the elements of each column of the window in row-major order
//                                   (three dims: from 0 on), then the sums of the columns from left
//                                   to right; a column in the padding is 0
//     others                        row-major order, from 0 on
//
// A unit is a plane of one channel.
#include <string.h>

#include "ops/chunks.h"
#include "ops/reduce/order/global_pool.h"
#include "ops/spatial/pool_band.h"

enum { LINE = 2045, MOST_KERNEL = 32, PHASE = LINE / 2 + MOST_KERNEL + QDQ_POOL_ROOM };

// Returns element 0 of plane number `unit` of a tensor with these elements in a plane.
static size_t plane_of(const qdq_pool_params *p, size_t unit, size_t elements) {
    return unit / p->channels * elements * p->channels + unit % p->channels;
}

static size_t elements_in(const qdq_pool_params *p) {
    return p->axes[0].in * p->axes[1].in * p->axes[2].in;
}

static size_t elements_out(const qdq_pool_params *p) {
    return p->axes[0].out * p->axes[1].out * p->axes[2].out;
}

//---- A window that is the image -----------------------------------------------

static void run_images(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_pool_params *p = params;
    size_t n = elements_in(p);
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t unit = begin; unit < end; unit++) {
        const float *x = (const float *)tensors->x[0] + plane_of(p, unit, n);
        float mean = qdq_global_mean(x, p->channels, n);
        qdq_pool_store(p, &mean, &y, unit, 1, 1);
    }
    qdq_chunks_end(&y);
}

//---- Columns ------------------------------------------------------------------

// Kernels read up to QDQ_POOL_ROOM elements more.
typedef struct scratch {
    _Alignas(64) float sums[LINE + 1 + QDQ_POOL_ROOM], windows[LINE + QDQ_POOL_ROOM];
    _Alignas(64) float phases[2 * PHASE];  // of sums: even ones, odd ones
    float means[LINE];
    double divisors[LINE];
} scratch;

static void add_row(const qdq_pool_params *p, const float *x, size_t rows, float *sums) {
    size_t n = p->axes[2].in;
    if (p->channels == 1) {
        p->sums->add_rows(sums, x, rows, n, n);
        return;
    }
    for (size_t row = 0; row < rows; row++, x += n * p->channels)
        for (size_t i = 0; i < n; i++) sums[i] += x[i * p->channels];
}

// Adds the columns of the windows in row (depth, row) of y, and returns how many elements of x each
// column has. The ends of `sums` are padding.
static size_t add_columns(const qdq_pool_params *p, const float *x, size_t depth, size_t row,
                          float *sums) {
    const qdq_pool_axis *d = &p->axes[0], *h = &p->axes[1], *w = &p->axes[2];
    qdq_pool_range depths = qdq_pool_inside(d, depth * d->stride);
    qdq_pool_range rows = qdq_pool_inside(h, row * h->stride);
    size_t count = (depths.end - depths.begin) * (rows.end - rows.begin);
    // -0 + x is x for all x.
    for (size_t i = 0; i < w->in; i++) sums[w->pad + i] = p->spatial == 3 || !count ? 0.0f : -0.0f;
    for (size_t k = depths.begin; count && k < depths.end; k++) {
        size_t plane = depth * d->stride + k - d->pad;
        size_t at = plane * h->in + row * h->stride + rows.begin - h->pad;
        add_row(p, x + at * w->in * p->channels, rows.end - rows.begin, sums + w->pad);
    }
    return count;
}

static void set_divisors(const qdq_pool_params *p, size_t count, double *divisors) {
    const qdq_pool_axis *a = p->axes;
    double volume = (double)(a[0].kernel * a[1].kernel * a[2].kernel);
    for (size_t i = 0; i < a[2].out; i++) {
        double seen = p->exclude_pad ? (double)count * a[2].seen[i] : volume;
        divisors[i] = seen > 1.0 ? seen : 1.0;
    }
}

// Adds the columns of each window, whose sums lie in phases if the stride is 2.
static void join_columns(const qdq_pool_params *p, scratch *s) {
    const qdq_pool_axis *w = &p->axes[2];
    size_t offsets[MOST_KERNEL];
    bool pairs = w->stride == 2;
    if (pairs)
        p->kernels->pairs[QDQ_POOL_FLOATS](s->sums, s->phases, s->phases + PHASE,
                                           w->out + w->kernel / 2);
    for (size_t k = 0; k < w->kernel; k++) offsets[k] = pairs ? k % 2 * PHASE + k / 2 : k;
    for (size_t i = 0; i < w->out; i++) s->windows[i] = -0.0f;
    p->kernels->join[QDQ_POOL_FLOATS](pairs ? s->phases : s->sums, offsets, w->kernel, false,
                                      s->windows, w->out);
}

static void run_columns(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_pool_params *p = params;
    const qdq_pool_axis *a = p->axes, *w = a + 2;
    size_t seen = SIZE_MAX;
    qdq_chunks y;
    scratch s;
    qdq_scratch_drop(tensors->poison, &s, sizeof s);
    memset(&s, 0, sizeof s);
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t unit = begin; unit < end; unit++) {
        const float *x = (const float *)tensors->x[0] + plane_of(p, unit, elements_in(p));
        size_t to = plane_of(p, unit, elements_out(p));
        for (size_t row = 0; row < a[0].out * a[1].out; row++, to += w->out * p->channels) {
            size_t count = add_columns(p, x, row / a[1].out, row % a[1].out, s.sums);
            join_columns(p, &s);
            if (count != seen) set_divisors(p, count, s.divisors);
            seen = count;
            p->kernels->divide_floats(s.windows, s.divisors, s.means, w->out);
            qdq_pool_store(p, s.means, &y, to, w->out, 1);
        }
    }
    qdq_chunks_end(&y);
}

//---- Entry --------------------------------------------------------------------

static qdq_tensor_op_fn *function_of(const qdq_window *w) {
    bool whole = true, small = true;
    size_t last = (size_t)w->spatial - 1, row = w->in[last] + w->pad_begin[last] + w->pad_end[last];
    for (int i = 0; i < w->spatial; i++) {
        whole = whole && w->kernel[i] == w->in[i] && w->stride[i] == 1 && !w->pad_begin[i] &&
                !w->pad_end[i];
        small = small && w->kernel[i] <= MOST_KERNEL;
    }
    if (whole) return run_images;
    return w->spatial > 1 && w->stride[last] <= 2 && small && row <= LINE ? run_columns : NULL;
}

bool qdq_pool_columns_stage(const qdq_pool_params *p, const qdq_window *w, size_t planes,
                            qdq_stage *stage) {
    qdq_tensor_op_fn *function = function_of(w);
    size_t volume = function == run_images ? 1 : p->axes[0].kernel * p->axes[1].kernel;
    if (!function) return false;
    *stage = (qdq_stage){.params = p,
                         .tensor_op = function,
                         .units = planes,
                         .cost = elements_in(p) * volume * planes,
                         .chunks = true};
    return true;
}
