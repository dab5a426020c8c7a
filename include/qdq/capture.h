// SPDX-License-Identifier: Apache-2.0
// Compares a device plan with ttnn's graph capture, which qdq_graph_load reads as a graph:
// docs/format.md, section 10.
#ifndef QDQ_CAPTURE_H
#define QDQ_CAPTURE_H

#include <qdq/device_plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// True if the graph was read from a capture.
QDQ_API bool qdq_graph_is_capture(const qdq_graph *graph);

// Describes the device of a capture: the first known chip and grid that agree with its banks, cores
// and addresses, with the base of L1 that its circular buffers show. QDQ_ERR_ARGUMENT for a graph
// that is no capture, QDQ_ERR_UNSUPPORTED if no chip agrees.
QDQ_API qdq_status qdq_capture_device(const qdq_graph *graph, qdq_device *out, qdq_error *err);

// A field of a node of the capture, and the same field of the plan; texts live during the call.
typedef struct qdq_capture_field {
    size_t counter;       // of the node
    const char *program;  // that the node belongs to: "BinaryNgDeviceOperation"; "": none
    const char *subject;  // "tensor 11", "buffer of tensor 11", "circular buffer 0"
    const char *name;     // "max_size_per_bank"
    const char *captured, *planned;
    bool equal;
} qdq_capture_field;

typedef struct qdq_capture_totals {
    size_t fields, equal;  // that were compared
    size_t unrecorded;     // addresses of 0: the capture was taken without dispatch
    size_t given;          // addresses of tensors that are older than the capture
    size_t unmodelled;     // buffers without a tensor, as kernel binaries are
    size_t unknown;        // programs of ops that qdq does not have
} qdq_capture_totals;

typedef void qdq_capture_see(void *self, const qdq_capture_field *field);

// Calls `see` (which may be NULL) with each field in the order of the capture's nodes. The plan was
// compiled from the graph for a device; QDQ_ERR_ARGUMENT otherwise.
QDQ_API qdq_status qdq_capture_compare(const qdq_graph *graph, const qdq_plan *plan,
                                       qdq_capture_see *see, void *self, qdq_capture_totals *out,
                                       qdq_error *err);

// Returns the name of program `index` of the ops that qdq does not have; NULL: there are fewer.
QDQ_API const char *qdq_capture_unknown(const qdq_graph *graph, size_t index);

#ifdef __cplusplus
}
#endif
#endif
