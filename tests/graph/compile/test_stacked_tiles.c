// SPDX-License-Identifier: Apache-2.0
// A value of a tiled plan lies in the tiles of one matrix, whose rows are its first dims, if it
// then takes fewer tiles, or of a matrix one tile wide, if that takes half of those. Kept values
// and plans with a device pad each plane. The bits stay the same as in a streamed run.
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { MOST_VALUES = 40, MOST_DIM = 1100 };

static const qdq_plan_value *find(const qdq_plan *plan, const char *name) {
    for (size_t i = 0; i < qdq_plan_get_stats(plan).value_count; i++)
        if (strcmp(qdq_plan_get_value(plan, i)->name, name) == 0)
            return qdq_plan_get_value(plan, i);
    fail_msg("no value '%s' in the arena", name);
    return NULL;
}

static qdq_quantize_attrs by_one_scale(const char *name) {
    static const float half = 0.5f;
    return (qdq_quantize_attrs){.name = name, .scales = {&half, 1, true}};
}

static qdq_unary_attrs named(const char *name) { return (qdq_unary_attrs){.name = name}; }

//---- How many tiles ---------------------------------------------------------

// Tiles and padded height and width of the last two dims, counted by hand.
typedef struct tile_count {
    qdq_shape shape;
    size_t tiles;
    qdq_shape padded;
} tile_count;

static const tile_count stacked[] = {
    {{4, {64, 64, 3, 3}}, 36, {2, {64, 576}}},    // 64 rows of 576; each plane: 4,096
    {{4, {360, 16, 4, 4}}, 96, {2, {384, 256}}},  // 12 * 8; 5,760 rows of 16: 180
    {{4, {45, 3, 5, 8}}, 8, {2, {64, 128}}},      // 45 rows of 120: 2 * 4; 135 rows of 40: 5 * 2
    {{4, {2, 5, 14, 14}}, 5, {2, {160, 32}}},     // 140 rows of 14; each plane: 10
    {{3, {3, 50, 70}}, 15, {2, {160, 96}}},       // 150 rows of 70; each plane: 3 * 2 * 3
    {{5, {7, 1, 1, 1, 40}}, 1, {2, {32, 32}}},    // 10 rows of 28; 7 rows of 40: 2
    {{3, {16, 10, 300}}, 50, {2, {160, 320}}},    // 5 * 10; each plane: 10
    {{3, {16, 100, 300}}, 640, {3, {16, 128, 320}}},  // planes fill 73 % of 4 * 10 tiles
    {{3, {8, 64, 65}}, 48, {3, {8, 64, 96}}},         // whole tiles down each plane: no gain
    {{3, {2, 31, 5}}, 1, {2, {32, 32}}},              // 10 rows of 31; 62 rows of 5: 2
    {{3, {1, 33, 31}}, 2, {3, {1, 64, 32}}},          // one plane of 1,023
    {{2, {70, 300}}, 30, {2, {96, 320}}},             // 700 rows of 30: 22, more than half
    {{1, {9001}}, 282, {2, {32, 9024}}},              // a prime
    {{1, {9000}}, 10, {2, {320, 32}}},                // 300 rows of 30
    {{2, {3, 4096}}, 384 / 32, {2, {384, 32}}},       // 384 rows of 32; one row of 128 tiles
    {{1, {32}}, 1, {2, {32, 32}}},
    {{1, {33}}, 1, {2, {32, 32}}},  // 3 rows of 11
    {{0, {0}}, 1, {2, {32, 32}}},
};

// x -> Quantize q, which two nodes read. x and both results have slots, too.
static qdq_graph *fork_of(qdq_shape shape) {
    qdq_graph *g = qdq_graph_create("fork", NULL);
    qdq_value q = qdq_quantize(g, qdq_input(g, "x", QDQ_FLOAT32, shape), by_one_scale("q"));
    qdq_dequantize_attrs d = {.name = "a", .scales = QDQ_SCALE(0.5f), .dtype = QDQ_FLOAT32};
    qdq_output(g, "a", qdq_dequantize(g, q, d));
    d.name = "b";
    qdq_output(g, "b", qdq_dequantize(g, q, d));
    return g;
}

static void outer_dims_become_rows_where_this_saves_tiles(void **state) {
    (void)state;
    static const char *const names[] = {"x", "q", "a", "b"};
    for (size_t i = 0; i < UNIT_COUNT(stacked); i++) {
        const tile_count *wanted = &stacked[i];
        qdq_graph *g = fork_of(wanted->shape);
        qdq_plan *plan =
            qdq_graph_compile(g, &(qdq_compile_options){.layout = QDQ_PLAN_TILES}, NULL);
        for (size_t k = 0; k < UNIT_COUNT(names); k++) {
            const qdq_plan_value *v = find(plan, names[k]);
            assert_int_equal(v->tiles, wanted->tiles);
            assert_int_equal(v->bytes, wanted->tiles * (k == 1 ? 1024 : 4096));
            assert_true(qdq_shape_equal(v->shape, wanted->shape));
            assert_true(qdq_shape_equal(v->padded_shape, wanted->padded));
        }
        size_t elements = qdq_shape_count(wanted->shape);
        qdq_plan_stats stats = qdq_plan_get_stats(plan);
        assert_int_equal(stats.tiles, 4 * wanted->tiles);
        assert_int_equal(stats.padding_bytes, (wanted->tiles * 1024 - elements) * (3 * 4 + 1));
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

static void sparse_tiles_and_narrow_rows_that_end_in_a_tile_go_by_strips(void **state) {
    (void)state;
    static const struct {
        qdq_shape shape;
        bool tiles;
    } cases[] = {
        {{2, {64, 64}}, true},     {{2, {17, 64}}, true},       // rows are whole tiles
        {{2, {15, 64}}, true},                                  // 30 rows of 32
        {{2, {15, 62}}, false},                                 // 30 rows of 31
        {{2, {64, 31}}, false},    {{2, {64, 127}}, false},     // up to 4 tiles wide
        {{2, {64, 129}}, true},    {{2, {16, 129}}, false},     // 5 tiles wide; 40 % full
        {{3, {5, 17, 300}}, true},                              // 85 rows in 3 rows of tiles
        {{3, {5, 16, 160}}, true}, {{3, {2, 40, 100}}, false},  // 80 whole rows; 100 is narrow
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_graph *g = fork_of(cases[i].shape);
        qdq_plan *plan =
            qdq_graph_compile(g, &(qdq_compile_options){.layout = QDQ_PLAN_TILES}, NULL);
        assert_int_equal(qdq_plan_get_step(plan, 0)->tiled, cases[i].tiles);
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

static void devices_and_plans_node_by_node_pad_each_plane(void **state) {
    (void)state;
    const qdq_compile_options ways[] = {{.materialize = true},
                                        {.layout = QDQ_PLAN_TILES, .keep_all = true},
                                        {.device = qdq_device_find("n150", NULL)}};
    for (size_t w = 0; w < UNIT_COUNT(ways); w++) {
        qdq_graph *g = fork_of(QDQ_SHAPE(2, 5, 14, 14));
        qdq_plan *plan = qdq_graph_compile(g, &ways[w], NULL);
        assert_int_equal(find(plan, "x")->tiles, 10);
        assert_int_equal(find(plan, "q")->tiles, 10);
        assert_int_equal(find(plan, "q")->padded_shape.dims[3], 32);
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

static void a_kept_value_pads_each_plane_and_its_neighbours_fold(void **state) {
    (void)state;
    static const char *const q[] = {"q"};
    const qdq_compile_options options = {.layout = QDQ_PLAN_TILES, .keep = q, .keep_count = 1};
    static float x[2 * 5 * 14 * 14];
    for (size_t i = 0; i < UNIT_COUNT(x); i++) x[i] = (float)(i % 101) - 50;
    qdq_graph *g = fork_of(QDQ_SHAPE(2, 5, 14, 14));
    qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
    assert_int_equal(find(plan, "x")->tiles, 5);
    assert_int_equal(find(plan, "q")->tiles, 10);
    assert_int_equal(find(plan, "b")->tiles, 5);
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, NULL);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, x, UNIT_COUNT(x), NULL);
    qdq_exec_run(exec);
    qdq_tiles_view view;
    assert_int_equal(qdq_exec_tiles(exec, "q", &view, NULL), QDQ_OK);
    assert_int_equal(view.tiles, 10);
    const signed char *codes = view.data;
    for (size_t plane = 0; plane < 10; plane++)
        for (size_t r = 0; r < 14; r++)  // in the first face of the plane's own tile
            for (size_t c = 0; c < 14; c++)
                assert_int_equal(codes[plane * 1024 + r * 16 + c],
                                 2 * ((int)((plane * 14 + r) * 14 + c) % 101) - 100);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static bool walks_tiles(const qdq_plan *plan, const char *node) {
    for (size_t i = 0; i < qdq_plan_get_stats(plan).step_count; i++)
        if (strstr(qdq_plan_get_step(plan, i)->text, node))
            return qdq_plan_get_step(plan, i)->tiled;
    fail_msg("no step has '%s'", node);
    return false;
}

// p is kept, so it lies in the tiles of 5 planes. The sum lies in 3 rows of tiles.
static void a_parameter_with_other_tiles_is_read_by_strips(void **state) {
    (void)state;
    enum { COUNT = 5 * 17 * 300 };
    static const char *const names[] = {"p"};
    static float x[COUNT], w[COUNT], y[COUNT];
    const qdq_compile_options options = {.layout = QDQ_PLAN_TILES, .keep = names, .keep_count = 1};
    for (size_t i = 0; i < COUNT; i++) x[i] = (float)(i % 997), w[i] = -(float)(i % 89);
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(5, 17, 300));
    qdq_value other = qdq_input(g, "w", QDQ_FLOAT32, QDQ_SHAPE(5, 17, 300));
    qdq_value p = qdq_relu(g, in, named("p")), a = qdq_abs(g, other, named("a"));
    qdq_output(g, "q", qdq_abs(g, p, named("q")));
    qdq_value sum = qdq_add(g, a, p, (qdq_binary_attrs){.name = "sum"});
    qdq_output(g, "y", qdq_relu(g, sum, named("r"))),
        qdq_output(g, "z", qdq_abs(g, sum, named("s")));
    qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
    assert_int_equal(find(plan, "p")->tiles, 50);
    assert_int_equal(find(plan, "sum")->tiles, 30);
    assert_false(walks_tiles(plan, "Add sum"));
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, NULL);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, x, COUNT, NULL);
    qdq_exec_write(exec, "w", QDQ_FLOAT32, w, COUNT, NULL);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, COUNT, NULL), QDQ_OK);
    for (size_t i = 0; i < COUNT; i++) assert_true(y[i] == (float)(i % 997 + i % 89));
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// Codes of int4 share bytes in tiles, but a constant lies in rows: 300 planes of 2 rows become
// 150 rows of 32, 5 tiles; 5 planes of 17 rows fold into 3 rows of 10 tiles, full enough to walk.
// Kept codes lie in the tiles of their planes, and so do their readers.
static void packed_constants_let_their_readers_fold(void **state) {
    (void)state;
    static const struct {
        qdq_shape shape;
        size_t tiles, tiles_if_kept;
        bool walks;
    } cases[] = {{{3, {300, 2, 8}}, 5, 300, true}, {{3, {5, 17, 300}}, 30, 50, true}};
    static const int8_t codes[5 * 17 * 300] = {1, -2, 3};
    static const char *const c_name[] = {"c"};
    for (size_t i = 0; i < 2 * UNIT_COUNT(cases); i++) {
        qdq_shape shape = cases[i / 2].shape;
        bool kept = i % 2;
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value c = kept ? qdq_input(g, "c", QDQ_INT4, shape)
                           : qdq_constant(g, "c", QDQ_INT4, shape, codes);
        qdq_dequantize_attrs attrs = by_one_scale("d");
        attrs.dtype = QDQ_FLOAT32;
        qdq_value d = qdq_dequantize(g, c, attrs);
        qdq_output(g, "a", qdq_relu(g, d, named("a")));
        qdq_output(g, "b", qdq_abs(g, d, named("b")));
        qdq_compile_options options = {
            .layout = QDQ_PLAN_TILES, .keep = c_name, .keep_count = kept};
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        assert_int_equal(find(plan, "d")->tiles,
                         kept ? cases[i / 2].tiles_if_kept : cases[i / 2].tiles);
        if (!kept) assert_int_equal(walks_tiles(plan, "Dequantize d"), cases[i / 2].walks);
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

// q lies in 3 rows of tiles. a is kept, so it is cut into the tiles of 5 planes.
static void a_step_with_tiles_of_both_kinds_goes_by_strips(void **state) {
    (void)state;
    static const char *const a[] = {"a"};
    qdq_graph *g = fork_of(QDQ_SHAPE(5, 17, 300));
    const qdq_compile_options options = {.layout = QDQ_PLAN_TILES, .keep = a, .keep_count = 1};
    qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
    assert_int_equal(find(plan, "q")->tiles, 3 * 10);
    assert_int_equal(find(plan, "a")->tiles, 5 * 10);
    assert_false(walks_tiles(plan, "Dequantize a"));
    assert_true(walks_tiles(plan, "Dequantize b"));
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// x -> h, which a product reads and q is made of; the product p -> n. Two nodes read q, and two n.
static void operands_and_results_of_tensor_ops_are_stacked(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("product", NULL);
    qdq_value h = qdq_relu(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3, 5, 40)), named("h"));
    qdq_value w = qdq_input(g, "w", QDQ_FLOAT32, QDQ_SHAPE(3, 40, 7));
    qdq_value p = qdq_matmul(g, h, w, (qdq_matmul_attrs){.name = "p"});
    qdq_value q = qdq_quantize(g, h, by_one_scale("q")), n = qdq_abs(g, p, named("n"));
    qdq_dequantize_attrs d = {.scales = QDQ_SCALE(0.5f), .dtype = QDQ_FLOAT32};
    for (int i = 0; i < 2; i++) {
        qdq_output(g, i ? "q0" : "q1", qdq_dequantize(g, q, d));
        qdq_output(g, i ? "n0" : "n1", qdq_sqrt(g, n, (qdq_unary_attrs){0}));
    }
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.layout = QDQ_PLAN_TILES}, NULL);
    assert_int_equal(find(plan, "x")->tiles, 1);  // 20 rows of 30; 15 rows of 40: 2
    assert_int_equal(find(plan, "h")->tiles, 1);
    assert_int_equal(find(plan, "q")->tiles, 1);
    assert_int_equal(find(plan, "w")->tiles, 1);  // 30 rows of 28; 120 rows of 7: 4
    assert_int_equal(find(plan, "n")->tiles, 1);  // 15 rows of 7
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// float32 [8, 5, 31] in 2 tiles of 40 rows has the bytes of int8 in 8 tiles, one for each plane,
// because it is kept. The step that reads the last of `a` computes b.
static void values_of_other_tiles_do_not_share_memory_in_place(void **state) {
    (void)state;
    static const char *const names[] = {"b"};
    const qdq_compile_options options = {.layout = QDQ_PLAN_TILES, .keep = names, .keep_count = 1};
    qdq_graph *g = qdq_graph_create("in place", NULL);
    qdq_value a = qdq_relu(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(8, 5, 31)), named("a"));
    qdq_output(g, "t", qdq_transpose(g, a, (qdq_transpose_attrs){.order = QDQ_INTS(0, 2, 1)}));
    qdq_output(g, "s", qdq_sqrt(g, a, named("s")));  // a link of the step that computes a
    qdq_value b = qdq_quantize(g, a, by_one_scale("b"));
    qdq_dequantize_attrs d = {.scales = QDQ_SCALE(0.5f), .dtype = QDQ_FLOAT32};
    qdq_output(g, "c", qdq_dequantize(g, b, d));
    qdq_output(g, "d", qdq_abs(g, qdq_dequantize(g, b, d), named("d")));
    qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
    const qdq_plan_value *from = find(plan, "a"), *to = find(plan, "b");
    assert_int_equal(from->bytes, 2 * 4096);
    assert_int_equal(to->bytes, 8 * 1024);
    assert_int_equal(from->last_step, to->first_step);
    assert_true(from->offset + from->bytes <= to->offset || to->offset + to->bytes <= from->offset);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

//---- Random graphs ----------------------------------------------------------

typedef struct random_graph {
    qdq_graph *graph;
    uint64_t seed;
    qdq_shape shape;
    qdq_value floats[MOST_VALUES], codes[MOST_VALUES];
    size_t float_count, code_count, inputs, nodes;
    char names[MOST_VALUES][8];  // of nodes
    float scales[MOST_DIM];
} random_graph;

static size_t below(random_graph *r, size_t n) { return (size_t)(unit_random(&r->seed) >> 11) % n; }

static const char *next_name(random_graph *r) {
    assert_true(r->nodes < MOST_VALUES);
    snprintf(r->names[r->nodes], sizeof r->names[0], "n%zu", r->nodes);
    return r->names[r->nodes++];
}

// Rank 1 to 5, some thousand elements at most.
static qdq_shape random_shape(random_graph *r) {
    static const size_t most[] = {0, 1100, 90, 40, 14, 6};
    qdq_shape shape = {.rank = 1 + (int)below(r, 5)};
    for (int i = 0; i < shape.rank; i++) {
        bool wide = shape.rank > 2 && i == shape.rank - 1 && below(r, 2);
        shape.dims[i] = 1 + (int64_t)below(r, wide ? 45 : most[shape.rank]);
    }
    return shape;
}

static qdq_value new_input(random_graph *r, qdq_shape shape) {
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    char name[8];
    snprintf(name, sizeof name, "x%zu", r->inputs++);
    return qdq_input(r->graph, name, dtypes[below(r, 4)], shape);
}

// A second operand: all elements, or a few that are broadcast.
static qdq_value operand(random_graph *r) {
    qdq_shape shape = r->shape;
    size_t keep = below(r, 2) ? below(r, 32) : 31;
    if (keep == 31 && below(r, 3)) return r->floats[below(r, r->float_count)];
    for (int i = 0; i < shape.rank; i++)
        if (!(keep >> i & 1)) shape.dims[i] = 1;
    return new_input(r, shape);
}

// One scale, one for each index of an axis, or one for each block.
static qdq_quantize_attrs random_scales(random_graph *r) {
    static int64_t extents[QDQ_MAX_RANK];
    qdq_quantize_attrs q = {.name = next_name(r), .scales = {r->scales, 1, true}};
    size_t kind = below(r, 4), count = 1;
    int axis = (int)below(r, (size_t)r->shape.rank);
    if (kind == 0) return q;
    if (kind == 1) {
        for (int i = 0; i < r->shape.rank; i++) {
            extents[i] = 1 + (int64_t)below(r, (size_t)r->shape.dims[i]);
            count *= (size_t)((r->shape.dims[i] + extents[i] - 1) / extents[i]);
        }
        if (count > MOST_DIM) return q;
        q.qtype = QDQ_PER_GROUP;
        q.group_shape = (qdq_ints){extents, (size_t)r->shape.rank};
        q.scales = (qdq_floats){r->scales, count, false};
        return q;
    }
    q.qtype = QDQ_PER_CHANNEL, q.axis = QDQ_INT(axis);
    q.scales = (qdq_floats){r->scales, (size_t)r->shape.dims[axis], false};
    return q;
}

static qdq_value new_codes(random_graph *r) {
    static const qdq_dtype dtypes[] = {QDQ_INT8, QDQ_INT8, QDQ_UINT8, QDQ_INT4};
    qdq_value x = r->floats[below(r, r->float_count)];
    qdq_quantize_attrs q = random_scales(r);
    if (below(r, 6) == 0)
        return qdq_dynamic_quantize(r->graph, x,
                                    (qdq_dynamic_quantize_attrs){.quantize = {.name = q.name}});
    q.dtype = dtypes[below(r, 4)];
    return qdq_quantize(r->graph, x, q);
}

static qdq_value tensor_op(random_graph *r, qdq_value x) {
    int64_t n = r->shape.dims[r->shape.rank - 1];
    const char *name = next_name(r);
    if (r->shape.rank == 1 || below(r, 2))
        return qdq_softmax(r->graph, x, (qdq_softmax_attrs){.name = name, .axis = QDQ_INT(-1)});
    char input[8];
    snprintf(input, sizeof input, "x%zu", r->inputs++);
    qdq_value w = qdq_input(r->graph, input, QDQ_FLOAT32, QDQ_SHAPE(n, n));
    return qdq_matmul(r->graph, x, w, (qdq_matmul_attrs){.name = name});
}

static qdq_value new_floats(random_graph *r) {
    qdq_value x = r->floats[below(r, r->float_count)];
    switch (below(r, 6)) {
    case 0: return qdq_relu(r->graph, x, named(next_name(r)));
    case 1:
        return qdq_cast(r->graph, x,
                        (qdq_cast_attrs){.name = next_name(r),
                                         .dtype = below(r, 4) ? QDQ_FLOAT32 : QDQ_BFLOAT8_B});
    case 2: return tensor_op(r, x);
    default:
        return qdq_subtract(r->graph, x, operand(r),
                            (qdq_binary_attrs){.name = next_name(r), .dtype = QDQ_FLOAT32});
    }
}

// A block float is read by Casts only.
static void add_floats(random_graph *r, qdq_value v) {
    qdq_dtype dtype;
    qdq_shape shape;
    assert_true(qdq_value_type(r->graph, v, &dtype, &shape));
    if (dtype == QDQ_BFLOAT8_B)
        v = qdq_cast(r->graph, v, (qdq_cast_attrs){.name = next_name(r), .dtype = QDQ_FLOAT32});
    r->floats[r->float_count++] = v;
}

static void build(random_graph *r) {
    r->graph = qdq_graph_create("random", NULL);
    r->float_count = r->code_count = r->inputs = r->nodes = 0;
    r->shape = random_shape(r);
    r->floats[r->float_count++] = qdq_input(r->graph, "x", QDQ_FLOAT32, r->shape);
    for (size_t i = 0; i < 8; i++) {
        if (below(r, 2)) {
            add_floats(r, new_floats(r));
            continue;
        }
        if (!r->code_count || below(r, 2)) r->codes[r->code_count++] = new_codes(r);
        qdq_quantize_attrs q = random_scales(r);
        add_floats(r, qdq_dequantize(r->graph, r->codes[below(r, r->code_count)],
                                     (qdq_dequantize_attrs){.name = q.name,
                                                            .qtype = q.qtype,
                                                            .axis = q.axis,
                                                            .group_shape = q.group_shape,
                                                            .scales = q.scales,
                                                            .dtype = QDQ_FLOAT32}));
    }
    for (size_t i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "y%zu", i);
        qdq_output(r->graph, name, r->floats[r->float_count - 1 - i % r->float_count]);
    }
    if (r->code_count) qdq_output(r->graph, "q", r->codes[below(r, r->code_count)]);
}

//---- Runs -------------------------------------------------------------------

static void write_inputs(const qdq_plan *plan, qdq_exec *exec) {
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        const qdq_tensor_info *info = qdq_plan_input(plan, i);
        uint64_t seed = 77 + i;
        size_t count = qdq_shape_count(info->shape);
        float *x = malloc(count * sizeof *x);
        assert_non_null(x);
        for (size_t k = 0; k < count; k++)
            x[k] = (float)((int)(unit_random(&seed) >> 30 & 4095) - 2048) / 512.0f;
        assert_int_equal(qdq_exec_write(exec, info->name, QDQ_FLOAT32, x, count, NULL), QDQ_OK);
        free(x);
    }
}

// The bytes of all outputs and kept values that `names` lists, one after the other; the caller
// frees them.
static unsigned char *run(const random_graph *r, const qdq_compile_options *options, int threads,
                          const char *const *names, size_t count, size_t *bytes) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(r->graph, options, &err);
    assert_string_equal(err.text, "");
    qdq_exec_options how = {.poison = true, .parallel = qdq_parallel_openmp(threads)};
    how.parallel.least = 0;
    qdq_exec *exec = qdq_exec_create(plan, &how, &err);
    assert_non_null(exec);
    write_inputs(plan, exec);
    qdq_exec_run(exec), qdq_exec_run(exec);
    *bytes = 0;
    size_t outputs = qdq_plan_output_count(plan), all = qdq_shape_count(r->shape) * 8;
    unsigned char *y = malloc((outputs + count) * all + 1);
    assert_non_null(y);
    for (size_t i = 0; i < outputs + count; i++) {
        const qdq_tensor_info *info = i < outputs ? qdq_plan_output(plan, i) : NULL;
        for (size_t k = 0; !info; k++)
            if (strcmp(qdq_plan_kept(plan, k)->name, names[i - outputs]) == 0)
                info = qdq_plan_kept(plan, k);
        assert_int_equal(qdq_exec_read(exec, info->name, info->dtype, y + *bytes,
                                       qdq_shape_count(info->shape), &err),
                         QDQ_OK);
        *bytes += info->bytes;
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    return y;
}

static void check_as(const random_graph *r, size_t number, qdq_compile_options options, int threads,
                     const char *const *names, size_t count) {
    size_t bytes, got_bytes;
    qdq_compile_options streamed = options;
    streamed.layout = QDQ_PLAN_ROWS, streamed.isa = NULL;
    unsigned char *wanted = run(r, &streamed, 1, names, count, &bytes);
    unsigned char *got = run(r, &options, threads, names, count, &got_bytes);
    assert_int_equal(bytes, got_bytes);
    if (memcmp(got, wanted, bytes) != 0)
        fail_msg("graph %zu: %d threads, %zu kept values: other bits", number, threads, count);
    free(wanted), free(got);
}

static void random_graphs_give_the_bits_of_a_streamed_run(void **state) {
    (void)state;
    static random_graph r;
    r.seed = 20261123;
    for (size_t i = 0; i < UNIT_COUNT(r.scales); i++)
        r.scales[i] = 0.01f + 0.001f * (float)(i % 70);
    for (size_t i = 0; i < 200; i++) {
        build(&r);
        const char *names[3];
        for (size_t k = 0; k < 3; k++) names[k] = r.names[0];
        size_t kept = 0;
        for (size_t k = 0; k < r.nodes && kept < 3; k++)
            if (below(&r, 4) == 0 && qdq_graph_find(r.graph, r.names[k]).id)
                names[kept++] = r.names[k];
        qdq_compile_options tiled = {.layout = QDQ_PLAN_TILES},
                            portable = {.layout = QDQ_PLAN_TILES, .isa = "portable"};
        for (int threads = 1; threads <= 3; threads++) check_as(&r, i, tiled, threads, NULL, 0);
        check_as(&r, i, portable, 2, NULL, 0);
        tiled.keep = names, tiled.keep_count = kept;
        check_as(&r, i, tiled, 1 + (int)(i % 3), names, kept);
        qdq_graph_destroy(r.graph);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outer_dims_become_rows_where_this_saves_tiles),
        cmocka_unit_test(sparse_tiles_and_narrow_rows_that_end_in_a_tile_go_by_strips),
        cmocka_unit_test(devices_and_plans_node_by_node_pad_each_plane),
        cmocka_unit_test(a_kept_value_pads_each_plane_and_its_neighbours_fold),
        cmocka_unit_test(a_parameter_with_other_tiles_is_read_by_strips),
        cmocka_unit_test(packed_constants_let_their_readers_fold),
        cmocka_unit_test(a_step_with_tiles_of_both_kinds_goes_by_strips),
        cmocka_unit_test(operands_and_results_of_tensor_ops_are_stacked),
        cmocka_unit_test(values_of_other_tiles_do_not_share_memory_in_place),
        cmocka_unit_test(random_graphs_give_the_bits_of_a_streamed_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
