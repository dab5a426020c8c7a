// SPDX-License-Identifier: Apache-2.0
// The sites that quantize --equalize took, and their report.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_EQUALIZATION_H
#define QDQ_TOOLS_LAB_QUANTIZE_EQUALIZATION_H

#include "runtime/base/json_writer.h"
#include "tools/lab/quantize/factors.h"

// A site that was taken.
typedef struct equalized_site {
    size_t site;
    const factor_candidate *candidate;
    int *exponents;        // [channel]; owned
    double ratio;          // of the greatest channel's range to the median channel's
    double before, after;  // decibels of the median sample, with ranges of the other half
} equalized_site;

typedef struct equalization {
    qdq_equalize_sites *sites;  // of the float graph; NULL: --equalize is not given
    equalized_site *taken;      // in the order of the graph
    size_t count;
    size_t inexact;        // candidates refused because they under- or overflow or change a bit
    size_t same, samples;  // samples whose float outputs kept their bits, and all that ran
} equalization;

void equalization_release(equalization *e);
// Prints the sites with the names of `graph`, the float graph; nothing without --equalize.
void equalization_text(const equalization *e, const qdq_graph *graph);
// Writes the keys "equalized" and "float_outputs", or nothing.
void equalization_json(qdq_json *json, const equalization *e, const qdq_graph *graph);

#endif
