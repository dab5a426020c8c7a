// SPDX-License-Identifier: Apache-2.0
// A target: what a backend refuses, and how it computes. One constant description each, in
// graph/targets/; the list is in graph/target.c.
#ifndef QDQ_GRAPH_TARGET_H
#define QDQ_GRAPH_TARGET_H

#include "ops/op.h"

// A release of a backend that differs from others. Numbers grow with time; rules name the first
// release that has them and the first that has them no more.
typedef struct qdq_release {
    const char *name;  // "10.13"
    int number;
} qdq_release;

typedef struct qdq_target {
    const char *name;
    const char *summary;
    const qdq_rule *rules;
    size_t rule_count;
    // From the oldest to the newest; none: there is only one.
    const qdq_release *releases;
    size_t release_count;
    // quant_min and quant_max may have fractions, and go with float8.
    bool real_bounds;
    // How a release computes a node.
    qdq_numerics (*numerics)(const qdq_op_context *ctx, int release);
} qdq_target;

// A target at one of its releases.
typedef struct qdq_target_version {
    const qdq_target *target;
    int release;  // 0 where the target has none
} qdq_target_version;

// The profile called "TARGET" (its newest release) or "TARGET@RELEASE". False with `err` set (and a
// did-you-mean) if there is none.
bool qdq_target_version_find(const char *name, qdq_target_version *out, qdq_error *err);

// How a target computes a node: by the core's formula, but for the ops that go `by_target`.
qdq_numerics qdq_target_numerics(const qdq_target_version *version, const qdq_op_context *ctx);

// Whether a rule holds at a release.
bool qdq_rule_holds(const qdq_rule *rule, const qdq_target_version *version);

#endif
