// SPDX-License-Identifier: Apache-2.0
// The text that a plan gives about each of its steps (`qdq plan`).
#ifndef QDQ_GRAPH_COMPILE_PLAN_TEXT_H
#define QDQ_GRAPH_COMPILE_PLAN_TEXT_H

#include "graph/compile/lower.h"

// Sets the text of a step, its shape and its blocks, after qdq_count_traffic. The plan's pool owns
// the strings.
void qdq_describe_step(const qdq_draft *of, const qdq_draft_step *draft, const qdq_step *step,
                       qdq_plan_step *info);

#endif
