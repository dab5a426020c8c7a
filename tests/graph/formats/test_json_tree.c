// SPDX-License-Identifier: Apache-2.0
// The JSON tree: whole numbers that doubles cannot tell apart.
#include "graph/formats/json/json_tree.h"
#include "runtime/base/error.h"
#include "runtime/base/mempool.h"
#include "tests/unit.h"

static qdq_json_item *parse(const char *text) {
    qdq_error err = {0};
    qdq_json_item *tree =
        qdq_json_tree_parse(text, strlen(text), qdq_allocator_or_default(NULL), 0, &err);
    assert_string_equal(err.text, "");
    assert_non_null(tree);
    return tree;
}

static void integers_beyond_two_to_the_53_are_exact(void **state) {
    (void)state;
    // Digits, signs and quotes in strings and keys are no numbers.
    qdq_json_item *tree =
        parse("{\"-1\": \"12345678901234567890 \\\" 7\", \"\\\\\": [-0.5e-10, 9007199254740993, "
              "9007199254740992], \"9\": {\"b\": 18446744073709551615, \"c\": "
              "-9223372036854775808}, \"d\": true, \"e\": [], \"f\": 9223372036854775807}");
    const qdq_json_item *list = qdq_json_find(tree, "\\");
    const qdq_json_item *second = qdq_json_next(qdq_json_first(list));
    int64_t whole = 0;
    uint64_t natural = 0;
    assert_false(qdq_json_int64(qdq_json_first(list), &whole));
    assert_true(qdq_json_int64(second, &whole));
    assert_true(whole == INT64_C(9007199254740993));
    assert_true(qdq_json_int64(qdq_json_next(second), &whole));
    assert_true(whole == INT64_C(9007199254740992));
    const qdq_json_item *object = qdq_json_find(tree, "9");
    assert_true(qdq_json_uint64(qdq_json_find(object, "b"), &natural));
    assert_true(natural == UINT64_MAX);
    assert_false(qdq_json_int64(qdq_json_find(object, "b"), &whole));
    assert_true(qdq_json_int64(qdq_json_find(object, "c"), &whole));
    assert_true(whole == INT64_MIN);
    assert_false(qdq_json_uint64(qdq_json_find(object, "c"), &natural));
    assert_true(qdq_json_int64(qdq_json_find(tree, "f"), &whole));
    assert_true(whole == INT64_MAX);
    assert_false(qdq_json_int64(qdq_json_find(tree, "-1"), &whole));
    assert_false(qdq_json_int64(qdq_json_find(tree, "d"), &whole));
    qdq_json_tree_free(tree);
}

// A fraction of zeros and an exponent do not make a number less exact.
static void whole_numbers_are_exact_in_every_form(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool whole;
        int64_t value;
    } rows[] = {
        {"9007199254740993.0", true, INT64_C(9007199254740993)},
        {"-9007199254740993.000", true, INT64_C(-9007199254740993)},
        {"9007199254740993e0", true, INT64_C(9007199254740993)},
        {"9.007199254740993e15", true, INT64_C(9007199254740993)},
        {"9.007199254740993E+0015", true, INT64_C(9007199254740993)},
        {"90071992547409930e-1", true, INT64_C(9007199254740993)},
        {"900719925474099.3e1", true, INT64_C(9007199254740993)},
        {"0.09007199254740993e17", true, INT64_C(9007199254740993)},
        {"9223372036854775807.0", true, INT64_MAX},
        {"-9.223372036854775808e18", true, INT64_MIN},
        {"9223372036854775808.0", false, 0},
        {"9007199254740993.5", false, 0},
        {"90071992547409931e-1", false, 0},
        {"1.00000000000000000000000000000000000000", true, 1},
        {"0.00000000000000000000000000000000000001", false, 0},
        {"0.000000000000000000000000000000", true, 0},
        {"100000000000000000000e-20", true, 1},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_json_item *tree = parse(rows[i].text);
        int64_t value = 0;
        if (qdq_json_int64(tree, &value) != rows[i].whole ||
            (rows[i].whole && value != rows[i].value))
            fail_msg("%s gives %lld", rows[i].text, (long long)value);
        qdq_json_tree_free(tree);
    }
}

static void numbers_beyond_64_bits_are_no_integers(void **state) {
    (void)state;
    qdq_json_item *tree = parse("[18446744073709551616, 99999999999999999999, -1, 1e18, 0.5, -0]");
    static const bool natural_ones[] = {false, false, false, false, false, true};
    size_t i = 0;
    QDQ_JSON_EACH(item, tree) {
        uint64_t natural;
        assert_int_equal(qdq_json_uint64(item, &natural), natural_ones[i++]);
    }
    assert_int_equal(i, 6);
    qdq_json_tree_free(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_beyond_two_to_the_53_are_exact),
        cmocka_unit_test(whole_numbers_are_exact_in_every_form),
        cmocka_unit_test(numbers_beyond_64_bits_are_no_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
