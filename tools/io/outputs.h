// SPDX-License-Identifier: Apache-2.0
// What --output and --expect name, looked at before anything is computed.
#ifndef QDQ_TOOLS_IO_OUTPUTS_H
#define QDQ_TOOLS_IO_OUTPUTS_H

#include "tools/options.h"

// That each is the word of an output and a file that can be written, or read and has a tensor for
// an output; and the other options that --expect has. EXIT_OK, or another exit code after a
// message.
int outputs_check(const qdq_plan *plan, const options *opt);

#endif
