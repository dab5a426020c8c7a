// SPDX-License-Identifier: Apache-2.0
// Adds codings of constants: weights with a scale for each channel or group, and biases.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_CONSTANTS_H
#define QDQ_TOOLS_LAB_QUANTIZE_CONSTANTS_H

#include "tools/lab/quantize/choose.h"
#include "tools/lab/quantize/coding_list.h"

// The form in which weights are quantized.
typedef struct weight_form {
    qdq_dtype dtype;
    choose_method method;
    int channel;        // the dim with a scale for each index; -1: a single scale
    int grouped;        // the dim that is cut into groups; -1: none
    int64_t group;      // elements in a group; divides the dim `grouped`
    const float *bias;  // [channel], if its codes shall be int32; else NULL
    size_t bias_count;
    float data_scale;  // scale of the operand that the weights are multiplied with
    bool halves_away;  // as qdq_quantized_form has it
} weight_form;

// Adds a coding of a constant. SIZE_MAX if it has elements that are not finite or cannot be read,
// or if memory runs out.
size_t code_weights(coding_list *list, qdq_value w, const weight_form *form);

// Adds a coding of a bias with int32 codes. Its scales are the scales of `form` times the scales of
// coding `weights`: a single scale, or as many as the last dim of the bias. SIZE_MAX as above.
size_t code_bias(coding_list *list, qdq_value bias, const weight_form *form, size_t weights);
// The same for a bias that a product lacks: `channels` zeros.
size_t code_zero_bias(coding_list *list, size_t channels, const weight_form *form, size_t weights);

// Adds a coding of a constant with int8 codes of these parameters; `params` NULL: of its range.
// SIZE_MAX as above.
size_t code_elements(coding_list *list, qdq_value constant, const chosen_params *params,
                     const code_range *codes);
// Adds a coding of one int8 code without a value.
size_t code_alone(coding_list *list, const chosen_params *params, int32_t code);

#endif
