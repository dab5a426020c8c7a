// SPDX-License-Identifier: Apache-2.0
// Each target has the ops that its backend's documents name, and no others; a new op is unknown to
// every target until it is listed.
#include <string.h>

#include "graph/target.h"
#include "tests/unit.h"

// Ops without an operator in a backend's documents: ONNX's list of operators at opset 25, oneDNN
// Graph's op schemas, the operator matrix of onnx-tensorrt 10.15, Tripy 0.1.7's API reference,
// ttnn's API reference, PyTorch's functions.
static const struct {
    const char *target;
    const char *ops[24];
} unknown[] = {
    {"core", {NULL}},
    {"onnx", {"GenIndex"}},
    {"onednn", {NULL}},
    {"tensorrt", {"BatchNormForwardTraining", "GenIndex"}},
    {"tripy",
     {"Round", "HardSwish", "Mish", "LeakyReLU", "Elu", "HardSigmoid", "Clamp", "PReLU",
      "LogSoftmax", "RMSNorm", "ReduceL1", "ReduceL2", "Dropout", "BatchNormForwardTraining",
      "MatMulInteger", "ConvInteger", "QLinearMatMul", "QLinearConv"}},
    {"ttnn",
     {"LogSoftmax", "ReduceL1", "ReduceL2", "Dropout", "GenIndex", "MatMulInteger", "ConvInteger",
      "QLinearMatMul", "QLinearConv"}},
    {"torchao", {"GenIndex", "MatMulInteger", "ConvInteger", "QLinearMatMul", "QLinearConv"}},
};

enum { TARGETS = sizeof unknown / sizeof unknown[0] };

static bool is_listed(const char *const *ops, const char *op) {
    for (size_t i = 0; ops[i]; i++)
        if (strcmp(ops[i], op) == 0) return true;
    return false;
}

static const qdq_target *target_called(const char *name) {
    qdq_target_version profile = {0};
    qdq_error err = {0};
    assert_true(qdq_target_version_find(name, &profile, &err));
    return profile.target;
}

// Whether a target has the rule op-unknown for an op; a target without the rule has all ops.
static bool is_unknown(const qdq_target *target, const qdq_op *op) {
    const qdq_op_context call = {.op = op};
    for (size_t i = 0; i < target->rule_count; i++) {
        const qdq_rule *rule = &target->rules[i];
        if (target != target_called("core") && strstr(rule->id, "/op-unknown"))
            return qdq_rule_applies(rule, &call);
    }
    return false;
}

static void the_table_of_ops_is_that_of_the_documents(void **state) {
    (void)state;
    assert_int_equal(qdq_target_count(), TARGETS);
    for (size_t t = 0; t < TARGETS; t++) {
        const qdq_target *target = target_called(unknown[t].target);
        for (size_t i = 0; i < qdq_op_count(); i++) {
            const char *name = qdq_op_get(i).name;
            bool wanted = is_listed(unknown[t].ops, name);
            if (is_unknown(target, qdq_op_find(name)) != wanted)
                fail_msg("%s: %s is %sknown, wanted otherwise", unknown[t].target, name,
                         wanted ? "" : "un");
        }
    }
}

static void a_listed_op_is_one_that_there_is(void **state) {
    (void)state;
    for (size_t t = 0; t < TARGETS; t++)
        for (size_t i = 0; unknown[t].ops[i]; i++)
            if (!qdq_op_find(unknown[t].ops[i])) fail_msg("there is no op %s", unknown[t].ops[i]);
}

// A name that contains a listed name, or is part of one, is not listed.
static void a_new_op_is_unknown_to_every_backend(void **state) {
    static const char *const names[] = {"SoftPlus", "ReLU6", "Re", "LU", "ReduceM"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const qdq_op op = {.name = names[i]};
        for (size_t t = 1; t < TARGETS; t++)
            if (!is_unknown(target_called(unknown[t].target), &op))
                fail_msg("%s knows %s", unknown[t].target, names[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_ops_is_that_of_the_documents),
        cmocka_unit_test(a_listed_op_is_one_that_there_is),
        cmocka_unit_test(a_new_op_is_unknown_to_every_backend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
