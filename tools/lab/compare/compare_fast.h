// SPDX-License-Identifier: Apache-2.0
// Compares literal and integer execution of a graph: how far integer products are from products of
// dequantized numbers, and how that changes the integers made from them.
#ifndef QDQ_TOOLS_COMPARE_COMPARE_FAST_H
#define QDQ_TOOLS_COMPARE_COMPARE_FAST_H

#include "tools/options.h"

// Prints each node where a difference begins or arrives, and each output. EXIT_FINDINGS if an
// output differs, otherwise as other commands.
int compare_fast(const options *opt);

#endif
