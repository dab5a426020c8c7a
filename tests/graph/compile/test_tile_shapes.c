// SPDX-License-Identifier: Apache-2.0
// Values of a tiled plan lie in the tiles that the graph gives them, with the bits of 32x32 tiles.
#include <qdq/qdq.h>

#include "tests/unit.h"

static const qdq_tile_shape tiles[] = {{32, 32, false}, {16, 32, false}, {32, 16, false},
                                       {16, 16, false}, {8, 32, false},  {4, 16, false},
                                       {1, 32, false},  {32, 32, true},  {16, 32, true}};

enum { ROWS = 50, COLS = 70 };

static qdq_value given(qdq_graph *g, qdq_value v, qdq_tile_shape tile) {
    qdq_set_tile(g, v, tile);
    return v;
}

// Every kind of step, with a change of tiles in the middle: chains with parameters of channels and
// of elements, a product, a softmax, a reduction, packed elements and block floats.
static qdq_graph *every_kind(qdq_tile_shape a, qdq_tile_shape b, qdq_dtype narrow) {
    float scales[COLS];
    qdq_graph *g = qdq_graph_create("tiles", NULL);
    qdq_value x = given(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, ROWS, COLS)), a);
    qdq_value w = given(g, qdq_input(g, "w", QDQ_FLOAT32, QDQ_SHAPE(COLS, COLS)),
                        (qdq_tile_shape){32, b.width, b.transpose});
    for (int i = 0; i < COLS; i++) scales[i] = i % 3 ? 0.25f : 0.5f;
    qdq_quantize_attrs by_channel = {.name = "q",
                                     .scale =
                                         qdq_constant(g, "s", QDQ_FLOAT32, QDQ_SHAPE(COLS), scales),
                                     .qtype = QDQ_PER_CHANNEL,
                                     .axis = QDQ_INT(-1)};
    qdq_value q = qdq_quantize(g, x, by_channel);
    by_channel.name = "d", by_channel.dtype = QDQ_FLOAT32;
    qdq_value d = qdq_dequantize(g, q, by_channel);
    qdq_value moved = given(g, qdq_to_layout(g, d, (qdq_unary_attrs){.name = "moved"}), b);
    qdq_set_layout(g, moved, QDQ_LAYOUT_TILE);
    qdq_value sum = qdq_add(g, moved, x, (qdq_binary_attrs){.name = "sum"});
    qdq_value n = qdq_cast(g, sum, (qdq_cast_attrs){.name = "n", .dtype = narrow});
    qdq_value back = qdq_cast(g, n, (qdq_cast_attrs){.name = "back", .dtype = QDQ_FLOAT32});
    qdq_output(g, "product", qdq_matmul(g, back, w, (qdq_matmul_attrs){.name = "m"}));
    qdq_output(g, "soft",
               qdq_softmax(g, sum, (qdq_softmax_attrs){.name = "f", .axis = QDQ_INT(-1)}));
    qdq_output(g, "dynamic",
               qdq_dynamic_quantize(g, sum, (qdq_dynamic_quantize_attrs){.quantize.name = "dq"}));
    return g;
}

enum { COUNT = 2 * ROWS * COLS };

typedef struct results {
    float product[COUNT], soft[COUNT];
    int8_t dynamic[COUNT];
} results;

// Compiles, runs, and checks the tiles of `x` and `moved` if they are kept in tiles.
static qdq_exec *run(qdq_graph *g, qdq_compile_options options, qdq_plan **plan, results *out) {
    static float x[COUNT], w[COLS * COLS];
    qdq_error err = {0};
    uint64_t random = 5;
    for (size_t i = 0; i < COUNT; i++) x[i] = (float)(unit_random(&random) % 801) / 64 - 6;
    for (size_t i = 0; i < COLS * COLS; i++) w[i] = (float)(unit_random(&random) % 65) / 8 - 4;
    *plan = qdq_graph_compile(g, &options, &err);
    qdq_exec *exec = qdq_exec_create(*plan, &(qdq_exec_options){.poison = true}, &err);
    if (!exec) fail_msg("%s", err.text);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, COUNT, NULL), QDQ_OK);
    assert_int_equal(qdq_exec_write(exec, "w", QDQ_FLOAT32, w, COLS * COLS, NULL), QDQ_OK);
    qdq_exec_run(exec);
    memset(out, 0, sizeof *out);
    assert_int_equal(qdq_exec_read(exec, "product", QDQ_FLOAT32, out->product, COUNT, NULL), 0);
    assert_int_equal(qdq_exec_read(exec, "soft", QDQ_FLOAT32, out->soft, COUNT, NULL), 0);
    assert_int_equal(qdq_exec_read(exec, "dynamic", QDQ_INT8, out->dynamic, COUNT, NULL), 0);
    return exec;
}

// Checks that each element of a kept float32 lies where its tile has it.
static void check_tiles(const qdq_exec *exec, const char *name, qdq_tile_shape tile) {
    static float rows[COUNT];
    qdq_tiles_view view;
    qdq_error err = {0};
    if (qdq_exec_tiles(exec, name, &view, &err)) fail_msg("%s: %s", name, err.text);
    assert_int_equal(qdq_exec_read(exec, name, QDQ_FLOAT32, rows, COUNT, NULL), QDQ_OK);
    assert_true(view.tile.height == tile.height && view.tile.width == tile.width &&
                view.tile.transpose == tile.transpose);
    size_t high = (ROWS + tile.height - 1) / tile.height,
           wide = (COLS + tile.width - 1) / tile.width;
    assert_int_equal(view.padded_shape.dims[1], high * tile.height);
    assert_int_equal(view.padded_shape.dims[2], wide * tile.width);
    assert_int_equal(view.tiles, 2 * high * wide);
    assert_int_equal(view.tile_bytes, tile.height * tile.width * sizeof(float));
    for (size_t i = 0; i < COUNT; i++) {
        size_t c = i % COLS, r = i / COLS % ROWS, plane = i / COLS / ROWS;
        size_t number = (plane * high + r / tile.height) * wide + c / tile.width;
        size_t at = qdq_tile_shape_offset(tile, r % tile.height, c % tile.width);
        const char *element =
            (const char *)view.data + number * view.tile_bytes + at * sizeof(float);
        assert_memory_equal(element, &rows[i], sizeof(float));
    }
}

static void every_plan_has_the_same_bits_in_tiles_of_every_shape(void **state) {
    (void)state;
    static results wanted, got;
    static const qdq_dtype narrow[] = {QDQ_BFLOAT16, QDQ_BFLOAT8_B, QDQ_BFLOAT4_B};
    const qdq_compile_options ways[] = {
        {.layout = QDQ_PLAN_TILES},
        {.layout = QDQ_PLAN_TILES, .keep_all = true},
        {.device = qdq_device_find("n150", NULL)},
        {.device = qdq_device_find("p150", NULL), .keep_all = true},
    };
    qdq_plan *plan;
    // A device takes lower tiles for the first operand of a product only, and there none that are
    // narrower.
    for (size_t n = 0; n < UNIT_COUNT(narrow); n++)
        for (size_t i = 0; i < UNIT_COUNT(tiles); i++)
            for (size_t k = 0; k < UNIT_COUNT(tiles); k += n ? 3 : 1) {
                qdq_graph *g = every_kind(tiles[i], tiles[k], narrow[n]);
                qdq_exec_destroy(run(g, (qdq_compile_options){0}, &plan, &wanted));
                qdq_plan_destroy(plan);
                for (size_t way = 0; way < UNIT_COUNT(ways); way++) {
                    bool low = tiles[i].height < 16 || tiles[k].height < 16;
                    if (ways[way].device && (low || tiles[k].width < 32)) continue;
                    qdq_exec *exec = run(g, ways[way], &plan, &got);
                    assert_memory_equal(&got, &wanted, sizeof got);
                    if (ways[way].keep_all && !n) {
                        check_tiles(exec, "x", tiles[i]);
                        check_tiles(exec, "d", tiles[i]);
                        check_tiles(exec, "moved", tiles[k]);
                    }
                    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
                }
                qdq_graph_destroy(g);
            }
}

// [50, 70] of float32 in tiles of 16x32: 4 x 3 tiles of 2,048 bytes, where 32x32 takes 2 x 3 of
// 4,096. Lower tiles have less padding: 7 x 3 of 8x32. The first operand of a product may have
// them.
static void the_plan_counts_the_bytes_of_the_tiles(void **state) {
    (void)state;
    static const struct {
        qdq_tile_shape tile;
        size_t tiles, bytes;
    } wanted[] = {{{32, 32, false}, 6, 24576},
                  {{16, 32, false}, 12, 24576},
                  {{8, 32, false}, 21, 21504},
                  {{1, 32, false}, 150, 19200}};
    for (size_t i = 0; i < UNIT_COUNT(wanted); i++) {
        qdq_graph *g = qdq_graph_create("bytes", NULL);
        qdq_value a =
            given(g, qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(ROWS, COLS)), wanted[i].tile);
        qdq_value b = qdq_input(g, "b", QDQ_FLOAT32, QDQ_SHAPE(COLS, 3));
        qdq_output(g, "y", qdq_matmul(g, a, b, (qdq_matmul_attrs){.name = "m"}));
        qdq_compile_options options = {.device = qdq_device_find("n150", NULL)};
        qdq_error err = {0};
        qdq_plan *plan = qdq_graph_compile(g, &options, &err);
        if (!plan) fail_msg("%s", err.text);
        const qdq_plan_value *v = qdq_plan_get_value(plan, 0);
        const qdq_device_buffer *buffer = &qdq_plan_device(plan)->buffers[0];
        assert_string_equal(v->name, "a");
        assert_int_equal(v->tiles, wanted[i].tiles);
        assert_int_equal(v->bytes, wanted[i].bytes);
        assert_int_equal(v->tile.height, wanted[i].tile.height);
        assert_int_equal(buffer->tile.height, wanted[i].tile.height);
        assert_int_equal(buffer->pages, wanted[i].tiles);
        assert_int_equal(buffer->page_bytes * buffer->pages, wanted[i].bytes);
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// A product is as high as the tiles of a and as wide as those of b, as each is read.
static void a_product_has_the_height_of_the_tiles_of_a_and_the_width_of_those_of_b(void **state) {
    (void)state;
    static const struct {
        qdq_tile_shape a, b, y;
        bool turn_a, turn_b;
    } wanted[] = {{{8, 32, false}, {32, 16, false}, {8, 16, false}, false, false},
                  {{16, 32, false}, {0}, {16, 32, false}, false, false},
                  {{32, 16, false}, {16, 32, false}, {16, 16, false}, true, true},
                  {{32, 32, true}, {32, 32, false}, {32, 32, false}, false, true}};
    for (size_t i = 0; i < UNIT_COUNT(wanted); i++) {
        qdq_graph *g = qdq_graph_create("product", NULL);
        qdq_value a = given(g, qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(64, 64)), wanted[i].a);
        qdq_value b = given(g, qdq_input(g, "b", QDQ_FLOAT32, QDQ_SHAPE(64, 64)), wanted[i].b);
        qdq_matmul_attrs attrs = {.name = "m",
                                  .transpose_a = wanted[i].turn_a ? QDQ_TRUE : QDQ_FALSE,
                                  .transpose_b = wanted[i].turn_b ? QDQ_TRUE : QDQ_FALSE};
        qdq_value m = qdq_matmul(g, a, b, attrs);
        qdq_output(g, "y", m);
        qdq_set_tile(g, m, wanted[i].y);  // may be said, and must be this one
        qdq_compile_options options = {.device = qdq_device_find("n150", NULL)};
        qdq_error err = {0};
        qdq_plan *plan = qdq_graph_compile(g, &options, &err);
        if (!plan) fail_msg("%s", err.text);
        const qdq_device_buffer *y = &qdq_plan_device(plan)->buffers[2];
        assert_string_equal(y->name, "m");
        assert_int_equal(y->tile.height, wanted[i].y.height);
        assert_int_equal(y->tile.width, wanted[i].y.width);
        assert_int_equal(y->tile.transpose, wanted[i].y.transpose);
        qdq_plan_destroy(plan);
        qdq_set_tile(g, m, (qdq_tile_shape){4, 16, false});
        assert_null(qdq_graph_compile(g, &options, &err));
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_has_the_same_bits_in_tiles_of_every_shape),
        cmocka_unit_test(the_plan_counts_the_bytes_of_the_tiles),
        cmocka_unit_test(a_product_has_the_height_of_the_tiles_of_a_and_the_width_of_those_of_b),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
