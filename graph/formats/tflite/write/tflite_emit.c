// SPDX-License-Identifier: Apache-2.0
// Operands, results and the operator of a unit, for the writers of ops.
#include "graph/formats/tflite/write/tflite_writers.h"

int32_t qdq_tflite_in(qdq_tflite_writer *w, size_t i) {
    if (i >= w->unit->in_count || !w->unit->in[i].value) return TFLITE_NO_TENSOR;
    return qdq_tflite_tensor_of(w, w->unit->in[i].value, qdq_tflite_operand_params(w, i), NULL);
}

int32_t qdq_tflite_out(qdq_tflite_writer *w, size_t i) {
    return qdq_tflite_tensor_of(w, w->unit->outs[i], NULL, NULL);
}

qdq_tflite_operator *qdq_tflite_emit_unit(qdq_tflite_writer *w, qdq_tflite_code code, int kind,
                                          size_t count) {
    int32_t tensors[8], y = qdq_tflite_out(w, 0);
    for (size_t i = 0; i < count; i++) tensors[i] = qdq_tflite_in(w, i);
    qdq_tflite_operator *op = qdq_tflite_emit(w, code, kind);
    for (size_t i = 0; i < count; i++) qdq_tflite_add_input(w, op, tensors[i]);
    qdq_tflite_add_output(w, op, y);
    return op;
}

const qdq_type *qdq_tflite_type_at(const qdq_tflite_writer *w, uint32_t value) {
    return &w->draft->graph->values[value].type;
}
