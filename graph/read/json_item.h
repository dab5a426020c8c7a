// SPDX-License-Identifier: Apache-2.0
// Reading a graph file: where we are in it, and typed access that says where it went wrong.
#ifndef QDQ_GRAPH_READ_JSON_ITEM_H
#define QDQ_GRAPH_READ_JSON_ITEM_H

#include "graph/graph.h"
#include "graph/read/json_tree.h"
#include "include/qdq/tensor_file.h"

enum { QDQ_MAX_TENSOR_FILES = 64 };

// What reading a file needs all along.
typedef struct qdq_reader {
    qdq_graph *graph;
    qdq_mempool *mempool;  // scratch, gone after reading
    const char *folder;    // of constants' files; NULL: none may be named
    struct {
        const char *name;
        qdq_tensor_file *file;
        const struct qdq_held_file *held;  // NULL: no constant stays in it
    } files[QDQ_MAX_TENSOR_FILES];         // that constants have named so far
    size_t file_count;
    qdq_error *err;
} qdq_reader;

// A JSON value and how to call it: "nodes[3].attrs".
typedef struct qdq_item {
    const qdq_json_item *json;
    char where[96];
} qdq_item;

// All of these fail with QDQ_ERR_PARSE: the file does not have the form of a graph file.
qdq_status qdq_item_wrong_kind(const qdq_reader *r, const qdq_item *at, const char *wanted);
// The member called `key`. A missing one is an error if it is required, else out->json is NULL.
qdq_status qdq_item_member(const qdq_reader *r, const qdq_item *object, const char *key,
                           bool required, qdq_item *out);
qdq_status qdq_item_string(const qdq_reader *r, const qdq_item *object, const char *key,
                           const char **out);
qdq_status qdq_item_array(const qdq_reader *r, const qdq_item *object, const char *key,
                          bool required, qdq_item *out);
// Refuses keys that are not in the NULL-terminated list and do not begin with "x-".
qdq_status qdq_item_check_keys(const qdq_reader *r, const qdq_item *object,
                               const char *const *keys);

#endif
