// SPDX-License-Identifier: Apache-2.0
// Stands in for the reader of ONNX models in a build without it.
#include "graph/formats/onnx/onnx_read.h"
#include "runtime/base/profile.h"

qdq_status qdq_onnx_read(qdq_graph *graph, const qdq_onnx_bytes *bytes,
                         const qdq_graph_options *options, qdq_error *err) {
    (void)graph, (void)bytes, (void)options;
    return qdq_fail(
        err, QDQ_ERR_UNSUPPORTED,
        "is an ONNX model, which this build does not read; " QDQ_BUILD_WITH("-Donnx=enabled"));
}
