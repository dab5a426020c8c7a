// SPDX-License-Identifier: Apache-2.0
// Large constants are read from their file only when needed: they give the same bits as constants
// in memory, take little memory, and it is an error if the file changes meanwhile.
#include <qdq/qdq.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ops/gemm/gemm_read.h"
#include "tests/unit.h"

//---- The same bits ----------------------------------------------------------

enum { MOST = 1 << 19 };

static uint32_t state_of_noise = 1;

static uint32_t noise(void) {
    state_of_noise = state_of_noise * 1664525 + 1013904223;
    return state_of_noise >> 8;
}

// A constant with more elements than loading a graph reads.
static qdq_value many(qdq_graph *g, const char *name, qdq_dtype dtype, qdq_shape shape) {
    static float floats[MOST];
    static uint16_t halves[MOST];
    static int8_t bytes[MOST];
    size_t count = qdq_shape_count(shape);
    assert_in_range(count, 4097, MOST);
    bool narrow = dtype == QDQ_INT4;
    for (size_t i = 0; i < count; i++) {
        floats[i] = (float)(int)(noise() % 2001) / 1000 - 1;
        halves[i] = (uint16_t)(0x3C00 + noise() % 0x400);
        bytes[i] = (int8_t)((int)(noise() % (narrow ? 16 : 256)) - (narrow ? 8 : 128));
    }
    const void *data = dtype == QDQ_FLOAT32    ? (const void *)floats
                       : dtype == QDQ_BFLOAT16 ? (const void *)halves
                                               : (const void *)bytes;
    return qdq_constant(g, name, dtype, shape, data);
}

static qdq_value input(qdq_graph *g, qdq_shape shape) {
    return qdq_input(g, "x", QDQ_FLOAT32, shape);
}

static qdq_value rows_of_k(qdq_graph *g) {
    return qdq_matmul(g, input(g, QDQ_SHAPE(3, 700)), many(g, "w", QDQ_FLOAT32, QDQ_SHAPE(700, 70)),
                      (qdq_matmul_attrs){0});
}

static qdq_value columns_of_k(qdq_graph *g) {
    return qdq_matmul(g, input(g, QDQ_SHAPE(3, 700)),
                      many(g, "w", QDQ_FLOAT32, QDQ_SHAPE(180, 700)),
                      (qdq_matmul_attrs){.transpose_b = QDQ_TRUE});
}

static qdq_value matrices(qdq_graph *g) {
    return qdq_matmul(g, input(g, QDQ_SHAPE(3, 2, 60)),
                      many(g, "w", QDQ_FLOAT32, QDQ_SHAPE(3, 60, 50)), (qdq_matmul_attrs){0});
}

static qdq_value bfloats(qdq_graph *g) {
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(5, 1100));
    return qdq_matmul(g, x, many(g, "w", QDQ_BFLOAT16, QDQ_SHAPE(1100, 40)), (qdq_matmul_attrs){0});
}

// Dequantized codes, also with more scales than loading a graph reads.
static qdq_value codes(qdq_graph *g, qdq_dtype dtype, qdq_shape shape, int64_t axis) {
    static float scales[5000];
    for (size_t i = 0; i < 5000; i++) scales[i] = (float)(1 + noise() % 64) / 64;
    qdq_value scale = qdq_constant(g, "s", QDQ_FLOAT32, QDQ_SHAPE(shape.dims[axis]), scales);
    return qdq_dequantize(
        g, many(g, "w", dtype, shape),
        (qdq_dequantize_attrs){
            .qtype = QDQ_PER_CHANNEL, .axis = QDQ_INT(axis), .scale = scale, .dtype = QDQ_FLOAT32});
}

static qdq_value coded_rows(qdq_graph *g) {
    return qdq_matmul(g, input(g, QDQ_SHAPE(2, 600)), codes(g, QDQ_INT4, QDQ_SHAPE(600, 200), 1),
                      (qdq_matmul_attrs){0});
}

static qdq_value coded_columns(qdq_graph *g) {
    return qdq_matmul(g, input(g, QDQ_SHAPE(2, 20)), codes(g, QDQ_INT8, QDQ_SHAPE(5000, 20), 0),
                      (qdq_matmul_attrs){.transpose_b = QDQ_TRUE});
}

static qdq_value real(qdq_graph *g, qdq_value codes_of_it) {
    return qdq_dequantize(g, codes_of_it,
                          (qdq_dequantize_attrs){.scales = QDQ_SCALES(0.5f), .dtype = QDQ_FLOAT32});
}

// Integer products: bytes by rows and by columns, and codes that are moved first.
static qdq_value integers(qdq_graph *g) {
    qdq_value x = qdq_quantize(g, input(g, QDQ_SHAPE(4, 2200)),
                               (qdq_quantize_attrs){.scales = QDQ_SCALES(0.25f)});
    qdq_value w = real(g, many(g, "w", QDQ_INT8, QDQ_SHAPE(2200, 40)));
    qdq_value v = real(g, many(g, "v", QDQ_INT8, QDQ_SHAPE(150, 40)));
    qdq_value y = qdq_matmul(g, real(g, x), w, (qdq_matmul_attrs){0});
    y = qdq_quantize(g, y, (qdq_quantize_attrs){.scales = QDQ_SCALES(8)});
    v = qdq_transpose(g, v, (qdq_transpose_attrs){.order = QDQ_INTS(1, 0)});
    return qdq_matmul(g, real(g, y), v, (qdq_matmul_attrs){0});
}

static qdq_value integer_op(qdq_graph *g) {
    qdq_value x = qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(4, 100));
    return qdq_matmul_integer(g, x, many(g, "w", QDQ_INT8, QDQ_SHAPE(100, 60)),
                              (qdq_matmul_integer_attrs){0});
}

static qdq_value convolve(qdq_graph *g, qdq_shape x, qdq_shape w, qdq_weights_format format,
                          int64_t groups) {
    return qdq_convolution(g, input(g, x), many(g, "w", QDQ_FLOAT32, w),
                           (qdq_convolution_attrs){.strides = QDQ_INTS(1, 1),
                                                   .dilations = QDQ_INTS(1, 1),
                                                   .groups = QDQ_INT(groups),
                                                   .data_format = QDQ_NCX,
                                                   .weights_format = format});
}

static qdq_value taps_last(qdq_graph *g) {
    return convolve(g, QDQ_SHAPE(1, 30, 6, 6), QDQ_SHAPE(40, 30, 3, 3), QDQ_OIX, 1);
}

static qdq_value taps_first(qdq_graph *g) {
    return convolve(g, QDQ_SHAPE(1, 30, 6, 6), QDQ_SHAPE(3, 3, 30, 40), QDQ_XIO, 1);
}

static qdq_value groups_apart(qdq_graph *g) {
    return convolve(g, QDQ_SHAPE(1, 40, 6, 6), QDQ_SHAPE(80, 20, 3, 3), QDQ_OIX, 2);
}

static qdq_value groups_between(qdq_graph *g) {
    return convolve(g, QDQ_SHAPE(1, 40, 6, 6), QDQ_SHAPE(3, 3, 20, 80), QDQ_XIO, 2);
}

static qdq_value channels_alone(qdq_graph *g) {
    return convolve(g, QDQ_SHAPE(1, 700, 9, 9), QDQ_SHAPE(700, 1, 3, 3), QDQ_OIX, 700);
}

static qdq_value few_channels(qdq_graph *g) {
    return convolve(g, QDQ_SHAPE(1, 1400, 4, 4), QDQ_SHAPE(700, 2, 3, 3), QDQ_OIX, 700);
}

// Output channels that are read in three parts. With two groups a part has channels of both.
enum {
    INPUTS = 48,
    PART = QDQ_GEMM_COLUMNS_ROOM / sizeof(float) / (INPUTS * 9),
    PARTS = 2 * PART + 94
};

static qdq_value channels_in_parts(qdq_graph *g) {
    return convolve(g, QDQ_SHAPE(1, INPUTS, 12, 12), QDQ_SHAPE(PARTS, INPUTS, 3, 3), QDQ_OIX, 1);
}

static qdq_value groups_in_parts(qdq_graph *g) {
    return convolve(g, QDQ_SHAPE(1, 2 * INPUTS, 12, 12), QDQ_SHAPE(PARTS, INPUTS, 3, 3), QDQ_OIX,
                    2);
}

static qdq_value no_weights(qdq_graph *g) {
    qdq_value w = many(g, "w", QDQ_FLOAT32, QDQ_SHAPE(9000));
    qdq_output(g, "w", w);
    return qdq_add(g, input(g, QDQ_SHAPE(9000)), w, (qdq_binary_attrs){0});
}

static qdq_value (*const makers[])(qdq_graph *) = {
    rows_of_k,      columns_of_k, matrices,          bfloats,         coded_rows,   coded_columns,
    integers,       integer_op,   taps_last,         taps_first,      groups_apart, groups_between,
    channels_alone, few_channels, channels_in_parts, groups_in_parts, no_weights};

// The elements of a graph's first output; the caller frees them.
static void *results(qdq_graph *g, const qdq_compile_options *options, size_t *bytes) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, options, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    assert_string_equal(err.text, "");
    for (size_t i = 1; i < qdq_plan_input_count(plan); i++) {
        const qdq_tensor_info *zero = qdq_plan_input(plan, i);
        assert_int_equal(qdq_exec_write(exec, zero->name, zero->dtype, "\5", 1, NULL), QDQ_OK);
    }
    const qdq_tensor_info *x = qdq_plan_input(plan, 0), *y = qdq_plan_output(plan, 0);
    uint8_t *in = malloc(x->bytes);
    for (size_t i = 0; i < x->bytes; i++) in[i] = (uint8_t)(i % 4 == 3 ? 0x3F : i * 37 % 127);
    void *out = malloc(y->bytes);
    assert_int_equal(qdq_exec_bind(exec, x->name, in, x->bytes, NULL), QDQ_OK);
    assert_int_equal(qdq_exec_bind(exec, y->name, out, y->bytes, NULL), QDQ_OK);
    qdq_exec_run(exec);
    *bytes = y->bytes;
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    free(in);
    return out;
}

static qdq_graph *load(void) {
    char path[256];
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_load(unit_path(path, "g.json"), NULL, &err);
    assert_string_equal(err.text, "");
    return g;
}

static void write_graph(const qdq_graph *g) {
    char path[256];
    qdq_error err = {0};
    (void)qdq_graph_write(g, unit_path(path, "g.json"), &err);
    assert_string_equal(err.text, "");
}

static void constants_in_their_file_give_the_same_bits(void **state) {
    (void)state;
    static const qdq_compile_options modes[] = {{0}, {.fast = true}, {.materialize = true}};
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        qdq_graph *built = qdq_graph_create("g", NULL);
        qdq_output(built, "y", makers[i](built));
        write_graph(built);
        qdq_graph *loaded = load();
        for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
            size_t bytes, again;
            void *expected = results(built, &modes[m], &bytes);
            void *found = results(loaded, &modes[m], &again);
            assert_int_equal(bytes, again);
            assert_memory_equal(expected, found, bytes);
            free(expected), free(found);
        }
        qdq_graph_destroy(built), qdq_graph_destroy(loaded);
    }
}

//---- Shared -----------------------------------------------------------------

enum { SIDE = 80 };

// Three products with one matrix: as it is, the same again, and transposed. copy_of[i] says which
// copy of the matrix product i reads.
static qdq_graph *products_of(const int copy_of[3], bool quantized) {
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = input(g, QDQ_SHAPE(2, SIDE)), w[3];
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%d", i);
        state_of_noise = 1;
        w[i] = many(g, name, quantized ? QDQ_INT8 : QDQ_FLOAT32, QDQ_SHAPE(SIDE, SIDE));
        if (quantized) w[i] = real(g, w[i]);
    }
    for (int i = 0; i < 3; i++)
        x = qdq_matmul(g, x, w[copy_of[i]],
                       (qdq_matmul_attrs){.transpose_b = i == 2 ? QDQ_TRUE : QDQ_FALSE});
    qdq_output(g, "y", x);
    return g;
}

static void a_shared_matrix_gives_the_same_bits(void **state) {
    (void)state;
    for (int how = 0; how < 4; how++) {
        qdq_compile_options options = {.fast = how & 1};
        qdq_graph *shared = products_of((const int[]){0, 0, 0}, how & 2);
        qdq_graph *apart = products_of((const int[]){0, 1, 2}, how & 2);
        size_t bytes;
        void *expected = results(apart, &options, &bytes);
        void *found = results(shared, &options, &bytes);
        assert_memory_equal(expected, found, bytes);
        free(expected), free(found);
        qdq_graph_destroy(shared), qdq_graph_destroy(apart);
    }
}

// A zero point computed at run time keeps the bytes from being packed as they are.
static qdq_graph *integer_products_of(bool shared) {
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(4, SIDE));
    state_of_noise = 1;
    qdq_value w = many(g, "w", QDQ_INT8, QDQ_SHAPE(SIDE, SIDE));
    state_of_noise = 1;
    qdq_value v = shared ? w : many(g, "v", QDQ_INT8, QDQ_SHAPE(SIDE, SIDE));
    qdq_value zero = qdq_input(g, "zero", QDQ_UINT8, QDQ_SHAPE(1));
    qdq_value plain = qdq_matmul_integer(g, x, w, (qdq_matmul_integer_attrs){0});
    qdq_value y = qdq_matmul_integer(g, x, v, (qdq_matmul_integer_attrs){.a_zero_point = zero});
    qdq_output(g, "y", y);
    qdq_output(g, "plain", plain);
    return g;
}

static void shared_integers_give_the_same_bits(void **state) {
    (void)state;
    qdq_graph *shared = integer_products_of(true), *apart = integer_products_of(false);
    size_t bytes;
    void *expected = results(apart, NULL, &bytes), *found = results(shared, NULL, &bytes);
    assert_memory_equal(expected, found, bytes);
    free(expected), free(found);
    qdq_graph_destroy(shared), qdq_graph_destroy(apart);
}

//---- Memory -----------------------------------------------------------------

static qdq_value four_products(qdq_graph *g) {
    qdq_value x = input(g, QDQ_SHAPE(2, 256));
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "w%d", i);
        x = qdq_matmul(g, x, many(g, name, QDQ_FLOAT32, QDQ_SHAPE(256, 256)),
                       (qdq_matmul_attrs){0});
    }
    return x;
}

static void a_graph_and_its_plan_keep_one_copy_of_a_constant(void **state) {
    (void)state;
    qdq_graph *built = qdq_graph_create("g", NULL);
    qdq_output(built, "y", four_products(built));
    write_graph(built);
    qdq_graph_destroy(built);
    unit_memory memory;
    qdq_graph_options options = {.allocator = unit_memory_init(&memory, 0)};
    char path[256];
    qdq_graph *g = qdq_graph_load(unit_path(path, "g.json"), &options, NULL);
    assert_true(memory.live_bytes < 64 * 1024);
    qdq_plan *plan = qdq_graph_compile(g, NULL, NULL);
    size_t kept = qdq_plan_get_stats(plan).constant_bytes;
    assert_int_equal(kept, 4 * 256 * 256 * sizeof(float));
    assert_true(memory.live_bytes < kept + kept / 5);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
    unit_memory_check(&memory);
}

// ONNX packs two elements of int4 in a byte. An odd number of them precedes each part that is read.
static void packed_elements_stay_in_a_model(void **state) {
    (void)state;
    char path[256];
    size_t bytes;
    qdq_error err = {0};
    qdq_graph *built = qdq_graph_create("g", &(qdq_graph_options){.target = "onnx"});
    qdq_value w = codes(built, QDQ_INT4, QDQ_SHAPE(333, 77), 1);
    qdq_output(built, "y",
               qdq_matmul(built, input(built, QDQ_SHAPE(2, 333)), w, (qdq_matmul_attrs){0}));
    assert_int_equal(qdq_graph_write(built, unit_path(path, "g.onnx"), &err), QDQ_OK);
    unit_memory memory;
    qdq_graph_options options = {.allocator = unit_memory_init(&memory, 0)};
    qdq_graph *g = qdq_graph_load(path, &options, &err);
    assert_string_equal(err.text, "");
    assert_true(memory.live_bytes < 333 * 77);
    void *expected = results(built, NULL, &bytes), *found = results(g, NULL, &bytes);
    assert_memory_equal(expected, found, bytes);
    const void *data = qdq_value_data(g, qdq_graph_find(g, "w"));
    assert_memory_equal(data, qdq_value_data(built, qdq_graph_find(built, "w")), 333 * 77);
    free(expected), free(found);
    qdq_graph_destroy(g), qdq_graph_destroy(built);
    unit_memory_check(&memory);
}

// A graph that needs a file of constants has only short ones in its text, and reads the same.
static void medium_constants_go_to_a_file_that_is_needed(void **state) {
    (void)state;
    static const int64_t counts[] = {5000, 100, 4};
    static const char *const names[] = {"large", "medium", "short"};
    char path[256], text[8192];
    qdq_graph *built = qdq_graph_create("g", NULL);
    qdq_value y = input(built, QDQ_SHAPE(1));
    for (size_t i = 0; i < 3; i++) {
        float elements[5000];
        for (int64_t k = 0; k < counts[i]; k++) elements[k] = (float)(noise() % 2001) / 1000;
        qdq_value w = qdq_constant(built, names[i], QDQ_FLOAT32, QDQ_SHAPE(counts[i], 1), elements);
        qdq_output(built, names[i], qdq_add(built, y, w, (qdq_binary_attrs){0}));
    }
    write_graph(built);
    FILE *file = fopen(unit_path(path, "g.json"), "rb");
    size_t length = fread(text, 1, sizeof text - 1, file);
    assert_int_equal(fclose(file), 0);
    text[length] = '\0';
    const char *data = strstr(text, "\"data\"");
    assert_non_null(data);
    assert_null(strstr(data + 1, "\"data\""));
    qdq_graph *g = load();
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(qdq_value_data(g, qdq_graph_find(g, names[i])),
                            qdq_value_data(built, qdq_graph_find(built, names[i])),
                            (size_t)counts[i] * sizeof(float));
    qdq_graph_destroy(g), qdq_graph_destroy(built);
}

static void elements_are_read_on_demand(void **state) {
    (void)state;
    qdq_graph *built = qdq_graph_create("g", NULL);
    qdq_output(built, "y", rows_of_k(built));
    write_graph(built);
    qdq_graph *g = load();
    qdq_value w = qdq_graph_find(g, "w");
    assert_true(qdq_value_is_constant(g, w));
    assert_false(qdq_value_is_constant(g, qdq_graph_find(g, "x")));
    const void *data = qdq_value_data(g, w);
    assert_memory_equal(data, qdq_value_data(built, qdq_graph_find(built, "w")), 700 * 70 * 4);
    assert_ptr_equal(data, qdq_value_data(g, w));
    qdq_graph_destroy(g), qdq_graph_destroy(built);
}

//---- Files that change ------------------------------------------------------

// Loads a graph, lets `change` modify its constants file, and compiles. The file's time differs
// afterwards.
static qdq_status compile_after(void (*change)(const char *path)) {
    char path[256];
    qdq_error err = {0};
    qdq_graph *built = qdq_graph_create("g", NULL);
    qdq_output(built, "y", rows_of_k(built));
    write_graph(built);
    qdq_graph *g = load();
    unit_path(path, "g.safetensors");
    change(path);
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    qdq_graph *part = qdq_graph_extract(g, 0, NULL, NULL);
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    assert_int_equal(plan == NULL, err.status != QDQ_OK);
    if (!plan) {
        assert_non_null(strstr(err.text, "g.safetensors"));
        assert_null(qdq_value_data(g, qdq_graph_find(g, "w")));
        assert_int_equal(qdq_graph_write(g, unit_path(path, "again.json"), &err), QDQ_ERR_IO);
    }
    qdq_error of_part = {0};
    qdq_plan *plan_of_part = qdq_graph_compile(part, NULL, &of_part);
    assert_int_equal(of_part.status, err.status);
    qdq_plan_destroy(plan), qdq_plan_destroy(plan_of_part);
    qdq_graph_destroy(part), qdq_graph_destroy(g), qdq_graph_destroy(built);
    return err.status;
}

static void write_a_byte(const char *path) {
    FILE *file = fopen(path, "r+b");
    assert_int_equal(fseek(file, -1, SEEK_END), 0);
    assert_int_equal(fputc(7, file), 7);
    assert_int_equal(fclose(file), 0);
}

static void cut(const char *path) { assert_int_equal(truncate(path, 1000), 0); }

static void replace(const char *path) {
    assert_int_equal(unlink(path), 0);
    unit_write(path, "other", 5);
}

static void a_changed_or_truncated_file_is_an_error(void **state) {
    (void)state;
    assert_int_equal(compile_after(write_a_byte), QDQ_ERR_IO);
    assert_int_equal(compile_after(cut), QDQ_ERR_IO);
}

static void a_replaced_file_is_still_read(void **state) {
    (void)state;
    assert_int_equal(compile_after(replace), QDQ_OK);
}

static void a_graph_may_be_written_over_its_own_files(void **state) {
    (void)state;
    qdq_graph *built = qdq_graph_create("g", NULL);
    qdq_output(built, "y", rows_of_k(built));
    write_graph(built);
    qdq_graph *g = load();
    write_graph(g);
    qdq_graph *again = load();
    size_t bytes;
    void *expected = results(built, NULL, &bytes), *found = results(again, NULL, &bytes);
    assert_memory_equal(expected, found, bytes);
    free(expected), free(found);
    qdq_graph_destroy(again), qdq_graph_destroy(g), qdq_graph_destroy(built);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, unit_folder_begin, unit_folder_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(constants_in_their_file_give_the_same_bits),
        cmocka_unit_test(a_shared_matrix_gives_the_same_bits),
        cmocka_unit_test(shared_integers_give_the_same_bits),
        IN_FOLDER(a_graph_and_its_plan_keep_one_copy_of_a_constant),
        IN_FOLDER(packed_elements_stay_in_a_model),
        IN_FOLDER(medium_constants_go_to_a_file_that_is_needed),
        IN_FOLDER(elements_are_read_on_demand),
        IN_FOLDER(a_changed_or_truncated_file_is_an_error),
        IN_FOLDER(a_replaced_file_is_still_read),
        IN_FOLDER(a_graph_may_be_written_over_its_own_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
