// SPDX-License-Identifier: Apache-2.0
// Limits on shapes, tensors and graphs, and checks of the data of constants.
#include "graph/core/graph.h"
#include "runtime/numerics/dtype.h"

// Returns 8 GiB, or half of the address space on small machines.
static size_t default_bytes(void) {
    const uint64_t bytes = (uint64_t)8 << 30;
    return bytes < SIZE_MAX / 2 ? (size_t)bytes : SIZE_MAX / 2;
}

qdq_limits qdq_limits_or_default(const qdq_limits *limits) {
    qdq_limits all = limits ? *limits : (qdq_limits){0};
    if (!all.file_bytes) all.file_bytes = (size_t)64 << 20;
    if (!all.json_values) all.json_values = 1000000;
    if (!all.elements) all.elements = (size_t)1 << 31;
    if (!all.bytes) all.bytes = default_bytes();
    if (!all.findings) all.findings = 100;
    if (!all.operations) all.operations = SIZE_MAX;
    return all;
}

static bool check_shape(qdq_graph *graph, qdq_shape shape, qdq_subject subject) {
    bool legal = shape.rank >= 0 && shape.rank <= QDQ_MAX_RANK;
    for (int i = 0; legal && i < shape.rank; i++) legal = shape.dims[i] >= 1;
    if (!legal) {
        qdq_graph_report_core(
            graph, QDQ_RULE_SHAPE, subject,
            shape.rank < 0 || shape.rank > QDQ_MAX_RANK
                ? qdq_text(&graph->findings, "has rank %d", shape.rank)
                : qdq_text(&graph->findings, "is %s", qdq_shape_text(&graph->findings, shape)),
            "at most 8 dims, each at least 1");
        return false;
    }
    // In 64 bits: a size_t may be narrower than a dim.
    uint64_t count = 1;
    bool countable = true;
    for (int i = 0; i < shape.rank; i++)
        countable &= !__builtin_mul_overflow(count, (uint64_t)shape.dims[i], &count);
    if (countable && count <= graph->limits.elements) return true;
    qdq_graph_report_core(
        graph, QDQ_RULE_SIZE, subject,
        qdq_text(&graph->findings, "is %s", qdq_shape_text(&graph->findings, shape)),
        qdq_text(&graph->findings, "at most %zu elements", graph->limits.elements));
    return false;
}

// Returns the bytes of a tensor row-major; SIZE_MAX if an address cannot count them.
static size_t row_bytes(qdq_type type) {
    size_t bytes;
    return __builtin_mul_overflow(qdq_shape_count(type.shape), qdq_dtype_size(type.dtype), &bytes)
               ? SIZE_MAX
               : bytes;
}

bool qdq_graph_check_type(qdq_graph *graph, qdq_type type, qdq_subject subject) {
    if (!check_shape(graph, type.shape, subject)) return false;
    if (row_bytes(type) != SIZE_MAX) return true;
    qdq_graph_report_core(
        graph, QDQ_RULE_SIZE, subject,
        qdq_text(&graph->findings, "is %s", qdq_shape_text(&graph->findings, type.shape)),
        "a tensor whose bytes an address can count");
    return false;
}

bool qdq_graph_charge(qdq_graph *graph, qdq_type type, qdq_subject subject) {
    bool told = graph->bytes > graph->limits.bytes;
    if (__builtin_add_overflow(graph->bytes, row_bytes(type), &graph->bytes))
        graph->bytes = SIZE_MAX;
    if (graph->bytes <= graph->limits.bytes) return true;
    if (!told)
        qdq_graph_report_core(graph, QDQ_RULE_SIZE, subject,
                              qdq_text(&graph->findings,
                                       "brings inputs, outputs and constants to %zu bytes",
                                       graph->bytes),
                              qdq_text(&graph->findings, "at most %zu", graph->limits.bytes));
    return false;
}

bool qdq_graph_check_given(qdq_graph *graph, qdq_type type, const char *name, const char *kind) {
    qdq_subject subject = {name, NULL, "shape", kind};
    bool legal = qdq_dtype_get(type.dtype) != NULL;
    if (!legal)
        qdq_graph_report_core(graph, QDQ_RULE_DTYPE_UNKNOWN,
                              (qdq_subject){name, NULL, "dtype", kind},
                              qdq_text(&graph->findings, "is %d", (int)type.dtype), "a dtype");
    legal = qdq_graph_check_type(graph, type, subject) && legal;
    return legal && qdq_graph_charge(graph, type, subject);
}

bool qdq_graph_check_data(qdq_graph *graph, const char *name, qdq_dtype dtype, const void *data,
                          size_t count) {
    qdq_findings *f = &graph->findings;
    size_t beyond = data ? qdq_first_beyond(dtype, data, count) : 0;
    if (beyond == SIZE_MAX) return true;
    qdq_graph_report_core(graph, QDQ_RULE_CONSTANT_DATA,
                          (qdq_subject){name, NULL, "data", "constant"},
                          data ? qdq_text(f, "has byte %d at index %zu",
                                          ((const unsigned char *)data)[beyond], beyond)
                               : "is NULL",
                          qdq_text(f, "elements of %s", qdq_dtype_name(dtype)));
    return false;
}
