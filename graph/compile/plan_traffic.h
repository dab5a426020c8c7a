// SPDX-License-Identifier: Apache-2.0
// The memory that the steps of a plan read and write, and the bytes that they move.
#ifndef QDQ_GRAPH_COMPILE_PLAN_TRAFFIC_H
#define QDQ_GRAPH_COMPILE_PLAN_TRAFFIC_H

#include "graph/compile/lower.h"

// The bytes that all steps of a plan move, counted step by step.
typedef struct qdq_traffic {
    size_t
        *last_reader;  // of each value of the graph: the last step, from 1, that reads it; 0: none
    size_t step;       // from 1
    size_t moved_bytes, necessary_bytes;
} qdq_traffic;

// Sets the bytes that a step reads and writes, and the kinds of memory, and adds the step to
// `total`. Outputs of the graph are not in necessary_bytes.
void qdq_count_traffic(const qdq_draft *of, const qdq_draft_step *draft, const qdq_step *step,
                       qdq_plan_step *info, qdq_traffic *total);

#endif
