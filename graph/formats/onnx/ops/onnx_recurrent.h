// SPDX-License-Identifier: Apache-2.0
// A direction of RNN, GRU or LSTM while its time steps become nodes.
//
// Values of a step are [1, batch, n]. H is the hidden size, G the number of gates: W is [D, G * H,
// I] and R is [D, G * H, H], for each of D directions.
#ifndef QDQ_GRAPH_FORMATS_ONNX_OPS_ONNX_RECURRENT_H
#define QDQ_GRAPH_FORMATS_ONNX_OPS_ONNX_RECURRENT_H

#include "graph/formats/onnx/ops/onnx_formula.h"

enum { QDQ_ONNX_MOST_ACTIVATIONS = 3, QDQ_ONNX_MOST_GATES = 4 };

typedef enum { QDQ_ONNX_RNN, QDQ_ONNX_GRU, QDQ_ONNX_LSTM } qdq_onnx_recurrence;

// A function of an operand, as a formula in which % is the operand and `alpha#` and `beta#` are
// numbers; # is its place among the activations of a direction.
typedef struct qdq_onnx_activation {
    const char *formula;
    double alpha, beta;
} qdq_onnx_activation;

// Weights that are quantized: codes [columns, rows], a scale and a zero point. Their product with x
// quantizes x by its own range.
typedef struct qdq_onnx_codes {
    qdq_value codes, scale, zero_point;
} qdq_onnx_codes;

// One direction of a node.
typedef struct qdq_onnx_direction {
    qdq_onnx_node *node;
    const qdq_onnx_op *row;
    qdq_onnx_recurrence kind;
    int64_t at, gates, hidden, steps;
    bool reverse, batch_first, clips, quantized;
    double clip;  // FLT_MAX unless it clips
    qdq_onnx_activation activations[QDQ_ONNX_MOST_ACTIVATIONS];
    qdq_value lengths;           // of the sequences, [1, batch, 1]; id 0: all are full
    qdq_value xw;                // x * W of all steps, in RNN with the bias
    qdq_onnx_codes quantized_r;  // instead of r, if the node is quantized
    qdq_value r, r_last;         // `last`: of GRU's third gate, which r and bias then lack
    // Sums of the biases of W and R; id 0: none. In GRU with linear_before_reset, last_bias is the
    // bias of W alone, and rb_last the bias of R.
    qdq_value bias, last_bias, rb_last;
    qdq_value gate_bias[QDQ_ONNX_MOST_GATES];  // parts of `bias`, if peepholes are added first
    qdq_value peephole[3];                     // of the gates i, o, f; id 0: none
    qdq_value h, c;                            // the state
} qdq_onnx_direction;

// Returns the value of a formula that may use the values of a direction, `more`, the activations
// $0, $1 and $2, and these lists: `g0` to `g4`, where gates begin and end; `this` and `next`, which
// direction.
qdq_value qdq_onnx_compute(const qdq_onnx_direction *d, const char *text, const qdq_onnx_term *more,
                           size_t count);

// Returns the part of an input that belongs to the direction: [1, ...].
qdq_value qdq_onnx_part_of(const qdq_onnx_direction *d, size_t input);
// Returns the rows of gates begin to end of that part of W or R, as a matrix. Rows of a constant
// are a constant, as a runtime packs them.
qdq_value qdq_onnx_rows_of(const qdq_onnx_direction *d, size_t input, int64_t begin, int64_t end);

// Returns a * weights of codes, where a is quantized as uint8 by its least and greatest element.
qdq_value qdq_onnx_dynamic_product(const qdq_onnx_direction *d, qdq_value a,
                                   const qdq_onnx_codes *weights);

// Adds the nodes of step t, and sets the state after it.
void qdq_onnx_run_step(qdq_onnx_direction *d, int64_t t);

#endif
