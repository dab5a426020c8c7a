// SPDX-License-Identifier: Apache-2.0
// Turns a failure of the device pass into a finding of a rule ttnn/memory-*. The memory is ttnn's
// whatever the target, and so is the rule.
#include <string.h>

#include "graph/core/target.h"
#include "graph/device/device_pass.h"
#include "ops/report.h"

extern const qdq_target qdq_target_ttnn;

static const char *rule_id(qdq_failure_kind kind) {
    switch (kind) {
    case QDQ_EXHAUSTED: return "ttnn/memory-exhausted";
    case QDQ_FRAGMENTED: return "ttnn/memory-fragmented";
    case QDQ_NEVER_FITS: return "ttnn/memory-never-fits";
    case QDQ_CIRCULAR_BEYOND_L1: return "ttnn/memory-circular-beyond-l1";
    case QDQ_CIRCULAR_CLASH: return "ttnn/memory-circular-clash";
    case QDQ_FAILURE_NONE:
    case QDQ_ADDRESS_TAKEN:
    case QDQ_ADDRESS_UNALIGNED:
    case QDQ_HOST_MEMORY: break;
    }
    return "";
}

// True if a program has the name of an op in lower case: "quantize" of "Quantize".
static bool names_op(const char *program, const char *op) {
    return (*program | 0x20) == (*op | 0x20) && strcmp(program + 1, op + 1) == 0;
}

void qdq_device_report(qdq_findings *findings, const qdq_device_trouble *trouble) {
    enum { CAPACITY = 512 };
    char why[CAPACITY];
    const char *id = rule_id(trouble->failure.kind);
    qdq_memory_failure_text(&trouble->failure, why, sizeof why);
    bool within = *trouble->program && !names_op(trouble->program, trouble->subject.op);
    const char *found = within ? qdq_text(findings, "cannot run its %s: %s", trouble->program, why)
                               : qdq_text(findings, "%s", why);
    for (size_t i = 0; i < qdq_target_ttnn.rule_count; i++)
        if (strcmp(qdq_target_ttnn.rules[i].id, id) == 0)
            qdq_report_add(findings, qdq_target_ttnn.name, &qdq_target_ttnn.rules[i],
                           trouble->subject, found, NULL, NULL);
}
