// SPDX-License-Identifier: Apache-2.0
// What is installed beside the tool, from the tables of commands and options: man pages, and
// completion of command lines.
#ifndef QDQ_TOOLS_MANUAL_MANUAL_H
#define QDQ_TOOLS_MANUAL_MANUAL_H

#include "tools/options.h"

// The page of one command, or with NULL the page of the tool. In roff, for man(1).
void print_man_page(const command_list *commands, const command_row *command);

// A script for a shell, "bash", "zsh" or "fish". False: the shell is none of these.
bool print_completion(const command_list *commands, const char *shell);

#endif
