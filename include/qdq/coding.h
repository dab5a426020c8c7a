// SPDX-License-Identifier: Apache-2.0
// Quantizing a graph: codes in place of float values where nodes read them, and the form that a
// target takes. The caller chooses values and scales; `qdq quantize` chooses for a target
// (docs/float_to_int8.md).
#ifndef QDQ_CODING_H
#define QDQ_CODING_H

#include <qdq/ops/quantize.h>

#ifdef __cplusplus
extern "C" {
#endif

// An input port of a node, by their numbers in the graph.
typedef struct qdq_node_port {
    size_t node, port;
} qdq_node_port;

// How a float value becomes codes where nodes read it. All pointers belong to the caller.
typedef struct qdq_coding {
    // float32, float16 or bfloat16. No value: the readers are ports that are not connected, and
    // read `codes`.
    qdq_value value;
    // The codes that replace a constant: qdq_shape_count elements of attrs.dtype. If that is the
    // dtype of `value`, they replace it as they are, without a Dequantize. NULL: a Quantize node
    // computes them.
    const void *codes;
    // The attributes of the Quantize, and of the Dequantize that reads it and returns the dtype of
    // `value`. Parameters are numbers (`scales`, `zps`); `name` and the ports are ignored.
    qdq_quantize_attrs attrs;
    const qdq_node_port *readers;  // the ports that read the Dequantize; each reads `value` now
    size_t reader_count;
    qdq_shape shape;  // of the codes, if there is no value, which then counts as float32
    bool outputs;     // outputs of the graph that are the value read the Dequantize too
    // The node that computes the value moves elements: it reads the codes of its operands, which
    // need a coding each, and its result are the codes. They keep the name of the value.
    bool moved;
    size_t source;  // 1 + the number of another coding of the value, whose codes a Requantize
                    // converts to these ones; 0: a Quantize reads the value
} qdq_coding;

// Returns a new graph in which the readers of each coding read a Dequantize of codes; a node whose
// result is `moved` reads the codes. Other readers, and other outputs of the graph, read the value
// itself. Names stay; a new node is named after the value ("x_quantized", "x_dequantized",
// "x_changed" for elements that replace it), or after the node and port that had none
// ("conv_bias"), with a number if that name is taken. Returns NULL
// with `err` set: QDQ_ERR_ARGUMENT if a coding does not fit the graph, QDQ_ERR_GRAPH if `graph` has
// errors, or memory runs out (also for a NULL graph).
QDQ_API qdq_graph *qdq_graph_quantized(qdq_graph *graph, const qdq_coding *codings, size_t count,
                                       qdq_error *err);

// Returns a new graph with the same inputs, outputs and names whose images are [N, H, W, C] between
// them: convolutions, pools and resizing of [N, C, H, W] are turned, with the nodes between them,
// and transposes lie around other nodes. Weights are [O, I, H, W], and [outputs, inputs] of a
// MatMul; padding is SAME's, none, or a Pad. Results differ by the order of sums. Returns NULL with
// `err` set: QDQ_ERR_GRAPH if `graph` has errors, QDQ_ERR_UNSUPPORTED if it cannot be turned, or
// memory runs out (also for a NULL graph).
QDQ_API qdq_graph *qdq_graph_channels_last(qdq_graph *graph, qdq_error *err);

// The values of an Add of two computed values, as in residual networks, that become codes.
typedef enum qdq_residual_form {
    QDQ_RESIDUAL_FLOAT = 0,  // none
    QDQ_RESIDUAL_BRANCH,  // the operand that is added to the result of a product, which the backend
                          // fuses
    QDQ_RESIDUAL_BOTH,    // both operands, and the sum
} qdq_residual_form;

// Parameters that a kernel gives its results, whatever their range is.
typedef struct qdq_fixed_codes {
    const char *op;  // NULL ends a list
    float scale;
    int32_t zero_point;
} qdq_fixed_codes;

// A quantized graph as a target takes it. Lists of ops have spaces between the names.
typedef struct qdq_quantized_form {
    const char *ops;    // whose operands become codes
    const char *moves;  // with `results`: ops whose result has the codes of their input
    qdq_dtype values;   // codes of computed values
    qdq_dtype weights;  // symmetric codes of constants, with a scale for each output channel
    qdq_dtype bias;     // QDQ_INT32: codes with the product of both scales; QDQ_FLOAT32: it stays
    qdq_residual_form residual;
    bool symmetric;    // zero points are 0
    bool zero_points;  // a zero point of 0 is written as well
    bool results;      // results of `ops` become codes, for groups of Dequantize, op, Quantize
    bool groups;       // weights of MatMul may have scales for groups of a column
    bool stacks;       // weights of MatMul with several matrices may have scales for channels
    bool softmax;  // asymmetric codes of a SoftMax have the scale 1 / 256, which its kernel takes
    // With `results`: ops whose integer kernels also give floats, except with a bias, so that a
    // result becomes codes only for a node that reads codes. NULL: none.
    const char *float_results;
    // Every value becomes codes, inputs and outputs of the graph too, because kernels read codes
    // and give codes. `ops` and `operators` have such kernels; `moves` move codes; a Dequantize
    // and a Quantize lie around other ops.
    bool whole;
    // With `whole`: the ops that have kernels besides `ops`, where constants get one scale and zero
    // point.
    const char *operators;
    const char *clips;   // ReLU and Clamp to the bounds of a kernel lie in the kernels of these ops
    const char *shares;  // results have the parameters of the operand; operands the result's, if
                         // there are several
    const char *biased;  // ops that need a bias: without one it is zeros
    const qdq_fixed_codes *fixed;  // NULL: none
    // Scales are computed in float32, codes round halves away from zero, and a range of less than
    // 1e-6 is widened, as in the converter of TensorFlow Lite.
    bool halves_away;
    bool channels_last;  // images are [N, spatial..., C]
} qdq_quantized_form;

// The form of "TARGET", "TARGET@VERSION" or with options behind it, which lives as long as the
// library. NULL: there is no such target, it has no form, or `target` is NULL.
QDQ_API const qdq_quantized_form *qdq_target_quantized_form(const char *target);

#ifdef __cplusplus
}
#endif
#endif
