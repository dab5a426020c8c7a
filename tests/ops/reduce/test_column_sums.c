// SPDX-License-Identifier: Apache-2.0
// Sums and means of the columns of a matrix on target onnx: each column is added in order, in
// float32, on every instruction set and with threads.
#include "ops/reduce/order/column_sums.h"
#include "tests/ops/reduce/slices_model.h"

enum { MOST_ROWS = 101, MOST_COLUMNS = 2 * QDQ_COLUMN_SUMS + 7 };

static float x[MOST_ROWS * MOST_COLUMNS], y[MOST_COLUMNS];

static void run(size_t rows, size_t columns, bool is_mean, const char *isa, qdq_parallel parallel) {
    qdq_graph *g = qdq_graph_create("columns", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)rows, (int64_t)columns));
    qdq_reduce_attrs attrs = {.axes = QDQ_INTS(0)};
    qdq_output(g, "y", is_mean ? qdq_reduce_mean(g, v, attrs) : qdq_reduce_sum(g, v, attrs));
    memset(y, 0xFF, sizeof y);
    model_run_once(g, &(qdq_compile_options){.target = "onnx", .isa = isa}, parallel,
                   (model_tensor[]){{"x", x, rows * columns}, {0}},
                   (model_tensor[]){{"y", y, columns}, {0}}, 1);
    qdq_graph_destroy(g);
}

static void check(size_t rows, size_t columns, bool is_mean, const char *isa, bool threads) {
    qdq_parallel parallel = threads ? qdq_parallel_openmp(2) : (qdq_parallel){0};
    if (threads) parallel.least = 1;
    run(rows, columns, is_mean, isa, parallel);
    for (size_t c = 0; c < columns; c++) {
        float want = x[c];
        for (size_t r = 1; r < rows; r++) want += x[r * columns + c];
        if (is_mean) want /= (float)rows;
        uint32_t bits[2];
        memcpy(&bits[0], &want, 4), memcpy(&bits[1], &y[c], 4);
        if (isnan(want)) bits[0] = 0x7FC00000;
        if (bits[0] != bits[1])
            fail_msg("column %zu of %zu, %zu rows, %s: got %a, want %a", c, columns, rows,
                     isa ? isa : "default", (double)y[c], (double)want);
    }
}

static void fill(size_t rows, size_t columns) {
    model_fill(x, rows * columns, QDQ_FLOAT32, -12, 12, rows * columns);
    for (size_t r = 0; r < rows; r++) x[r * columns] = -0.0f;
    if (columns > 2) x[(rows - 1) * columns + 1] = -NAN, x[2] = INFINITY;
}

static void columns_are_added_in_order_on_every_instruction_set(void **state) {
    static const size_t rows[] = {2, 3, 4, 5, 7, 8, 9, MOST_ROWS};
    static const size_t columns[] = {
        2,           7, 15, 16, 17, 33, QDQ_COLUMN_SUMS - 1, QDQ_COLUMN_SUMS, QDQ_COLUMN_SUMS + 1,
        MOST_COLUMNS};
    (void)state;
    for (size_t r = 0; r < UNIT_COUNT(rows); r++)
        for (size_t c = 0; c < UNIT_COUNT(columns); c++) {
            fill(rows[r], columns[c]);
            for (size_t i = 0; qdq_isa_get(i).name; i++)
                if (qdq_isa_get(i).available)
                    check(rows[r], columns[c], (r + c) % 2, qdq_isa_get(i).name, i % 2);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_added_in_order_on_every_instruction_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
