// SPDX-License-Identifier: Apache-2.0
// The version of an operator: the first one whose kernels take its dtypes, ranks and options, as
// converters set it. A runtime refuses a version that it lacks.
#include "graph/formats/tflite/write/tflite_encode.h"

typedef struct signature {
    qdq_dtype x, w, y;  // first and second input, first output; none if absent
    const qdq_tflite_params *x_params, *w_params, *y_params;
    int rank;     // of x
    bool ragged;  // operands of different shapes
} signature;

static const qdq_tflite_new_tensor *tensor_at(const qdq_tflite_subgraph *subgraph,
                                              const int32_t *list, size_t count, size_t i) {
    static const qdq_tflite_new_tensor none;
    return i < count && list[i] >= 0 ? subgraph->tensors.items[list[i]] : &none;
}

static signature signature_of(const qdq_tflite_subgraph *subgraph, const qdq_tflite_operator *op) {
    size_t first = op->code == TFLITE_SPLIT ? 1 : 0;
    const qdq_tflite_new_tensor *x = tensor_at(subgraph, op->inputs, op->input_count, first),
                                *w = tensor_at(subgraph, op->inputs, op->input_count, 1),
                                *y = tensor_at(subgraph, op->outputs, op->output_count, 0);
    return (signature){.x = x->type.dtype,
                       .w = w->type.dtype,
                       .y = y->type.dtype,
                       .x_params = &x->params,
                       .w_params = &w->params,
                       .y_params = &y->params,
                       .rank = x->type.shape.rank,
                       .ragged = !qdq_shape_equal(x->type.shape, w->type.shape)};
}

// Returns an option; 0 if it is not set.
static int option(const qdq_tflite_operator *op, unsigned slot) {
    for (size_t i = 0; i < op->option_count; i++)
        if (op->options[i].slot == slot) return (int)op->options[i].number;
    return 0;
}

//---- Operators with rules of their own --------------------------------------

// True if the weights have fewer input channels than x, in groups.
static bool is_grouped(const qdq_tflite_subgraph *subgraph, const qdq_tflite_operator *op) {
    const qdq_shape *x = &tensor_at(subgraph, op->inputs, op->input_count, 0)->type.shape;
    const qdq_shape *w = &tensor_at(subgraph, op->inputs, op->input_count, 1)->type.shape;
    return x->rank == 4 && w->rank == 4 && x->dims[3] != w->dims[3];
}

static int conv_version(const qdq_tflite_subgraph *subgraph, const qdq_tflite_operator *op,
                        const signature *s) {
    if (s->x == QDQ_INT16 && option(op, 6)) return 8;
    if (is_grouped(subgraph, op)) return 6;
    if (s->w == QDQ_INT4) return 7;
    return s->x == QDQ_INT16 ? 4 : s->x == QDQ_INT8 ? 3 : 1;
}

static int depthwise_version(const qdq_tflite_operator *op, const signature *s) {
    if (s->x == QDQ_INT16) return 5;
    // Converters set 7, which LiteRT's reference kernels lack, though they take int4.
    if (s->w == QDQ_INT4) return 6;
    if (s->x == QDQ_INT8) return 3;
    return option(op, 5) != 1 || option(op, 6) != 1 ? 2 : 1;
}

static int product_version(const qdq_tflite_operator *op, const signature *s) {
    bool dynamic = s->x == QDQ_FLOAT32 && s->w != QDQ_FLOAT32;
    if (s->w == QDQ_INT2) return 14;
    if (s->x == QDQ_INT16 && s->w == QDQ_INT4) return 13;
    if (dynamic && s->w_params->count > 1) return 12;
    if (s->x == QDQ_INT16) return option(op, 4) ? 11 : 7;
    if (s->w == QDQ_INT4) return 10;
    if (dynamic && option(op, 3)) return 9;
    if (op->input_count == 2) return 6;
    if (option(op, 2)) return 5;
    return s->x == QDQ_INT8 ? 4 : dynamic ? 3 : 1;
}

static int mul_version(const signature *s) {
    if (s->x == QDQ_INT64) return 5;
    if (s->x == QDQ_INT16) return 4;
    bool scaled = s->x_params->count && s->w_params->count && s->y_params->count;
    if (scaled && s->x_params->scales[0] * s->w_params->scales[0] / s->y_params->scales[0] >= 1.0f)
        return 3;
    return s->x == QDQ_INT8 ? 2 : 1;
}

static int sub_version(const signature *s) {
    if (s->x == QDQ_INT16) return 5;
    if (s->x == QDQ_INT64) return 4;
    if (s->ragged && s->rank > 4) return 3;
    return s->x == QDQ_INT8 ? 2 : 1;
}

static int transpose_version(const signature *s) {
    if (s->rank > 6) return 8;
    if (s->x == QDQ_INT4) return 7;
    if (s->rank > 5) return 6;
    if (s->x == QDQ_INT16) return 5;
    if (s->rank > 4) return 4;
    return s->x == QDQ_BOOL ? 3 : s->x == QDQ_INT8 ? 2 : 1;
}

static int transposed_version(const qdq_tflite_operator *op, const signature *s) {
    if (option(op, 4)) return 5;
    if (option(op, 3)) return 4;
    if (op->input_count > 3) return 3;
    return s->w == QDQ_INT8 ? 2 : 1;
}

static int slice_version(const signature *s) {
    if (s->x == QDQ_INT4) return 7;
    if (s->x == QDQ_UINT32) return 6;
    if (s->rank > 4) return 5;
    return s->x == QDQ_INT16 ? 4 : s->x == QDQ_INT8 ? 2 : 1;
}

static int pad_version(const signature *s) {
    if (s->x == QDQ_BOOL) return 5;
    if (s->rank > 4) return 4;
    return s->x == QDQ_INT16 ? 3 : s->x == QDQ_INT8 ? 2 : 1;
}

static int dequantize_version(const signature *s) {
    if (s->x == QDQ_INT2) return 7;
    if (s->x == QDQ_INT4) return 6;
    if (s->x == QDQ_INT16 || s->x == QDQ_FLOAT16) return 3;
    if (s->x != QDQ_INT8) return 1;
    return s->x_params->count > 1 ? 5 : 2;
}

static int quantize_version(const signature *s) {
    if (s->x == QDQ_INT4 || s->y == QDQ_INT4) return 4;
    if (s->y_params->count > 1) return 3;
    return s->y == QDQ_INT16 ? 2 : 1;
}

static int strided_version(const signature *s) {
    if (s->rank > 4) return 4;
    return s->x == QDQ_BOOL ? 3 : s->x == QDQ_INT8 ? 2 : 1;
}

//---- The table --------------------------------------------------------------

// Versions for codes of int8 and int16 of operators that depend on nothing else.
static const struct {
    qdq_tflite_code code;
    int int8, int16;
} rows[] = {{TFLITE_EXP, 2, 2},
            {TFLITE_LOG, 2, 2},
            {TFLITE_RSQRT, 2, 3},
            {TFLITE_SQRT, 2, 2},
            {TFLITE_ABS, 2, 3},
            {TFLITE_GELU, 2, 2},
            {TFLITE_SUM, 2, 2},
            {TFLITE_REDUCE_MAX, 2, 3},
            {TFLITE_REDUCE_MIN, 2, 3},
            {TFLITE_MAXIMUM, 2, 4},
            {TFLITE_MINIMUM, 2, 4},
            {TFLITE_BATCH_MATMUL, 2, 3},
            {TFLITE_SPACE_TO_DEPTH, 2, 2},
            {TFLITE_ADD, 2, 3},
            {TFLITE_AVERAGE_POOL_2D, 2, 3},
            {TFLITE_MAX_POOL_2D, 2, 3},
            {TFLITE_CONCATENATION, 2, 3},
            {TFLITE_SOFTMAX, 2, 3},
            {TFLITE_MEAN, 2, 3},
            {TFLITE_RELU, 2, 3},
            {TFLITE_RELU6, 2, 3},
            {TFLITE_LOGISTIC, 2, 3},
            {TFLITE_TANH, 2, 3},
            {TFLITE_LEAKY_RELU, 1, 2},
            {TFLITE_SPLIT, 2, 4},
            {TFLITE_SPLIT_V, 2, 2},
            {TFLITE_RESIZE_BILINEAR, 2, 4},
            {TFLITE_RESIZE_NEAREST, 2, 4}};

// Returns the version that options, ranks or another dtype of x need; 0: the table says it.
static int special_version(const qdq_tflite_operator *op, const signature *s) {
    bool half_pixel = op->code == TFLITE_RESIZE_BILINEAR && option(op, 3);
    bool mapped = op->code == TFLITE_RESIZE_NEAREST && (option(op, 0) || option(op, 1));
    if (s->x != QDQ_INT16 && (half_pixel || mapped)) return 3;
    if (op->code == TFLITE_SPLIT && s->x == QDQ_INT32) return 3;
    bool bounds = op->code == TFLITE_MAXIMUM || op->code == TFLITE_MINIMUM;
    if (bounds && s->x != QDQ_INT16 && s->ragged && s->rank > 4) return 3;
    if (op->code == TFLITE_DIV && s->ragged && s->rank > 4) return 2;
    if (op->code == TFLITE_ABS && s->x == QDQ_INT32) return 5;
    if (op->code == TFLITE_SIGN && s->x == QDQ_INT32) return 2;
    if (op->code == TFLITE_RELU && s->x == QDQ_UINT8) return 2;
    return 0;
}

int qdq_tflite_version_of(const qdq_tflite_subgraph *subgraph, const qdq_tflite_operator *op) {
    const signature s = signature_of(subgraph, op);
    switch (op->code) {
    case TFLITE_CONV_2D: return conv_version(subgraph, op, &s);
    case TFLITE_DEPTHWISE_CONV_2D: return depthwise_version(op, &s);
    case TFLITE_FULLY_CONNECTED: return product_version(op, &s);
    case TFLITE_MUL: return mul_version(&s);
    case TFLITE_SUB: return sub_version(&s);
    case TFLITE_TRANSPOSE_CONV: return transposed_version(op, &s);
    case TFLITE_SLICE: return slice_version(&s);
    case TFLITE_TRANSPOSE: return transpose_version(&s);
    case TFLITE_PAD:
    case TFLITE_PADV2: return pad_version(&s);
    case TFLITE_DEQUANTIZE: return dequantize_version(&s);
    case TFLITE_QUANTIZE: return quantize_version(&s);
    case TFLITE_STRIDED_SLICE: return strided_version(&s);
    default: break;
    }
    int special = special_version(op, &s);
    if (special) return special;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == op->code)
            return s.x == QDQ_INT8 ? rows[i].int8 : s.x == QDQ_INT16 ? rows[i].int16 : 1;
    return 1;
}
