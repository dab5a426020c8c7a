// SPDX-License-Identifier: Apache-2.0
// Shared by the quantizing ops: scales and zero points from attributes or ports, granularity as a
// grid, result types, and the parameters of their tile functions.
#ifndef QDQ_OPS_QUANTIZE_QUANT_PARAMS_H
#define QDQ_OPS_QUANTIZE_QUANT_PARAMS_H

#include "include/qdq/ops/quantize.h"
#include "ops/kernels/quantize/params.h"
#include "ops/kernels/quantize/sums/code_sum.h"
#include "ops/op.h"

//---- Descriptions that several ops have -------------------------------------

// Ports and attributes of Quantize, Dequantize and DynamicQuantize; S is the op's struct and F the
// path of the field in it.
// clang-format off
#define QDQ_QUANTIZE_PORTS(S, prefix, x_dtypes)                                                 \
    {"x", offsetof(S, prefix x), false, x_dtypes},                                              \
        {"scale", offsetof(S, prefix scale), true, QDQ_SET_SCALES | QDQ_SET(FLOAT64)},          \
        {"zero_point", offsetof(S, prefix zero_point), true,                                    \
         QDQ_SET_ZERO_POINTS | QDQ_SET(INT64)}

#define QDQ_QUANTIZE_ATTRS(S, prefix, dtype_default, scales_default)                            \
    {"qtype", QDQ_ATTR_WORD, offsetof(S, prefix qtype), qdq_qtype_words, "per_tensor",          \
     "which elements share a scale and a zero point; a group_shape, or several scales decide "  \
     "it where it is left out"},                                                                \
        {"axis", QDQ_ATTR_INT, offsetof(S, prefix axis), NULL, "1",                             \
         "per_channel: the dim that keeps its own parameters, in [-rank, rank - 1]"},           \
        {"group_shape", QDQ_ATTR_INTS, offsetof(S, prefix group_shape), NULL, "",               \
         "per_group: elements of a block for each dim of x, -1 is the whole dim"},              \
        {"scales", QDQ_ATTR_FLOATS, offsetof(S, prefix scales), NULL, scales_default,           \
         "constant scale, or the port: 1, dim[axis], or one per block in row-major order"},     \
        {"zps", QDQ_ATTR_NUMBERS, offsetof(S, prefix zps), NULL, "0",                           \
         "constant zero point, or the port: 1, or as many as scales"},                          \
        {"dtype", QDQ_ATTR_DTYPE, offsetof(S, prefix dtype), NULL, dtype_default,               \
         "of the result; the default is the dtype that target core gives"},                                  \
        {"quant_min", QDQ_ATTR_BOUND, offsetof(S, prefix quant_min), NULL, "of the dtype",      \
         "least quantized value"},                                                              \
        {"quant_max", QDQ_ATTR_BOUND, offsetof(S, prefix quant_max), NULL, "of the dtype",      \
         "greatest quantized value"},                                                           \
        {"saturate", QDQ_ATTR_BOOL, offsetof(S, prefix saturate), NULL, "as the target does", \
         "float8: clamp to the largest value, else NaN or infinity"},                           \
        {"zero_point_domain", QDQ_ATTR_WORD, offsetof(S, prefix zero_point_domain),             \
         qdq_domain_words, "int",                                                               \
         "int: a code; float: the real value of the middle code; none: there is none"}

// Keywords of ttnn's three functions.
#define QDQ_TTNN_ATTRS(S)                                                                       \
    {"output_tensor", QDQ_ATTR_VALUE, offsetof(S, output_tensor), NULL, "a new tensor",  \
     "target ttnn: the value in whose buffer y is written; no result depends on it"},           \
        {"queue_id", QDQ_ATTR_INT, offsetof(S, queue_id), NULL, "",                             \
         "has no effect: a run has no command queues"}
// clang-format on

enum { QDQ_PORT_X, QDQ_PORT_SCALE, QDQ_PORT_ZERO_POINT };  // order of the ports

extern const char *const qdq_qtype_words[];
extern const char *const qdq_domain_words[];

// Small floats that a target may clamp to quant_min and quant_max.
#define QDQ_SET_FLOAT8 (QDQ_SET_SMALL_FLOATS & ~QDQ_SET(FLOAT4_E2M1))

static inline double qdq_bound_value(qdq_int bound) { return (double)bound.value + bound.fraction; }

//---- Parameters -------------------------------------------------------------

// A scale or zero point of an op: the attribute and the port that may give it. Port numbers index
// the op's inputs.
typedef struct qdq_scale_slot {
    const char *attr_name;  // "scales"
    qdq_floats attr;
    size_t port;        // "scale"
    bool is_of_scales;  // a scale of scales, which is never 0
} qdq_scale_slot;

typedef struct qdq_zero_point_slot {
    const char *attr_name;
    qdq_numbers attr;
    size_t port;
    qdq_domain domain;
    bool any;  // float8 takes any whole number as well; otherwise only 0
} qdq_zero_point_slot;

// How many parameters x needs, and the reason in words: "dim 1 of x has 3".
typedef struct qdq_granularity {
    bool valid;   // the other fields are known
    bool blocks;  // of qtype per_group
    qdq_grid grid;
    qdq_shape shape;  // of the parameters as a tensor: [], [dim], or the block grid
    const char *reason;
} qdq_granularity;

qdq_granularity qdq_granularity_per_tensor(void);
qdq_granularity qdq_granularity_per_channel(const qdq_op_context *ctx, qdq_int axis,
                                            int64_t default_axis);
qdq_granularity qdq_granularity_of(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs);

// Sets the qtype of a node that names none: per_group if it has a group_shape, per_channel if it
// has an axis and several scales, and per_group if it has no axis and the scale has the rank of x,
// 2 or more, and divides each dim. False if it stays per_tensor.
bool qdq_infer_qtype(const qdq_op_context *ctx, qdq_quantize_attrs *attrs, qdq_mempool *mempool);
// Computes the extents of the blocks of x that share a scale. False if the scale is no grid of
// equal blocks.
bool qdq_blocks_of(qdq_shape x, qdq_shape scale, int64_t *extents);

// Returns the number of scales of the attribute or the port; 0 if neither is given or known.
size_t qdq_scale_count(const qdq_op_context *ctx, const qdq_scale_slot *slot);

// Checks that a scale has exactly one source, the right count, and values that are finite and not
// zero.
void qdq_check_scale(const qdq_op_context *ctx, const qdq_scale_slot *slot,
                     const qdq_granularity *granularity);
// Checks that a zero point has at most one source, one or the right count of values, and values
// that the domain allows. A value outside the range of `quantized` is a warning.
void qdq_check_zero_point(const qdq_op_context *ctx, const qdq_zero_point_slot *slot,
                          const qdq_granularity *granularity, qdq_dtype quantized);
// Checks quant_min and quant_max against the dtype of the result, as leniently as any target does.
// False if they are wrong.
bool qdq_check_quant_range(const qdq_op_context *ctx, qdq_int quant_min, qdq_int quant_max,
                           qdq_dtype dtype);
// True if the range from quant_min to quant_max has more than one number; reports if not.
bool qdq_check_two_codes(const qdq_op_context *ctx, qdq_int quant_min, qdq_int quant_max,
                         qdq_dtype dtype);
// True if the quant_min and quant_max that are given are whole, differ and belong to an integer
// type; reports if not.
bool qdq_check_whole_bounds(const qdq_op_context *ctx, qdq_dtype quantized);
// True if a port with more than one parameter has their shape, [dim] or the block grid; reports if
// not.
bool qdq_check_port_shape(const qdq_op_context *ctx, qdq_core_rule rule, size_t port,
                          const qdq_granularity *granularity);
// True if the scale and the zero point have dtypes of the core, and the shape of the block grid;
// reports if not.
bool qdq_check_strict_parameters(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs);
// Reports an attribute that is given and changes no result.
void qdq_find_ignored(const qdq_op_context *ctx, const char *attr, const char *why);
// Reports bounds of a Dequantize that are narrower than the dtype of its codes, and are ignored.
void qdq_check_unused_range(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs,
                            qdq_dtype quantized);
// Returns `dtype` if it is in `set`; else reports it and returns QDQ_DTYPE_NONE.
qdq_dtype qdq_check_result(const qdq_op_context *ctx, qdq_dtype dtype, qdq_dtype_set set);

//---- Lowering ---------------------------------------------------------------

// Describes a scale or zero point as a parameter of a stage. False when memory runs out.
bool qdq_scale_param(const qdq_op_context *ctx, const qdq_scale_slot *slot,
                     const qdq_granularity *granularity, qdq_mempool *mempool,
                     qdq_stage_param *out);
bool qdq_zero_point_param(const qdq_op_context *ctx, const qdq_zero_point_slot *slot,
                          const qdq_granularity *granularity, qdq_mempool *mempool,
                          qdq_stage_param *out);

// Replaces the scales of an attribute by 1 if all of them are within the tolerance of 1. A
// tolerance of 0: never.
void qdq_drop_unit_scales(const qdq_scale_slot *slot, float tolerance, qdq_stage_param *out);

// NULL when memory runs out.
qdq_quant_params *qdq_quant_params_of(const qdq_op_context *ctx, const qdq_lowering *to,
                                      qdq_dtype y_dtype, qdq_int quant_min, qdq_int quant_max);

//---- Ops with given parameters ----------------------------------------------

// Describes a link that dequantizes bytes to float32 by the plain formula, with one known scale and
// zero point; else false.
bool qdq_dequantizes_given(const qdq_link *link, qdq_code_operand *operand);

// Quantize, Dequantize, and DynamicQuantize with a scale: checks all of `attrs` and sets the type
// of y. `quantized` is the dtype of the quantized side.
void qdq_infer_given(qdq_op_context *ctx, const qdq_quantize_attrs *attrs, qdq_dtype y_dtype,
                     qdq_dtype quantized);
// Lowers an op of the family to a link of the family from x to y. False when memory runs out.
bool qdq_lower_given(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs, qdq_family family,
                     const qdq_lowering *to, qdq_stage *stage);
// Implements the hook quantized_input of Dequantize: describes the codes. False if qdq_quantized
// cannot describe them.
bool qdq_quantized_given(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs,
                         const qdq_lowering *to, qdq_quantized *quantized);
// Implements the hook weight_codes of Dequantize: describes constant codes. False if the node is
// not the plain formula.
bool qdq_weight_codes_given(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs,
                            const qdq_lowering *to, qdq_weight_codes *weight_codes);

#endif
