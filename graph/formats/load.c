// SPDX-License-Identifier: Apache-2.0
// Loads a graph from a file or from memory: recognizes its format by the content, and calls the
// reader of the format.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "graph/core/open_file.h"
#include "graph/core/target.h"
#include "graph/formats/json/json_read.h"
#include "graph/formats/onnx/onnx_read.h"
#include "graph/formats/tflite/tflite_read.h"
#include "include/qdq/tensor_file.h"
#include "runtime/base/fp_environment.h"

enum { HEAD_BYTES = 16 };

// Text, or a model if one of the last two is not NULL.
typedef struct contents {
    const char *text;
    size_t length;
    const char *folder;
    const qdq_onnx_bytes *onnx;
    const qdq_tflite_bytes *tflite;
} contents;

// True if the text begins as JSON of a graph does.
static bool begins_as_graph(const contents *from) {
    size_t i = strspn(from->text, " \t\r\n");
    return i == from->length || strchr("{[\xEF", from->text[i]);  // 0xEF: a byte order mark
}

static qdq_status read_text(qdq_graph *graph, const contents *from,
                            const qdq_graph_options *options, qdq_error *err) {
    qdq_error own = {0};
    qdq_status status = qdq_json_read(graph, from->text, from->length, from->folder, options, &own);
    if (status == QDQ_OK) return status;
    return qdq_fail(
        err, status, "%s%s", own.text,
        begins_as_graph(from) ? "" : "; a graph is JSON, an ONNX or a TensorFlow Lite model");
}

static qdq_status read_contents(qdq_graph *graph, const contents *from,
                                const qdq_graph_options *options, qdq_error *err) {
    qdq_target_version target;
    if (options && options->target && !qdq_target_version_find(options->target, &target, err))
        return QDQ_ERR_ARGUMENT;
    if (!from->onnx && !from->tflite && options && options->until)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "only an ONNX or TensorFlow Lite model can end at '%.200s'; this is a "
                        "graph file",
                        options->until);
    qdq_status status = from->onnx     ? qdq_onnx_read(graph, from->onnx, options, err)
                        : from->tflite ? qdq_tflite_read(graph, from->tflite, options, err)
                                       : read_text(graph, from, options, err);
    if (status == QDQ_OK && graph->mempool.failed) status = qdq_fail_memory(err, 1);
    if (status == QDQ_OK && graph->broken.status)
        status = qdq_fail(err, graph->broken.status, "%s", graph->broken.text);
    return status;
}

// Passes on an error with the file's name in front.
static void give_up(qdq_error *own, const char *name, qdq_error *err) {
    if (name && *name) qdq_error_prefix(own, name);
    qdq_fail(err, own->status, "%s", own->text);
}

// Makes a graph from a file, whose text has a NUL after its bytes; NULL with `err` set.
static qdq_graph *read_new_graph(const contents *from, const char *name,
                                 const qdq_graph_options *options, qdq_error *err) {
    qdq_error own = {0};
    qdq_graph *graph = qdq_graph_create(NULL, options);
    if (!graph) {
        qdq_fail_memory(err, sizeof *graph);
        return NULL;
    }
    const char *file = qdq_mempool_strdup(&graph->mempool, name ? name : "");
    graph->file = graph->findings.file = file ? file : "";
    if (read_contents(graph, from, options, &own) == QDQ_OK) {
        qdq_graph_tell(graph, "%s: loaded %zu nodes, %zu errors found so far", graph->file,
                       graph->node_count, graph->findings.errors);
        return graph;
    }
    give_up(&own, name, err);
    qdq_graph_destroy(graph);
    return NULL;
}

qdq_graph *qdq_graph_parse(const char *text, size_t length, const char *name, const char *folder,
                           const qdq_graph_options *options, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_error own = {0};
    qdq_limits limits = qdq_limits_or_default(options ? &options->limits : NULL);
    const qdq_allocator *allocator = qdq_allocator_or_default(options ? options->allocator : NULL);
    char *copy = NULL;
    if (!text)
        qdq_fail(&own, QDQ_ERR_ARGUMENT, "the text is NULL");
    else if (qdq_check_file_bytes(length, limits.file_bytes, &own) == QDQ_OK) {
        copy = qdq_alloc_array(allocator, length + 1, 1, 16);
        if (!copy) qdq_fail_memory(&own, length + 1);
    }
    if (!copy) {
        give_up(&own, name, err);
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    qdq_onnx_bytes model = {.memory = copy, .length = length, .path = name, .folder = folder};
    qdq_tflite_bytes tflite = {.memory = copy, .length = length, .path = name};
    bool is_tflite = qdq_tflite_is_model(copy, length);
    bool is_onnx = !is_tflite && qdq_onnx_is_model(copy, length);
    contents all = {copy, length, folder, is_onnx ? &model : NULL, is_tflite ? &tflite : NULL};
    qdq_graph *graph = read_new_graph(&all, name, options, err);
    qdq_free_array(allocator, copy, length + 1, 1);
    return graph;
}

// Writes the folder of a path, "." if it has none.
static void folder_of(const char *path, char *out, size_t capacity) {
    const char *slash = strrchr(path, '/');
    snprintf(out, capacity, "%.*s", slash && slash != path ? (int)(slash - path) : 1,
             slash ? path : ".");
}

// Reads the first bytes of a file to `head`, fewer if the file is shorter, and keeps `file` open
// for the caller. False if it is no model.
static bool open_model(const char *path, qdq_open_file *file, unsigned char head[HEAD_BYTES]) {
    if (qdq_open_path(path, file, NULL) != QDQ_OK) return false;
    size_t count = file->bytes < HEAD_BYTES ? (size_t)file->bytes : HEAD_BYTES;
    if (qdq_open_file_read(file->descriptor, head, count, 0, NULL) == QDQ_OK &&
        (qdq_onnx_is_model(head, count) || qdq_tflite_is_model(head, count)))
        return true;
    close(file->descriptor);
    return false;
}

static qdq_graph *load_text(const char *path, const char *folder, const qdq_graph_options *options,
                            qdq_error *err) {
    qdq_error own = {0};
    qdq_limits limits = qdq_limits_or_default(options ? &options->limits : NULL);
    const qdq_allocator *allocator = qdq_allocator_or_default(options ? options->allocator : NULL);
    size_t length = 0;
    char *text = qdq_read_file(path, limits.file_bytes, allocator, &length, &own);
    if (!text) {
        give_up(&own, path, err);
        return NULL;
    }
    contents all = {.text = text, .length = length, .folder = folder};
    qdq_graph *graph = read_new_graph(&all, path, options, err);
    qdq_free_array(allocator, text, length + 1, 1);
    return graph;
}

qdq_graph *qdq_graph_load(const char *path, const qdq_graph_options *options, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    char folder[4096];
    unsigned char head[HEAD_BYTES] = {0};
    qdq_open_file file;
    if (!path) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the path of a graph is NULL");
        return NULL;
    }
    folder_of(path, folder, sizeof folder);
    if (!open_model(path, &file, head)) return load_text(path, folder, options, err);
    qdq_onnx_bytes onnx = {.file = &file, .path = path, .folder = folder};
    qdq_tflite_bytes tflite = {.file = &file, .path = path};
    bool is_tflite = qdq_tflite_is_model(head, sizeof head);
    contents all = {.onnx = is_tflite ? NULL : &onnx, .tflite = is_tflite ? &tflite : NULL};
    qdq_graph *graph = read_new_graph(&all, path, options, err);
    close(file.descriptor);
    return graph;
}
