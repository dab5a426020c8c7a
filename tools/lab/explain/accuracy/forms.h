// SPDX-License-Identifier: Apache-2.0
// Opens the graphs of a report, and runs them: the quantized graph as written and as its target
// runs it, and the float model.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_FORMS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_FORMS_H

#include "tools/lab/explain/accuracy/accuracy.h"

typedef struct opened_forms {
    replay real, deployed, written;  // `written` only if it differs from `deployed`
    reference deployed_ref, written_ref;
    accuracy_forms forms;
} opened_forms;

// Opens the forms of `target` with the elements of the inputs of both graphs. Sets `err` on
// failure; close it in either case.
qdq_status forms_open(opened_forms *f, const accuracy_graphs *graphs, const char *target,
                      const given_values *inputs, const given_values *real_inputs,
                      const options *opt, qdq_error *err);
// Runs all graphs again, after elements of inputs have changed in place.
qdq_status forms_again(opened_forms *f, qdq_error *err);
void forms_close(opened_forms *f);

#endif
