// SPDX-License-Identifier: Apache-2.0
// Checks the places of the files to write, before anything is computed.
#ifndef QDQ_TOOLS_IO_OUTPUT_PLACES_H
#define QDQ_TOOLS_IO_OUTPUT_PLACES_H

#include <stdbool.h>

typedef struct options options;
typedef struct command_row command_row;
typedef struct string_list string_list;

// Checks that `file` can be written under another name and renamed: a new or a regular file, in a
// folder that takes new files. Creates nothing: a command that fails later leaves no file. EXIT_OK,
// or another exit code after a message.
int place_check(const char *file);

// True if one of the files, "[NAME=]FILE[#TENSOR]", is `file`, by any path.
bool place_is_read(const string_list *files, const char *file);

// Checks the files that a command writes for -o (of `qdq run`, outputs_check does the rest) and for
// options of a single file: none of them is a file that it reads. EXIT_OK, or another exit code
// after a message.
int places_check(const command_row *command, options *opt);

#endif
