// SPDX-License-Identifier: Apache-2.0
// Chooses scales and zero points: of activations from the statistics of a calibration, of weights
// from their elements. docs/float_to_int8.md has the formulas and where they come from.
#ifndef QDQ_TOOLS_QUANTIZE_CHOOSE_H
#define QDQ_TOOLS_QUANTIZE_CHOOSE_H

#include "tools/lab/calibrate/statistics.h"

// Which part of the numbers the codes cover.
typedef enum choose_method {
    CHOOSE_MINMAX,      // all of them
    CHOOSE_PERCENTILE,  // all but a share of the outermost ones
    CHOOSE_ENTROPY,     // the part with the least Kullback-Leibler divergence
    CHOOSE_MSE,         // the part with the least mean squared error
} choose_method;

// "minmax", ...; ends with NULL.
extern const char *const choose_method_names[];

// Codes: `least` to `greatest`; symmetric: the code in the middle stands for 0.
typedef struct code_range {
    int32_t least, greatest;
    bool symmetric;
} code_range;

// The integers of a dtype of at most 16 bits.
code_range code_range_of(qdq_dtype dtype, bool symmetric);

typedef struct chosen_params {
    float scale;
    int32_t zero_point;
} chosen_params;

// The parameters whose codes reach from `least` to `greatest`, widened to contain 0. 1 and the code
// of 0 for a range without width.
chosen_params params_of_range(double least, double greatest, const code_range *codes);

// The parameters of a value with these statistics, which have a finite element. `percentile`, above
// 0 and at most 100, is for CHOOSE_PERCENTILE.
chosen_params choose_activation(const statistics *s, choose_method method, double percentile,
                                const code_range *codes);

// The symmetric scale of finite elements by CHOOSE_MINMAX or CHOOSE_MSE. 1 if all are 0.
float choose_weight_scale(const float *w, size_t count, choose_method method,
                          const code_range *codes);

#endif
