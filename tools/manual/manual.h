// SPDX-License-Identifier: Apache-2.0
// Help, man pages and shell completion, generated from the tables of commands and options.
#ifndef QDQ_TOOLS_MANUAL_MANUAL_H
#define QDQ_TOOLS_MANUAL_MANUAL_H

#include <stdio.h>

#include "tools/options.h"

// Print the help of a command (options and examples), or the examples alone, in lines of at most 80
// columns.
void print_help(const command_row *command);
void print_examples(FILE *out, const command_row *command);

// Prints the page of a command in roff for man(1). NULL: of the whole tool.
void print_man_page(const command_list *commands, const command_row *command);

// Prints the script for "bash", "zsh" or "fish". False for other shells.
bool print_completion(const command_list *commands, const char *shell);

#endif
