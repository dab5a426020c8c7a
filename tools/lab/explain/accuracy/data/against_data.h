// SPDX-License-Identifier: Apache-2.0
// qdq explain --against --data: measures the accuracy of a quantized graph's nodes over a data set.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_AGAINST_DATA_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_AGAINST_DATA_H

#include "tools/lab/dataset/data_run.h"

// Returns an exit code as data_run_start does.
int explain_against_data(const options *opt);

#endif
