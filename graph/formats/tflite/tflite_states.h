// SPDX-License-Identifier: Apache-2.0
// Variables of a TensorFlow Lite model as state between runs: a variable is an input, and an output
// with its elements for the next run.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_TFLITE_STATES_H
#define QDQ_GRAPH_FORMATS_TFLITE_TFLITE_STATES_H

#include "graph/formats/tflite/tflite_import.h"

// A variable of the model.
typedef struct qdq_tflite_variable {
    const char *name;     // in the graph
    qdq_value input;      // id 0: never read
    qdq_value next;       // assigned last; id 0: never
    qdq_type type;        // of the first elements; no dtype: there are none
    const void *initial;  // the first elements
} qdq_tflite_variable;

// True if the operator handles variables, whose handles are resources.
bool qdq_tflite_handles_variables(int code);

// Adds an output for each variable that is read, and declares it as state.
qdq_status qdq_tflite_add_states(qdq_tflite_import *im);

#endif
