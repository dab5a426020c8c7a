// SPDX-License-Identifier: Apache-2.0
// qdq explain --against: measures the accuracy of a quantized graph's nodes.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_AGAINST_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_AGAINST_H

#include "tools/session.h"

// Starts sessions of the quantized graph and of the float model of --against, whose open dims take
// the sizes of the quantized graph. EXIT_OK, or another exit code after a message; close both in
// either case.
int against_sessions(const options *opt, session *quantized, session *real);

// Prints the accuracy. EXIT_FINDINGS if an output differs from the float model's, EXIT_OK, or
// another exit code after a message.
int explain_against(const options *opt);

#endif
