// SPDX-License-Identifier: Apache-2.0
// Graphs: building, loading, writing and checking them. The calls that add nodes are in ops.h.
//
// Building never returns a status. Mistakes go to the graph's report, the outputs of a node with
// errors are marked invalid (checks that would need them are skipped), and building goes on. Later
// qdq_graph_compile fails with the first error, and qdq_graph_validate returns all of them.
#ifndef QDQ_GRAPH_H
#define QDQ_GRAPH_H

#include <qdq/device.h>

#ifdef __cplusplus
extern "C" {
#endif

// Values and nodes. Owned by the caller that created it; one thread at a time. Strings and data
// passed in are copied; strings that are returned live as long as the graph.
typedef struct qdq_graph qdq_graph;

// A value of a graph: an input, a constant or an output of a node. All zero is "no value".
// Valid only in the graph that returned it: another graph refuses an id that is out of its range,
// and takes a smaller id for its own value with this id.
typedef struct qdq_value {
    uint32_t id;
} qdq_value;

// The shape of an input of an ONNX model whose file leaves dims open, or of a graph file in place
// of the shape in the file. Types of nodes follow from it.
typedef struct qdq_input_shape {
    const char *name;
    qdq_shape shape;
    // Ignored unless the model has an input of this name with open dims. "" is the only input. Dims
    // of 1 may lack in front.
    bool tentative;
    // The first dim counts samples, of which the graph takes as many at a time as its dim is given
    // by `dims`, or else one; or the input has no such dim.
    bool samples;
} qdq_input_shape;

// The size of a dim that an ONNX model names.
typedef struct qdq_dim_size {
    const char *name;
    int64_t size;
    bool tentative;  // ignored unless an input of the model has a dim of this name
} qdq_dim_size;

typedef struct qdq_graph_options {
    const qdq_allocator *allocator;  // NULL: the C library
    qdq_logger log;
    qdq_limits limits;
    const char *target;             // NULL: the "target" of the file that is loaded, else "core"
    const qdq_input_shape *shapes;  // oneDNN Graph files take none
    size_t shape_count;
    const qdq_dim_size *dims;  // ONNX models only
    size_t dim_count;
    // NULL: the whole model. Otherwise the graph ends at the node of this name, or at the node that
    // computes the value of this name; the results of the node become the outputs.
    const char *until;
    // Finds dims that an ONNX model leaves open and for which the graph fits any size, by reading
    // the model with other sizes too. qdq_graph_write then leaves them open in an ONNX model.
    bool keep_open_dims;
    // Size of the first dim of inputs of an ONNX or TensorFlow Lite model, the batch, where nothing
    // else gives it. 0: such a model is refused.
    int64_t batch;
} qdq_graph_options;

//---- Building ---------------------------------------------------------------

// Returns NULL when memory runs out. Every call here accepts a NULL graph and does nothing, and
// compiling a NULL graph reports the lack of memory, so a program needs only one check. NULL
// `options`: all defaults. NULL `name`: "". A name that is not UTF-8 is a finding.
QDQ_API qdq_graph *qdq_graph_create(const char *name, const qdq_graph_options *options);
QDQ_API void qdq_graph_destroy(qdq_graph *graph);

// Adds a tensor that the caller gives for each run. A name that is NULL or illegal (legal are 1 to
// 255 bytes of UTF-8 without control characters), an illegal dtype and an illegal shape are
// findings, here and below.
QDQ_API qdq_value qdq_input(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape);

// Adds a tensor that is known now. `data` is row-major, qdq_shape_count(shape) elements of
// qdq_dtype_size(dtype) bytes each, and is copied. NULL data, and elements that the dtype does not
// have, are findings.
QDQ_API qdq_value qdq_constant(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape,
                               const void *data);

// Names `value` as a result of the graph. An input or a constant may be a result.
QDQ_API void qdq_output(qdq_graph *graph, const char *name, qdq_value value);

// Returns the output called `port` ("scale", ...) of the node that computes `value`; no value if
// the node lacks this output or `port` is NULL.
QDQ_API qdq_value qdq_port(qdq_graph *graph, qdq_value value, const char *port);

// Returns the value called `name` ("x", "node", "node.port"); no value if there is none or `name`
// is NULL.
QDQ_API qdq_value qdq_graph_find(const qdq_graph *graph, const char *name);

// Returns the value that is the output called `name`; no value if there is none or `name` is NULL.
QDQ_API qdq_value qdq_output_value(const qdq_graph *graph, const char *name);

// Reports the dtype and the shape of a value; either pointer may be NULL. Returns false, and leaves
// *dtype and *shape untouched, if `value` is no value or is marked invalid.
QDQ_API bool qdq_value_type(const qdq_graph *graph, qdq_value value, qdq_dtype *dtype,
                            qdq_shape *shape);

//---- State between runs ------------------------------------------------------

// An input whose elements come from the run before.
typedef struct qdq_state_info {
    const char *input;
    const char *output;   // which has its elements for the next run
    const void *initial;  // elements for the first run; NULL: zeros
} qdq_state_info;

// Declares `input` as state: a run begins with the elements that the output called `output` had
// after the run before, the first run with `initial`, which is copied. Both have the same dtype and
// shape. qdq_exec_first_states and qdq_exec_next_states set it; a run itself does not.
QDQ_API void qdq_state(qdq_graph *graph, qdq_value input, const char *output, const void *initial);

// Return the states of a graph; NULL if the index is out of range.
QDQ_API size_t qdq_graph_state_count(const qdq_graph *graph);
QDQ_API const qdq_state_info *qdq_graph_state(const qdq_graph *graph, size_t index);

//---- The memory of a device (docs/format.md) --------------------------------

// Sets the placement of `value`, an input, a constant or the first output of a node, on a
// Tenstorrent device: its memory_config, the layout of its pages (tiles or rows), and the shape of
// its tiles. All have defaults, and results never depend on them. Targets without a device ignore
// them, with a warning. A place that no device has is a finding, and is not kept; target ttnn's
// rules check the placement against the tensor and the device. The last call counts.
QDQ_API void qdq_set_memory_config(qdq_graph *graph, qdq_value value,
                                   const qdq_memory_config *config);
QDQ_API void qdq_set_layout(qdq_graph *graph, qdq_value value, qdq_layout layout);
QDQ_API void qdq_set_tile(qdq_graph *graph, qdq_value value, qdq_tile_shape tile);

//---- Files (docs/format.md) -------------------------------------------------

// Reads a qdq/1 file, a oneDNN Graph JSON file, an ONNX model (docs/onnx.md), or a TensorFlow Lite
// model (docs/tflite.md). If the options name no target, it is the one of the file, or "onednn",
// "onnx" and "litert" for the other three. Returns NULL with `err` set if the options name an
// unknown target, if the file cannot be read or has another format, or if dims of an ONNX model
// stay open. Returns a graph even if its report has findings (unknown names, cycles, every mistake
// of a node). Constants of more than 4096 elements stay in their file, which the graph keeps open;
// calls that need them read them, and fail with QDQ_ERR_IO if the file has been written to by then.
// A new file may take the place of the old one.
QDQ_API qdq_graph *qdq_graph_load(const char *path, const qdq_graph_options *options,
                                  qdq_error *err);

// Reads a graph from memory, as qdq_graph_load does. `name` stands for the file in messages; NULL
// is "". Files that constants name are looked for below `folder`, and refused if `folder` is NULL.
// `text` is not kept.
QDQ_API qdq_graph *qdq_graph_parse(const char *text, size_t length, const char *name,
                                   const char *folder, const qdq_graph_options *options,
                                   qdq_error *err);

// Writes the graph as a qdq/1 file; loading the file gives the same graph. Constants of more than
// 4096 elements go to a .safetensors file in the same folder, with the same stem. Files are
// replaced completely or not at all; a .safetensors file that the old graph file does not name is
// not replaced: QDQ_ERR_IO. Refuses a graph that has errors or an unknown target; a NULL
// graph is QDQ_ERR_MEMORY. A path that ends in ".onnx", in any case, is written as an ONNX model
// (docs/onnx.md), in ".tflite" as a TensorFlow Lite model (docs/tflite.md), or refused with
// QDQ_ERR_UNSUPPORTED if the format has no counterpart.
QDQ_API qdq_status qdq_graph_write(const qdq_graph *graph, const char *path, qdq_error *err);

// Writes the graph as one qdq/1 file that needs no other: constants of more than 4096 elements are
// in it as base64. QDQ_ERR_LIMIT if they take more than `most_bytes` of text; 0: as many as
// qdq_limits of the graph let a file have.
QDQ_API qdq_status qdq_graph_write_whole(const qdq_graph *graph, const char *path,
                                         size_t most_bytes, qdq_error *err);

// A dim of an input that an ONNX model leaves open.
typedef struct qdq_open_dim {
    const char *name;   // in the model; "": it has none
    const char *input;  // the first input with this dim, by its name in the model
    size_t dim;         // of that input
    int64_t size;       // in the graph
    // Why a model that qdq_graph_write writes has only this size: the end of a sentence. NULL: the
    // dim stays open.
    const char *fixed_by;
} qdq_open_dim;

// Lists the open dims of a graph that was loaded with `keep_open_dims`, or made from such a graph;
// other graphs have none. The list lives as long as the graph. QDQ_ERR_MEMORY when memory runs out,
// also for a NULL graph.
QDQ_API qdq_status qdq_graph_open_dims(qdq_graph *graph, const qdq_open_dim **dims, size_t *count,
                                       qdq_error *err);

// Writes the graph as one C11 file that computes it with the bits of its target, without allocation
// or stdio: a function NAME_run and its sizes as macros (docs/firmware.md). To write the nodes that
// a target fuses, pass the graph that qdq_graph_deployed returns. Refuses a graph that has errors,
// and with QDQ_ERR_UNSUPPORTED a graph with an op or a dtype that C cannot express; a NULL graph is
// QDQ_ERR_MEMORY.
QDQ_API qdq_status qdq_graph_write_c(qdq_graph *graph, const char *path, qdq_error *err);

//---- Checking ---------------------------------------------------------------

typedef enum qdq_severity { QDQ_SEVERITY_ERROR = 0, QDQ_SEVERITY_WARNING } qdq_severity;

// One mistake or surprise in a graph. Strings are never NULL ("" if there is nothing to say).
typedef struct qdq_finding {
    const char *rule;  // stable id: "core/axis-range"
    qdq_severity severity;
    const char *target;   // the target that has the rule: "core", "tensorrt", ...
    const char *node;     // name of the node or value, "" for the graph as a whole
    const char *op;       // "Quantize", ...
    const char *port;     // the port or attribute in question
    const char *found;    // the text or number in the graph
    const char *wanted;   // the accepted text or number
    const char *hint;     // how to fix it
    const char *message;  // the whole sentence, with file and node
    const char *source;   // where the target states the rule
} qdq_finding;

// How well the bits of a node's results are known, given the bits of its inputs.
typedef enum qdq_bits {
    QDQ_BITS_NONE = 0,  // there is no node
    QDQ_BITS_UNKNOWN,   // no evidence covers the node
    QDQ_BITS_CLOSE,     // the backend's floats may differ in their last bits
    QDQ_BITS_READ,      // computed as the backend's source or documents say, not compared with it
    QDQ_BITS_EXACT,     // compared with the backend or its vendor's model; core: by definition
} qdq_bits;

// A node of the graph that the target runs after its rewriting. Strings are never NULL.
typedef struct qdq_node_bits {
    const char *node;
    const char *op;        // "QLinearConv"; the model's op ("LSTM") for one of several nodes of it
    const char *original;  // name of the node in the file; the same as `node` if the file has none
    qdq_bits bits;
    bool from_same_inputs;  // an input depends on a node that is neither exact nor read
    const char *rule;       // of the finding that lowers `bits`; "" if the evidence decides
    const struct qdq_evidence *evidence;  // qdq/evidence.h; NULL for unknown bits
} qdq_node_bits;

// All findings, in the order found; owned by the graph.
typedef struct qdq_report {
    const qdq_finding *findings;
    size_t count;             // at most qdq_limits.findings errors and as many warnings
    size_t errors, warnings;  // all that were found, kept or not
    // The nodes that the target runs, in the order in which it does; none if there are errors.
    const qdq_node_bits *nodes;
    size_t node_count;
    size_t nodes_with[QDQ_BITS_EXACT + 1];  // by qdq_bits
} qdq_report;

// Checks the whole graph, also by the rules of `target` (NULL: the graph's own), and returns all
// findings, including the findings of building. The report is valid until the next call with this
// graph. Returns NULL with `err` set when memory runs out (also for a NULL graph) or the target is
// unknown.
QDQ_API const qdq_report *qdq_graph_validate(qdq_graph *graph, const char *target, qdq_error *err);

// Checks like qdq_graph_validate with the memory of `device` in place of the target's own; "none":
// without memory. QDQ_ERR_ARGUMENT for a device that fails its check or is not of the target's
// chip. NULL `device`: qdq_graph_validate.
QDQ_API const qdq_report *qdq_graph_validate_on(qdq_graph *graph, const char *target,
                                                const qdq_device *device, qdq_error *err);

// Returns a finding for each node or value that ONNX cannot express, and the findings of building:
// without errors, qdq_graph_write can write the graph as a model. The report is valid until the
// next check of this graph. NULL with `err` set when memory runs out, or if this build has no ONNX.
QDQ_API const qdq_report *qdq_graph_validate_onnx(qdq_graph *graph, qdq_error *err);

// Returns a finding for each node or value that a TensorFlow Lite model cannot express, likewise.
QDQ_API const qdq_report *qdq_graph_validate_tflite(qdq_graph *graph, qdq_error *err);

// Returns a finding for each node or value that qdq_graph_write_c refuses, likewise.
QDQ_API const qdq_report *qdq_graph_validate_c(qdq_graph *graph, qdq_error *err);

// Returns the names of the graph and of the target it asks for; "" and "core" for a NULL graph.
QDQ_API const char *qdq_graph_name(const qdq_graph *graph);
QDQ_API const char *qdq_graph_target(const qdq_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
