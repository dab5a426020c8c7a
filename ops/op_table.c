// SPDX-License-Identifier: Apache-2.0
// The list of all ops, and their descriptions as include/qdq/inspect.h shows them.
#include <string.h>

#include "include/qdq/inspect.h"
#include "ops/elementwise/elementwise_ops.h"
#include "ops/op.h"
#include "ops/synonyms.h"
#include "runtime/base/profile.h"

// X(description) of an op, FULL(description, name) of an op that the profile core lacks, and
// ROW(id, ...) of a row of ops/elementwise/elementwise_ops.h whose description is qdq_op_<id>. In
// the order of `qdq ops`.
#define OPS(X, ROW, FULL)                                                \
    X(qdq_op_quantize)                                                   \
    X(qdq_op_dequantize)                                                 \
    X(qdq_op_dynamic_quantize)                                           \
    X(qdq_op_requantize)                                                 \
    X(qdq_op_cast)                                                       \
    QDQ_UNARY_OPS(ROW)                                                   \
    X(qdq_op_tanh)                                                       \
    X(qdq_op_is_inf)                                                     \
    X(qdq_op_leaky_relu)                                                 \
    X(qdq_op_elu)                                                        \
    X(qdq_op_hard_sigmoid)                                               \
    X(qdq_op_clamp)                                                      \
    X(qdq_op_gelu)                                                       \
    QDQ_BINARY_OPS(ROW)                                                  \
    X(qdq_op_bit_shift)                                                  \
    X(qdq_op_mod)                                                        \
    X(qdq_op_select)                                                     \
    X(qdq_op_bias_add)                                                   \
    X(qdq_op_prelu)                                                      \
    X(qdq_op_matmul)                                                     \
    FULL(qdq_op_convolution, "Convolution")                              \
    FULL(qdq_op_conv_transpose, "ConvTranspose")                         \
    X(qdq_op_softmax)                                                    \
    X(qdq_op_log_softmax)                                                \
    X(qdq_op_layer_norm)                                                 \
    X(qdq_op_rms_norm)                                                   \
    FULL(qdq_op_group_norm, "GroupNorm")                                 \
    FULL(qdq_op_batch_norm_inference, "BatchNormInference")              \
    FULL(qdq_op_batch_norm_forward_training, "BatchNormForwardTraining") \
    X(qdq_op_reduce_l1)                                                  \
    X(qdq_op_reduce_l2)                                                  \
    X(qdq_op_reduce_max)                                                 \
    X(qdq_op_reduce_mean)                                                \
    X(qdq_op_reduce_min)                                                 \
    X(qdq_op_reduce_prod)                                                \
    X(qdq_op_reduce_sum)                                                 \
    FULL(qdq_op_reduce_max_integer, "ReduceMaxInteger")                  \
    FULL(qdq_op_reduce_min_integer, "ReduceMinInteger")                  \
    FULL(qdq_op_reduce_sum_integer, "ReduceSumInteger")                  \
    FULL(qdq_op_cum_sum, "CumSum")                                       \
    FULL(qdq_op_arg_max, "ArgMax")                                       \
    FULL(qdq_op_arg_min, "ArgMin")                                       \
    FULL(qdq_op_top_k, "TopK")                                           \
    FULL(qdq_op_matmul_integer, "MatMulInteger")                         \
    FULL(qdq_op_conv_integer, "ConvInteger")                             \
    FULL(qdq_op_matmul_integer64, "MatMulInteger64")                     \
    FULL(qdq_op_conv_integer64, "ConvInteger64")                         \
    FULL(qdq_op_multiply_shift, "MultiplyShift")                         \
    FULL(qdq_op_arithmetic_shift_right, "ArithmeticShiftRight")          \
    FULL(qdq_op_clamp_integer, "ClampInteger")                           \
    FULL(qdq_op_neg_integer, "NegInteger")                               \
    FULL(qdq_op_count_leading_zeros, "CountLeadingZeros")                \
    FULL(qdq_op_qlinear_matmul, "QLinearMatMul")                         \
    FULL(qdq_op_matmul_integer_to_float, "MatMulIntegerToFloat")         \
    FULL(qdq_op_qgemm, "QGemm")                                          \
    FULL(qdq_op_matmul_nbits, "MatMulNBits")                             \
    FULL(qdq_op_qlinear_conv, "QLinearConv")                             \
    FULL(qdq_op_qlinear_add, "QLinearAdd")                               \
    FULL(qdq_op_qlinear_mul, "QLinearMul")                               \
    FULL(qdq_op_qlinear_average_pool, "QLinearAveragePool")              \
    FULL(qdq_op_qlinear_global_average_pool, "QLinearGlobalAveragePool") \
    FULL(qdq_op_qlinear_softmax, "QLinearSoftmax")                       \
    FULL(qdq_op_table, "Table")                                          \
    FULL(qdq_op_avg_pool, "AvgPool")                                     \
    FULL(qdq_op_avg_pool_integer, "AvgPoolInteger")                      \
    FULL(qdq_op_max_pool, "MaxPool")                                     \
    FULL(qdq_op_interpolate, "Interpolate")                              \
    FULL(qdq_op_concat, "Concat")                                        \
    X(qdq_op_reshape)                                                    \
    X(qdq_op_transpose)                                                  \
    X(qdq_op_reorder)                                                    \
    X(qdq_op_to_memory_config)                                           \
    X(qdq_op_interleaved_to_sharded)                                     \
    X(qdq_op_sharded_to_interleaved)                                     \
    X(qdq_op_reshard)                                                    \
    X(qdq_op_to_layout)                                                  \
    X(qdq_op_gen_index)                                                  \
    FULL(qdq_op_slice, "Slice")                                          \
    FULL(qdq_op_pad, "Pad")                                              \
    FULL(qdq_op_expand, "Expand")                                        \
    FULL(qdq_op_tile, "Tile")                                            \
    FULL(qdq_op_gather, "Gather")                                        \
    FULL(qdq_op_gather_elements, "GatherElements")                       \
    FULL(qdq_op_gather_nd, "GatherND")                                   \
    FULL(qdq_op_scatter_elements, "ScatterElements")                     \
    FULL(qdq_op_scatter_nd, "ScatterND")                                 \
    FULL(qdq_op_depth_to_space, "DepthToSpace")                          \
    FULL(qdq_op_space_to_depth, "SpaceToDepth")                          \
    FULL(qdq_op_trilu, "Trilu")                                          \
    FULL(qdq_op_eye_like, "EyeLike")                                     \
    FULL(qdq_op_one_hot, "OneHot")                                       \
    FULL(qdq_op_dropout, "Dropout")

#define DECLARE(description) extern const qdq_op description;
#define DECLARE_ROW(id, ...) extern const qdq_op qdq_op_##id;
#define DECLARE_FULL(description, name) QDQ_FULL(DECLARE(description))
OPS(DECLARE, DECLARE_ROW, DECLARE_FULL)

#define ENTRY(description) &(description),
#define ENTRY_ROW(id, ...) &qdq_op_##id,
#define ENTRY_FULL(description, name) QDQ_FULL(ENTRY(description))
static const qdq_op *const ops[] = {OPS(ENTRY, ENTRY_ROW, ENTRY_FULL)};

#define NO_ENTRY(...)
#define NAME(description, name) QDQ_NOT_FULL(name, )
static const char *const lacked[] = {OPS(NO_ENTRY, NO_ENTRY, NAME) NULL};

enum { OP_COUNT = sizeof ops / sizeof ops[0] };

const qdq_op *qdq_op_find(const char *name) {
    for (size_t i = 0; i < OP_COUNT; i++)
        if (strcmp(ops[i]->name, name) == 0) return ops[i];
    return NULL;
}

bool qdq_op_is_lacked(const char *name) {
    for (size_t i = 0; lacked[i]; i++)
        if (strcmp(lacked[i], name) == 0) return true;
    return false;
}

const char *qdq_op_meant(const char *name) {
    const char *names[OP_COUNT];
    for (size_t i = 0; i < OP_COUNT; i++) names[i] = ops[i]->name;
    return qdq_word_meant(name, names, OP_COUNT);
}

//---- For inspect.h ----------------------------------------------------------

size_t qdq_op_count(void) { return OP_COUNT; }

qdq_op_info qdq_op_get(size_t op) {
    if (op >= OP_COUNT) return (qdq_op_info){0};
    return (qdq_op_info){ops[op]->name, ops[op]->summary, ops[op]->input_count,
                         ops[op]->output_count, ops[op]->attr_count};
}

static qdq_port_info port_info(const qdq_port_desc *port, bool variadic) {
    return (qdq_port_info){port->name, port->optional, port->dtypes, variadic, QDQ_FILL_ANY};
}

qdq_port_info qdq_op_input(size_t op, size_t index) {
    if (op >= OP_COUNT || index >= ops[op]->input_count) return (qdq_port_info){0};
    const qdq_port_desc *port = &ops[op]->inputs[index];
    qdq_port_info info = port_info(port, qdq_port_is_variadic(ops[op], port));
    info.fill = qdq_fill_of(ops[op]->name, info.name);
    return info;
}

qdq_port_info qdq_op_output(size_t op, size_t index) {
    if (op >= OP_COUNT || index >= ops[op]->output_count) return (qdq_port_info){0};
    return port_info(&ops[op]->outputs[index], false);
}

static const char *type_text(qdq_attr_kind kind) {
    static const char *const texts[] = {
        [QDQ_ATTR_INT] = "int",
        [QDQ_ATTR_BOUND] = "number",
        [QDQ_ATTR_FLOAT] = "number",
        [QDQ_ATTR_BOOL] = "bool",
        [QDQ_ATTR_WORD] = "word",
        [QDQ_ATTR_MAYBE_WORD] = "word",
        [QDQ_ATTR_DTYPE] = "dtype",
        [QDQ_ATTR_INTS] = "int[]",
        [QDQ_ATTR_FLOATS] = "float32 or float32[]",
        [QDQ_ATTR_NUMBERS] = "int or int[]",
        [QDQ_ATTR_VALUE] = "value",
    };
    return texts[kind];
}

qdq_attr_info qdq_op_attr(size_t op, size_t index) {
    if (op >= OP_COUNT || index >= ops[op]->attr_count) return (qdq_attr_info){0};
    const qdq_attr_desc *attr = &ops[op]->attrs[index];
    bool required = strcmp(attr->default_text, QDQ_REQUIRED) == 0;
    return (qdq_attr_info){attr->name,         type_text(attr->kind), attr->words,
                           attr->default_text, attr->summary,         required};
}

static size_t attr_bytes(qdq_attr_kind kind) {
    switch (kind) {
    case QDQ_ATTR_INT:
    case QDQ_ATTR_BOUND: return sizeof(qdq_int);
    case QDQ_ATTR_MAYBE_WORD: return sizeof(qdq_maybe_word);
    case QDQ_ATTR_FLOAT: return sizeof(qdq_float);
    case QDQ_ATTR_BOOL: return sizeof(qdq_bool);
    case QDQ_ATTR_WORD: return sizeof(int);
    case QDQ_ATTR_DTYPE: return sizeof(qdq_dtype);
    case QDQ_ATTR_INTS: return sizeof(qdq_ints);
    case QDQ_ATTR_FLOATS: return sizeof(qdq_floats);
    case QDQ_ATTR_NUMBERS: return sizeof(qdq_numbers);
    case QDQ_ATTR_VALUE: return sizeof(qdq_value);
    }
    return 0;
}

static bool is_cut(size_t at, size_t bytes, size_t size) { return at < size && size < at + bytes; }

bool qdq_op_has_whole_fields(const qdq_op *op, size_t size) {
    bool cut = is_cut(0, sizeof(const char *), size);
    for (size_t i = 0; i < op->input_count; i++) {
        bool list = op->variadic && i + 1 == op->input_count;
        cut |= is_cut(op->inputs[i].offset, list ? sizeof(qdq_values) : sizeof(qdq_value), size);
    }
    for (size_t i = 0; i < op->attr_count; i++)
        cut |= is_cut(op->attrs[i].offset, attr_bytes(op->attrs[i].kind), size);
    return !cut;
}

bool qdq_attr_is_set(const qdq_attr_desc *attr, const void *field) {
    qdq_maybe_word word;
    switch (attr->kind) {
    case QDQ_ATTR_INT:
    case QDQ_ATTR_BOUND: return ((const qdq_int *)field)->set != 0;
    case QDQ_ATTR_MAYBE_WORD: memcpy(&word, field, sizeof word); return word.set != 0;
    case QDQ_ATTR_FLOAT: return ((const qdq_float *)field)->set != 0;
    case QDQ_ATTR_BOOL: return *(const qdq_bool *)field != QDQ_UNSET;
    case QDQ_ATTR_WORD: return *(const int *)field != 0;
    case QDQ_ATTR_DTYPE: return *(const qdq_dtype *)field != QDQ_DTYPE_NONE;
    case QDQ_ATTR_INTS: return ((const qdq_ints *)field)->data != NULL;
    case QDQ_ATTR_FLOATS: return ((const qdq_floats *)field)->data != NULL;
    case QDQ_ATTR_NUMBERS: return ((const qdq_numbers *)field)->data != NULL;
    case QDQ_ATTR_VALUE: return ((const qdq_value *)field)->id != 0;
    }
    return false;
}

static bool arrays_equal(size_t a, size_t b, const void *x, const void *y, size_t size) {
    return a == b && (a == 0 || memcmp(x, y, a * size) == 0);
}

bool qdq_attr_is_equal(const qdq_attr_desc *attr, const void *a, const void *b) {
    const void *x = (const char *)a + attr->offset, *y = (const char *)b + attr->offset;
    switch (attr->kind) {
    case QDQ_ATTR_INT:
    case QDQ_ATTR_BOUND: {
        const qdq_int *i = x, *k = y;
        return i->set == k->set && i->value == k->value && i->fraction == k->fraction;
    }
    case QDQ_ATTR_FLOAT: {
        const qdq_float *i = x, *k = y;
        return i->set == k->set && i->value == k->value;
    }
    case QDQ_ATTR_MAYBE_WORD: {
        const qdq_maybe_word *i = x, *k = y;
        return i->set == k->set && i->value == k->value;
    }
    case QDQ_ATTR_BOOL: return *(const qdq_bool *)x == *(const qdq_bool *)y;
    case QDQ_ATTR_WORD: return memcmp(x, y, sizeof(int)) == 0;
    case QDQ_ATTR_DTYPE: return *(const qdq_dtype *)x == *(const qdq_dtype *)y;
    case QDQ_ATTR_INTS: {
        const qdq_ints *i = x, *k = y;
        return arrays_equal(i->count, k->count, i->data, k->data, sizeof *i->data);
    }
    case QDQ_ATTR_FLOATS: {
        const qdq_floats *i = x, *k = y;
        return arrays_equal(i->count, k->count, i->data, k->data, sizeof *i->data);
    }
    case QDQ_ATTR_NUMBERS: {
        const qdq_numbers *i = x, *k = y;
        return arrays_equal(i->count, k->count, i->data, k->data, sizeof *i->data);
    }
    case QDQ_ATTR_VALUE: return ((const qdq_value *)x)->id == ((const qdq_value *)y)->id;
    }
    return false;
}
