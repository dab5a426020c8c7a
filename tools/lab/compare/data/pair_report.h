// SPDX-License-Identifier: Apache-2.0
// Prints the report of qdq compare over a data set, from a state.
#ifndef QDQ_TOOLS_LAB_COMPARE_DATA_PAIR_REPORT_H
#define QDQ_TOOLS_LAB_COMPARE_DATA_PAIR_REPORT_H

#include "tools/lab/dataset/state.h"

// Prints the values that differ, worst first, or JSON of all values. EXIT_FINDINGS if any differs.
int pair_report(const state *s, const options *opt);

#endif
