// SPDX-License-Identifier: Apache-2.0
// All ops: for each one a struct with its ports and attributes, and the call that adds a node.
//
// The struct of an op matches a node in JSON: its fields have the names of the ports and attributes
// there. Zero is the default of every field, so a call names only the fields it needs:
//
//     qdq_value q = qdq_quantize(g, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(0.02f)});
//
// C++20 has the same without the name of the struct; its fields must be in the order of
// declaration.
//
// Both the C calls and the JSON reader end in qdq_add_node, which checks the node and infers its
// outputs.
//
// Neural-network ops (in all headers but ops/quantize.h) have the names, attributes and defaults of
// the oneDNN Graph operations, except where a comment says ONNX. Unless a comment says otherwise,
// their values are floats (float32, float16, bfloat16), arithmetic is float32 with one rounding to
// the dtype of the result, and a result has the dtype and the shape of the first input. Results
// have the same bits on every instruction set and with any number of threads.
#ifndef QDQ_OPS_H
#define QDQ_OPS_H

#include <qdq/ops/elementwise.h>
#include <qdq/ops/integer.h>
#include <qdq/ops/movement.h>
#include <qdq/ops/node.h>
#include <qdq/ops/products.h>
#include <qdq/ops/qlinear.h>
#include <qdq/ops/quantize.h>
#include <qdq/ops/reduce.h>
#include <qdq/ops/spatial.h>

#endif
