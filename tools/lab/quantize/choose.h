// SPDX-License-Identifier: Apache-2.0
// Chooses scales and zero points: of activations from the statistics of a calibration, of weights
// from their elements. docs/float_to_int8.md has the formulas and their sources.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_CHOOSE_H
#define QDQ_TOOLS_LAB_QUANTIZE_CHOOSE_H

#include "tools/lab/calibrate/statistics.h"

// The range of numbers that the codes cover.
typedef enum choose_method {
    CHOOSE_MINMAX,      // the whole range
    CHOOSE_PERCENTILE,  // without a percentage of the outermost numbers
    CHOOSE_ENTROPY,     // the range with the least Kullback-Leibler divergence
    CHOOSE_MSE,         // the range with the least mean squared error
} choose_method;

// "minmax", ...; NULL ends the list.
extern const char *const choose_method_names[];

// Codes from `least` to `greatest`. Symmetric: the code in the middle stands for 0.
typedef struct code_range {
    int32_t least, greatest;
    bool symmetric;
    bool halves_away;  // as qdq_quantized_form has it
} code_range;

// Returns the range of an integer dtype of at most 16 bits.
code_range code_range_of(qdq_dtype dtype, bool symmetric);

typedef struct chosen_params {
    float scale;
    int32_t zero_point;
} chosen_params;

// Returns scale and zero point for codes that cover `least` .. `greatest`, widened to contain 0. An
// empty range has scale 1 and the zero point of 0.
chosen_params params_of_range(double least, double greatest, const code_range *codes);

// Returns the code of an element.
int32_t code_of(float element, chosen_params p, const code_range *codes);
// Returns the code of an element of weights or a bias, of zero point 0.
int32_t symmetric_code_of(float element, float scale, const code_range *codes);

// Chooses scale and zero point for these statistics, which must include a finite element.
// `percentile`: above 0 and at most 100, for CHOOSE_PERCENTILE.
chosen_params choose_activation(const statistics *s, choose_method method, double percentile,
                                const code_range *codes);

// Chooses the symmetric scale of finite elements by CHOOSE_MINMAX or CHOOSE_MSE. If all are 0 it is
// 1, or with `halves_away` the scale of the least range.
float choose_weight_scale(const float *w, size_t count, choose_method method,
                          const code_range *codes);

#endif
