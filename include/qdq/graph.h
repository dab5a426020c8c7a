// SPDX-License-Identifier: Apache-2.0
// Graphs: building, loading, writing and checking them. The calls that add nodes are in ops.h.
//
// Building never returns a status. What is wrong is kept in the graph's report, the outputs of a
// node with errors are marked invalid (checks that would need them are skipped), and building goes
// on; qdq_graph_compile then fails with the first error, and qdq_graph_validate hands over all.
#ifndef QDQ_GRAPH_H
#define QDQ_GRAPH_H

#include <qdq/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// Values and nodes. Owned by whoever created it; one thread at a time. Strings and data that go in
// are copied; strings that come out live as long as the graph.
typedef struct qdq_graph qdq_graph;

// A value of a graph: an input, a constant or an output of a node. All zero is "no value".
// Valid for the graph that made it only.
typedef struct qdq_value {
    uint32_t id;
} qdq_value;

typedef struct qdq_graph_options {
    const qdq_allocator *allocator;  // NULL: the C library
    qdq_logger log;
    qdq_limits limits;
    const char *target;  // NULL: "core"; a file's own "target" is used only where this is NULL
} qdq_graph_options;

//---- Building ---------------------------------------------------------------

// NULL when memory runs out; every call here takes a NULL graph and does nothing, and compiling
// NULL reports it, so a program needs one check only. `options` NULL: all defaults. `name` NULL:
// ""; one that is not UTF-8 is a finding.
QDQ_API qdq_graph *qdq_graph_create(const char *name, const qdq_graph_options *options);
QDQ_API void qdq_graph_destroy(qdq_graph *graph);

// A tensor that is given anew for each run. A name that is NULL or not legal (1 to 255 bytes of
// UTF-8 without control characters), a dtype or a shape that is none are findings, here and below.
QDQ_API qdq_value qdq_input(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape);

// A tensor that is known now. `data` is row-major, qdq_dtype_size(dtype) bytes per element,
// qdq_shape_count(shape) elements, and is copied. NULL data, and elements that the dtype does not
// have, are findings.
QDQ_API qdq_value qdq_constant(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape,
                               const void *data);

// Names `value` as a result. An input or a constant may be one.
QDQ_API void qdq_output(qdq_graph *graph, const char *name, qdq_value value);

// The output called `port` ("scale", ...) of the node that makes `value`; none if there is none
// or `port` is NULL.
QDQ_API qdq_value qdq_port(qdq_graph *graph, qdq_value value, const char *port);

// The value with this name ("x", "node", "node.port"); none if there is none or it is NULL.
QDQ_API qdq_value qdq_graph_find(const qdq_graph *graph, const char *name);

// What a value is. False (and *dtype, *shape untouched) if it is none or invalid. `dtype` and
// `shape` may be NULL.
QDQ_API bool qdq_value_type(const qdq_graph *graph, qdq_value value, qdq_dtype *dtype,
                            qdq_shape *shape);

//---- Files (docs/format.md) -------------------------------------------------

// Reads a qdq/1 file, or a oneDNN Graph JSON file, whose target is "onednn" where the options have
// none. NULL with `err` set when it cannot be read or is neither; a graph with findings in its
// report (unknown names, cycles, every per-node mistake) is returned. Constants of more than 4096
// elements stay in their .safetensors file, which the graph keeps open, and are read by the calls
// that need them. If the file has been written to by then these fail with QDQ_ERR_IO; another file
// may take its place.
QDQ_API qdq_graph *qdq_graph_load(const char *path, const qdq_graph_options *options,
                                  qdq_error *err);

// The same from memory. `name` stands for the file in messages; constants that name a file are
// looked for beneath `folder`, and refused where it is NULL. `text` is not kept. A NULL `name` is
// "".
QDQ_API qdq_graph *qdq_graph_parse(const char *text, size_t length, const char *name,
                                   const char *folder, const qdq_graph_options *options,
                                   qdq_error *err);

// Writes the graph as a qdq/1 file such that loading it gives the same graph. Constants of more
// than 4096 elements go to a .safetensors file beside it, with the same stem. Files are replaced
// whole or not at all. Refuses a graph that has errors or a target that there is not; a NULL graph
// is QDQ_ERR_MEMORY.
QDQ_API qdq_status qdq_graph_write(const qdq_graph *graph, const char *path, qdq_error *err);

//---- Checking ---------------------------------------------------------------

typedef enum qdq_severity { QDQ_SEVERITY_ERROR = 0, QDQ_SEVERITY_WARNING } qdq_severity;

// One thing that is wrong. Strings are never NULL ("" where there is nothing to say).
typedef struct qdq_finding {
    const char *rule;  // stable id: "core/axis-range"
    qdq_severity severity;
    const char *target;   // whose rule it is: "core", "tensorrt", ...
    const char *node;     // name of the node or value, "" for the graph as a whole
    const char *op;       // "Quantize", ...
    const char *port;     // the port or attribute in question
    const char *found;    // what there is
    const char *wanted;   // what there should be
    const char *hint;     // how to mend it
    const char *message;  // the whole sentence, with file and node
    const char *source;   // where the target says so
} qdq_finding;

// All findings, in the order in which they were found; owned by the graph.
typedef struct qdq_report {
    const qdq_finding *findings;
    size_t count;             // at most qdq_limits.findings errors and as many warnings
    size_t errors, warnings;  // all that were found, also those that are not kept
} qdq_report;

// Checks the whole graph: what building found, facts about the whole, and the rules of `target`
// (NULL: the graph's own). The report is valid until the next call with this graph. NULL with
// `err` set when memory runs out (a NULL graph too) or the target is unknown.
QDQ_API const qdq_report *qdq_graph_validate(qdq_graph *graph, const char *target, qdq_error *err);

// Names: of the graph, and of the target it asks for; "" and "core" for NULL.
QDQ_API const char *qdq_graph_name(const qdq_graph *graph);
QDQ_API const char *qdq_graph_target(const qdq_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
