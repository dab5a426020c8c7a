// SPDX-License-Identifier: Apache-2.0
// Typed access to the items of a graph file. Every error says where in the file the item is.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_ITEM_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_ITEM_H

#include "graph/core/graph.h"
#include "graph/formats/json/json_tree.h"
#include "include/qdq/tensor_file.h"

// A file that constants lie in.
typedef struct qdq_constant_file {
    qdq_tensor_file *file;
    const struct qdq_held_file *held;  // set once a constant stays in the file
} qdq_constant_file;

// State that all readers of a file share.
typedef struct qdq_reader {
    qdq_graph *graph;
    qdq_mempool *mempool;  // scratch, released after reading
    const char
        *folder;  // where files of constants are looked up; NULL: constants may not name files
    qdq_constant_file *files;  // every file that a constant has named so far
    size_t file_count, file_capacity;
    qdq_symbols *file_names;           // -> index
    const qdq_graph_options *options;  // NULL: all defaults
    qdq_error *err;
} qdq_reader;

// A JSON value and its path in messages: "nodes[3].attrs"; "" if the value is missing.
typedef struct qdq_item {
    const qdq_json_item *json;
    char where[96];
} qdq_item;

// These functions fail with QDQ_ERR_PARSE: the file does not have the form of a graph file.
qdq_status qdq_item_wrong_kind(const qdq_reader *r, const qdq_item *at, const char *wanted);
// Finds the member called `key`. A missing member is an error if required; otherwise out->json is
// NULL, as it is for an optional member that is null.
qdq_status qdq_item_member(const qdq_reader *r, const qdq_item *object, const char *key,
                           bool required, qdq_item *out);
qdq_status qdq_item_string(const qdq_reader *r, const qdq_item *object, const char *key,
                           const char **out);
qdq_status qdq_item_array(const qdq_reader *r, const qdq_item *object, const char *key,
                          bool required, qdq_item *out);
// Reads a list of dims. For more than 8 only the rank is kept; the graph then refuses it.
qdq_status qdq_item_shape(const qdq_reader *r, const qdq_item *object, const char *key,
                          qdq_shape *out);
// Refuses keys that are neither in the NULL-terminated list nor begin with "x-".
qdq_status qdq_item_check_keys(const qdq_reader *r, const qdq_item *object,
                               const char *const *keys);

#endif
