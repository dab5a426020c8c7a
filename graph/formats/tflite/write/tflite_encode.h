// SPDX-License-Identifier: Apache-2.0
// Encodes the draft of a model as a FlatBuffer.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_WRITE_TFLITE_ENCODE_H
#define QDQ_GRAPH_FORMATS_TFLITE_WRITE_TFLITE_ENCODE_H

#include <stdio.h>

#include "graph/formats/tflite/write/tflite_draft.h"

// Returns the version that an operator of a subgraph needs (tflite_versions.c).
int qdq_tflite_version_of(const qdq_tflite_subgraph *subgraph, const qdq_tflite_operator *op);

// Writes the model: tables first, then the elements of constants, each from a multiple of 16 bytes
// on. QDQ_ERR_LIMIT for a model of 2 GiB or more, which offsets of 32 bits cannot hold.
qdq_status qdq_tflite_encode(const qdq_tflite_draft *draft, FILE *stream, qdq_error *err);

// Writes the elements of a constant to the stream in their order and as the format packs them
// (tflite_elements_out.c). `most` bytes of memory are taken at a time, unless they are turned.
uint64_t qdq_tflite_data_bytes(const qdq_tflite_new_tensor *tensor);
qdq_status qdq_tflite_write_data(const qdq_tflite_draft *draft, const qdq_tflite_new_tensor *tensor,
                                 FILE *stream, qdq_error *err);

#endif
