// SPDX-License-Identifier: Apache-2.0
// Chooses the values of a graph that a target reads as codes, and their parameters.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_PLACES_H
#define QDQ_TOOLS_LAB_QUANTIZE_PLACES_H

#include "tools/lab/dataset/state.h"
#include "tools/lab/quantize/choose.h"
#include "tools/lab/quantize/coding_list.h"

// The choices of the user.
typedef struct quantize_choice {
    const qdq_quantized_form *form;
    choose_method activations, weights;
    double percentile;
    bool symmetric;    // symmetric activations, even if the target accepts other zero points
    bool per_tensor;   // a single scale for weights
    int64_t group;     // elements that share a scale of weights; 0: no groups
    const bool *kept;  // [node]: stays in float
} quantize_choice;

typedef enum node_fate {
    NODE_OTHER,          // the target does not read its operands as codes
    NODE_QUANTIZED,      // its operands are codes
    NODE_KEPT,           // the user keeps it in float
    NODE_NOT_FLOAT32,    // an operand is not float32
    NODE_NO_STATISTICS,  // an operand is not in the state, or has no finite element
    NODE_NO_OPERATOR,    // the target has no kernel on codes for it
    NODE_NO_ACTIVATION,  // all operands are constants, or a constant is not finite
} node_fate;

// Returns the reason for which a node stays in float; NULL for the first two fates.
const char *node_fate_text(node_fate fate);

// Fills an open list, and sets the fate of each node. False if memory runs out.
bool place_codes(coding_list *list, const state *s, const quantize_choice *choice,
                 node_fate *fates);

#endif
