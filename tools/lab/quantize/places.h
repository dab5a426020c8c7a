// SPDX-License-Identifier: Apache-2.0
// Decides which values of a graph become codes for a target, and with which parameters.
#ifndef QDQ_TOOLS_QUANTIZE_PLACES_H
#define QDQ_TOOLS_QUANTIZE_PLACES_H

#include "tools/lab/dataset/state.h"
#include "tools/lab/quantize/choose.h"
#include "tools/lab/quantize/coding_list.h"

// What the user chose.
typedef struct quantize_choice {
    const qdq_quantized_form *form;
    choose_method activations, weights;
    double percentile;
    bool symmetric;    // activations, also where the target takes other zero points
    bool per_tensor;   // one scale for weights
    int64_t group;     // elements that share a scale; 0: no groups
    const bool *kept;  // by node: stays in float
} quantize_choice;

typedef enum node_fate {
    NODE_OTHER,          // no op whose operands become codes
    NODE_QUANTIZED,      // its operands are codes
    NODE_KEPT,           // the user said so
    NODE_NOT_FLOAT32,    // an operand is no float32
    NODE_NO_STATISTICS,  // an operand is not in the state, or has no finite element
    NODE_NO_ACTIVATION,  // all operands are constants, or they are not finite
} node_fate;

// The reason why a node stays in float; NULL for the first two.
const char *node_fate_text(node_fate fate);

// Fills `list`, which is open, and the fate of each node. False if memory runs out.
bool place_codes(coding_list *list, const state *s, const quantize_choice *choice,
                 node_fate *fates);

#endif
