// SPDX-License-Identifier: Apache-2.0
// Seeded inputs, and a fingerprint of a graph at a target: equal on every machine, compiler,
// instruction set and number of threads (docs/command_line.md, section 8).
#ifndef QDQ_FINGERPRINT_H
#define QDQ_FINGERPRINT_H

#include <qdq/exec.h>

#ifdef __cplusplus
extern "C" {
#endif

// Fills the inputs of `exec`, which runs a plan of `graph`, with data that depend on `seed` and on
// the name and dtype of the input. The ports that read an input narrow the range of its data. Fails
// with QDQ_ERR_MEMORY, also for a NULL graph, and with QDQ_ERR_ARGUMENT for a NULL exec or a graph
// that lacks an input of the plan.
QDQ_API qdq_status qdq_exec_fill(qdq_exec *exec, const qdq_graph *graph, uint64_t seed,
                                 qdq_error *err);

enum { QDQ_FINGERPRINT_PART = 17, QDQ_FINGERPRINT_TEXT = 73 };

// Parts have 16 digits of a SHA-256, so two fingerprints say in which of them they differ.
typedef struct qdq_fingerprint {
    char graph[QDQ_FINGERPRINT_PART];     // ops, attributes, constants, names of inputs and outputs
    char target[QDQ_FINGERPRINT_PART];    // its name, version and options
    char numerics[QDQ_FINGERPRINT_PART];  // of each node of the graph that the target runs
    char outputs[QDQ_FINGERPRINT_PART];   // of a run on seeded inputs; all NaN count as one
    char text[QDQ_FINGERPRINT_TEXT];      // "qdq1-GRAPH-TARGET-NUMERICS-OUTPUTS"
    char target_name[160];                // "ort@1.31-avx2:level=basic"
} qdq_fingerprint;

// Fills the inputs of `exec`, runs it and sets *out. `exec` runs a plan that was compiled from
// `graph` for `target` ("TARGET", "TARGET@VERSION", with options; NULL: the graph's own). Nodes
// that no output needs do not count, and neither do the order of nodes, the names of values between
// them, and places on a device. Fails like qdq_exec_fill, with QDQ_ERR_ARGUMENT for an unknown
// target or a NULL `out`, with QDQ_ERR_IO if a constant cannot be read, and like
// qdq_graph_deployed.
QDQ_API qdq_status qdq_graph_fingerprint(qdq_graph *graph, const char *target, qdq_exec *exec,
                                         uint64_t seed, qdq_fingerprint *out, qdq_error *err);

#ifdef __cplusplus
}
#endif
#endif
