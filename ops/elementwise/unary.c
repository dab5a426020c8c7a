// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of one input: ReLU, Exp, GELU, IsNaN and others.
#include <math.h>
#include <string.h>

#include "include/qdq/ops/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/elementwise_ops.h"
#include "ops/kernels/elementwise/sfpu_elementwise.h"
#include "ops/quantize/quant_params.h"

static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};
// For functions that a chip computes for block floats, too.
static const qdq_port_desc block_outputs[] = {{"y", 0, false, QDQ_SET_REALS}};

static void infer(qdq_op_context *ctx) { ctx->outputs[0] = ctx->inputs[0].type; }

static size_t lower_as(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages,
                       qdq_elementwise function, qdq_elementwise_numbers numbers) {
    qdq_elements op = {.function = function,
                       .numbers = numbers,
                       .approximate = qdq_elements_approximate(ctx),
                       .a = 0,
                       .b = -1,
                       .c = -1};
    return qdq_lower_elements(ctx, to, &op, stages);
}

//---- fast_and_approximate_mode ----------------------------------------------

#define MODE "fast_and_approximate_mode"
#define APPROXIMATE(attrs_type)                                                              \
    {                                                                                        \
        MODE, QDQ_ATTR_BOOL, offsetof(attrs_type, fast_and_approximate_mode), NULL, "false", \
            "ttnn on a chip: its faster kernel, if it has one; others ignore it"             \
    }

bool qdq_elements_approximate(const qdq_op_context *ctx) {
    for (size_t i = 0; i < ctx->op->attr_count; i++) {
        const qdq_attr_desc *attr = &ctx->op->attrs[i];
        if (strcmp(attr->name, MODE) == 0)
            return *(const qdq_bool *)((const char *)ctx->attrs + attr->offset) == QDQ_TRUE;
    }
    return false;
}

// True if an op without other attributes has the mode in ttnn.
#define HAS_MODE(function)                                                        \
    ((function) == QDQ_ELEMENTWISE_erf || (function) == QDQ_ELEMENTWISE_exp ||    \
     (function) == QDQ_ELEMENTWISE_log || (function) == QDQ_ELEMENTWISE_log1p ||  \
     (function) == QDQ_ELEMENTWISE_mish || (function) == QDQ_ELEMENTWISE_rsqrt || \
     (function) == QDQ_ELEMENTWISE_sigmoid || (function) == QDQ_ELEMENTWISE_sqrt)

_Static_assert(offsetof(qdq_approximate_attrs, fast_and_approximate_mode) >=
                   sizeof(qdq_unary_attrs),
               "calls such as qdq_exp pass the smaller struct");
static const qdq_attr_desc mode_attrs[] = {APPROXIMATE(qdq_approximate_attrs)};

//---- Rows -------------------------------------------------------------------

static void infer_bool(qdq_op_context *ctx) {
    ctx->outputs[0] = (qdq_type){QDQ_BOOL, ctx->inputs[0].type.shape};
}

#define PORTS(kind, takes, gives)                           \
    static const qdq_port_desc kind##_inputs[] = {          \
        {"x", offsetof(qdq_unary_attrs, x), false, takes}}; \
    static const qdq_port_desc kind##_outputs[] = {{"y", 0, false, gives}};

PORTS(float_alike, QDQ_SET_FLOATS, QDQ_SET_FLOATS)
PORTS(block_alike, QDQ_SET_REALS, QDQ_SET_REALS)
PORTS(real_alike, QDQ_SET_REALS | QDQ_SET(FLOAT64), QDQ_SET_REALS | QDQ_SET(FLOAT64))
PORTS(number_alike, QDQ_SET_ELEMENTS_BLOCK, QDQ_SET_ELEMENTS_BLOCK)
PORTS(bits_alike, QDQ_SET_ELEMENTS_BITS, QDQ_SET_ELEMENTS_BITS)
PORTS(real_bool, QDQ_SET_ELEMENTS_REAL | QDQ_SET_FLOAT8, QDQ_SET(BOOL))
PORTS(bool_bool, QDQ_SET(BOOL), QDQ_SET(BOOL))

#define INFER_float_alike infer
#define INFER_block_alike infer
#define INFER_real_alike infer
#define INFER_number_alike infer
#define INFER_bits_alike infer
#define INFER_real_bool infer_bool
#define INFER_bool_bool infer_bool

// True if ONNX Runtime has its own algorithm for a function.
#define OF_RUNTIME(function)                                                           \
    ((function) == QDQ_ELEMENTWISE_relu || (function) == QDQ_ELEMENTWISE_hard_swish || \
     (function) == QDQ_ELEMENTWISE_sign || (function) == QDQ_ELEMENTWISE_sigmoid ||    \
     (function) == QDQ_ELEMENTWISE_exp || (function) == QDQ_ELEMENTWISE_log ||         \
     (function) == QDQ_ELEMENTWISE_erf)

// True if target `ttnn` has the chip's kernel of a function.
#define IS_OF(function, name, program) || (function) == QDQ_ELEMENTWISE_##name
#define OF_CHIP(function) (false QDQ_SFPU_FUNCTIONS(IS_OF, function))

static bool cuts_as_relu(const qdq_link *link, float *most) {
    *most = INFINITY;
    return qdq_elements_are_ieee(link);
}

static bool cuts_as_relu6(const qdq_link *link, float *most) {
    *most = 6;
    return qdq_elements_are_ieee(link);
}

static const qdq_op_fusion relu_fusion = {.cuts = cuts_as_relu, .finishes = qdq_elements_finish};
static const qdq_op_fusion relu6_fusion = {.cuts = cuts_as_relu6, .finishes = qdq_elements_finish};

#define FUSION_OF(function)                                \
    ((function) == QDQ_ELEMENTWISE_relu    ? &relu_fusion  \
     : (function) == QDQ_ELEMENTWISE_relu6 ? &relu6_fusion \
                                           : NULL)

#define UNARY(function, op_name, what, kind)                                               \
    static size_t lower_##function(const qdq_op_context *ctx, const qdq_lowering *to,      \
                                   qdq_stage *stages) {                                    \
        return lower_as(ctx, to, stages, QDQ_ELEMENTWISE_##function,                       \
                        (qdq_elementwise_numbers){0});                                     \
    }                                                                                      \
    const qdq_op qdq_op_##function = {                                                     \
        .name = (op_name),                                                                 \
        .summary = (what),                                                                 \
        .attrs_size = HAS_MODE(QDQ_ELEMENTWISE_##function) ? sizeof(qdq_approximate_attrs) \
                                                           : sizeof(qdq_unary_attrs),      \
        .attrs = HAS_MODE(QDQ_ELEMENTWISE_##function) ? mode_attrs : NULL,                 \
        .attr_count = HAS_MODE(QDQ_ELEMENTWISE_##function) ? 1 : 0,                        \
        .inputs = kind##_inputs,                                                           \
        .input_count = 1,                                                                  \
        .outputs = kind##_outputs,                                                         \
        .output_count = 1,                                                                 \
        .infer = INFER_##kind,                                                             \
        .lower = lower_##function,                                                         \
        .by_chip = OF_CHIP(QDQ_ELEMENTWISE_##function),                                    \
        .by_float_ops = OF_RUNTIME(QDQ_ELEMENTWISE_##function),                            \
        .fusion = FUSION_OF(QDQ_ELEMENTWISE_##function),                                   \
    };

QDQ_UNARY_OPS(UNARY)

//---- Within recurrent ops ---------------------------------------------------

#define RECURRENT(attrs_type, text) \
    { "recurrent", QDQ_ATTR_BOOL, offsetof(attrs_type, recurrent), NULL, "false", text }

// True if a node computes as the recurrent ops of ONNX Runtime on x86-64.
static bool is_recurrent(const qdq_op_context *ctx, const qdq_lowering *to, qdq_bool recurrent) {
    qdq_float_ops ops = to->numerics.float_ops;
    return recurrent == QDQ_TRUE && ctx->inputs[0].type.dtype == QDQ_FLOAT32 &&
           (ops == QDQ_FLOAT_OPS_ONNX_RUNTIME || ops == QDQ_FLOAT_OPS_ONNX_RUNTIME_AVX512);
}

_Static_assert(offsetof(qdq_tanh_attrs, recurrent) >= sizeof(qdq_unary_attrs),
               "qdq_tanh passes the smaller struct");
static const qdq_attr_desc tanh_attrs[] = {
    RECURRENT(qdq_tanh_attrs, "onnx, ort: as in GRU; others ignore it"),
    APPROXIMATE(qdq_tanh_attrs)};

static size_t lower_tanh(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_tanh_attrs *a = ctx->attrs;
    bool recurrent = is_recurrent(ctx, to, a->recurrent);
    return lower_as(ctx, to, stages,
                    recurrent ? QDQ_ELEMENTWISE_tanh_recurrent : QDQ_ELEMENTWISE_tanh,
                    (qdq_elementwise_numbers){0});
}

const qdq_op qdq_op_tanh = {
    .name = "Tanh",
    .summary = "y = tanh x",
    .attrs_size = sizeof(qdq_tanh_attrs),
    QDQ_OP_TABLES(block_alike_inputs, block_alike_outputs, tanh_attrs),
    .infer = infer,
    .lower = lower_tanh,
    .by_chip = true,
    .by_float_ops = true,
};

//---- IsInf ------------------------------------------------------------------

static const qdq_port_desc is_inf_inputs[] = {
    {"x", offsetof(qdq_is_inf_attrs, x), false, QDQ_SET_ELEMENTS_REAL | QDQ_SET_FLOAT8}};
static const qdq_attr_desc is_inf_attrs[] = {
    {"detect_negative", QDQ_ATTR_BOOL, offsetof(qdq_is_inf_attrs, detect_negative), NULL, "true",
     "-Infinity counts"},
    {"detect_positive", QDQ_ATTR_BOOL, offsetof(qdq_is_inf_attrs, detect_positive), NULL, "true",
     "+Infinity counts"}};

static size_t lower_is_inf(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_is_inf_attrs *a = ctx->attrs;
    return lower_as(ctx, to, stages, QDQ_ELEMENTWISE_is_inf,
                    (qdq_elementwise_numbers){a->detect_positive == QDQ_FALSE ? 0.0f : 1.0f,
                                              a->detect_negative == QDQ_FALSE ? 0.0f : 1.0f});
}

const qdq_op qdq_op_is_inf = {
    .name = "IsInf",
    .summary = "y = true if x is an infinity",
    .attrs_size = sizeof(qdq_is_inf_attrs),
    QDQ_OP_TABLES(is_inf_inputs, bool_bool_outputs, is_inf_attrs),
    .infer = infer_bool,
    .lower = lower_is_inf,
};

//---- alpha ------------------------------------------------------------------

static const qdq_port_desc alpha_inputs[] = {
    {"x", offsetof(qdq_alpha_attrs, x), false, QDQ_SET_REALS}};
static const qdq_attr_desc alpha_attrs[] = {{"alpha", QDQ_ATTR_FLOAT,
                                             offsetof(qdq_alpha_attrs, alpha), NULL, QDQ_REQUIRED,
                                             "factor below 0"}};

static void infer_alpha(qdq_op_context *ctx) {
    const qdq_alpha_attrs *a = ctx->attrs;
    (void)qdq_require_attr(ctx, "alpha", a->alpha.set != 0);
    infer(ctx);
}

#define ALPHA(id, op_name, function, what, by_runtime)                              \
    static size_t lower_##id(const qdq_op_context *ctx, const qdq_lowering *to,     \
                             qdq_stage *stages) {                                   \
        const qdq_alpha_attrs *a = ctx->attrs;                                      \
        return lower_as(ctx, to, stages, QDQ_ELEMENTWISE_##function,                \
                        (qdq_elementwise_numbers){.alpha = (float)a->alpha.value}); \
    }                                                                               \
    const qdq_op qdq_op_##id = {                                                    \
        .name = (op_name),                                                          \
        .summary = (what),                                                          \
        .attrs_size = sizeof(qdq_alpha_attrs),                                      \
        QDQ_OP_TABLES(alpha_inputs, block_outputs, alpha_attrs),                    \
        .infer = infer_alpha,                                                       \
        .lower = lower_##id,                                                        \
        .by_chip = true,                                                            \
        .by_float_ops = (by_runtime),                                               \
    };

ALPHA(leaky_relu, "LeakyReLU", leaky_relu, "y = x > 0 ? x : alpha * x", true)
ALPHA(elu, "Elu", elu, "y = x > 0 ? x : alpha * (e^x - 1)", false)

//---- HardSigmoid ------------------------------------------------------------

static const qdq_port_desc hard_sigmoid_inputs[] = {
    {"x", offsetof(qdq_hard_sigmoid_attrs, x), false, QDQ_SET_REALS}};
static const qdq_attr_desc hard_sigmoid_attrs[] = {
    {"alpha", QDQ_ATTR_FLOAT, offsetof(qdq_hard_sigmoid_attrs, alpha), NULL, QDQ_REQUIRED,
     "factor"},
    {"beta", QDQ_ATTR_FLOAT, offsetof(qdq_hard_sigmoid_attrs, beta), NULL, QDQ_REQUIRED, "term"}};

static void infer_hard_sigmoid(qdq_op_context *ctx) {
    const qdq_hard_sigmoid_attrs *a = ctx->attrs;
    (void)qdq_require_attr(ctx, "alpha", a->alpha.set != 0);
    (void)qdq_require_attr(ctx, "beta", a->beta.set != 0);
    infer(ctx);
}

static size_t lower_hard_sigmoid(const qdq_op_context *ctx, const qdq_lowering *to,
                                 qdq_stage *stages) {
    const qdq_hard_sigmoid_attrs *a = ctx->attrs;
    return lower_as(ctx, to, stages, QDQ_ELEMENTWISE_hard_sigmoid,
                    (qdq_elementwise_numbers){(float)a->alpha.value, (float)a->beta.value});
}

const qdq_op qdq_op_hard_sigmoid = {
    .name = "HardSigmoid",
    .summary = "y = max(0, min(1, alpha * x + beta))",
    .attrs_size = sizeof(qdq_hard_sigmoid_attrs),
    QDQ_OP_TABLES(hard_sigmoid_inputs, block_outputs, hard_sigmoid_attrs),
    .infer = infer_hard_sigmoid,
    .lower = lower_hard_sigmoid,
    .by_chip = true,
    .by_float_ops = true,
};

//---- Clamp ------------------------------------------------------------------

static const qdq_port_desc clamp_inputs[] = {
    {"x", offsetof(qdq_clamp_attrs, x), false, QDQ_SET_FLOATS}};
static const qdq_attr_desc clamp_attrs[] = {
    {"min", QDQ_ATTR_FLOAT, offsetof(qdq_clamp_attrs, min), NULL, QDQ_REQUIRED, "least result"},
    {"max", QDQ_ATTR_FLOAT, offsetof(qdq_clamp_attrs, max), NULL, QDQ_REQUIRED, "greatest result"},
    RECURRENT(qdq_clamp_attrs, "onnx, ort: NaN gives max, as in LSTM and GRU; others ignore it")};

static void infer_clamp(qdq_op_context *ctx) {
    const qdq_clamp_attrs *a = ctx->attrs;
    bool given = qdq_require_attr(ctx, "min", a->min.set != 0);
    given &= qdq_require_attr(ctx, "max", a->max.set != 0);
    if (given && !(a->min.value <= a->max.value))
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "min",
                             qdq_text_is(ctx->findings, a->min.value),
                             qdq_text(ctx->findings, "at most max, which %s",
                                      qdq_text_is(ctx->findings, a->max.value)));
    infer(ctx);
}

static size_t lower_clamp(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_clamp_attrs *a = ctx->attrs;
    bool recurrent = is_recurrent(ctx, to, a->recurrent);
    return lower_as(ctx, to, stages,
                    recurrent ? QDQ_ELEMENTWISE_clamp_recurrent : QDQ_ELEMENTWISE_clamp,
                    (qdq_elementwise_numbers){(float)a->min.value, (float)a->max.value});
}

static const qdq_op_fusion clamp_fusion = {.finishes = qdq_elements_finish};

const qdq_op qdq_op_clamp = {
    .name = "Clamp",
    .summary = "y = min(max(x, min), max)",
    .attrs_size = sizeof(qdq_clamp_attrs),
    QDQ_OP_TABLES(clamp_inputs, outputs, clamp_attrs),
    .infer = infer_clamp,
    .lower = lower_clamp,
    .by_float_ops = true,
    .fusion = &clamp_fusion,
};

//---- GELU -------------------------------------------------------------------

static const char *const gelu_modes[] = {"gelu_erf", "gelu_tanh", NULL};
static const qdq_port_desc gelu_inputs[] = {
    {"x", offsetof(qdq_gelu_attrs, x), false, QDQ_SET_REALS}};
static const qdq_attr_desc gelu_attrs[] = {{"mode", QDQ_ATTR_WORD, offsetof(qdq_gelu_attrs, mode),
                                            gelu_modes, "gelu_erf",
                                            "by the error function, or the approximation by tanh"},
                                           APPROXIMATE(qdq_gelu_attrs)};

static size_t lower_gelu(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_gelu_attrs *a = ctx->attrs;
    return lower_as(ctx, to, stages,
                    a->mode == QDQ_GELU_TANH ? QDQ_ELEMENTWISE_gelu_tanh : QDQ_ELEMENTWISE_gelu_erf,
                    (qdq_elementwise_numbers){0});
}

const qdq_op qdq_op_gelu = {
    .name = "GELU",
    .summary = "y = x / 2 * (1 + erf(x / sqrt 2))",
    .attrs_size = sizeof(qdq_gelu_attrs),
    QDQ_OP_TABLES(gelu_inputs, block_outputs, gelu_attrs),
    .infer = infer,
    .lower = lower_gelu,
    .by_chip = true,
    .by_float_ops = true,
};
