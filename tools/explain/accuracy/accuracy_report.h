// SPDX-License-Identifier: Apache-2.0
// Prints the accuracy of nodes as text of at most 40 lines, or as JSON.
#ifndef QDQ_TOOLS_EXPLAIN_ACCURACY_ACCURACY_REPORT_H
#define QDQ_TOOLS_EXPLAIN_ACCURACY_ACCURACY_REPORT_H

#include "runtime/base/json_writer.h"
#include "tools/explain/accuracy/accuracy.h"
#include "tools/session.h"

enum { WORST_NODES = 10 };

typedef struct accuracy_title {
    const char *graph, *model, *target;
} accuracy_title;

// All return whether an output differs from the float model's. json_accuracy writes the keys into
// an object.
bool json_accuracy(qdq_json *json, const session *s, const session *real, const reference *ref,
                   const accuracy *a, const accuracy_title *title);
bool accuracy_text(const session *s, const session *real, const reference *ref, const accuracy *a,
                   const accuracy_title *title);
bool accuracy_json(const session *s, const session *real, const reference *ref, const accuracy *a,
                   const accuracy_title *title);

#endif
