// SPDX-License-Identifier: Apache-2.0
// What TensorRT and Tripy, which is built on it, look at alike.
#ifndef QDQ_GRAPH_TARGETS_TENSORRT_TRT_CHECKS_H
#define QDQ_GRAPH_TARGETS_TENSORRT_TRT_CHECKS_H

#include "graph/targets/checks.h"

//---- A node -----------------------------------------------------------------

#define QDQ_SET_16_BIT_FLOATS (QDQ_SET(FLOAT16) | QDQ_SET(BFLOAT16))
#define QDQ_SET_LAYER_FLOATS (QDQ_SET(FLOAT32) | QDQ_SET_16_BIT_FLOATS)

// A side of a node that is quantized: x or the result, of Requantize and Cast both.
typedef struct qdq_side {
    const char *port;  // "x" or "dtype"
    qdq_dtype dtype;
} qdq_side;

// How many sides there are, at most 2.
size_t qdq_quantized_sides(const qdq_op_context *ctx, qdq_side sides[2]);
// The attribute or port that is a float: "x", of Dequantize "dtype".
const char *qdq_real_port(const qdq_op_context *ctx);
bool qdq_is_per_group(const qdq_op_context *ctx);
// How many dims of x are cut into blocks of more than one element; of a node that is not per
// group 0. `first` is the outermost of them, -1 without.
int qdq_blocked_dims(const qdq_op_context *ctx, int *first);
// The first scale of a node that has more than one element per channel. False if it has none.
bool qdq_has_channels(const qdq_op_context *ctx, qdq_argument *scale);
// A side has 4 bits.
bool qdq_has_4_bits(const qdq_op_context *ctx);

// Ops that pass on codes as they are.
#define QDQ_MOVES "Concat StaticReshape StaticTranspose Reorder"

//---- Checks -----------------------------------------------------------------

// All quantized sides are of `set`; of `but` another rule speaks.
void qdq_check_quantized(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set,
                         qdq_dtype_set but);
// Both sides of a Cast are of `set`.
void qdq_check_cast(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);
// x and the result of Dequantize are float32, float16 or bfloat16.
void qdq_check_layer_float(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_check_no_scalar_x(const qdq_op_context *ctx, const qdq_rule *rule);
// No float8 result that does not saturate.
void qdq_check_saturates(const qdq_op_context *ctx, const qdq_rule *rule);
// x of channels has more than one dim.
void qdq_check_no_list_of_channels(const qdq_op_context *ctx, const qdq_rule *rule);
// Tensors of 4 bits have an even number of elements.
void qdq_check_even_count(const qdq_op_context *ctx, const qdq_rule *rule);
// No int4 leaves the graph.
void qdq_check_no_int4_output(const qdq_op_context *ctx, const qdq_rule *rule);
// A scale of 16 bits has the dtype of the float side (between the halves of Requantize: float32).
void qdq_check_scale_agrees(const qdq_op_context *ctx, const qdq_rule *rule);

#endif
