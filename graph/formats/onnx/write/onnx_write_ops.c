// SPDX-License-Identifier: Apache-2.0
// Writes the nodes of a graph as nodes of ONNX. ONNX's name of an op is in the reader's table; an
// op that is there with its ports and attributes needs no function here.
#include <string.h>

#include "graph/formats/onnx/write/onnx_writers.h"
#include "graph/memory/given_layout.h"

// The ops whose ONNX form a function writes.
static const struct {
    const char *ours;
    qdq_onnx_write_op *write;
} writers[] = {
    {"Quantize", qdq_onnx_write_quantize},
    {"Dequantize", qdq_onnx_write_dequantize},
    {"DynamicQuantize", qdq_onnx_write_dynamic},
    {"Requantize", qdq_onnx_write_requantize},
    {"Cast", qdq_onnx_write_cast},
    {"MatMulInteger", qdq_onnx_write_integer_matmul},
    {"QLinearMatMul", qdq_onnx_write_integer_matmul},
    {"MatMulIntegerToFloat", qdq_onnx_write_microsoft_matmul},
    {"QGemm", qdq_onnx_write_microsoft_matmul},
    {"ConvInteger", qdq_onnx_write_integer_conv},
    {"QLinearConv", qdq_onnx_write_integer_conv},
    {"QLinearAdd", qdq_onnx_write_qlinear},
    {"QLinearMul", qdq_onnx_write_qlinear},
    {"QLinearAveragePool", qdq_onnx_write_qlinear_pool},
    {"QLinearGlobalAveragePool", qdq_onnx_write_qlinear_global_pool},
    {"QLinearSoftmax", qdq_onnx_write_qlinear_softmax},
    {"Square", qdq_onnx_write_square},
    {"SiLU", qdq_onnx_write_silu},
    {"ReLU6", qdq_onnx_write_relu6},
    {"Rsqrt", qdq_onnx_write_rsqrt},
    {"Trunc", qdq_onnx_write_trunc},
    {"Clamp", qdq_onnx_write_clamp},
    {"Tanh", qdq_onnx_write_tanh},
    {"GELU", qdq_onnx_write_gelu},
    {"Pow", qdq_onnx_write_pow},
    {"Mod", qdq_onnx_write_mod},
    {"IsInf", qdq_onnx_write_is_inf},
    {"BitShift", qdq_onnx_write_bit_shift},
    {"BiasAdd", qdq_onnx_write_bias_add},
    {"PReLU", qdq_onnx_write_prelu},
    {"MatMul", qdq_onnx_write_matmul},
    {"Convolution", qdq_onnx_write_conv},
    {"ConvTranspose", qdq_onnx_write_conv},
    {"SoftMax", qdq_onnx_write_softmax},
    {"LogSoftmax", qdq_onnx_write_softmax},
    {"LayerNorm", qdq_onnx_write_layer_norm},
    {"RMSNorm", qdq_onnx_write_rms_norm},
    {"GroupNorm", qdq_onnx_write_group_norm},
    {"BatchNormInference", qdq_onnx_write_batch_norm},
    {"ReduceL1", qdq_onnx_write_reduce},
    {"ReduceL2", qdq_onnx_write_reduce},
    {"ReduceMax", qdq_onnx_write_reduce},
    {"ReduceMean", qdq_onnx_write_reduce},
    {"ReduceMin", qdq_onnx_write_reduce},
    {"ReduceProd", qdq_onnx_write_reduce},
    {"ReduceSum", qdq_onnx_write_reduce},
    {"CumSum", qdq_onnx_write_cum_sum},
    {"TopK", qdq_onnx_write_top_k},
    {"AvgPool", qdq_onnx_write_pool},
    {"MaxPool", qdq_onnx_write_pool},
    {"Interpolate", qdq_onnx_write_interpolate},
    {"Concat", qdq_onnx_write_concat},
    {"StaticReshape", qdq_onnx_write_reshape},
    {"StaticTranspose", qdq_onnx_write_transpose},
    {"Reorder", qdq_onnx_write_identity},
    {"Slice", qdq_onnx_write_slice},
    {"Pad", qdq_onnx_write_pad},
    {"Expand", qdq_onnx_write_expand},
    {"Tile", qdq_onnx_write_tile},
    {"Trilu", qdq_onnx_write_trilu},
    {"EyeLike", qdq_onnx_write_eye_like},
    {"OneHot", qdq_onnx_write_one_hot},
    {"ScatterElements", qdq_onnx_write_scatter},
    {"ScatterND", qdq_onnx_write_scatter},
};

static qdq_onnx_write_op *find_writer(const char *ours) {
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        if (strcmp(writers[i].ours, ours) == 0) return writers[i].write;
    return NULL;
}

//---- Ops with the same ports and attributes ---------------------------------

static void put_attr(qdq_onnx_writer *w, qdq_onnx_new_node *n, const qdq_onnx_attr_row *attr) {
    const char *ours = attr->ours ? attr->ours : attr->name;
    if (attr->kind == 'f')
        qdq_onnx_add_real(w, n, attr->name, qdq_onnx_given_real(w, ours, attr->otherwise));
    else if (attr->kind == 'i')
        qdq_onnx_add_int(w, n, attr->name, qdq_onnx_given_int(w, ours));
    else if (attr->kind == 'b')
        qdq_onnx_add_int(w, n, attr->name, qdq_onnx_given_bool(w, ours));
    else
        qdq_onnx_add_word(w, n, attr->name, qdq_onnx_given_word(w, ours));
}

static bool is_narrow(qdq_dtype dtype) {
    return dtype == QDQ_INT8 || dtype == QDQ_UINT8 || dtype == QDQ_INT16 || dtype == QDQ_UINT16;
}

// Reports operands a and b of different dtypes, which ONNX forbids.
static void check_operands(qdq_onnx_writer *w) {
    const qdq_graph_value *a = qdq_onnx_at_port(w, "a"), *b = qdq_onnx_at_port(w, "b");
    if (!a || !b) return;
    if (is_narrow(a->type.dtype)) qdq_onnx_need_opset(w->draft, 14);
    if (a->type.dtype != b->type.dtype)
        qdq_onnx_cannot(w, "b", WRITE_TEXT(w, "is %s", qdq_dtype_name(b->type.dtype)),
                        qdq_dtype_name(a->type.dtype), "cast it to the dtype of a");
}

static void write_row(qdq_onnx_writer *w, const qdq_onnx_op *row) {
    check_operands(w);
    bool result = qdq_onnx_has(w, "dtype");
    if (result && !qdq_onnx_keeps_dtype(w)) return;
    qdq_onnx_new_node *n = qdq_onnx_emit(w, row->name, row->since, NULL);
    for (size_t i = 0; i < QDQ_ONNX_MOST_PORTS && row->ports[i]; i++)
        qdq_onnx_add_port(w, n, row->ports[i]);
    for (size_t i = 0; i < QDQ_ONNX_MOST_ATTRS && row->attrs[i].kind; i++)
        put_attr(w, n, &row->attrs[i]);
    qdq_onnx_yield(w, n, 0);
}

//---- Unread ports and attributes --------------------------------------------

// True for an attribute that cannot change a result, or whose effect is seen in the types.
static bool is_harmless(const char *attr) {
    return strcmp(attr, "auto_broadcast") == 0 || strcmp(attr, "queue_id") == 0;
}

// Refuses ports and attributes that the writer of an op did not read.
static void check_left(qdq_onnx_writer *w) {
    const qdq_node *node = w->node;
    const qdq_graph *graph = w->draft->graph;
    for (size_t i = 0; i < node->op->attr_count && !w->refused; i++) {
        const qdq_attr_desc *attr = &node->op->attrs[i];
        bool set = qdq_attr_is_set(attr, (const char *)node->attrs + attr->offset);
        if (set && !(w->attrs >> i & 1) && !is_harmless(attr->name))
            qdq_onnx_cannot(w, attr->name, "has no counterpart in ONNX", NULL, "leave it out");
    }
    for (size_t i = 0; i < node->op->input_count && !w->refused; i++)
        if (node->inputs[i].id && !(w->ports >> i & 1))
            qdq_onnx_cannot(w, node->op->inputs[i].name, "has no counterpart in ONNX", NULL, NULL);
    // Only these two ops write more than their first result.
    bool several =
        strcmp(node->op->name, "TopK") == 0 || strcmp(node->op->name, "DynamicQuantize") == 0;
    for (size_t i = 1; i < node->output_count && !w->refused && !several; i++)
        if (graph->values[node->outputs[i]].uses)
            qdq_onnx_cannot(w, node->op->outputs[i].name, "is read", "not read: ONNX lacks it",
                            NULL);
}

static void check_device(qdq_onnx_writer *w) {
    if (qdq_graph_given_layout(w->draft->graph, w->node->outputs[0]))
        qdq_onnx_cannot(w, NULL, "says where its result lies on a device", "nothing of a device",
                        "remove memory_config and layout");
}

static void check_indices(qdq_onnx_writer *w) {
    const qdq_graph_value *v = qdq_onnx_at_port(w, "indices");
    w->ports = 0;
    if (!v || v->type.dtype == QDQ_INT32 || v->type.dtype == QDQ_INT64) return;
    qdq_onnx_cannot(w, "indices", WRITE_TEXT(w, "are %s", qdq_dtype_name(v->type.dtype)),
                    "int32 or int64", "cast them");
}

static bool in_types(qdq_onnx_writer *w) {
    for (size_t i = 0; i < w->node->output_count; i++) {
        qdq_dtype dtype = w->draft->graph->values[w->node->outputs[i]].type.dtype;
        if (qdq_onnx_elem_of(dtype) != ONNX_UNDEFINED) continue;
        qdq_onnx_cannot(w, w->node->op->outputs[i].name,
                        WRITE_TEXT(w, "is %s", qdq_dtype_name(dtype)), "a dtype of ONNX", NULL);
        return false;
    }
    return true;
}

void qdq_onnx_write_node(qdq_onnx_draft *draft, size_t index) {
    qdq_onnx_writer w = {.draft = draft, .node = &draft->graph->nodes[index]};
    const char *ours = w.node->op->name;
    const qdq_onnx_op *row = qdq_onnx_row_of(ours);
    qdq_onnx_write_op *write = find_writer(ours);
    check_device(&w);
    check_indices(&w);
    if (w.refused || !in_types(&w)) return;
    if (write)
        write(&w, row ? row->name : ours);
    else if (row && row->ports[0])
        write_row(&w, row);
    else
        qdq_onnx_cannot(&w, NULL, "is no op of ONNX", NULL, NULL);
    if (!w.refused) check_left(&w);
}
