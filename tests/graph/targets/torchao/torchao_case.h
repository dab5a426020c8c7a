// SPDX-License-Identifier: Apache-2.0
// The type of a row of torchao_golden.h, in the terms of tools/peers/torchao_cases.py.
#ifndef QDQ_TESTS_GRAPH_TARGETS_TORCHAO_TORCHAO_CASE_H
#define QDQ_TESTS_GRAPH_TARGETS_TORCHAO_TORCHAO_CASE_H

#include <qdq/qdq.h>

#include "tests/unit.h"

enum { QUANTIZE, DEQUANTIZE, DYNAMIC, REQUANTIZE };
// Where the zero points come from; for nvfp4, where the global scale comes from.
enum { ZP_NONE, ZP_SCALAR, ZP_LIST, ZP_PORT };

// A shape, and the block extents that share a parameter; `axis` is for per_channel.
typedef struct torchao_grain {
    qdq_qtype qtype;
    int axis;
    qdq_shape shape;
    int64_t block[QDQ_MAX_RANK];
} torchao_grain;

typedef struct torchao_case {
    int op, how;  // how: a qdq_domain; for DYNAMIC a qdq_scheme
    qdq_dtype x, y;
    int grain;
    qdq_dtype scale;  // the dtype of the port; none: an attribute
    int zp_from;
    qdq_dtype zp;  // the dtype of the port
    int64_t qmin, qmax;
    double eps;                // 0: absent
    uint32_t inputs, results;  // CRC-32 sums
    uint32_t first[3];         // the first codes of y
} torchao_case;

#endif
