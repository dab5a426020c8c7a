// SPDX-License-Identifier: Apache-2.0
// The inputs and constants of a qdq/1 file.
#ifndef QDQ_GRAPH_READ_JSON_VALUES_H
#define QDQ_GRAPH_READ_JSON_VALUES_H

#include "graph/read/json_item.h"

// Each adds one to the graph. What is wrong with its dtype, shape or elements becomes findings.
qdq_status qdq_json_read_input(qdq_reader *r, const qdq_item *at);
qdq_status qdq_json_read_constant(qdq_reader *r, const qdq_item *at);

#endif
