// SPDX-License-Identifier: Apache-2.0
// The JSON behind a node_document, for the files that read and edit it. cJSON reads and prints
// numbers in the locale "C", because the command line never calls setlocale.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_NODE_DOCUMENT_JSON_H
#define QDQ_TOOLS_LAB_EXPLAIN_NODE_DOCUMENT_JSON_H

#include <cjson/cJSON.h>

#include "tools/lab/explain/node_document.h"

enum { MOST_CHANGED = 8 };  // inputs

struct node_document {
    const replay *replay;
    size_t node, op;
    cJSON *root, *edit;  // `edit`: changed copy; NULL: none
    char *text;
    document_input *inputs;         // room for the ports of the node and the changed ones
    size_t input_count, own_count;  // the first `own_count` belong to the unchanged graph
    void *data[MOST_CHANGED];       // elements of changed ports; owned
};

// Returns the node of a document.
cJSON *document_node_of(cJSON *root);
// Returns an attribute of the unchanged document; NULL if it is not given.
cJSON *document_attr_of(const node_document *d, const char *attr);
// Adds an input to a document. False if memory runs out.
bool document_add_input(cJSON *root, const char *name, qdq_dtype dtype, qdq_shape shape);

#endif
