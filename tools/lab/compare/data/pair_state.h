// SPDX-License-Identifier: Apache-2.0
// The state of qdq compare over a data set: the differences of each value between the first target
// and another target, and their causes.
#ifndef QDQ_TOOLS_LAB_COMPARE_DATA_PAIR_STATE_H
#define QDQ_TOOLS_LAB_COMPARE_DATA_PAIR_STATE_H

#include "tools/lab/compare/compare_graph.h"
#include "tools/lab/dataset/kinds.h"

// Columns of the table of pairs: a row for each value and each other target.
typedef enum pair_column {
    PAIR_VALUE,
    PAIR_NODE,
    PAIR_OP,
    PAIR_GROUP,  // the op that replaces nodes, and these nodes, in lines; "": none
    PAIR_OTHER,  // the other target
    PAIR_DTYPE,
    PAIR_X_DTYPE,   // dtype of x of the examples; "": they have no x
    PAIR_NUMERICS,  // numerics that differ between the targets at the node, in lines
    PAIR_LEFT_OUT,  // targets that refuse the graph and would compute it differently, in lines
    PAIR_SHAPE,     // "[2, 3]"
    PAIR_COUNTS,
    PAIR_STEPS,           // the greatest difference in representable values, its sample and element
    PAIR_GREATEST,        // the greatest |difference| of numbers, and the two numbers
    PAIR_AT,              // its sample and element
    PAIR_SIGNALS,         // the sum of squares of finite results of the first target
    PAIR_NOISES,          // the sum of squares of finite differences, from the same inputs
    PAIR_OVERALL_NOISES,  // the same if each target runs the whole graph by itself
    PAIR_COLUMNS,
} pair_column;

enum {
    COUNT_ELEMENTS,
    COUNT_DIFFERENT,
    COUNT_NAN_ON_ONE_SIDE,
    COUNT_SAMPLES,  // samples with a difference
    COUNT_OVERALL,  // elements that differ if each target runs the whole graph
    PAIR_COUNTERS,
};

// Columns of the table of causes: a row for each row of pairs and each cause. The example comes
// from the first sample with the cause.
typedef enum cause_column {
    CAUSE_TEXT,
    CAUSE_PAIR,    // row in the table of pairs
    CAUSE_COUNTS,  // elements, samples
    CAUSE_AT,      // sample and element of the example, and 1 if it has an x
    CAUSE_VALUES,  // x, and the results of both targets
    CAUSE_COLUMNS,
} cause_column;

enum { NO_SAMPLE = -1 };

// Results of a value in a sample.
typedef struct pair_results {
    const qdq_tensor_info *info;
    const value_pair *pair;
    const reason_list *reasons;
    const void *first, *local, *overall;  // as in comparison_sink
    int64_t sample;
    double *scratch;  // room for twice the elements
} pair_results;

// Adds results to a row. False if memory runs out.
bool pair_state_add(state *s, size_t row, const pair_results *r);

// Returns the shape of a row's value.
qdq_shape pair_shape(const state_table *pairs, size_t row);

#endif
