// SPDX-License-Identifier: Apache-2.0
// What each target takes of a quantized graph: the table that `qdq quantize` reads.
#ifndef QDQ_TOOLS_QUANTIZE_TARGET_TABLE_H
#define QDQ_TOOLS_QUANTIZE_TARGET_TABLE_H

#include <qdq/base.h>
#include <qdq/ops/quantize.h>

// Which values of an Add of two computed values, as in residual networks, become codes.
typedef enum residual_form {
    RESIDUAL_FLOAT,   // none
    RESIDUAL_BRANCH,  // the operand that is added to a product's result, which the backend fuses
    RESIDUAL_BOTH,    // both operands, and the result
} residual_form;

typedef struct target_row {
    const char *target;
    const char *ops;        // whose operands become codes
    const char *channels;   // those of them whose weights may have scales for channels
    const char *moves;      // with `results`: ops whose result has the codes of their input
    qdq_qtype qtype;        // of weights: one scale for each output channel, if the target takes it
    qdq_dtype activations;  // of codes
    qdq_dtype weights;      // symmetric codes
    qdq_dtype bias;  // QDQ_INT32: codes with the product of both scales; QDQ_FLOAT32: it stays
    residual_form residual;
    bool symmetric;    // zero points must be 0
    bool zero_points;  // a zero point of 0 is written as well
    bool results;      // results of these ops become codes, for groups of Dequantize, op, Quantize
    bool groups;       // weights of MatMul may have scales for groups of a column
    bool stacks;       // weights of MatMul with several matrices may have scales for channels
    bool softmax;  // asymmetric codes of a SoftMax have the scale 1 / 256, which its kernel takes
} target_row;

// The row of "TARGET", "TARGET@RELEASE" or with options behind it; NULL: there is none.
const target_row *target_row_of(const char *target);

// Whether a list of words has a word.
bool has_word(const char *words, const char *word);

#endif
