// SPDX-License-Identifier: Apache-2.0
// A unit of a direct convolution while it runs, and its planes.
#ifndef QDQ_OPS_CONV_DIRECT_CONV_DIRECT_UNIT_H
#define QDQ_OPS_CONV_DIRECT_CONV_DIRECT_UNIT_H

#include "ops/conv/direct/conv_direct.h"

// A plane of the first dim under a window.
typedef struct qdq_direct_slice {
    size_t tap, at;  // SIZE_MAX: beyond the border
} qdq_direct_slice;

// The places of a row of a plane: in x, from the first element of a channel on, and in the plane.
typedef struct qdq_direct_place {
    size_t from, to, rows, n;
} qdq_direct_place;

typedef struct qdq_direct_scratch {
    _Alignas(64) float planes[QDQ_DIRECT_PLANES + QDQ_DIRECT_ROOM];
    _Alignas(64) float sums[QDQ_DIRECT_SUMS + QDQ_DIRECT_ROOM];
    _Alignas(64) float results[QDQ_DIRECT_RESULTS + QDQ_DIRECT_ROOM];
    _Alignas(64) float other[QDQ_DIRECT_RESULTS + QDQ_DIRECT_ROOM];  // results in another form
    float weights[QDQ_DIRECT_WEIGHTS];                               // that are not constant
    bool odd[QDQ_DIRECT_OUTPUTS];                                    // their channels
    qdq_direct_k k[QDQ_DIRECT_K];
    qdq_direct_slice slices[QDQ_DIRECT_K];
    qdq_direct_place places[QDQ_DIRECT_SLOTS];
    qdq_direct_rows rows[QDQ_DIRECT_SLOTS];  // of each slot of a channel
    qdq_direct_flat flat;
    float bias[QDQ_DIRECT_CHANNELS];
} qdq_direct_scratch;

typedef struct qdq_direct_unit {
    const qdq_direct *d;
    const qdq_tensors *tensors;
    qdq_direct_scratch *s;
    size_t image, plane;                                    // plane: of y
    size_t q[QDQ_MAX_SPATIAL], n[QDQ_MAX_SPATIAL];          // positions within phases
    size_t out[QDQ_MAX_SPATIAL], results[QDQ_MAX_SPATIAL];  // positions of y
    size_t channel, channels;
    size_t slices, slots;  // slots: planes for each slice
    int32_t zero_point;
    size_t filled_group, filled_input;      // that planes hold
    size_t listed[QDQ_MAX_SPATIAL], depth;  // the phase that k has, and its k
} qdq_direct_unit;

// Finds the planes under the windows of a unit.
void qdq_direct_begin_planes(qdq_direct_unit *unit);

// Makes them zeros.
void qdq_direct_zero_planes(qdq_direct_unit *unit);

// Describes how the planes of each channel are filled, if each channel is a group.
void qdq_direct_view_planes(qdq_direct_unit *unit, qdq_direct_channels *to);

// Fills the planes of the input channels begin..end of a group. Elements beyond the border stay
// zero.
void qdq_direct_fill_planes(qdq_direct_unit *unit, size_t group, size_t begin, size_t end);

// Finds the scales and biases of a unit whose groups have one output each; NULL: none.
void qdq_direct_view_reals(qdq_direct_unit *unit, const float **scale, size_t *scale_next,
                           const float **bias);

// Runs a unit whose groups have one input and one output, without planes, and hands over its
// results.
void qdq_direct_run_depthwise(qdq_direct_unit *unit);

// The same from codes to codes. False: no kernel supports it, and nothing is done.
bool qdq_direct_run_codes(qdq_direct_unit *unit);

// Computes a channel of this kind of unit with planes.
void qdq_direct_run_channel(qdq_direct_unit *unit, size_t channel, float *results);

// Returns the place in y of the first result of a unit.
size_t qdq_direct_place_in_y(const qdq_direct_unit *unit);

// Results of some output channels, one channel after the other, each with rows of a plane of y.
typedef struct qdq_direct_block {
    const qdq_gemm *gemm;
    const qdq_tensors *tensors;
    size_t at;                 // the place of the first result in y
    size_t channels, rows, n;  // n: of a row
    size_t width;              // of the plane
    float *results;            // may be overwritten
    void *other;               // memory for them in another form
} qdq_direct_block;

// Hands over results that are reals.
void qdq_direct_put_reals(const qdq_direct_block *block);

// Hands over all results.
void qdq_direct_put(const qdq_direct_unit *unit);

#endif
