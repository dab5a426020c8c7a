// SPDX-License-Identifier: Apache-2.0
// Checks that the rules of several targets share, and the facts about a node that they use.
#include "graph/targets/checks.h"

#include <math.h>
#include <string.h>

#include "runtime/numerics/dtype.h"

//---- A node -----------------------------------------------------------------

bool qdq_op_context_is(const qdq_op_context *ctx, const char *op) {
    return strcmp(ctx->op->name, op) == 0;
}

const qdq_quantize_attrs *qdq_quantize_attrs_of(const qdq_op_context *ctx) {
    // DynamicQuantize's attribute struct begins with Quantize's.
    bool has = qdq_op_context_is(ctx, "Quantize") || qdq_op_context_is(ctx, "Dequantize") ||
               qdq_op_context_is(ctx, "DynamicQuantize");
    return has ? ctx->attrs : NULL;
}

bool qdq_is_computed(const qdq_op_context *ctx) { return ctx->output_count > 1; }

// True if the reals among the operands and results of a node are of no dtype but `real`.
static bool has_reals_of(const qdq_op_context *ctx, qdq_dtype real) {
    for (size_t i = 0; i < ctx->input_count; i++) {
        qdq_operand x = qdq_input_at(ctx, i);
        if (x.given && qdq_dtype_is_real(x.type.dtype) && x.type.dtype != real) return false;
    }
    for (size_t i = 0; i < ctx->output_count; i++)
        if (qdq_dtype_is_real(ctx->outputs[i].dtype) && ctx->outputs[i].dtype != real) return false;
    return true;
}

bool qdq_is_whole(const qdq_op_context *ctx) { return has_reals_of(ctx, QDQ_DTYPE_NONE); }
bool qdq_is_float32(const qdq_op_context *ctx) { return has_reals_of(ctx, QDQ_FLOAT32); }

const char *qdq_scheme_word(const qdq_op_context *ctx) {
    qdq_scheme scheme = ((const qdq_dynamic_quantize_attrs *)ctx->attrs)->scheme;
    for (size_t i = 0; i < ctx->op->attr_count; i++)
        if (strcmp(ctx->op->attrs[i].name, "scheme") == 0) return ctx->op->attrs[i].words[scheme];
    return "";
}

qdq_dtype qdq_quantized_dtype(const qdq_op_context *ctx) {
    return qdq_op_context_is(ctx, "Dequantize") ? ctx->inputs[QDQ_PORT_X].type.dtype
                                                : ctx->outputs[0].dtype;
}

qdq_dtype qdq_real_dtype(const qdq_op_context *ctx) {
    return qdq_op_context_is(ctx, "Dequantize") ? ctx->outputs[0].dtype
                                                : ctx->inputs[QDQ_PORT_X].type.dtype;
}

int qdq_channel_axis(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    const qdq_requantize_attrs *r = qdq_op_context_is(ctx, "Requantize") ? ctx->attrs : NULL;
    int rank = ctx->inputs[QDQ_PORT_X].type.shape.rank;
    if (a ? a->qtype != QDQ_PER_CHANNEL : !r || r->axis.set == 0) return -1;
    qdq_int axis = a ? a->axis : r->axis;
    int64_t at = axis.set != 0 ? axis.value : 1;
    return (int)(at < 0 ? at + rank : at);
}

qdq_shape qdq_block_shape(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    qdq_shape shape = ctx->inputs[QDQ_PORT_X].type.shape;
    for (int i = 0; i < shape.rank; i++)
        if (a->group_shape.data[i] != -1) shape.dims[i] = a->group_shape.data[i];
    return shape;
}

qdq_shape qdq_parameter_shape(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    qdq_shape x = ctx->inputs[QDQ_PORT_X].type.shape;
    if (a->qtype == QDQ_PER_CHANNEL) return (qdq_shape){1, {x.dims[qdq_channel_axis(ctx)]}};
    if (a->qtype != QDQ_PER_GROUP) return (qdq_shape){0};
    qdq_shape block = qdq_block_shape(ctx);
    for (int i = 0; i < x.rank; i++) x.dims[i] = (x.dims[i] - 1) / block.dims[i] + 1;
    return x;
}

//---- A scale or a zero point ------------------------------------------------

const char *const qdq_scale_ports[3] = {"scale", "in_scale", "out_scale"};
const char *const qdq_zero_point_ports[3] = {"zero_point", "in_zero_point", "out_zero_point"};

// Returns the attribute of a port: its name is the port's name with an "s"; for "zero_point" it is
// "zps".
static const qdq_attr_desc *attr_of(const qdq_op_context *ctx, const char *port, char *name,
                                    size_t capacity) {
    static const char word[] = "zero_point";
    size_t length = strlen(port), tail = sizeof word - 1;
    bool is_zero_point = length >= tail && strcmp(port + length - tail, word) == 0;
    size_t kept = is_zero_point ? length - tail : length;
    if (kept + 4 > capacity) return NULL;
    memcpy(name, port, kept);
    memcpy(name + kept, is_zero_point ? "zps" : "s", is_zero_point ? 4 : 2);
    for (size_t i = 0; i < ctx->op->attr_count; i++)
        if (strcmp(ctx->op->attrs[i].name, name) == 0) return &ctx->op->attrs[i];
    return NULL;
}

static const qdq_operand *operand_of(const qdq_op_context *ctx, const char *port,
                                     const char **name) {
    for (size_t i = 0; i < ctx->op->input_count; i++) {
        if (strcmp(ctx->op->inputs[i].name, port) != 0) continue;
        *name = ctx->op->inputs[i].name;
        return &ctx->inputs[i];
    }
    return NULL;
}

qdq_argument qdq_argument_of(const qdq_op_context *ctx, const char *port) {
    char attr_name[64];
    qdq_argument argument = {0};
    const char *port_name = NULL;
    const qdq_operand *in = operand_of(ctx, port, &port_name);
    const qdq_attr_desc *attr = attr_of(ctx, port, attr_name, sizeof attr_name);
    if (!in || !attr) return argument;
    if (in->given)
        return (qdq_argument){.name = qdq_name_at_node(ctx, port_name),
                              .given = true,
                              .from_port = true,
                              .constant = in->constant,
                              .known = in->data != NULL,
                              .dtype = in->type.dtype,
                              .shape = in->type.shape,
                              .count = qdq_shape_count(in->type.shape),
                              .data = in->data,
                              .encoded = true};
    const void *field = (const char *)ctx->attrs + attr->offset;
    bool is_scale = attr->kind == QDQ_ATTR_FLOATS;
    const qdq_floats *floats = field;
    const qdq_numbers *numbers = field;
    argument.name = qdq_name_at_node(ctx, attr->name);
    argument.data = is_scale ? (const void *)floats->data : numbers->data;
    argument.given = argument.known = argument.data != NULL;
    argument.count = is_scale ? floats->count : numbers->count;
    argument.scalar = argument.given ? (is_scale ? floats->scalar : numbers->scalar) : !is_scale;
    argument.constant = true;
    argument.dtype = is_scale ? QDQ_FLOAT32 : QDQ_INT32;
    if (argument.given && !argument.scalar)
        argument.shape = (qdq_shape){1, {(int64_t)argument.count}};
    return argument;
}

double qdq_argument_at(const qdq_argument *argument, size_t i) {
    if (!argument->encoded)
        return argument->dtype == QDQ_INT32 ? ((const double *)argument->data)[i]
                                            : (double)((const float *)argument->data)[i];
    const char *at = (const char *)argument->data + i * qdq_dtype_size(argument->dtype);
    double real = 0;
    int64_t whole = 0;
    qdq_widen_float64(argument->dtype, at, &real, 1);
    if (qdq_dtype_is_whole(argument->dtype)) qdq_widen_int64(argument->dtype, at, &whole, 1);
    return qdq_dtype_is_whole(argument->dtype) ? (double)whole : real;
}

size_t qdq_argument_first_nonzero(const qdq_argument *argument) {
    size_t i = 0;
    while (i < argument->count && qdq_argument_at(argument, i) == 0) i++;
    return i;
}

static bool is_zero_point(const char *port) {
    for (size_t k = 0; k < 3; k++)
        if (strcmp(port, qdq_zero_point_ports[k]) == 0) return true;
    return false;
}

qdq_argument qdq_without_zeros(const qdq_op_context *ctx, const char *port) {
    qdq_argument a = qdq_argument_of(ctx, port);
    bool zeros =
        a.from_port && a.known && is_zero_point(port) && qdq_argument_first_nonzero(&a) == a.count;
    if (!zeros) return a;
    return (qdq_argument){.name = a.name, .scalar = true, .constant = true, .dtype = QDQ_INT32};
}

qdq_argument qdq_literal_of(const qdq_op_context *ctx, const char *port) {
    qdq_argument a = qdq_without_zeros(ctx, port);
    if (a.from_port && a.known && a.shape.rank == 0) a.from_port = false, a.scalar = true;
    return a;
}

//---- Findings ---------------------------------------------------------------

void qdq_report_number(const qdq_op_context *ctx, const qdq_rule *rule,
                       const qdq_argument *argument, size_t index, const char *wanted) {
    qdq_report_target_violation(ctx, rule, argument->name,
                                qdq_text_number(ctx->findings, qdq_argument_at(argument, index),
                                                index, argument->dtype != QDQ_INT32),
                                wanted);
}

void qdq_expect_zeros(const qdq_op_context *ctx, const qdq_rule *rule, const qdq_argument *argument,
                      const char *wanted) {
    size_t i = argument->known ? qdq_argument_first_nonzero(argument) : 0;
    if (!argument->given || (argument->known && i == argument->count)) return;
    if (argument->known)
        qdq_report_number(ctx, rule, argument, i, wanted);
    else
        qdq_report_target_violation(ctx, rule, argument->name, "is known at run time only", wanted);
}

void qdq_report_other_count(const qdq_op_context *ctx, const qdq_rule *rule,
                            const qdq_argument *argument, const qdq_argument *other) {
    qdq_report_target_violation(
        ctx, rule, argument->name,
        qdq_text(ctx->findings, "has %zu element%s", argument->count,
                 argument->count == 1 ? "" : "s"),
        qdq_text(ctx->findings, "%zu, as many as %s", other->count, other->name));
}

// True for int32 constants before a Dequantize: quantizing tools store the bias of a product in
// this form.
static bool is_quantized_bias(const qdq_op_context *ctx, const char *port, qdq_dtype dtype) {
    return dtype == QDQ_INT32 && strcmp(port, "x") == 0 && qdq_op_context_is(ctx, "Dequantize") &&
           ctx->inputs[QDQ_PORT_X].constant;
}

bool qdq_expect_dtype(const qdq_op_context *ctx, const qdq_rule *rule, const char *port,
                      qdq_dtype dtype, qdq_dtype_set set) {
    char text[512];
    if (qdq_set_has(set, dtype)) return true;
    bool several = (set & (set - 1)) != 0;
    const char *found = qdq_text(ctx->findings, "is %s", qdq_dtype_name(dtype));
    const char *wanted = qdq_text(ctx->findings, "%s%s", several ? "one of: " : "",
                                  qdq_set_text(set, text, sizeof text));
    if (is_quantized_bias(ctx, port, dtype))
        qdq_report_target_hint(ctx, rule, port, found, wanted,
                               "store it as float32; onnxruntime.quantization does so for a bias "
                               "with the extra option QuantizeBias=False");
    else
        qdq_report_target_violation(ctx, rule, port, found, wanted);
    return false;
}

void qdq_expect_scales(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument s = qdq_argument_of(ctx, qdq_scale_ports[k]);
        if (s.given && !qdq_expect_dtype(ctx, rule, s.name, s.dtype, set)) return;
    }
}

void qdq_expect_x(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set) {
    (void)qdq_expect_dtype(ctx, rule, "x", ctx->inputs[QDQ_PORT_X].type.dtype, set);
}

void qdq_expect_y(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set) {
    (void)qdq_expect_dtype(ctx, rule, "dtype", ctx->outputs[0].dtype, set);
}

void qdq_expect_inputs(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set) {
    for (size_t i = 0; i < ctx->input_count; i++) {
        const qdq_operand in = qdq_input_at(ctx, i);
        if (in.given &&
            !qdq_expect_dtype(ctx, rule, qdq_op_port(ctx->op, i)->name, in.type.dtype, set))
            return;
    }
}

void qdq_expect_both(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set) {
    if (qdq_expect_dtype(ctx, rule, "x", ctx->inputs[QDQ_PORT_X].type.dtype, set))
        qdq_expect_y(ctx, rule, set);
}

//---- Shared checks ----------------------------------------------------------

void qdq_check_positive_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument s = qdq_argument_of(ctx, qdq_scale_ports[k]);
        for (size_t i = 0; s.known && i < s.count; i++) {
            if (qdq_argument_at(&s, i) > 0) continue;
            qdq_report_number(ctx, rule, &s, i, "a number above 0");
            return;
        }
    }
}

void qdq_check_constant_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument s = qdq_argument_of(ctx, qdq_scale_ports[k]);
        if (!s.given || s.constant) continue;
        qdq_report_target_violation(ctx, rule, s.name, "is made at run time", "a constant");
        return;
    }
}

static void report_bound(const qdq_op_context *ctx, const qdq_rule *rule, const char *name,
                         qdq_int bound, int64_t whole) {
    qdq_report_target_violation(ctx, rule, name,
                                qdq_text(ctx->findings, "is %lld", (long long)bound.value),
                                qdq_text(ctx->findings, "%lld, the limit of %s", (long long)whole,
                                         qdq_dtype_name(ctx->outputs[0].dtype)));
}

void qdq_check_whole_range(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    const qdq_requantize_attrs *r = qdq_op_context_is(ctx, "Requantize") ? ctx->attrs : NULL;
    const qdq_dtype_info *info = qdq_dtype_get(ctx->outputs[0].dtype);
    if (!a && !r) return;
    qdq_int least = a ? a->quant_min : r->quant_min, most = a ? a->quant_max : r->quant_max;
    if (least.set != 0 && least.value != info->least)
        report_bound(ctx, rule, "quant_min", least, info->least);
    else if (most.set != 0 && most.value != info->greatest)
        report_bound(ctx, rule, "quant_max", most, info->greatest);
}

void qdq_check_no_float_domain(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    if (a && a->zero_point_domain == QDQ_DOMAIN_FLOAT)
        qdq_report_target_violation(ctx, rule, "zero_point_domain", "is float", "int or none");
}

void qdq_check_no_group(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    if (a && a->qtype == QDQ_PER_GROUP)
        qdq_report_target_violation(ctx, rule, "qtype", "is per_group",
                                    "per_tensor or per_channel");
}

void qdq_check_group_divides(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    if (!a || a->qtype != QDQ_PER_GROUP) return;
    qdq_shape shape = ctx->inputs[QDQ_PORT_X].type.shape, block = qdq_block_shape(ctx);
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dims[i] % block.dims[i] == 0) continue;
        qdq_report_target_violation(
            ctx, rule, "group_shape",
            qdq_text(ctx->findings, "has %lld for dim %d", (long long)block.dims[i], i),
            qdq_text(ctx->findings, "a divisor of %lld", (long long)shape.dims[i]));
        return;
    }
}

void qdq_check_axis_from_front(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    int at = qdq_channel_axis(ctx);
    if (at < 0) return;
    qdq_int axis = a ? a->axis : ((const qdq_requantize_attrs *)ctx->attrs)->axis;
    if (axis.set != 0 && axis.value < 0)
        qdq_report_target_violation(ctx, rule, "axis",
                                    qdq_text(ctx->findings, "is %lld", (long long)axis.value),
                                    qdq_text(ctx->findings, "%d, the same dim from the front", at));
}

void qdq_check_not_computed(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_is_computed(ctx))
        qdq_report_target_violation(ctx, rule, "scale",
                                    "is not given, so it would be computed from x", "a scale");
}

void qdq_check_selected_floats(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype;
    if (!qdq_set_has(QDQ_SET_FLOATS, x))
        qdq_report_target_violation(ctx, rule, "x",
                                    qdq_text(ctx->findings, "is %s", qdq_dtype_name(x)), "a float");
}

qdq_dtype qdq_dtype_of_scale(const qdq_op_context *ctx) {
    qdq_argument s = qdq_argument_of(ctx, "scale");
    if (!qdq_op_context_is(ctx, "Dequantize")) return QDQ_DTYPE_NONE;
    return s.from_port && qdq_set_has(QDQ_SET_FLOATS, s.dtype) ? s.dtype : QDQ_FLOAT32;
}

void qdq_report_default_dtype(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype own) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    const qdq_requantize_attrs *r = qdq_op_context_is(ctx, "Requantize") ? ctx->attrs : NULL;
    qdq_dtype given = a ? a->dtype : r ? r->dtype : QDQ_DTYPE_NONE, y = ctx->outputs[0].dtype;
    bool by_default = (a || r) && (given == QDQ_DTYPE_NONE || ctx->dtype_filled);
    if (by_default && own != QDQ_DTYPE_NONE && own != y)
        qdq_report_target_violation(
            ctx, rule, "dtype",
            qdq_text(ctx->findings, "is not given and defaults to %s", qdq_dtype_name(y)),
            qdq_text(ctx->findings, "%s, the backend's default", qdq_dtype_name(own)));
}

void qdq_check_no_such_op(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_report_target_violation(ctx, rule, NULL,
                                qdq_text(ctx->findings, "this backend has no such op"), NULL);
}

void qdq_check_known_op(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_report_target_violation(
        ctx, rule, NULL, "the backend's documents name no such op, so the core's formula is used",
        NULL);
}
