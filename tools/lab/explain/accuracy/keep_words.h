// SPDX-License-Identifier: Apache-2.0
// Names the nodes that `qdq quantize --keep` has to leave in float so that a pair does not round.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_KEEP_WORDS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_KEEP_WORDS_H

#include "tools/lab/explain/accuracy/reference.h"

// Writes "qdq quantize --keep conv1 --keep conv2", with names of the float model, as its file has
// them: the products and sums that read the result of a Dequantize, and ops between that the target
// runs on codes; or else, if results of the target are codes, the product that computes what the
// Dequantize stands for. Returns false for other pairs, and writes "qdq quantize leaves it in
// float".
bool keep_words(const reference *ref, size_t node, char *out, size_t capacity);

#endif
