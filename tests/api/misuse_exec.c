// SPDX-License-Identifier: Apache-2.0
// Misuse of exec.h and tensor_file.h, and of the functions of inspect.h about plans.
#include "tests/api/misuse.h"

static const char not_utf8[] = "a\xFF";

typedef struct running {
    qdq_graph *graph;
    qdq_plan *plan;
    qdq_exec *exec;
} running;

static running start_with(const qdq_compile_options *options) {
    running r = {.graph = misuse_small_graph()};
    r.plan = qdq_graph_compile(r.graph, options, NULL);
    r.exec = qdq_exec_create(r.plan, NULL, NULL);
    EXPECT(r.exec);
    return r;
}

static running start(void) { return start_with(NULL); }
static running start_tiled(void) {
    return start_with(&(qdq_compile_options){.layout = QDQ_PLAN_TILES, .keep_all = true});
}

static void stop(running *r) {
    qdq_exec_destroy(r->exec), qdq_plan_destroy(r->plan), qdq_graph_destroy(r->graph);
}

// Each enum field of qdq_numerics in turn, out of its range.
static void check_numerics(qdq_graph *g, unsigned number) {
    qdq_numerics n;
    const qdq_compile_options options = {.numerics = &n};
#define BAD(field)                            \
    n = (qdq_numerics){0};                    \
    memcpy(&n.field, &number, sizeof number); \
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_compile(g, &options, err));
    BAD(rounding)
    BAD(scaling)
    BAD(zero_point_order)
    BAD(overflow)
    BAD(nan)
    BAD(subtraction)
    BAD(requantize_form)
    BAD(bfloat16_store)
    BAD(float_overflow)
    BAD(choice)
    BAD(multiply_add)
    BAD(bfloat16_load)
    BAD(block_float_store)
    BAD(float_ops)
    BAD(pair_sums)
    BAD(qlinear)
    BAD(scale_dtype)
    BAD(reciprocal_dtype)
    BAD(middle_dtype)
    BAD(quantize_step_dtype)
    BAD(dequantize_step_dtype)
    BAD(requantize_dtype)
#undef BAD
}

CASE(qdq_graph_compile) {
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_compile(NULL, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_compile(g, &(qdq_compile_options){.target = not_utf8}, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_compile(g, &(qdq_compile_options){.isa = not_utf8}, err));
    for (int i = 0; i < MISUSE_NUMBERS; i++) {
        qdq_compile_options options = {.float_storage = (qdq_float_storage)misuse_numbers[i]};
        FAILS(QDQ_ERR_ARGUMENT, qdq_graph_compile(g, &options, err));
        check_numerics(g, misuse_numbers[i]);
    }
    static const char *const names[] = {"x", "absent", NULL, not_utf8};
    for (size_t i = 1; i < 4; i++) {
        qdq_compile_options options = {.keep = &names[i], .keep_count = 1};
        FAILS(QDQ_ERR_ARGUMENT, qdq_graph_compile(g, &options, err));
    }
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_compile(g, &(qdq_compile_options){.keep_count = 1}, err));
    const qdq_compile_options layouts[] = {
        {.layout = (qdq_plan_layout)-1},
        {.layout = (qdq_plan_layout)3},
        {.layout = QDQ_PLAN_ROWS, .materialize = true},
        {.layout = QDQ_PLAN_ROWS, .device = qdq_device_find("n150", NULL)}};
    for (size_t i = 0; i < 4; i++) FAILS(QDQ_ERR_ARGUMENT, qdq_graph_compile(g, &layouts[i], err));
    const qdq_compile_options fast[] = {{.fast = true, .layout = QDQ_PLAN_TILES},
                                        {.fast = true, .keep_all = true},
                                        {.fast = true, .materialize = true},
                                        {.fast = true, .keep = names, .keep_count = 1}};
    for (size_t i = 0; i < 4; i++) FAILS(QDQ_ERR_ARGUMENT, qdq_graph_compile(g, &fast[i], err));
    qdq_graph_destroy(g);
}

CASE(qdq_plan_destroy) { qdq_plan_destroy(NULL); }
CASE(qdq_plan_input_count) { EXPECT(qdq_plan_input_count(NULL) == 0); }
CASE(qdq_plan_output_count) { EXPECT(qdq_plan_output_count(NULL) == 0); }

CASE(qdq_plan_input) {
    running r = start();
    EXPECT(!qdq_plan_input(NULL, 0) && !qdq_plan_input(r.plan, SIZE_MAX));
    stop(&r);
}

CASE(qdq_plan_output) {
    running r = start();
    EXPECT(!qdq_plan_output(NULL, 0) && !qdq_plan_output(r.plan, SIZE_MAX));
    stop(&r);
}

CASE(qdq_plan_kept_count) { EXPECT(qdq_plan_kept_count(NULL) == 0); }

CASE(qdq_plan_kept) {
    running r = start();
    EXPECT(!qdq_plan_kept(NULL, 0) && !qdq_plan_kept(r.plan, 0) &&
           !qdq_plan_kept(r.plan, SIZE_MAX));
    stop(&r);
}

CASE(qdq_plan_get_stats) { EXPECT(qdq_plan_get_stats(NULL).step_count == 0); }

// A plan for a device, and one without.
static void misuse_device_plans(qdq_plan *out[2]) {
    qdq_graph *g = misuse_small_graph();
    qdq_compile_options options = {.device = qdq_devices(NULL)};
    out[0] = qdq_graph_compile(g, &options, NULL);
    out[1] = qdq_graph_compile(g, NULL, NULL);
    EXPECT(out[0] && out[1]);
    qdq_graph_destroy(g);
}

static void misuse_destroy_plans(qdq_plan *plans[2]) {
    qdq_plan_destroy(plans[0]);
    qdq_plan_destroy(plans[1]);
}

CASE(qdq_plan_device) {
    qdq_plan *plans[2];
    misuse_device_plans(plans);
    EXPECT(!qdq_plan_device(NULL) && !qdq_plan_device(plans[1]) && qdq_plan_device(plans[0]));
    misuse_destroy_plans(plans);
}

CASE(qdq_plan_value_buffer) {
    qdq_plan *plans[2];
    misuse_device_plans(plans);
    EXPECT(!qdq_plan_value_buffer(NULL, 0) && !qdq_plan_value_buffer(plans[1], 0));
    EXPECT(!qdq_plan_value_buffer(plans[0], SIZE_MAX) && qdq_plan_value_buffer(plans[0], 0));
    misuse_destroy_plans(plans);
}

CASE(qdq_plan_buffer_page) {
    qdq_plan *plans[2];
    qdq_page page;
    misuse_device_plans(plans);
    EXPECT(!qdq_plan_buffer_page(NULL, 0, 0, &page));
    EXPECT(!qdq_plan_buffer_page(plans[1], 0, 0, &page));
    EXPECT(!qdq_plan_buffer_page(plans[0], SIZE_MAX, 0, &page));
    EXPECT(!qdq_plan_buffer_page(plans[0], 0, UINT64_MAX, &page));
    EXPECT(!qdq_plan_buffer_page(plans[0], 0, 0, NULL));
    EXPECT(qdq_plan_buffer_page(plans[0], 0, 0, &page));
    misuse_destroy_plans(plans);
}

CASE(qdq_plan_value_page) {
    qdq_plan *plans[2];
    qdq_page page;
    misuse_device_plans(plans);
    EXPECT(!qdq_plan_value_page(NULL, 0, 0, &page));
    EXPECT(!qdq_plan_value_page(plans[1], 0, 0, &page));
    EXPECT(!qdq_plan_value_page(plans[0], SIZE_MAX, 0, &page));
    EXPECT(!qdq_plan_value_page(plans[0], 0, UINT64_MAX, &page));
    EXPECT(!qdq_plan_value_page(plans[0], 0, 0, NULL));
    EXPECT(qdq_plan_value_page(plans[0], 0, 0, &page));
    misuse_destroy_plans(plans);
}

CASE(qdq_plan_get_value) {
    running r = start();
    EXPECT(!qdq_plan_get_value(NULL, 0) && !qdq_plan_get_value(r.plan, SIZE_MAX));
    stop(&r);
}

CASE(qdq_plan_get_step) {
    running r = start();
    EXPECT(!qdq_plan_get_step(NULL, 0) && !qdq_plan_get_step(r.plan, SIZE_MAX));
    stop(&r);
}

CASE(qdq_exec_create) {
    const qdq_allocator none = {0};
    running r = start();
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_create(NULL, NULL, err));
    qdq_exec *exec = qdq_exec_create(r.plan, &(qdq_exec_options){.allocator = &none}, NULL);
    EXPECT(exec);
    qdq_exec_destroy(exec);
    stop(&r);
}

CASE(qdq_exec_destroy) { qdq_exec_destroy(NULL); }

CASE(qdq_exec_bind) {
    running r = start();
    float data[4];
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_bind(NULL, "x", data, sizeof data, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_bind(r.exec, NULL, data, sizeof data, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_bind(r.exec, not_utf8, data, sizeof data, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_bind(r.exec, "x", data, 1, err));
    EXPECT(qdq_exec_bind(r.exec, "x", NULL, 0, NULL) == QDQ_OK);
    stop(&r);
}

CASE(qdq_exec_write) {
    running r = start();
    float data[4] = {0};
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_write(NULL, "x", QDQ_FLOAT32, data, 4, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_write(r.exec, NULL, QDQ_FLOAT32, data, 4, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_write(r.exec, "x", QDQ_FLOAT32, NULL, 4, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_write(r.exec, "x", QDQ_FLOAT32, data, SIZE_MAX, err));
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        FAILS(QDQ_ERR_ARGUMENT,
              qdq_exec_write(r.exec, "x", (qdq_dtype)misuse_numbers[i], data, 4, err));
    stop(&r);
}

CASE(qdq_exec_read) {
    running r = start();
    int8_t data[4];
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_read(NULL, "y", QDQ_INT8, data, 4, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_read(r.exec, NULL, QDQ_INT8, data, 4, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_read(r.exec, "y", QDQ_INT8, NULL, 4, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_read(r.exec, "y", QDQ_INT8, data, SIZE_MAX, err));
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        FAILS(QDQ_ERR_ARGUMENT,
              qdq_exec_read(r.exec, "y", (qdq_dtype)misuse_numbers[i], data, 4, err));
    stop(&r);
}

CASE(qdq_exec_tiles) {
    running r = start(), tiled = start_tiled();
    qdq_tiles_view view;
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_tiles(NULL, "x", &view, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_tiles(tiled.exec, NULL, &view, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_tiles(tiled.exec, "x", NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_tiles(tiled.exec, not_utf8, &view, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_tiles(r.exec, "x", &view, err));
    EXPECT(qdq_exec_tiles(tiled.exec, "x", &view, NULL) == QDQ_OK);
    stop(&r), stop(&tiled);
}

CASE(qdq_exec_page) {
    running r = start_tiled();
    qdq_page_info page;
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_page(NULL, "x", 0, &page, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_page(r.exec, NULL, 0, &page, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_page(r.exec, "x", 0, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_page(r.exec, "x", 1000, &page, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_page(r.exec, "x", SIZE_MAX, &page, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_page(r.exec, not_utf8, 0, &page, err));
    stop(&r);
}

CASE(qdq_exec_run) { qdq_exec_run(NULL); }

CASE(qdq_exec_first_states) {
    running r = start();
    FAILS(QDQ_ERR_MEMORY, qdq_exec_first_states(r.exec, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_first_states(NULL, r.graph, err));
    stop(&r);
}

CASE(qdq_exec_next_states) {
    running r = start();
    FAILS(QDQ_ERR_MEMORY, qdq_exec_next_states(r.exec, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_next_states(NULL, r.graph, err));
    stop(&r);
}

CASE(qdq_exec_fill) {
    running r = start();
    qdq_graph *other = qdq_graph_create("other", NULL);
    FAILS(QDQ_ERR_MEMORY, qdq_exec_fill(r.exec, NULL, 1, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_fill(NULL, r.graph, 1, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_exec_fill(r.exec, other, 1, err));
    qdq_graph_destroy(other);
    stop(&r);
}

CASE(qdq_graph_fingerprint) {
    running r = start();
    qdq_fingerprint f;
    FAILS(QDQ_ERR_MEMORY, qdq_graph_fingerprint(NULL, NULL, r.exec, 1, &f, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_fingerprint(r.graph, NULL, NULL, 1, &f, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_fingerprint(r.graph, NULL, r.exec, 1, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_fingerprint(r.graph, "x", r.exec, 1, &f, err));
    EXPECT(!qdq_graph_fingerprint(r.graph, NULL, r.exec, 1, &f, NULL));
    stop(&r);
}

CASE(qdq_exec_run_step) {
    running r = start();
    qdq_exec_run_step(NULL, 0);
    qdq_exec_run_step(r.exec, SIZE_MAX);
    stop(&r);
}

//---- Tensor files -----------------------------------------------------------

// An open file with one tensor "t"; its path is already deleted.
static qdq_tensor_file *small_file(void) {
    char path[] = "/tmp/qdq-misuse-XXXXXX";
    const qdq_tensor tensor = {"t", QDQ_FLOAT32, QDQ_SHAPE(1), &(float){1}};
    int descriptor = mkstemp(path);
    EXPECT(descriptor >= 0);
    close(descriptor);
    EXPECT(qdq_tensor_file_write(path, &tensor, 1, NULL, NULL) == QDQ_OK);
    qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, NULL);
    unlink(path);
    EXPECT(file);
    return file;
}

CASE(qdq_tensor_file_open) {
    FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_open(NULL, NULL, err));
    FAILS(QDQ_ERR_IO, qdq_tensor_file_open("/dev/null/none", NULL, err));
}

CASE(qdq_tensor_file_close) { qdq_tensor_file_close(NULL); }
CASE(qdq_tensor_file_count) { EXPECT(qdq_tensor_file_count(NULL) == 0); }

CASE(qdq_tensor_file_at) {
    qdq_tensor_file *file = small_file();
    EXPECT(!qdq_tensor_file_at(NULL, 0) && !qdq_tensor_file_at(file, SIZE_MAX));
    qdq_tensor_file_close(file);
}

CASE(qdq_tensor_file_find) {
    qdq_tensor_file *file = small_file();
    EXPECT(!qdq_tensor_file_find(NULL, "t") && !qdq_tensor_file_find(file, NULL));
    qdq_tensor_file_close(file);
}

CASE(qdq_tensor_file_dtype) {
    qdq_tensor_file *file = small_file();
    EXPECT(!qdq_tensor_file_dtype(NULL, qdq_tensor_file_at(file, 0)));
    EXPECT(!qdq_tensor_file_dtype(file, NULL));
    EXPECT(!qdq_tensor_file_dtype(file, &(qdq_tensor_info){0}));
    qdq_tensor_file_close(file);
}

CASE(qdq_tensor_file_read) {
    qdq_tensor_file *file = small_file();
    const qdq_tensor_info *info = qdq_tensor_file_at(file, 0);
    float data;
    FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_read(NULL, info, &data, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_read(file, NULL, &data, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_read(file, info, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_read(file, &(qdq_tensor_info){0}, &data, err));
    qdq_tensor_file_close(file);
}

CASE(qdq_tensor_file_write) {
    static const char path[] = "/dev/null/none";
    const float one = 1;
    qdq_tensor tensor = {"t", QDQ_FLOAT32, QDQ_SHAPE(1), &one};
    FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_write(NULL, &tensor, 1, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_write(path, NULL, 1, NULL, err));
    tensor.data = NULL;
    FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_write(path, &tensor, 1, NULL, err));
    tensor = (qdq_tensor){NULL, QDQ_FLOAT32, QDQ_SHAPE(1), &one};
    FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_write(path, &tensor, 1, NULL, err));
    tensor.name = not_utf8;
    FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_write(path, &tensor, 1, NULL, err));
    for (int i = 0; i < MISUSE_NUMBERS; i++) {
        tensor = (qdq_tensor){"t", (qdq_dtype)misuse_numbers[i], QDQ_SHAPE(1), &one};
        FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_write(path, &tensor, 1, NULL, err));
        tensor = (qdq_tensor){"t", QDQ_FLOAT32, {(int)misuse_numbers[i], {1}}, &one};
        FAILS(QDQ_ERR_ARGUMENT, qdq_tensor_file_write(path, &tensor, 1, NULL, err));
    }
}

const misuse_case misuse_exec[] = {ROW(qdq_graph_compile),
                                   ROW(qdq_plan_destroy),
                                   ROW(qdq_plan_input_count),
                                   ROW(qdq_plan_output_count),
                                   ROW(qdq_plan_input),
                                   ROW(qdq_plan_output),
                                   ROW(qdq_plan_kept_count),
                                   ROW(qdq_plan_kept),
                                   ROW(qdq_plan_get_stats),
                                   ROW(qdq_plan_get_value),
                                   ROW(qdq_plan_device),
                                   ROW(qdq_plan_value_buffer),
                                   ROW(qdq_plan_buffer_page),
                                   ROW(qdq_plan_value_page),
                                   ROW(qdq_plan_get_step),
                                   ROW(qdq_exec_create),
                                   ROW(qdq_exec_destroy),
                                   ROW(qdq_exec_bind),
                                   ROW(qdq_exec_write),
                                   ROW(qdq_exec_read),
                                   ROW(qdq_exec_tiles),
                                   ROW(qdq_exec_page),
                                   ROW(qdq_exec_run),
                                   ROW(qdq_exec_first_states),
                                   ROW(qdq_exec_next_states),
                                   ROW(qdq_exec_run_step),
                                   ROW(qdq_exec_fill),
                                   ROW(qdq_graph_fingerprint),
                                   ROW(qdq_tensor_file_open),
                                   ROW(qdq_tensor_file_close),
                                   ROW(qdq_tensor_file_count),
                                   ROW(qdq_tensor_file_at),
                                   ROW(qdq_tensor_file_find),
                                   ROW(qdq_tensor_file_dtype),
                                   ROW(qdq_tensor_file_read),
                                   ROW(qdq_tensor_file_write),
                                   {NULL, NULL}};
