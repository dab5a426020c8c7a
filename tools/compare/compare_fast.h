// SPDX-License-Identifier: Apache-2.0
// A graph as it is written against its integer execution: how far products on codes are from
// products of dequantized numbers, and what becomes of that in the integers made from them.
#ifndef QDQ_TOOLS_COMPARE_COMPARE_FAST_H
#define QDQ_TOOLS_COMPARE_COMPARE_FAST_H

#include "tools/options.h"

// Prints the difference of each node that it begins in or reaches, and of each output.
// EXIT_FINDINGS if one differs, else as other commands.
int compare_fast(const options *opt);

#endif
