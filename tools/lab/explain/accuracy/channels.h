// SPDX-License-Identifier: Apache-2.0
// Measures the range of each channel of a value, and how far the channels differ.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_CHANNELS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_CHANNELS_H

#include "tools/lab/explain/replay.h"

enum { WORST_CHANNELS = 3 };

// The numbers at each index of an axis.
typedef struct channel_ranges {
    int axis;
    size_t count;
    double *least, *greatest;      // [index]; owned
    double median;                 // of the greatest |x| of the channels that are not all 0
    double ratio;                  // the greatest |x| of all, divided by the median; 1 if all are 0
    size_t least_reach;            // index with the least reach that is not 0
    double quiet;                  // the median divided by that reach; 1 if all are 0
    size_t worst[WORST_CHANNELS];  // indices with the greatest |x|, descending
    size_t worst_count;
} channel_ranges;

// Measures row-major numbers. False if memory runs out. Release it in either case.
bool channel_ranges_open(channel_ranges *out, const double *x, qdq_shape shape, int axis,
                         const qdq_allocator *allocator);
void channel_ranges_release(channel_ranges *c);
// Opens ranges of 0, which the caller may widen. False if memory runs out.
bool channel_ranges_zero(channel_ranges *out, int axis, size_t count,
                         const qdq_allocator *allocator);
// Sets median, ratio and worst from the ranges. Call it once. False if memory runs out.
bool channel_ranges_compare(channel_ranges *c, const qdq_allocator *allocator);
// Returns the greatest |x| of a channel.
double channel_reach(const channel_ranges *c, size_t index);

// Returns the index of an element along an axis.
size_t channel_of(qdq_shape shape, int axis, size_t element);

// An operand of a product, and the axis that the product sums over: a factor between its channels
// can move to the other operand. Axis -1: no product.
typedef struct summed_operand {
    size_t product, port;
    int axis;
} summed_operand;

// Finds the product that reads a value directly or through ops that keep its shape.
summed_operand summed_operand_of(const replay *r, qdq_value value);
// Returns the axis of a product's operand of this rank; -1: it is no product, or no operand.
int summed_axis(const replay *r, size_t product, size_t port, int rank);

#endif
