// SPDX-License-Identifier: Apache-2.0
// Optional fields of the C API: a bare number sets nothing, and is a finding for each of them.
#include <qdq/qdq.h>

#include "ops/op.h"
#include "runtime/numerics/dtype.h"
#include "tests/unit.h"

// The finding of the only node, whose message has these words.
static void check_finding(qdq_graph *g, const char *words) {
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    bool found = false;
    for (size_t i = 0; i < report->count; i++)
        found |= strcmp(report->findings[i].rule, "core/attribute-not-set") == 0 &&
                 strstr(report->findings[i].message, words) != NULL;
    if (!found) fail_msg("no finding says '%s'", words);
    qdq_graph_destroy(g);
}

// Compilers that are not asked to warn take `.axis = 1` for this.
static void bare_numbers_are_findings(void **state) {
    (void)state;
    static const float scales[3] = {1, 2, 4};
    static const qdq_quantize_attrs rows[] = {
        {.name = "q", .qtype = QDQ_PER_CHANNEL, .scales = {scales, 3, false}, .axis = {.set = 1}},
        {.name = "q", .scales = {scales, 1, true}, .quant_min = {.set = -8}},
    };
    static const char *const words[] = {
        "axis is a bare 1, which sets nothing, wanted QDQ_INT(1)",
        "quant_min is a bare -8, which sets nothing, wanted QDQ_INT(-8)",
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3, 3));
        qdq_output(g, "y", qdq_quantize(g, x, rows[i]));
        check_finding(g, words[i]);
    }
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(3, 3));
    qdq_requantize_attrs requantize = {.name = "r",
                                       .in_scales = QDQ_SCALE(1),
                                       .out_scales = QDQ_SCALE(2),
                                       .qtype = {.set = QDQ_PER_CHANNEL}};
    qdq_output(g, "y", qdq_requantize(g, x, requantize));
    check_finding(g, "qtype is a bare 1, which sets nothing, wanted QDQ_QTYPE(1)");
}

// Puts 1, then 0.5, where a bare number lands, in each optional field of each op.
static void each_optional_field_is_checked(void **state) {
    (void)state;
    size_t fields = 0;
    for (size_t i = 0; i < qdq_op_count(); i++) {
        const qdq_op *op = qdq_op_find(qdq_op_get(i).name);
        for (size_t k = 0; k < op->attr_count; k++) {
            const qdq_attr_desc *attr = &op->attrs[k];
            bool word = attr->kind == QDQ_ATTR_MAYBE_WORD;
            if (attr->kind != QDQ_ATTR_INT && attr->kind != QDQ_ATTR_BOUND &&
                attr->kind != QDQ_ATTR_FLOAT && !word)
                continue;
            for (int half = 0; half < 2; half++) {
                double mark = half ? 0.5 : 1;
                float short_mark = (float)mark;
                char *attrs = calloc(1, op->attrs_size);
                assert_non_null(attrs);
                qdq_graph *g = qdq_graph_create("g", NULL);
                memcpy(attrs + attr->offset, word ? (void *)&short_mark : (void *)&mark,
                       word ? sizeof short_mark : sizeof mark);
                (void)qdq_add_node(g, op->name, attrs, op->attrs_size);
                char words[128];
                snprintf(words, sizeof words, "%s is a bare %s, which sets nothing, wanted QDQ_",
                         attr->name, half ? "0.5" : "1");
                check_finding(g, words);
                free(attrs);
                fields++;
            }
        }
    }
    assert_true(fields > 60);
}

// The first number beyond the two values of a bool is refused, and both values pass.
static void bools_beyond_their_values_are_findings(void **state) {
    (void)state;
    for (int value = QDQ_UNSET; value <= QDQ_FALSE + 1; value++) {
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3, 3));
        qdq_output(g, "y", qdq_trilu(g, x, (qdq_trilu_attrs){.upper = (qdq_bool)value}));
        const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
        assert_int_equal(report->errors, value > QDQ_FALSE);
        if (value > QDQ_FALSE)
            assert_non_null(strstr(report->findings[0].message, "upper is 3, wanted 0 to 2"));
        qdq_graph_destroy(g);
    }
}

// `true` is 1, which was QDQ_FALSE.
static void true_of_c_is_true(void **state) {
    (void)state;
    static const float scales[1] = {1};
    qdq_quantize_attrs attrs = {.scales = {scales, 1, true}, .saturate = true};
    assert_int_equal(attrs.saturate, QDQ_TRUE);
    assert_int_equal(QDQ_UNSET, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bare_numbers_are_findings),
        cmocka_unit_test(each_optional_field_is_checked),
        cmocka_unit_test(bools_beyond_their_values_are_findings),
        cmocka_unit_test(true_of_c_is_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
