// SPDX-License-Identifier: Apache-2.0
// Turns a failure of the device pass into a finding of the rule that a target has for it.
#include <string.h>

#include "graph/core/target.h"
#include "graph/device/device_pass.h"
#include "ops/report.h"

// True if a program has the name of an op in lower case: "quantize" of "Quantize".
static bool names_op(const char *program, const char *op) {
    return (*program | 0x20) == (*op | 0x20) && strcmp(program + 1, op + 1) == 0;
}

void qdq_device_report(qdq_findings *findings, const struct qdq_target *target,
                       const qdq_device_trouble *trouble) {
    enum { CAPACITY = 512 };
    char why[CAPACITY];
    const char *id = target->memory_rules[trouble->failure.kind];
    qdq_memory_failure_text(&trouble->failure, why, sizeof why);
    bool within = *trouble->program && !names_op(trouble->program, trouble->subject.op);
    const char *found = within ? qdq_text(findings, "cannot run its %s: %s", trouble->program, why)
                               : qdq_text(findings, "%s", why);
    for (size_t i = 0; id && i < target->rule_count; i++)
        if (strcmp(target->rules[i].id, id) == 0)
            qdq_report_add(findings, target->name, &target->rules[i], trouble->subject, found, NULL,
                           NULL);
}
