// SPDX-License-Identifier: Apache-2.0
// The state of qdq compare over a data set: how each value differs between the first target and
// another one, and why.
#ifndef QDQ_TOOLS_COMPARE_DATA_PAIR_STATE_H
#define QDQ_TOOLS_COMPARE_DATA_PAIR_STATE_H

#include "tools/lab/compare/compare_graph.h"
#include "tools/lab/dataset/kinds.h"

// Columns of the table of pairs: a row for each value and each other target.
typedef enum pair_column {
    PAIR_VALUE,
    PAIR_NODE,
    PAIR_OP,
    PAIR_GROUP,  // the op that takes the place of nodes, and these nodes, in lines; "": none
    PAIR_OTHER,  // the other target
    PAIR_DTYPE,
    PAIR_X_DTYPE,   // of x of examples; "": there is no x
    PAIR_NUMERICS,  // what the targets compute differently at the node, in lines
    PAIR_LEFT_OUT,  // targets that refuse the graph and would compute it differently, in lines
    PAIR_SHAPE,     // "[2, 3]"
    PAIR_COUNTS,
    PAIR_STEPS,           // the greatest difference in representable values, its sample and element
    PAIR_GREATEST,        // the greatest |difference| of numbers, and the two numbers
    PAIR_AT,              // its sample and element
    PAIR_SIGNALS,         // the sum of squares of finite results of the first target
    PAIR_NOISES,          // the sum of squares of finite differences, from the same inputs
    PAIR_OVERALL_NOISES,  // the same if each target runs the whole graph
    PAIR_COLUMNS,
} pair_column;

enum {
    COUNT_ELEMENTS,
    COUNT_DIFFERENT,
    COUNT_NAN_ON_ONE_SIDE,
    COUNT_SAMPLES,  // with a difference
    COUNT_OVERALL,  // elements that differ if each target runs the whole graph
    PAIR_COUNTERS,
};

// Columns of the table of causes: a row for each row of pairs and cause. The example is of the
// first sample with the cause.
typedef enum cause_column {
    CAUSE_TEXT,
    CAUSE_PAIR,    // row in the table of pairs
    CAUSE_COUNTS,  // elements, samples
    CAUSE_AT,      // sample and element of the example, and whether it has an x
    CAUSE_VALUES,  // x, and the results of both targets
    CAUSE_COLUMNS,
} cause_column;

enum { NO_SAMPLE = -1 };

// Results of one value in one sample.
typedef struct pair_results {
    const qdq_tensor_info *info;
    const value_pair *pair;
    const reason_list *reasons;
    const void *first, *local, *overall;  // as in comparison_sink
    int64_t sample;
    double *scratch;  // for twice the elements
} pair_results;

// Adds results to a row. False: no memory.
bool pair_state_add(state *s, size_t row, const pair_results *r);

// The shape of the value of a row.
qdq_shape pair_shape(const state_table *pairs, size_t row);

#endif
