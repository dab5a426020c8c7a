// SPDX-License-Identifier: Apache-2.0
// Decodes an ONNX model into onnx_model.h. The only user of the protobuf library.
#ifndef QDQ_GRAPH_FORMATS_ONNX_FILE_ONNX_DECODE_H
#define QDQ_GRAPH_FORMATS_ONNX_FILE_ONNX_DECODE_H

#include "graph/formats/onnx/file/onnx_model.h"
#include "graph/formats/onnx/file/onnx_source.h"
#include "runtime/base/mempool.h"

// Fails for bytes that are no model (QDQ_ERR_PARSE), and for more than `most` messages and strings,
// or graphs nested too deeply (QDQ_ERR_LIMIT).
qdq_status qdq_onnx_decode(qdq_onnx_source *source, size_t most, qdq_mempool *mempool,
                           qdq_onnx_model *out, qdq_error *err);

// Calls `take` with each number of packed varints. False for broken bytes, or if `take` returns
// false.
bool qdq_onnx_each_varint(qdq_onnx_source *source, qdq_onnx_span span,
                          bool (*take)(void *self, uint64_t number), void *self, qdq_error *err);

#endif
