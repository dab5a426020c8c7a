// SPDX-License-Identifier: Apache-2.0
// Encodes the draft of a model. The only user of the protobuf library for writing.
#ifndef QDQ_GRAPH_FORMATS_ONNX_FILE_ONNX_ENCODE_H
#define QDQ_GRAPH_FORMATS_ONNX_FILE_ONNX_ENCODE_H

#include <stdio.h>

#include "graph/formats/onnx/write/onnx_draft.h"

// Returns the bytes of the encoded model; SIZE_MAX if it cannot be encoded.
size_t qdq_onnx_encoded_bytes(const qdq_onnx_draft *draft);
// Writes the model. Elements of constants are read and written part by part. False if a constant
// cannot be read or the stream not written.
bool qdq_onnx_encode(const qdq_onnx_draft *draft, FILE *stream);

// Returns the bytes that the elements of a constant take in a model.
uint64_t qdq_onnx_raw_bytes(qdq_type type);
// Hands the elements over as a model has them, part by part. False if they cannot be read, or when
// `take` returns false.
bool qdq_onnx_each_part(const qdq_onnx_constant *constant,
                        bool (*take)(void *self, const void *bytes, size_t count), void *self);

#endif
