// SPDX-License-Identifier: Apache-2.0
// Tries other parameters on the numbers that a pair of Quantize and Dequantize rounds: the mends
// for which the outputs are measured (pair_causes.h).
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_MENDS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_MENDS_H

#include "tools/lab/explain/accuracy/channels.h"
#include "tools/lab/explain/grouping.h"

// The numbers that a node quantizes, and its parameters.
typedef struct quantized_numbers {
    double *x;      // exact numbers
    double *codes;  // codes that the node computes from them
    size_t count;
    qdq_shape shape;
    double scale, zero;  // if per_tensor
    bool per_tensor;
    double least, greatest;
} quantized_numbers;

// The scales and zero points of a node, and the elements that share one.
typedef struct pair_scales {
    const qdq_allocator *allocator;
    double *scales, *zeros;  // [group]; owned
    grouping groups;
} pair_scales;

// How to choose parameters for numbers. Ranges contain 0.
typedef struct rounding {
    bool given;   // the node's scales and zero points, times `part`; else they cover each range
    bool shifts;  // zero points follow the range, too; else they stay
    int axis;     // numbers are first divided by the reach of their channel on this axis; -1: none
    double part;  // of the range that scales cover
} rounding;

typedef struct mend {
    const char *cause;
    char text[192];  // what to do; empty: the caller says it
    rounding how;
    double own;    // ratio of the numbers to their errors, in decibels
    bool narrows;  // the codes cover less than before
} mend;

// A mend may use these.
typedef struct mend_room {
    bool weights;
    bool shifts;                     // zero points other than the present ones
    const channel_ranges *channels;  // on the axis that a product sums over; NULL: none
    bool quiet;  // the channel that reaches least is multiplied by one that reaches far
} mend_room;

enum {
    MOST_MENDS = 4,
    LEAST_IMBALANCE = 8,  // ratio of a channel's reach to the median
    LEAST_SAMPLES = 16,   // that show the range of activations: fewer ask for too narrow a one
};

// Finds mends whose own ratio is better than the present one. Returns their number.
size_t find_mends(const quantized_numbers *q, const pair_scales *s, const mend_room *room,
                  mend out[MOST_MENDS]);
// Rounds all numbers to `out`, as float32. False if memory runs out.
bool mend_round(const quantized_numbers *q, const pair_scales *s, const rounding *how, float *out);

#endif
