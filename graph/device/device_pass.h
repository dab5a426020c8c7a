// SPDX-License-Identifier: Apache-2.0
// The device pass: walks the nodes of a graph in their order and gives each value a buffer in the
// memory of a device, as ttnn does when it runs node by node.
//
// The pass sees nodes, not steps of a plan: a node has the same buffers however qdq computes it.
// runtime/tenstorrent/ has the numbers.
#ifndef QDQ_GRAPH_DEVICE_DEVICE_PASS_H
#define QDQ_GRAPH_DEVICE_DEVICE_PASS_H

#include "graph/core/graph.h"
#include "include/qdq/device_plan.h"
#include "runtime/exec/plan_device.h"
#include "runtime/tenstorrent/device_memory.h"

typedef struct qdq_device_request {
    const qdq_device *device;         // NULL: none, and there is no pass
    qdq_float_storage float_storage;  // decides dtypes
    bool keep_all;                    // no value is freed
    const char *const *keep;          // names of values that are not freed
    size_t keep_count;
} qdq_device_request;

// Why a graph does not fit, and where.
typedef struct qdq_device_trouble {
    qdq_memory_failure failure;  // of kind QDQ_FAILURE_NONE: it fits
    qdq_subject subject;
    const char *program;  // of the node, unless it is the node itself; "" for an input or constant
} qdq_device_trouble;

// Returns the dtype in which a value is stored: see qdq_float_storage.
qdq_dtype qdq_stored_dtype(const qdq_graph *graph, uint32_t id, qdq_float_storage storage);

// Chooses the device for a target ("TARGET" or "TARGET@VERSION", which exists): `given`, or else
// the target's own. *out is NULL without a device, also if `given` is the device "none".
// QDQ_ERR_ARGUMENT for a device that fails its check or is not of the target's chip.
qdq_status qdq_device_choose(const char *target, const qdq_device *given, const qdq_device **out,
                             qdq_error *err);

// Runs the graph in the memory of a device. Everything in *out lives in `mempool`; `out` NULL: only
// `trouble` is wanted. QDQ_OK with `trouble` filled in, and *out NULL, if the graph does not fit.
// The graph has no errors. QDQ_ERR_UNSUPPORTED for a value that cannot lie on the device.
qdq_status qdq_device_pass(const qdq_graph *graph, const qdq_device_request *request,
                           qdq_mempool *mempool, qdq_device_record **out,
                           qdq_device_trouble *trouble, qdq_error *err);

// Adds the finding of the rule in `memory_rules` of a target that has a device.
void qdq_device_report(qdq_findings *findings, const struct qdq_target *target,
                       const qdq_device_trouble *trouble);

#endif
