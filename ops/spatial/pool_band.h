// SPDX-License-Identifier: Apache-2.0
// Runs AvgPool band by band, the windows of some neighbouring rows of y, and MaxPool row by row.
#ifndef QDQ_OPS_SPATIAL_POOL_BAND_H
#define QDQ_OPS_SPATIAL_POOL_BAND_H

#include "ops/chunks.h"
#include "ops/kernels/pool/pool.h"
#include "ops/kernels/reduce/reduce_kernels.h"
#include "ops/spatial/window.h"

// The part begin..end of a window, in elements of the window.
typedef struct qdq_pool_range {
    size_t begin, end;
} qdq_pool_range;

// One spatial dim; missing dims have size 1.
typedef struct qdq_pool_axis {
    size_t in, out, kernel, stride, dilation, pad;
    // Filled in by qdq_pool_set_bands, for the two last dims. Elements of a window are taken in
    // groups of `taps`, the last one may be smaller. Windows `span` along the dim are computed
    // together. Their elements in x are sorted by phase (position % stride): tap k reads phase
    // number phase_of[k], from element shift[k] on, and phase p begins at position residue[p].
    size_t taps, span, phases, most_shift;
    size_t *phase_of, *shift, *residue;
    const double *seen;  // of each window: elements that lie in x; of sums alone
} qdq_pool_axis;

typedef struct qdq_pool_params {
    qdq_pool_kind kind;
    const qdq_pool_kernels *kernels;
    bool exclude_pad, channels_last;
    bool columns;  // the stage is that of qdq_pool_columns_stage, which uses `sums`
    const qdq_slice_kernels *sums;
    int spatial;                 // dims
    qdq_dtype x_dtype, y_dtype;  // they may differ if floats are stored as bfloat16
    size_t channels;             // neighbours in memory: 1 unless they are last
    size_t part;                 // of the channels: computed together
    qdq_pool_axis axes[QDQ_MAX_SPATIAL];
    float lowest;  // of y
    uint8_t sign;  // XOR with it maps codes to unsigned numbers of the same order
    // Set by qdq_pool_set_bands. A maximum: has_empty tells that windows may have no element, and
    // qdq_pool_run_peaks runs it if `peaks` is not NULL. A mean: by_rows tells that
    // qdq_pool_run_means runs it, and that a band is a row of y.
    bool has_empty;
    qdq_pool_peaks_fn *peaks;
    bool by_rows;
    // The bytes of an element: in x, packed, before it is encoded. Set by qdq_pool_set_bands.
    size_t x_size, packed_size, result_size;
} qdq_pool_params;

static inline size_t qdq_pool_lesser(size_t a, size_t b) { return a < b ? a : b; }

// Returns the number of elements along a dim from the first window to the end of the last, padding
// too, without dilation.
static inline size_t qdq_pool_extent(const qdq_pool_axis *a) {
    return (a->out - 1) * a->stride + a->kernel;
}

// True if windows slide within planes: they see one place of the first dim.
static inline bool qdq_pool_is_of_planes(const qdq_pool_params *p) {
    const qdq_pool_axis *d = &p->axes[0];
    return d->kernel == 1 && d->stride == 1 && !d->pad && d->in == d->out;
}

// Returns the part of the window at position `at`, counted from the start of the padding, that lies
// in x.
qdq_pool_range qdq_pool_inside(const qdq_pool_axis *axis, size_t at);

// True if each window has an element in x.
bool qdq_pool_none_is_empty(const qdq_pool_axis *axes);

// Returns the kernel for small windows over planes, which needs no bands; NULL if there is none.
qdq_pool_peaks_fn *qdq_pool_peaks_of(const qdq_pool_params *p);

// True if qdq_pool_run_means takes windows of a mean, which need no bands.
bool qdq_pool_means_rows(const qdq_pool_params *p);

// Writes the stage of a mean of float32 in the order of `columns_first`, whose params have bands.
// `planes`: images of one channel. False if that order is the row-major order of
// qdq_pool_run_means and qdq_pool_run_mean.
bool qdq_pool_columns_stage(const qdq_pool_params *p, const qdq_window *w, size_t planes,
                            qdq_stage *stage);

// Sizes the bands of params whose other fields are set. False: memory runs out.
bool qdq_pool_set_bands(qdq_mempool *mempool, qdq_pool_params *p);

// Bands of one plane of y; a band of a maximum is a row. A unit is a band; planes are numbered by
// batch and channel, or by batch if channels are last.
size_t qdq_pool_bands(const qdq_pool_params *p);

// Stores `count` windows, of `channels` channels each, from element `at` of y on.
void qdq_pool_store(const qdq_pool_params *p, const void *from, qdq_chunks *y, size_t at,
                    size_t count, size_t channels);

qdq_tensor_op_fn qdq_pool_run_mean, qdq_pool_run_means, qdq_pool_run_max, qdq_pool_run_peaks;

#endif
