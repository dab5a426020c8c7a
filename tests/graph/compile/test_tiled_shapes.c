// SPDX-License-Identifier: Apache-2.0
// Steps over tiles, edge tiles and strips of sparse tiles give the bits of a streamed run: chains,
// parameters of every grid, operands in tiles, and reductions, at shapes around the sizes of tiles.
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { MOST = 96 * 1024, CHANNELS = 1024, MOST_OUTPUTS = 12 };

static const qdq_shape shapes[] = {
    {2, {64, 256}},       // whole tiles only, several groups of four
    {2, {96, 160}},       // a group of four and one of one
    {2, {70, 300}},       // edges on both sides
    {2, {64, 1100}},      // more than two strips of bytes side by side, and an edge
    {2, {37, 1184}},      // whole columns, the last row of tiles has 5 rows
    {2, {17, 4501}},      // no whole tile, several strips side by side
    {2, {33, 31}},        // one tile, nearly whole, and one of a single row
    {3, {3, 50, 70}},     // planes
    {1, {9001}},          // one row of each tile
    {4, {2, 5, 14, 14}},  // under a quarter of each tile
    {4, {64, 64, 3, 3}},  // 9 elements of each tile
    {2, {1000, 5}},       // narrow
    {2, {1, 1}},         {0, {0}},
};

// x and h are read by chains and reductions of every kind, so each reader cuts them from rows; a
// and b are read again, so they lie in tiles.
static qdq_graph *all_kinds(qdq_shape shape) {
    static float scales[CHANNELS];
    for (int i = 0; i < CHANNELS; i++) scales[i] = 0.05f + (float)i / 4096.0f;
    qdq_graph *g = qdq_graph_create("kinds", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, shape), z = qdq_input(g, "z", QDQ_FLOAT32, shape);
    qdq_value a = qdq_quantize(g, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(0.1f)});
    qdq_value r = qdq_requantize(
        g, a, (qdq_requantize_attrs){.in_scales = QDQ_SCALE(0.1f), .out_scales = QDQ_SCALE(0.3f)});
    qdq_value b = qdq_dequantize(
        g, a, (qdq_dequantize_attrs){.scales = QDQ_SCALE(0.2f), .dtype = QDQ_FLOAT32});
    qdq_output(g, "r", r);
    qdq_output(g, "sum", qdq_add(g, b, z, (qdq_binary_attrs){0}));
    for (int axis = 0; axis < shape.rank; axis++) {
        char name[16];
        size_t count = (size_t)shape.dims[axis];
        if (count > CHANNELS) continue;
        snprintf(name, sizeof name, "channel%d", axis);
        qdq_output(g, name,
                   qdq_quantize(g, x,
                                (qdq_quantize_attrs){.scales = {scales, count, false},
                                                     .axis = QDQ_INT(axis),
                                                     .qtype = QDQ_PER_CHANNEL}));
    }
    qdq_value c = qdq_input(g, "c", QDQ_INT8, shape);  // one chain with its copy into tiles
    qdq_requantize_attrs lookup = {.in_scales = QDQ_SCALE(0.1f), .out_scales = QDQ_SCALE(0.3f)};
    qdq_output(g, "lookup", qdq_requantize(g, c, lookup));
    qdq_output(g, "d", qdq_dynamic_quantize(g, b, (qdq_dynamic_quantize_attrs){0}));
    // Both operands are the caller's rows, of four and of two bytes.
    qdq_output(g, "both", qdq_divide(g, x, z, (qdq_binary_attrs){0}));
    qdq_value h = qdq_input(g, "h", QDQ_BFLOAT16, shape),
              k = qdq_input(g, "k", QDQ_BFLOAT16, shape);
    qdq_output(g, "halves", qdq_divide(g, h, k, (qdq_binary_attrs){0}));
    qdq_output(g, "dh", qdq_dynamic_quantize(g, h, (qdq_dynamic_quantize_attrs){0}));
    if (shape.rank == 2 && shape.dims[0] <= CHANNELS)
        qdq_output(
            g, "e",
            qdq_dynamic_quantize(g, x,
                                 (qdq_dynamic_quantize_attrs){
                                     .quantize = {.axis = QDQ_INT(0), .qtype = QDQ_PER_CHANNEL}}));
    return g;
}

typedef struct results {
    unsigned char bytes[MOST_OUTPUTS][MOST * 4];
    size_t count;
} results;

static void run(qdq_graph *g, qdq_shape shape, const qdq_compile_options *options, int threads,
                results *out) {
    static float x[MOST], z[MOST];
    static int8_t c[MOST];
    static uint16_t h[MOST], k[MOST];
    qdq_error err = {0};
    qdq_exec_options how = {.poison = true, .parallel = qdq_parallel_openmp(threads)};
    how.parallel.least = 0;
    uint64_t random = 3;
    size_t count = qdq_shape_count(shape);
    for (size_t i = 0; i < count; i++) {
        x[i] = (float)((int64_t)(unit_random(&random) % 4001) - 2000) / 128.0f;
        z[i] = (float)((int64_t)(unit_random(&random) % 4001) - 2000) / 64.0f;
        c[i] = (int8_t)(unit_random(&random) % 256 - 128);
        h[i] = (uint16_t)(0x3000 + unit_random(&random) % 0x1400);
        k[i] = (uint16_t)(0xB000 + unit_random(&random) % 0x1400);
    }
    qdq_plan *plan = qdq_graph_compile(g, options, &err);
    assert_string_equal(err.text, "");
    qdq_exec *exec = qdq_exec_create(plan, &how, &err);
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        const qdq_tensor_info *in = qdq_plan_input(plan, i);
        const void *data = *in->name == 'x'   ? (void *)x
                           : *in->name == 'z' ? (void *)z
                           : *in->name == 'c' ? (void *)c
                           : *in->name == 'h' ? (void *)h
                                              : (void *)k;
        assert_int_equal(qdq_exec_write(exec, in->name, in->dtype, data, count, NULL), QDQ_OK);
    }
    qdq_exec_run(exec);
    out->count = qdq_plan_output_count(plan);
    assert_true(out->count <= MOST_OUTPUTS);
    for (size_t i = 0; i < out->count; i++) {
        const qdq_tensor_info *y = qdq_plan_output(plan, i);
        assert_int_equal(qdq_exec_read(exec, y->name, y->dtype, out->bytes[i], count, NULL),
                         QDQ_OK);
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
}

static void every_shape_gives_the_bits_of_a_streamed_run(void **state) {
    (void)state;
    static results wanted, got;
    static const qdq_compile_options ways[] = {{.layout = QDQ_PLAN_TILES},
                                               {.layout = QDQ_PLAN_TILES, .isa = "portable"},
                                               {.layout = QDQ_PLAN_TILES, .keep_all = true}};
    for (size_t s = 0; s < UNIT_COUNT(shapes); s++) {
        qdq_graph *g = all_kinds(shapes[s]);
        memset(&wanted, 0, sizeof wanted);
        run(g, shapes[s], &(qdq_compile_options){0}, 1, &wanted);
        for (size_t w = 0; w < UNIT_COUNT(ways); w++)
            for (int threads = 1; threads <= 3; threads++) {
                memset(&got, 0, sizeof got);
                run(g, shapes[s], &ways[w], threads, &got);
                for (size_t i = 0; i < wanted.count; i++)
                    if (memcmp(wanted.bytes[i], got.bytes[i], sizeof wanted.bytes[i]) != 0)
                        fail_msg("shape %zu, way %zu, %d threads: output %zu differs", s, w,
                                 threads, i);
            }
        qdq_graph_destroy(g);
    }
}

// Node by node a result takes the place of an operand that nothing reads later.
static void results_in_place_of_their_operand_have_all_their_tiles(void **state) {
    (void)state;
    static results wanted, got;
    const qdq_compile_options on_device = {.device = qdq_device_find("n150", NULL)};
    const qdq_requantize_attrs doubled = {.in_scales = QDQ_SCALE(0.2f),
                                          .out_scales = QDQ_SCALE(0.1f)};
    for (size_t s = 0; s < UNIT_COUNT(shapes); s++) {
        qdq_graph *g = qdq_graph_create("in place", NULL);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, shapes[s]);
        qdq_value z = qdq_input(g, "z", QDQ_FLOAT32, shapes[s]);
        qdq_value c = qdq_input(g, "c", QDQ_INT8, shapes[s]);
        qdq_value q = qdq_quantize(g, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(0.2f)});
        qdq_output(g, "q", qdq_requantize(g, qdq_requantize(g, q, doubled), doubled));
        qdq_output(g, "c", qdq_requantize(g, qdq_requantize(g, c, doubled), doubled));
        z = qdq_relu(g, qdq_abs(g, z, (qdq_unary_attrs){0}), (qdq_unary_attrs){0});
        qdq_output(g, "z", qdq_sqrt(g, z, (qdq_unary_attrs){0}));
        memset(&wanted, 0, sizeof wanted);
        memset(&got, 0, sizeof got);
        run(g, shapes[s], &(qdq_compile_options){0}, 1, &wanted);
        run(g, shapes[s], &on_device, 2, &got);
        for (size_t i = 0; i < wanted.count; i++)
            if (memcmp(wanted.bytes[i], got.bytes[i], sizeof wanted.bytes[i]) != 0)
                fail_msg("shape %zu: output %zu differs", s, i);
        qdq_graph_destroy(g);
    }
}

// The arena is filled with 0xFF before a run. A tile whose padding is computed or copied has other
// bytes there afterwards.
static void padding_is_never_written(void **state) {
    (void)state;
    static float x[MOST];
    for (size_t s = 0; s < UNIT_COUNT(shapes); s++) {
        const qdq_compile_options options = {.layout = QDQ_PLAN_TILES, .keep_all = true};
        qdq_graph *g = all_kinds(shapes[s]);
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, NULL);
        size_t count = qdq_shape_count(shapes[s]);
        qdq_exec_write(exec, "x", QDQ_FLOAT32, x, count, NULL);
        qdq_exec_run(exec);
        for (size_t i = 0; i < qdq_plan_kept_count(plan); i++) {
            qdq_tiles_view view;
            const qdq_tensor_info *info = qdq_plan_kept(plan, i);
            if (qdq_shape_count(info->shape) != count) continue;
            assert_int_equal(qdq_exec_tiles(exec, info->name, &view, NULL), QDQ_OK);
            size_t size = view.tile_bytes / QDQ_TILE_ELEMENTS, untouched = 0;
            for (size_t e = 0; e < view.tiles * QDQ_TILE_ELEMENTS; e++) {
                const unsigned char *bytes = (const unsigned char *)view.data + e * size;
                size_t k = 0;
                while (k < size && bytes[k] == 0xFF) k++;
                untouched += k == size;
            }
            // No valid element is all ones: x is 0, and so is all that is made of it.
            assert_int_equal(untouched, view.tiles * QDQ_TILE_ELEMENTS - count);
        }
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_gives_the_bits_of_a_streamed_run),
        cmocka_unit_test(results_in_place_of_their_operand_have_all_their_tiles),
        cmocka_unit_test(padding_is_never_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
