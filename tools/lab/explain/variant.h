// SPDX-License-Identifier: Apache-2.0
// Computes a node in another way than the graph: under other numerics, with rounded float inputs or
// results, or with other attributes and parameters.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_VARIANT_H
#define QDQ_TOOLS_LAB_EXPLAIN_VARIANT_H

#include "tools/lab/explain/replay.h"

typedef enum variant_kind { VARIANT_NUMERICS, VARIANT_ROUNDING, VARIANT_DOCUMENT } variant_kind;

// Roundings of a float32.
typedef enum variant_rounding {
    ROUND_BFLOAT16,
    ROUND_BFLOAT16_TRUNCATE,
    ROUND_FLOAT16,
    ROUND_TF32,
    ROUND_FLUSH,  // denormals to 0
} variant_rounding;

// Computes the output of a node from the only output of a document, which has as many elements.
// False if it cannot.
typedef struct variant_finish {
    bool (*run)(const void *with, const qdq_tensor_info *from, const void *in, void *out);
    const void *with;
} variant_finish;

// An input of a document: its name and its elements, or the value that has them when it runs.
typedef struct document_input {
    const char *name;
    const void *data;
    qdq_value value;  // no value: `data`
} document_input;

typedef struct variant {
    variant_kind kind;
    const char *cause;   // "tie + reciprocal"
    const char *detail;  // "scale * 2"
    int changes;         // how many things differ from the graph; 0 counts as 1
    qdq_numerics numerics;
    bool own_numerics;  // of a document: `numerics` are not the node's
    variant_rounding rounding;
    bool rounds_inputs, rounds_outputs;
    const char *document;  // a graph file of one node
    const document_input *inputs;
    size_t input_count;
    variant_finish finish;  // of a document; `run` NULL: the outputs are the node's
} variant;

// Computes node `node` on the elements that the replay uses. Only sets `err` if the variant is not
// legal.
qdq_status variant_run(const replay *r, size_t node, const variant *v, void *const *outputs,
                       qdq_error *err);

// Rounds n floats.
void variant_round(variant_rounding how, float *data, size_t n);

#endif
