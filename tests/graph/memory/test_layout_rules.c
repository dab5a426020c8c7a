// SPDX-License-Identifier: Apache-2.0
// Which value a finding about memory is reported for, and that it is reported once.
// tests/rules/ttnn.json has a case for each rule.
#include "include/qdq/qdq.h"
#include "tests/unit.h"

// Shards of h x w in L1, on x cores in a row.
static qdq_memory_config height_sharded(int64_t h, int64_t w, int x) {
    return (qdq_memory_config){.buffer_type = QDQ_L1,
                               .memory_layout = QDQ_HEIGHT_SHARDED,
                               .shard_spec = {.grid = {{0, 0, (uint16_t)(x - 1), 0}},
                                              .grid_count = 1,
                                              .shape = QDQ_SHAPE(h, w)}};
}

static qdq_value input(qdq_graph *g, const char *name, int64_t rows, qdq_memory_config config) {
    qdq_value x = qdq_input(g, name, QDQ_FLOAT32, QDQ_SHAPE(rows, 64));
    qdq_set_memory_config(g, x, &config);
    return x;
}

// Checks that the graph has exactly these findings of target ttnn, about memory or not.
static void expect(qdq_graph *g, qdq_value y, const char *const *rules, const char *const *nodes,
                   size_t count) {
    qdq_error err = {0};
    qdq_output(g, "y", y);
    const qdq_report *report = qdq_graph_validate(g, "ttnn", &err);
    assert_string_equal(err.text, "");
    assert_int_equal(report->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(report->findings[i].rule, rules[i]);
        assert_string_equal(report->findings[i].node, nodes[i]);
    }
    qdq_graph_destroy(g);
}

#define EXPECT(g, y, rule, node) \
    expect(g, y, (const char *const[]){rule}, (const char *const[]){node}, 1)

static void outputs_that_inherit_a_wrong_config_have_no_finding_of_their_own(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = input(g, "x", 64, height_sharded(32, 32, 2));
    for (int i = 0; i < 4; i++) x = qdq_relu(g, x, (qdq_unary_attrs){0});
    EXPECT(g, x, "ttnn/shard-width", "x");
}

static void a_layout_that_several_ops_inherit_is_reported_at_the_first(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(64, 64));
    qdq_set_layout(g, x, QDQ_LAYOUT_ROW_MAJOR);
    qdq_value a = qdq_add(g, x, x, (qdq_binary_attrs){.name = "a"});
    qdq_value b = qdq_add(g, a, a, (qdq_binary_attrs){.name = "b"});
    EXPECT(g, b, "ttnn/operand-layout", "a");
    g = qdq_graph_create("g", NULL);
    x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(64, 64));
    qdq_set_tile(g, x, (qdq_tile_shape){8, 32, false});
    a = qdq_relu(g, x, (qdq_unary_attrs){.name = "a"});
    b = qdq_relu(g, a, (qdq_unary_attrs){.name = "b"});
    EXPECT(g, b, "ttnn/tile-height", "a");
}

// Broadcast to 128 rows, 64 rows in shards of 32 become shards of 64, and 1 row (32 padded) one of
// 128. Reshaped to [64, 160], 160 rows in shards of 96 become shards of 96 * 64 / 160 = 38 rows,
// which are no whole tiles.
static void a_shard_that_is_adapted_to_another_shape_is_checked_again(void **state) {
    (void)state;
    for (int one_row = 0; one_row < 2; one_row++) {
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_value b = qdq_input(g, "b", QDQ_FLOAT32, QDQ_SHAPE(2, 64, 64));
        qdq_value a = one_row ? input(g, "a", 1, height_sharded(32, 64, 1))
                              : input(g, "a", 64, height_sharded(32, 64, 2));
        qdq_value y = qdq_add(g, a, b, (qdq_binary_attrs){.name = "y"});
        expect(g, y, NULL, NULL, 0);
    }
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = input(g, "x", 160, height_sharded(96, 64, 2));
    qdq_value y = qdq_reshape(
        g, x,
        (qdq_reshape_attrs){.name = "y", .shape = QDQ_INTS(64, 160), .special_zero = QDQ_FALSE});
    EXPECT(g, y, "ttnn/shard-tiles", "y");
}

static void a_graph_that_says_nothing_of_memory_has_no_such_finding(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(64, 64));
    expect(g, qdq_to_memory_config(g, x, (qdq_unary_attrs){0}), NULL, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_that_inherit_a_wrong_config_have_no_finding_of_their_own),
        cmocka_unit_test(a_layout_that_several_ops_inherit_is_reported_at_the_first),
        cmocka_unit_test(a_shard_that_is_adapted_to_another_shape_is_checked_again),
        cmocka_unit_test(a_graph_that_says_nothing_of_memory_has_no_such_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
