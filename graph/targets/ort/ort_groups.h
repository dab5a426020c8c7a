// SPDX-License-Identifier: Apache-2.0
// Shared code of ONNX Runtime's groups.
#ifndef QDQ_GRAPH_TARGETS_ORT_ORT_GROUPS_H
#define QDQ_GRAPH_TARGETS_ORT_ORT_GROUPS_H

#include "graph/targets/ort/ort_rewrites.h"

// A node unit, also with a Relu or Clamp before its Quantize that changes no code.
typedef struct ort_unit {
    qdq_node_unit qdq;
    size_t clip;   // this Relu or Clamp; SIZE_MAX: none
    size_t last;   // the producer of the input of `clip`: the unit's node, or a factor's
    bool blocked;  // another Relu or Clamp follows, which keeps the node from any group
} ort_unit;

void ort_unit_of(const qdq_rewriter *r, size_t node, ort_unit *unit);
// Lets the result of a unit be the result of the node `last`.
void ort_unit_ends(const qdq_rewriter *r, size_t last, ort_unit *unit);
// Returns the producer of a value, if it is `op` and a single port reads the value; else NULL.
const qdq_node *ort_made_by(const qdq_rewriter *r, uint32_t value, const char *op);
// True if a value is given, constant and float32.
bool ort_is_float_constant(const qdq_rewriter *r, uint32_t value);
// True if a BatchNormInference has channels in dim 1 and constant parameters of float32.
bool ort_is_constant_norm(const qdq_rewriter *r, const qdq_node *norm);
// Sets the factor and the addend of each channel by which ONNX Runtime folds such a node into a
// product with the bias `b`; NULL: it has none. False when memory runs out.
bool ort_norm_line(const qdq_rewriter *r, const qdq_node *norm, const float *b, float **scale,
                   float **bias);
// True if something is connected to a port.
bool ort_has_input(const qdq_node *node, size_t port);
// Returns a constant float32 of one element; NULL: it is none.
const float *ort_scalar_of(const qdq_rewriter *r, uint32_t value);
// True if a value is a constant.
bool ort_is_constant(const qdq_rewriter *r, uint32_t value);
// True for a coder with one constant scale and zero point.
bool ort_is_scalar(const qdq_coder *c);
// True if a single node or output of the graph reads a value. ONNX Runtime gives each reader its
// own Dequantize, so that more readers of a value are more readers of the codes as well.
bool ort_is_read_once(const qdq_rewriter *r, uint32_t value);
// True if a Dequantize computes a value. ONNX Runtime gives each port that reads it a Dequantize of
// its own, so that no fusion forms whose nodes read the same value at several ports.
bool ort_is_duplicated(const qdq_rewriter *r, uint32_t value);
// True if a Quantize is among the readers of a value.
bool ort_is_quantized(const qdq_rewriter *r, uint32_t value);
// True for a constant that ONNX Runtime compares with others; true if two values are the same, or
// such constants with equal elements, which become one.
bool ort_is_shared(const qdq_graph_value *v);
bool ort_same_constant(const qdq_rewriter *r, uint32_t a, uint32_t b);
// True if a single node of ONNX Runtime reads a constant, or one that becomes the same.
bool ort_has_one_node(const qdq_rewriter *r, uint32_t constant);
// True for ONNX's Gemm: a MatMul with a bias or transposed operands.
bool ort_is_gemm(const qdq_node *node);
// True if the scale or the zero point of a coder is a port with dims.
bool ort_has_dims(const qdq_rewriter *r, const qdq_coder *c);
// True for an int8 or uint8 coder; for a coder with one scale.
bool ort_is_byte(const qdq_coder *c);
bool ort_is_per_tensor(const qdq_coder *c);
// Notes the nodes that a group replaces and the values it computes, with the parameters of its
// Quantize.
void ort_replace_unit(const qdq_rewriter *r, qdq_match *m, const ort_unit *unit);
// Notes that a group reads the codes and parameters of an input.
void ort_read_input(const qdq_rewriter *r, qdq_match *m, const qdq_coder *x);
// Returns the name of the new node.
const char *ort_unit_name(const qdq_rewriter *r, const ort_unit *unit);
// Says why a group does not form; returns false.
bool ort_refuses(qdq_match *m, const char *why);
// How many scales and zero points a group takes of an operand or the result.
typedef enum ort_scales {
    ORT_ONE_SCALE,     // one, also of shape [1]
    ORT_SCALAR_SCALE,  // a scalar
} ort_scales;
// False with a finding if ONNX Runtime forms the group and fails because an operand from `first` to
// `last`, or the result, has other scales.
bool ort_takes_scales(const qdq_rewriter *r, qdq_match *m, const ort_unit *unit, size_t first,
                      size_t last, ort_scales wanted);
// Reports that ONNX Runtime forms the group and fails; returns false.
bool ort_fails(qdq_match *m, const char *port, const char *found);

#endif
