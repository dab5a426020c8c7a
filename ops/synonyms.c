// SPDX-License-Identifier: Apache-2.0
#include "ops/synonyms.h"

#include <string.h>

#include "runtime/base/did_you_mean.h"

// If a word has several meanings, the first that the caller knows counts.
static const struct {
    const char *theirs, *ours;
} synonyms[] = {
    // Attributes.
    {"dim", "axis"},
    {"dim", "axes"},
    {"quantization_axis", "axis"},
    {"block_size", "group_shape"},
    {"block_shape", "group_shape"},
    {"blockShape", "group_shape"},
    {"group_size", "group_shape"},
    {"output_dtype", "dtype"},
    {"out_dtype", "dtype"},
    {"target_dtype", "dtype"},
    {"output_type", "dtype"},
    {"toType", "dtype"},
    {"to_type", "dtype"},
    {"to", "dtype"},
    {"mapping_type", "scheme"},
    {"qmin", "quant_min"},
    {"qmax", "quant_max"},
    {"scale_type", "scale_dtype"},
    {"scaleType", "scale_dtype"},
    // Attributes or ports.
    {"zero_point", "zps"},
    {"zero_points", "zps"},
    {"zero_points", "zero_point"},
    {"zps", "zero_point"},
    {"zeroPt", "zero_point"},
    {"zeroPt", "zps"},
    {"x_zero_point", "zero_point"},
    {"x_zero_point", "zps"},
    {"y_zero_point", "zero_point"},
    {"y_zero_point", "zps"},
    {"x_scale", "scale"},
    {"x_scale", "scales"},
    {"y_scale", "scale"},
    {"y_scale", "scales"},
    {"in_zero_point", "in_zps"},
    {"out_zero_point", "out_zps"},
    {"input", "x"},
    {"input_tensor", "x"},
    {"src", "x"},
    {"data", "x"},
    // Ops: oneDNN Graph, ONNX, torchao, ttnn.
    {"DynamicDequantize", "Dequantize"},
    {"TypeCast", "Cast"},
    {"typecast", "Cast"},
    {"QuantizeLinear", "Quantize"},
    {"DequantizeLinear", "Dequantize"},
    {"DynamicQuantizeLinear", "DynamicQuantize"},
    {"quantize_affine", "Quantize"},
    {"dequantize_affine", "Dequantize"},
    {"choose_qparams_affine", "DynamicQuantize"},
    {"to_mx", "DynamicQuantize"},
    {"nvfp4_quantize", "DynamicQuantize"},
    {"Conv", "Convolution"},
    {"Gemm", "MatMul"},
    {"Clip", "Clamp"},
    {"Max", "Maximum"},
    {"Min", "Minimum"},
    {"Sub", "Subtract"},
    {"Mul", "Multiply"},
    {"Div", "Divide"},
    {"Where", "Select"},
    {"GreaterOrEqual", "GreaterEqual"},
    {"to_memory_config", "ToMemoryConfig"},
    {"interleaved_to_sharded", "InterleavedToSharded"},
    {"sharded_to_interleaved", "ShardedToInterleaved"},
    {"reshard", "Reshard"},
    {"to_layout", "ToLayout"},
    {"tilize", "ToLayout"},
    {"untilize", "ToLayout"},
    {"Reshape", "StaticReshape"},
    {"Transpose", "StaticTranspose"},
    {"Resize", "Interpolate"},
    {"AveragePool", "AvgPool"},
    {"LayerNormalization", "LayerNorm"},
    {"RMSNormalization", "RMSNorm"},
    {"GroupNormalization", "GroupNorm"},
    {"BatchNormalization", "BatchNormInference"},
};

static const struct {
    const char *theirs, *advice;
} foreign[] = {
    {"memory_config", "it is a key of the node, next to `attrs`"},
    {"queue_id", "leave it out: a run has no command queues"},
    {"output_tensor", "leave it out: only Quantize, Dequantize, Requantize and elementwise ops of two inputs have it"},
};

// Returns our word for a backend's word, if the caller knows it.
static const char *ours_for(size_t synonym, const char *const *known, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(synonyms[synonym].ours, known[k]) == 0) return known[k];
    return NULL;
}

const char *qdq_word_meant(const char *name, const char *const *known, size_t count) {
    enum { SYNONYMS = sizeof synonyms / sizeof synonyms[0] };
    if (!name) return NULL;
    for (size_t i = 0; i < SYNONYMS; i++) {
        const char *ours = strcmp(synonyms[i].theirs, name) ? NULL : ours_for(i, known, count);
        if (ours) return ours;
    }
    const char *nearest = qdq_did_you_mean(name, known, count);
    for (size_t i = 0; i < SYNONYMS && !nearest; i++)
        if (qdq_did_you_mean(name, &synonyms[i].theirs, 1)) nearest = ours_for(i, known, count);
    return nearest;
}

const char *qdq_word_without_counterpart(const char *name) {
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (strcmp(foreign[i].theirs, name) == 0) return foreign[i].advice;
    return NULL;
}
