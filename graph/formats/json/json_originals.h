// SPDX-License-Identifier: Apache-2.0
// Reads the names that a graph has in the file it was converted from.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_ORIGINALS_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_ORIGINALS_H

#include "graph/formats/json/json_item.h"

// Reads the key "originals" of the file, after everything that it names.
qdq_status qdq_json_read_originals(const qdq_reader *r, const qdq_item *top);

#endif
