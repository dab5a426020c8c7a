// SPDX-License-Identifier: Apache-2.0
// Finds the causes of a difference between two targets: switches one reason at a time, and sees
// with which the difference vanishes. causes.c bounds the number of runs.
#ifndef QDQ_TOOLS_LAB_COMPARE_CAUSES_H
#define QDQ_TOOLS_LAB_COMPARE_CAUSES_H

#include <qdq/base.h>

#include "tools/lab/compare/tolerance.h"
#include "tools/lab/compare/units/node_run.h"
#include "tools/lab/compare/units/switches.h"

enum { MAX_CAUSES = 128 };

// The elements of a value that differ for the same reasons.
typedef struct cause {
    uint32_t switches;  // a set of reasons
    size_t count;
    size_t first;  // index of the first element
} cause;

// The difference between two targets' results for a value.
typedef struct difference {
    size_t elements;
    size_t different;  // NaN equals NaN; zeros of different sign differ
    size_t within;     // further elements, whose difference is within the tolerance
    size_t nan_count;  // different elements that are NaN on one side only
    uint64_t steps;    // the largest distance of all others, in representable values
    size_t steps_at;   // the first element with this distance
    cause causes[MAX_CAUSES];
    size_t cause_count;
} difference;

// Counts differences beyond a tolerance (NULL: exact); leaves the causes empty.
difference measure_difference(const qdq_tensor_info *info, const void *a, const void *b,
                              const tolerances *tolerance);

// A computation under any set of reasons: with none of them as one target computes it, with all of
// them as the other.
typedef struct trial {
    const node_value *outputs;
    size_t output_count, switch_count;
    uint32_t rewrites;  // set of dependent reasons: a group forms only after others
    // Returns the reasons, of those above `switch_count` too, for which element `at` of an output
    // is `a` in one target and `b` in the other; 0: not known. NULL: there is none.
    uint32_t (*explain)(void *explainer, size_t output, size_t at, int64_t a, int64_t b);
    void *explainer;
    // EXIT_OK, or another exit code after a message.
    int (*run)(void *with, uint32_t switches, void *const *outputs);
    void *with;
    const qdq_allocator *allocator;  // of results and lists of elements
    const tolerances *tolerance;     // elements within it need no cause; NULL: exact
} trial;

// Finds the causes of all differences between outputs `a` and `b`, and adds them to diffs[output].
// Every element gets a cause: a single reason that turns a's element into b's or b's into a's, else
// the smallest set found. EXIT_OK, or another exit code after a message.
int find_causes(const trial *of, void *const *a, void *const *b, difference *diffs);

#endif
