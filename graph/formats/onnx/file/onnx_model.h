// SPDX-License-Identifier: Apache-2.0
// An ONNX model as its file has it: nodes, attributes and tensors, without the elements of tensors,
// which stay where they are. Everything lies in the mempool that onnx_decode.c is given; strings
// are never NULL.
#ifndef QDQ_GRAPH_FORMATS_ONNX_FILE_ONNX_MODEL_H
#define QDQ_GRAPH_FORMATS_ONNX_FILE_ONNX_MODEL_H

#include "include/qdq/base.h"

// TensorProto.DataType, by ONNX's numbers.
typedef enum qdq_onnx_elem {
    ONNX_UNDEFINED = 0,
    ONNX_FLOAT,
    ONNX_UINT8,
    ONNX_INT8,
    ONNX_UINT16,
    ONNX_INT16,
    ONNX_INT32,
    ONNX_INT64,
    ONNX_STRING,
    ONNX_BOOL,
    ONNX_FLOAT16,
    ONNX_DOUBLE,
    ONNX_UINT32,
    ONNX_UINT64,
    ONNX_COMPLEX64,
    ONNX_COMPLEX128,
    ONNX_BFLOAT16,
    ONNX_FLOAT8E4M3FN,
    ONNX_FLOAT8E4M3FNUZ,
    ONNX_FLOAT8E5M2,
    ONNX_FLOAT8E5M2FNUZ,
    ONNX_UINT4,
    ONNX_INT4,
    ONNX_FLOAT4E2M1,
    ONNX_FLOAT8E8M0,
    ONNX_UINT2,
    ONNX_INT2,
    ONNX_ELEM_COUNT
} qdq_onnx_elem;

// AttributeProto.AttributeType, by ONNX's numbers.
typedef enum qdq_onnx_attr_type {
    ONNX_ATTR_UNDEFINED = 0,
    ONNX_ATTR_FLOAT,
    ONNX_ATTR_INT,
    ONNX_ATTR_STRING,
    ONNX_ATTR_TENSOR,
    ONNX_ATTR_GRAPH,
    ONNX_ATTR_FLOATS,
    ONNX_ATTR_INTS,
    ONNX_ATTR_STRINGS,
} qdq_onnx_attr_type;

// A growing array of the decoder.
#define ONNX_LIST(type)         \
    struct {                    \
        type *items;            \
        size_t count, capacity; \
    }

typedef ONNX_LIST(const char *) qdq_onnx_strings;
typedef ONNX_LIST(int64_t) qdq_onnx_ints;
typedef ONNX_LIST(float) qdq_onnx_floats;

// Bytes of the file.
typedef struct qdq_onnx_span {
    uint64_t at;
    size_t length;
} qdq_onnx_span;
typedef ONNX_LIST(qdq_onnx_span) qdq_onnx_spans;

typedef struct qdq_onnx_tensor {
    const char *name;
    qdq_onnx_ints dims;
    int elem;
    bool has_raw, has_strings, external;
    qdq_onnx_span raw;
    qdq_onnx_spans floats, int32s, int64s, doubles, uint64s;  // packed or one by one
    qdq_onnx_strings keys, values;                            // of external_data
} qdq_onnx_tensor;

struct qdq_onnx_graph;

typedef struct qdq_onnx_attr {
    const char *name;
    const char *ref;  // the attribute of the function that it stands for; "": none
    int type;
    int64_t i;
    float f;
    const char *s;
    qdq_onnx_tensor *t;
    struct qdq_onnx_graph *g;
    qdq_onnx_ints ints;
    qdq_onnx_floats floats;
    qdq_onnx_strings strings;
    bool has_f, has_i, has_s, has_others;  // others: lists of tensors and graphs, sparse tensors
} qdq_onnx_attr;
typedef ONNX_LIST(qdq_onnx_attr) qdq_onnx_attrs;

typedef struct qdq_onnx_proto {
    const char *name, *op, *domain, *overload;
    qdq_onnx_strings inputs, outputs;
    qdq_onnx_attrs attrs;
} qdq_onnx_proto;
typedef ONNX_LIST(qdq_onnx_proto) qdq_onnx_protos;

typedef struct qdq_onnx_dim {
    int64_t size;      // below 0: not given
    const char *name;  // "": none
} qdq_onnx_dim;

typedef struct qdq_onnx_info {
    const char *name;
    int elem;
    const char *other;  // "sequence", ... in place of a tensor; NULL
    bool has_shape;
    bool left_out;  // an input that the nodes up to the last one do not need
    ONNX_LIST(qdq_onnx_dim) dims;
} qdq_onnx_info;
typedef ONNX_LIST(qdq_onnx_info) qdq_onnx_infos;

typedef struct qdq_onnx_graph {
    const char *name;
    qdq_onnx_protos nodes;
    ONNX_LIST(qdq_onnx_tensor) initializers;
    qdq_onnx_infos inputs, outputs;
    size_t sparse_initializers;
} qdq_onnx_graph;

typedef struct qdq_onnx_opset {
    const char *domain;
    int64_t version;
} qdq_onnx_opset;
typedef ONNX_LIST(qdq_onnx_opset) qdq_onnx_opsets;

typedef struct qdq_onnx_function {
    const char *name, *domain, *overload;
    qdq_onnx_strings inputs, outputs, attrs;
    qdq_onnx_attrs defaults;
    qdq_onnx_protos nodes;
    qdq_onnx_opsets opsets;
} qdq_onnx_function;

typedef struct qdq_onnx_model {
    qdq_onnx_graph graph;
    bool has_graph;
    qdq_onnx_opsets opsets;
    ONNX_LIST(qdq_onnx_function) functions;
} qdq_onnx_model;

#endif
