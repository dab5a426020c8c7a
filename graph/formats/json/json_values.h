// SPDX-License-Identifier: Apache-2.0
// Reads the inputs and constants of a qdq/1 file.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_VALUES_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_VALUES_H

#include "graph/formats/json/json_item.h"

// Add one value to the graph each. A wrong dtype, shape or element becomes a finding.
qdq_status qdq_json_read_input(qdq_reader *r, const qdq_item *at);
qdq_status qdq_json_read_constant(qdq_reader *r, const qdq_item *at);
// Reads an entry of "states", after everything that it names.
qdq_status qdq_json_read_state(qdq_reader *r, const qdq_item *at);

#endif
