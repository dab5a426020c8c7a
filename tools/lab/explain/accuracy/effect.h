// SPDX-License-Identifier: Apache-2.0
// Walks from a pair of Quantize and Dequantize, or from a group of nodes that the target runs as
// one, to the outputs of a quantized graph: what the outputs are if this pair alone rounds, or all
// pairs but this one, or if this group runs as deployed. Walks are opened once for a graph, and
// begun for the elements that its forms have at the time.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EFFECT_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EFFECT_H

#include "tools/lab/explain/accuracy/accuracy.h"

typedef struct effects {
    accuracy_forms forms;
    accuracy_graphs graphs;
    bool others_round;  // in the present walk
    bool *hands_on;     // [node]: a Quantize that only Dequantize nodes of the dtype of its x read
    const void **changed;  // [value]: elements that differ from the base; NULL: as in the base
    void **rooms;          // [value]: memory for changed results; owned
    // [value]: elements if no pair rounds, by the arithmetic of the target, whose floats may differ
    // from the float model's in the last bits; NULL: as reference_of.
    const void **unrounded;
    void **unrounded_rooms;  // [value]; owned
} effects;

typedef struct effect_walk {
    const node_accuracy *row;  // a pair, or a group; NULL: `floats` has the pairs
    bool without;              // of pairs: all other pairs round, and these do not
    const void *result;        // elements that take the place of the pair's; NULL: as above
    const bool *floats;        // [node] of the graph as written: the Dequantize of a pair
} effect_walk;

// What a walk does to an output.
typedef struct effect_result {
    const effect_walk *walk;
    size_t output;
    qdq_shape shape;
    // The numbers without the walk, for `without` the float model's, and with it; NULL: the walk
    // does not change the output.
    const double *wanted, *now;
    size_t count;
} effect_result;

typedef struct effect_taker {
    void (*take)(void *with, const effect_result *result);
    void *with;
} effect_taker;

// Sets `err` on failure; close it in either case.
qdq_status effects_open(effects *e, const accuracy_forms *forms, const accuracy_graphs *graphs,
                        qdq_error *err);
// Hands out each output that both graphs have; none for a pair or group whose operands are not
// known. Sets `err` on failure.
qdq_status effects_run(effects *e, const effect_walk *walk, const effect_taker *taker,
                       qdq_error *err);
// Runs the graph without rounding. Call it before walks on new elements. Sets `err` on failure.
qdq_status effects_begin(effects *e, qdq_error *err);
void effects_close(effects *e);

#endif
