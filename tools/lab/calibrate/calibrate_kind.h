// SPDX-License-Identifier: Apache-2.0
// The state of qdq calibrate: statistics of each value.
#ifndef QDQ_TOOLS_LAB_CALIBRATE_CALIBRATE_KIND_H
#define QDQ_TOOLS_LAB_CALIBRATE_CALIBRATE_KIND_H

#include "tools/lab/calibrate/statistics.h"
#include "tools/lab/dataset/kinds.h"

// Returns the statistics in a row of the table of values.
statistics calibrate_statistics(const state_table *values, size_t row);

#endif
