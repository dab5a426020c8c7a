// SPDX-License-Identifier: Apache-2.0
// Checks where files are to be written, before anything is computed.
#ifndef QDQ_TOOLS_IO_OUTPUT_PLACES_H
#define QDQ_TOOLS_IO_OUTPUT_PLACES_H

#include "tools/options.h"

// Whether `file` can be made, or replaced when it is complete: a new or a regular file in a folder
// that takes new files. Creates nothing: a command that fails later leaves no file. EXIT_OK, or
// another exit code after a message.
int place_check(const char *file);

// Checks the files that a command writes: of -o (`qdq run` checks its own, see outputs_check),
// --emit-c, --html and --trace. EXIT_OK, or another exit code after a message.
int places_check(const command_row *command, const options *opt);

#endif
