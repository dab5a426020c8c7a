// SPDX-License-Identifier: Apache-2.0
// Writes the state of a device's memory at each program as the CSV files of ttnn's memory reports.
#ifndef QDQ_TOOLS_PLAN_MEMORY_CSV_H
#define QDQ_TOOLS_PLAN_MEMORY_CSV_H

#include <qdq/device_plan.h>

// Creates the folder if it does not exist, and writes program_l1_usage_summary.csv,
// program_memory_usage_summary.csv and program_detailed_memory_usage.csv, as
// ttnn.device.EnableMemoryReports does. EXIT_OK, or another exit code after a message.
int memory_csv_write(const qdq_device_plan *plan, const char *folder);

#endif
