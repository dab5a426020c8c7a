// SPDX-License-Identifier: Apache-2.0
// A target: the rules of a backend, and the numerics it computes with. Each target is one constant
// description in graph/targets/; graph/target.c lists them.
#ifndef QDQ_GRAPH_TARGET_H
#define QDQ_GRAPH_TARGET_H

#include "ops/op.h"

// A release of a backend that differs from earlier ones. Numbers grow with time; a rule names the
// first release that has it and the first that no longer has it.
typedef struct qdq_release {
    const char *name;  // "10.13"
    int number;
} qdq_release;

typedef struct qdq_target {
    const char *name;
    const char *summary;
    const qdq_rule *rules;
    size_t rule_count;
    // oldest first; none if all releases are alike
    const qdq_release *releases;
    size_t release_count;
    // quant_min and quant_max may have fractions, and apply to float8
    bool real_bounds;
    // its tensors lie in the memory of a device: memory_config, layout and tile mean something
    bool has_device;
    // The numerics of a node at a release.
    qdq_numerics (*numerics)(const qdq_op_context *ctx, int release);
} qdq_target;

// A target at one release.
typedef struct qdq_target_version {
    const qdq_target *target;
    int release;  // 0 if the target has no releases
} qdq_target_version;

// Finds "TARGET" (its newest release) or "TARGET@RELEASE". False with `err` set, including a did-
// you-mean, if there is none.
bool qdq_target_version_find(const char *name, qdq_target_version *out, qdq_error *err);

// Whether a rule applies at a release.
qdq_numerics qdq_target_numerics(const qdq_target_version *version, const qdq_op_context *ctx);

// Whether a rule holds at a release.
bool qdq_rule_holds(const qdq_rule *rule, const qdq_target_version *version);

#endif
