// SPDX-License-Identifier: Apache-2.0
// Says how close two results are: units for codes, relative error and cosine for floats.
#ifndef QDQ_TOOLS_LAB_COMPARE_CLOSENESS_H
#define QDQ_TOOLS_LAB_COMPARE_CLOSENESS_H

#include <qdq/base.h>
#include <stdio.h>

#include "runtime/base/json_writer.h"
#include "tools/lab/compare/causes.h"

// Of the elements that are finite on both sides. All zero: equal results.
typedef struct closeness {
    double relative_error;  // |a - b| / |a|, norms over all elements; infinity: a is 0
    double cosine;          // a . b / (|a| |b|); NaN: a or b is 0
    size_t infinite;        // different elements that are infinite on one side, or on both
} closeness;

// Measures results `a` and `b` of a float dtype, of which some elements differ.
closeness measure_closeness(const qdq_tensor_info *info, const void *a, const void *b);

// Prints ", at most 3 steps, relative error 1.2e-07, cosine 1": steps for integers and, below
// 1,000, for floats; the rest for floats.
void print_closeness(FILE *out, qdq_dtype dtype, const difference *d, const closeness *c);
// Writes the keys `relative_error` and `cosine`: null for integers, and where they are not defined.
void json_closeness(qdq_json *json, qdq_dtype dtype, const difference *d, const closeness *c);
// Writes a relative error: null for integers.
void json_relative_error(qdq_json *json, const char *key, qdq_dtype dtype, double error);

// True if a distance in representable values says something to a reader.
bool tells_steps(qdq_dtype dtype, uint64_t steps);

#endif
