// SPDX-License-Identifier: Apache-2.0
// The stage of qdq quantize that equalizes channels.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_EQUALIZE_H
#define QDQ_TOOLS_LAB_QUANTIZE_EQUALIZE_H

#include "tools/lab/quantize/quantize_report.h"

// With --equalize, replaces the graph by an equalized one, and the statistics of its changed values
// by statistics of the samples of --data. EXIT_OK, or another exit code after a message.
int equalize(quantization *q);

#endif
