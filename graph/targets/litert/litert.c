// SPDX-License-Identifier: Apache-2.0
// LiteRT (TensorFlow Lite) 2.3 on a CPU, by the engine that runs each operator: the delegate
// XNNPACK, the built-in optimized kernels, or the reference kernels; and TensorFlow Lite for
// Microcontrollers. Operators on codes are fixed point.
#include "graph/targets/litert/litert.h"

#include "graph/targets/target_ops.h"

//---- Rules ------------------------------------------------------------------

#define SOURCE "run of ai-edge-litert 2.3.0"

// Rules of patterns.
#define FAILS(at, rule, text, advice, which)                                                    \
    {                                                                                           \
        .id = "litert/" rule, .severity = QDQ_SEVERITY_ERROR, .status = QDQ_ERR_UNSUPPORTED,    \
        .summary = (text), .hint = (advice), .source = SOURCE, .ops = (which), .versions = (at) \
    }

// clang-format off
static const qdq_rule litert_rules[] = {
    QDQ_FIDELITY_ROW("litert"),
    QDQ_APPROXIMATE_ROW("litert"),
    QDQ_NO_BLOCK_FLOAT_ROW("litert", QDQ_BLOCK_OPS),
    QDQ_BITS_UNKNOWN_ROW("litert"),
    FAILS(NULL, "hard-swish-scale", "HARD_SWISH has a scale of x of less than 128 times the scale of y", "quantize y with a larger scale",
          "HardSwish"),
    QDQ_BITS_ROW(CLOSE, "litert", "libm", "no result of LOGISTIC or TANH lies halfway between two codes", "compare on the backend's system",
                 "glibc 2.36: tanhf and expf are not correctly rounded", "Sigmoid Tanh", NULL, 0, 0),
    QDQ_RULE_ROW(WARNING, "litert", "finite-rows", "the rows of x of a FULLY_CONNECTED of floats by int8 are finite",
                 "compare rows with other numbers on the backend", SOURCE, "MatMul", NULL, 0, 0),
    FAILS("builtin-* reference*", "logistic-scale", "LOGISTIC has codes of scale 1/256", "quantize y with the scale 0.00390625", "Sigmoid"),
    FAILS("xnnpack-*", "product-scale", "the product of the scales of x and weights is less than 256 times the scale of y",
          "quantize y with a larger scale", "Convolution MatMul"),
    QDQ_UNKNOWN_OPS_ROW("litert", QDQ_LITERT_OPS, "LiteRT's operators"),
};
static const qdq_rule tflm_rules[] = {
    QDQ_FIDELITY_ROW("tflm"),
    QDQ_APPROXIMATE_ROW("tflm"),
    QDQ_NO_BLOCK_FLOAT_ROW("tflm", QDQ_BLOCK_OPS),
    QDQ_BITS_UNKNOWN_ROW("tflm"),
    QDQ_UNKNOWN_OPS_ROW("tflm", QDQ_LITERT_OPS, "TFLM's operators"),
};
// clang-format on

//---- Patterns ---------------------------------------------------------------

#define ROW(pass, name, anchor, function, cause)                                                 \
    {                                                                                            \
        pass, name, anchor, litert_match_##function, litert_build_##function, NULL, NULL, false, \
            cause                                                                                \
    }

#define FIXED "fixed point"
#define TABLE "table"
#define BLOCKS "half up in a block"
#define FRACTION "8-bit fraction"

// clang-format off
const qdq_pattern litert_patterns[] = {
    ROW("operators", "CONV_2D", "Convolution", product_int16, FIXED),
    ROW("operators", "FULLY_CONNECTED", "MatMul", product_int16, FIXED),
    ROW("operators", "CONV_2D", "Convolution", conv, FIXED),
    ROW("operators", "FULLY_CONNECTED", "MatMul", dynamic, "range of a row"),
    ROW("operators", "FULLY_CONNECTED", "MatMul", fully_connected, FIXED),
    ROW("operators", "ADD", "Add", add_int16, FIXED),
    ROW("operators", "SUB", "Subtract", add_int16, FIXED),
    ROW("operators", "MUL", "Multiply", multiply_int16, FIXED),
    ROW("operators", "ADD", "Add", add, FIXED),
    ROW("operators", "SUB", "Subtract", add, FIXED),
    ROW("operators", "MUL", "Multiply", multiply, FIXED),
    ROW("operators", "RELU", "ReLU", relu, FIXED),
    ROW("operators", "RELU6", "ReLU6", relu, FIXED),
    ROW("operators", "RELU6", "Clamp", relu, FIXED),
    ROW("operators", "LOGISTIC", "Sigmoid", function, TABLE),
    ROW("operators", "TANH", "Tanh", function, TABLE),
    ROW("operators", "HARD_SWISH", "HardSwish", function, TABLE),
    ROW("operators", "LEAKY_RELU", "LeakyReLU", fraction, FRACTION),
    ROW("operators", "LEAKY_RELU", "LeakyReLU", function, TABLE),
    ROW("operators", "CONCATENATION", "Quantize", joined, TABLE),
    ROW("operators", "MAX_POOL_2D", "MaxPool", max_pool, NULL),
    ROW("operators", "AVERAGE_POOL_2D", "AvgPool", average_pool, FIXED),
    ROW("operators", "SOFTMAX", "SoftMax", softmax, TABLE),
    ROW("operators", "RESIZE_BILINEAR", "Interpolate", resize, FIXED),
    ROW("operators", "MEAN", "ReduceMean", mean, FIXED),
    ROW("operators", "codes", "StaticReshape", moved, NULL),
    ROW("operators", "codes", "StaticTranspose", moved, NULL),
    ROW("operators", "codes", "Slice", moved, NULL),
    ROW("operators", "QUANTIZE", "Requantize", requantize, FIXED),

    ROW("blocks", "QUANTIZE", "Quantize", quantize, BLOCKS),
    ROW("blocks", "DEQUANTIZE", "Dequantize", dequantize, TABLE),
    {.pass = NULL},
};
// clang-format on

//---- The targets ------------------------------------------------------------

static const qdq_named_version versions[] = {
    {"xnnpack-x86", 1, LITERT_XNNPACK_X86}, {"xnnpack-arm64", 1, LITERT_XNNPACK_ARM},
    {"builtin-x86", 1, LITERT_BUILTIN_X86}, {"builtin-arm64", 1, LITERT_BUILTIN_ARM},
    {"reference", 1, LITERT_AT_REFERENCE},  {"reference-arm64", 1, LITERT_AT_REFERENCE_ARM},
};

// The word of N threads is number N - 1.
static const char *const thread_counts[] = {"1",  "2",  "3",  "4",  "5",  "6",  "7",  "8", "9",
                                            "10", "11", "12", "13", "14", "15", "16", NULL};
static const qdq_target_option_info options[LITERT_OPTIONS] = {
    [LITERT_THREADS] = {"threads", thread_counts, "num_threads of the interpreter"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// The operators whose results have one scale and zero point.
static const qdq_fixed_codes fixed_codes[] = {{"SoftMax", 1.0f / 256, -128},
                                              {"Sigmoid", 1.0f / 256, -128},
                                              {"Tanh", 1.0f / 128, 0},
                                              {.op = NULL}};

// A graph as the converter of TensorFlow Lite quantizes it to int8.
#define QUANTIZED                                                                              \
    {                                                                                          \
        .ops = "MatMul Convolution", .moves = MOVES, .values = QDQ_INT8, .weights = QDQ_INT8,  \
        .bias = QDQ_INT32, .whole = true,                                                      \
        .operators = "Add Subtract Multiply ReduceMean Sigmoid Tanh HardSwish LeakyReLU ReLU " \
                     "ReLU6 Clamp SoftMax AvgPool Interpolate",                                \
        .clips = "MatMul Convolution Add Subtract Multiply",                                   \
        .shares = MOVES " AvgPool Interpolate", .biased = "Convolution", .fixed = fixed_codes, \
        .halves_away = true, .channels_last = true                                             \
    }
#define MOVES "StaticReshape StaticTranspose Slice Pad Concat Gather MaxPool"

const qdq_target qdq_target_litert = {
    .name = "litert",
    .summary = "LiteRT 2.3 on a CPU: XNNPACK, built-in or reference kernels",
    .rules = litert_rules,
    .rule_count = COUNT(litert_rules),
    .versions = versions,
    .version_count = COUNT(versions),
    .options = options,
    .option_count = LITERT_OPTIONS,
    .patterns = litert_patterns,
    .evidence = litert_evidence,
    .numerics = litert_numerics,
    .quantized = QUANTIZED,
    .fixed_point = true,
};

const qdq_target qdq_target_tflm = {
    .name = "tflm",
    .summary = "TensorFlow Lite for Microcontrollers in 2026, and CMSIS-NN",
    .rules = tflm_rules,
    .rule_count = COUNT(tflm_rules),
    .patterns = litert_patterns,
    .evidence = tflm_evidence,
    .numerics = litert_numerics,
    .quantized = QUANTIZED,
    .fixed_point = true,
};
