// SPDX-License-Identifier: Apache-2.0
// The scale and the zero point with which a Dequantize reads codes, and the numbers that it reads.
#ifndef QDQ_TOOLS_EXPLAIN_ACCURACY_CODE_PARAMETERS_H
#define QDQ_TOOLS_EXPLAIN_ACCURACY_CODE_PARAMETERS_H

#include "tools/lab/explain/accuracy/mends.h"

typedef struct code_parameters {
    bool known;       // codes are integers with a scale
    bool per_tensor;  // one scale greater than 0, and at most one zero point
    double scale, zero;
    double least, greatest;  // code
    // Ports whose elements are not constant; no values otherwise.
    qdq_value scale_value, zero_value;
} code_parameters;

// Reads the parameters of a Dequantize, by way of a file in `folder`. False with `err` set.
bool code_parameters_read(const replay *r, size_t node, const char *folder, code_parameters *out,
                          qdq_error *err);
// Takes parameters that are not constant from the last run.
void code_parameters_renew(code_parameters *p, const replay *r);

// The exact numbers that a Dequantize stands for, and the codes; the caller frees q->x and
// q->codes, also after a failure. False: they are not known, or no memory.
bool code_numbers(const reference *ref, size_t node, const code_parameters *p,
                  quantized_numbers *q);

typedef struct code_count {
    size_t clipped;    // elements beyond the range of the codes
    double low, high;  // the codes that occur lie in between
} code_count;

code_count count_codes(const quantized_numbers *q);

#endif
