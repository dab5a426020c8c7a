// SPDX-License-Identifier: Apache-2.0
// ONNX's element types, and the elements of its tensors.
#ifndef QDQ_GRAPH_FORMATS_ONNX_ONNX_TENSOR_H
#define QDQ_GRAPH_FORMATS_ONNX_ONNX_TENSOR_H

#include "graph/formats/onnx/onnx_import.h"

// Returns the dtype of an element type; QDQ_DTYPE_NONE if graphs lack it.
qdq_dtype qdq_onnx_dtype(int elem);
int qdq_onnx_elem_of(qdq_dtype dtype);
// Returns the name of an element type: "float32", "float64", "string".
const char *qdq_onnx_elem_name(int elem);
bool qdq_onnx_elem_is_real(int elem);
// Returns the bits of an element in a file.
int qdq_onnx_elem_bits(int elem);

// Sets the shape of a constant; dims may be 0. Returns NULL, or a sentence that says why dims or
// type are wrong.
const char *qdq_onnx_tensor_shape(qdq_onnx_import *im, const qdq_onnx_tensor *tensor,
                                  qdq_shape *out);

// Reads all elements as numbers into `ints` or `reals`, whichever fits the type.
qdq_status qdq_onnx_tensor_numbers(qdq_onnx_import *im, const qdq_onnx_tensor *tensor, size_t count,
                                   int64_t *ints, double *reals);

// Adds elements of the tensor to the graph as a constant of this shape: all, or the elements from
// `first` on. Large constants stay in their file.
qdq_status qdq_onnx_tensor_add(qdq_onnx_import *im, const char *name, const qdq_onnx_tensor *tensor,
                               size_t first, qdq_shape shape, qdq_value *out);

#endif
