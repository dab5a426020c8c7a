// SPDX-License-Identifier: Apache-2.0
// qdq compare --data: compares targets on every sample of a data set.
#ifndef QDQ_TOOLS_LAB_COMPARE_DATA_COMPARE_DATA_H
#define QDQ_TOOLS_LAB_COMPARE_DATA_COMPARE_DATA_H

#include "tools/lab/compare/comparison.h"
#include "tools/lab/dataset/data_run.h"

// Compares the targets of `c`, which has its targets and options set and is not open yet. Returns
// an exit code as data_run_start does.
int compare_data(comparison *c, const data_run_plan *plan, session *s);

#endif
