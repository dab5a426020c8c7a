// SPDX-License-Identifier: Apache-2.0
// The worked examples of docs/numerics.md: each is computed by the library and must stand in the
// document as it is printed here, and every field of qdq_numerics has one. The numbers there were
// worked out with exact fractions. Usage: test_numerics_examples NUMERICS_MD
#include <inttypes.h>
#include <math.h>
#include <qdq/qdq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

typedef enum kind {
    QUANTIZE,
    QUANTIZE_AT_RUN_TIME,
    QUANTIZE_FLOAT_DOMAIN,
    DEQUANTIZE,
    DYNAMIC_QUANTIZE,  // symmetric
    DYNAMIC_POWERS,    // mx_floor
    DYNAMIC_LANES,     // asymmetric
    REQUANTIZE,
    CAST,
    HARD_SWISH,
    RECIPROCAL_OF,
    SQRT_OF,
    SQUARE_OF,
    GELU_APPROXIMATE,
    MATMUL_INTEGER,  // by a constant matrix
    QLINEAR_ADD      // of 0
} kind;

// One row of a table: an op on a few elements, under some numerics.
typedef struct example {
    const char *setting;
    kind kind;
    qdq_numerics numerics;
    qdq_dtype x, y;
    double elements[MOST];
    size_t count;
    float scale, out_scale;
    double zero_point, out_zero_point;
} example;

#define ON(...) .numerics = {__VA_ARGS__}
#define OF(...) .elements = {__VA_ARGS__}, .count = sizeof((double[]){__VA_ARGS__}) / sizeof(double)
#define QUANTIZE_TO(dtype) .kind = QUANTIZE, .x = QDQ_FLOAT32, .y = QDQ_##dtype
#define QUANTIZE_BY_REAL_ZERO .kind = QUANTIZE_FLOAT_DOMAIN, .x = QDQ_FLOAT32, .y = QDQ_UINT4
#define DYNAMIC_TO(dtype) .kind = DYNAMIC_QUANTIZE, .x = QDQ_FLOAT32, .y = QDQ_##dtype
#define POWERS_TO(dtype) .kind = DYNAMIC_POWERS, .x = QDQ_FLOAT32, .y = QDQ_##dtype
#define CAST_TO(dtype) .kind = CAST, .x = QDQ_FLOAT32, .y = QDQ_##dtype
#define DEQUANTIZE_TO(dtype) .kind = DEQUANTIZE, .x = QDQ_INT32, .y = QDQ_##dtype
#define REQUANTIZE_TO(dtype) .kind = REQUANTIZE, .x = QDQ_INT32, .y = QDQ_##dtype

// clang-format off
#define ROUNDING(mode) \
    {"rounding = " #mode, QUANTIZE_TO(INT8), ON(.rounding = mode), .scale = 1, OF(2.5, -2.5, 2.7, -2.7, 0.49999997)}
#define SCALING(mode) \
    {"scaling = " #mode, QUANTIZE_TO(INT8), ON(.scaling = mode), .scale = 0.3f, OF(2.25, 0.9)}
#define QUOTIENT(mode) \
    {"scaling = " #mode, QUANTIZE_TO(INT8), ON(.scaling = mode, .rounding = QDQ_ROUND_HALF_AWAY), .scale = 0.3f, OF(0.75, 0.9)}
#define ORDER(mode) \
    {"zero_point_order = " #mode, QUANTIZE_TO(INT8), ON(.zero_point_order = mode), .scale = 2.1f, .zero_point = 1, OF(15.75, 1.05)}
#define FAR_ORDER(mode) \
    {"zero_point_order = " #mode, QUANTIZE_TO(INT32), ON(.zero_point_order = mode), .scale = 1, .zero_point = 16777217, OF(0, 2)}
#define OVERFLOW(mode) \
    {"overflow = " #mode, QUANTIZE_TO(INT8), ON(.overflow = mode), .scale = 1, OF(200, -129, 1e10, -1e10, -3)}
#define CONVERTED(mode) \
    {"overflow = " #mode, QUANTIZE_TO(INT8), ON(.overflow = mode), .scale = 1, .zero_point = 3, OF(NAN, 1e10, -1e10, 200)}
#define FLOAT_RANGE(mode) \
    {"overflow = " #mode, QUANTIZE_TO(INT32), ON(.overflow = mode), .scale = 1, OF(3e9, -3e9, 5)}
#define CAST_CONVERTS(mode) \
    {"overflow = " #mode, CAST_TO(UINT8), ON(.overflow = mode), OF(300, -1, 1e10, NAN)}
#define NOT_A_NUMBER(mode) \
    {"nan = " #mode, QUANTIZE_TO(INT8), ON(.nan = mode), .scale = 1, .zero_point = 5, OF(NAN, 0)}
#define SUBTRACTION(mode) \
    {"subtraction = " #mode, DEQUANTIZE_TO(FLOAT32), ON(.subtraction = mode), .scale = 1, .zero_point = 1, OF(16777217, 5)}
#define FORM(mode) \
    {"requantize_form = " #mode, REQUANTIZE_TO(INT8), ON(.requantize_form = mode), .scale = 0.1f, .zero_point = 1, \
     .out_scale = 0.6f, OF(10, 34, 106)}
#define FIXED_FORM(mode) \
    {"requantize_form = " #mode, REQUANTIZE_TO(INT8), ON(.requantize_form = mode), .scale = 0.25f, \
     .out_scale = 1, OF(-10, -6, -3, 10)}
#define STORE(mode) \
    {"bfloat16_store = " #mode, DEQUANTIZE_TO(BFLOAT16), ON(.bfloat16_store = mode), .scale = 1, OF(257, 259, -257)}
#define SMALL_STORE(mode) \
    {"bfloat16_store = " #mode, DEQUANTIZE_TO(BFLOAT16), ON(.bfloat16_store = mode), .scale = 0x1p-130f, OF(1, 15, 16, -15)}
#define FLOAT_OVERFLOW(mode) \
    {"float_overflow = " #mode, QUANTIZE_TO(FLOAT8_E4M3FN), ON(.float_overflow = mode), .scale = 1, OF(464.12, 500, 17.001)}
#define CHOICE(mode, ...) \
    {"choice = " #mode, DYNAMIC_TO(INT8), ON(.choice = mode), OF(__VA_ARGS__)}
#define POWERS(mode) \
    {"choice = " #mode, POWERS_TO(FLOAT8_E4M3FN), ON(.choice = mode), OF(INFINITY, 1)}
#define LANES(mode) \
    {"choice = " #mode, .kind = DYNAMIC_LANES, .x = QDQ_FLOAT32, .y = QDQ_UINT8, ON(.choice = mode), OF(100, 1, 1, 1, NAN, 1, 1, 1)}
#define POWER_SCALE(mode) \
    {"power_scale = " #mode, POWERS_TO(FLOAT8_E4M3FN), ON(.power_scale = mode), OF(0x1p-126)}
#define CAST_FORM(mode) \
    {"cast_form = " #mode, CAST_TO(FLOAT8_E8M0), ON(.cast_form = mode), OF(5, -3.5, INFINITY)}
#define CAST_HALF(mode) \
    {"cast_form = " #mode, CAST_TO(FLOAT16), ON(.cast_form = mode), OF(-0.0, -1e-10)}
#define CAST_NARROW(mode) \
    {"cast_form = " #mode, CAST_TO(INT4), ON(.cast_form = mode), OF(0.5, 2.5, 9)}
#define INPUT(dtype) \
    {"input_dtype = " #dtype, QUANTIZE_TO(INT32), ON(.input_dtype = dtype), .scale = 0.5f, OF(257, 3)}
#define SCALE(dtype) \
    {"scale_dtype = " #dtype, QUANTIZE_TO(INT8), ON(.scale_dtype = dtype), .scale = 0.3f, OF(32, -32)}
#define RECIPROCAL(dtype) \
    {"reciprocal_dtype = " #dtype, QUANTIZE_TO(INT8), ON(.scaling = QDQ_SCALE_RECIPROCAL, .reciprocal_dtype = dtype), \
     .scale = 0.3f, OF(32, 38)}
#define HALF_RANGE(dtype) \
    {"reciprocal_dtype = " #dtype, QUANTIZE_BY_REAL_ZERO, ON(.reciprocal_dtype = dtype), .scale = 0.3f, .zero_point = 2.4, \
     OF(0.45, 0.9)}
#define MIDDLE(dtype) \
    {"middle_dtype = " #dtype, QUANTIZE_BY_REAL_ZERO, ON(.middle_dtype = dtype), .scale = 1, .zero_point = 265, OF(260, 265)}
#define STEP(dtype) \
    {"quantize_step_dtype = " #dtype, QUANTIZE_TO(INT32), ON(.quantize_step_dtype = dtype), .scale = 1, OF(257, 3)}
#define BACK_STEP(dtype) \
    {"dequantize_step_dtype = " #dtype, DEQUANTIZE_TO(FLOAT32), \
     ON(.subtraction = QDQ_SUBTRACT_FLOAT, .dequantize_step_dtype = dtype), .scale = 1, .zero_point = 299, OF(300, 310)}
#define BETWEEN(dtype) \
    {"requantize_dtype = " #dtype, REQUANTIZE_TO(INT32), ON(.requantize_dtype = dtype), .scale = 1, .out_scale = 1, OF(257, 3)}
#define BIAS(bias) \
    {"code_bias = " #bias, DEQUANTIZE_TO(FLOAT32), ON(.subtraction = QDQ_SUBTRACT_FLOAT, .code_bias = bias), .scale = 1, \
     OF(16777089, 5)}
#define FLUSH(yes) \
    {"flush_denormals = " #yes, QUANTIZE_TO(INT8), ON(.flush_denormals = yes), .scale = 0x1p-126f, OF(0x0.cp-126, 0x1.4p-126)}
#define FLUSH_BACK(yes) \
    {"flush_denormals = " #yes, DEQUANTIZE_TO(FLOAT32), ON(.flush_denormals = yes), .scale = -1, OF(0, 5)}
#define UNIT(tolerance) \
    {"unit_scale_tolerance = " #tolerance, QUANTIZE_TO(INT8), ON(.unit_scale_tolerance = tolerance##f), .scale = 1 + 0x1p-20f, \
     OF(126.50012, 5)}
#define LEAST(scale) \
    {"least_scale = " #scale, DYNAMIC_TO(INT8), ON(.least_scale = scale##f), OF(0.02, -0.5)}
#define INVERSE(mode) \
    {"scaling = " #mode, QUANTIZE_TO(INT8), ON(.scaling = mode, .multiply_add = QDQ_MULTIPLY_ADD_WORMHOLE), .scale = 0.03f, \
     OF(0.044999998062849045)}
#define MULTIPLY_ADD(mode) \
    {"multiply_add = " #mode, QUANTIZE_TO(INT8), \
     ON(.multiply_add = mode, .zero_point_order = QDQ_ZERO_POINT_FMA, .rounding = QDQ_ROUND_HALF_AWAY, .nan = QDQ_NAN_BY_SIGN), \
     .scale = 0.03f, .zero_point = 127, OF(-5.684999465942383, NAN, -NAN)}
#define GENERATION(which) \
    {"sfpu_generation = " #which, .kind = RECIPROCAL_OF, .x = QDQ_BFLOAT16, .y = QDQ_BFLOAT16, \
     ON(.multiply_add = QDQ_MULTIPLY_ADD_WORMHOLE, .sfpu_generation = which), OF(1.34375, 1.9921875, 3)}
#define STEP_OF(field, of, ...) \
    {#field " = false", .kind = of, .x = QDQ_BFLOAT16, .y = QDQ_BFLOAT16, ON(.multiply_add = QDQ_MULTIPLY_ADD_WORMHOLE), OF(__VA_ARGS__)}, \
    {#field " = true", .kind = of, .x = QDQ_BFLOAT16, .y = QDQ_BFLOAT16, ON(.multiply_add = QDQ_MULTIPLY_ADD_WORMHOLE, .field = true), \
     OF(__VA_ARGS__)}
#define LOAD(mode) \
    {"bfloat16_load = " #mode, .kind = QUANTIZE, .x = QDQ_BFLOAT16, .y = QDQ_INT8, ON(.bfloat16_load = mode), .scale = 1, \
     OF(NAN, -NAN, 5)}
#define FOLD(yes) \
    {"fold_128 = " #yes, QUANTIZE_TO(INT8), \
     ON(.fold_128 = yes, .zero_point_order = QDQ_ZERO_POINT_FMA, .rounding = QDQ_ROUND_HALF_AWAY), .scale = 1, OF(0.49999997, 2.5)}
#define SIGN_MAGNITUDE(yes) \
    {"sign_magnitude = " #yes, DEQUANTIZE_TO(FLOAT32), ON(.sign_magnitude = yes, .subtraction = QDQ_SUBTRACT_FLOAT), .scale = 1, \
     .zero_point = 1, OF(-2147483648.0, 5)}
#define CAST_QUANTIZES(yes) \
    {"cast_quantizes = " #yes, CAST_TO(INT4), ON(.cast_quantizes = yes), OF(9, -9, 2.5, NAN)}
#define TYPECAST(yes) \
    {"device_typecast = " #yes, CAST_TO(UINT8), ON(.device_typecast = yes), OF(300, -3, 2.75, NAN)}
#define BLOCK_STORE(mode) \
    {"block_float_store = " #mode, CAST_TO(BFLOAT8_B), ON(.block_float_store = mode), OF(2, 1.0078125, 1.015625)}
#define FLOAT_OPS(mode) \
    {"float_ops = " #mode, .kind = HARD_SWISH, .x = QDQ_FLOAT32, .y = QDQ_FLOAT32, ON(.float_ops = mode), OF(1.3, -1.3, 3)}
#define PAIR_SUMS(mode) \
    {"pair_sums = " #mode, .kind = MATMUL_INTEGER, .x = QDQ_UINT8, .y = QDQ_INT32, ON(.pair_sums = mode), OF(255, 255)}
#define QLINEAR(mode) \
    {"qlinear = " #mode, .kind = QLINEAR_ADD, .x = QDQ_INT8, .y = QDQ_INT8, ON(.qlinear = mode), .scale = 0.06f, \
     .out_scale = 1, .out_zero_point = -2, OF(25, 75)}
#define AT_RUN_TIME(text, s) \
    {"s = " text, .kind = QUANTIZE_AT_RUN_TIME, .x = QDQ_FLOAT32, .y = QDQ_INT8, .scale = (s), .zero_point = 3, \
     OF(1, -1, 0, INFINITY, -INFINITY, NAN)}
// clang-format on

static const example examples[] = {
    AT_RUN_TIME("0", 0.0f),
    AT_RUN_TIME("-0", -0.0f),
    AT_RUN_TIME("-1", -1.0f),
    AT_RUN_TIME("Infinity", INFINITY),
    AT_RUN_TIME("NaN", NAN),
    ROUNDING(QDQ_ROUND_HALF_EVEN),
    ROUNDING(QDQ_ROUND_HALF_AWAY),
    ROUNDING(QDQ_ROUND_HALF_UP),
    ROUNDING(QDQ_ROUND_TRUNCATE),
    ROUNDING(QDQ_ROUND_HALF_UP_BIASED),
    SCALING(QDQ_SCALE_DIVIDE),
    SCALING(QDQ_SCALE_RECIPROCAL),
    QUOTIENT(QDQ_SCALE_DIVIDE),
    QUOTIENT(QDQ_SCALE_DIVIDE_TO_ZERO),
    INVERSE(QDQ_SCALE_RECIPROCAL),
    INVERSE(QDQ_SCALE_DEVICE_RECIPROCAL),
    ORDER(QDQ_ZERO_POINT_AFTER),
    ORDER(QDQ_ZERO_POINT_BEFORE),
    ORDER(QDQ_ZERO_POINT_FMA),
    ORDER(QDQ_ZERO_POINT_AFTER_FLOAT),
    ORDER(QDQ_ZERO_POINT_AFTER_MAGIC),
    FAR_ORDER(QDQ_ZERO_POINT_AFTER),
    FAR_ORDER(QDQ_ZERO_POINT_AFTER_FLOAT),
    OVERFLOW(QDQ_OVERFLOW_SATURATE),
    OVERFLOW(QDQ_OVERFLOW_WRAP),
    OVERFLOW(QDQ_OVERFLOW_MAGNITUDE),
    OVERFLOW(QDQ_OVERFLOW_X86),
    OVERFLOW(QDQ_OVERFLOW_ARM),
    CONVERTED(QDQ_OVERFLOW_SATURATE),
    CONVERTED(QDQ_OVERFLOW_X86),
    CONVERTED(QDQ_OVERFLOW_ARM),
    FLOAT_RANGE(QDQ_OVERFLOW_SATURATE),
    FLOAT_RANGE(QDQ_OVERFLOW_FLOAT_RANGE),
    CAST_CONVERTS(QDQ_OVERFLOW_SATURATE),
    CAST_CONVERTS(QDQ_OVERFLOW_X86),
    CAST_CONVERTS(QDQ_OVERFLOW_ARM),
    NOT_A_NUMBER(QDQ_NAN_QUANT_MIN),
    NOT_A_NUMBER(QDQ_NAN_QUANT_MAX),
    NOT_A_NUMBER(QDQ_NAN_ZERO_POINT),
    NOT_A_NUMBER(QDQ_NAN_BY_SIGN),
    NOT_A_NUMBER(QDQ_NAN_LOW_BITS),
    SUBTRACTION(QDQ_SUBTRACT_EXACT),
    SUBTRACTION(QDQ_SUBTRACT_FLOAT),
    FORM(QDQ_REQUANTIZE_PAIR),
    FORM(QDQ_REQUANTIZE_FUSED),
    FORM(QDQ_REQUANTIZE_EXPANDED),
    FIXED_FORM(QDQ_REQUANTIZE_PAIR),
    FIXED_FORM(QDQ_REQUANTIZE_FIXED_DOUBLE),
    FIXED_FORM(QDQ_REQUANTIZE_FIXED_UP),
    FIXED_FORM(QDQ_REQUANTIZE_FIXED_SINGLE),
    STORE(QDQ_BFLOAT16_HALF_EVEN),
    STORE(QDQ_BFLOAT16_DEVICE),
    STORE(QDQ_BFLOAT16_TRUNCATE),
    STORE(QDQ_BFLOAT16_FLUSH),
    SMALL_STORE(QDQ_BFLOAT16_HALF_EVEN),
    SMALL_STORE(QDQ_BFLOAT16_DEVICE),
    SMALL_STORE(QDQ_BFLOAT16_TRUNCATE),
    SMALL_STORE(QDQ_BFLOAT16_FLUSH),
    FLOAT_OVERFLOW(QDQ_FLOAT_SATURATE),
    FLOAT_OVERFLOW(QDQ_FLOAT_OVERFLOW),
    FLOAT_OVERFLOW(QDQ_FLOAT_THROUGH_FLOAT16),
    CHOICE(QDQ_CHOOSE_CORE, 1, 3, 4),
    CHOICE(QDQ_CHOOSE_TORCHAO, 1, 3, 4),
    CHOICE(QDQ_CHOOSE_CORE, 1, NAN, 4),
    CHOICE(QDQ_CHOOSE_TORCHAO, 1, NAN, 4),
    POWERS(QDQ_CHOOSE_TORCHAO),
    POWERS(QDQ_CHOOSE_TORCHAO_0_18),
    LANES(QDQ_CHOOSE_CORE),
    LANES(QDQ_CHOOSE_ORT_X86),
    LANES(QDQ_CHOOSE_ORT_ARM),
    INPUT(QDQ_DTYPE_NONE),
    INPUT(QDQ_BFLOAT16),
    SCALE(QDQ_DTYPE_NONE),
    SCALE(QDQ_BFLOAT16),
    RECIPROCAL(QDQ_DTYPE_NONE),
    RECIPROCAL(QDQ_BFLOAT16),
    HALF_RANGE(QDQ_DTYPE_NONE),
    HALF_RANGE(QDQ_BFLOAT16),
    MIDDLE(QDQ_DTYPE_NONE),
    MIDDLE(QDQ_BFLOAT16),
    STEP(QDQ_DTYPE_NONE),
    STEP(QDQ_BFLOAT16),
    BACK_STEP(QDQ_DTYPE_NONE),
    BACK_STEP(QDQ_BFLOAT16),
    BETWEEN(QDQ_DTYPE_NONE),
    BETWEEN(QDQ_BFLOAT16),
    BIAS(0),
    BIAS(128),
    FLUSH(false),
    FLUSH(true),
    FLUSH_BACK(false),
    FLUSH_BACK(true),
    MULTIPLY_ADD(QDQ_MULTIPLY_ADD_IEEE),
    MULTIPLY_ADD(QDQ_MULTIPLY_ADD_WORMHOLE),
    MULTIPLY_ADD(QDQ_MULTIPLY_ADD_BLACKHOLE),
    GENERATION(QDQ_SFPU_2026_10),
    GENERATION(QDQ_SFPU_AFTER_2026_10),
    STEP_OF(sfpu_keep_nan, SQRT_OF, -1, 2),
    STEP_OF(sfpu_round_store, SQUARE_OF, 1.0859375, 1.5),
    STEP_OF(sfpu_wide_dst, HARD_SWISH, 0.12060546875, 1),
    STEP_OF(sfpu_accurate, GELU_APPROXIMATE, 0, 1),
    LOAD(QDQ_BFLOAT16_LOAD_EXACT),
    LOAD(QDQ_BFLOAT16_LOAD_DEVICE),
    FOLD(false),
    FOLD(true),
    SIGN_MAGNITUDE(false),
    SIGN_MAGNITUDE(true),
    UNIT(0.0),
    UNIT(1e-6),
    LEAST(0.0),
    LEAST(0.01),
    CAST_QUANTIZES(false),
    CAST_QUANTIZES(true),
    TYPECAST(false),
    TYPECAST(true),
    CAST_FORM(QDQ_CAST_TEXT),
    CAST_FORM(QDQ_CAST_TORCH),
    CAST_HALF(QDQ_CAST_TEXT),
    CAST_HALF(QDQ_CAST_ONEDNN),
    CAST_NARROW(QDQ_CAST_TEXT),
    CAST_NARROW(QDQ_CAST_ONNX_RUNTIME),
    POWER_SCALE(QDQ_POWER_SCALE_EXACT),
    POWER_SCALE(QDQ_POWER_SCALE_NORMAL),
    POWER_SCALE(QDQ_POWER_SCALE_ONE),
    BLOCK_STORE(QDQ_BLOCK_FLOAT_HOST),
    BLOCK_STORE(QDQ_BLOCK_FLOAT_DEVICE),
    BLOCK_STORE(QDQ_BLOCK_FLOAT_PRECISE),
    FLOAT_OPS(QDQ_FLOAT_OPS_CORE),
    FLOAT_OPS(QDQ_FLOAT_OPS_ONNX_RUNTIME),
    FLOAT_OPS(QDQ_FLOAT_OPS_ONNX_RUNTIME_AVX512),
    FLOAT_OPS(QDQ_FLOAT_OPS_ONNX_RUNTIME_ARM),
    FLOAT_OPS(QDQ_FLOAT_OPS_ONEDNN),
    PAIR_SUMS(QDQ_PAIR_SUMS_EXACT),
    PAIR_SUMS(QDQ_PAIR_SUMS_SATURATE),
    QLINEAR(QDQ_QLINEAR_FMA),
    QLINEAR(QDQ_QLINEAR_SSE),
    QLINEAR(QDQ_QLINEAR_ARM),
    QLINEAR(QDQ_QLINEAR_FMA64),
    {"narrow = false", QUANTIZE_TO(INT8), ON(0), .scale = 1, OF(-200, 200)},
    {"narrow = true, quant_min = -127, quant_max = 127", QUANTIZE_TO(INT8),
     ON(.narrow = true, .quant_min = -127, .quant_max = 127), .scale = 1, OF(-200, 200)},
};

//---- Computing --------------------------------------------------------------

static qdq_value add_qlinear(qdq_graph *graph, const example *e, qdq_value x) {
    const int8_t none = 0, zero = (int8_t)e->out_zero_point;
    qdq_value scale = qdq_constant(graph, "x_scale", QDQ_FLOAT32, (qdq_shape){0}, &e->scale);
    qdq_value one = qdq_constant(graph, "y_scale", QDQ_FLOAT32, (qdq_shape){0}, &e->out_scale);
    return qdq_qlinear_add(
        graph, (qdq_qlinear_binary_attrs){
                   .a = x,
                   .a_scale = scale,
                   .b = qdq_constant(graph, "none", QDQ_INT8, (qdq_shape){0}, &none),
                   .b_scale = scale,
                   .y_scale = one,
                   .y_zero_point = qdq_constant(graph, "zero", QDQ_INT8, (qdq_shape){0}, &zero)});
}

static qdq_value add_node(qdq_graph *graph, const example *e, qdq_value x) {
    qdq_quantize_attrs attrs = {
        .scales = QDQ_SCALE(e->scale), .zps = QDQ_ZP(e->zero_point), .dtype = e->y};
    if (e->kind == QUANTIZE_FLOAT_DOMAIN) attrs.zero_point_domain = QDQ_DOMAIN_FLOAT;
    if (e->kind == QUANTIZE || e->kind == QUANTIZE_FLOAT_DOMAIN)
        return qdq_quantize(graph, x, attrs);
    if (e->kind == QUANTIZE_AT_RUN_TIME) {
        attrs.scales = (qdq_floats){0};
        attrs.scale = qdq_input(graph, "s", QDQ_FLOAT32, (qdq_shape){0});
        return qdq_quantize(graph, x, attrs);
    }
    if (e->kind == DEQUANTIZE) return qdq_dequantize(graph, x, attrs);
    if (e->kind == CAST) return qdq_cast(graph, x, (qdq_cast_attrs){.dtype = e->y});
    if (e->kind == MATMUL_INTEGER) {
        static const int8_t b[] = {100, 64, 50, 64};
        return qdq_matmul_integer(graph, x, qdq_constant(graph, "b", QDQ_INT8, QDQ_SHAPE(2, 2), b),
                                  (qdq_matmul_integer_attrs){0});
    }
    if (e->kind == QLINEAR_ADD) return add_qlinear(graph, e, x);
    if (e->kind == RECIPROCAL_OF) return qdq_reciprocal(graph, x, (qdq_unary_attrs){0});
    if (e->kind == SQRT_OF) return qdq_sqrt(graph, x, (qdq_unary_attrs){0});
    if (e->kind == SQUARE_OF) return qdq_square(graph, x, (qdq_unary_attrs){0});
    if (e->kind == GELU_APPROXIMATE)
        return qdq_gelu(graph, x, (qdq_gelu_attrs){.fast_and_approximate_mode = QDQ_TRUE});
    if (e->kind == HARD_SWISH) return qdq_hard_swish(graph, x, (qdq_unary_attrs){0});
    if (e->kind >= DYNAMIC_QUANTIZE && e->kind <= DYNAMIC_LANES) {
        qdq_dynamic_quantize_attrs dynamic = {.quantize.dtype = e->y, .scheme = QDQ_SYMMETRIC};
        if (e->kind == DYNAMIC_POWERS) dynamic.scheme = QDQ_MX_FLOOR;
        if (e->kind == DYNAMIC_LANES) dynamic.scheme = QDQ_ASYMMETRIC;
        return qdq_dynamic_quantize(graph, x, dynamic);
    }
    return qdq_requantize(graph, x,
                          (qdq_requantize_attrs){.in_scales = QDQ_SCALE(e->scale),
                                                 .in_zps = QDQ_ZP(e->zero_point),
                                                 .out_scales = QDQ_SCALE(e->out_scale),
                                                 .out_zps = QDQ_ZP(e->out_zero_point),
                                                 .dtype = e->y});
}

// A number that bfloat16 holds.
static void store_bfloat16(float v, uint16_t *code) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    *code = (uint16_t)(bits >> 16);
}

static void store(const example *e, void *data) {
    for (size_t i = 0; i < e->count; i++) {
        if (e->x == QDQ_FLOAT32)
            ((float *)data)[i] = (float)e->elements[i];
        else if (e->x == QDQ_BFLOAT16)
            store_bfloat16((float)e->elements[i], (uint16_t *)data + i);
        else if (e->x == QDQ_UINT8)
            ((uint8_t *)data)[i] = (uint8_t)e->elements[i];
        else if (e->x == QDQ_INT8)
            ((int8_t *)data)[i] = (int8_t)e->elements[i];
        else
            ((int32_t *)data)[i] = (int32_t)e->elements[i];
    }
}

// "2, -2" in `out`.
static void print_elements(const example *e, const void *data, char *out, size_t capacity) {
    float real[MOST];
    int32_t whole[MOST];
    bool is_int = qdq_dtype_get(e->y)->kind == QDQ_KIND_INT;
    if (is_int)
        qdq_widen_int(e->y, data, whole, e->count);
    else
        qdq_widen_float(e->y, data, real, e->count);
    for (size_t i = 0, at = 0; i < e->count; i++) {
        const char *comma = i ? ", " : "";
        int n = is_int ? snprintf(out + at, capacity - at, "%s%" PRId32, comma, whole[i])
                       : snprintf(out + at, capacity - at, "%s%.9g", comma, (double)real[i]);
        at += (size_t)n;
    }
}

static bool compute(const example *e, char *out, size_t capacity) {
    _Alignas(8) char x_data[MOST * 4], y_data[MOST * 4];
    qdq_error err = {0};
    qdq_graph *graph = qdq_graph_create("example", NULL);
    qdq_value x = qdq_input(graph, "x", e->x, QDQ_SHAPE((int64_t)e->count));
    qdq_output(graph, "y", add_node(graph, e, x));
    qdq_plan *plan =
        qdq_graph_compile(graph, &(qdq_compile_options){.numerics = &e->numerics}, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    store(e, x_data);
    bool done = exec && qdq_exec_write(exec, "x", e->x, x_data, e->count, &err) == QDQ_OK;
    if (done && e->kind == QUANTIZE_AT_RUN_TIME)
        done = qdq_exec_write(exec, "s", QDQ_FLOAT32, &e->scale, 1, &err) == QDQ_OK;
    if (done) qdq_exec_run(exec);
    done = done && qdq_exec_read(exec, "y", e->y, y_data, e->count, &err) == QDQ_OK;
    if (done)
        print_elements(e, y_data, out, capacity);
    else
        snprintf(out, capacity, "%.200s", err.text);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(graph);
    return done;
}

//---- Comparing --------------------------------------------------------------

static char *read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(1, 1 << 20) : NULL;
    size_t used = text ? fread(text, 1, (1 << 20) - 1, file) : 0;
    if (file) fclose(file);
    if (used) return text;
    free(text);
    return NULL;
}

// Whether a row of some table shows what a field does.
static bool has_example(const char *document, const char *field) {
    char first[64], later[64];
    snprintf(first, sizeof first, "| `%s = ", field);
    snprintf(later, sizeof later, ", %s = ", field);
    return strstr(document, first) || strstr(document, later);
}

static int check_fields(const char *document) {
    static const char *const fields[] = {
#define NAME(field, cause) #field,
        QDQ_NUMERICS_FIELDS(NAME)
#undef NAME
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (has_example(document, fields[i])) continue;
        printf("FAIL %s: the document has no example of this field\n", fields[i]);
        failures++;
    }
    return failures;
}

int main(int argc, char **argv) {
    char *document = argc == 2 ? read_all(argv[1]) : NULL;
    int failures = 0;
    if (!document) {
        fprintf(stderr, "usage: test_numerics_examples NUMERICS_MD, which can be read\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        char result[256], row[512];
        bool done = compute(&examples[i], result, sizeof result);
        snprintf(row, sizeof row, "| `%s` | %s |", examples[i].setting, result);
        if (done && strstr(document, row)) {
            printf("ok %s\n", examples[i].setting);
        } else {
            printf("FAIL %s: the document lacks the row %s\n", examples[i].setting, row);
            failures++;
        }
    }
    failures += check_fields(document);
    free(document);
    return failures > 0;
}
