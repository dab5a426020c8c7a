// SPDX-License-Identifier: Apache-2.0
// Rules of target `ttnn` about arithmetic that no source states: where a version that stands for a
// chip computes something that may differ from the chip. `numerics` in ttnn.c chooses what is
// computed.
#include "graph/targets/ttnn/ttnn_checks.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/reduce.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/elementwise_ops.h"
#include "ops/kernels/elementwise/chip_elementwise.h"
#include "ops/kernels/elementwise/sfpu_elementwise.h"
#include "ops/reduce/chip/chip_norm.h"
#include "ops/reduce/chip/chip_reduce.h"
#include "ops/reduce/chip/chip_softmax.h"
#include "ops/reduce/reduced_dims.h"
#include "runtime/numerics/dtype.h"

#define FLOATS (QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16) | QDQ_SET_BLOCK_FLOATS)

//---- Cast -------------------------------------------------------------------

// True if every integer of dtype x is a number of dtype y.
static bool is_exact(const qdq_dtype_info *x, qdq_dtype y) {
    const qdq_dtype_info *to = qdq_dtype_get(y);
    if (y == QDQ_FLOAT32) return x->bits <= 16;
    if (y == QDQ_BFLOAT16) return x->bits <= 8;
    return to->kind == QDQ_KIND_INT && x->least >= to->least && x->greatest <= to->greatest;
}

// Dtypes that ttnn lacks have a separate rule.
static bool cast_is_known(qdq_dtype x, qdq_dtype y) {
    const qdq_dtype_set from_float = FLOATS | QDQ_SET(INT32) | QDQ_SET(UINT16) | QDQ_SET(UINT8);
    const qdq_dtype_set all = from_float | QDQ_SET(INT8);
    if (x == y || !qdq_set_has(all, x) || !qdq_set_has(all, y)) return true;
    if (qdq_set_has(FLOATS, x)) return qdq_set_has(from_float, y);
    if (x == QDQ_INT32) return y == QDQ_FLOAT32 || y == QDQ_BFLOAT16;
    return is_exact(qdq_dtype_get(x), y);
}

void qdq_ttnn_chip_cast(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    if (!cast_is_known(x, y))
        qdq_report_target_violation(ctx, rule, "dtype",
                                    qdq_text(ctx->findings,
                                             "is %s and x is %s: computed as without a chip",
                                             qdq_dtype_name(y), qdq_dtype_name(x)),
                                    NULL);
}

//---- Elementwise ops --------------------------------------------------------

// Returns the numbers that an op hands to its function.
static qdq_elementwise_numbers numbers_of(const qdq_op_context *ctx) {
    if (qdq_op_context_is(ctx, "LeakyReLU") || qdq_op_context_is(ctx, "Elu")) {
        const qdq_alpha_attrs *a = ctx->attrs;
        return (qdq_elementwise_numbers){.alpha = (float)a->alpha.value};
    }
    if (!qdq_op_context_is(ctx, "HardSigmoid")) return (qdq_elementwise_numbers){0};
    const qdq_hard_sigmoid_attrs *a = ctx->attrs;
    return (qdq_elementwise_numbers){(float)a->alpha.value, (float)a->beta.value};
}

static qdq_elementwise function_of_gelu(const qdq_op_context *ctx) {
    const qdq_gelu_attrs *a = ctx->attrs;
    return a->mode == QDQ_GELU_TANH ? QDQ_ELEMENTWISE_gelu_tanh : QDQ_ELEMENTWISE_gelu_erf;
}

// Returns the function of an op, QDQ_ELEMENTWISE_COUNT if it has none here.
static qdq_elementwise function_of(const qdq_op_context *ctx) {
    static const struct {
        const char *op;
        qdq_elementwise function;
    } rows[] = {
#define ROW(name, op_name, ...) {op_name, QDQ_ELEMENTWISE_##name},
        QDQ_UNARY_OPS(ROW) QDQ_BINARY_OPS(ROW){"BiasAdd", QDQ_ELEMENTWISE_add},
        {"Tanh", QDQ_ELEMENTWISE_tanh},
        {"LeakyReLU", QDQ_ELEMENTWISE_leaky_relu},
        {"Elu", QDQ_ELEMENTWISE_elu},
        {"HardSigmoid", QDQ_ELEMENTWISE_hard_sigmoid}};
    if (qdq_op_context_is(ctx, "GELU")) return function_of_gelu(ctx);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (qdq_op_context_is(ctx, rows[i].op)) return rows[i].function;
    return QDQ_ELEMENTWISE_COUNT;
}

// Finds the program of the vector unit that computes the node.
static bool find_program(const qdq_op_context *ctx, qdq_multiply_add chip, qdq_sfpu_program *out) {
    const qdq_numerics numerics = {.multiply_add = chip};
    const qdq_sfpu_function of = {function_of(ctx), numbers_of(ctx), qdq_elements_approximate(ctx)};
    return qdq_sfpu_program_of(&of, &numerics, ctx->inputs[0].type.dtype, ctx->outputs[0].dtype,
                               out);
}

qdq_sfpu_evidence qdq_ttnn_sfpu_evidence(const qdq_op_context *ctx, qdq_multiply_add chip) {
    bool is_float32 = ctx->inputs[0].type.dtype == QDQ_FLOAT32;
    qdq_sfpu_program program;
    if (!find_program(ctx, chip, &program)) return QDQ_SFPU_UNKNOWN;
    qdq_sfpu_evidence found = qdq_sfpu_evidence_of(&program, is_float32);
    // Tables of silicon have no block floats: what surrounds the kernel was read.
    if (qdq_set_has(QDQ_SET_BLOCK_FLOATS, ctx->outputs[0].dtype) && found > QDQ_SFPU_READ)
        return QDQ_SFPU_READ;
    // Silicon agrees on published points of float32, which are not all inputs.
    return is_float32 && found == QDQ_SFPU_MODEL ? QDQ_SFPU_READ : found;
}

// Reports a node whose function on a chip is not known for its dtypes.
static void report_unknown(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype a = ctx->inputs[0].type.dtype, y = ctx->outputs[0].dtype;
    qdq_dtype b = ctx->input_count > 1 ? ctx->inputs[1].type.dtype : a;
    qdq_sfpu_program program;
    if (find_program(ctx, QDQ_MULTIPLY_ADD_WORMHOLE, &program) ||
        qdq_chip_elementwise_find(function_of(ctx), QDQ_MULTIPLY_ADD_WORMHOLE, a, b, y,
                                  1u << QDQ_ISA_PORTABLE))
        return;
    const char *operands =
        a == b ? qdq_dtype_name(a)
               : qdq_text(ctx->findings, "%s and %s", qdq_dtype_name(a), qdq_dtype_name(b));
    qdq_report_target_violation(ctx, rule, NULL,
                                qdq_text(ctx->findings,
                                         "makes %s of %s, computed as without a chip",
                                         qdq_dtype_name(y), operands),
                                NULL);
}

static bool is_block_float(qdq_dtype dtype) { return qdq_set_has(QDQ_SET_BLOCK_FLOATS, dtype); }

// True if an operand is a block float. Only then y may be one.
static bool takes_block_float(const qdq_op_context *ctx) {
    for (size_t i = 0; i < ctx->input_count; i++)
        if (is_block_float(ctx->inputs[i].type.dtype)) return true;
    return false;
}

void qdq_ttnn_chip_elementwise(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!takes_block_float(ctx)) report_unknown(ctx, rule);
}

// Operands of two shapes go through another program, and elements beyond the last column are
// results of earlier ops.
void qdq_ttnn_chip_block_float(const qdq_op_context *ctx, const qdq_rule *rule) {
    enum { GROUP = 16 };
    qdq_shape y = ctx->outputs[0].shape;
    long long columns = y.rank ? (long long)y.dims[y.rank - 1] : 1;
    if (!takes_block_float(ctx)) return;
    bool alike = ctx->input_count < 2 ||
                 qdq_shape_equal(ctx->inputs[0].type.shape, ctx->inputs[1].type.shape);
    const char *found =
        !alike ? "broadcasts block floats by a program that was not read"
        : is_block_float(ctx->outputs[0].dtype) && columns % GROUP
            ? qdq_text(ctx->findings,
                       "makes rows of %lld element%s, the last of which share an exponent with "
                       "elements beyond the tensor, here the function of zero",
                       columns, columns == 1 ? "" : "s")
            : NULL;
    if (found)
        qdq_report_target_violation(ctx, rule, NULL, found, NULL);
    else
        report_unknown(ctx, rule);
}

// Reports quotients, and products of bfloat16, which are one step in newer kernels and up to four
// in older kernels.
void qdq_ttnn_chip_quotient(const qdq_op_context *ctx, const qdq_rule *rule) {
    bool divides = qdq_op_context_is(ctx, "Divide");
    qdq_dtype x = ctx->inputs[0].type.dtype;
    if (divides || x == QDQ_BFLOAT16 || is_block_float(x))
        qdq_report_target_violation(
            ctx, rule, NULL,
            qdq_text(ctx->findings, "%s by a kernel that was read, not executed",
                     divides ? "divides"
                             : qdq_text(ctx->findings, "multiplies %s", qdq_dtype_name(x))),
            NULL);
}

//---- Reductions -------------------------------------------------------------

bool qdq_ttnn_reduces(const qdq_op_context *ctx, qdq_multiply_add chip) {
    static const struct {
        const char *op;
        qdq_chip_reduction reduction;
    } rows[] = {{"ReduceMax", QDQ_CHIP_MAX},
                {"ReduceMin", QDQ_CHIP_MIN},
                {"ReduceSum", QDQ_CHIP_SUM},
                {"ReduceMean", QDQ_CHIP_MEAN}};
    // Tiles from which on releases of 2026-09 and later add tiles to each other first.
    enum { TILE = 32, WORMHOLE_ROWS = 14, WORMHOLE_COLUMNS = 12, ROWS = 10, COLUMNS = 4 };
    bool wormhole = chip == QDQ_MULTIPLY_ADD_WORMHOLE;
    qdq_type x = ctx->inputs[0].type;
    uint32_t dims = qdq_reduced_dims(ctx->attrs, x.shape.rank);
    size_t tiles = (qdq_reduce_axes_of(x.shape, dims).n + TILE - 1) / TILE, most = SIZE_MAX;
    qdq_chip_order order = QDQ_CHIP_UNKNOWN;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (qdq_op_context_is(ctx, rows[i].op))
            order = qdq_chip_order_of(rows[i].reduction, x, dims);
    if (order == QDQ_CHIP_ROWS) most = wormhole ? WORMHOLE_ROWS : ROWS;
    if (order == QDQ_CHIP_COLUMNS) most = wormhole ? WORMHOLE_COLUMNS : COLUMNS;
    return order != QDQ_CHIP_UNKNOWN && tiles < most;
}

// True if a row has so few tiles that no planner adds them to each other first.
static bool is_short_row(const qdq_op_context *ctx) {
    enum { TILE = 32, MOST = 9 };
    qdq_shape x = ctx->inputs[0].type.shape;
    return x.dims[x.rank - 1] <= TILE * MOST;
}

bool qdq_ttnn_softmaxes(const qdq_op_context *ctx) {
    enum { AXIS = 1 };
    const qdq_softmax_attrs *a = ctx->attrs;
    int64_t axis = a->axis.set != 0 ? a->axis.value : AXIS;
    if (axis < 0) axis += ctx->inputs[0].type.shape.rank;
    return qdq_chip_softmax_fits(ctx, (int)axis) && is_short_row(ctx);
}

bool qdq_ttnn_normalizes(const qdq_op_context *ctx) {
    bool centers = qdq_op_context_is(ctx, "LayerNorm");
    qdq_int begin = centers ? ((const qdq_layer_norm_attrs *)ctx->attrs)->begin_norm_axis
                            : ((const qdq_rms_norm_attrs *)ctx->attrs)->begin_norm_axis;
    return qdq_chip_norm_fits(ctx, begin) && is_short_row(ctx);
}
