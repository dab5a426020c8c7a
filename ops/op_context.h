// SPDX-License-Identifier: Apache-2.0
// A node as its op sees it: attributes, operands with their types, and where findings go.
#ifndef QDQ_OPS_OP_CONTEXT_H
#define QDQ_OPS_OP_CONTEXT_H

#include "ops/dtype_set.h"
#include "ops/op_fusion.h"
#include "ops/report.h"

// Limits of a description. A node has more inputs than its op has ports if the last port is
// variadic; their number has no limit.
enum { QDQ_MAX_PORTS = 10, QDQ_MAX_OUTPUTS = 5 };

typedef struct qdq_type {
    qdq_dtype dtype;
    qdq_shape shape;
} qdq_type;

// The node that computes an operand.
typedef struct qdq_maker {
    const struct qdq_op *op;  // NULL: none, the operand is an input or a constant of the graph
    const void *attrs;
    qdq_dtype x_dtype;  // of its first input
} qdq_maker;

typedef struct qdq_operand {
    bool given;  // a value is connected
    bool valid;  // its type is known too
    qdq_type type;
    const void *data;          // a constant in memory, row-major; else NULL
    const qdq_stored *stored;  // a constant that has to be read from its file; else NULL
    bool constant;             // a constant, or computed from constants alone
    bool initial;              // a constant when the backend begins a run
    qdq_maker maker;
    // Hooks of qdq_op_fusion: the operand may be taken as these codes. `lower`: the stage reads
    // these codes. NULL: neither.
    const qdq_quantized *quantized;
    const qdq_weight_codes *weight_codes;  // likewise; `type` stays the type of the floats
    // Dim i of `type` is dim order[i] of the tensor in memory. NULL: in the order of `type`.
    const int *order;
    // The dim before the last two is shorter in memory: index i of `type` lies at i / repeat. 0: no.
    size_t repeat;
} qdq_operand;

typedef struct qdq_op_context {
    const struct qdq_op *op;
    const char *node;
    const void *attrs;
    size_t input_count;                 // of the node
    qdq_type outputs[QDQ_MAX_OUTPUTS];  // filled in by infer
    size_t output_count;                // filled in by qdq_op_check
    bool returned;                      // a result is an output of the graph
    int64_t opset;                      // of ai.onnx in the model that it was read from; 0: unknown
    bool open_sizes;    // the model leaves the size of an image open, which the options gave
    bool dtype_filled;  // `dtype` was not given and is the default of the graph's target
    // For rules, a node may be seen as several ops in turn (graph/targets/halves.h): its own op,
    // and the prefix of its parameters' names; NULL: `op` is its own.
    const struct qdq_op *whole;
    const char *half;
    qdq_findings *findings;
    qdq_operand inputs[QDQ_MAX_PORTS];
    // Reads the inputs of a variadic port behind these, for qdq_input_at.
    qdq_operand (*input_beyond)(const struct qdq_op_context *ctx, size_t input);
    const void *source;                  // for input_beyond: the graph or draft it reads
    const struct qdq_node *source_node;  // likewise
} qdq_op_context;

// Returns input `input` of the node. A loop over all inputs of a variadic port reads them here.
static inline qdq_operand qdq_input_at(const qdq_op_context *ctx, size_t input) {
    return input < QDQ_MAX_PORTS ? ctx->inputs[input] : ctx->input_beyond(ctx, input);
}

// Checks a node against its description, then lets the op infer. True if it has no errors.
bool qdq_op_check(qdq_op_context *ctx);
// Reports a port whose dtype is not in a set. True if it is.
bool qdq_check_port_dtype(const qdq_op_context *ctx, const char *port, qdq_dtype dtype,
                          qdq_dtype_set set);

// Adds a finding about a port or attribute of the node.
void qdq_report_violation(const qdq_op_context *ctx, qdq_core_rule rule, const char *port,
                          const char *found, const char *wanted);

// True if a rule of a target applies to the op of the node.
bool qdq_rule_applies(const qdq_rule *rule, const qdq_op_context *ctx);

// Returns the name that a port or attribute of `ctx->op` has at the node.
const char *qdq_name_at_node(const qdq_op_context *ctx, const char *name);

// Adds a finding of a target's rule, whose id begins with the name of the target.
void qdq_report_target_violation(const qdq_op_context *ctx, const qdq_rule *rule, const char *port,
                                 const char *found, const char *wanted);
// The same with another hint; NULL: the hint of the rule.
void qdq_report_target_hint(const qdq_op_context *ctx, const qdq_rule *rule, const char *port,
                            const char *found, const char *wanted, const char *hint);

#endif
