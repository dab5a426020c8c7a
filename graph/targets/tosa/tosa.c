// SPDX-License-Identifier: Apache-2.0
// TOSA 1.0's integer profile, whose RESCALE is a Requantize by multiplier and shift. A program that
// TOSA leaves undefined (a sum or a rescaled number beyond int32) is not found: it depends on data.
#include <string.h>

#include "graph/targets/target_ops.h"
#include "include/qdq/ops/integer.h"
#include "ops/quantize/requantize_fixed.h"

#define SPEC "TOSA 1.0, "

typedef qdq_requantize_attrs attrs_type;

//---- RESCALE ----------------------------------------------------------------

static void rescale_multiplier(const qdq_op_context *ctx, const qdq_rule *rule) {
    const attrs_type *a = ctx->attrs;
    bool wide = ctx->inputs[QDQ_PORT_X].type.dtype == QDQ_INT64;
    double most = wide ? INT16_MAX : INT32_MAX;
    if (!qdq_is_fixed_requantize(ctx)) {
        qdq_report_target_violation(ctx, rule, "multiplier", "is not given",
                                    "multiplier and shift");
        return;
    }
    for (size_t i = 0; i < a->multiplier.count; i++) {
        if (a->multiplier.data[i] >= 0 && a->multiplier.data[i] <= most) continue;
        qdq_report_target_violation(ctx, rule, "multiplier",
                                    qdq_text_number(ctx->findings, a->multiplier.data[i], i, false),
                                    wide ? "0 to 32767, as x has 48 bits"
                                         : "a number of at least 0");
        return;
    }
}

static void rescale_shift(const qdq_op_context *ctx, const qdq_rule *rule) {
    const attrs_type *a = ctx->attrs;
    for (size_t i = 0; i < a->shift.count; i++) {
        if (a->shift.data[i] >= 2) continue;
        qdq_report_target_violation(ctx, rule, "shift",
                                    qdq_text_number(ctx->findings, a->shift.data[i], i, false),
                                    "2 to 62");
        return;
    }
}

static void rescale_rounding(const qdq_op_context *ctx, const qdq_rule *rule) {
    static const char *const found[] = {[QDQ_FIXED_UP] = "is up",
                                        [QDQ_FIXED_FLOAT32] = "is float32",
                                        [QDQ_FIXED_FLOAT64] = "is float64",
                                        [QDQ_FIXED_INEXACT] = NULL};
    const attrs_type *a = ctx->attrs;
    if (found[a->rounding])
        qdq_report_target_violation(ctx, rule, "rounding", found[a->rounding],
                                    "single, double or inexact");
}

static void rescale_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    const qdq_dtype_set inputs = QDQ_SET(INT8) | QDQ_SET(UINT8) | QDQ_SET(INT16) | QDQ_SET(UINT16) |
                                 QDQ_SET(INT32) | QDQ_SET(INT64);
    bool takes_unsigned = x == QDQ_UINT8 || x == QDQ_UINT16;
    bool makes_unsigned = y == QDQ_UINT8 || y == QDQ_UINT16;
    bool narrow = x == QDQ_INT8 || x == QDQ_INT16;
    qdq_expect_x(ctx, rule, inputs);
    qdq_expect_y(ctx, rule, inputs & ~QDQ_SET(INT64));
    if ((takes_unsigned && (makes_unsigned || y == QDQ_INT32)) || (makes_unsigned && !narrow))
        qdq_report_target_violation(
            ctx, rule, "dtype",
            qdq_text(ctx->findings, "is %s, and x is %s", qdq_dtype_name(y), qdq_dtype_name(x)),
            takes_unsigned ? "int8 or int16" : "int8, int16 or int32");
}

static bool has_zero_point(qdq_dtype dtype) {
    return dtype == QDQ_INT8 || dtype == QDQ_UINT8 || dtype == QDQ_UINT16;
}

static void check_zero_point(const qdq_op_context *ctx, const qdq_rule *rule, const char *port,
                             qdq_dtype dtype) {
    qdq_argument zero = qdq_argument_of(ctx, port);
    if (!zero.given) return;
    if (zero.count != 1) {
        qdq_report_target_violation(ctx, rule, zero.name,
                                    qdq_text(ctx->findings, "has %zu elements", zero.count), "one");
        return;
    }
    double z = zero.known ? qdq_argument_at(&zero, 0) : 0;
    if (z != 0 && (!has_zero_point(dtype) || (dtype == QDQ_UINT16 && z != 32768)))
        qdq_report_target_violation(
            ctx, rule, zero.name, qdq_text_is(ctx->findings, z),
            dtype == QDQ_UINT16
                ? "0 or 32768, as the codes are uint16"
                : qdq_text(ctx->findings, "0, as the codes are %s", qdq_dtype_name(dtype)));
}

static void rescale_zero_point(const qdq_op_context *ctx, const qdq_rule *rule) {
    check_zero_point(ctx, rule, "in_zero_point", ctx->inputs[QDQ_PORT_X].type.dtype);
    check_zero_point(ctx, rule, "out_zero_point", ctx->outputs[0].dtype);
}

static void rescale_axis(const qdq_op_context *ctx, const qdq_rule *rule) {
    int last = ctx->inputs[QDQ_PORT_X].type.shape.rank - 1, axis = qdq_channel_axis(ctx);
    if (qdq_fixed_has_channels(ctx->attrs) && axis != last)
        qdq_report_target_violation(ctx, rule, "axis", qdq_text(ctx->findings, "is %d", axis),
                                    qdq_text(ctx->findings, "%d, the last dim of x", last));
}

//---- Operators on integers --------------------------------------------------

// Reports the first two operands of an op that is here for TOSA's sake, but takes more than TOSA.
static void integer_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    bool product = qdq_op_context_is(ctx, "MatMulInteger64");
    bool convolution = qdq_op_context_is(ctx, "ConvInteger64");
    qdq_expect_dtype(ctx, rule, ctx->op->inputs[0].name, ctx->inputs[0].type.dtype,
                     product || convolution ? QDQ_SET(INT16) : QDQ_SET(INT8) | QDQ_SET(INT16));
    if (product || convolution)
        qdq_expect_dtype(ctx, rule, ctx->op->inputs[1].name, ctx->inputs[1].type.dtype,
                         product ? QDQ_SET(INT16) : QDQ_SET(INT8));
}

// Reports a zero point of int16 that is not known to be 0.
static void integer_zero_point(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t i = 1; i < ctx->input_count; i++) {
        const qdq_operand *zero = &ctx->inputs[i];
        const char *name = ctx->op->inputs[i].name;
        if (!zero->given || zero->type.dtype != QDQ_INT16 || !strstr(name, "zero_point")) continue;
        int32_t value = zero->data ? *(const int16_t *)zero->data : 0;
        if (zero->data && value == 0) continue;
        qdq_report_target_violation(ctx, rule, name,
                                    zero->data ? qdq_text_is(ctx->findings, value)
                                               : "is known at run time only",
                                    "0, as the codes are int16");
    }
}

static void mul_shift(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_multiply_shift_attrs *a = ctx->attrs;
    qdq_dtype dtype = ctx->inputs[0].type.dtype;
    if (dtype != QDQ_INT32 && a->shift.set != 0 && a->shift.value != 0)
        qdq_report_target_violation(
            ctx, rule, "shift", qdq_text_is(ctx->findings, (double)a->shift.value),
            qdq_text(ctx->findings, "0, as a is %s", qdq_dtype_name(dtype)));
}

//---- Evidence ---------------------------------------------------------------

// True if all operands are of these dtypes.
static bool takes(const qdq_op_context *ctx, qdq_dtype_set set) {
    for (size_t i = 0; i < ctx->input_count; i++)
        if (ctx->inputs[i].given && !(set >> ctx->inputs[i].type.dtype & 1)) return false;
    return true;
}

static bool takes_int8(const qdq_op_context *ctx) { return takes(ctx, QDQ_SET(INT8)); }
static bool takes_int32(const qdq_op_context *ctx) { return takes(ctx, QDQ_SET(INT32)); }
// True for a RESCALE that leaves its rounding to the device.
static bool is_inexact_rescale(const qdq_op_context *ctx) {
    const attrs_type *a = ctx->attrs;
    return a->rounding == QDQ_FIXED_INEXACT;
}

static bool is_exact_rescale(const qdq_op_context *ctx) { return !is_inexact_rescale(ctx); }

static bool takes_int64(const qdq_op_context *ctx) { return takes(ctx, QDQ_SET(INT64)); }
static bool takes_bool(const qdq_op_context *ctx) { return takes(ctx, QDQ_SET(BOOL)); }

static bool takes_integers(const qdq_op_context *ctx) {
    return takes(ctx, QDQ_SET(INT8) | QDQ_SET(INT16) | QDQ_SET(INT32));
}

static bool moves_integers(const qdq_op_context *ctx) {
    return takes(ctx, QDQ_SET(INT8) | QDQ_SET(INT16) | QDQ_SET(INT32) | QDQ_SET(BOOL));
}

// True for a Table whose results have the dtype that TOSA gives them.
static bool is_table(const qdq_op_context *ctx) {
    return takes_int8(ctx) || (ctx->outputs[0].dtype == QDQ_INT32 && takes(ctx, QDQ_SET(INT16)));
}

// True for the pairs of dtypes that CAST has.
static bool is_cast(const qdq_op_context *ctx) {
    const qdq_dtype_set results = QDQ_SET(BOOL) | QDQ_SET(INT8) | QDQ_SET(INT16) | QDQ_SET(INT32) |
                                  QDQ_SET(INT64) | QDQ_SET(FLOAT32) | QDQ_SET(FLOAT16) |
                                  QDQ_SET(BFLOAT16);
    return moves_integers(ctx) && (results >> ctx->outputs[0].dtype & 1);
}

//---- The target -------------------------------------------------------------

#define MODEL "tosa_reference_model of tosa-tools 2026.8.0"
#define DATE "2026-11-30"
#define RUN_IF(covers, ops, what, condition, data) \
    QDQ_RUN_IF(covers, "", ops, what, condition, MODEL, data, DATE)

#define ERROR_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(ERROR, "tosa", id, summary, hint, SPEC source, ops, check, 0, 0)
#define RESCALE_ROW(id, summary, hint, check) \
    ERROR_ROW("rescale-" id, summary, hint, "RESCALE", "Requantize", check)

// clang-format off
static const qdq_rule rules[] = {
    RESCALE_ROW("multiplier", "RESCALE has a multiplier of at least 0 and a shift, with 15 bits for x of 48 bits",
                "give the quotient of the scales as multiplier * 2^-shift", rescale_multiplier),
    RESCALE_ROW("shift", "RESCALE shifts by 2 to 62 bits", "double the multiplier for each bit that is missing", rescale_shift),
    RESCALE_ROW("rounding", "RESCALE rounds once (SINGLE_ROUND), twice (DOUBLE_ROUND) or as a device does (INEXACT_ROUND)", "use single or double", rescale_rounding),
    RESCALE_ROW("dtypes", "RESCALE takes 8, 16, 32 and 48 bits and makes 8, 16 and 32; only int8 and int16 become unsigned, and unsigned codes only int8 and int16",
                "rescale twice", rescale_dtypes),
    RESCALE_ROW("zero-point", "one zero point of int8 or uint8, or 0 or 32768 of uint16", "subtract it first, or add it after", rescale_zero_point),
    RESCALE_ROW("axis", "channels of RESCALE lie in the last dim", "transpose x first", rescale_axis),
    RESCALE_ROW("range", "RESCALE clamps to the full range of its dtype", "clamp after it", qdq_check_whole_range),
    ERROR_ROW("integer-dtypes", "codes are int8 or int16; MATMUL with int64 sums multiplies int16 by int16, a convolution int16 by int8", "requantize them",
              "operators on integers", "AvgPoolInteger ConvInteger64 MatMulInteger64 ClampInteger NegInteger", integer_dtypes),
    ERROR_ROW("integer-zero-point", "zero points of int16 are 0", "subtract it first, or add it after", "operators on integers",
              "AvgPoolInteger ConvInteger64 MatMulInteger64 NegInteger", integer_zero_point),
    ERROR_ROW("mul-shift", "MUL shifts products of int32 only", "use Requantize", "MUL", "MultiplyShift", mul_shift),
    QDQ_FIDELITY_ROW("tosa"),
    QDQ_APPROXIMATE_ROW("tosa"),
    QDQ_NO_BLOCK_FLOAT_ROW("tosa", QDQ_BLOCK_OPS),
    QDQ_BITS_UNKNOWN_ROW("tosa"),
    QDQ_UNKNOWN_OPS_ROW("tosa", QDQ_TOSA_OPS, SPEC "list of operators"),
};

static const qdq_evidence_row evidence[] = {
    QDQ_RUN_IF(is_exact_rescale, "", "Requantize", "RESCALE", "SINGLE_ROUND and DOUBLE_ROUND", MODEL, "378 tests of tosa_verif_build_tests: 1,604,250 elements", DATE),
    QDQ_UNLIKE_IF(is_inexact_rescale, "", "Requantize", "RESCALE", "INEXACT_ROUND", MODEL,
                  "259 tests: it rounds in float32, and 86,484 of 1,113,769 elements differ", DATE),
    RUN_IF(takes_int8, "ConvInteger", "CONV2D, CONV3D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D", "int8", "710 tests, with a bias: 3,834,187 elements"),
    RUN_IF(NULL, "ConvInteger64", "CONV2D, CONV3D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D", "int16", "964 tests, with a bias: 3,290,718 elements"),
    RUN_IF(takes_int8, "MatMulInteger", "MATMUL", "int8", "17 tests: 87,442 elements"),
    RUN_IF(NULL, "MatMulInteger64", "MATMUL", "int16", "13 tests: 14,100 elements"),
    RUN_IF(takes_int8, "MaxPool", "MAX_POOL2D", "int8", "156 tests: 268,450 elements"),
    RUN_IF(NULL, "AvgPoolInteger", "AVG_POOL2D", "int8 and int16", "576 tests: 667,716 elements"),
    RUN_IF(is_table, "Table", "TABLE", "int8 and int16", "73 tests: 325,388 elements"),
    RUN_IF(takes_integers, "ArgMax", "ARGMAX", "int8, int16 and int32", "54 tests: 3,527 elements"),
    RUN_IF(takes_int8, "ReduceMax ReduceMin", "REDUCE_MAX, REDUCE_MIN", "int8", "24 tests: 1,732 elements"),
    RUN_IF(NULL, "ReduceMaxInteger ReduceMinInteger ReduceSumInteger", "REDUCE_MAX, REDUCE_MIN, REDUCE_SUM", "int8, int16 and int32", "156 tests: 6,625 elements"),
    RUN_IF(takes_int32, "Add Subtract Multiply Divide Minimum Maximum Abs Neg", "ADD, SUB, MUL, INTDIV, MINIMUM, MAXIMUM, ABS, NEGATE", "int32", "241 tests without a shift: 323,121 elements"),
    RUN_IF(takes_int64, "Add", "ADD", "int64", "the biases of convolutions of int16"),
    RUN_IF(NULL, "MultiplyShift", "MUL", "int8, int16 and int32, with shifts", "336 tests: 349,473 elements"),
    RUN_IF(NULL, "ClampInteger NegInteger", "CLAMP, NEGATE", "int8 and int16", "80 tests: 17,602 elements"),
    RUN_IF(NULL, "ArithmeticShiftRight CountLeadingZeros", "ARITHMETIC_RIGHT_SHIFT, CLZ", "", "112 tests: 40,784 elements"),
    RUN_IF(takes_int32, "Equal Greater GreaterEqual", "comparisons", "int32", "60 tests: 99,509 elements"),
    RUN_IF(takes_integers, "BitwiseAnd BitwiseOr BitwiseXor BitwiseNot", "bits", "int8, int16 and int32", "36 tests: 13,728 elements"),
    RUN_IF(takes_bool, "And Or Xor Not", "logic", "", "16 tests: 3,518 elements"),
    RUN_IF(is_cast, "Cast", "CAST", "bool, int8, int16 and int32 to bool, to integers and to floats", "366 tests: 128,137 elements"),
    RUN_IF(moves_integers, "Concat StaticTranspose StaticReshape Pad Slice Tile Select", "moves", "bool, int8, int16 and int32",
           "476 tests: 279,801 elements"),
    QDQ_READ_IF(NULL, "", QDQ_MOVING_OPS, "moves", "", SPEC "elements are not computed"),
    QDQ_READ_IF(NULL, "", QDQ_CHOOSING_OPS, "choices and comparisons", "", SPEC "elements are not rounded"),
    {{0}, NULL},
};
// clang-format on

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    (void)ctx, (void)version;
    return (qdq_numerics){0};
}

const qdq_target qdq_target_tosa = {
    .name = "tosa",
    .summary = "TOSA 1.0, the integer profile with int16 and rounding twice",
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .evidence = evidence,
    .fixed_point = true,
    .numerics = numerics,
};
