// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/target_table.h"

#include <string.h>

#define PRODUCTS "MatMul Convolution ConvTranspose"
#define MOVES "MaxPool StaticReshape StaticTranspose Slice"

// clang-format off
static const target_row rows[] = {
    // target    ops       channels  moves  qtype            activations weights   bias         residual         symmetric zero_points results groups stacks softmax
    {"core",      PRODUCTS, PRODUCTS, "",    QDQ_PER_CHANNEL, QDQ_UINT8,  QDQ_INT8, QDQ_FLOAT32, RESIDUAL_FLOAT,  false,    true,       false,  true,  true,  false},
    {"onnx",      PRODUCTS, PRODUCTS, MOVES, QDQ_PER_CHANNEL, QDQ_UINT8,  QDQ_INT8, QDQ_INT32,   RESIDUAL_BOTH,   false,    true,       true,   true,  false, false},
    {"ort",       PRODUCTS, PRODUCTS, MOVES, QDQ_PER_CHANNEL, QDQ_UINT8,  QDQ_INT8, QDQ_INT32,   RESIDUAL_BOTH,   false,    true,       true,   false, false, true},
    {"onednn",    PRODUCTS, PRODUCTS, "",    QDQ_PER_CHANNEL, QDQ_UINT8,  QDQ_INT8, QDQ_FLOAT32, RESIDUAL_BRANCH, false,    true,       false,  false, true,  false},
    {"tensorrt",  PRODUCTS, PRODUCTS, "",    QDQ_PER_CHANNEL, QDQ_INT8,   QDQ_INT8, QDQ_FLOAT32, RESIDUAL_BRANCH, true,     false,      false,  false, true,  false},
    {"tripy",     PRODUCTS, PRODUCTS, "",    QDQ_PER_CHANNEL, QDQ_INT8,   QDQ_INT8, QDQ_FLOAT32, RESIDUAL_BRANCH, true,     false,      false,  false, true,  false},
    {"torchao",   PRODUCTS, PRODUCTS, "",    QDQ_PER_CHANNEL, QDQ_INT8,   QDQ_INT8, QDQ_FLOAT32, RESIDUAL_FLOAT,  false,    true,       false,  true,  true,  false},
    {"ttnn",      PRODUCTS, PRODUCTS, "",    QDQ_PER_CHANNEL, QDQ_INT8,   QDQ_INT8, QDQ_FLOAT32, RESIDUAL_FLOAT,  false,    true,       false,  false, true,  false},
};
// clang-format on

const target_row *target_row_of(const char *target) {
    size_t length = strcspn(target, "@:");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].target) == length && strncmp(rows[i].target, target, length) == 0)
            return &rows[i];
    return NULL;
}

bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}
