// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of two or three inputs that are broadcast to one shape: Add and the other binary
// ops, BitShift, Select, BiasAdd, PReLU.
#include "include/qdq/ops/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/elementwise_ops.h"
#include "ops/quantize/quant_params.h"

enum { PORT_A, PORT_B };

// Computes the shape that two inputs are broadcast to, or reports a finding.
static bool join(const qdq_op_context *ctx, size_t a, size_t b, qdq_broadcast rule,
                 qdq_shape *out) {
    qdq_shape sa = ctx->inputs[a].type.shape, sb = ctx->inputs[b].type.shape;
    *out = sa;
    bool fits =
        rule == QDQ_BROADCAST_NONE ? qdq_shape_equal(sa, sb) : qdq_broadcast_shapes(sa, sb, out);
    if (fits) return true;
    qdq_report_shape(ctx, ctx->op->inputs[b].name, sb,
                     qdq_text(ctx->findings,
                              rule == QDQ_BROADCAST_NONE ? "%s, the shape of %s"
                                                         : "one that goes with %s of %s: dims from "
                                                           "the last on are equal or 1",
                              qdq_shape_text(ctx->findings, sa), ctx->op->inputs[a].name));
    return false;
}

//---- Two inputs -------------------------------------------------------------

#define BINARY_PORTS(set)                                   \
    {                                                       \
        {"a", offsetof(qdq_binary_attrs, a), false, set}, { \
            "b", offsetof(qdq_binary_attrs, b), false, set  \
        }                                                   \
    }
#define SET_POWERS (QDQ_SET_ELEMENTS_NUMBER & ~QDQ_SET(FLOAT64))
#define BROADCAST_ATTR                                                               \
    {                                                                                \
        "auto_broadcast", QDQ_ATTR_WORD, offsetof(qdq_binary_attrs, auto_broadcast), \
            qdq_broadcast_words, "numpy",                                            \
            "numpy: dims from the last on are equal or 1; none: equal shapes"        \
    }

static const qdq_port_desc number_inputs[] = BINARY_PORTS(QDQ_SET_ELEMENTS_NUMBER);
static const qdq_port_desc block_inputs[] = BINARY_PORTS(QDQ_SET_ELEMENTS_BLOCK);
static const qdq_port_desc compared_inputs[] = BINARY_PORTS(QDQ_SET_ELEMENTS_COMPARED);
static const qdq_port_desc any_inputs[] = BINARY_PORTS(QDQ_SET_ELEMENTS_COMPARED | QDQ_SET(BOOL));
static const qdq_port_desc bool_inputs[] = BINARY_PORTS(QDQ_SET(BOOL));
static const qdq_port_desc bits_inputs[] = BINARY_PORTS(QDQ_SET_ELEMENTS_BITS);
static const qdq_port_desc float_outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};
static const qdq_port_desc power_inputs[] = BINARY_PORTS(SET_POWERS);
static const qdq_port_desc power_outputs[] = {{"y", 0, false, SET_POWERS}};
static const qdq_port_desc number_outputs[] = {{"y", 0, false, QDQ_SET_ELEMENTS_NUMBER}};
static const qdq_port_desc block_outputs[] = {{"y", 0, false, QDQ_SET_ELEMENTS_BLOCK}};
static const qdq_port_desc bits_outputs[] = {{"y", 0, false, QDQ_SET_ELEMENTS_BITS}};
static const qdq_port_desc bool_outputs[] = {{"y", 0, false, QDQ_SET(BOOL)}};
// Of ttnn's functions.
#define INTO_ATTR                                                                          \
    {                                                                                      \
        "output_tensor", QDQ_ATTR_VALUE, offsetof(qdq_binary_attrs, output_tensor), NULL,  \
            "a new tensor",                                                                \
            "target ttnn: the value in whose buffer y is written; no result depends on it" \
    }
static const qdq_attr_desc alike_attrs[] = {BROADCAST_ATTR, INTO_ATTR};
static const qdq_attr_desc mixed_attrs[] = {BROADCAST_ATTR,
                                            INTO_ATTR,
                                            {"dtype", QDQ_ATTR_DTYPE,
                                             offsetof(qdq_binary_attrs, dtype), NULL,
                                             "the dtype of a", "of the result"}};

static void infer_shape(qdq_op_context *ctx, qdq_dtype dtype) {
    const qdq_binary_attrs *a = ctx->attrs;
    ctx->outputs[0] = (qdq_type){dtype, ctx->inputs[PORT_A].type.shape};
    if (qdq_has_input(ctx, PORT_B))
        (void)join(ctx, PORT_A, PORT_B, a->auto_broadcast, &ctx->outputs[0].shape);
}

// Reports a block float y to which both operands are broadcast: its elements share an exponent, so
// they are computed tile by tile, along with the elements of an operand.
static void check_block_shape(const qdq_op_context *ctx) {
    const qdq_type *a = &ctx->inputs[PORT_A].type, *b = &ctx->inputs[PORT_B].type;
    const qdq_type *y = &ctx->outputs[0];
    if (!qdq_set_has(QDQ_SET_BLOCK_FLOATS, y->dtype) || !qdq_has_input(ctx, PORT_B) ||
        qdq_shape_equal(a->shape, y->shape) || qdq_shape_equal(b->shape, y->shape))
        return;
    qdq_report_shape(ctx, "a", a->shape,
                     qdq_text(ctx->findings, "%s, the shape of y, for a or b, as y is %s",
                              qdq_shape_text(ctx->findings, y->shape), qdq_dtype_name(y->dtype)));
}

// a, b and y may have different dtypes, unless one of them has more than 32 bits. Only block floats
// make block floats.
static void infer_mixed(qdq_op_context *ctx) {
    const qdq_binary_attrs *a = ctx->attrs;
    qdq_dtype of_a = ctx->inputs[PORT_A].type.dtype, dtype = a->dtype ? a->dtype : of_a;
    bool wide = qdq_dtype_is_wide(of_a) ||
                (qdq_has_input(ctx, PORT_B) && qdq_dtype_is_wide(ctx->inputs[PORT_B].type.dtype));
    qdq_dtype_set results = ctx->op->outputs[0].dtypes;
    if (wide)
        (void)qdq_check_same_dtype(ctx, PORT_B);
    else
        results &= QDQ_SET_FLOATS | QDQ_SET(INT32) |
                   (qdq_set_has(QDQ_SET_BLOCK_FLOATS, of_a) ? QDQ_SET_BLOCK_FLOATS : 0);
    infer_shape(ctx, qdq_check_result(ctx, dtype, wide ? (qdq_dtype_set)1 << of_a : results));
    check_block_shape(ctx);
}

static void infer_alike(qdq_op_context *ctx) {
    (void)qdq_check_same_dtype(ctx, PORT_B);
    infer_shape(ctx, ctx->inputs[PORT_A].type.dtype);
}

static void infer_comparison(qdq_op_context *ctx) {
    (void)qdq_check_same_dtype(ctx, PORT_B);
    infer_shape(ctx, QDQ_BOOL);
}

static const qdq_op_fusion fusion = {.adds = qdq_elements_add, .finishes = qdq_elements_finish};

#define BINARY(function_name, op_name, what, kind)                                           \
    static size_t lower_##function_name(const qdq_op_context *ctx, const qdq_lowering *to,   \
                                        qdq_stage *stages) {                                 \
        qdq_elements op = {                                                                  \
            .function = QDQ_ELEMENTWISE_##function_name, .a = PORT_A, .b = PORT_B, .c = -1}; \
        return qdq_lower_elements(ctx, to, &op, stages);                                     \
    }                                                                                        \
    const qdq_op qdq_op_##function_name = {                                                  \
        .name = (op_name),                                                                   \
        .summary = (what),                                                                   \
        .attrs_size = sizeof(qdq_binary_attrs),                                              \
        BINARY_##kind,                                                                       \
        .lower = lower_##function_name,                                                      \
        .fusion = &fusion,                                                                   \
    };

#define BINARY_number_mixed \
    QDQ_OP_TABLES(number_inputs, number_outputs, mixed_attrs), .infer = infer_mixed, .by_chip = true
#define BINARY_block_mixed \
    QDQ_OP_TABLES(block_inputs, block_outputs, mixed_attrs), .infer = infer_mixed, .by_chip = true
#define BINARY_number_alike                                    \
    QDQ_OP_TABLES(number_inputs, number_outputs, alike_attrs), \
        .infer = infer_alike, .by_chip = true, .by_float_ops = true
#define BINARY_power_alike                                                         \
    QDQ_OP_TABLES(power_inputs, power_outputs, alike_attrs), .infer = infer_alike, \
                                                             .by_float_ops = true
#define BINARY_number_bool \
    QDQ_OP_TABLES(compared_inputs, bool_outputs, alike_attrs), .infer = infer_comparison
#define BINARY_any_bool \
    QDQ_OP_TABLES(any_inputs, bool_outputs, alike_attrs), .infer = infer_comparison
#define BINARY_bool_bool \
    QDQ_OP_TABLES(bool_inputs, bool_outputs, alike_attrs), .infer = infer_comparison
#define BINARY_bits_alike \
    QDQ_OP_TABLES(bits_inputs, bits_outputs, alike_attrs), .infer = infer_alike

QDQ_BINARY_OPS(BINARY)

//---- BitShift ---------------------------------------------------------------

#define SHIFTED (QDQ_SET(UINT8) | QDQ_SET(UINT16) | QDQ_SET(UINT32) | QDQ_SET(UINT64))

static const char *const directions[] = {"left", "right", NULL};
static const qdq_port_desc shift_inputs[] = {
    {"a", offsetof(qdq_bit_shift_attrs, a), false, SHIFTED},
    {"b", offsetof(qdq_bit_shift_attrs, b), false, SHIFTED}};
static const qdq_port_desc shift_outputs[] = {{"y", 0, false, SHIFTED}};
static const qdq_attr_desc shift_attrs[] = {
    {"auto_broadcast", QDQ_ATTR_WORD, offsetof(qdq_bit_shift_attrs, auto_broadcast),
     qdq_broadcast_words, "numpy",
     "numpy: dims from the last on are equal or 1; none: equal shapes"},
    {"direction", QDQ_ATTR_WORD, offsetof(qdq_bit_shift_attrs, direction), directions, "left",
     "left: toward the high bits"}};

static void infer_shift(qdq_op_context *ctx) {
    const qdq_bit_shift_attrs *a = ctx->attrs;
    (void)qdq_check_same_dtype(ctx, PORT_B);
    ctx->outputs[0] = ctx->inputs[PORT_A].type;
    if (qdq_has_input(ctx, PORT_B))
        (void)join(ctx, PORT_A, PORT_B, a->auto_broadcast, &ctx->outputs[0].shape);
}

static size_t lower_shift(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_bit_shift_attrs *a = ctx->attrs;
    bool right = a->direction == QDQ_SHIFT_RIGHT;
    qdq_elements op = {.function = right ? QDQ_ELEMENTWISE_shift_right : QDQ_ELEMENTWISE_shift_left,
                       .a = PORT_A,
                       .b = PORT_B,
                       .c = -1};
    return qdq_lower_elements(ctx, to, &op, stages);
}

const qdq_op qdq_op_bit_shift = {
    .name = "BitShift",
    .summary = "y = a shifted by b bits",
    .attrs_size = sizeof(qdq_bit_shift_attrs),
    QDQ_OP_TABLES(shift_inputs, shift_outputs, shift_attrs),
    .infer = infer_shift,
    .lower = lower_shift,
};

//---- Mod --------------------------------------------------------------------

#define DIVIDED (QDQ_SET_ELEMENTS_REAL | QDQ_SET_ELEMENTS_BITS)

static const qdq_port_desc mod_inputs[] = {{"a", offsetof(qdq_mod_attrs, a), false, DIVIDED},
                                           {"b", offsetof(qdq_mod_attrs, b), false, DIVIDED}};
static const qdq_port_desc mod_outputs[] = {{"y", 0, false, DIVIDED}};
static const qdq_attr_desc mod_attrs[] = {
    {"auto_broadcast", QDQ_ATTR_WORD, offsetof(qdq_mod_attrs, auto_broadcast), qdq_broadcast_words,
     "numpy", "numpy: dims from the last on are equal or 1; none: equal shapes"},
    {"fmod", QDQ_ATTR_BOOL, offsetof(qdq_mod_attrs, fmod), NULL, "false",
     "true: y has the sign of a, like fmod in C; false: the sign of b, like % in Python"}};

static void infer_mod(qdq_op_context *ctx) {
    const qdq_mod_attrs *a = ctx->attrs;
    (void)qdq_check_same_dtype(ctx, PORT_B);
    ctx->outputs[0] = ctx->inputs[PORT_A].type;
    if (qdq_has_input(ctx, PORT_B))
        (void)join(ctx, PORT_A, PORT_B, a->auto_broadcast, &ctx->outputs[0].shape);
}

static size_t lower_mod(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_mod_attrs *a = ctx->attrs;
    qdq_elements op = {.function = a->fmod == QDQ_TRUE ? QDQ_ELEMENTWISE_fmod : QDQ_ELEMENTWISE_mod,
                       .a = PORT_A,
                       .b = PORT_B,
                       .c = -1};
    return qdq_lower_elements(ctx, to, &op, stages);
}

const qdq_op qdq_op_mod = {
    .name = "Mod",
    .summary = "y = the rest of a / b, whose quotient is a whole number",
    .attrs_size = sizeof(qdq_mod_attrs),
    QDQ_OP_TABLES(mod_inputs, mod_outputs, mod_attrs),
    .infer = infer_mod,
    .lower = lower_mod,
};

//---- Select -----------------------------------------------------------------

enum { SELECT_CONDITION, SELECT_A, SELECT_B };

#define SELECTED (QDQ_SET_ELEMENTS_COMPARED | QDQ_SET(BOOL))

static const qdq_port_desc select_inputs[] = {
    {"condition", offsetof(qdq_select_attrs, condition), false, QDQ_SET(BOOL)},
    {"a", offsetof(qdq_select_attrs, a), false, SELECTED},
    {"b", offsetof(qdq_select_attrs, b), false, SELECTED}};
static const qdq_port_desc select_outputs[] = {{"y", 0, false, SELECTED}};
static const qdq_attr_desc select_attrs[] = {
    {"auto_broadcast", QDQ_ATTR_WORD, offsetof(qdq_select_attrs, auto_broadcast),
     qdq_broadcast_words, "numpy",
     "numpy: a and b are broadcast to each other, condition onto them; none: equal shapes"}};

// Only the condition is broadcast: it never enlarges y.
static void check_condition(const qdq_op_context *ctx, qdq_broadcast rule, qdq_shape y) {
    if (rule == QDQ_BROADCAST_NONE)
        (void)qdq_check_shape(ctx, SELECT_CONDITION, y, "the shape of a and b");
    else
        (void)qdq_check_broadcasts_to(ctx, SELECT_CONDITION, y, "the shape of a and b");
}

static void infer_select(qdq_op_context *ctx) {
    const qdq_select_attrs *a = ctx->attrs;
    if (!qdq_has_input(ctx, SELECT_A) || !qdq_has_input(ctx, SELECT_B)) return;
    qdq_dtype da = ctx->inputs[SELECT_A].type.dtype, db = ctx->inputs[SELECT_B].type.dtype;
    if (da != db)
        qdq_report_violation(ctx, QDQ_RULE_PORT_DTYPE, "b",
                             qdq_text(ctx->findings, "is %s", qdq_dtype_name(db)),
                             qdq_text(ctx->findings, "%s, as a is", qdq_dtype_name(da)));
    ctx->outputs[0].dtype = da;
    if (join(ctx, SELECT_A, SELECT_B, a->auto_broadcast, &ctx->outputs[0].shape))
        check_condition(ctx, a->auto_broadcast, ctx->outputs[0].shape);
}

static size_t lower_select(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    qdq_elements op = {
        .function = QDQ_ELEMENTWISE_select, .a = SELECT_A, .b = SELECT_B, .c = SELECT_CONDITION};
    return qdq_lower_elements(ctx, to, &op, stages);
}

const qdq_op qdq_op_select = {
    .name = "Select",
    .summary = "y = condition ? a : b",
    .attrs_size = sizeof(qdq_select_attrs),
    QDQ_OP_TABLES(select_inputs, select_outputs, select_attrs),
    .infer = infer_select,
    .lower = lower_select,
};

//---- BiasAdd ----------------------------------------------------------------

enum { PORT_X, PORT_OTHER };

// Defines an op whose b has one element per index of dim `dim` of x.
static qdq_elements along(const qdq_op_context *ctx, qdq_elementwise function, int dim) {
    qdq_elements op = {
        .function = function, .a = PORT_X, .b = PORT_OTHER, .c = -1, .has_b_shape = true};
    qdq_shape x = ctx->inputs[PORT_X].type.shape;
    op.b_shape = (qdq_shape){.rank = x.rank};
    for (int i = 0; i < x.rank; i++) op.b_shape.dims[i] = i == dim ? x.dims[i] : 1;
    return op;
}

static const qdq_port_desc bias_add_inputs[] = {
    {"x", offsetof(qdq_bias_add_attrs, x), false, QDQ_SET_FLOATS},
    {"bias", offsetof(qdq_bias_add_attrs, bias), false, QDQ_SET_FLOATS}};
static const qdq_attr_desc bias_add_attrs[] = {
    {"data_format", QDQ_ATTR_WORD, offsetof(qdq_bias_add_attrs, data_format), qdq_data_format_words,
     "NXC", "where the channels are"}};

static bool check_channels(const qdq_op_context *ctx, qdq_data_format format) {
    qdq_shape x = ctx->inputs[PORT_X].type.shape;
    if (x.rank >= 2) {
        qdq_shape channels = {.rank = 1, .dims = {x.dims[qdq_channel_dim(x, format)]}};
        return qdq_check_shape(ctx, PORT_OTHER, channels, "the channels of x");
    }
    qdq_report_shape(ctx, "x", x, "at least two dims, one of them the channels");
    return false;
}

static void infer_bias_add(qdq_op_context *ctx) {
    const qdq_bias_add_attrs *a = ctx->attrs;
    ctx->outputs[0] = ctx->inputs[PORT_X].type;
    (void)qdq_check_same_dtype(ctx, PORT_OTHER);
    (void)check_channels(ctx, a->data_format);
}

static size_t lower_bias_add(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_bias_add_attrs *a = ctx->attrs;
    qdq_elements op = along(ctx, QDQ_ELEMENTWISE_add,
                            qdq_channel_dim(ctx->inputs[PORT_X].type.shape, a->data_format));
    return qdq_lower_elements(ctx, to, &op, stages);
}

const qdq_op qdq_op_bias_add = {
    .name = "BiasAdd",
    .summary = "y = x + the bias of its channel",
    .attrs_size = sizeof(qdq_bias_add_attrs),
    QDQ_OP_TABLES(bias_add_inputs, float_outputs, bias_add_attrs),
    .infer = infer_bias_add,
    .lower = lower_bias_add,
    .by_chip = true,
};

//---- PReLU ------------------------------------------------------------------

static const qdq_port_desc prelu_inputs[] = {
    {"x", offsetof(qdq_prelu_attrs, x), false, QDQ_SET_FLOATS},
    {"slope", offsetof(qdq_prelu_attrs, slope), false, QDQ_SET_FLOATS}};
static const qdq_attr_desc prelu_attrs[] = {
    {"data_format", QDQ_ATTR_WORD, offsetof(qdq_prelu_attrs, data_format), qdq_data_format_words,
     "NXC", "where the channels are"},
    {"per_channel_broadcast", QDQ_ATTR_BOOL, offsetof(qdq_prelu_attrs, per_channel_broadcast), NULL,
     "true", "a slope of rank 1 is for the channels; else for the last dim"}};

// True if the slope has one element per channel.
static bool is_per_channel(const qdq_op_context *ctx, const qdq_prelu_attrs *a) {
    qdq_shape x = ctx->inputs[PORT_X].type.shape, slope = ctx->inputs[PORT_OTHER].type.shape;
    return a->per_channel_broadcast != QDQ_FALSE && slope.rank == 1 && slope.dims[0] != 1 &&
           x.rank >= 2;
}

static void infer_prelu(qdq_op_context *ctx) {
    const qdq_prelu_attrs *a = ctx->attrs;
    ctx->outputs[0] = ctx->inputs[PORT_X].type;
    (void)qdq_check_same_dtype(ctx, PORT_OTHER);
    if (!qdq_has_input(ctx, PORT_OTHER)) return;
    if (is_per_channel(ctx, a))
        (void)check_channels(ctx, a->data_format);
    else
        (void)qdq_check_broadcasts_to(ctx, PORT_OTHER, ctx->outputs[0].shape, "the shape of x");
}

static size_t lower_prelu(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_prelu_attrs *a = ctx->attrs;
    qdq_elements op = {.function = QDQ_ELEMENTWISE_prelu, .a = PORT_X, .b = PORT_OTHER, .c = -1};
    if (is_per_channel(ctx, a))
        op = along(ctx, QDQ_ELEMENTWISE_prelu,
                   qdq_channel_dim(ctx->inputs[PORT_X].type.shape, a->data_format));
    return qdq_lower_elements(ctx, to, &op, stages);
}

const qdq_op qdq_op_prelu = {
    .name = "PReLU",
    .summary = "y = x > 0 ? x : slope * x",
    .attrs_size = sizeof(qdq_prelu_attrs),
    QDQ_OP_TABLES(prelu_inputs, float_outputs, prelu_attrs),
    .infer = infer_prelu,
    .lower = lower_prelu,
    .by_float_ops = true,
};
