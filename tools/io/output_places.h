// SPDX-License-Identifier: Apache-2.0
// Checks the places of the files to write, before anything is computed.
#ifndef QDQ_TOOLS_IO_OUTPUT_PLACES_H
#define QDQ_TOOLS_IO_OUTPUT_PLACES_H

#include <stdbool.h>

typedef struct options options;
typedef struct command_row command_row;

// Checks that `file` can be written under another name and renamed: a new or a regular file, in a
// folder that takes new files. Creates nothing: a command that fails later leaves no file. EXIT_OK,
// or another exit code after a message.
int place_check(const char *file);

// Checks the file of an option, unless it is NULL. It is written under another name and `renamed`,
// or opened, and may then be a device or a pipe. EXIT_OK, or another exit code after a message.
int place_check_option(const char *option, const char *file, bool renamed);

// Checks the files that a command writes for -o (except `qdq run`: see outputs_check) and --html.
// EXIT_OK, or another exit code after a message.
int places_check(const command_row *command, const options *opt);

#endif
