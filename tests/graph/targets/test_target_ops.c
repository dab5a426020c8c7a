// SPDX-License-Identifier: Apache-2.0
// Each target has the ops that its backend's documents name, and no others; a new op is unknown to
// every target until it is listed.
#include <string.h>

#include "graph/core/target.h"
#include "runtime/base/words.h"
#include "tests/unit.h"

// Ops that some backends' documents have no operator for, with the targets of these backends.
// Documents: ONNX's list of operators at opset 25, oneDNN Graph's op schemas, the operator matrix
// of onnx-tensorrt 10.15, Tripy 0.1.7's API reference, ttnn's API reference, PyTorch's functions.
static const struct {
    const char *op;
    const char *targets;
} unknown[] = {
    {"GenIndex", "onnx tensorrt ttnn torchao litert"},
    {"ToMemoryConfig", "onnx onednn tensorrt tripy torchao litert"},
    {"InterleavedToSharded", "onnx onednn tensorrt tripy torchao litert"},
    {"ShardedToInterleaved", "onnx onednn tensorrt tripy torchao litert"},
    {"Reshard", "onnx onednn tensorrt tripy torchao litert"},
    {"ToLayout", "onnx onednn tensorrt tripy torchao litert"},
    {"ReLU6", "onnx onednn tensorrt tripy"},
    {"Rsqrt", "onnx onednn tensorrt"},
    {"Log1p", "onnx onednn tensorrt tripy litert"},
    {"Trunc", "onnx onednn tensorrt tripy litert"},
    {"BatchNormForwardTraining", "tensorrt tripy litert"},
    {"Round", "tripy"},
    {"HardSwish", "tripy"},
    {"SiLU", "onednn tensorrt litert"},
    {"Mish", "tripy litert"},
    {"LeakyReLU", "tripy"},
    {"Elu", "tripy"},
    {"HardSigmoid", "tripy litert"},
    {"Clamp", "tripy"},
    {"PReLU", "tripy"},
    {"Equal", "onednn"},
    {"Greater", "onednn"},
    {"Less", "onednn"},
    {"LessOrEqual", "onednn"},
    {"Not", "onednn"},
    {"And", "onednn tripy"},
    {"Or", "onednn"},
    {"Xor", "onednn tripy"},
    {"IsNaN", "onednn tripy"},
    {"IsInf", "onednn tripy"},
    {"BitwiseNot", "onednn tensorrt tripy litert"},
    {"BitwiseAnd", "onednn tensorrt tripy litert"},
    {"BitwiseOr", "onednn tensorrt tripy litert"},
    {"BitwiseXor", "onednn tensorrt tripy litert"},
    {"BitShift", "onednn tensorrt tripy litert"},
    {"LogSoftmax", "tripy ttnn"},
    {"RMSNorm", "tripy litert"},
    {"ReduceL1", "tripy ttnn litert"},
    {"ReduceL2", "tripy ttnn litert"},
    {"Dropout", "tripy ttnn litert"},
    {"MatMulInteger", "tripy ttnn torchao"},
    {"ConvInteger", "tripy ttnn torchao"},
    {"QLinearMatMul", "tripy ttnn torchao litert"},
    {"QLinearConv", "tripy ttnn torchao litert"},
    {"QLinearAdd", "onednn tensorrt tripy ttnn torchao litert"},
    {"QLinearMul", "onednn tensorrt tripy ttnn torchao litert"},
    {"MatMulIntegerToFloat", "tripy ttnn torchao litert"},
    {"QGemm", "tripy ttnn torchao litert"},
    {"MatMulNBits", "tripy ttnn torchao litert"},
    {"QLinearAveragePool", "onednn tensorrt tripy ttnn torchao litert"},
    {"QLinearGlobalAveragePool", "onednn tensorrt tripy ttnn torchao litert"},
    {"QLinearSoftmax", "onednn tensorrt tripy ttnn torchao"},
    {"Table", "onnx onednn tensorrt tripy ttnn torchao"},
    {"AvgPoolInteger", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"MatMulInteger64", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"ConvInteger64", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"MultiplyShift", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"ArithmeticShiftRight", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"ClampInteger", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"NegInteger", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"CountLeadingZeros", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"ReduceMaxInteger", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"ReduceMinInteger", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"ReduceSumInteger", "onnx onednn tensorrt tripy ttnn torchao litert"},
    {"Slice", "onednn"},
    {"Pad", "onednn"},
    {"Expand", "onednn"},
    {"Tile", "onednn tripy"},
    {"Gather", "onednn ttnn"},
    {"GatherElements", "onednn tripy litert"},
    {"GatherND", "onednn tripy ttnn torchao"},
    {"ScatterElements", "onednn tripy litert"},
    {"ScatterND", "onednn tripy ttnn"},
    {"DepthToSpace", "onednn tripy ttnn"},
    {"SpaceToDepth", "onednn tripy ttnn torchao"},
    {"Trilu", "onednn litert"},
    {"EyeLike", "onednn tripy ttnn litert"},
    {"OneHot", "onednn tripy ttnn torchao"},
    {"CumSum", "onednn"},
    {"Sign", "onednn tripy"},
    {"Floor", "onednn tripy"},
    {"Ceil", "onednn tripy"},
    {"Erf", "onednn tripy litert"},
    {"Softplus", "tripy litert"},
    {"Sin", "onednn"},
    {"Cos", "onednn"},
    {"Tan", "onednn tripy litert"},
    {"Asin", "onednn tripy litert"},
    {"Acos", "onednn tripy litert"},
    {"Atan", "onednn tripy litert"},
    {"Sinh", "onednn tripy litert"},
    {"Cosh", "onednn tripy litert"},
    {"Asinh", "onednn tripy litert"},
    {"Acosh", "onednn tripy litert"},
    {"Atanh", "onednn tripy litert"},
    {"ArgMax", "onednn"},
    {"ArgMin", "onednn ttnn"},
    {"TopK", "onednn"},
    {"Mod", "onednn"},
};

enum { UNKNOWN = sizeof unknown / sizeof unknown[0] };

// The ops of a target that has few: TOSA 1.0's list of operators.
static const struct {
    const char *target, *ops;
} few[] = {
    {"tosa",
     "Requantize Cast Abs Neg Exp Log Rsqrt Reciprocal Tanh Sigmoid Erf Floor Ceil Sin Cos "
     "Pow Add Subtract Multiply Minimum Maximum Clamp Equal Greater GreaterEqual Select Not "
     "And Or Xor BitwiseNot BitwiseAnd BitwiseOr BitwiseXor BitShift MatMul MatMulInteger "
     "Convolution ConvInteger ConvTranspose MaxPool AvgPool ArgMax ReduceMax ReduceMin "
     "ReduceProd ReduceSum Concat Pad StaticReshape StaticTranspose Slice Tile Interpolate Table "
     "Divide Gather ScatterND "
     "AvgPoolInteger MatMulInteger64 ConvInteger64 MultiplyShift ArithmeticShiftRight "
     "ClampInteger NegInteger CountLeadingZeros "
     "ReduceMaxInteger ReduceMinInteger ReduceSumInteger"},
};

static bool is_listed(const char *op, const char *target) {
    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
        if (strcmp(few[i].target, target) == 0) return !qdq_has_word(few[i].ops, op);
    for (size_t i = 0; i < UNKNOWN; i++)
        if (strcmp(unknown[i].op, op) == 0) return strstr(unknown[i].targets, target) != NULL;
    return false;
}

static const qdq_target *target_called(const char *name) {
    qdq_target_version profile = {0};
    qdq_error err = {0};
    assert_true(qdq_target_version_find(name, &profile, &err));
    return profile.target;
}

// Whether a target, or its base, has the rule op-unknown for an op; a target without the rule has
// all ops.
static bool is_unknown(const qdq_target *target, const qdq_op *op) {
    const qdq_op_context call = {.op = op};
    if (target->base) target = target->base;
    for (size_t i = 0; i < target->rule_count; i++) {
        const qdq_rule *rule = &target->rules[i];
        if (target != target_called("core") && strstr(rule->id, "/op-unknown"))
            return qdq_rule_applies(rule, &call);
    }
    return false;
}

static void each_target_has_the_ops_of_its_documents(void **state) {
    (void)state;
    for (size_t t = 0; t < qdq_target_count(); t++) {
        const char *target = qdq_target_get(t).name;
        for (size_t i = 0; i < qdq_op_count(); i++) {
            const char *op = qdq_op_get(i).name;
            const char *list = strcmp(target, "ort") == 0    ? "onnx"
                               : strcmp(target, "tflm") == 0 ? "litert"
                                                             : target;
            bool wanted = is_listed(op, list);
            if (is_unknown(target_called(target), qdq_op_find(op)) != wanted)
                fail_msg("%s is %sknown to %s in graph/targets/target_ops.h, but not here", op,
                         wanted ? "" : "un", target);
        }
    }
}

static void every_listed_op_exists(void **state) {
    (void)state;
    for (size_t i = 0; i < UNKNOWN; i++)
        if (!qdq_op_find(unknown[i].op)) fail_msg("there is no op %s", unknown[i].op);
}

// A name that contains a listed name, or is part of one, is not listed.
static void a_new_op_is_unknown_to_every_backend(void **state) {
    static const char *const names[] = {"SoftPlu", "ReLU7", "Re", "LU", "ReduceM"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const qdq_op op = {.name = names[i]};
        for (size_t t = 0; t < qdq_target_count(); t++) {
            const qdq_target *target = target_called(qdq_target_get(t).name);
            if (target != target_called("core") && !is_unknown(target, &op))
                fail_msg("%s knows %s", qdq_target_get(t).name, names[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_target_has_the_ops_of_its_documents),
        cmocka_unit_test(every_listed_op_exists),
        cmocka_unit_test(a_new_op_is_unknown_to_every_backend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
