// SPDX-License-Identifier: Apache-2.0
// Facts about a node that target rules test, and checks that several targets share. A check adds at
// most one finding to its rule.
#ifndef QDQ_GRAPH_TARGETS_CHECKS_H
#define QDQ_GRAPH_TARGETS_CHECKS_H

#include "graph/core/target.h"
#include "include/qdq/ops/quantize.h"
#include "ops/quantize/quant_params.h"

//---- A node -----------------------------------------------------------------

// Returns the attributes common to Quantize, Dequantize and DynamicQuantize; NULL for other ops.
const qdq_quantize_attrs *qdq_quantize_attrs_of(const qdq_op_context *ctx);
bool qdq_op_context_is(const qdq_op_context *ctx, const char *op);
// True for a DynamicQuantize that computes its parameters.
bool qdq_is_computed(const qdq_op_context *ctx);
// Returns `scheme` of a DynamicQuantize, spelled as in files.
const char *qdq_scheme_word(const qdq_op_context *ctx);
// Return the dtype of the quantized side (for Requantize: of y), and of the other side (for
// Requantize: of x).
qdq_dtype qdq_quantized_dtype(const qdq_op_context *ctx);
qdq_dtype qdq_real_dtype(const qdq_op_context *ctx);
// Returns `axis` of a per-channel node or of Requantize, counted from the front (default 1); -1 if
// it has none.
int qdq_channel_axis(const qdq_op_context *ctx);
// Returns the extent of a per-group block in each dim of x, -1 resolved.
qdq_shape qdq_block_shape(const qdq_op_context *ctx);
// Returns the shape of a scale that is a tensor: [] for all of x, [dim] for channels, or the block
// grid.
qdq_shape qdq_parameter_shape(const qdq_op_context *ctx);

// True if no operand and no result of a node is a float.
bool qdq_is_whole(const qdq_op_context *ctx);
// True if every float among the operands and results of a node is float32.
bool qdq_is_float32(const qdq_op_context *ctx);

//---- A scale or a zero point ------------------------------------------------

extern const char *const qdq_scale_ports[3];  // "scale" and both scales of Requantize
extern const char
    *const qdq_zero_point_ports[3];  // "zero_point" and both zero points of Requantize

// The numbers given by a port or its attribute ("scale" or "scales").
typedef struct qdq_argument {
    const char
        *name;  // of the attribute or the port, whichever is given; the attribute if neither is
    bool given;
    bool scalar;  // a single number in an attribute, or a zero point that is not given
    bool from_port;
    bool constant;    // known before the graph runs
    bool known;       // qdq_argument_at can read its numbers
    qdq_dtype dtype;  // of the port; float32 or int32 for an attribute
    qdq_shape shape;  // of the port; [count] for an attribute, [] for a single number
    size_t count;
    const void *data;
    bool encoded;  // data holds elements of dtype, and not the numbers of an attribute
} qdq_argument;

// Returns the argument of a port: "scale", "zero_point", "in_scale", ...
qdq_argument qdq_argument_of(const qdq_op_context *ctx, const char *port);
// The same, except that a constant zero point of zeros at a port is not given.
qdq_argument qdq_without_zeros(const qdq_op_context *ctx, const char *port);
// The same for a backend whose ops take numbers: a scalar constant at a port is also a single
// number, as in an attribute.
qdq_argument qdq_literal_of(const qdq_op_context *ctx, const char *port);
// Returns number i of a known argument.
double qdq_argument_at(const qdq_argument *argument, size_t i);
// Returns the index of the first nonzero number of a known argument; its count if all are 0.
size_t qdq_argument_first_nonzero(const qdq_argument *argument);

//---- Shared checks ----------------------------------------------------------

// Reports "PORT has 3 at index 0" with the rule's hint.
void qdq_report_number(const qdq_op_context *ctx, const qdq_rule *rule,
                       const qdq_argument *argument, size_t index, const char *wanted);
// Reports a zero point that is given and is not known to be 0.
void qdq_expect_zeros(const qdq_op_context *ctx, const qdq_rule *rule, const qdq_argument *argument,
                      const char *wanted);
// Reports "PORT has 1 element, wanted 3, as many as OTHER".
void qdq_report_other_count(const qdq_op_context *ctx, const qdq_rule *rule,
                            const qdq_argument *argument, const qdq_argument *other);
// Reports "PORT is float16" unless the dtype is in `set`. False after a finding.
bool qdq_expect_dtype(const qdq_op_context *ctx, const qdq_rule *rule, const char *port,
                      qdq_dtype dtype, qdq_dtype_set set);

// The same for every scale.
void qdq_expect_scales(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);
// The same for x, and for y (called "dtype").
void qdq_expect_x(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);
void qdq_expect_y(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);

// The same for x, then y.
void qdq_expect_both(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);

// The same for every input.
void qdq_expect_inputs(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);

// All constant scales are above 0 (for Requantize: on both sides).
void qdq_check_positive_scale(const qdq_op_context *ctx, const qdq_rule *rule);
// All scales are constants.
void qdq_check_constant_scale(const qdq_op_context *ctx, const qdq_rule *rule);
// quant_min and quant_max are absent or equal the limits of the dtype.
void qdq_check_whole_range(const qdq_op_context *ctx, const qdq_rule *rule);
// zero_point_domain is int or none.
void qdq_check_no_float_domain(const qdq_op_context *ctx, const qdq_rule *rule);
// qtype is not per_group.
void qdq_check_no_group(const qdq_op_context *ctx, const qdq_rule *rule);
// group_shape divides the shape of x.
void qdq_check_group_divides(const qdq_op_context *ctx, const qdq_rule *rule);
// The axis of a per-channel node is not negative.
void qdq_check_axis_from_front(const qdq_op_context *ctx, const qdq_rule *rule);
// Parameters are given, not computed.
void qdq_check_not_computed(const qdq_op_context *ctx, const qdq_rule *rule);
// Reports x unless it is a float.
void qdq_check_selected_floats(const qdq_op_context *ctx, const qdq_rule *rule);
// Returns the dtype of the scale of a Dequantize: its port's, else float32; NONE for other ops.
qdq_dtype qdq_dtype_of_scale(const qdq_op_context *ctx);
// Reports a node without `dtype` if the backend's default `own` differs from the dtype of y here.
// `own` is NONE if the backend has no default.
void qdq_report_default_dtype(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype own);
// Reports the node itself: the backend has no such op.
void qdq_check_no_such_op(const qdq_op_context *ctx, const qdq_rule *rule);
// Reports the node itself: the backend's documents name no operator that computes it.
void qdq_check_known_op(const qdq_op_context *ctx, const qdq_rule *rule);

// Reports math_fidelity or fp32_dest_acc_en of a MatMul.
void qdq_check_no_fidelity(const qdq_op_context *ctx, const qdq_rule *rule);
// Reports fast_and_approximate_mode, if it is on.
void qdq_check_no_approximate_mode(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_check_no_block_float(const qdq_op_context *ctx, const qdq_rule *rule);

//---- Rows -------------------------------------------------------------------

// A row of a rule table. `since` and `until` are releases; 0 means no bound.
#define QDQ_RULE_ROW(of_severity, target, rule_id, rule_summary, rule_hint, rule_source, rule_ops, \
                     fn, from, before)                                                             \
    {                                                                                              \
        .id = target "/" rule_id, .severity = QDQ_SEVERITY_##of_severity,                          \
        .status = QDQ_ERR_UNSUPPORTED, .summary = (rule_summary), .hint = (rule_hint),             \
        .source = (rule_source), .ops = (rule_ops), .check = (fn), .since = (from),                \
        .until = (before)                                                                          \
    }

// A row of a warning after which no more is known of the bits of the node than `of_bits`.
#define QDQ_BITS_ROW(of_bits, target, rule_id, rule_summary, rule_hint, rule_source, rule_ops, fn, \
                     from, before)                                                                 \
    {                                                                                              \
        .id = target "/" rule_id, .severity = QDQ_SEVERITY_WARNING, .status = QDQ_ERR_UNSUPPORTED, \
        .summary = (rule_summary), .hint = (rule_hint), .source = (rule_source),                   \
        .ops = (rule_ops), .check = (fn), .since = (from), .until = (before),                      \
        .bits = QDQ_BITS_##of_bits                                                                 \
    }

// The row of nodes that no evidence covers (graph/compile/node_bits.c).
#define QDQ_BITS_UNKNOWN_ROW(target)                                                             \
    QDQ_RULE_ROW(WARNING, target, "bits-unknown",                                                \
                 "evidence covers every node: how well its bits are known",                      \
                 "compare with the backend; `qdq targets " target "` lists the evidence", "qdq", \
                 "", NULL, 0, 0)

// Targets that are no chip ignore how a chip computes a product.
#define QDQ_FIDELITY_ROW(target)                                                  \
    QDQ_RULE_ROW(WARNING, target, "fidelity-ignored",                             \
                 "math_fidelity and fp32_dest_acc_en are for products on a chip", \
                 "leave them out", "qdq", "MatMul", qdq_check_no_fidelity, 0, 0)

// Targets that are no chip have no faster kernels of these ops.
#define QDQ_APPROXIMATE_OPS "Erf Exp GELU Log Log1p Mish Rsqrt Sigmoid Sqrt Tanh"
#define QDQ_APPROXIMATE_ROW(target)                                                             \
    QDQ_RULE_ROW(WARNING, target, "approximate-mode-ignored",                                   \
                 "fast_and_approximate_mode is for functions on a chip", "leave it out", "qdq", \
                 QDQ_APPROXIMATE_OPS, qdq_check_no_approximate_mode, 0, 0)

// Elementwise ops that take block floats: the functions that no rule about QDQ_ELEMENT_OPS covers,
// and all of them. Block floats are dtypes of a chip.
#define QDQ_BLOCK_FUNCTIONS                                                                     \
    "Exp Log Log1p Rsqrt Square Sigmoid SiLU ReLU ReLU6 Reciprocal Round Mish Sign Floor Ceil " \
    "Trunc Erf Softplus Tanh LeakyReLU Elu HardSigmoid GELU"
#define QDQ_BLOCK_OPS "Abs Neg Sqrt Add Subtract Multiply " QDQ_BLOCK_FUNCTIONS
#define QDQ_NO_BLOCK_FLOAT_ROW(target, rule_ops)                                     \
    QDQ_RULE_ROW(ERROR, target, "no-block-float", "the backend has no block floats", \
                 "cast the operands to bfloat16", "qdq", rule_ops, qdq_check_no_block_float, 0, 0)

#endif
