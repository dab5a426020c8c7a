// SPDX-License-Identifier: Apache-2.0
// Which ranges of data `qdq run --fill` makes up for the ports of ops.
#include "ops/op.h"
#include "tests/unit.h"

static void a_port_is_matched_by_its_name_or_suffix(void **state) {
    (void)state;
    static const struct {
        const char *op, *port;
        qdq_fill fill;
    } cases[] = {
        {"Quantize", "x", QDQ_FILL_ANY},
        {"Quantize", "scale", QDQ_FILL_SCALE},
        {"Requantize", "out_scale", QDQ_FILL_SCALE},
        {"Interpolate", "scales", QDQ_FILL_ANY},
        {"Interpolate", "upscale", QDQ_FILL_ANY},
        {"QLinearConv", "w_zero_point", QDQ_FILL_ZERO_POINT},
        {"Convolution", "weights", QDQ_FILL_SMALL},
        {"Convolution", "bias", QDQ_FILL_ANY},
        {"BatchNormInference", "variance", QDQ_FILL_POSITIVE},
        {"Dropout", "seed", QDQ_FILL_COUNT},
        {"Gather", "indices", QDQ_FILL_COUNT},
        {"Dropout", "probability", QDQ_FILL_HALF},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++)
        assert_int_equal(qdq_fill_of(cases[i].op, cases[i].port), cases[i].fill);
}

static void a_row_of_one_op_applies_to_no_other(void **state) {
    (void)state;
    assert_int_equal(qdq_fill_of("MatMul", "b"), QDQ_FILL_SMALL);
    assert_int_equal(qdq_fill_of("MatMul", "a"), QDQ_FILL_ANY);
    assert_int_equal(qdq_fill_of("Add", "b"), QDQ_FILL_ANY);
    assert_int_equal(qdq_fill_of("Divide", "b"), QDQ_FILL_POSITIVE);
    assert_int_equal(qdq_fill_of("Log", "x"), QDQ_FILL_POSITIVE);
    assert_int_equal(qdq_fill_of("LogSoftmax", "x"), QDQ_FILL_ANY);
}

static void port_infos_contain_the_fill(void **state) {
    (void)state;
    size_t scales = 0;
    for (size_t op = 0; op < qdq_op_count(); op++)
        for (size_t i = 0; i < qdq_op_get(op).input_count; i++) {
            qdq_port_info port = qdq_op_input(op, i);
            assert_int_equal(port.fill, qdq_fill_of(qdq_op_get(op).name, port.name));
            scales += port.fill == QDQ_FILL_SCALE;
        }
    assert_true(scales >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_is_matched_by_its_name_or_suffix),
        cmocka_unit_test(a_row_of_one_op_applies_to_no_other),
        cmocka_unit_test(port_infos_contain_the_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
