// SPDX-License-Identifier: Apache-2.0
// Products read operands where transposes found them, and matrices before they are repeated: the
// sums of a plain loop over the transposed elements, in every mode, and which transposes need no
// memory. The elements are small integers, whose sums are exact.
#include "ops/gemm/gemm.h"
#include "tests/ops/large_links.h"

enum {
    HEADS = 3,
    K_BLOCK = QDQ_GEMM_ROW_BYTES / (int)sizeof(float),
    ROWS = 2 * QDQ_GEMM_BLOCK_ROWS + QDQ_GEMM_ROWS + 1,
    COLUMNS = QDQ_GEMM_BLOCK_COLUMNS + QDQ_GEMM_COLUMNS + 5,
    SHALLOW = K_BLOCK / 2 + 3,
    DEEP = 2 * K_BLOCK + 5,
};

// An operand: the dims of an input of the graph, up to two transposes of it, whether the product
// transposes it once more, and whether the product reads it where the last one found it.
typedef struct operand {
    int64_t dims[QDQ_MAX_RANK];
    const char *orders[2];
    bool transposed, read;
} operand;

typedef struct example {
    const char *what;
    operand a, b;
} example;

// Sizes that cross blocks of rows and columns, panels and k blocks.
static const example examples[] = {
    {"attention",
     {{1, ROWS, HEADS, SHALLOW}, {"0213"}, .read = true},
     {{1, COLUMNS, HEADS, SHALLOW}, {"0231"}, .read = true}},
    {"a k block exactly",
     {{ROWS, HEADS, K_BLOCK}, {"102"}, .read = true},
     {{COLUMNS, HEADS, K_BLOCK}, {"120"}, .read = true}},
    {"more than a k block, of which columns are packed for each block of rows",
     {{ROWS, HEADS, DEEP}, {"102"}, .read = true},
     {{COLUMNS, HEADS, DEEP}, {"120"}, .read = false}},
    {"more than a k block, with neighbouring columns",
     {{ROWS, HEADS, DEEP}, {"102"}, .read = true},
     {{DEEP, HEADS, COLUMNS}, {"102"}, .read = true}},
    {"two transposes, of which a goes past the second only",
     {{SHALLOW, HEADS, ROWS}, {"210", "102"}, .read = true},
     {{COLUMNS, HEADS, SHALLOW}, {"102", "021"}, .read = true}},
    {"transposed by the product too",
     {{HEADS, ROWS, SHALLOW}, {"021"}, .transposed = true, .read = true},
     {{COLUMNS, HEADS, SHALLOW}, {"102"}, .transposed = true, .read = true}},
    {"rows whose k lie apart",
     {{SHALLOW, ROWS}, {"10"}, .read = false},
     {{SHALLOW, COLUMNS}, {0}, .read = false}},
    {"a batch of two dims, whose matrices lie unevenly",
     {{2, ROWS, HEADS, 9}, {"0213"}, .read = true},
     {{2, 40, HEADS, 9}, {"0231"}, .read = false}},
    {"a batch of two dims, whose matrices lie evenly",
     {{ROWS, 2, HEADS, 9}, {"1203"}, .read = true},
     {{40, 2, HEADS, 9}, {"1230"}, .read = true}},
    {"a batch that is broadcast",
     {{60, 1, 2, 9}, {"1203"}, .read = true},
     {{40, HEADS, 1, 9}, {"1230"}, .read = true}},
    {"fewer dims than the batch has",
     {{60, 2, 9}, {"102"}, .read = true},
     {{HEADS, 1, 40, 9}, {"0132"}, .read = true}},
    {"a batch of rows with one matrix",
     {{60, HEADS, 9}, {"102"}, .read = true},
     {{40, 9}, {"10"}, .read = true}},
};

//---- The plain loop ---------------------------------------------------------

static tensor transposed(const tensor *x, const int64_t *order) {
    qdq_shape shape = x->shape;
    for (int i = 0; i < shape.rank; i++) shape.dims[i] = x->shape.dims[order[i]];
    tensor y = tensor_of(NULL, QDQ_FLOAT32, shape);
    for (size_t at = 0; at < tensor_count(&y); at++) {
        size_t index[QDQ_MAX_RANK] = {0}, from = 0;
        for (int i = 0; i < shape.rank; i++) index[order[i]] = large_index(shape, i, at);
        for (int i = 0; i < shape.rank; i++) from = from * (size_t)x->shape.dims[i] + index[i];
        tensor_put(&y, at, tensor_at(x, from));
    }
    return y;
}

static size_t rows_of(const tensor *x) { return (size_t)x->shape.dims[x->shape.rank - 2]; }
static size_t columns_of(const tensor *x) { return (size_t)x->shape.dims[x->shape.rank - 1]; }
static qdq_shape batch_of(const tensor *x) {
    qdq_shape batch = x->shape;
    batch.rank -= 2;
    return batch;
}

static tensor product_of(const tensor *a, const tensor *b) {
    qdq_shape of_a = batch_of(a), of_b = batch_of(b), shape = of_a.rank > of_b.rank ? of_a : of_b;
    for (int i = 1; i <= shape.rank; i++) {
        int64_t x = i <= of_a.rank ? of_a.dims[of_a.rank - i] : 1;
        int64_t y = i <= of_b.rank ? of_b.dims[of_b.rank - i] : 1;
        shape.dims[shape.rank - i] = x > y ? x : y;
    }
    qdq_shape batch = shape;
    size_t m = rows_of(a), k = columns_of(a), n = columns_of(b);
    shape.dims[shape.rank++] = (int64_t)m, shape.dims[shape.rank++] = (int64_t)n;
    tensor y = tensor_of(NULL, QDQ_FLOAT32, shape);
    const float *x = a->data, *w = b->data;
    for (size_t at = 0; at < tensor_count(&y); at++) {
        size_t matrix = at / (m * n), row = at / n % m, column = at % n;
        size_t first = (large_broadcast_at(of_a, batch, matrix) * m + row) * k;
        size_t second = large_broadcast_at(of_b, batch, matrix) * k * n + column;
        float sum = 0;
        for (size_t i = 0; i < k; i++) sum += x[first + i] * w[second + i * n];
        tensor_put(&y, at, (double)sum);
    }
    return y;
}

//---- Cases ------------------------------------------------------------------

static qdq_shape shape_of(const operand *o) {
    qdq_shape shape = {0};
    while (o->dims[shape.rank]) shape.dims[shape.rank] = o->dims[shape.rank], shape.rank++;
    return shape;
}

// Adds an operand; *numbers is what the product multiplies.
static qdq_value add_operand(large_graph *c, const operand *o, const char *name, uint64_t *state,
                             tensor *numbers) {
    tensor *in;
    qdq_value v = large_input(c, QDQ_FLOAT32, shape_of(o), &in);
    for (size_t i = 0; i < tensor_count(in); i++)
        tensor_put(in, i, (double)large_pick(state, 9) - 4);
    tensor x = tensor_of(NULL, QDQ_FLOAT32, in->shape);
    memcpy(x.data, in->data, tensor_count(in) * sizeof(float));
    for (size_t t = 0; t < 3; t++) {
        int64_t order[QDQ_MAX_RANK];
        size_t rank = (size_t)in->shape.rank;
        for (size_t i = 0; i < rank; i++) order[i] = (int64_t)i;
        if (t < 2 && !o->orders[t]) continue;
        if (t == 2 && !o->transposed) continue;
        if (t == 2) order[rank - 2] = (int64_t)rank - 1, order[rank - 1] = (int64_t)rank - 2;
        for (size_t i = 0; t < 2 && i < rank; i++) order[i] = o->orders[t][i] - '0';
        bool last = t == 1 || !o->orders[1];
        qdq_transpose_attrs attrs = {.name = t || last ? name : NULL, .order = {order, rank}};
        if (t < 2) v = qdq_transpose(c->graph, v, attrs);
        tensor turned = transposed(&x, order);
        free(x.data);
        x = turned;
    }
    *numbers = x;
    return v;
}

static bool has_memory(const large_graph *c, const char *name) {
    qdq_error err;
    qdq_plan *plan = qdq_graph_compile(c->graph, &(qdq_compile_options){0}, &err);
    bool has = false;
    assert_non_null(plan);
    for (size_t i = 0; i < qdq_plan_get_stats(plan).value_count; i++)
        has |= !strcmp(qdq_plan_get_value(plan, i)->name, name);
    qdq_plan_destroy(plan);
    return has;
}

static void products_read_operands_before_their_transposes(void **unused) {
    (void)unused;
    for (size_t i = 0; i < UNIT_COUNT(examples); i++) {
        if (unit_left_out(i)) continue;
        const example *e = &examples[i];
        uint64_t state = large_state(i);
        large_graph c;
        tensor a, b;
        large_graph_begin(&c, e->what);
        qdq_value x = add_operand(&c, &e->a, "a", &state, &a);
        qdq_value y = add_operand(&c, &e->b, "b", &state, &b);
        qdq_matmul_attrs attrs = {.transpose_a = e->a.transposed ? QDQ_TRUE : QDQ_FALSE,
                                  .transpose_b = e->b.transposed ? QDQ_TRUE : QDQ_FALSE};
        large_output(&c, qdq_matmul(c.graph, x, y, attrs), product_of(&a, &b));
        if (has_memory(&c, "a") != (!e->a.read && e->a.orders[0]) ||
            has_memory(&c, "b") != (!e->b.read && e->b.orders[0]))
            fail_msg("%s: a transpose is read that should not be, or the other way round", e->what);
        free(a.data), free(b.data);
        large_graph_check(&c, i);
    }
}

// A case with the output x * transpose(x). Returns the transpose, named "b", and its numbers.
static qdq_value add_product_with_transpose(large_graph *c, const char *what, uint64_t seed,
                                            tensor *b) {
    const operand plain = {{HEADS, ROWS, SHALLOW}, {0}, false, false};
    uint64_t state = large_state(seed);
    tensor a;
    large_graph_begin(c, what);
    qdq_value x = add_operand(c, &plain, "x", &state, &a);
    *b = transposed(&a, (int64_t[]){0, 2, 1});
    qdq_transpose_attrs attrs = {.name = "b", .order = QDQ_INTS(0, 2, 1)};
    qdq_value y = qdq_transpose(c->graph, x, attrs);
    large_output(c, qdq_matmul(c->graph, x, y, (qdq_matmul_attrs){0}), product_of(&a, b));
    free(a.data);
    return y;
}

static void a_product_with_its_transpose_reads_one_value(void **unused) {
    (void)unused;
    large_graph c;
    tensor b;
    (void)add_product_with_transpose(&c, "x times its transpose", 3, &b);
    assert_false(has_memory(&c, "b"));
    free(b.data);
    large_graph_check(&c, 0);
}

static void a_transpose_with_other_readers_is_stored(void **unused) {
    (void)unused;
    large_graph c;
    tensor b;
    qdq_value y = add_product_with_transpose(&c, "a transpose that a sum reads too", 4, &b);
    tensor twice = large_like(&b, QDQ_FLOAT32);
    for (size_t i = 0; i < tensor_count(&b); i++) tensor_put(&twice, i, 2 * tensor_at(&b, i));
    large_output(&c, qdq_add(c.graph, y, y, (qdq_binary_attrs){0}), twice);
    assert_true(has_memory(&c, "b"));
    free(b.data);
    large_graph_check(&c, 0);
}

//---- Repeated matrices -------------------------------------------------------

// Keys or values for groups of queries: b repeats each of its matrices for `repeat` matrices of a.
typedef struct repeated_example {
    const char *what;
    qdq_shape a, b;
    int64_t repeat;
    bool turned, read;  // b is transposed after it is repeated; the product reads it as it was
} repeated_example;

#define SHAPE(...)                                                                          \
    {                                                                                       \
        .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .dims = { __VA_ARGS__ } \
    }

static const repeated_example repeated_examples[] = {
    {"a query of keys", SHAPE(1, 12, 1, 64), SHAPE(1, 3, COLUMNS, 64), 4, true, true},
    {"a query of values", SHAPE(1, 12, 1, DEEP), SHAPE(1, 3, DEEP, 64), 4, false, true},
    {"queries of keys", SHAPE(2, 6, 7, SHALLOW), SHAPE(2, 3, COLUMNS, SHALLOW), 2, true, true},
    {"queries of values", SHAPE(2, 6, ROWS, 40), SHAPE(2, 3, 40, 33), 2, false, true},
    {"one matrix for all", SHAPE(2, 5, 3, 9), SHAPE(2, 1, 9, 40), 5, false, true},
    {"fewer dims than the batch", SHAPE(2, 6, 3, 9), SHAPE(3, 9, 40), 2, false, true},
    {"three dims", SHAPE(6, 1, 9), SHAPE(3, 40, 9), 2, true, true},
    {"one column, of which the number of the row decides", SHAPE(4, 5, 9), SHAPE(2, 9, 1), 2, false,
     false},
    {"a of one matrix", SHAPE(1, 5, 9), SHAPE(2, 9, 40), 2, false, false},
};

static qdq_ints ints_of(const qdq_shape *shape) {
    return (qdq_ints){shape->dims, (size_t)shape->rank};
}

// Returns x with each matrix repeated, by way of a dim that is broadcast.
static qdq_value repeat_matrices(large_graph *c, qdq_value x, qdq_shape shape, int64_t repeat) {
    qdq_shape open = shape, wide, joined = shape;
    int dim = shape.rank - 2;
    memmove(open.dims + dim + 1, open.dims + dim, 2 * sizeof *open.dims);
    open.dims[dim] = 1, open.rank++;
    wide = open;
    wide.dims[dim] = repeat;
    joined.dims[dim - 1] *= repeat;
    qdq_value v = qdq_reshape(
        c->graph, x, (qdq_reshape_attrs){.shape = ints_of(&open), .special_zero = QDQ_FALSE});
    v = qdq_expand(c->graph, v, (qdq_expand_attrs){.shape = ints_of(&wide)});
    return qdq_reshape(
        c->graph, v,
        (qdq_reshape_attrs){.name = "b", .shape = ints_of(&joined), .special_zero = QDQ_FALSE});
}

static tensor repeated(const tensor *x, size_t repeat) {
    qdq_shape shape = x->shape;
    size_t matrix = rows_of(x) * columns_of(x);
    shape.dims[shape.rank - 3] *= (int64_t)repeat;
    tensor y = tensor_of(NULL, QDQ_FLOAT32, shape);
    for (size_t at = 0; at < tensor_count(&y); at++)
        tensor_put(&y, at, tensor_at(x, at / matrix / repeat * matrix + at % matrix));
    return y;
}

static tensor *add_small(large_graph *c, qdq_shape shape, uint64_t *state, qdq_value *v) {
    tensor *in;
    *v = large_input(c, QDQ_FLOAT32, shape, &in);
    for (size_t i = 0; i < tensor_count(in); i++)
        tensor_put(in, i, (double)large_pick(state, 9) - 4);
    return in;
}

static void products_read_matrices_before_they_are_repeated(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof repeated_examples / sizeof *repeated_examples; i++) {
        const repeated_example *e = &repeated_examples[i];
        int64_t order[QDQ_MAX_RANK];
        int rank = e->b.rank;
        uint64_t state = large_state(i);
        large_graph c;
        large_graph_begin(&c, e->what);
        qdq_value x, y;
        tensor *a = add_small(&c, e->a, &state, &x);
        tensor b = repeated(add_small(&c, e->b, &state, &y), (size_t)e->repeat);
        y = repeat_matrices(&c, y, e->b, e->repeat);
        for (int d = 0; d < rank; d++) order[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
        if (e->turned) {
            tensor turned = transposed(&b, order);
            free(b.data);
            b = turned;
            y = qdq_transpose(c.graph, y, (qdq_transpose_attrs){.order = {order, (size_t)rank}});
        }
        large_output(&c, qdq_matmul(c.graph, x, y, (qdq_matmul_attrs){0}), product_of(a, &b));
        if (has_memory(&c, "b") == e->read)
            fail_msg("%s: repeated matrices are read that should not be, or not", e->what);
        free(b.data);
        large_graph_check(&c, i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_read_matrices_before_they_are_repeated),
        cmocka_unit_test(products_read_operands_before_their_transposes),
        cmocka_unit_test(a_product_with_its_transpose_reads_one_value),
        cmocka_unit_test(a_transpose_with_other_readers_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
