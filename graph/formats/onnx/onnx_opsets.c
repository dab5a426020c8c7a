// SPDX-License-Identifier: Apache-2.0
// Dtypes and attributes that ops of ONNX have only from an opset on (the schemas of onnx 1.23). A
// model that uses one with an older opset is read all the same, and a target that refuses it says
// so in validation (graph/compile/validate.c).
#include <string.h>

#include "graph/formats/onnx/onnx_import.h"
#include "graph/formats/onnx/onnx_tensor.h"
#include "ops/dtype_set.h"
#include "runtime/base/words.h"

#define FLOAT8                                                                  \
    (QDQ_SET(FLOAT8_E4M3FN) | QDQ_SET(FLOAT8_E5M2) | QDQ_SET(FLOAT8_E4M3FNUZ) | \
     QDQ_SET(FLOAT8_E5M2FNUZ))
#define SMALL (QDQ_SET(INT8) | QDQ_SET(UINT8) | QDQ_SET(INT16) | QDQ_SET(UINT16))
#define WIDE (QDQ_SET(INT32) | QDQ_SET(INT64) | QDQ_SET(UINT32) | QDQ_SET(UINT64))
#define INTEGERS (SMALL | WIDE)
#define NIBBLES (QDQ_SET(INT4) | QDQ_SET(UINT4))
#define PAIRS (QDQ_SET(INT2) | QDQ_SET(UINT2))

// Dtypes or attributes that ops of ai.onnx take from opset `since` on.
typedef struct row {
    int since;
    qdq_dtype_set dtypes;
    const char *attrs, *ops;
} row;

// clang-format off
static const row rows[] = {
    {8, 0, "storage_order",
     "MaxPool"},
    {8, QDQ_SET(INT64), "",
     "MaxPool"},
    {9, INTEGERS | QDQ_SET(BOOL), "",
     "Flatten"},
    {9, INTEGERS, "",
     "Greater Less"},
    {9, WIDE, "",
     "Gemm MatMul PRelu"},
    {10, 0, "ceil_mode",
     "AveragePool"},
    {10, 0, "ceil_mode dilations",
     "MaxPool"},
    {10, QDQ_SET(BOOL), "",
     "Dropout"},
    {11, 0, "coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value nearest_mode",
     "Resize"},
    {11, 0, "largest sorted",
     "TopK"},
    {11, 0, "mode",
     "DepthToSpace"},
    {11, SMALL | QDQ_SET(FLOAT16) | QDQ_SET(FLOAT32) | QDQ_SET(FLOAT64) | QDQ_SET(UINT32) | QDQ_SET(UINT64), "",
     "Equal"},
    {11, INTEGERS, "",
     "Pad"},
    {11, SMALL | QDQ_SET(INT32) | QDQ_SET(UINT32) | QDQ_SET(UINT64), "",
     "TopK"},
    {12, 0, "batch_dims",
     "GatherND"},
    {12, 0, "seed",
     "Dropout"},
    {12, 0, "select_last_index",
     "ArgMax ArgMin"},
    {12, INTEGERS, "",
     "Clip Max Min Pow"},
    {12, QDQ_SET(INT8) | QDQ_SET(UINT8), "",
     "MaxPool ReduceMax ReduceMin"},
    {13, 0, "axis",
     "DequantizeLinear QuantizeLinear"},
    {13, 0, "noop_with_empty_axes",
     "ReduceSum"},
    {13, QDQ_SET(BFLOAT16), "",
     "Abs Add ArgMax ArgMin Cast Ceil Clip Concat DepthToSpace Div Dropout Equal Erf "
     "Exp Expand Flatten Floor Gather GatherElements GatherND Gemm Greater Hardmax "
     "Identity IsNaN LRN Less Log LogSoftmax MatMul Max Mean "
     "MeanVarianceNormalization Min Mod Mul Neg Pow Reciprocal ReduceL1 ReduceL2 "
     "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ReduceSumSquare Relu Reshape Resize ScatterElements ScatterND "
     "Sigmoid Sign Slice Softmax SpaceToDepth Split Sqrt Squeeze Sub Sum Tanh Tile "
     "Transpose Unsqueeze"},
    {13, QDQ_SET(BFLOAT16) | QDQ_SET(BOOL), "",
     "Pad"},
    {14, 0, "allowzero",
     "Reshape"},
    {14, 0, "layout",
     "GRU LSTM RNN"},
    {14, 0, "training_mode",
     "BatchNormalization"},
    {14, QDQ_SET(BFLOAT16), "",
     "BatchNormalization"},
    {14, QDQ_SET(BFLOAT16) | QDQ_SET(FLOAT16), "",
     "CumSum"},
    {14, QDQ_SET(INT16) | QDQ_SET(INT32) | QDQ_SET(INT64) | QDQ_SET(INT8), "",
     "Relu"},
    {14, SMALL, "",
     "Add Div Mul Sub"},
    {16, 0, "reduction",
     "ScatterElements ScatterND"},
    {16, QDQ_SET(BFLOAT16), "",
     "GreaterOrEqual LeakyRelu LessOrEqual PRelu Where"},
    {18, 0, "antialias axes keep_aspect_ratio_policy",
     "Resize"},
    {18, 0, "ceil_mode dilations",
     "LpPool"},
    {18, 0, "noop_with_empty_axes",
     "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
     "ReduceProd ReduceSumSquare"},
    {18, 0, "num_outputs",
     "Split"},
    {19, 0, "dilations",
     "AveragePool"},
    {19, 0, "saturate",
     "Cast CastLike QuantizeLinear"},
    {19, FLOAT8 | QDQ_SET(BFLOAT16) | QDQ_SET(FLOAT16), "",
     "DequantizeLinear QuantizeLinear"},
    {19, FLOAT8, "",
     "Cast CastLike Identity Reshape"},
    {20, FLOAT8 | QDQ_SET(BFLOAT16) | QDQ_SET(FLOAT16), "",
     "IsInf"},
    {20, FLOAT8 | QDQ_SET(BFLOAT16), "",
     "ConstantOfShape"},
    {20, QDQ_SET(BOOL), "",
     "ReduceMax ReduceMin"},
    {20, FLOAT8, "",
     "IsNaN"},
    {21, 0, "block_size",
     "DequantizeLinear"},
    {21, 0, "block_size output_dtype",
     "QuantizeLinear"},
    {21, FLOAT8 | QDQ_SET(BFLOAT16) | QDQ_SET(FLOAT16), "",
     "QLinearMatMul"},
    {21, FLOAT8 | NIBBLES, "",
     "Flatten Pad Squeeze Transpose Unsqueeze"},
    {21, NIBBLES | QDQ_SET(INT16) | QDQ_SET(UINT16), "",
     "DequantizeLinear QuantizeLinear"},
    {21, NIBBLES, "",
     "Cast CastLike ConstantOfShape Identity Reshape"},
    {22, QDQ_SET(BFLOAT16), "",
     "Acos Acosh Asin Asinh Atan Atanh AveragePool Conv ConvTranspose Cos Cosh Elu "
     "EyeLike GRU GlobalAveragePool GlobalLpPool GlobalMaxPool GridSample "
     "HardSigmoid HardSwish InstanceNormalization LSTM LpNormalization LpPool "
     "MaxPool Mish RNN Round Selu Sin Sinh Softplus Softsign Tan ThresholdedRelu"},
    {22, FLOAT8, "",
     "Dropout"},
    {23, 0, "output_dtype",
     "DequantizeLinear"},
    {23, 0, "precision",
     "QuantizeLinear"},
    {23, QDQ_SET(FLOAT4_E2M1), "",
     "Cast CastLike ConstantOfShape DequantizeLinear Flatten Identity Pad "
     "QuantizeLinear Reshape Squeeze Transpose Unsqueeze"},
    {24, 0, "round_mode",
     "Cast CastLike"},
    {24, QDQ_SET(BFLOAT16), "",
     "TopK"},
    {24, QDQ_SET(FLOAT8_E8M0), "",
     "Cast CastLike ConstantOfShape DequantizeLinear Flatten Identity Pad "
     "QuantizeLinear Reshape Squeeze Transpose Unsqueeze"},
    {25, 0, "left_window_size right_window_size",
     "Attention"},
    {25, PAIRS, "",
     "Cast CastLike ConstantOfShape DequantizeLinear Flatten Identity Pad "
     "QuantizeLinear Reshape Squeeze Transpose Unsqueeze"},
};
// clang-format on

static void add(qdq_onnx_node *node, const row *r, const char *port, const char *found) {
    qdq_graph *graph = node->im->graph;
    qdq_newer *newer = QDQ_MEMPOOL_NEW(&graph->mempool, qdq_newer);
    if (!newer) return;
    // Names are of the model, which the graph outlives.
    newer->subject =
        (qdq_subject){ONNX_TEXT(node, "%s", node->name), ONNX_TEXT(node, "%s", node->proto->op),
                      port ? ONNX_TEXT(node, "%s", port) : NULL, NULL};
    newer->found = found;
    newer->wanted = ONNX_TEXT(node, "opset %d or later, as the model has opset %lld", r->since,
                              (long long)node->opset);
    newer->next = graph->newer ? graph->newer->next : newer;
    if (graph->newer) graph->newer->next = newer;
    graph->newer = newer;
}

// Records the first value of a dtype that the row has.
static void check_dtypes(qdq_onnx_node *node, const row *r) {
    for (size_t i = 0; i < node->input_count + node->output_count; i++) {
        bool in = i < node->input_count;
        const qdq_onnx_value *value = in ? node->inputs[i] : node->outputs[i - node->input_count];
        if (!value || !qdq_set_has(r->dtypes, qdq_onnx_dtype(value->elem))) continue;
        add(node, r, NULL,
            ONNX_TEXT(node, "has %s %zu of %s", in ? "input" : "output",
                      in ? i : i - node->input_count, qdq_onnx_elem_name(value->elem)));
        return;
    }
}

void qdq_onnx_check_opset(qdq_onnx_node *node) {
    if (*node->proto->domain && strcmp(node->proto->domain, "ai.onnx") != 0) return;
    for (const row *r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
        if (node->opset >= r->since || !qdq_has_word(r->ops, node->proto->op)) continue;
        if (r->dtypes) check_dtypes(node, r);
        for (size_t i = 0; i < node->attr_count; i++)
            if (*r->attrs && qdq_has_word(r->attrs, node->attrs[i].name))
                add(node, r, node->attrs[i].name, "is given");
    }
}
