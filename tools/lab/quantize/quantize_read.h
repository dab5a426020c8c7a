// SPDX-License-Identifier: Apache-2.0
// Reads the options of qdq quantize, and its statistics.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_QUANTIZE_READ_H
#define QDQ_TOOLS_LAB_QUANTIZE_QUANTIZE_READ_H

#include "tools/lab/quantize/quantize_report.h"
#include "tools/options/quantize.h"

// Checks the options and sets the choice, except for the group. EXIT_OK, or another exit code after
// a message.
int quantize_options_read(quantization *q);
// Reads --group, whose form must be known.
int quantize_group_read(const quantize_options *own, quantize_choice *choice, const char *target);

// Reads the file of --state, which must be a complete state of the graph that was opened.
int quantize_state_read(quantization *q);
// Without it collects the statistics over the samples of --data or the inputs of -i, of the graph
// that is quantized.
int quantize_state_collect(quantization *q);

#endif
