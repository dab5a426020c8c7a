// SPDX-License-Identifier: Apache-2.0
// The buffers of a sharded chain, the graph of models/ttnn_device_sharded_l1, in L1 of an n150.
// Addresses follow by hand from docs/device_memory.md: L1 is taken from its end, 1,499,136, at the
// highest free block.
#include "include/qdq/qdq.h"
#include "tests/unit.h"

static qdq_memory_config sharded(qdq_memory_layout layout, int64_t h, int64_t w, int x, int y) {
    return (qdq_memory_config){
        .buffer_type = QDQ_L1,
        .memory_layout = layout,
        .shard_spec = {.grid = {{0, 0, (uint16_t)(x - 1), (uint16_t)(y - 1)}},
                       .grid_count = 1,
                       .shape = QDQ_SHAPE(h, w)}};
}

static qdq_graph *chain(void) {
    const qdq_memory_config height = sharded(QDQ_HEIGHT_SHARDED, 32, 128, 8, 1);
    const qdq_memory_config block = sharded(QDQ_BLOCK_SHARDED, 64, 64, 2, 4);
    qdq_graph *g = qdq_graph_create("chain", &(qdq_graph_options){.target = "ttnn"});
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(256, 128));
    qdq_set_memory_config(g, x, &height);
    qdq_value codes = qdq_quantize(
        g, x, (qdq_quantize_attrs){.name = "codes", .scales = QDQ_SCALE(0.25f), .dtype = QDQ_INT8});
    qdq_value doubled = qdq_requantize(g, codes,
                                       (qdq_requantize_attrs){.name = "doubled",
                                                              .in_scales = QDQ_SCALE(0.25f),
                                                              .out_scales = QDQ_SCALE(0.125f),
                                                              .dtype = QDQ_INT8});
    qdq_value blocks = qdq_reshard(g, doubled, (qdq_unary_attrs){.name = "blocks"});
    qdq_set_memory_config(g, blocks, &block);
    qdq_value restored =
        qdq_dequantize(g, blocks,
                       (qdq_dequantize_attrs){
                           .name = "restored", .scales = QDQ_SCALE(0.125f), .dtype = QDQ_FLOAT32});
    qdq_value interleaved =
        qdq_sharded_to_interleaved(g, restored, (qdq_unary_attrs){.name = "interleaved"});
    qdq_set_memory_config(g, interleaved, &(qdq_memory_config){.buffer_type = QDQ_L1});
    qdq_value y = qdq_to_memory_config(g, interleaved, (qdq_unary_attrs){.name = "y"});
    qdq_set_memory_config(g, y, &(qdq_memory_config){.buffer_type = QDQ_DRAM});
    qdq_output(g, "doubled", doubled), qdq_output(g, "y", y);
    return g;
}

static void each_buffer_lies_where_the_free_list_puts_it(void **state) {
    // Bytes of a bank: 4 tiles of a shard, float32 or int8; 32 tiles over 64 banks; 32 over 12.
    static const struct {
        const char *name;
        uint64_t address, per_bank;
    } wanted[] = {
        {"x", 1482752, 16384},           // 1,499,136 - 16,384
        {"codes", 1478656, 4096},        // below x
        {"doubled", 1495040, 4096},      // the end of the hole that x left
        {"blocks", 1490944, 4096},       // below doubled; codes is free by now
        {"restored", 1474560, 16384},    // below blocks: the hole above is taken
        {"interleaved", 1490944, 4096},  // the hole that blocks left
        {"y", 32, 3 * UINT64_C(4096)},   // the base of DRAM
    };
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = chain();
    assert_int_equal(qdq_graph_validate(g, NULL, &err)->count, 0);
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    assert_string_equal(err.text, "");
    const qdq_device_plan *p = qdq_plan_device(plan);
    assert_int_equal(p->buffer_count, UNIT_COUNT(wanted));
    for (size_t i = 0; i < UNIT_COUNT(wanted); i++) {
        assert_string_equal(p->buffers[i].name, wanted[i].name);
        assert_int_equal(p->buffers[i].address, wanted[i].address);
        assert_int_equal(p->buffers[i].bytes_per_bank, wanted[i].per_bank);
    }
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// Page 5 of x, [256, 128] in shards of [32, 128]: tile (1, 1), shard 1, its second page, on core
// (1, 0). Page 5 of blocks, in shards of [64, 64]: tile (1, 1) of shard (0, 0), its fourth page, on
// core (0, 0); page 6 is tile (1, 2) of shard (0, 1), its third page, on core (1, 0).
static void pages_of_shards_lie_on_their_cores(void **state) {
    static const struct {
        size_t buffer;
        uint64_t page, bank, address;
    } wanted[] = {
        {0, 5, 1, 1482752 + 4096}, {3, 5, 0, 1490944 + 3 * 1024}, {3, 6, 1, 1490944 + 2048}};
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = chain();
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    for (size_t i = 0; i < UNIT_COUNT(wanted); i++) {
        qdq_page page;
        assert_true(qdq_plan_buffer_page(plan, wanted[i].buffer, wanted[i].page, &page));
        assert_int_equal(page.bank, wanted[i].bank);
        assert_int_equal(page.address, wanted[i].address);
    }
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_buffer_lies_where_the_free_list_puts_it),
        cmocka_unit_test(pages_of_shards_lie_on_their_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
