// SPDX-License-Identifier: Apache-2.0
// The layouts of the values of a graph on a device: what is given, and what ttnn's ops would
// choose. Expected configs follow tt-metal's binary_ng device operation, worked out by hand.
#include "graph/memory/tensor_layouts.h"
#include "include/qdq/qdq.h"
#include "tests/unit.h"

typedef struct layout_case {
    qdq_graph *graph;
    qdq_mempool mempool;
    qdq_tensor_layouts layouts;
} layout_case;

static layout_case begin(void) {
    layout_case c = {.graph = qdq_graph_create("g", NULL)};
    qdq_mempool_init(&c.mempool, qdq_allocator_or_default(NULL));
    return c;
}

static void end(layout_case *c) {
    qdq_mempool_release(&c->mempool);
    qdq_graph_destroy(c->graph);
}

static qdq_memory_config interleaved(qdq_buffer_type type) {
    return (qdq_memory_config){.buffer_type = type};
}

// Shards of h x w in L1 on the cores (0,0)-(x-1,y-1).
static qdq_memory_config sharded(qdq_memory_layout layout, int64_t h, int64_t w, int x, int y) {
    return (qdq_memory_config){
        .buffer_type = QDQ_L1,
        .memory_layout = layout,
        .shard_spec = {.grid = {{0, 0, (uint16_t)(x - 1), (uint16_t)(y - 1)}},
                       .grid_count = 1,
                       .shape = QDQ_SHAPE(h, w)}};
}

static qdq_memory_config without_spec(qdq_memory_layout layout) {
    return (qdq_memory_config){.buffer_type = QDQ_L1, .memory_layout = layout};
}

static qdq_value give(const layout_case *c, qdq_value v, qdq_memory_config config) {
    qdq_given_layout *given = qdq_graph_give_layout(c->graph, v.id);
    given->has_config = true;
    given->as.memory_config = config;
    return v;
}

static qdq_value input(const layout_case *c, const char *name, qdq_shape shape) {
    return qdq_input(c->graph, name, QDQ_FLOAT32, shape);
}

static qdq_value quantize(const layout_case *c, qdq_value x) {
    return qdq_quantize(c->graph, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(0.5F)});
}

static void make(layout_case *c) {
    assert_int_equal(qdq_graph_validate(c->graph, NULL, NULL)->errors, 1);  // no output
    assert_true(qdq_tensor_layouts_make(c->graph, &c->mempool, &c->layouts));
}

static void expect(const layout_case *c, qdq_value v, qdq_memory_config wanted) {
    const qdq_memory_config *got = &qdq_tensor_layout_of(&c->layouts, v.id)->memory_config;
    assert_int_equal(got->buffer_type, wanted.buffer_type);
    assert_int_equal(got->memory_layout, wanted.memory_layout);
    assert_int_equal(got->shard_spec.grid_count, wanted.shard_spec.grid_count);
    assert_memory_equal(got->shard_spec.grid, wanted.shard_spec.grid,
                        sizeof wanted.shard_spec.grid);
    assert_true(qdq_shape_equal(got->shard_spec.shape, wanted.shard_spec.shape));
}

//---- One operand ------------------------------------------------------------

static void without_a_config_every_value_is_interleaved_in_dram_in_tiles(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_value x = input(&c, "x", QDQ_SHAPE(64, 64)), y = quantize(&c, x);
    make(&c);
    expect(&c, x, interleaved(QDQ_DRAM)), expect(&c, y, interleaved(QDQ_DRAM));
    assert_int_equal(qdq_tensor_layout_of(&c.layouts, y.id)->layout, QDQ_LAYOUT_TILE);
    assert_null(c.layouts.of);
    end(&c);
}

static void an_output_lies_as_its_operand_unless_it_has_a_config(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_memory_config config = sharded(QDQ_HEIGHT_SHARDED, 32, 64, 2, 1);
    qdq_value x = give(&c, input(&c, "x", QDQ_SHAPE(64, 64)), config);
    qdq_value y = quantize(&c, x), z = give(&c, quantize(&c, x), interleaved(QDQ_L1));
    qdq_value r = qdq_relu(c.graph, x, (qdq_unary_attrs){0});
    make(&c);
    expect(&c, x, config), expect(&c, y, config), expect(&c, r, config);
    expect(&c, z, interleaved(QDQ_L1));
    end(&c);
}

static void an_output_has_the_layout_and_the_tile_of_its_operand(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_value x = input(&c, "x", QDQ_SHAPE(64, 64)), t = input(&c, "t", QDQ_SHAPE(64, 64));
    qdq_graph_give_layout(c.graph, x.id)->as.layout = QDQ_LAYOUT_ROW_MAJOR;
    qdq_graph_give_layout(c.graph, t.id)->as.tile = (qdq_tile_shape){16, 32, false};
    qdq_value y = quantize(&c, x), u = quantize(&c, t);
    make(&c);
    assert_int_equal(qdq_tensor_layout_of(&c.layouts, y.id)->layout, QDQ_LAYOUT_ROW_MAJOR);
    assert_int_equal(qdq_tensor_layout_of(&c.layouts, u.id)->tile.height, 16);
    end(&c);
}

static void products_go_to_dram_and_other_ops_stay_in_the_pool(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_memory_config config = sharded(QDQ_BLOCK_SHARDED, 32, 32, 2, 2);
    qdq_value x = give(&c, input(&c, "x", QDQ_SHAPE(64, 64)), config);
    qdq_value m = qdq_matmul(c.graph, x, x, (qdq_matmul_attrs){0});
    qdq_value s = qdq_softmax(c.graph, x, (qdq_softmax_attrs){.axis = QDQ_INT(1)});
    make(&c);
    expect(&c, m, interleaved(QDQ_DRAM)), expect(&c, s, interleaved(QDQ_L1));
    end(&c);
}

//---- Two operands -----------------------------------------------------------

static void a_sharded_second_operand_wins_over_a_first_one_interleaved_in_dram(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_memory_config config = sharded(QDQ_HEIGHT_SHARDED, 32, 64, 2, 1);
    qdq_value dram = input(&c, "dram", QDQ_SHAPE(64, 64));
    qdq_value l1 = give(&c, input(&c, "l1", QDQ_SHAPE(64, 64)), interleaved(QDQ_L1));
    qdq_value b = give(&c, input(&c, "b", QDQ_SHAPE(64, 64)), config);
    qdq_value y = qdq_add(c.graph, dram, b, (qdq_binary_attrs){0});
    qdq_value z = qdq_add(c.graph, l1, b, (qdq_binary_attrs){0});
    make(&c);
    expect(&c, y, config), expect(&c, z, interleaved(QDQ_L1));
    end(&c);
}

static void of_two_sharded_operands_the_larger_grid_wins(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_memory_config four = sharded(QDQ_HEIGHT_SHARDED, 32, 64, 4, 1);
    qdq_memory_config two = sharded(QDQ_HEIGHT_SHARDED, 64, 64, 2, 1);
    qdq_value a = give(&c, input(&c, "a", QDQ_SHAPE(128, 64)), two);
    qdq_value b = give(&c, input(&c, "b", QDQ_SHAPE(128, 64)), four);
    qdq_value y = qdq_add(c.graph, a, b, (qdq_binary_attrs){0});
    qdq_value z = qdq_add(c.graph, b, a, (qdq_binary_attrs){0});
    make(&c);
    expect(&c, y, four), expect(&c, z, four);
    end(&c);
}

// A has 32 x 64 elements with its padding and one shard, y has 96 x 64: h' = 32 * 96 / 32.
static void a_shard_grows_with_a_broadcast_result(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_value a =
        give(&c, input(&c, "a", QDQ_SHAPE(1, 64)), sharded(QDQ_HEIGHT_SHARDED, 32, 64, 1, 1));
    qdq_value b = input(&c, "b", QDQ_SHAPE(96, 64));
    qdq_value y = qdq_add(c.graph, a, b, (qdq_binary_attrs){0});
    make(&c);
    expect(&c, y, sharded(QDQ_HEIGHT_SHARDED, 96, 64, 1, 1));
    end(&c);
}

// [8, 256], padded to 32 rows, becomes [64, 32]: w' = 64 * 32 / 256 = 8 is below 32;
// h' = 32 * 64 / 32.
static void an_adapted_shard_is_at_least_32_wide(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_value x =
        give(&c, input(&c, "x", QDQ_SHAPE(8, 256)), sharded(QDQ_WIDTH_SHARDED, 32, 64, 4, 1));
    qdq_value y = qdq_reshape(
        c.graph, x, (qdq_reshape_attrs){.shape = QDQ_INTS(64, 32), .special_zero = QDQ_FALSE});
    make(&c);
    expect(&c, y, sharded(QDQ_WIDTH_SHARDED, 64, 32, 4, 1));
    end(&c);
}

static void a_sharded_argument_without_a_spec_takes_that_of_an_operand(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_memory_config config = sharded(QDQ_HEIGHT_SHARDED, 32, 64, 2, 1);
    qdq_value x = give(&c, input(&c, "x", QDQ_SHAPE(64, 64)), config);
    qdq_value dram = input(&c, "dram", QDQ_SHAPE(64, 64));
    qdq_value from_a = give(&c, quantize(&c, x), without_spec(QDQ_HEIGHT_SHARDED));
    qdq_value from_b = give(&c, qdq_add(c.graph, dram, x, (qdq_binary_attrs){0}),
                            without_spec(QDQ_HEIGHT_SHARDED));
    qdq_value none = give(&c, quantize(&c, dram), without_spec(QDQ_HEIGHT_SHARDED));
    make(&c);
    expect(&c, from_a, config), expect(&c, from_b, config);
    expect(&c, none, without_spec(QDQ_HEIGHT_SHARDED));
    end(&c);
}

//---- Views ------------------------------------------------------------------

static qdq_value reshaped(const layout_case *c, qdq_value x, qdq_ints shape) {
    return qdq_reshape(c->graph, x, (qdq_reshape_attrs){.shape = shape, .special_zero = QDQ_FALSE});
}

static void a_reshape_that_keeps_rows_and_whole_tiles_is_a_view(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_value x = input(&c, "x", QDQ_SHAPE(2, 64, 96));
    qdq_value whole = reshaped(&c, x, QDQ_INTS(4, 32, 96));
    qdq_value chained = reshaped(&c, whole, QDQ_INTS(128, 96));
    qdq_value split = reshaped(&c, x, QDQ_INTS(8, 16, 96));
    qdq_value rows = reshaped(&c, x, QDQ_INTS(2, 96, 64));
    qdq_value r = input(&c, "r", QDQ_SHAPE(2, 64, 96));
    qdq_graph_give_layout(c.graph, r.id)->as.layout = QDQ_LAYOUT_ROW_MAJOR;
    qdq_value row_major = reshaped(&c, r, QDQ_INTS(8, 16, 96));
    qdq_value moved = give(&c, reshaped(&c, x, QDQ_INTS(4, 32, 96)), interleaved(QDQ_L1));
    make(&c);
    assert_int_equal(qdq_tensor_shared_with(c.graph, &c.layouts, whole.id), x.id);
    assert_int_equal(qdq_tensor_shared_with(c.graph, &c.layouts, chained.id), whole.id);
    assert_int_equal(qdq_tensor_shared_with(c.graph, &c.layouts, split.id), 0);
    assert_int_equal(qdq_tensor_shared_with(c.graph, &c.layouts, rows.id), 0);
    assert_int_equal(qdq_tensor_shared_with(c.graph, &c.layouts, row_major.id), r.id);
    assert_int_equal(qdq_tensor_shared_with(c.graph, &c.layouts, moved.id), 0);
    assert_int_equal(qdq_tensor_shared_with(c.graph, &c.layouts, x.id), 0);
    end(&c);
}

static void an_interleaved_tensor_is_returned_by_sharded_to_interleaved(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_value x = give(&c, input(&c, "x", QDQ_SHAPE(64, 64)), interleaved(QDQ_L1));
    qdq_value y = qdq_sharded_to_interleaved(c.graph, x, (qdq_unary_attrs){0});
    qdq_value s =
        give(&c, input(&c, "s", QDQ_SHAPE(64, 64)), sharded(QDQ_HEIGHT_SHARDED, 32, 64, 2, 1));
    qdq_value z = qdq_sharded_to_interleaved(c.graph, s, (qdq_unary_attrs){0});
    make(&c);
    expect(&c, y, interleaved(QDQ_L1)), expect(&c, z, interleaved(QDQ_DRAM));
    assert_int_equal(qdq_tensor_shared_with(c.graph, &c.layouts, y.id), x.id);
    assert_int_equal(qdq_tensor_shared_with(c.graph, &c.layouts, z.id), 0);
    end(&c);
}

//---- Memory -----------------------------------------------------------------

static void lack_of_memory_is_told(void **state) {
    (void)state;
    layout_case c = begin();
    qdq_value x = give(&c, input(&c, "x", QDQ_SHAPE(64, 64)), interleaved(QDQ_L1));
    (void)quantize(&c, x);
    for (size_t fail_at = 1;; fail_at++) {
        unit_memory memory;
        qdq_mempool mempool;
        qdq_mempool_init(&mempool, unit_memory_init(&memory, fail_at));
        mempool.block_bytes = 1;
        bool made = qdq_tensor_layouts_make(c.graph, &mempool, &c.layouts);
        qdq_mempool_release(&mempool);
        unit_memory_check(&memory);
        if (made) break;
        assert_true(fail_at < 10);
    }
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_config_every_value_is_interleaved_in_dram_in_tiles),
        cmocka_unit_test(an_output_lies_as_its_operand_unless_it_has_a_config),
        cmocka_unit_test(an_output_has_the_layout_and_the_tile_of_its_operand),
        cmocka_unit_test(products_go_to_dram_and_other_ops_stay_in_the_pool),
        cmocka_unit_test(a_sharded_second_operand_wins_over_a_first_one_interleaved_in_dram),
        cmocka_unit_test(of_two_sharded_operands_the_larger_grid_wins),
        cmocka_unit_test(a_shard_grows_with_a_broadcast_result),
        cmocka_unit_test(an_adapted_shard_is_at_least_32_wide),
        cmocka_unit_test(a_sharded_argument_without_a_spec_takes_that_of_an_operand),
        cmocka_unit_test(a_reshape_that_keeps_rows_and_whole_tiles_is_a_view),
        cmocka_unit_test(an_interleaved_tensor_is_returned_by_sharded_to_interleaved),
        cmocka_unit_test(lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
