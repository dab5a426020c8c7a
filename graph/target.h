// SPDX-License-Identifier: Apache-2.0
// A target: what a backend refuses, and how it computes. One constant description each, in
// graph/targets/; the list is in graph/target.c.
#ifndef QDQ_GRAPH_TARGET_H
#define QDQ_GRAPH_TARGET_H

#include "ops/op.h"

typedef struct qdq_target {
    const char *name;
    const char *summary;
    const qdq_rule *rules;
    size_t rule_count;
    // How it computes a node.
    qdq_numerics (*numerics)(const qdq_call *call);
} qdq_target;

// The target with this name; NULL with `err` set (and a did-you-mean) if there is none.
const qdq_target *qdq_target_find(const char *name, qdq_error *err);

#endif
