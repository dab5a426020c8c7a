// SPDX-License-Identifier: Apache-2.0
// Small oneDNN Graph JSON files for tests, and a function that loads them.
#ifndef QDQ_TESTS_GRAPH_READ_ONEDNN_FILES_H
#define QDQ_TESTS_GRAPH_READ_ONEDNN_FILES_H

#include <qdq/qdq.h>

#include "tests/unit.h"

// Replaces ' by ", so that JSON can be written in C strings.
static inline char *onednn_json(const char *text) {
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *c = copy; *c; c++)
        if (*c == '\'') *c = '"';
    return copy;
}

static inline qdq_graph *parse(const char *text, const qdq_graph_options *options, qdq_error *err) {
    char *json = onednn_json(text);
    qdq_graph *graph = qdq_graph_parse(json, strlen(json), "f.json", NULL, options, err);
    free(json);
    return graph;
}

static inline qdq_graph *load(const char *text) {
    qdq_error err = {0};
    qdq_graph *graph = parse(text, NULL, &err);
    assert_string_equal(err.text, "");
    assert_non_null(graph);
    return graph;
}

static inline void check_input(const qdq_graph *graph, const char *name, qdq_dtype dtype,
                               qdq_shape shape) {
    qdq_dtype has;
    qdq_shape size;
    assert_true(qdq_value_type(graph, qdq_graph_find(graph, name), &has, &size));
    assert_int_equal(has, dtype);
    assert_true(qdq_shape_equal(size, shape));
}

static inline void check_clean(qdq_graph *graph) {
    const qdq_report *report = qdq_graph_validate(graph, "core", NULL);
    assert_non_null(report);
    if (report->count) assert_string_equal(report->findings[0].message, "");
}

// A tensor, and the few tensors that most tests use.
#define T(id, dtype, shape) "{'id':" id ",'dtype':'" dtype "','shape':" shape "}"
#define CAST(id, name, from, to) \
    "{'id':" id ",'name':'" name "','kind':'TypeCast','inputs':[" from "],'outputs':[" to "]}"
#define GRAPH(ops) "{'version':'3.7.0','graph':[" ops "]}"

#define QUANTIZE(attrs, shape, to)                               \
    GRAPH("{'id':1,'name':'q','kind':'Quantize','attrs':{" attrs \
          "},'inputs':[" T("0", "f32", shape) "],'outputs':[" T("1", to, shape) "]}")

// The usual input and output of an op.
#define IN T("0", "f32", "[4]")
#define OUT T("1", "bf16", "[4]")

#endif
