// SPDX-License-Identifier: Apache-2.0
// TensorRT 10.0 to 11.4: IQuantizeLayer, IDequantizeLayer and IDynamicQuantizeLayer, and the two
// ways to reach them, the ONNX importer and the MLIR dialect. A condition of the header is an
// error. A condition of another document alone, or a surprising result, is a warning. The numerics
// are the core's.
#include "graph/targets/tensorrt/tensorrt.h"

#include "graph/targets/target_ops.h"

// Releases in which rules changed.
enum {
    V10_0 = 1000,
    V10_7 = 1007,
    V10_8 = 1008,
    V10_9 = 1009,
    V10_12 = 1012,
    V10_13 = 1013,
    V10_15 = 1015,
    V11_0 = 1100,
    V11_1 = 1101,
    V11_2 = 1102,
    V11_3 = 1103,
    V11_4 = 1104
};

static const qdq_named_version versions[] = {
    {"10.0", V10_0, 0},   {"10.7", V10_7, 0},   {"10.8", V10_8, 0},   {"10.9", V10_9, 0},
    {"10.12", V10_12, 0}, {"10.13", V10_13, 0}, {"10.15", V10_15, 0}, {"11.0", V11_0, 0},
    {"11.1", V11_1, 0},   {"11.2", V11_2, 0},   {"11.3", V11_3, 0},   {"11.4", V11_4, 0},
};

//---- Rules ------------------------------------------------------------------

#define PAIR \
    "Quantize Dequantize DynamicQuantize"  // a DynamicQuantize with a scale counts as a Quantize
#define ALL "Quantize Dequantize DynamicQuantize Requantize"
#define MAKES "Quantize DynamicQuantize Requantize"
#define DYNAMIC "DynamicQuantize"
#define PRODUCTS "MatMul Convolution ConvTranspose"

#define HEADER "NvInfer.h 11.1 "
#define LAYERS HEADER "IQuantizeLayer, IDequantizeLayer"
#define DYNAMIC_LAYER HEADER "IDynamicQuantizeLayer"
#define IMPORTER "onnx-tensorrt importer"
#define MLIR "MLIR-TensorRT verifier"
#define PAGES "operator pages Quantize, Dequantize"
#define GUIDE "TensorRT developer guide, quantized types"

#define ERROR(id, since, until, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(ERROR, "tensorrt", id, summary, hint, source, ops, check, since, until)
#define WARNING(id, since, until, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(WARNING, "tensorrt", id, summary, hint, source, ops, check, since, until)

// clang-format off
static const qdq_rule rules[] = {
    //---- Dtypes
    ERROR("quantized-dtype", 0, 0, "the quantized types are int8, int4, float8_e4m3fn and float4_e2m1",
          "keep values of other types outside the engine", LAYERS "; " IMPORTER, ALL, qdq_trt_quantized_dtype),
    ERROR("no-uint8", 0, 0, "uint8 is not a quantized type",
          "quantize with the zero point 0; the importer would read uint8 as int8",
          HEADER "DataType::kUINT8; " IMPORTER, ALL, qdq_trt_no_uint8),
    ERROR("no-float4-result", 0, V10_13, "Quantize makes no float4",
          "use 10.13, DynamicQuantize, or int4", "NvInfer.h 10.8 IQuantizeLayer", "Quantize " DYNAMIC,
          qdq_trt_no_float4),
    ERROR("no-float4", 0, V10_8, "TensorRT has no float4", "use 10.8, or int4",
          "NvInfer.h 10.7 DataType", "Dequantize", qdq_trt_no_float4),
    WARNING("static-float4", V10_13, 0, "float4 comes from DynamicQuantize",
            "use DynamicQuantize: the header accepts it, MLIR-TensorRT does not", MLIR, "Quantize " DYNAMIC, qdq_trt_static_float4),
    ERROR("real-dtype", 0, 0, "the float side is float32, float16 or bfloat16", "cast it",
          LAYERS "; " IMPORTER, PAIR, qdq_check_layer_float),
    ERROR("x-is-no-scalar", 0, 0, "x has at least one dim", "give it the shape [1]",
          LAYERS "; " MLIR, ALL, qdq_check_no_scalar_x),
    ERROR("volume", 0, 0, "a tensor has at most 2147483647 elements", "split it", PAGES, ALL,
          qdq_trt_volume),
    //---- Scales
    ERROR("scale-is-positive", 0, 0, "every scale is above 0",
          "for a channel of zeros use 1",
          LAYERS "; " IMPORTER, ALL, qdq_check_positive_scale),
    ERROR("scale-dtype", 0, 0, "a scale is float32, float16, bfloat16 or float8_e8m0",
          "dequantize the scale first", LAYERS, PAIR, qdq_trt_scale_dtype),
    ERROR("no-e8m0-scale", 0, V10_12, "TensorRT has no float8_e8m0",
          "use 10.12, or a float32 scale", "NvInfer.h 10.9 DataType", PAIR, qdq_trt_no_e8m0_scale),
    ERROR("e8m0-is-mxfp8", V10_12, 0, "a float8_e8m0 scale belongs to MXFP8: float8_e4m3fn in blocks of 32",
          "dequantize the scale first", LAYERS, PAIR, qdq_trt_e8m0_is_mxfp8),
    ERROR("scale-dtype-agrees", 0, 0, "a scale of 16 bits has the dtype of the float side",
          "cast the scale: the layers are strongly typed", LAYERS, ALL, qdq_check_scale_agrees),
    ERROR("float32-scale", 0, V10_13, "a scale has the dtype of the float side",
          "give it as a port, or use 10.13, which accepts float32 for all", "NvInfer.h 10.0 IQuantizeLayer, IDequantizeLayer", PAIR,
          qdq_trt_one_dtype),
    ERROR("scale-is-constant", 0, V10_13, "a scale is known when the engine is built",
          "use 10.13 for scales made at run time", "NvInfer.h 10.12 IQuantizeLayer, IDequantizeLayer", ALL,
          qdq_trt_run_time_scale),
    WARNING("run-time-scale", V10_13, 0, "the operator pages want a constant scale",
            "give its numbers; the header only wants constant zero points", PAGES, ALL, qdq_trt_run_time_scale),
    ERROR("scale-rank", 0, 0, "per-channel scales have one dim, scales of blocks as many dims as x",
          "reshape the scales: their rank decides their use", LAYERS "; " IMPORTER "; " MLIR, ALL,
          qdq_trt_scale_rank),
    WARNING("single-scale-rank", 0, 0, "a scale for all of x has at most one dim",
            "reshape it: the importer accepts it, the header does not", LAYERS "; " MLIR, ALL,
            qdq_trt_single_scale_rank),
    //---- Zero points
    ERROR("zero-point-is-zero", 0, 0, "every zero point is 0",
          "quantize symmetrically; the importer accepts other zero points only for DLA", LAYERS "; " IMPORTER, ALL,
          qdq_trt_zero_point_is_zero),
    ERROR("zero-point-is-constant", 0, 0, "a zero point is a constant", "leave it out", LAYERS, ALL,
          qdq_trt_zero_point_is_constant),
    ERROR("zero-point-shape", 0, 0, "zero points have the shape of the scale", "leave them out",
          LAYERS "; " IMPORTER, ALL, qdq_trt_zero_point_shape),
    ERROR("zero-point-dtype", 0, 0, "a zero point has the quantized type, or float32", "leave it out",
          LAYERS "; " IMPORTER "; " PAGES, ALL, qdq_trt_zero_point_dtype),
    //---- Attributes
    ERROR("no-clamp-range", 0, 0, "results use the full range of their dtype", "leave it out", LAYERS,
          MAKES, qdq_check_whole_range),
    ERROR("saturates", 0, 0, "float8 results saturate", "leave it out", LAYERS, "Quantize " DYNAMIC,
          qdq_check_saturates),
    ERROR("int-domain", 0, 0, "a zero point is an integer", "leave zero_point_domain out", LAYERS, PAIR,
          qdq_check_no_float_domain),
    WARNING("axis-counts-from-0", 0, 0, "`axis` counts from 0",
            "count dims from the front: only the importer accepts negative axes",
            LAYERS "; " MLIR, ALL, qdq_check_axis_from_front),
    WARNING("axis-alone", 0, 0, "`axis` is given for per_channel only",
            "leave it out: the layers ignore it, MLIR-TensorRT refuses it", MLIR, PAIR, qdq_trt_axis_alone),
    //---- Channels
    ERROR("per-channel-is-for-weights", 0, 0, "x with per-channel scales is a constant", "use one scale for activations",
          LAYERS, ALL, qdq_trt_channels_of_weights),
    WARNING("channels-of-a-list", 0, 0, "x with per-channel scales has two dims or more",
            "reshape x: MLIR-TensorRT takes such a scale for a scale of blocks, and refuses the axis", MLIR, ALL,
            qdq_check_no_list_of_channels),
    //---- Four bits
    ERROR("even-last-dim", 0, V10_9, "the last dim of int4 is even", "pad it, or use 10.9",
          "onnx-tensorrt importer 10.1", ALL, qdq_trt_even_last_dim),
    ERROR("even-count", V10_9, 0, "int4 and float4 have an even number of elements", "pad it", IMPORTER,
          ALL, qdq_check_even_count),
    QDQ_NO_INT4_OUTPUT_ROW("tensorrt", GUIDE, MAKES " " QDQ_MOVES),
    WARNING("int4-is-for-weights", 0, 0, "x of int4 is a constant",
            "use int4 for the weights of a matrix product only", GUIDE, PAIR, qdq_trt_int4_is_for_weights),
    //---- Blocks
    ERROR("block-rank-2", 0, V10_7, "x in blocks has rank 2", "reshape it, or use 10.7",
          "NvInfer.h 10.0 IQuantizeLayer, IDequantizeLayer", PAIR, qdq_trt_block_rank_2),
    ERROR("no-blocks-of-a-list", V10_7, V10_15, "x in blocks has rank 2 or more", "reshape it",
          "NvInfer.h 10.7 IQuantizeLayer, IDequantizeLayer; " IMPORTER, PAIR,
          qdq_trt_no_blocks_of_a_list),
    ERROR("one-blocked-dim", 0, V10_15, "blocks lie along one dim", "use a group_shape of 1 for all other dims, or 10.15",
          "NvInfer.h 10.13 IQuantizeLayer, IDequantizeLayer; " IMPORTER "; " MLIR, PAIR,
          qdq_trt_one_blocked_dim),
    ERROR("blocked-dim-is-late", 0, V10_15, "blocks lie along one of the last two dims",
          "transpose x, or use 10.15", "NvInfer.h 10.13 IQuantizeLayer, IDequantizeLayer; " MLIR, PAIR,
          qdq_trt_blocked_dim_is_late),
    WARNING("needs-block-shape", V10_15, 0, "blocks lie along one of the last two dims",
            "transpose x: other dims need setBlockShape, which QuantizeLinear and MLIR-TensorRT do not have",
            IMPORTER "; " MLIR, PAIR, qdq_trt_needs_block_shape),
    ERROR("blocks-divide", 0, 0, "blocks divide the dims of x", "pad x, or use another group_shape",
          LAYERS "; " IMPORTER, PAIR, qdq_check_group_divides),
    ERROR("no-int8-blocks", 0, V10_13, "int8 has no blocks", "use int4",
          "NvInfer.h 10.12 IQuantizeLayer, IDequantizeLayer; " MLIR, PAIR, qdq_trt_no_int8_blocks),
    WARNING("int8-blocks", V10_13, 0, "int8 has no blocks",
            "use int4: only the operator pages list blocks of int8", LAYERS "; " MLIR,
            PAIR, qdq_trt_no_int8_blocks),
    ERROR("no-float8-blocks", 0, V10_13, "float8 has no blocks except those of MXFP8", "use int4",
          "NvInfer.h 10.12 IQuantizeLayer, IDequantizeLayer", PAIR, qdq_trt_no_float8_blocks),
    WARNING("block-size", 0, 0, "blocks have 64 or 128 elements in int4, and 16 in float4",
            "choose one of them: an engine may have no kernel for others", GUIDE, PAIR, qdq_trt_weight_block_size),
    WARNING("dynamic-activations", V10_12, 0, "activations in float4 and MXFP8 are quantized dynamically",
            "use DynamicQuantize", GUIDE, "Quantize " DYNAMIC, qdq_trt_dynamic_activations),
    //---- DynamicQuantize
    WARNING("given-scale", 0, 0, "DynamicQuantize computes its scales", "use Quantize", DYNAMIC_LAYER,
            DYNAMIC, qdq_trt_given_scale),
    ERROR("no-dynamic-quantize", 0, V10_8, "the backend has no DynamicQuantize",
          "use 10.8, or give the scale", "NvInfer.h 10.8 IDynamicQuantizeLayer", DYNAMIC, qdq_check_not_computed),
    ERROR("dynamic-scheme", V10_8, 0, "the scheme is nvfp4, mx_rceil (MXFP8) or symmetric (float scales)",
          "compute the scales in another way and use Quantize", DYNAMIC_LAYER, DYNAMIC, qdq_trt_scheme),
    ERROR("no-mxfp8", V10_8, V10_12, "TensorRT has no MXFP8", "use 10.12",
          "NvInfer.h 10.8 IDynamicQuantizeLayer; " MLIR, DYNAMIC, qdq_trt_no_mxfp8),
    ERROR("no-float-scale", V10_8, V10_15, "DynamicQuantize does not compute float scales", "use 10.15",
          "NvInfer.h 10.13 IDynamicQuantizeLayer; " IMPORTER, DYNAMIC, qdq_trt_no_float_scale),
    ERROR("dynamic-dtype", V10_8, 0, "mx_rceil makes float8_e4m3fn, symmetric makes float8_e4m3fn or int8",
          "choose the dtype of the scheme", DYNAMIC_LAYER, DYNAMIC, qdq_trt_dynamic_dtype),
    WARNING("dynamic-result", V10_12, V11_4, "DynamicQuantize makes float4",
            "use float4_e2m1: the header accepts other dtypes, the operator page and MLIR-TensorRT do not",
            "operator page DynamicQuantize; " MLIR, DYNAMIC, qdq_trt_dynamic_result),
    WARNING("dynamic-float-scale", V11_4, 0, "DynamicQuantize makes float4, or float8_e4m3fn by MXFP8",
            "use nvfp4 or mx_rceil: the header accepts float scales, the operator page does not",
            "operator page DynamicQuantize of 11.4", DYNAMIC, qdq_trt_dynamic_float_scale),
    WARNING("dynamic-needs-11", V10_8, V11_0, "engines with nvfp4 need 11.0",
            "use 11.0: 10.16 builds none on a B200, although the header has the layer", "Model-Optimizer pull request 2333", DYNAMIC,
            qdq_trt_dynamic_nvfp4),
    ERROR("dynamic-granularity", V10_8, 0, "DynamicQuantize works on blocks", "give group_shape; -1 is a whole dim",
          DYNAMIC_LAYER, DYNAMIC, qdq_trt_dynamic_granularity),
    ERROR("dynamic-rank", V10_8, 0, "x has rank 2 or 3, with blocks of several dims also 4", "reshape it",
          DYNAMIC_LAYER "; operator page DynamicQuantize", DYNAMIC, qdq_trt_dynamic_rank),
    ERROR("dynamic-block-size", V10_8, 0, "blocks have 16 elements in nvfp4, and 32 in MXFP8",
          "use this block size", DYNAMIC_LAYER "; " IMPORTER "; " MLIR, DYNAMIC,
          qdq_trt_dynamic_block_size),
    ERROR("computed-scale", V10_8, 0, "a computed scale is float32, or the dtype of the scheme", "leave scale_dtype out", DYNAMIC_LAYER, DYNAMIC,
          qdq_trt_computed_scale),
    ERROR("no-eps", V10_8, 0, "DynamicQuantize has no minimum scale", "leave it out", DYNAMIC_LAYER, DYNAMIC,
          qdq_trt_no_eps),
    ERROR("global-scale-is-given", V10_8, 0, "nvfp4 has a global scale, the scale of its scales",
          "give the largest magnitude / 2688, or 1 for no effect", DYNAMIC_LAYER "; " IMPORTER, DYNAMIC,
          qdq_trt_global_scale_given),
    ERROR("global-scale-dtype", V10_8, 0, "the scale of the scales is float32",
          "cast it: the builder accepts no other dtype", "operator page DynamicQuantize", DYNAMIC,
          qdq_trt_global_scale_dtype),
    ERROR("global-scale-is-constant", V10_8, 0, "the scale of the scales is a constant", "compute it offline",
          "operator page DynamicQuantize; " IMPORTER, DYNAMIC, qdq_trt_global_scale_constant),
    ERROR("global-scale-is-positive", V10_8, 0, "the scale of the scales is above 0",
          "give the largest magnitude / 2688", DYNAMIC_LAYER, DYNAMIC, qdq_trt_global_scale_positive),
    ERROR("global-scale-rank", V10_8, 0, "the scale of the scales is a scalar", "reshape it",
          DYNAMIC_LAYER "; " IMPORTER, DYNAMIC, qdq_trt_global_scale_rank),
    WARNING("global-scale-list", V10_8, 0, "the scale of the scales is a scalar",
            "give a scalar: only the operator page accepts [1]", MLIR, DYNAMIC,
            qdq_trt_global_scale_list),
    //---- Cast
    ERROR("element-dtypes", 0, 0, "elementwise layers take float32, float16, bfloat16, int32, int64 and bool",
          "cast the operands", HEADER "IElementWiseLayer", QDQ_ELEMENT_OPS, qdq_trt_element_dtypes),
    ERROR("selected-dtype", 0, 0, "layers that select elements take float32, float16 and bfloat16",
          "write Dequantize, the layer and Quantize", "onnx-tensorrt 10.15, list of operators", QDQ_SELECTING_OPS,
          qdq_check_selected_floats),
    ERROR("cast-dtype", 0, 0, "Cast converts between float32, float16, bfloat16, int8, uint8, int32, int64 and bool",
          "use Quantize and Dequantize for quantized types", HEADER "ICastLayer", "Cast",
          qdq_trt_cast_dtype),
    ERROR("cast-uint8", 0, 0, "uint8 is cast only to and from float32 and float16", "cast to one of them first",
          HEADER "DataType::kUINT8", "Cast", qdq_trt_cast_uint8),
    WARNING("cast-int8", 0, 0, "int8 is made by Quantize and read by Dequantize",
            "use one with scale 1, which rounds half to even", HEADER "ICastLayer", "Cast",
            qdq_trt_cast_int8),
    //---- Requantize
    WARNING("no-requantize", 0, 0, "the backend has no Requantize",
            "write Dequantize to float32 and Quantize, as computed here: TensorRT fuses them", HEADER "LayerType",
            "Requantize", qdq_check_no_such_op),
    WARNING("equal-scales", 0, 0, "Requantize changes the scale", "leave the node out",
            GUIDE, "Requantize", qdq_trt_equal_scales),
    //---- Products
    ERROR("no-integer-product", 0, 0, "the backend has no integer products",
          "write Dequantize, the float product and Quantize: TensorRT fuses them", IMPORTER,
          QDQ_INTEGER_PRODUCTS, qdq_check_no_such_op),
    WARNING("both-quantized", 0, 0, "a product of 8 bits has two quantized inputs",
            "quantize both: one float input makes it a float product, except with 4-bit weights", GUIDE, PRODUCTS,
            qdq_trt_both_quantized),
    WARNING("weight-axis", 0, 0, "weights are quantized along their output channels",
            "give that axis, or one scale", GUIDE, PRODUCTS, qdq_check_weight_axis),
    //---- Defaults
    WARNING("default-dtype", 0, 0, "without `dtype`, Dequantize makes float32 and DynamicQuantize float4_e2m1",
            "give `dtype`", LAYERS "; " DYNAMIC_LAYER, "Dequantize " DYNAMIC, qdq_trt_default_dtype),
    //---- Other ops
    ERROR("no-dropout", 0, 0, "Dropout drops nothing", "leave the node out, as for inference",
          "onnx-tensorrt 10.15, list of operators", "Dropout", qdq_check_no_such_op),
    QDQ_FIDELITY_ROW("tensorrt"),
    QDQ_APPROXIMATE_ROW("tensorrt"),
    QDQ_NO_BLOCK_FLOAT_ROW("tensorrt", QDQ_BLOCK_FUNCTIONS),
    QDQ_BITS_UNKNOWN_ROW("tensorrt"),
    QDQ_UNKNOWN_OPS_ROW("tensorrt", QDQ_TENSORRT_OPS, "onnx-tensorrt 10.15, list of operators"),
};
// clang-format on

//---- The target -------------------------------------------------------------

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    (void)ctx, (void)version;
    return (qdq_numerics){0};
}

// clang-format off
static const qdq_evidence_row evidence[] = {
    QDQ_READ_IF(NULL, "", "Quantize Dequantize DynamicQuantize", "quantizing ops", "", "TensorRT's pages, and examples in them and in tests of Tripy, MLIR-TensorRT and Model-Optimizer"),
    QDQ_READ_IF(NULL, "", QDQ_MOVING_OPS, "moves", "", "TensorRT's pages: elements are not computed"),
    QDQ_READ_IF(NULL, "", QDQ_CHOOSING_OPS, "choices and comparisons", "", "TensorRT's pages: elements are not rounded"),
    {{0}, NULL},
};
// clang-format on

static const qdq_mended_rules mended[] = {
    {"no Dropout", "tensorrt/no-dropout"},
    {"parameters as numbers",
     "tensorrt/scale-rank tensorrt/zero-point-shape tensorrt/zero-point-dtype"},
    {"float32 scale", "tensorrt/scale-dtype-agrees"},
    {"float constant", "tensorrt/quantized-dtype"},
    {"signed codes", "tensorrt/no-uint8 tensorrt/quantized-dtype"},
    {"codes without a zero point", "tensorrt/zero-point-is-zero"},
    {"the whole range", "tensorrt/no-clamp-range"},
    {"symmetric codes", "tensorrt/zero-point-is-zero"},
    {"one symmetric scale", "tensorrt/zero-point-is-zero tensorrt/per-channel-is-for-weights"},
    {"one scale for each channel",
     "tensorrt/block-rank-2 tensorrt/one-blocked-dim tensorrt/blocked-dim-is-late "
     "tensorrt/blocks-divide tensorrt/no-int8-blocks"},
    {NULL, NULL},
};

const qdq_target qdq_target_tensorrt = {
    .name = "tensorrt",
    .summary = "TensorRT 10.0 to 11.4, strongly typed, with explicit quantization",
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .mended = mended,
    .evidence = evidence,
    .versions = versions,
    .version_count = sizeof versions / sizeof versions[0],
    .default_dtype = qdq_trt_own_dtype,
    .onnx_domain = "trt",
    .numerics = numerics,
    .quantized = {.ops = QDQ_PRODUCTS,
                  .values = QDQ_INT8,
                  .weights = QDQ_INT8,
                  .bias = QDQ_FLOAT32,
                  .residual = QDQ_RESIDUAL_BRANCH,
                  .symmetric = true,
                  .stacks = true},
};
