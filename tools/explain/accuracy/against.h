// SPDX-License-Identifier: Apache-2.0
// qdq explain --against: the accuracy of a quantized graph's nodes.
#ifndef QDQ_TOOLS_EXPLAIN_ACCURACY_AGAINST_H
#define QDQ_TOOLS_EXPLAIN_ACCURACY_AGAINST_H

#include "tools/options.h"

// Returns an exit code: EXIT_FINDINGS if an output differs from the float model's.
int explain_against(const options *opt);

#endif
