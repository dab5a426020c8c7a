// SPDX-License-Identifier: Apache-2.0
// Tensor ops read operands where they lie: in tiles of a tiled plan, without a copy to rows.
// Results have the bits of a plan of rows, whose operands a function reads in place, for shapes
// whose last tiles are partly padding, in each instruction set.
#include <stdio.h>

#include "include/qdq/fingerprint.h"
#include "include/qdq/qdq.h"
#include "tests/unit.h"

// A graph whose step number `step` computes y from values that lie in tiles, made of inputs x and
// z.
typedef struct tile_form {
    const char *name, *nodes;
    const char *output;
    uint32_t dtypes;  // of the inputs: a bit 1 << dtype
    int least_rank;
    size_t step;
    bool in_chunks;
} tile_form;

#define FLOATS (1u << QDQ_FLOAT32 | 1u << QDQ_FLOAT16 | 1u << QDQ_BFLOAT16)
#define NODE(op, name, inputs, attrs) \
    "{\"op\":\"" op "\",\"name\":\"" name "\",\"inputs\":{" inputs "},\"attrs\":{" attrs "}}"
#define H NODE("ReLU", "h", "\"x\":\"x\"", "")
#define SLICES(op, attrs) H "," NODE(op, "y", "\"x\":\"h\"", attrs)

static const tile_form slice_forms[] = {
    {"SoftMax of rows", SLICES("SoftMax", "\"axis\":-1"), "y", FLOATS, 1, 1, true},
    {"SoftMax of columns", SLICES("SoftMax", "\"axis\":0"), "y", FLOATS, 2, 1, true},
    {"LogSoftmax", SLICES("LogSoftmax", "\"axis\":-1"), "y", FLOATS, 1, 1, true},
    {"LayerNorm", SLICES("LayerNorm", "\"keep_stats\":false"), "y", FLOATS, 1, 1, true},
    {"LayerNorm of all", SLICES("LayerNorm", "\"begin_norm_axis\":0,\"keep_stats\":false"), "y",
     FLOATS, 2, 1, true},
    {"ReduceMax of rows", SLICES("ReduceMax", "\"axes\":[-1]"), "y", FLOATS, 2, 1, false},
    {"ReduceMean of columns", SLICES("ReduceMean", "\"axes\":[-2]"), "y", FLOATS, 2, 1, false},
    {"ReduceSum of the first dim", SLICES("ReduceSum", "\"axes\":[0]"), "y", FLOATS, 2, 1, false},
};

static const qdq_shape slice_shapes[] = {
    {1, {1}},        {1, {33}},       {1, {5000}},        {2, {16, 16}},
    {2, {3, 100}},   {2, {33, 65}},   {2, {31, 160}},     {2, {100, 48}},
    {2, {40, 1040}}, {2, {3, 9000}},  {3, {2, 33, 20}},   {3, {3, 70, 96}},
    {3, {5, 1, 64}}, {3, {1, 37, 4}}, {4, {2, 3, 5, 17}}, {4, {1, 2, 64, 33}},
};

// Another step reads y, so that a product of floats stores it in tiles without a link.
#define MAKE(op, attrs) NODE(op, "h", "\"x\":\"x\"", attrs) "," NODE(op, "k", "\"x\":\"z\"", attrs)
#define PRODUCT(attrs)                                 \
    MAKE("ReLU", "")                                   \
    "," NODE("MatMul", "y", "\"a\":\"h\",\"b\":\"k\"", \
             attrs) "," NODE("ReduceMax", "s", "\"x\":\"y\"", "\"axes\":[-1]")
#define INTEGER_PRODUCT                 \
    MAKE("Quantize", "\"scales\":0.05") \
    "," NODE("MatMulInteger", "y", "\"a\":\"h\",\"b\":\"k\"", "")

static const tile_form product_forms[] = {
    {"MatMul", PRODUCT(""), "s", FLOATS, 2, 2, true},
    {"MatMulInteger", INTEGER_PRODUCT, "y", 1u << QDQ_FLOAT32, 2, 2, true},
};
static const tile_form turned_forms[] = {
    {"MatMul of transposed b", PRODUCT("\"transpose_b\":true"), "s", FLOATS, 2, 2, true},
};

// Rows, depth and columns.
static const size_t product_sizes[][3] = {
    {1, 1, 1}, {33, 65, 34}, {61, 130, 97}, {110, 300, 70}, {170, 520, 290}};

static void shape_text(qdq_shape shape, char *out) {
    for (int i = 0; i < shape.rank; i++)
        out += sprintf(out, "%c%d", i ? ',' : '[', (int)shape.dims[i]);
    (void)sprintf(out, "]");
}

static qdq_graph *graph_of(const tile_form *form, qdq_dtype dtype, qdq_shape x, qdq_shape z) {
    char text[4096], of_x[64], of_z[64];
    const char *name = qdq_dtype_name(dtype);
    qdq_error err = {0};
    shape_text(x, of_x), shape_text(z, of_z);
    int length = snprintf(text, sizeof text,
                          "{\"format\":\"qdq/1\",\"inputs\":[{\"name\":\"x\",\"dtype\":\"%s\","
                          "\"shape\":%s},{\"name\":\"z\",\"dtype\":\"%s\",\"shape\":%s}],"
                          "\"nodes\":[%s],\"outputs\":[{\"name\":\"o\",\"value\":\"%s\"}]}",
                          name, of_x, name, of_z, form->nodes, form->output);
    qdq_graph *g = qdq_graph_parse(text, (size_t)length, form->name, NULL, NULL, &err);
    assert_string_equal(err.text, "");
    return g;
}

// Runs the graph on seeded inputs. Returns y, to be freed.
static void *run(qdq_graph *g, const tile_form *form, qdq_plan_layout layout, const char *isa,
                 size_t *bytes) {
    static const char *const keep[] = {"y"};
    qdq_error err = {0};
    qdq_compile_options options = {.layout = layout, .isa = isa, .keep = keep, .keep_count = 1};
    qdq_exec_options exec_options = {.poison = true};
    if (layout == QDQ_PLAN_TILES) exec_options.parallel = qdq_parallel_openmp(2);
    exec_options.parallel.least = 0;
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    if (!plan) fail_msg("%s: %s", form->name, err.text);
    // A result that is not handed over in chunks is written to rows first.
    const qdq_tensor_info *info = qdq_plan_kept(plan, 0);
    size_t rows = form->in_chunks ? 0 : (info->bytes + 63) / 64 * 64;
    if (qdq_plan_get_step(plan, form->step)->scratch_bytes > rows)
        fail_msg("%s copies operands to rows", form->name);
    qdq_exec *exec = qdq_exec_create(plan, &exec_options, &err);
    (void)qdq_exec_fill(exec, g, 7, &err);
    qdq_exec_run(exec);
    *bytes = info->bytes;
    void *y = malloc(info->bytes);
    (void)qdq_exec_read(exec, "y", info->dtype, y, qdq_shape_count(info->shape), &err);
    assert_string_equal(err.text, "");
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    return y;
}

static void check(const tile_form *form, qdq_shape x, qdq_shape z) {
    for (int dtype = 1; dtype < QDQ_DTYPE_COUNT; dtype++) {
        if (!(form->dtypes >> dtype & 1)) continue;
        qdq_graph *g = graph_of(form, (qdq_dtype)dtype, x, z);
        for (size_t i = 0; qdq_isa_get(i).name; i++) {
            if (!qdq_isa_get(i).available) continue;
            const char *isa = qdq_isa_get(i).name;
            size_t bytes, same;
            char *wanted = run(g, form, QDQ_PLAN_ROWS, isa, &bytes), dims[64];
            char *got = run(g, form, QDQ_PLAN_TILES, isa, &same);
            shape_text(x, dims);
            if (same != bytes || memcmp(wanted, got, bytes) != 0)
                fail_msg("%s of %s %s with %s", form->name, qdq_dtype_name((qdq_dtype)dtype), dims,
                         isa);
            free(wanted), free(got);
        }
        qdq_graph_destroy(g);
    }
}

//---- Claims -----------------------------------------------------------------

static void slices_of_tiles_have_the_bits_of_rows(void **state) {
    (void)state;
    for (size_t f = 0; f < UNIT_COUNT(slice_forms); f++)
        for (size_t s = 0; s < UNIT_COUNT(slice_shapes); s++)
            if (slice_shapes[s].rank >= slice_forms[f].least_rank)
                check(&slice_forms[f], slice_shapes[s], slice_shapes[s]);
}

// Returns the shape of matrices in a batch of 1 or more.
static qdq_shape matrices(size_t batch, size_t rows, size_t columns) {
    if (batch == 1) return QDQ_SHAPE((int64_t)rows, (int64_t)columns);
    return QDQ_SHAPE((int64_t)batch, (int64_t)rows, (int64_t)columns);
}

static void products_of_tiles_have_the_bits_of_rows(void **state) {
    (void)state;
    for (size_t s = 0; s < UNIT_COUNT(product_sizes) - unit_slow(); s++)
        for (size_t batch = 1; batch <= (s < 3 ? 3 : 1); batch += 2) {
            size_t m = product_sizes[s][0], k = product_sizes[s][1], n = product_sizes[s][2];
            for (size_t f = 0; f < UNIT_COUNT(product_forms); f++)
                check(&product_forms[f], matrices(batch, m, k), matrices(batch, k, n));
            for (size_t f = 0; f < UNIT_COUNT(turned_forms); f++)
                check(&turned_forms[f], matrices(batch, m, k), matrices(batch, n, k));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(slices_of_tiles_have_the_bits_of_rows),
                                       cmocka_unit_test(products_of_tiles_have_the_bits_of_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
