// SPDX-License-Identifier: Apache-2.0
// Writes the histograms of a row of the report: its value in float and quantized, and its codes.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_ROW_SPREADS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_ROW_SPREADS_H

#include "runtime/base/json_writer.h"
#include "tools/lab/explain/accuracy/accuracy.h"

// Writes the key "histogram", with the float model's elements and the node's result on exact
// inputs, and for a Dequantize "code_histogram". A group has neither.
void json_row_spreads(qdq_json *json, const accuracy_forms *forms, const node_accuracy *row);

#endif
