// SPDX-License-Identifier: Apache-2.0
// Reads the scale and the zero point of a Dequantize, and the numbers that it dequantizes.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_CODE_PARAMETERS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_CODE_PARAMETERS_H

#include "tools/lab/explain/accuracy/accuracy.h"
#include "tools/lab/explain/accuracy/mends.h"

typedef struct code_parameters {
    bool known;       // codes are integers with a scale
    bool per_tensor;  // a single scale greater than 0, and at most one zero point
    double scale, zero;
    double least, greatest;  // of the codes
    // The values of ports that are not constant; else no values.
    qdq_value scale_value, zero_value;
} code_parameters;

// Reads the parameters of a Dequantize, by way of a file in `folder`. False with `err` set.
bool code_parameters_read(const replay *r, size_t node, const char *folder, code_parameters *out,
                          qdq_error *err);
// Updates parameters that are not constant from the last run.
void code_parameters_renew(code_parameters *p, const replay *r);

// Reads all scales and zero points of a Dequantize of integers, by way of a file in `folder`. False
// if it has none, or a scale that is not above 0; with `err` set on failure. Release it in either
// case.
bool pair_scales_read(const replay *r, size_t node, const char *folder, pair_scales *out,
                      qdq_error *err);
void pair_scales_release(pair_scales *s);

// Sets the exact numbers that a Dequantize stands for, and their codes. The caller frees q->x and
// q->codes, even after a failure. False if they are not known or memory runs out.
bool code_numbers(const reference *ref, size_t node, const code_parameters *p,
                  quantized_numbers *q);

typedef struct code_count {
    size_t clipped;    // elements beyond the range of the codes
    double low, high;  // the least and the greatest code that occurs
} code_count;

code_count count_codes(const quantized_numbers *q);

#endif
