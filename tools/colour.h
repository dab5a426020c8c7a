// SPDX-License-Identifier: Apache-2.0
// Colours words on terminals, never in pipes and files, and never if NO_COLOR is set.
#ifndef QDQ_TOOLS_COLOUR_H
#define QDQ_TOOLS_COLOUR_H

#include <stdio.h>

typedef enum colour { COLOUR_NONE = 0, COLOUR_RED, COLOUR_YELLOW, COLOUR_FAINT } colour;

// Prints the first `length` bytes of a text, in a colour if `out` is a terminal that takes it.
void colour_print(FILE *out, colour which, const char *text, size_t length);

#endif
