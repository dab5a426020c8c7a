// SPDX-License-Identifier: Apache-2.0
// On a device the padding of edge tiles is computed: zeros where rows become tiles and in the
// results of tensor ops and reductions, and the image of the old padding after elementwise ops.
#include <qdq/qdq.h>

#include "tests/unit.h"

static const qdq_shape shapes[] = {
    {2, {20, 40}},    {2, {33, 31}}, {2, {31, 33}}, {1, {3}},
    {3, {2, 70, 33}}, {2, {64, 64}}, {2, {1, 1}},   {2, {64, 40}},
};

static qdq_graph *every_kind(qdq_shape shape) {
    qdq_graph *g = qdq_graph_create("padding", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, shape), h = qdq_input(g, "h", QDQ_BFLOAT16, shape);
    qdq_value q = qdq_quantize(
        g, x, (qdq_quantize_attrs){.name = "q", .scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(5)});
    // A parameter for each column, all alike.
    float scales[80];
    for (int i = 0; i < 80; i++) scales[i] = 0.5f;
    qdq_quantize_attrs by_column = {.name = "c",
                                    .qtype = QDQ_PER_CHANNEL,
                                    .axis = QDQ_INT(-1),
                                    .scales = {scales, (size_t)shape.dims[shape.rank - 1], false},
                                    .zps = QDQ_ZP(5)};
    qdq_output(g, "columns", qdq_quantize(g, x, by_column));
    qdq_value d = qdq_dequantize(
        g, q,
        (qdq_dequantize_attrs){
            .name = "d", .scales = QDQ_SCALE(0.25f), .zps = QDQ_ZP(1), .dtype = QDQ_FLOAT32});
    qdq_output(g, "sum", qdq_add(g, d, d, (qdq_binary_attrs){.name = "twice"}));
    qdq_output(g, "narrow",
               qdq_quantize(g, h,
                            (qdq_quantize_attrs){.name = "n",
                                                 .scales = QDQ_SCALE(0.5f),
                                                 .zps = QDQ_ZP(-3),
                                                 .dtype = QDQ_INT4}));
    qdq_output(g, "soft", qdq_softmax(g, d, (qdq_softmax_attrs){.name = "s", .axis = QDQ_INT(-1)}));
    qdq_output(g, "dynamic",
               qdq_dynamic_quantize(g, x, (qdq_dynamic_quantize_attrs){.quantize.name = "dq"}));
    return g;
}

// The number that each element of padding must have.
typedef struct want {
    const char *value;
    double padding;
} want;

static const want wants[] = {
    {"x", 0}, {"h", 0}, {"q", 5}, {"c", 5}, {"d", 1}, {"twice", 2}, {"n", -3}, {"s", 0},
};

static double number_at(qdq_dtype dtype, const void *tile, size_t i) {
    float f;
    int32_t whole;
    if (dtype == QDQ_INT4) {
        int code = ((const uint8_t *)tile)[i / 2] >> (i % 2 * 4) & 15;
        return code < 8 ? code : code - 16;
    }
    const char *at = (const char *)tile + i * qdq_dtype_size(dtype);
    if (qdq_dtype_is_real(dtype)) {
        qdq_widen_float(dtype, at, &f, 1);
        return (double)f;
    }
    qdq_widen_int(dtype, at, &whole, 1);
    return whole;
}

// Sets the row and the column of element i of a tile, by the definition of TILE layout.
static void element_of(qdq_tile_shape tile, size_t i, size_t *r, size_t *c) {
    size_t high = tile.height < 16 ? tile.height : 16, face = i / (high * 16), in = i % (high * 16);
    size_t across = tile.width / 16, down = tile.height / high;
    *r = tile.transpose ? face % down * high + in % high : face / across * high + in / 16;
    *c = tile.transpose ? face / down * 16 + in / high : face % across * 16 + in % 16;
}

// Checks all elements of padding, and returns how many there are.
static size_t check_padding(const qdq_tiles_view *view, double wanted) {
    int rank = view->padded_shape.rank;
    size_t rows = 1, cols = 1, height = 1, wide = view->tile.width, high = view->tile.height;
    if (view->shape.rank > 0) cols = (size_t)view->shape.dims[view->shape.rank - 1];
    if (view->shape.rank > 1) rows = (size_t)view->shape.dims[view->shape.rank - 2];
    height = (size_t)view->padded_shape.dims[rank - 2];
    size_t across = (size_t)view->padded_shape.dims[rank - 1] / wide, count = 0;
    for (size_t tile = 0; tile < view->tiles; tile++)
        for (size_t i = 0; i < wide * high; i++) {
            size_t r, c;
            element_of(view->tile, i, &r, &c);
            r += tile / across * high % height, c += tile % across * wide;
            if (r < rows && c < cols) continue;
            const char *memory = (const char *)view->data + tile * view->tile_bytes;
            double got = number_at(view->dtype, memory, i);
            if (got != wanted)
                fail_msg("tile %zu (%ux%u%s), element %zu: %g, wanted %g", tile, view->tile.height,
                         view->tile.width, view->tile.transpose ? "t" : "", i, got, wanted);
            count++;
        }
    return count;
}

// Returns how many elements of padding it checks.
static size_t check_shape(qdq_shape shape, qdq_tile_shape tile) {
    qdq_error err = {0};
    size_t checked = 0;
    qdq_graph *g = every_kind(shape);
    qdq_set_tile(g, qdq_graph_find(g, "x"), tile);
    qdq_set_tile(g, qdq_graph_find(g, "h"), tile);
    qdq_compile_options options = {.device = qdq_device_find("n150", &err), .keep_all = true};
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, &err);
    if (!exec) fail_msg("%s", err.text);
    qdq_exec_run(exec);
    for (size_t k = 0; k < sizeof wants / sizeof wants[0]; k++) {
        qdq_tiles_view view;
        qdq_page_info page;
        if (qdq_exec_tiles(exec, wants[k].value, &view, &err)) fail_msg("%s", err.text);
        assert_int_equal(view.tile.height, tile.height);
        assert_int_equal(view.tile.width, tile.width);
        assert_int_equal(view.tile.transpose, tile.transpose);
        assert_int_equal(view.page_bytes, view.tile_bytes);  // a page of the device is a tile
        assert_int_equal(view.pages, view.tiles);
        if (qdq_exec_page(exec, wants[k].value, view.tiles - 1, &page, &err))
            fail_msg("%s", err.text);
        assert_true(page.offset != SIZE_MAX);
        checked += check_padding(&view, wants[k].padding);
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    return checked;
}

static void padding_is_the_image_of_zeros(void **state) {
    (void)state;
    size_t checked = 0;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        checked += check_shape(shapes[s], (qdq_tile_shape){32, 32, false});
    assert_true(checked > 10000);
}

static void padding_of_other_tiles_is_the_image_of_zeros_too(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (uint32_t high = 16; high <= 32; high *= 2)
            for (uint32_t wide = 16; wide <= 32; wide *= 2)
                for (int transpose = 0; transpose < 2; transpose++)
                    (void)check_shape(shapes[s], (qdq_tile_shape){high, wide, transpose});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_is_the_image_of_zeros),
        cmocka_unit_test(padding_of_other_tiles_is_the_image_of_zeros_too)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
