// SPDX-License-Identifier: Apache-2.0
// Man pages and shell completion, generated from the tables of commands and options.
#ifndef QDQ_TOOLS_MANUAL_MANUAL_H
#define QDQ_TOOLS_MANUAL_MANUAL_H

#include "tools/options.h"

// Prints the page of a command in roff for man(1). NULL: of the whole tool.
void print_man_page(const command_list *commands, const command_row *command);

// Prints the script for "bash", "zsh" or "fish". False for other shells.
bool print_completion(const command_list *commands, const char *shell);

#endif
