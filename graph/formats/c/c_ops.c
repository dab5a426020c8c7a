// SPDX-License-Identifier: Apache-2.0
// Which writer an op has.
#include <string.h>

#include "graph/formats/c/c_draft.h"
#include "ops/elementwise/elementwise_ops.h"

typedef struct writer_row {
    const char *op;
    qdq_c_writer *writer;
} writer_row;

#define ELEMENTS(function, op, summary, kind) {op, qdq_c_write_elements},
static const writer_row rows[] = {
    {"Quantize", qdq_c_write_quantize},
    {"Dequantize", qdq_c_write_dequantize},
    {"Requantize", qdq_c_write_requantize},
    {"DynamicQuantize", qdq_c_write_dynamic_quantize},
    QDQ_UNARY_OPS(ELEMENTS) QDQ_BINARY_OPS(ELEMENTS){"Tanh", qdq_c_write_elements},
    {"IsInf", qdq_c_write_elements},
    {"LeakyReLU", qdq_c_write_elements},
    {"Elu", qdq_c_write_elements},
    {"HardSigmoid", qdq_c_write_elements},
    {"Clamp", qdq_c_write_elements},
    {"GELU", qdq_c_write_elements},
    {"BitShift", qdq_c_write_elements},
    {"Mod", qdq_c_write_elements},
    {"Select", qdq_c_write_elements},
    {"BiasAdd", qdq_c_write_elements},
    {"PReLU", qdq_c_write_elements},
    {"MatMul", qdq_c_write_product},
    {"MatMulInteger", qdq_c_write_product},
    {"MatMulIntegerToFloat", qdq_c_write_product},
    {"QGemm", qdq_c_write_product},
    {"QLinearMatMul", qdq_c_write_product},
    {"Convolution", qdq_c_write_convolution},
    {"ConvTranspose", qdq_c_write_convolution},
    {"ConvInteger", qdq_c_write_convolution},
    {"QLinearConv", qdq_c_write_convolution},
    {"QLinearAdd", qdq_c_write_qlinear_binary},
    {"QLinearMul", qdq_c_write_qlinear_binary},
    {"QLinearAveragePool", qdq_c_write_qlinear_pool},
    {"QLinearGlobalAveragePool", qdq_c_write_qlinear_pool},
    {"QLinearSoftmax", qdq_c_write_qlinear_softmax},
    {"AvgPool", qdq_c_write_pool},
    {"MaxPool", qdq_c_write_pool},
    {"Interpolate", qdq_c_write_interpolate},
    {"SoftMax", qdq_c_write_softmax},
    {"LogSoftmax", qdq_c_write_log_softmax},
    {"ReduceL1", qdq_c_write_reduce},
    {"ReduceL2", qdq_c_write_reduce},
    {"ReduceMax", qdq_c_write_reduce},
    {"ReduceMean", qdq_c_write_reduce},
    {"ReduceMin", qdq_c_write_reduce},
    {"ReduceProd", qdq_c_write_reduce},
    {"ReduceSum", qdq_c_write_reduce},
    {"StaticReshape", qdq_c_write_copy},
    {"Reorder", qdq_c_write_copy},
    {"StaticTranspose", qdq_c_write_transpose},
    {"DepthToSpace", qdq_c_write_transpose},
    {"SpaceToDepth", qdq_c_write_transpose},
    {"Slice", qdq_c_write_runs},
    {"Pad", qdq_c_write_runs},
    {"Expand", qdq_c_write_runs},
    {"Tile", qdq_c_write_runs},
    {"Concat", qdq_c_write_runs},
    {"Gather", qdq_c_write_gather},
    {"Table", qdq_c_write_table},
    {"AvgPoolInteger", qdq_c_write_avg_pool_integer},
    {"MultiplyShift", qdq_c_write_multiply_shift},
    {"ArithmeticShiftRight", qdq_c_write_arithmetic_shift_right},
    {"ClampInteger", qdq_c_write_clamp_integer},
    {"NegInteger", qdq_c_write_neg_integer},
    {"CountLeadingZeros", qdq_c_write_count_leading_zeros},
    {"ReduceMaxInteger", qdq_c_write_reduce_integer},
    {"ReduceMinInteger", qdq_c_write_reduce_integer},
    {"ReduceSumInteger", qdq_c_write_reduce_integer},
};

qdq_c_writer *qdq_c_writer_of(const qdq_op *op) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].op, op->name) == 0) return rows[i].writer;
    return NULL;
}
