// SPDX-License-Identifier: Apache-2.0
// What the rules of several targets look at, and checks that they share. A check adds at most one
// finding to its rule.
#ifndef QDQ_GRAPH_TARGETS_CHECKS_H
#define QDQ_GRAPH_TARGETS_CHECKS_H

#include "graph/target.h"
#include "ops/quantize/quant_params.h"

//---- A node -----------------------------------------------------------------

// The attributes that Quantize, Dequantize and DynamicQuantize share; NULL for other ops.
const qdq_quantize_attrs *qdq_quantize_attrs_of(const qdq_op_context *ctx);
bool qdq_op_context_is(const qdq_op_context *ctx, const char *op);
// A DynamicQuantize that computes its parameters.
bool qdq_is_computed(const qdq_op_context *ctx);
// `scheme` of a DynamicQuantize, as files have it.
const char *qdq_scheme_word(const qdq_op_context *ctx);
// The dtype of the quantized side (of Requantize: of y), and of the other (of Requantize: of x).
qdq_dtype qdq_quantized_dtype(const qdq_op_context *ctx);
qdq_dtype qdq_real_dtype(const qdq_op_context *ctx);
// `axis` of a per-channel node or of Requantize, counted from 0 (unset: the default 1); -1 where
// there is none.
int qdq_channel_axis(const qdq_op_context *ctx);
// The extent of a block of a per-group node for each dim of x, -1 resolved.
qdq_shape qdq_block_shape(const qdq_op_context *ctx);

//---- A scale or a zero point ------------------------------------------------

extern const char *const qdq_scale_ports[3];       // "scale" and those of Requantize
extern const char *const qdq_zero_point_ports[3];  // likewise

// The numbers that a port or its attribute give ("scale" or "scales").
typedef struct qdq_argument {
    const char *name;  // of the attribute or the port, whichever is given; neither: the attribute
    bool given;
    bool scalar;  // a single number in an attribute, or a zero point that is not given
    bool from_port;
    bool constant;    // known before the graph runs
    bool known;       // qdq_argument_at gives its numbers
    qdq_dtype dtype;  // of the port; of an attribute float32 or int32
    qdq_shape shape;  // of the port; of an attribute [count], of a single number []
    size_t count;
    const void *data;
} qdq_argument;

// `port` is the name of the port: "scale", "zero_point", "in_scale", ...
qdq_argument qdq_argument_of(const qdq_op_context *ctx, const char *port);
// Number i of a known argument.
double qdq_argument_at(const qdq_argument *argument, size_t i);
// The first of a known argument that is not 0; its count if there is none.
size_t qdq_argument_first_nonzero(const qdq_argument *argument);

//---- Shared checks ----------------------------------------------------------

// "PORT has 3 at index 0" with the rule's hint.
void qdq_report_number(const qdq_op_context *ctx, const qdq_rule *rule,
                       const qdq_argument *argument, size_t index, const char *wanted);
// "PORT has 1 element, wanted 3, as many as OTHER".
void qdq_report_other_count(const qdq_op_context *ctx, const qdq_rule *rule,
                            const qdq_argument *argument, const qdq_argument *other);
// "PORT is float16", wanted one of `set`. False where that was found.
bool qdq_expect_dtype(const qdq_op_context *ctx, const qdq_rule *rule, const char *port,
                      qdq_dtype dtype, qdq_dtype_set set);

// The same for every scale, and for every zero point that comes through a port.
void qdq_expect_scales(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);
void qdq_expect_zero_points(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);
// The same for x, and for y (called "dtype").
void qdq_expect_x(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);
void qdq_expect_y(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);

// The same for x and y.
void qdq_expect_both(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set);

// All constant scales are above 0 (of Requantize: of both sides).
void qdq_check_positive_scale(const qdq_op_context *ctx, const qdq_rule *rule);
// No scale that is made at run time.
void qdq_check_constant_scale(const qdq_op_context *ctx, const qdq_rule *rule);
// quant_min and quant_max are not given, or those of the dtype.
void qdq_check_whole_range(const qdq_op_context *ctx, const qdq_rule *rule);
// zero_point_domain is int or none.
void qdq_check_no_float_domain(const qdq_op_context *ctx, const qdq_rule *rule);
// No qtype per_group.
void qdq_check_no_group(const qdq_op_context *ctx, const qdq_rule *rule);
// group_shape divides the shape of x.
void qdq_check_group_divides(const qdq_op_context *ctx, const qdq_rule *rule);
// The axis of a per-channel node is not negative.
void qdq_check_axis_from_front(const qdq_op_context *ctx, const qdq_rule *rule);
// Parameters are given.
void qdq_check_not_computed(const qdq_op_context *ctx, const qdq_rule *rule);
// A node that leaves its dtype to the default, which for the backend is `own` and not what y has
// here. NONE: the backend has no default.
void qdq_find_default_dtype(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype own);
// The op itself is found: the backend has none such.
void qdq_check_no_such_op(const qdq_op_context *ctx, const qdq_rule *rule);
// The op itself is found: the documents of the backend name none that computes it.
void qdq_check_known_op(const qdq_op_context *ctx, const qdq_rule *rule);

//---- Rows -------------------------------------------------------------------

// A row of a rule table. `since` and `until` are releases, 0 for no bound.
#define QDQ_RULE_ROW(of_severity, target, rule_id, rule_summary, rule_hint, rule_source, rule_ops, \
                     fn, from, before)                                                             \
    {                                                                                              \
        .id = target "/" rule_id, .severity = QDQ_SEVERITY_##of_severity,                          \
        .status = QDQ_ERR_UNSUPPORTED, .summary = (rule_summary), .hint = (rule_hint),             \
        .source = (rule_source), .ops = (rule_ops), .check = (fn), .since = (from),                \
        .until = (before)                                                                          \
    }

#endif
