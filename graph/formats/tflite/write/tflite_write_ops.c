// SPDX-License-Identifier: Apache-2.0
// The table of ops that are written as operators of TensorFlow Lite. A new one is a row.
#include <string.h>

#include "graph/formats/tflite/write/tflite_writers.h"
#include "graph/memory/given_layout.h"

#define WINDOW " strides pads_begin pads_end auto_pad data_format "
#define CODER \
    " qtype axis scales zps dtype quant_min quant_max saturate zero_point_domain queue_id "
#define OWN(ours, find, write, fuses, coded, attrs) \
    { ours, find, write, fuses, coded, attrs, 0, 0 }
// A function of elements, without attributes.
#define FUNCTION(ours, code, kind, coded) \
    { ours, qdq_tflite_find_pair, qdq_tflite_write_unary, false, coded, "", code, kind }
// A pair of operands, with a fused activation or not.
#define BINARY(ours, code, kind, fuses, coded)                                                 \
    {                                                                                          \
        ours, qdq_tflite_find_pair, qdq_tflite_write_binary, fuses, coded, " auto_broadcast ", \
            code, kind                                                                         \
    }
#define REDUCTION(ours, code, coded)                                                           \
    {                                                                                          \
        ours, qdq_tflite_find_pair, qdq_tflite_write_reduce, false, coded, " axes keep_dims ", \
            code, 27                                                                           \
    }

// clang-format off
static const qdq_tflite_writer_row rows[] = {
    BINARY("Add", TFLITE_ADD, 11, true, true),
    BINARY("Subtract", TFLITE_SUB, 28, true, true),
    BINARY("Multiply", TFLITE_MUL, 21, true, true),
    BINARY("Divide", TFLITE_DIV, 29, true, false),
    BINARY("Pow", TFLITE_POW, 0, false, false),
    BINARY("Maximum", TFLITE_MAXIMUM, 0, false, false),
    BINARY("Minimum", TFLITE_MINIMUM, 0, false, false),
    FUNCTION("Sigmoid", TFLITE_LOGISTIC, 0, true),
    FUNCTION("Tanh", TFLITE_TANH, 0, true),
    FUNCTION("HardSwish", TFLITE_HARD_SWISH, 91, true),
    FUNCTION("ReLU", TFLITE_RELU, 0, true),
    FUNCTION("ReLU6", TFLITE_RELU6, 0, true),
    FUNCTION("Abs", TFLITE_ABS, 0, false),
    FUNCTION("Ceil", TFLITE_CEIL, 0, false),
    FUNCTION("Cos", TFLITE_COS, 0, false),
    FUNCTION("Exp", TFLITE_EXP, 0, false),
    FUNCTION("Floor", TFLITE_FLOOR, 0, false),
    FUNCTION("Log", TFLITE_LOG, 0, false),
    FUNCTION("Neg", TFLITE_NEG, 0, false),
    FUNCTION("Round", TFLITE_ROUND, 0, false),
    FUNCTION("Rsqrt", TFLITE_RSQRT, 0, false),
    FUNCTION("Sign", TFLITE_SIGN, 0, false),
    FUNCTION("Sin", TFLITE_SIN, 0, false),
    FUNCTION("Sqrt", TFLITE_SQRT, 0, false),
    FUNCTION("Square", TFLITE_SQUARE, 0, false),
    OWN("Clamp", qdq_tflite_find_pair, qdq_tflite_write_clamp, false, true, " min max "),
    OWN("LeakyReLU", qdq_tflite_find_pair, qdq_tflite_write_leaky_relu, false, true, " alpha "),
    OWN("Elu", qdq_tflite_find_pair, qdq_tflite_write_elu, false, false, " alpha "),
    OWN("GELU", qdq_tflite_find_pair, qdq_tflite_write_gelu, false, false, " mode "),
    OWN("PReLU", qdq_tflite_find_pair, qdq_tflite_write_prelu, false, false,
     " data_format per_channel_broadcast "),
    OWN("SoftMax", qdq_tflite_find_softmax, qdq_tflite_write_softmax, false, true, " axis "),
    REDUCTION("ReduceMean", TFLITE_MEAN, true),
    REDUCTION("ReduceSum", TFLITE_SUM, false),
    REDUCTION("ReduceMax", TFLITE_REDUCE_MAX, false),
    REDUCTION("ReduceMin", TFLITE_REDUCE_MIN, false),
    OWN("Convolution", qdq_tflite_find_conv, qdq_tflite_write_conv, true, true,
     WINDOW " dilations groups weights_format "),
    OWN("ConvTranspose", qdq_tflite_find_transposed, qdq_tflite_write_transposed, true, true,
     WINDOW " dilations groups weights_format output_padding "),
    OWN("MatMul", qdq_tflite_find_matmul, qdq_tflite_write_matmul, true, true,
     " transpose_a transpose_b dtype "),
    OWN("AvgPool", qdq_tflite_find_pair, qdq_tflite_write_pool, true, true,
     WINDOW " kernel exclude_pad "),
    OWN("MaxPool", qdq_tflite_find_move, qdq_tflite_write_pool, true, true,
     WINDOW " kernel dilations "),
    OWN("Interpolate", qdq_tflite_find_pair, qdq_tflite_write_interpolate, false, true,
     " mode sizes scales coordinate_transformation_mode data_format "),
    OWN("Gather", qdq_tflite_find_gather, qdq_tflite_write_gather, false, true, " axis "),
    OWN("Concat", qdq_tflite_find_move, qdq_tflite_write_concat, true, true, " axis "),
    OWN("Pad", qdq_tflite_find_move, qdq_tflite_write_pad, false, true, " pads axes mode "),
    OWN("StaticReshape", qdq_tflite_find_reshape, qdq_tflite_write_reshape, false, true,
     " shape special_zero "),
    OWN("StaticTranspose", qdq_tflite_find_move, qdq_tflite_write_transpose, false, true, " order "),
    OWN("Slice", qdq_tflite_find_slice, qdq_tflite_write_slice, false, true,
     " starts ends axes steps "),
    OWN("Quantize", qdq_tflite_find_alone, qdq_tflite_write_quantize, false, true, CODER),
    OWN("Dequantize", qdq_tflite_find_alone, qdq_tflite_write_dequantize, false, true, CODER),
    OWN("Requantize", qdq_tflite_find_alone, qdq_tflite_write_requantize, false, true,
     " in_scales in_zps out_scales out_zps qtype axis dtype quant_min quant_max queue_id "),
    OWN("Cast", qdq_tflite_find_alone, qdq_tflite_write_cast, false, true, " dtype "),
};
// clang-format on

static const qdq_tflite_writer_row *row_of(const char *op) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].op, op) == 0) return &rows[i];
    return NULL;
}

//---- Units ------------------------------------------------------------------

void qdq_tflite_find_unit(qdq_tflite_draft *draft, size_t index) {
    const qdq_node *node = &draft->graph->nodes[index];
    qdq_tflite_unit *u = &draft->units[index];
    const qdq_tflite_writer_row *row = row_of(node->op->name);
    if (u->part) return;
    u->in = qdq_mempool_array(draft->mempool, node->input_count + 1, sizeof *u->in);
    u->outs = qdq_mempool_array(draft->mempool, node->output_count + 1, sizeof *u->outs);
    if (!u->in || !u->outs) return;
    u->in_count = node->input_count, u->out_count = node->output_count;
    for (size_t i = 0; i < node->input_count; i++) u->in[i].value = node->inputs[i].id;
    for (size_t i = 0; i < node->output_count; i++) u->outs[i] = node->outputs[i];
    u->fuses = row && row->fuses;
    u->pairs = row && row->coded;
    if (!draft->mempool->failed) (row ? row->find : qdq_tflite_find_alone)(draft, node, u);
}

//---- Nodes ------------------------------------------------------------------

// True if a list of words between spaces has the word.
static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if (at > words && at[-1] == ' ' && at[length] == ' ') return true;
    return false;
}

// Refuses attributes that are set and that no writer reads.
static void check_attrs(qdq_tflite_writer *w, const char *known) {
    const qdq_op *op = w->node->op;
    for (size_t i = 0; i < op->attr_count; i++) {
        const qdq_attr_desc *attr = &op->attrs[i];
        bool set = qdq_attr_is_set(attr, (const char *)w->node->attrs + attr->offset);
        if (set && !has_word(known, attr->name))
            qdq_tflite_cannot(w, attr->name, "has no counterpart in TensorFlow Lite", NULL);
    }
}

// Refuses further results that are read, as the statistics of a softmax.
static void check_results(qdq_tflite_writer *w) {
    for (size_t i = 1; i < w->node->output_count; i++)
        if (w->draft->graph->values[w->node->outputs[i]].uses)
            qdq_tflite_cannot(w, w->node->op->outputs[i].name, "is read",
                              "not read: TensorFlow Lite lacks it");
}

void qdq_tflite_write_node(qdq_tflite_draft *draft, size_t index) {
    const qdq_node *node = &draft->graph->nodes[index];
    qdq_tflite_writer w = {.draft = draft, .node = node, .unit = &draft->units[index]};
    const qdq_tflite_writer_row *row = row_of(node->op->name);
    w.row = row;
    if (!row) {
        qdq_tflite_cannot(&w, NULL, "is no operator that is written", NULL);
        return;
    }
    for (size_t i = 0; i < node->output_count; i++)
        if (qdq_graph_given_layout(draft->graph, node->outputs[i]))
            qdq_tflite_cannot(&w, NULL, "says where its result lies on a device",
                              "nothing of a device");
    check_attrs(&w, row->attrs);
    check_results(&w);
    if (!w.refused) row->write(&w);
}
