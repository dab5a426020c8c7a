// SPDX-License-Identifier: Apache-2.0
// Writes a graph to a file: the ending of its path names the format. Also reports the parts of a
// graph that a format cannot express.
#include "graph/compile/validate.h"
#include "graph/core/free_sizes.h"
#include "graph/formats/c/c_write.h"
#include "graph/formats/json/json_write.h"
#include "graph/formats/onnx/write/onnx_write.h"
#include "graph/formats/tflite/write/tflite_write.h"
#include "include/qdq/inspect.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/words.h"

static qdq_status check_to_write(const qdq_graph *graph, const char *path, qdq_error *err) {
    if (!graph) return qdq_fail(err, QDQ_ERR_MEMORY, "there is no graph: out of memory");
    if (graph->mempool.failed || graph->broken.status)
        return qdq_fail(err, QDQ_ERR_MEMORY, "the graph is not complete: %s",
                        graph->broken.status ? graph->broken.text : "out of memory");
    if (graph->findings.errors)
        return qdq_fail(err, QDQ_ERR_GRAPH, "%s",
                        graph->findings.count ? graph->findings.items[0].message
                                              : "the graph has errors");
    qdq_target_version version;
    if (!path) return qdq_fail(err, QDQ_ERR_ARGUMENT, "the path of a graph is NULL");
    return qdq_target_version_find(graph->target, &version, err) ? QDQ_OK : QDQ_ERR_ARGUMENT;
}

qdq_status qdq_graph_write(const qdq_graph *graph, const char *path, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    QDQ_TRY(check_to_write(graph, path, err));
    if (qdq_has_ending(path, ".onnx")) return qdq_onnx_write(graph, path, QDQ_ONNX_MOST_BYTES, err);
    if (qdq_has_ending(path, ".tflite")) return qdq_tflite_write(graph, path, err);
    return qdq_json_write(graph, path, err);
}

qdq_status qdq_graph_write_whole(const qdq_graph *graph, const char *path, size_t most_bytes,
                                 qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    QDQ_TRY(check_to_write(graph, path, err));
    bool onnx = qdq_has_ending(path, ".onnx");
    if (onnx || qdq_has_ending(path, ".tflite"))
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "%.400s: ends in %s, wanted the path of a qdq/1 file", path,
                        onnx ? ".onnx" : ".tflite");
    return qdq_json_write_whole(graph, path, most_bytes, err);
}

static qdq_status check_tflite(qdq_graph *graph, qdq_findings *findings, qdq_error *err) {
    return qdq_tflite_write_check(graph, findings, err);
}

const qdq_report *qdq_graph_validate_tflite(qdq_graph *graph, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    return qdq_graph_report_of(graph, check_tflite, err);
}

static qdq_status check_onnx(qdq_graph *graph, qdq_findings *findings, qdq_error *err) {
    return qdq_onnx_write_check(graph, findings, err);
}

const qdq_report *qdq_graph_validate_onnx(qdq_graph *graph, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    return qdq_graph_report_of(graph, check_onnx, err);
}

const qdq_report *qdq_graph_validate_c(qdq_graph *graph, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    return qdq_graph_report_of(graph, qdq_c_write_check, err);
}

qdq_status qdq_graph_open_dims(qdq_graph *graph, const qdq_open_dim **dims, size_t *count,
                               qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    const char *fixed_by[QDQ_MOST_FREE] = {NULL};
    if (!graph) return qdq_fail(err, QDQ_ERR_MEMORY, "there is no graph: out of memory");
    if (!dims || !count) return qdq_fail(err, QDQ_ERR_ARGUMENT, "`dims` or `count` is NULL");
    *dims = NULL, *count = 0;
    if (!graph->free_size_count || graph->findings.errors) return QDQ_OK;
    QDQ_TRY(qdq_onnx_fixed_sizes(graph, &graph->mempool, fixed_by, err));
    qdq_open_dim *all = qdq_mempool_array(&graph->mempool, graph->free_size_count, sizeof *all);
    if (!all) return qdq_fail_memory(err, graph->free_size_count * sizeof *all);
    for (size_t i = 0; i < graph->free_size_count; i++) {
        const qdq_free_size *size = &graph->free_sizes[i];
        all[i] = (qdq_open_dim){.name = size->name,
                                .input = qdq_value_original(graph, size->places[0].input),
                                .dim = (size_t)size->places[0].dim,
                                .size = size->size,
                                .fixed_by = fixed_by[i]};
    }
    *dims = all, *count = graph->free_size_count;
    return QDQ_OK;
}
