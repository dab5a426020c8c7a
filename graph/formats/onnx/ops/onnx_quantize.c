// SPDX-License-Identifier: Apache-2.0
// Converts ONNX's quantizing ops and integer products. Scales and zero points stay ports, in the
// dtype and rank that the model has: targets look at them.
#include "graph/formats/onnx/ops/onnx_ops.h"
#include "runtime/numerics/dtype.h"

// Sets which elements share a parameter, by the shape of the scale.
static void set_granularity(qdq_onnx_call *call, const qdq_onnx_value *x,
                            const qdq_onnx_value *scale) {
    qdq_onnx_node *node = call->node;
    int64_t block = qdq_onnx_int(node, "block_size", 0), group[QDQ_MAX_RANK];
    int axis;
    if (block <= 0 && qdq_onnx_count(scale->shape) == 1) return;
    if (!qdq_onnx_axis(node, qdq_onnx_int(node, "axis", 1), x->shape.rank, &axis)) return;
    qdq_shape wanted = {1, {x->shape.dims[axis]}};
    if (block > 0) {
        wanted = x->shape;
        wanted.dims[axis] = (x->shape.dims[axis] - 1) / block + 1;
    }
    if (!qdq_shape_equal(scale->shape, wanted)) {
        qdq_findings *f = &node->im->graph->findings;
        qdq_onnx_refuse(node, "scale", qdq_text(f, "is %s", qdq_shape_text(f, scale->shape)),
                        qdq_shape_text(f, wanted));
        return;
    }
    if (block <= 0) {
        qdq_onnx_set_word(call, "qtype", "per_channel");
        qdq_onnx_set_int(call, "axis", axis);
        return;
    }
    for (int i = 0; i < x->shape.rank; i++) group[i] = 1;
    group[axis] = block < x->shape.dims[axis] ? block : x->shape.dims[axis];
    qdq_onnx_set_word(call, "qtype", "per_group");
    qdq_onnx_set_ints(call, "group_shape", group, (size_t)x->shape.rank);
}

static bool is_all_zero(qdq_onnx_import *im, qdq_onnx_value *value) {
    if (!qdq_onnx_known(im, value)) return false;
    for (size_t i = 0; i < qdq_onnx_count(value->shape); i++)
        if (qdq_onnx_real_at(value, i) != 0.0) return false;
    return true;
}

// Sets the ports that Quantize and Dequantize share; `codes` is the type of the quantized side.
static void set_parameters(qdq_onnx_call *call, int codes) {
    qdq_onnx_node *node = call->node;
    qdq_onnx_value *zero = qdq_onnx_input(node, 2);
    set_granularity(call, node->inputs[0], node->inputs[1]);
    qdq_onnx_port(call, "x", node->inputs[0]);
    // Quantize divides in the dtype of its scale.
    if (qdq_onnx_int(node, "precision", 0) == ONNX_FLOAT)
        qdq_onnx_port_float32(call, "scale", node->inputs[1]);
    else
        qdq_onnx_port(call, "scale", node->inputs[1]);
    if (!zero) return;
    bool zeros = is_all_zero(node->im, zero);
    if (codes == ONNX_INT32 && zeros) return;    // as biases have it
    if (qdq_onnx_elem_is_real(codes) && !zeros)  // ONNX gives only 0 a meaning
        qdq_onnx_refuse(
            node, "zero_point",
            ONNX_TEXT(node, "is no constant 0, and is for %s", qdq_onnx_elem_name(codes)),
            "0 or none");
    qdq_onnx_port(call, "zero_point", zero);
}

static void check_precision(qdq_onnx_node *node, const qdq_onnx_value *scale) {
    int64_t asked = qdq_onnx_int(node, "precision", 0);
    if (asked == 0 || asked == ONNX_FLOAT || asked == scale->elem) return;
    qdq_onnx_refuse(node, "precision", ONNX_TEXT(node, "is %s", qdq_onnx_elem_name((int)asked)),
                    "float32 or the dtype of the scale");
}

static bool is_float8(qdq_dtype dtype) {
    return dtype == QDQ_FLOAT8_E4M3FN || dtype == QDQ_FLOAT8_E5M2 || dtype == QDQ_FLOAT8_E4M3FNUZ ||
           dtype == QDQ_FLOAT8_E5M2FNUZ;
}

void qdq_onnx_quantize(qdq_onnx_node *node, const qdq_onnx_op *row) {
    const qdq_onnx_value *zero = qdq_onnx_input(node, 2);
    int64_t asked = qdq_onnx_int(node, "output_dtype", 0);
    int codes = zero ? zero->elem : asked ? (int)asked : ONNX_UINT8;
    qdq_dtype dtype = qdq_onnx_dtype(codes);
    qdq_onnx_call call;
    check_precision(node, node->inputs[1]);
    qdq_onnx_begin(&call, node, row->ours, NULL);
    set_parameters(&call, codes);
    qdq_onnx_set_dtype(&call, "dtype", dtype);
    if (is_float8(dtype) && !qdq_onnx_int(node, "saturate", 1))
        qdq_onnx_set_bool(&call, "saturate", false);
    qdq_onnx_finish(&call);
}

void qdq_onnx_dequantize(qdq_onnx_node *node, const qdq_onnx_op *row) {
    int64_t asked = qdq_onnx_int(node, "output_dtype", 0);
    int elem = asked ? (int)asked : node->inputs[1]->elem;
    qdq_onnx_call call;
    if (elem == ONNX_FLOAT8E8M0) elem = ONNX_FLOAT;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    set_parameters(&call, node->inputs[0]->elem);
    qdq_onnx_set_dtype(&call, "dtype", qdq_onnx_dtype(elem));
    qdq_onnx_finish(&call);
}

void qdq_onnx_dynamic_quantize(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_call call;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_dtype(&call, "dtype", QDQ_UINT8);
    qdq_onnx_set_word(&call, "scheme", "asymmetric");
    qdq_value made = qdq_onnx_end(&call);
    qdq_onnx_bind(node, 0, made);
    qdq_onnx_bind(node, 1, qdq_port(node->im->graph, made, "scale"));
    qdq_onnx_bind(node, 2, qdq_port(node->im->graph, made, "zero_point"));
}

static void cast_to(qdq_onnx_node *node, const qdq_onnx_op *row, int to) {
    qdq_dtype dtype = qdq_onnx_dtype(to);
    qdq_onnx_call call;
    if (dtype == QDQ_DTYPE_NONE) {
        qdq_onnx_refuse(node, "to", ONNX_TEXT(node, "is %s", qdq_onnx_elem_name(to)),
                        "a dtype that `qdq ops --dtypes` lists");
        return;
    }
    if (to == node->inputs[0]->elem) {
        qdq_onnx_alias(node, 0, node->inputs[0]);
        return;
    }
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_dtype(&call, "dtype", dtype);
    if (is_float8(dtype) || dtype == QDQ_FLOAT8_E8M0)
        qdq_onnx_set_bool(&call, "saturate", qdq_onnx_int(node, "saturate", 1) != 0);
    if (dtype == QDQ_FLOAT8_E8M0)
        qdq_onnx_set_word(&call, "round_mode", qdq_onnx_word(node, "round_mode", "up"));
    qdq_onnx_finish(&call);
}

void qdq_onnx_cast(qdq_onnx_node *node, const qdq_onnx_op *row) {
    cast_to(node, row, (int)qdq_onnx_int(node, "to", 0));
}

void qdq_onnx_cast_like(qdq_onnx_node *node, const qdq_onnx_op *row) {
    cast_to(node, row, node->inputs[1]->elem);
}

//---- Products of integers ---------------------------------------------------

// Sets a scale or zero point of a product: one element, or a list. ONNX also has it with dims of 1
// around; `keep`, counted from the end, is the dim that counts then.
static void set_parameter(qdq_onnx_call *call, const char *port, size_t i, int keep) {
    qdq_onnx_node *node = call->node;
    qdq_onnx_value *value = qdq_onnx_input(node, i);
    if (!value) return;
    int rank = value->shape.rank;
    if (rank <= 1) {
        qdq_onnx_port(call, port, value);
        return;
    }
    for (int k = 0; k < rank; k++) {
        if (value->shape.dims[k] == 1 || k == rank - keep) continue;
        qdq_findings *f = &node->im->graph->findings;
        qdq_onnx_refuse(node, port, qdq_text(f, "is %s", qdq_shape_text(f, value->shape)),
                        "one dim");
        return;
    }
    qdq_shape flat = {1, {value->shape.dims[rank - keep]}};
    qdq_onnx_port_made(call, port, qdq_onnx_reshaped(node, value, port, flat));
}

void qdq_onnx_matmul_integer(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_call call;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port(&call, "a", node->inputs[0]);
    qdq_onnx_port(&call, "b", node->inputs[1]);
    set_parameter(&call, "a_zero_point", 2, 2);
    set_parameter(&call, "b_zero_point", 3, 1);
    qdq_onnx_finish(&call);
}

// Ports named a_... are parameters of rows, b_... of columns.
void qdq_onnx_scaled_matmul(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_call call;
    qdq_onnx_begin_row(&call, node, row);
    for (size_t i = 0; i < node->input_count && i < QDQ_ONNX_MOST_PORTS && row->ports[i]; i++)
        if (row->ports[i][1] == '_' && row->ports[i][0] != 'y')
            set_parameter(&call, row->ports[i], i, row->ports[i][0] == 'a' ? 2 : 1);
    qdq_onnx_finish(&call);
}

// Quantizes a to uint8 by its least and greatest element.
void qdq_onnx_dynamic_matmul(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_call call;
    qdq_onnx_begin(&call, node, "DynamicQuantize", "codes");
    qdq_onnx_port(&call, "x", node->inputs[0]);
    qdq_onnx_set_dtype(&call, "dtype", QDQ_UINT8);
    qdq_onnx_set_word(&call, "scheme", "asymmetric");
    qdq_value codes = qdq_onnx_end(&call);
    if (!codes.id) return;
    qdq_onnx_begin(&call, node, row->ours, NULL);
    qdq_onnx_port_made(&call, "a", codes);
    qdq_onnx_port_made(&call, "a_scale", qdq_port(node->im->graph, codes, "scale"));
    qdq_onnx_port_made(&call, "a_zero_point", qdq_port(node->im->graph, codes, "zero_point"));
    qdq_onnx_port(&call, "b", node->inputs[1]);
    set_parameter(&call, "b_scale", 2, 1);
    set_parameter(&call, "b_zero_point", 3, 1);
    qdq_onnx_port(&call, "bias", qdq_onnx_input(node, 4));
    qdq_onnx_finish(&call);
}

void qdq_onnx_conv_integer(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_call call;
    qdq_onnx_begin_row(&call, node, row);
    if (qdq_onnx_set_windows(&call, true)) qdq_onnx_finish(&call);
}
