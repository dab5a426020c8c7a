// SPDX-License-Identifier: Apache-2.0
// Facts and checks shared by TensorRT and Tripy, which is built on TensorRT.
#ifndef QDQ_GRAPH_TARGETS_TENSORRT_TENSORRT_SHARED_H
#define QDQ_GRAPH_TARGETS_TENSORRT_TENSORRT_SHARED_H

#include "graph/targets/checks.h"

//---- A node -----------------------------------------------------------------

#define QDQ_SET_16_BIT_FLOATS (QDQ_SET(FLOAT16) | QDQ_SET(BFLOAT16))
#define QDQ_SET_LAYER_FLOATS (QDQ_SET(FLOAT32) | QDQ_SET_16_BIT_FLOATS)

// A quantized side of a node: x or the result. Requantize and Cast have both.
typedef struct qdq_side {
    const char *port;  // "x" or "dtype"
    qdq_dtype dtype;
} qdq_side;

// Sets `sides` and returns their number, at most 2.
size_t qdq_quantized_sides(const qdq_op_context *ctx, qdq_side sides[2]);
// Returns the attribute or port of the float side: "x", for Dequantize "dtype".
const char *qdq_real_port(const qdq_op_context *ctx);
bool qdq_is_per_group(const qdq_op_context *ctx);
// Returns the number of dims of x that are cut into blocks of more than one element; 0 for a node
// that is not per_group. `first` gets the outermost of these dims, or -1.
int qdq_blocked_dims(const qdq_op_context *ctx, int *first);
// Sets `scale` to the node's first scale with more than one element per channel. False if there is
// none.
bool qdq_has_channels(const qdq_op_context *ctx, qdq_argument *scale);
// True if a side has 4 bits.
bool qdq_has_4_bits(const qdq_op_context *ctx);

// Ops that move quantized elements without changing them.
#define QDQ_MOVES "Concat StaticReshape StaticTranspose Reorder"

//---- Checks -----------------------------------------------------------------

// All quantized sides are in `set`; dtypes in `but` are left to another rule.
void qdq_check_quantized(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set,
                         qdq_dtype_set but);
// Both sides of a Cast are in `set`.
void qdq_check_cast(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);
// x, or the result of Dequantize, is float32, float16 or bfloat16.
void qdq_check_layer_float(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_check_no_scalar_x(const qdq_op_context *ctx, const qdq_rule *rule);
// No float8 result has saturate off.
void qdq_check_saturates(const qdq_op_context *ctx, const qdq_rule *rule);
// x with per-channel scales has more than one dim.
void qdq_check_no_list_of_channels(const qdq_op_context *ctx, const qdq_rule *rule);
// Tensors of 4-bit dtypes have an even number of elements.
void qdq_check_even_count(const qdq_op_context *ctx, const qdq_rule *rule);
// No int4 value is an output of the graph.
void qdq_check_no_int4_output(const qdq_op_context *ctx, const qdq_rule *rule);
// The row of that rule, for inputs and constants too.
#define QDQ_NO_INT4_OUTPUT_ROW(target, rule_source, rule_ops)                           \
    {                                                                                   \
        .id = target "/no-int4-output", .severity = QDQ_SEVERITY_ERROR,                 \
        .status = QDQ_ERR_UNSUPPORTED, .summary = "int4 is not an output of the graph", \
        .hint = "dequantize it first", .source = (rule_source), .ops = (rule_ops),      \
        .check = qdq_check_no_int4_output, .not_returned = QDQ_INT4                     \
    }
// A 16-bit scale has the dtype of the float side (between the halves of Requantize: float32).
void qdq_check_scale_agrees(const qdq_op_context *ctx, const qdq_rule *rule);

#endif
