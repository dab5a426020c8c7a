// SPDX-License-Identifier: Apache-2.0
// Reading oneDNN Graph JSON files (docs/format.md, section 8): ops that name their tensors by id.
// What such a file may not be stops with an error that names the op; what is wrong with an op as
// ours becomes findings, as for qdq/1.
//
// A oneDNN Graph file becomes calls of include/qdq/graph.h, as a qdq/1 file does. The reader knows
// ops only by their descriptions: a kind is the op of that name, tensor number i is port number i,
// and attributes go by name and type. json_onednn.c resolves ids and the order of nodes; the other
// files here read names, attributes and nodes.
#ifndef QDQ_GRAPH_READ_ONEDNN_JSON_ONEDNN_H
#define QDQ_GRAPH_READ_ONEDNN_JSON_ONEDNN_H

#include "graph/read/json_item.h"

// Whether a file is one, by its content: it has an array "graph" and no "format".
bool qdq_json_is_onednn(const qdq_json_item *json);

qdq_status qdq_json_read_onednn(const qdq_reader *r, const qdq_item *top);

//---- Between the files of this reader ---------------------------------------

#define QDQ_ONEDNN_NOTHING UINT32_MAX

typedef struct qdq_onednn_op {
    uint64_t id;
    const char *kind;   // as in the file
    const char *given;  // the name there, "" for none
    const char *name;   // of the node
    const qdq_op *op;   // NULL: one that there is not, or End
    bool is_end;
    const qdq_json_item *inputs, *outputs;  // arrays or NULL
    const qdq_json_item *attrs;             // an object or NULL
    size_t input_count, output_count;
    const uint32_t *tensors;  // numbers of its inputs, then of its outputs
} qdq_onednn_op;

typedef struct qdq_onednn_tensor {
    uint64_t id;
    uint32_t maker;             // an op, or QDQ_ONEDNN_NOTHING
    uint32_t reader;            // the first op in the file that reads it, or QDQ_ONEDNN_NOTHING
    size_t port;                // as which input that op does
    bool used, ended;           // read by an op that is no End; by an End
    const qdq_json_item *json;  // as the first reader has it
    qdq_value value;
} qdq_onednn_tensor;

typedef struct qdq_onednn {
    const qdq_reader *r;
    qdq_onednn_op *ops;
    size_t op_count;
    qdq_onednn_tensor *tensors;
    size_t tensor_count;
    qdq_symbols *op_ids, *tensor_ids;  // bytes of an id -> number; made and destroyed by the entry
    qdq_symbols *names;                // a name that ops have -> the first of them
} qdq_onednn;

// The number of what has this id, or QDQ_ONEDNN_NOTHING.
uint32_t qdq_onednn_find(const qdq_symbols *ids, uint64_t id);

// An error of the file: "op 'NAME' (KIND, id ID) MESSAGE".
qdq_status qdq_onednn_fail(const qdq_onednn *file, const qdq_onednn_op *op, const char *format, ...)
    QDQ_PRINTF(3, 4);

// The dtype that a tensor of an op declares, QDQ_DTYPE_NONE for "undef"; `what` is "input" or
// "output", `index` its place among them.
qdq_status qdq_onednn_dtype(const qdq_onednn *file, const qdq_onednn_op *op, const char *what,
                            size_t index, const qdq_json_item *tensor, qdq_dtype *out);

// Names for the nodes, once ops and tensors are read.
qdq_status qdq_onednn_name_ops(qdq_onednn *file);

// Fills the op's struct from the attributes of `from`, after its ports. True without findings.
// `dtype` is that of the first output, QDQ_DTYPE_NONE: not known.
bool qdq_onednn_read_attrs(const qdq_onednn *file, const qdq_onednn_op *from, qdq_dtype dtype,
                           char *fields);

// Adds inputs, nodes in the order given, and outputs to the graph.
qdq_status qdq_onednn_add(qdq_onednn *file, const uint32_t *order);

#endif
