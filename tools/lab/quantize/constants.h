// SPDX-License-Identifier: Apache-2.0
// Codes of constants: weights with a scale for each channel or group, and biases.
#ifndef QDQ_TOOLS_QUANTIZE_CONSTANTS_H
#define QDQ_TOOLS_QUANTIZE_CONSTANTS_H

#include "tools/lab/quantize/choose.h"
#include "tools/lab/quantize/coding_list.h"

// How weights are quantized.
typedef struct weight_form {
    qdq_dtype dtype;
    choose_method method;
    int channel;        // the dim with a scale for each index; -1: one scale
    int grouped;        // the dim whose elements are cut into groups; -1: none
    int64_t group;      // elements of a group; divides that dim
    const float *bias;  // by channel, if its codes shall be int32; else NULL
    size_t bias_count;
    float data_scale;  // of what the weights are multiplied with
} weight_form;

// Adds a coding of a constant; SIZE_MAX: it has elements that are not finite, or memory or reading
// fails.
size_t code_weights(coding_list *list, qdq_value w, const weight_form *form);

// Adds int32 codes of a bias whose scales are data_scale * the scales of `weights`, which has one
// scale or as many as the last dim of the bias. SIZE_MAX as above.
size_t code_bias(coding_list *list, qdq_value bias, float data_scale, size_t weights);

#endif
