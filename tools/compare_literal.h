// SPDX-License-Identifier: Apache-2.0
// A graph as it runs against what it literally says: how far products on codes are from products of
// dequantized numbers.
#ifndef QDQ_TOOLS_COMPARE_LITERAL_H
#define QDQ_TOOLS_COMPARE_LITERAL_H

#include "tools/options.h"

// Prints the difference of each output. EXIT_FINDINGS if one differs, else as other commands.
int compare_literal(const options *opt);

#endif
