// SPDX-License-Identifier: Apache-2.0
// The scales and zero points with which Quantize or Dequantize gives what the device gave.
#ifndef QDQ_TOOLS_EXPLAIN_FIT_H
#define QDQ_TOOLS_EXPLAIN_FIT_H

#include "tools/lab/explain/parameters.h"

// What a node read and what the device gave, as numbers. One zero point for each scale.
typedef struct fit_data {
    const qdq_allocator *allocator;
    double *x, *ours, *got;  // owned
    size_t *group;           // [element]: which scale it has; owned
    size_t elements, groups;
    bool quantizes;
    double least, greatest;  // codes
    qdq_dtype dtype;         // of the result
    const double *scales, *zeros;
    size_t zero_count;
} fit_data;

// False if the node is no Quantize or Dequantize with one scale or one for each channel, or the
// device did not give its result. `p` must outlive it. Release it in either case.
bool fit_open(fit_data *f, const node_document *d, const parameter_pair *p);
void fit_release(fit_data *f);

// Finds scales for given zero points, one for each group or one; writes `groups` numbers. The
// numbers with the fewest digits among those that fit.
bool fit_scales(const fit_data *f, const double *zeros, size_t zero_count, double *out);
// Finds zero points for the node's scales; writes `zero_count` numbers.
bool fit_zeros(const fit_data *f, double *out);
// Finds about which zero point belongs to another scale, if there is one of each.
bool fit_zero_of_both(const fit_data *f, double *out);

#endif
