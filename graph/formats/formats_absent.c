// SPDX-License-Identifier: Apache-2.0
// Stands in for the formats that the profile core lacks: oneDNN Graph files, ttnn's graph captures,
// TensorFlow Lite models and emitted C.
#include "graph/formats/c/c_write.h"
#include "graph/formats/capture/capture.h"
#include "graph/formats/onednn/json_onednn.h"
#include "graph/formats/tflite/tflite_read.h"
#include "graph/formats/tflite/write/tflite_write.h"
#include "runtime/base/profile.h"

bool qdq_json_is_onednn(const qdq_json_item *json) {
    return qdq_json_is_array(qdq_json_find(json, "graph")) && !qdq_json_find(json, "format");
}

qdq_status qdq_json_read_onednn(const qdq_reader *r, const qdq_item *top) {
    (void)top;
    return qdq_fail(r->err, QDQ_ERR_UNSUPPORTED,
                    "is a oneDNN Graph file, which this build does not read; %s",
                    QDQ_BUILD_WITH("-Dprofile=full"));
}

qdq_status qdq_tflite_read(qdq_graph *graph, const qdq_tflite_bytes *bytes,
                           const qdq_graph_options *options, qdq_error *err) {
    (void)graph, (void)bytes, (void)options;
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED,
                    "is a TensorFlow Lite model, which this build does not read; %s",
                    QDQ_BUILD_WITH("-Dprofile=full"));
}

static qdq_status refuse_tflite(qdq_error *err) {
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED,
                    "this build of qdq writes no TensorFlow Lite models; %s",
                    QDQ_BUILD_WITH("-Dprofile=full"));
}

qdq_status qdq_tflite_write(const qdq_graph *graph, const char *path, qdq_error *err) {
    (void)graph, (void)path;
    return refuse_tflite(err);
}

qdq_status qdq_tflite_write_check(const qdq_graph *graph, qdq_findings *findings, qdq_error *err) {
    (void)graph, (void)findings;
    return refuse_tflite(err);
}

static qdq_status refuse_c(qdq_error *err) {
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "this build of qdq writes no C; %s",
                    QDQ_BUILD_WITH("-Dprofile=full"));
}

qdq_status qdq_graph_write_c(qdq_graph *graph, const char *path, qdq_error *err) {
    (void)graph, (void)path;
    return refuse_c(err);
}

qdq_status qdq_c_write_check(qdq_graph *graph, qdq_findings *findings, qdq_error *err) {
    (void)graph, (void)findings;
    return refuse_c(err);
}

//---- Captures ---------------------------------------------------------------

bool qdq_json_is_capture(const qdq_json_item *json) { return qdq_json_is_array(json); }

qdq_status qdq_json_read_capture(const qdq_reader *r, const qdq_json_item *json) {
    (void)json;
    return qdq_fail(r->err, QDQ_ERR_UNSUPPORTED,
                    "is a ttnn graph capture, which this build does not read; %s",
                    QDQ_BUILD_WITH("-Dprofile=full"));
}

bool qdq_graph_is_capture(const qdq_graph *graph) {
    (void)graph;
    return false;
}

static qdq_status refuse_capture(qdq_error *err) {
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "this build reads no ttnn graph captures; %s",
                    QDQ_BUILD_WITH("-Dprofile=full"));
}

qdq_status qdq_capture_device(const qdq_graph *graph, qdq_device *out, qdq_error *err) {
    (void)graph, (void)out;
    return refuse_capture(err);
}

qdq_status qdq_capture_compare(const qdq_graph *graph, const qdq_plan *plan, qdq_capture_see *see,
                               void *self, qdq_capture_totals *out, qdq_error *err) {
    (void)graph, (void)plan, (void)see, (void)self, (void)out;
    return refuse_capture(err);
}

const char *qdq_capture_unknown(const qdq_graph *graph, size_t index) {
    (void)graph, (void)index;
    return NULL;
}
