// SPDX-License-Identifier: Apache-2.0
// Adds what pairs and groups do to the outputs, on one sample after another, to the tables of
// outputs and of effects.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_EFFECT_STATE_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_EFFECT_STATE_H

#include "tools/lab/explain/accuracy/data/accuracy_state.h"
#include "tools/lab/explain/accuracy/effect.h"

typedef struct effect_adder {
    effects walks;
    const node_accuracy *nodes;
    size_t *rows;  // of nodes that are pairs and groups; owned
    size_t count;
    size_t *places;       // [output]: its place among the outputs of a row; SIZE_MAX: none; owned
    size_t output_count;  // outputs of a row
    size_t row;           // index in `rows`, in the present walk
    state *state;
} effect_adder;

// Adds rows to the table of effects of a state, whose table of outputs has its rows. The rows of
// nodes must outlive the adder. Sets `err` on failure; close it in either case.
qdq_status effect_adder_open(effect_adder *a, const accuracy_forms *forms,
                             const accuracy_graphs *graphs, const node_accuracy *rows, size_t count,
                             state *s, qdq_error *err);
// Adds the sample that the forms have run, by its index in the data. Sets `err` on failure.
qdq_status effect_adder_add(effect_adder *a, state *s, size_t index, qdq_error *err);
void effect_adder_close(effect_adder *a);

#endif
