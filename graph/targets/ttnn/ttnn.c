// SPDX-License-Identifier: Apache-2.0
// Tenstorrent's ttnn.quantize, dequantize and requantize: int32, int8 and uint8, per tensor and per
// channel. The kernel, and with it the result, depends on whether each scale and zero point is a
// number or a tensor (docs/targets.md lists the paths).
#include "graph/targets/target_ops.h"
#include "graph/targets/ttnn/ttnn_checks.h"
#include "graph/targets/ttnn/ttnn_memory.h"
#include "runtime/tenstorrent/memory_failure.h"

//---- Versions ---------------------------------------------------------------

// A chip with a generation of its kernels. IEEE has the kernels of the older generation with
// idealised arithmetic: an IEEE fma, exact reciprocals, a sum with 128 that is rounded on its own.
typedef enum variant { WORMHOLE, BLACKHOLE, WORMHOLE_RNE, BLACKHOLE_RNE, IEEE } variant;

static const qdq_named_version versions[] = {
    {"wormhole", 0, WORMHOLE},
    {"blackhole", 0, BLACKHOLE},
    {"wormhole-rne", 0, WORMHOLE_RNE},
    {"blackhole-rne", 0, BLACKHOLE_RNE},
    {"ieee", 0, IEEE},
};

#define AWAY_VERSIONS "wormhole blackhole ieee"
#define RNE_VERSIONS "wormhole-rne blackhole-rne"
#define CHIP_VERSIONS "wormhole blackhole wormhole-rne blackhole-rne"

//---- Numerics ---------------------------------------------------------------

// Sets the integer part of the fused kernels on a chip.
static void round_on_chip(qdq_numerics *n, variant chip, qdq_dtype y) {
    bool even = chip == WORMHOLE_RNE || chip == BLACKHOLE_RNE;
    n->nan = QDQ_NAN_BY_SIGN;
    n->rounding = even ? QDQ_ROUND_HALF_EVEN : QDQ_ROUND_HALF_AWAY;
    n->overflow = y == QDQ_UINT8 && !even ? QDQ_OVERFLOW_MAGNITUDE : QDQ_OVERFLOW_SATURATE;
    n->fold_128 = y == QDQ_INT8 && !even;
    if (y != QDQ_INT32) return;
    n->narrow = true;
    n->quant_min = even ? -128 : -127, n->quant_max = 127;
}

// Sets the integer part of the fused kernels.
static void round_as_fused(qdq_numerics *n, variant chip, qdq_dtype y) {
    if (chip != IEEE) {
        round_on_chip(n, chip, y);
        return;
    }
    n->rounding = y == QDQ_INT8 ? QDQ_ROUND_HALF_UP_BIASED : QDQ_ROUND_HALF_AWAY;
    n->overflow = y == QDQ_UINT8 ? QDQ_OVERFLOW_MAGNITUDE : QDQ_OVERFLOW_SATURATE;
    n->nan = QDQ_NAN_QUANT_MAX;
    if (y != QDQ_INT32) return;
    n->narrow = true;
    n->quant_min = -127, n->quant_max = 127;
}

static void quantize_as(qdq_numerics *n, variant chip, const qdq_argument *scale,
                        const qdq_argument *zero_point, qdq_dtype x, qdq_dtype y) {
    bool even = chip == WORMHOLE_RNE || chip == BLACKHOLE_RNE;
    if (zero_point->scalar) {
        n->zero_point_order = even ? QDQ_ZERO_POINT_AFTER_MAGIC : QDQ_ZERO_POINT_FMA;
        if (chip != IEEE && !scale->scalar) n->scaling = QDQ_SCALE_DEVICE_RECIPROCAL;
        round_as_fused(n, chip, y);
        return;
    }
    n->zero_point_order = QDQ_ZERO_POINT_BEFORE;
    // A tensor divided by a number is multiplied by its reciprocal, which the host computes.
    bool inverts = chip != IEEE && scale->scalar;
    if (inverts) n->scaling = QDQ_SCALE_RECIPROCAL;
    if (x != QDQ_FLOAT32) {
        n->quantize_step_dtype = QDQ_BFLOAT16;
        if (inverts) n->reciprocal_dtype = QDQ_BFLOAT16;
        if (!scale->scalar) n->scale_dtype = QDQ_BFLOAT16;
    }
    if (y == QDQ_INT8) {
        round_as_fused(n, chip, y);
        return;
    }
    n->rounding = QDQ_ROUND_TRUNCATE;
    n->overflow = y == QDQ_UINT8 ? QDQ_OVERFLOW_WRAP : QDQ_OVERFLOW_SATURATE;
}

static void dequantize_as(qdq_numerics *n, const qdq_argument *zero_point, qdq_dtype x) {
    if (!zero_point->scalar) return;
    n->subtraction = QDQ_SUBTRACT_FLOAT;
    n->code_bias = x == QDQ_INT8 ? 128 : 0;
}

static void requantize_as(qdq_numerics *n, variant chip, const qdq_op_context *ctx) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    qdq_argument scale = qdq_ttnn_argument(ctx, "out_scale");
    qdq_argument in_zero_point = qdq_ttnn_argument(ctx, "in_zero_point");
    qdq_argument out_zero_point = qdq_ttnn_argument(ctx, "out_zero_point");
    switch (qdq_ttnn_path(ctx)) {
    case QDQ_TTNN_FUSED:
        n->requantize_form = QDQ_REQUANTIZE_FUSED;
        n->code_bias = x == QDQ_INT8 ? 128 : 0;
        round_as_fused(n, chip, y);
        break;
    case QDQ_TTNN_EXPANDED:
        n->requantize_form = QDQ_REQUANTIZE_EXPANDED;
        n->rounding = QDQ_ROUND_TRUNCATE;
        n->sign_magnitude = false;  // typecast turns -2^31 into a float
        break;
    case QDQ_TTNN_MIXED:
        n->requantize_dtype = QDQ_BFLOAT16;
        dequantize_as(n, &in_zero_point, x);
        quantize_as(n, chip, &scale, &out_zero_point, QDQ_BFLOAT16, y);
        break;
    }
}

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    variant chip = (variant)version->variant;
    qdq_numerics n = {.bfloat16_store = QDQ_BFLOAT16_DEVICE, .flush_denormals = true};
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype;
    if (chip != IEEE) {
        n.flush_denormals = false;  // the multiply-add does, and keeps some -0
        n.bfloat16_load = QDQ_BFLOAT16_LOAD_DEVICE;
        n.sign_magnitude = true;
        n.multiply_add = chip == WORMHOLE || chip == WORMHOLE_RNE ? QDQ_MULTIPLY_ADD_WORMHOLE
                                                                  : QDQ_MULTIPLY_ADD_BLACKHOLE;
    }
    bool is_block_float = qdq_set_has(QDQ_SET_BLOCK_FLOATS, ctx->outputs[0].dtype);
    if (chip != IEEE && !ctx->op->by_target && is_block_float)
        n.block_float_store = QDQ_BLOCK_FLOAT_DEVICE;
    if (chip != IEEE && qdq_op_context_is(ctx, "Cast")) {
        n.device_typecast = true;
        // typecast asks the packer for more bits of bfloat8_b only
        bool precise = ctx->outputs[0].dtype == QDQ_BFLOAT8_B;
        n.block_float_store = precise ? QDQ_BLOCK_FLOAT_PRECISE : QDQ_BLOCK_FLOAT_DEVICE;
    }
    if (qdq_op_context_is(ctx, "Requantize")) {
        requantize_as(&n, chip, ctx);
        return n;
    }
    if (!qdq_quantize_attrs_of(ctx)) return n;
    qdq_argument scale = qdq_ttnn_argument(ctx, "scale");
    qdq_argument zero_point = qdq_ttnn_argument(ctx, "zero_point");
    if (qdq_op_context_is(ctx, "Dequantize"))
        dequantize_as(&n, &zero_point, x);
    else
        quantize_as(&n, chip, &scale, &zero_point, x, ctx->outputs[0].dtype);
    return n;
}

// Returns the default dtype; dequantize returns bfloat16, as in the core.
static qdq_dtype own_dtype(const qdq_op_context *ctx) {
    bool quantizes = qdq_op_context_is(ctx, "Quantize") || qdq_op_context_is(ctx, "Requantize") ||
                     qdq_op_context_is(ctx, "DynamicQuantize");
    return quantizes ? QDQ_INT32 : QDQ_DTYPE_NONE;
}

static void default_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_report_default_dtype(ctx, rule, own_dtype(ctx));
}

// Returns the device of a version: a version is a chip, or is idealised and runs on any.
static qdq_target_device device_of(const qdq_target_version *version) {
    switch ((variant)version->variant) {
    case BLACKHOLE:
    case BLACKHOLE_RNE: return (qdq_target_device){"p150", QDQ_BLACKHOLE};
    case IEEE: return (qdq_target_device){"n150", QDQ_ARCH_NONE};
    case WORMHOLE:
    case WORMHOLE_RNE: break;
    }
    return (qdq_target_device){"n150", QDQ_WORMHOLE};
}

//---- The target -------------------------------------------------------------

#define ERROR_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(ERROR, "ttnn", id, summary, hint, source, ops, check, 0, 0)
#define WARNING_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(WARNING, "ttnn", id, summary, hint, source, ops, check, 0, 0)
// A rule of some versions.
#define VERSION_ROW(name, text, mend, origin, rule_ops, fn, rule_versions)                       \
    {                                                                                            \
        .id = "ttnn/" name, .severity = QDQ_SEVERITY_WARNING, .status = QDQ_ERR_UNSUPPORTED,     \
        .summary = (text), .hint = (mend), .source = (origin), .ops = (rule_ops), .check = (fn), \
        .versions = (rule_versions)                                                              \
    }
// Found by the device pass (graph/device/), not node by node.
#define MEMORY_ROW(id, summary, hint, source) \
    ERROR_ROW(id, summary, hint, "tt-metal " source, "", NULL)
#define CODE "tt-metal quantization.cpp, "
#define KERNEL "tt-metal ckernel_sfpu_quant.h"
#define ALL "Quantize Dequantize DynamicQuantize Requantize"
#define GIVEN "Quantize Dequantize DynamicQuantize"

// clang-format off
static const qdq_rule rules[] = {
    ERROR_ROW("quantize-input-dtype", "quantize takes float32, bfloat16 and block floats", "cast x first", CODE "quantize", "Quantize DynamicQuantize", qdq_ttnn_quantize_input),
    ERROR_ROW("quantize-output-dtype", "quantize makes int32, int8 or uint8", "choose one of them", CODE "quantize", "Quantize DynamicQuantize", qdq_ttnn_integer_output),
    ERROR_ROW("dequantize-input-dtype", "dequantize takes int32, int8 or uint8", "choose one of them", CODE "dequantize", "Dequantize", qdq_ttnn_integer_input),
    ERROR_ROW("dequantize-output-dtype", "dequantize makes float32 or bfloat16", "choose one of them", CODE "dequantize", "Dequantize", qdq_ttnn_float_output),
    ERROR_ROW("requantize-input-dtype", "requantize takes int32, int8 or uint8", "quantize x first", CODE "requantize", "Requantize", qdq_ttnn_integer_input),
    ERROR_ROW("requantize-output-dtype", "requantize makes int32, int8 or uint8", "choose one of them", CODE "requantize", "Requantize", qdq_ttnn_integer_output),
    ERROR_ROW("per-channel-output", "a node with an axis makes int32", "use int32, or one scale", CODE "quantize, requantize", "Quantize DynamicQuantize Requantize",
              qdq_ttnn_narrow_output),
    ERROR_ROW("per-channel-scale", "a per-channel scale is a tensor of rank 1", "give the scales as a list", CODE "quantize, dequantize", GIVEN, qdq_ttnn_channel_scale),
    ERROR_ROW("per-channel-zero-point", "a per-channel zero point that is a tensor has one element for each channel",
              "repeat it for each channel, or give a single number", CODE "quantize, dequantize", GIVEN, qdq_ttnn_channel_zero_point),
    ERROR_ROW("scale-dtype", "a scale is float32 or bfloat16", "cast the scale", CODE "all three", ALL, qdq_ttnn_scale_dtype),
    ERROR_ROW("zero-point-dtype", "a zero point that is a tensor is int32", "cast the zero point, or give a single number in the attribute", CODE "all three", ALL, qdq_ttnn_zero_point_dtype),
    ERROR_ROW("requantize-int8-tensors", "requantize of int8 with a tensor among its parameters makes int32", "use single numbers, or make int32", CODE "requantize",
              "Requantize", qdq_ttnn_int8_input),
    ERROR_ROW("requantize-sides-agree", "with an axis and four tensors, scale and zero point of a side are both per channel or both of one element",
              "repeat the one that has one element", CODE "requantize", "Requantize", qdq_ttnn_sides_agree),
    ERROR_ROW("requantize-channel-rank", "with an axis and four tensors, a per-channel parameter has rank 1", "give it as a list", CODE "requantize", "Requantize",
              qdq_ttnn_channel_rank),
    ERROR_ROW("requantize-mixed-arguments", "with an axis and a mix of numbers and tensors, each side has a form that dequantize or quantize accepts",
              "give a list of scales for channels, and a single zero point for a single scale", CODE "requantize", "Requantize", qdq_ttnn_mixed_arguments),
    ERROR_ROW("element-dtypes", "elementwise ops take floats, block floats, int32, uint32, uint16, uint8 and bool", "cast the operands", "tt-metal binary_ng", QDQ_ELEMENT_OPS, qdq_ttnn_element_dtypes),
    ERROR_ROW("selected-dtype", "ops that select elements take floats", "dequantize x first", "pages of ttnn.max_pool2d, max, min and upsample", QDQ_SELECTING_OPS, qdq_check_selected_floats),
    ERROR_ROW("cast-dtypes", "typecast accepts float32, bfloat16, block floats, int32, int8, uint8 and uint16", "cast to one of them in between", "tt-metal typecast", "Cast", qdq_ttnn_cast_dtypes),
    ERROR_ROW("no-group", "ttnn has no groups", "reshape x so that a group is a channel", CODE "all three", GIVEN, qdq_check_no_group),
    ERROR_ROW("no-clamp-range", "results use the full range of their dtype", "leave it out", CODE "all three", "Quantize DynamicQuantize Requantize", qdq_check_whole_range),
    ERROR_ROW("int-domain", "a zero point is an integer", "leave zero_point_domain out and give an integer", CODE "all three", GIVEN, qdq_check_no_float_domain),
    ERROR_ROW("no-computed-parameters", "the backend has no op that computes scales", "compute the scale outside the graph and give it", "ttnn has none", "DynamicQuantize", qdq_check_not_computed),
    WARNING_ROW("zeros-left-out", "a constant zero point of zeros is int32; another one is left out, as ttnn refuses it", "leave it out", CODE "all three", ALL, qdq_ttnn_zeros_left_out),
    WARNING_ROW("page-shows-bfloat16", "the page of requantize shows bfloat16, and in the layout TILE block floats, but the code refuses them", "quantize x first",
              "page of ttnn.requantize; " CODE "requantize", "Requantize", qdq_ttnn_page_shows_bfloat16),
    WARNING_ROW("composite-truncates", "with a zero point that is a tensor, quantize truncates and does not saturate", "give the zero point as a single number",
              "tt-metal #51304, #57500", "Quantize DynamicQuantize", qdq_ttnn_composite_truncates),
    VERSION_ROW("int32-range", "int32 results have the range -127..127", "use int8 for -128", KERNEL "; tt-metal #56526", "Quantize DynamicQuantize Requantize",
                qdq_ttnn_int32_range, AWAY_VERSIONS),
    VERSION_ROW("int32-range-rne", "int32 results have the range -128..127", "use float32 for larger numbers", KERNEL, "Quantize DynamicQuantize Requantize",
                qdq_ttnn_int32_range_rne, RNE_VERSIONS),
    VERSION_ROW("uint8-sign", "negative values lose their sign in uint8 results", "use int8, or a zero point that keeps results positive", KERNEL "; tt-metal #56290",
                "Quantize DynamicQuantize Requantize", qdq_ttnn_uint8_sign, AWAY_VERSIONS),
    VERSION_ROW("matmul-configuration", "a product says with what fidelity and accumulator the chip computes it", "give math_fidelity and fp32_dest_acc_en of the op's configuration",
                "tt-metal llk_math_matmul.h", "MatMul", qdq_ttnn_matmul_configuration, CHIP_VERSIONS),
    VERSION_ROW("matmul-k-blocks", "partial sums of a product that spill between blocks of K are rounded as its program configuration says, which is unknown here",
                "compare with the device where K is more than one block", "tt-metal llk_math_matmul.h", "MatMul", qdq_ttnn_matmul_k_blocks, CHIP_VERSIONS),
    VERSION_ROW("matmul-bias", "a chip adds a bias to a product of 32 bits within its kernel or by another op, as the program says; here it is added to the sum in float32", "add the bias with an Add after the product; the arithmetic of Add is known",
                "tt-metal bias_add_helpers.inl at 1276874e", "MatMul", qdq_ttnn_matmul_bias, CHIP_VERSIONS),
    VERSION_ROW("fidelity-ignored", "math_fidelity and fp32_dest_acc_en are for products on a chip", "leave them out", "qdq", "MatMul", qdq_check_no_fidelity, "ieee"),
    VERSION_ROW("approximate-mode-ignored", "fast_and_approximate_mode is for functions on a chip", "leave it out", "qdq", QDQ_APPROXIMATE_OPS, qdq_check_no_approximate_mode, "ieee"),
    VERSION_ROW("chip-division", "quotients on the chip are known from the text of their kernels alone, and not in which order the scale of a bfloat16 x is inverted and truncated",
                "give the zero point as a number, or expect results that are off by one step", "tt-metal ckernel_sfpu_binary.h, read", "Quantize DynamicQuantize Requantize",
                qdq_ttnn_chip_division, CHIP_VERSIONS),
    VERSION_ROW("chip-elementwise", "how a chip computes an elementwise op is known for float32 and bfloat16", "cast the operands to float32", "tt-metal binary_ng, read",
                "Add Subtract Multiply Divide BiasAdd Minimum Maximum ReLU Reciprocal", qdq_ttnn_chip_elementwise, CHIP_VERSIONS),
    {.id = "ttnn/chip-block-float", .severity = QDQ_SEVERITY_WARNING, .status = QDQ_ERR_UNSUPPORTED, .bits = QDQ_BITS_UNKNOWN,
     .summary = "how a chip computes an elementwise op on block floats is known for operands of one shape, whose last dim is a multiple of 16",
     .hint = "cast the operands to bfloat16", .source = "tt-metal binary.cpp and unary.cpp, read", .ops = QDQ_BLOCK_OPS,
     .check = qdq_ttnn_chip_block_float, .versions = CHIP_VERSIONS},
    VERSION_ROW("chip-quotient", "quotients, and products of bfloat16, are known from the text of their kernels alone", "results may be off by one step",
                "tt-metal ckernel_sfpu_binary.h, read", "Divide Multiply", qdq_ttnn_chip_quotient, CHIP_VERSIONS),
    VERSION_ROW("chip-cast", "nothing says how a chip converts between some integer dtypes, or floats to int8", "cast to a wider dtype, or use Quantize", "tt-metal ckernel_sfpu_typecast.h, read",
                "Cast", qdq_ttnn_chip_cast, CHIP_VERSIONS),
    WARNING_ROW("bfloat16-zero-point", "a zero point that is a tensor is rounded to the dtype of x", "give it as a single number, or use float32", CODE "quantize",
              "Quantize DynamicQuantize", qdq_ttnn_bfloat16_zero_point),
    WARNING_ROW("requantize-truncates", "with an axis and four tensors, requantize truncates and does not saturate", "use single numbers if there is one channel",
              "tt-metal #51304", "Requantize", qdq_ttnn_expanded_truncates),
    WARNING_ROW("requantize-bfloat16", "with a mix of numbers and tensors, values are rounded to bfloat16", "give all four as single numbers, or all as tensors with an axis",
              CODE "requantize", "Requantize", qdq_ttnn_through_bfloat16),
    WARNING_ROW("axis-ignored", "requantize ignores an axis if all parameters are single numbers", "leave it out", CODE "requantize", "Requantize", qdq_ttnn_axis_ignored),
    VERSION_ROW("cast-to-unsigned", "typecast of floats wraps around to uint8 and rounds to uint16; this version truncates and saturates",
                "cast to int32, or choose the version of a chip", "tt-metal #37976, #51655", "Cast", qdq_ttnn_cast_to_unsigned, "ieee"),
    WARNING_ROW("mlir-mixed-granularity", "tt-mlir wants both sides per channel or both per tensor", "repeat the single scale for each channel",
              "tt-mlir verifier of requantize", "Requantize", qdq_ttnn_mlir_mixes),
    WARNING_ROW("mlir-axis", "tt-mlir wants an axis of at least 0", "count dims from the front", "tt-mlir verifier of quantize, dequantize and requantize", ALL,
              qdq_check_axis_from_front),
    WARNING_ROW("default-dtype", "without `dtype`, quantize and requantize make int32", "give `dtype`", CODE "quantize, requantize",
                "Quantize DynamicQuantize Requantize", default_dtype),
    WARNING_ROW("page-ranks", "the documentation has x of rank 2, 3 or 4; the code accepts others", "reshape x",
                "pages of ttnn.quantize, dequantize and requantize; tt-metal test_quantization.py", ALL, qdq_ttnn_page_ranks),
    WARNING_ROW("output-tensor-expanded", "with an axis and four tensors, requantize does not return its output_tensor", "leave it out",
                CODE "requantize", "Requantize", qdq_ttnn_expanded_output),
    QDQ_TTNN_MEMORY_ROWS,
    MEMORY_ROW("memory-exhausted", "a pool of the device has enough free bytes for each buffer", "free tensors earlier, or move some to another pool", "FreeListOpt"),
    MEMORY_ROW("memory-fragmented", "a pool of the device has a free block for each buffer", "reallocate the tensors that lie between free blocks, or allocate in another order", "FreeListOpt"),
    MEMORY_ROW("memory-never-fits", "a buffer is no larger than an empty pool of the device", "split the tensor, or put it into another pool", "FreeListOpt"),
    MEMORY_ROW("memory-circular-beyond-l1", "the circular buffers of a program end within L1", "use a narrower dtype, or a smaller tile", "program, validate_circular_buffer_region"),
    MEMORY_ROW("memory-circular-clash", "the circular buffers of a program end below the lowest buffer in L1", "move tensors from L1 to DRAM, or reallocate them", "program, validate_circular_buffer_region"),
    QDQ_BITS_UNKNOWN_ROW("ttnn"),
    QDQ_UNKNOWN_OPS_ROW("ttnn", QDQ_TTNN_OPS, "list of ttnn's operations"),
};
// clang-format on

static bool is_of_floats(const qdq_op_context *ctx) {
    return qdq_op_context_is(ctx, "Cast") || qdq_dtype_is_real(ctx->inputs[0].type.dtype);
}

// True if one kernel computes the node, and no composition of other ops.
static bool is_fused(const qdq_op_context *ctx) {
    if (qdq_op_context_is(ctx, "Requantize")) return qdq_ttnn_path(ctx) == QDQ_TTNN_FUSED;
    return qdq_ttnn_argument(ctx, "zero_point").scalar;
}

// True if the kernel of the vector unit is known this well for a chip.
#define SFPU_IS(name, chip, level)                                                       \
    static bool name(const qdq_op_context *ctx) {                                        \
        return qdq_ttnn_sfpu_evidence(ctx, QDQ_MULTIPLY_ADD_##chip) == QDQ_SFPU_##level; \
    }
SFPU_IS(is_published_on_wormhole, WORMHOLE, SILICON)
SFPU_IS(is_published_on_blackhole, BLACKHOLE, SILICON)
SFPU_IS(is_modelled_on_blackhole, BLACKHOLE, MODEL)
SFPU_IS(is_read_on_wormhole, WORMHOLE, READ)
SFPU_IS(is_read_on_blackhole, BLACKHOLE, READ)

// True if the order of a reduction on a chip is known.
static bool reduces_on_wormhole(const qdq_op_context *ctx) {
    return qdq_ttnn_reduces(ctx, QDQ_MULTIPLY_ADD_WORMHOLE);
}
static bool reduces_on_blackhole(const qdq_op_context *ctx) {
    return qdq_ttnn_reduces(ctx, QDQ_MULTIPLY_ADD_BLACKHOLE);
}

#define WORMHOLES "wormhole wormhole-rne"
#define BLACKHOLES "blackhole blackhole-rne"
#define SFPU_OPS                                                                               \
    "Abs Ceil Elu Erf Exp Floor GELU HardSigmoid HardSwish LeakyReLU Log Log1p Mish Neg ReLU " \
    "ReLU6 Reciprocal Round Rsqrt SiLU Sigmoid Sign Softplus Sqrt Square Tanh Trunc"
#define REDUCTIONS "ReduceMax ReduceMin ReduceSum ReduceMean"
#define SFPU_ROW(covers, versions, condition, against, compared, date)             \
    QDQ_EVIDENCE_ROW(QDQ_BITS_EXACT, "vendor's model", covers, versions, SFPU_OPS, \
                     "functions of the vector unit", condition, against, compared, date)

// clang-format off
static const qdq_evidence_row evidence[] = {
    QDQ_EVIDENCE_ROW(QDQ_BITS_EXACT, "vendor's model", is_fused, CHIP_VERSIONS, "Quantize Dequantize Requantize", "quantizing ops", "fused",
                     "the simulator ttsim 56694c8a", "693,696 vectors", "2026-11-23"),
    QDQ_READ_IF(NULL, CHIP_VERSIONS, "Quantize Dequantize Requantize", "quantizing ops", "", "tt-metal quantization.cpp at 0197d822"),
    SFPU_ROW(is_published_on_wormhole, WORMHOLES, "as published", "Tenstorrent's tables of silicon, tt-eltwise-accuracy-report 02b2fa10", "every bfloat16; Exp and Tanh on Wormhole every float32", "2026-11-28"),
    SFPU_ROW(is_published_on_blackhole, BLACKHOLES, "as published", "Tenstorrent's tables of silicon, tt-eltwise-accuracy-report 02b2fa10", "every bfloat16", "2026-11-28"),
    SFPU_ROW(is_modelled_on_blackhole, BLACKHOLES, "as on the other chip", "the source that equals silicon there, with instructions as the simulator ttsim 56694c8a", "every bfloat16", "2026-11-28"),
    QDQ_READ_IF(is_read_on_wormhole, WORMHOLES, SFPU_OPS, "functions of the vector unit", "others", "tt-metal's kernels, with single instructions as the simulator ttsim 56694c8a computes them"),
    QDQ_READ_IF(is_read_on_blackhole, BLACKHOLES, SFPU_OPS, "functions of the vector unit", "others", "tt-metal's kernels, with single instructions as the simulator ttsim 56694c8a computes them"),
    QDQ_READ_IF(is_of_floats, CHIP_VERSIONS, "MatMul Add Subtract BiasAdd Minimum Maximum ReLU Reciprocal Cast", "ops that a chip computes", "floats",
                "tt-metal's kernels, with single instructions as the simulator ttsim 56694c8a computes them"),
    QDQ_READ_IF(is_of_floats, CHIP_VERSIONS, "Divide Multiply", "quotients and products", "floats", "tt-metal ckernel_sfpu_binary.h"),
    QDQ_READ_IF(reduces_on_wormhole, WORMHOLES, REDUCTIONS, "reductions", "bfloat16, sums below 14 or 12 tiles", "tt-metal's kernels, with single instructions as the simulator ttsim 56694c8a computes them"),
    QDQ_READ_IF(reduces_on_blackhole, BLACKHOLES, REDUCTIONS, "reductions", "bfloat16, sums below 10 or 4 tiles", "tt-metal's kernels, with single instructions as the simulator ttsim 56694c8a computes them"),
    QDQ_RUN_IF(qdq_ttnn_softmaxes, CHIP_VERSIONS, "SoftMax", "SoftMax", "bfloat16, rows below 10 tiles", "a Blackhole P300 and a Wormhole n300, as issues 12847, 52045 and 53643 of tt-metal report them", "10 elements, and mean sums of 160 rows to 6 digits", "2026-11-30"),
    QDQ_READ_IF(qdq_ttnn_normalizes, CHIP_VERSIONS, "RMSNorm", "RMSNorm", "bfloat16, rows below 10 tiles", "tt-metal's kernel, with single instructions as the simulator ttsim 56694c8a computes them"),
    QDQ_READ_IF(qdq_ttnn_normalizes, BLACKHOLES, "LayerNorm", "LayerNorm", "bfloat16, rows below 10 tiles", "tt-metal's kernel, with single instructions as the simulator ttsim 56694c8a computes them"),
    QDQ_READ_IF(NULL, "ieee", "Quantize Dequantize Requantize", "quantizing ops", "", "tt-metal quantization.cpp at 0197d822 and its kernels"),
    QDQ_READ_IF(NULL, "", QDQ_MOVING_OPS, "moves", "", "ttnn's pages: elements are not computed"),
    {{0}, NULL},
};
// clang-format on

static const qdq_mended_rules mended[] = {
    {"parameters as numbers", "ttnn/zero-point-dtype"},
    {"signed codes",
     "ttnn/dequantize-input-dtype ttnn/quantize-output-dtype ttnn/zero-point-dtype"},
    {"one scale for each channel", "ttnn/no-group"},
    {NULL, NULL},
};

static const char *const memory_rules[QDQ_FAILURE_KINDS] = {
    [QDQ_EXHAUSTED] = "ttnn/memory-exhausted",
    [QDQ_FRAGMENTED] = "ttnn/memory-fragmented",
    [QDQ_NEVER_FITS] = "ttnn/memory-never-fits",
    [QDQ_CIRCULAR_BEYOND_L1] = "ttnn/memory-circular-beyond-l1",
    [QDQ_CIRCULAR_CLASH] = "ttnn/memory-circular-clash",
};

const qdq_target qdq_target_ttnn = {
    .name = "ttnn",
    .summary = "Tenstorrent ttnn in mid-2026, as tt-metal's kernels compute it",
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .mended = mended,
    .int32_zero_points = true,
    .evidence = evidence,
    .versions = versions,
    .version_count = sizeof versions / sizeof versions[0],
    .default_dtype = own_dtype,
    .numerics = numerics,
    .device = device_of,
    .memory_rules = memory_rules,
    .quantized = {.ops = QDQ_PRODUCTS,
                  .values = QDQ_INT8,
                  .weights = QDQ_INT8,
                  .bias = QDQ_FLOAT32,
                  .zero_points = true,
                  .stacks = true},
};
