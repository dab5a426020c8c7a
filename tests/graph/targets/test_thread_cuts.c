// SPDX-License-Identifier: Apache-2.0
// Products of float32 whose bits ONNX Runtime 1.32.0 changes, or not, with the number of threads:
// it ran each row with one thread and with `threads` (x86-64 with AVX-512, level all, random
// operands that are inputs).
#include "include/qdq/ops/products.h"
#include "tests/unit.h"

typedef struct product {
    int64_t m, n, k;
    bool transpose_a, transpose_b;
    int threads;
    bool differs;
} product;

// Images of `size` x `size`, and `inputs` and `outputs` channels in each group.
typedef struct windows {
    int64_t images, groups, inputs, outputs, size, kernel, pad;
    int threads;
    bool differs;
} windows;

// clang-format off
static const product products[] = {
    {3, 100, 500, false, false, 7, true},
    {3, 130, 300, false, false, 2, true},
    {3, 200, 300, false, false, 4, true},
    {16, 65, 300, false, false, 2, true},
    {17, 65, 130, false, true, 3, true},
    {17, 200, 200, false, false, 3, true},
    {40, 100, 300, false, true, 3, true},
    {40, 130, 300, false, false, 3, true},
    {40, 500, 500, false, true, 7, true},
    {64, 65, 300, false, true, 4, true},
    {64, 100, 500, false, false, 3, true},
    {130, 200, 130, false, false, 4, true},
    {130, 300, 200, false, false, 7, true},
    {300, 1, 500, false, false, 2, true},
    {16, 65, 300, true, false, 4, false},
    {16, 200, 65, false, true, 2, false},
    {64, 130, 40, false, true, 3, false},
    {64, 200, 200, true, false, 4, false},
    {65, 17, 65, false, true, 4, false},
    {65, 100, 17, false, true, 3, false},
    {65, 300, 40, false, false, 4, false},
    {130, 3, 200, false, false, 4, false},
    {200, 17, 300, false, true, 2, false},
    {200, 17, 500, false, false, 7, false},
    {300, 5, 130, true, false, 2, false},
    {300, 5, 500, false, false, 7, false},
    {300, 300, 300, false, false, 4, false},
    {500, 300, 40, false, false, 3, false},
};

static const windows convolutions[] = {
    {1, 1, 17, 9, 14, 3, 0, 4, true},
    {1, 1, 40, 9, 9, 3, 0, 4, true},
    {1, 1, 40, 9, 9, 3, 0, 7, true},
    {1, 1, 40, 9, 14, 2, 0, 7, true},
    {1, 1, 40, 33, 14, 3, 1, 3, true},
    {1, 1, 40, 70, 9, 2, 1, 7, true},
    {1, 1, 40, 70, 14, 2, 1, 7, true},
    {1, 1, 40, 70, 14, 3, 1, 4, true},
    {1, 1, 3, 9, 30, 3, 1, 4, false},
    {1, 1, 40, 2, 30, 2, 0, 7, false},
    {1, 1, 40, 70, 30, 2, 1, 7, false},
    {1, 2, 3, 33, 30, 2, 1, 3, false},
    {2, 1, 3, 33, 30, 1, 0, 2, false},
    {2, 1, 17, 70, 14, 2, 1, 4, false},
    {2, 1, 40, 9, 30, 1, 0, 2, false},
    {2, 1, 40, 33, 9, 2, 1, 3, false},
};
// clang-format on

// Checks the bits of the only node with one thread, with `threads`, and without a number.
static void check_bits(qdq_graph *g, qdq_value y, int threads, bool differs) {
    static const char *const names[] = {"ort@1.32-vnni:threads=1", "ort@1.32-vnni"};
    char name[64];
    qdq_error err = {0};
    qdq_output(g, "y", y);
    snprintf(name, sizeof name, "ort@1.32-vnni:threads=%d", threads);
    const qdq_report *report = qdq_graph_validate(g, name, &err);
    assert_non_null(report);
    assert_int_equal(report->nodes_with[QDQ_BITS_CLOSE], differs);
    for (int i = 0; i < 2; i++) {
        report = qdq_graph_validate(g, names[i], &err);
        assert_non_null(report);
        assert_int_equal(report->nodes_with[QDQ_BITS_CLOSE], 0);
        if (differs) assert_int_equal(report->count, i);  // one warning without a number
    }
    qdq_graph_destroy(g);
}

static void products_of_few_columns_or_rows_depend_on_threads(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        const product *p = &products[i];
        qdq_graph *g = qdq_graph_create("product", NULL);
        qdq_shape a = {2, {p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k}};
        qdq_shape b = {2, {p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n}};
        qdq_value y =
            qdq_matmul(g, qdq_input(g, "a", QDQ_FLOAT32, a), qdq_input(g, "b", QDQ_FLOAT32, b),
                       (qdq_matmul_attrs){.transpose_a = p->transpose_a ? QDQ_TRUE : QDQ_FALSE,
                                          .transpose_b = p->transpose_b ? QDQ_TRUE : QDQ_FALSE});
        check_bits(g, y, p->threads, p->differs);
    }
}

static void convolutions_of_few_positions_depend_on_threads(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof convolutions / sizeof convolutions[0]; i++) {
        const windows *w = &convolutions[i];
        const int64_t ones[] = {1, 1}, pads[] = {w->pad, w->pad};
        qdq_graph *g = qdq_graph_create("convolution", NULL);
        qdq_shape x = {4, {w->images, w->groups * w->inputs, w->size, w->size}};
        qdq_shape k = {4, {w->groups * w->outputs, w->inputs, w->kernel, w->kernel}};
        qdq_value y =
            qdq_convolution(g, qdq_input(g, "x", QDQ_FLOAT32, x), qdq_input(g, "w", QDQ_FLOAT32, k),
                            (qdq_convolution_attrs){.strides = {ones, 2},
                                                    .dilations = {ones, 2},
                                                    .pads_begin = {pads, 2},
                                                    .pads_end = {pads, 2},
                                                    .groups = QDQ_INT(w->groups),
                                                    .data_format = QDQ_NCX,
                                                    .weights_format = QDQ_OIX});
        check_bits(g, y, w->threads, w->differs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_few_columns_or_rows_depend_on_threads),
        cmocka_unit_test(convolutions_of_few_positions_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
