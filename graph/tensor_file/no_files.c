// SPDX-License-Identifier: Apache-2.0
// Where there are no files: no constant is held in one, and nothing is written.
#include "graph/tensor_file/held_constants.h"
#include "graph/write/c/c_write.h"
#include "runtime/base/error.h"

void qdq_release_files(qdq_graph *graph) { (void)graph; }

qdq_value qdq_graph_share_held(qdq_graph *graph, const char *name, const qdq_graph_value *from) {
    (void)graph, (void)name, (void)from;
    return (qdq_value){0};
}

qdq_status qdq_c_write_check(qdq_graph *graph, qdq_findings *findings, qdq_error *err) {
    (void)graph, (void)findings;
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "this build of qdq writes no files");
}
