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
    expect(g, qdq_relu(g, x, (qdq_unary_attrs){0}), NULL, NULL, 0);
}

static void an_op_that_moves_a_tensor_nowhere_is_found_in_any_graph(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(64, 64));
    EXPECT(g, qdq_to_memory_config(g, x, (qdq_unary_attrs){.name = "m"}), "ttnn/move-where", "m");
}

static void another_target_on_a_device_has_the_same_rules(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_output(g, "y", input(g, "x", 64, height_sharded(32, 32, 2)));
    const qdq_report *report =
        qdq_graph_validate_on(g, "core", qdq_device_find("p150", NULL), &err);
    assert_int_equal(report->count, 1);
    assert_string_equal(report->findings[0].rule, "ttnn/shard-width");
    assert_string_equal(qdq_graph_validate(g, "core", &err)->findings[0].rule,
                        "core/memory-config-ignored");
    qdq_graph_destroy(g);
}

// The grid of a shard is checked on the device that is given: 10 columns are too many for an n150.
static void rules_hold_for_the_device_that_is_given(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_output(g, "y", input(g, "x", 320, height_sharded(32, 64, 10)));
    const qdq_device *p150 = qdq_device_find("p150", NULL);
    assert_int_equal(qdq_graph_validate_on(g, "ttnn@blackhole", p150, NULL)->count, 0);
    assert_int_equal(qdq_graph_validate(g, "ttnn@blackhole", NULL)->count, 0);
    assert_string_equal(qdq_graph_validate(g, "ttnn", NULL)->findings[0].rule, "ttnn/shard-grid");
    const qdq_device *none = qdq_device_find("none", NULL);
    assert_int_equal(qdq_graph_validate_on(g, "ttnn", none, NULL)->count, 0);
    qdq_graph_destroy(g);
}

//---- Random configs ---------------------------------------------------------

static qdq_memory_config random_config(uint64_t *random) {
    static const int64_t sizes[] = {8, 16, 32, 33, 64, 96, 128};
    qdq_memory_config c = {.buffer_type = (qdq_buffer_type)(unit_random(random) % 2),
                           .memory_layout = (qdq_memory_layout)(unit_random(random) % 5)};
    if (c.memory_layout == QDQ_INTERLEAVED || unit_random(random) % 8 == 0) return c;
    qdq_shard_spec *spec = &c.shard_spec;
    spec->orientation = (qdq_shard_orientation)(unit_random(random) % 2);
    spec->grid_count = 1 + unit_random(random) % 8 / 7;
    for (size_t i = 0; i < spec->grid_count; i++)
        spec->grid[i] = (qdq_core_range){0, (uint16_t)(4 * i), (uint16_t)(unit_random(random) % 9),
                                         (uint16_t)(4 * i + unit_random(random) % 4)};
    spec->shape.rank = c.memory_layout == QDQ_ND_SHARDED ? 1 + (int)(unit_random(random) % 3) : 2;
    for (int i = 0; i < spec->shape.rank; i++)
        spec->shape.dims[i] = sizes[unit_random(random) % UNIT_COUNT(sizes)];
    return c;
}

static void give_any(qdq_graph *g, qdq_value v, uint64_t *random) {
    static const uint32_t heights[] = {32, 32, 32, 16, 8};
    const qdq_memory_config config = random_config(random);
    if (unit_random(random) % 2) qdq_set_memory_config(g, v, &config);
    if (unit_random(random) % 6 == 0) qdq_set_layout(g, v, (qdq_layout)(unit_random(random) % 2));
    if (unit_random(random) % 6 == 0)
        qdq_set_tile(g, v, (qdq_tile_shape){heights[unit_random(random) % 5], 32, false});
}

// A node of x, or of a and x, and a reshape to as many elements.
static qdq_value any_node(qdq_graph *g, qdq_value a, qdq_value x, uint64_t *random) {
    const qdq_unary_attrs none = {0};
    switch (unit_random(random) % 8) {
    case 0: return qdq_relu(g, x, none);
    case 1: return qdq_add(g, a, x, (qdq_binary_attrs){0});
    case 2: return qdq_to_memory_config(g, x, none);
    case 3: return qdq_to_layout(g, x, none);
    case 4: return qdq_reshard(g, x, none);
    case 5: return qdq_sharded_to_interleaved(g, x, none);
    case 6: return qdq_interleaved_to_sharded(g, x, none);
    default: {
        qdq_quantize_attrs q = {.scales = QDQ_SCALE(1), .dtype = QDQ_INT8};
        qdq_dequantize_attrs d = {.scales = QDQ_SCALE(1), .dtype = QDQ_FLOAT32};
        return qdq_dequantize(g, qdq_quantize(g, x, q), d);
    }
    }
}

// Whatever passes the rules has buffers: compiling it fails for lack of memory at most.
static void a_graph_without_errors_can_lie_on_the_device(void **state) {
    (void)state;
    enum { GRAPHS = 4000 };
    uint64_t random = 20261123;
    size_t laid = 0;
    for (int i = 0; i < GRAPHS; i++) {
        qdq_graph *g = qdq_graph_create("g", &(qdq_graph_options){.target = "ttnn"});
        qdq_value a = qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(1, 64));
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 64, 64));
        give_any(g, a, &random), give_any(g, x, &random);
        for (uint64_t n = unit_random(&random) % 3; n; n--) {
            x = any_node(g, a, x, &random);
            give_any(g, x, &random);
        }
        qdq_output(g, "y", x), qdq_output(g, "a", a);
        qdq_error err = {0};
        if (qdq_graph_validate(g, NULL, &err)->errors == 0) {
            qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
            assert_string_equal(err.text, "");
            laid++;
            qdq_plan_destroy(plan);
        }
        qdq_graph_destroy(g);
    }
    assert_true(laid > GRAPHS / 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_that_inherit_a_wrong_config_have_no_finding_of_their_own),
        cmocka_unit_test(a_layout_that_several_ops_inherit_is_reported_at_the_first),
        cmocka_unit_test(a_shard_that_is_adapted_to_another_shape_is_checked_again),
        cmocka_unit_test(a_graph_that_says_nothing_of_memory_has_no_such_finding),
        cmocka_unit_test(an_op_that_moves_a_tensor_nowhere_is_found_in_any_graph),
        cmocka_unit_test(another_target_on_a_device_has_the_same_rules),
        cmocka_unit_test(rules_hold_for_the_device_that_is_given),
        cmocka_unit_test(a_graph_without_errors_can_lie_on_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
