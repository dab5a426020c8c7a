// SPDX-License-Identifier: Apache-2.0
// Finds scales and zero points with which a Quantize or Dequantize reproduces the device's results.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_FIT_H
#define QDQ_TOOLS_LAB_EXPLAIN_FIT_H

#include "tools/lab/explain/parameters.h"

// The input of a node, its result and the device's result, as numbers. The node has no zero point,
// a single one, or one per scale.
typedef struct fit_data {
    const qdq_allocator *allocator;
    double *x, *ours, *got;  // owned
    size_t *group;           // [element]: index of its scale; owned; NULL: 0
    size_t elements, groups;
    bool quantizes;
    double least, greatest;  // range of the codes
    qdq_dtype dtype;         // dtype of the result
    const double *scales, *zeros;
    size_t zero_count;
} fit_data;

// Reads the data of a node. False unless it is a Quantize or Dequantize of integer codes whose
// scales belong to the tensor, to channels or to blocks, and the device gave its result. `p` must
// outlive it. Release it in either case.
bool fit_open(fit_data *f, const node_document *d, const parameter_pair *p);
void fit_release(fit_data *f);

// Returns the data of a node with a single scale for all groups, and no zero points if it has
// several. It owns nothing, and lives as long as `f`.
fit_data fit_as_one(const fit_data *f);

// Finds scales for given zero points, a single one or one per group: of all numbers that fit, those
// with the fewest digits. Writes `groups` numbers.
bool fit_scales(const fit_data *f, const double *zeros, size_t zero_count, double *out);
// Finds zero points for the node's scales. Writes `zero_count` numbers.
bool fit_zeros(const fit_data *f, double *out);
// Estimates the zero point that belongs to another scale, if the node has a single scale and at
// most one zero point.
bool fit_zero_of_both(const fit_data *f, double *out);

#endif
