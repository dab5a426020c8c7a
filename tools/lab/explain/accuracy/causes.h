// SPDX-License-Identifier: Apache-2.0
// Finds the causes for which pairs and groups lose accuracy.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_CAUSES_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_CAUSES_H

#include "tools/lab/explain/accuracy/accuracy.h"

// Describes why a group differs from its nodes: a float bias that an optimizer divides by scales so
// small that its codes leave int32, or no known cause. `folder`: for temporary files. EXIT_OK, or
// another exit code after a message.
int find_group_cause(const accuracy_forms *forms, const char *folder, node_accuracy *n);

#endif
