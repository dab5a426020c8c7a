// SPDX-License-Identifier: Apache-2.0
// The evidence for the numbers of target onnx.
#ifndef QDQ_GRAPH_TARGETS_ONNX_ONNX_EVIDENCE_H
#define QDQ_GRAPH_TARGETS_ONNX_ONNX_EVIDENCE_H

#include "graph/core/target.h"

// Up to a row of zeros.
extern const qdq_evidence_row qdq_onnx_evidence[];

#endif
