// SPDX-License-Identifier: Apache-2.0
// The pairs around an operator on codes in tests of targets litert and tflm.
#ifndef QDQ_TESTS_GRAPH_TARGETS_LITERT_LITERT_PAIRS_H
#define QDQ_TESTS_GRAPH_TARGETS_LITERT_LITERT_PAIRS_H

#include "tests/network.h"

// Returns codes with one scale and zero point as float32.
static inline qdq_value dequantize(qdq_graph *g, qdq_value x, float scale, double zero) {
    return qdq_dequantize(g, x,
                          (qdq_dequantize_attrs){.scales = {&scale, 1, true},
                                                 .zps = QDQ_ZP(zero),
                                                 .dtype = QDQ_FLOAT32});
}

// Returns floats as int8 with one scale and zero point.
static inline qdq_value quantize(qdq_graph *g, qdq_value x, float scale, double zero) {
    return qdq_quantize(
        g, x,
        (qdq_quantize_attrs){
            .name = "q", .scales = {&scale, 1, true}, .zps = QDQ_ZP(zero), .dtype = QDQ_INT8});
}

#endif
