// SPDX-License-Identifier: Apache-2.0
// What a plan tells about itself.
#ifndef QDQ_GRAPH_PLAN_TEXT_H
#define QDQ_GRAPH_PLAN_TEXT_H

#include "graph/compile/lower.h"

// The chain of a step as a line, and what it moves; strings go to the draft's plan_pool.
void qdq_describe_step(const qdq_draft *of, const qdq_draft_step *draft, const qdq_step *step,
                       qdq_plan_step *info);

#endif
