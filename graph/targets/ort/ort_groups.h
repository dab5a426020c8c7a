// SPDX-License-Identifier: Apache-2.0
// What the groups of ONNX Runtime have in common.
#ifndef QDQ_GRAPH_TARGETS_ORT_ORT_GROUPS_H
#define QDQ_GRAPH_TARGETS_ORT_ORT_GROUPS_H

#include "graph/targets/ort/ort_rewrites.h"

// A node unit, also with a Relu or Clamp before its Quantize that changes no code.
typedef struct ort_unit {
    qdq_node_unit qdq;
    size_t clip;   // this Relu or Clamp; SIZE_MAX: none
    size_t last;   // the node that makes the result before `clip`: the unit's own, or a factor's
    bool blocked;  // another one is there, which keeps the node from any group
} ort_unit;

void ort_unit_of(const qdq_rewriter *r, size_t node, ort_unit *unit);
// Lets the result of a unit be the result of the node `last`.
void ort_unit_ends(const qdq_rewriter *r, size_t last, ort_unit *unit);
// The node that makes a value, if it is `op` and one port alone reads the value; else NULL.
const qdq_node *ort_made_by(const qdq_rewriter *r, uint32_t value, const char *op);
// Whether a value is given, constant and float32.
bool ort_is_float_constant(const qdq_rewriter *r, uint32_t value);
// Whether a ReduceMean keeps all dims of an image [N, C, ...] from the third one on, each of one
// element.
bool ort_is_spatial_mean(const qdq_rewriter *r, const qdq_node *mean);
// Whether something is connected to a port.
bool ort_has_input(const qdq_node *node, size_t port);
// A constant float32 of one element; NULL: it is none.
const float *ort_scalar_of(const qdq_rewriter *r, uint32_t value);
// Whether a value is a constant.
bool ort_is_constant(const qdq_rewriter *r, uint32_t value);
// A coder with one constant scale and zero point.
bool ort_is_scalar(const qdq_coder *c);
// Whether one node or output of the graph reads a value. ONNX Runtime gives each reader of a
// Dequantize one of its own, so that more readers are more readers of the codes as well.
bool ort_is_read_once(const qdq_rewriter *r, uint32_t value);
// An int8 or uint8 coder; a coder with one scale.
bool ort_is_byte(const qdq_coder *c);
bool ort_is_per_tensor(const qdq_coder *c);
// Notes what a group replaces and makes, with the parameters of its Quantize.
void ort_replace_unit(const qdq_rewriter *r, qdq_match *m, const ort_unit *unit);
// Notes that a group reads the codes and parameters of an input.
void ort_read_input(const qdq_rewriter *r, qdq_match *m, const qdq_coder *x);
// The name of the new node.
const char *ort_unit_name(const qdq_rewriter *r, const ort_unit *unit);
// Says why a group does not form; returns false.
bool ort_refuses(qdq_match *m, const char *why);
// How many scales and zero points a group takes of an operand or the result.
typedef enum ort_scales {
    ORT_ONE_SCALE,     // one, also of shape [1]
    ORT_SCALAR_SCALE,  // a scalar
} ort_scales;
// False with a finding if ONNX Runtime makes the group and fails because an operand from `first` to
// `last`, or the result, has other scales.
bool ort_takes_scales(const qdq_rewriter *r, qdq_match *m, const ort_unit *unit, size_t first,
                      size_t last, ort_scales wanted);
// The finding itself.
bool ort_fails(qdq_match *m, const char *port, const char *found);

#endif
