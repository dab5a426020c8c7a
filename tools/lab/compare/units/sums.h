// SPDX-License-Identifier: Apache-2.0
// The sums that the Requantize nodes of a piece scale by multiplier and shift, and the way from an
// element of an output back to its sum.
#ifndef QDQ_TOOLS_LAB_COMPARE_UNITS_SUMS_H
#define QDQ_TOOLS_LAB_COMPARE_UNITS_SUMS_H

#include "tools/lab/compare/units/piece.h"
#include "tools/lab/compare/units/rescaling.h"

typedef struct sums {
    const piece *of;
    const qdq_allocator *allocator;
    void **x;     // [node of the cone]: elements that it scales; NULL: none
    bool failed;  // memory ran out
} sums;

// Opens the sums of a piece. The watch keeps them while the piece runs; sums_close releases them.
bool sums_open(sums *s, const piece *of, const qdq_allocator *allocator);
piece_watch sums_watch(sums *s);
void sums_close(sums *s);

// True if a Requantize by multiplier and shift computes element `at` of output `output`, possibly
// in parts that were joined; describes it.
bool sums_find(const sums *s, size_t output, size_t at, rescaling *out);
// Returns the index of the node in the graph of the piece that computes an output; SIZE_MAX: none.
size_t sums_maker(const sums *s, size_t output);

#endif
