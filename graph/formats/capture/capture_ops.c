// SPDX-License-Identifier: Apache-2.0
// The programs of a capture that qdq has an op for.
#include <string.h>

#include "graph/formats/capture/capture.h"
#include "include/qdq/ops.h"

typedef enum op_family { UNARY, BINARY, MATMUL, MOVE, TO_LAYOUT } op_family;

// A program is an op by its name and a word of its attributes; "" for any.
static const struct op_row {
    const char *program, *word, *op;
    op_family family;
    size_t operands;
} rows[] = {
    {"BinaryNgDeviceOperation", "BinaryOpType::ADD,", "Add", BINARY, 2},
    {"BinaryNgDeviceOperation", "BinaryOpType::SUB,", "Subtract", BINARY, 2},
    {"BinaryNgDeviceOperation", "BinaryOpType::MUL,", "Multiply", BINARY, 2},
    {"BinaryNgDeviceOperation", "BinaryOpType::DIV,", "Divide", BINARY, 2},
    {"BinaryNgDeviceOperation", "BinaryOpType::MAXIMUM,", "Maximum", BINARY, 2},
    {"BinaryNgDeviceOperation", "BinaryOpType::MINIMUM,", "Minimum", BINARY, 2},
    {"UnaryDeviceOperation", "UnaryOpType::ABS,", "Abs", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::EXP,", "Exp", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::LOG,", "Log", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::SQRT,", "Sqrt", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::SQUARE,", "Square", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::SIGMOID,", "Sigmoid", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::RELU,", "ReLU", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::RECIP,", "Reciprocal", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::NEG,", "Neg", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::SILU,", "SiLU", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::RSQRT,", "Rsqrt", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::RELU6,", "ReLU6", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::TRUNC,", "Trunc", UNARY, 1},
    {"UnaryDeviceOperation", "UnaryOpType::LOG1P,", "Log1p", UNARY, 1},
    {"MatmulDeviceOperation", "", "MatMul", MATMUL, 2},
    {"InterleavedToShardedDeviceOperation", "", "InterleavedToSharded", MOVE, 1},
    {"ShardedToInterleavedDeviceOperation", "", "ShardedToInterleaved", MOVE, 1},
    {"ReshardDeviceOperation", "", "Reshard", MOVE, 1},
    {"TilizeDeviceOperation", "", "ToLayout", TO_LAYOUT, 1},
    {"TilizeWithValPaddingDeviceOperation", "", "ToLayout", TO_LAYOUT, 1},
    {"UntilizeDeviceOperation", "", "ToLayout", TO_LAYOUT, 1},
    {"UntilizeWithUnpaddingDeviceOperation", "", "ToLayout", TO_LAYOUT, 1},
};

static const struct op_row *row_of(const qdq_capture_program *program) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].program, program->name) == 0 && strstr(program->arguments, rows[i].word))
            return &rows[i];
    return NULL;
}

//---- Attributes -------------------------------------------------------------

// Returns field `index` of a struct that ttnn prints, "Name(a, b(c, d), e)"; NULL: it has less.
static const char *field_of(const char *text, size_t index) {
    size_t depth = 0, field = 0;
    const char *at = strchr(text, '(');
    for (at = at ? at + 1 : NULL; at && *at; at++) {
        if (field == index && depth == 0) return *at == ' ' ? at + 1 : at;
        if (strchr("({[<", *at)) depth++;
        if (strchr(")}]>", *at)) {
            if (depth == 0) return NULL;
            depth--;
        }
        if (*at == ',' && depth == 0) field++;
    }
    return NULL;
}

// True if an op of two operands reads a number, which the capture does not print exactly.
static bool has_scalar(const char *text) {
    enum { SCALAR = 4 };
    const char *at = field_of(text, SCALAR);
    return !at || strncmp(at, "std::nullopt", strlen("std::nullopt")) != 0;
}

size_t qdq_capture_operands(const qdq_capture *capture, const qdq_capture_program *program) {
    const struct op_row *row = row_of(program);
    if (!row || program->output == SIZE_MAX || program->input_count < row->operands) return 0;
    if (row->family == BINARY && has_scalar(program->arguments)) return 0;
    bool on_device = capture->tensors[program->output].memory_config != NULL;
    for (size_t i = 0; i < program->input_count; i++) {
        size_t tensor = capture->inputs[program->first_input + i];
        if (i >= row->operands && tensor != program->output) return 0;
        on_device &= capture->tensors[tensor].memory_config != NULL;
    }
    return on_device ? row->operands : 0;
}

//---- MatMul -----------------------------------------------------------------

static qdq_math_fidelity fidelity_of(const char *text) {
    static const struct {
        const char *word;
        qdq_math_fidelity fidelity;
    } words[] = {{"math_fidelity=LoFi", QDQ_LOFI},
                 {"math_fidelity=HiFi2", QDQ_HIFI2},
                 {"math_fidelity=HiFi3", QDQ_HIFI3}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(text, words[i].word)) return words[i].fidelity;
    return (qdq_math_fidelity)0;
}

static qdq_value add_matmul(qdq_graph *graph, const char *text, const qdq_value *inputs,
                            const char *name) {
    enum { TRANSPOSE_A = 9, TRANSPOSE_B = 10 };
    const char *a = field_of(text, TRANSPOSE_A), *b = field_of(text, TRANSPOSE_B);
    qdq_matmul_attrs attrs = {.name = name, .math_fidelity = fidelity_of(text)};
    if (a && *a == '1') attrs.transpose_a = QDQ_TRUE;
    if (b && *b == '1') attrs.transpose_b = QDQ_TRUE;
    if (!strstr(text, "fp32_dest_acc_en=1")) attrs.fp32_dest_acc_en = QDQ_FALSE;
    return qdq_matmul(graph, inputs[0], inputs[1], attrs);
}

//---- Nodes ------------------------------------------------------------------

qdq_value qdq_capture_add_op(qdq_graph *graph, const qdq_capture_program *program,
                             const qdq_value *inputs, const char *name, qdq_dtype dtype,
                             qdq_value into) {
    const struct op_row *row = row_of(program);
    qdq_unary_attrs unary = {.name = name, .x = inputs[0]};
    qdq_binary_attrs binary = {
        .name = name, .a = inputs[0], .b = inputs[1], .dtype = dtype, .output_tensor = into};
    switch (row->family) {
    case UNARY:
    case MOVE:
    case TO_LAYOUT: return qdq_add_node(graph, row->op, &unary, sizeof unary);
    case BINARY: return qdq_add_node(graph, row->op, &binary, sizeof binary);
    case MATMUL: return add_matmul(graph, program->arguments, inputs, name);
    }
    return (qdq_value){0};
}
