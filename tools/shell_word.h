// SPDX-License-Identifier: Apache-2.0
// Quotes words for a shell.
#ifndef QDQ_TOOLS_SHELL_WORD_H
#define QDQ_TOOLS_SHELL_WORD_H

#include <stdio.h>

// Prints a word as a shell reads it, in single quotes where it needs them.
void print_shell_word(FILE *out, const char *word);

#endif
