// SPDX-License-Identifier: Apache-2.0
// Reads oneDNN Graph JSON files (docs/format.md, section 8), whose ops refer to tensors by id. A
// malformed file is an error that names the op; an op that is wrong by our rules becomes findings,
// as for qdq/1.
//
// A oneDNN Graph file becomes calls of include/qdq/graph.h, as a qdq/1 file does. The reader knows
// ops only by their descriptions: a kind is the op of that name, tensor number i is port number i,
// and attributes go by name and type. json_onednn.c resolves ids and the order of nodes; the other
// files here read names, attributes and nodes.
#ifndef QDQ_GRAPH_FORMATS_ONEDNN_JSON_ONEDNN_H
#define QDQ_GRAPH_FORMATS_ONEDNN_JSON_ONEDNN_H

#include "graph/formats/json/json_item.h"

// True if the content is a oneDNN Graph file: it has an array "graph" and no "format".
bool qdq_json_is_onednn(const qdq_json_item *json);

qdq_status qdq_json_read_onednn(const qdq_reader *r, const qdq_item *top);

//---- Between the files of this reader ---------------------------------------

#define QDQ_ONEDNN_NOTHING UINT32_MAX

typedef struct qdq_onednn_op {
    uint64_t id;
    const char *kind;   // the op's kind, as in the file
    const char *given;  // its name in the file, "" for none
    const char *name;   // the name of its node
    const qdq_op *op;   // NULL: an End, or a kind that is unknown here
    bool is_end;
    const qdq_json_item *inputs, *outputs;  // arrays or NULL
    const qdq_json_item *attrs;             // an object or NULL
    size_t input_count, output_count;
    const uint32_t *tensors;  // indices of its inputs, then of its outputs
} qdq_onednn_op;

typedef struct qdq_onednn_tensor {
    uint64_t id;
    uint32_t maker;             // index of an op, or QDQ_ONEDNN_NOTHING
    uint32_t reader;            // the first op in the file that reads it, or QDQ_ONEDNN_NOTHING
    size_t port;                // which input of that op it is
    bool used, ended;           // an op other than End reads it; an End reads it
    const qdq_json_item *json;  // as its first reader declares it
    qdq_value value;
} qdq_onednn_tensor;

typedef struct qdq_onednn {
    const qdq_reader *r;
    qdq_onednn_op *ops;
    size_t op_count;
    qdq_onednn_tensor *tensors;
    size_t tensor_count;
    qdq_symbols *op_ids,
        *tensor_ids;     // bytes of an id -> index; created and destroyed by the entry
    qdq_symbols *names;  // a name of ops -> the first op with that name
} qdq_onednn;

// Returns the index stored for this id, or QDQ_ONEDNN_NOTHING.
uint32_t qdq_onednn_find(const qdq_symbols *ids, uint64_t id);

// Fails with "op 'NAME' (KIND, id ID) MESSAGE".
qdq_status qdq_onednn_fail(const qdq_onednn *file, const qdq_onednn_op *op, const char *format, ...)
    QDQ_PRINTF(3, 4);

// Sets *dtype to the dtype that an op declares for a tensor, QDQ_DTYPE_NONE for "undef". `what` is
// "input" or "output", `index` its position in that list.
qdq_status qdq_onednn_dtype(const qdq_onednn *file, const qdq_onednn_op *op, const char *what,
                            size_t index, const qdq_json_item *tensor, qdq_dtype *out);

// Names the nodes; call it after all ops and tensors are read.
qdq_status qdq_onednn_name_ops(qdq_onednn *file);

// Fills the op's struct from the attributes of `from`, after its ports. `dtype` is the declared
// dtype of the first output or QDQ_DTYPE_NONE. True without findings.
bool qdq_onednn_read_attrs(const qdq_onednn *file, const qdq_onednn_op *from, qdq_dtype dtype,
                           char *fields);

// Adds the inputs, the nodes in the given order, and the outputs to the graph.
qdq_status qdq_onednn_add(qdq_onednn *file, const uint32_t *order);

#endif
