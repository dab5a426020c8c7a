// SPDX-License-Identifier: Apache-2.0
// Compares literal and fast execution of a graph: the distance between integer products and
// products of dequantized numbers, and its effect on integers computed from them.
#ifndef QDQ_TOOLS_LAB_COMPARE_COMPARE_FAST_H
#define QDQ_TOOLS_LAB_COMPARE_COMPARE_FAST_H

#include "tools/lab/compare/tolerance.h"

typedef struct options options;

// Prints each node at which a difference begins or arrives, and each output. EXIT_FINDINGS if an
// output differs, EXIT_OK, or another exit code after a message.
int compare_fast(const options *opt, const tolerances *tolerance);

#endif
