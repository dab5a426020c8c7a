// SPDX-License-Identifier: Apache-2.0
// Indices that are elements of a tensor, as the Gather and Scatter ops and OneHot read them: one
// place that knows their dtypes, and the meaning of an index out of range.
//
// An index counts from 0, or from the end of the dim if it is negative. One that is out of range
// stands for the nearest index in range, since a run cannot fail; a constant one is a finding.
#ifndef QDQ_OPS_MOVEMENT_INDICES_H
#define QDQ_OPS_MOVEMENT_INDICES_H

#include "ops/movement/movement.h"

#define QDQ_SET_INDICES (QDQ_SET(INT32) | QDQ_SET_WIDE_INTS)

enum { QDQ_INDEX_PART = 128 };  // offsets that are computed at a time

// Returns element i, not yet brought into range; INT64_MAX if it is larger.
static inline int64_t qdq_raw_index(qdq_dtype dtype, const void *indices, size_t i) {
    switch (dtype) {
    case QDQ_INT32: return ((const int32_t *)indices)[i];
    case QDQ_UINT32: return ((const uint32_t *)indices)[i];
    case QDQ_UINT64: {
        uint64_t index = ((const uint64_t *)indices)[i];
        return index < INT64_MAX ? (int64_t)index : INT64_MAX;
    }
    default: return ((const int64_t *)indices)[i];
    }
}

// Returns the index on a dim of `size` elements that element i stands for.
static inline size_t qdq_index(qdq_dtype dtype, const void *indices, size_t i, size_t size) {
    int64_t index = qdq_raw_index(dtype, indices, i), dim = (int64_t)size;
    if (index < 0) index = index < -dim ? 0 : index + dim;
    return (size_t)(index < dim ? index : dim - 1);
}

// Reports a finding unless the input's elements, if constant, are indices of dims of x: element i
// of dims[i % count]. The op's `looks_at` must have the input.
bool qdq_check_indices(const qdq_op_context *ctx, size_t input, const int64_t *dims, size_t count);

// Checks the indices of GatherElements and ScatterElements: they have as many dims as t, and none
// is longer, except the axis.
bool qdq_check_element_indices(const qdq_op_context *ctx, qdq_shape t, size_t input, int axis);
// Checks the indices of GatherND and ScatterND: their last dim has the indices of dims of t from
// `first` on, and their first `first` dims equal the dims of t.
bool qdq_check_tuples(const qdq_op_context *ctx, qdq_shape t, size_t input, int first);

//---- Places -----------------------------------------------------------------

// How indices name places in a tensor t: place number r is the n elements of t from an offset on.
typedef struct qdq_places qdq_places;

// Writes the offsets of places first to first + count - 1, for count up to QDQ_INDEX_PART.
typedef void qdq_offsets_fn(const qdq_places *p, const void *indices, size_t first, size_t count,
                            size_t *out);

struct qdq_places {
    qdq_offsets_fn *offsets;
    qdq_dtype dtype;               // of the indices
    size_t count, n;               // places, and elements of each
    int rank;                      // of the indices
    int axis;                      // the dim of t that an index is for, or the first of them
    size_t tuple;                  // indices that name a place
    size_t dims[QDQ_MAX_RANK];     // of the indices
    size_t sizes[QDQ_MAX_RANK];    // of t
    size_t strides[QDQ_MAX_RANK];  // of t
};

// Returns the places for Gather: for each index of the dims before `axis`, for each element of
// `indices`, that index of the axis.
qdq_places qdq_places_along(qdq_shape t, const qdq_type *indices, int axis);
// Returns the places for GatherElements: element (i, j, k) of `indices` replaces its own coordinate
// on the axis: (indices, j, k) for axis 0.
qdq_places qdq_places_of_elements(qdq_shape t, const qdq_type *indices, int axis);
// Returns the places for GatherND: the last dim of `indices` has the indices of the dims of t after
// the first `batch_dims`, which both share.
qdq_places qdq_places_of_tuples(qdq_shape t, const qdq_type *indices, int batch_dims);

#endif
