// SPDX-License-Identifier: Apache-2.0
// Stands in for the formats that the profile core lacks: oneDNN Graph files and emitted C.
#include "graph/formats/c/c_write.h"
#include "graph/formats/onednn/json_onednn.h"
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
