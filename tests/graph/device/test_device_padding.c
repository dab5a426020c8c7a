// SPDX-License-Identifier: Apache-2.0
// On a device the padding of edge tiles is computed: zeros where rows become tiles and in the
// results of tensor ops and reductions, and the image of the old padding after elementwise ops.
#include <qdq/qdq.h>

#include "tests/unit.h"

static const qdq_shape shapes[] = {
    {2, {20, 40}},    {2, {33, 31}}, {2, {31, 33}}, {1, {3}},
    {3, {2, 70, 33}}, {2, {64, 64}}, {2, {1, 1}},
};

static qdq_graph *every_kind(qdq_shape shape) {
    qdq_graph *g = qdq_graph_create("padding", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, shape), h = qdq_input(g, "h", QDQ_BFLOAT16, shape);
    qdq_value q = qdq_quantize(
        g, x, (qdq_quantize_attrs){.name = "q", .scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(5)});
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
    {"x", 0}, {"h", 0}, {"q", 5}, {"d", 1}, {"twice", 2}, {"n", -3}, {"s", 0},
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

// Checks all elements of padding by the definition of TILE layout, and returns how many there are.
static size_t check_padding(const qdq_tiles_view *view, double wanted) {
    int rank = view->padded_shape.rank;
    size_t rows = 1, cols = 1, height = 1;
    if (view->shape.rank > 0) cols = (size_t)view->shape.dims[view->shape.rank - 1];
    if (view->shape.rank > 1) rows = (size_t)view->shape.dims[view->shape.rank - 2];
    height = (size_t)view->padded_shape.dims[rank - 2];
    size_t across = (size_t)view->padded_shape.dims[rank - 1] / 32, count = 0;
    for (size_t tile = 0; tile < view->tiles; tile++)
        for (size_t i = 0; i < 1024; i++) {
            size_t face = i / 256, r = face / 2 * 16 + i % 256 / 16, c = face % 2 * 16 + i % 16;
            r += tile / across * 32 % height, c += tile % across * 32;
            if (r < rows && c < cols) continue;
            const char *memory = (const char *)view->data + tile * view->tile_bytes;
            double got = number_at(view->dtype, memory, i);
            if (got != wanted)
                fail_msg("tile %zu, element %zu: %g, wanted %g", tile, i, got, wanted);
            count++;
        }
    return count;
}

static void padding_is_the_image_of_zeros(void **state) {
    (void)state;
    qdq_error err = {0};
    size_t checked = 0;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        qdq_graph *g = every_kind(shapes[s]);
        qdq_compile_options options = {.device = qdq_device_find("n150", &err), .keep_all = true};
        qdq_plan *plan = qdq_graph_compile(g, &options, &err);
        qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, &err);
        if (!exec) fail_msg("%s", err.text);
        qdq_exec_run(exec);
        for (size_t k = 0; k < sizeof wants / sizeof wants[0]; k++) {
            qdq_tiles_view view;
            if (qdq_exec_tiles(exec, wants[k].value, &view, &err)) fail_msg("%s", err.text);
            checked += check_padding(&view, wants[k].padding);
        }
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
    assert_true(checked > 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(padding_is_the_image_of_zeros)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
