// SPDX-License-Identifier: Apache-2.0
// Stands in for the writer of ONNX models where it is not built.
#include "graph/formats/onnx/write/onnx_write.h"
#include "runtime/base/error.h"
#include "runtime/base/profile.h"

qdq_status qdq_onnx_write(const qdq_graph *graph, const char *path, uint64_t most, qdq_error *err) {
    (void)graph, (void)most;
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED,
                    "%s: this build writes no ONNX models; " QDQ_BUILD_WITH("-Donnx=enabled"),
                    path);
}

qdq_status qdq_onnx_write_check(const qdq_graph *graph, qdq_findings *findings, qdq_error *err) {
    (void)graph, (void)findings;
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED,
                    "this build writes no ONNX models; " QDQ_BUILD_WITH("-Donnx=enabled"));
}

qdq_status qdq_onnx_fixed_sizes(const qdq_graph *graph, qdq_mempool *mempool, const char **fixed_by,
                                qdq_error *err) {
    (void)graph, (void)mempool, (void)fixed_by, (void)err;
    return QDQ_OK;
}
