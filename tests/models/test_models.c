// SPDX-License-Identifier: Apache-2.0
// Runs every folder of models/ in the library and on the command line: test_models MODELS_DIR
// QDQ_BINARY. Outputs must equal the expected ones bit for bit: streamed, tiled, materialized and
// on a device, on one thread and several. The arena must stay within 1.10 of the peak of live
// bytes.
#include <qdq/qdq.h>

#include "tests/device_plan_check.h"
#include "tests/unit.h"

static const char *models, *binary;

static bool has_graph(const char *name, char path[512], const char *file) {
    snprintf(path, 512, "%s/%s/%s", models, name, file);
    return access(path, F_OK) == 0;
}

//---- Through the library ----------------------------------------------------

static void write_inputs(qdq_exec *exec, const qdq_plan *plan, const char *path) {
    qdq_error err = {0};
    qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, &err);
    assert_string_equal(err.text, "");
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        const qdq_tensor_info *info = qdq_tensor_file_find(file, qdq_plan_input(plan, i)->name);
        assert_non_null(info);
        void *data = malloc(info->bytes);
        assert_int_equal(qdq_tensor_file_read(file, info, data, &err), QDQ_OK);
        qdq_exec_write(exec, info->name, info->dtype, data, qdq_shape_count(info->shape), &err);
        assert_string_equal(err.text, "");
        free(data);
    }
    qdq_tensor_file_close(file);
}

static void check_outputs(const qdq_exec *exec, const qdq_plan *plan, const char *path) {
    qdq_error err = {0};
    qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(qdq_tensor_file_count(file), qdq_plan_output_count(plan));
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
        const qdq_tensor_info *out = qdq_plan_output(plan, i);
        const qdq_tensor_info *info = qdq_tensor_file_find(file, out->name);
        assert_non_null(info);
        assert_string_equal(qdq_tensor_file_dtype(file, info),
                            qdq_dtype_get(out->dtype)->safetensors);
        assert_int_equal(info->bytes, out->bytes);
        char *got = malloc(out->bytes), *wanted = malloc(out->bytes);
        assert_int_equal(qdq_tensor_file_read(file, info, wanted, &err), QDQ_OK);
        assert_int_equal(
            qdq_exec_read(exec, out->name, out->dtype, got, qdq_shape_count(out->shape), &err),
            QDQ_OK);
        assert_memory_equal(got, wanted, out->bytes);
        free(got), free(wanted);
    }
    qdq_tensor_file_close(file);
}

static void run_model(const char *name, qdq_compile_options options, int threads) {
    char path[512];
    qdq_error err = {0};
    qdq_exec_options exec_options = {.poison = true, .parallel = qdq_parallel_openmp(threads)};
    exec_options.parallel.least = 0;
    (void)has_graph(name, path, "graph.json");
    qdq_graph *g = qdq_graph_load(path, NULL, &err);
    bool blackhole = strstr(qdq_graph_target(g), "blackhole") != NULL;
    if (options.device && options.device->arch && blackhole)
        options.device = qdq_device_find("p150", NULL);
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    qdq_exec *exec = qdq_exec_create(plan, &exec_options, &err);
    assert_string_equal(err.text, "");
    assert_true(!options.device || !qdq_plan_device(plan) == qdq_device_is_none(options.device));
    assert_true(!qdq_plan_device(plan) || !device_plan_broken(plan));
    assert_true(has_graph(name, path, "inputs.safetensors"));
    write_inputs(exec, plan, path);
    qdq_exec_run(exec);
    assert_true(has_graph(name, path, "expected.safetensors"));
    check_outputs(exec, plan, path);
    qdq_plan_stats stats = qdq_plan_get_stats(plan);
    assert_true(stats.arena_bytes >= stats.peak_live_bytes);
    assert_true((double)stats.arena_bytes <= 1.10 * (double)stats.peak_live_bytes);
    assert_true(!stats.tiled || (stats.arena_bytes > 0 && stats.arena_bytes % 2048 == 0));
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

//---- Through the command line -----------------------------------------------

static void run_command(const char *name, const char *options) {
    char command[4096];
    const char *wrapper = getenv("MESON_EXE_WRAPPER");  // set in a cross build
    snprintf(command, sizeof command,
             "%s '%s' run '%s/%s/graph.json' -i '%s/%s/inputs.safetensors' "
             "--expect '%s/%s/expected.safetensors' %s > /dev/null",
             wrapper ? wrapper : "", binary, models, name, models, name, models, name, options);
    assert_int_equal(system(command), 0);
}

static void every_model_gives_its_expected_outputs(void **state) {
    (void)state;
    char path[512];
    size_t count = 0;
    const qdq_device *none = qdq_device_find("none", NULL);
    const qdq_compile_options ways[] = {{.device = none, .layout = QDQ_PLAN_ROWS},
                                        {.device = none, .layout = QDQ_PLAN_TILES},
                                        {.materialize = true},
                                        {.device = none, .layout = QDQ_PLAN_ROWS, .keep_all = true},
                                        {.device = qdq_device_find("n150", NULL)}};
    static const char *const commands[] = {"", "--rows", "--tiles", "--materialize --threads 2"};
    uint64_t turn = 0;
    DIR *dir = opendir(models);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || !has_graph(entry->d_name, path, "graph.json")) continue;
        printf("%s\n", entry->d_name);
        for (size_t i = 0; i < UNIT_COUNT(ways); i++)
            for (int threads = 1; threads <= 3; threads += 2)
                if (!unit_left_out(turn++)) run_model(entry->d_name, ways[i], threads);
        for (size_t i = 0; i < UNIT_COUNT(commands); i++)
            if (!unit_left_out(turn++)) run_command(entry->d_name, commands[i]);
        count++;
    }
    closedir(dir);
    assert_true(count >= 78);
}

//---- The memory of devices --------------------------------------------------

// Compares the buffers of a plan with the lines of buffers.txt.
static void check_buffers(const char *name) {
    char path[512], value[64], pool[16];
    unsigned long long address, bytes;
    size_t count = 0;
    qdq_error err = {0};
    (void)has_graph(name, path, "graph.json");
    qdq_graph *g = qdq_graph_load(path, NULL, &err);
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    assert_string_equal(err.text, "");
    const qdq_device_plan *p = qdq_plan_device(plan);
    assert_non_null(p);
    (void)has_graph(name, path, "buffers.txt");
    FILE *file = fopen(path, "r");
    for (; fscanf(file, "%63s %15s %llu %llu", value, pool, &address, &bytes) == 4; count++) {
        const qdq_device_buffer *b = &p->buffers[count];
        assert_string_equal(b->name, value);
        assert_string_equal(qdq_buffer_type_name(b->pool), pool);
        assert_int_equal(b->address, address);
        assert_int_equal(b->bytes_per_bank, bytes);
    }
    assert_int_equal(count, p->buffer_count);
    fclose(file);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// `qdq check` prints findings.txt and a line that counts them; `qdq run` exits 4.
static void check_refused(const char *name) {
    char command[4096];
    const char *wrapper = getenv("MESON_EXE_WRAPPER");
    snprintf(command, sizeof command,
             "cd '%s/%s' && { %s '%s' check refused.json; test $? = 1; } | sed '$d' | "
             "cmp - findings.txt && { %s '%s' run refused.json --fill 1 > /dev/null 2>&1; "
             "test $? = 4; }",
             models, name, wrapper ? wrapper : "", binary, wrapper ? wrapper : "", binary);
    assert_int_equal(system(command), 0);
}

static void every_model_of_memory_has_its_buffers_or_findings(void **state) {
    (void)state;
    char path[512];
    size_t with_buffers = 0, refused = 0;
    DIR *dir = opendir(models);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        if (has_graph(entry->d_name, path, "buffers.txt")) {
            check_buffers(entry->d_name);
            with_buffers++;
        }
        if (has_graph(entry->d_name, path, "refused.json")) {
            check_refused(entry->d_name);
            refused++;
        }
    }
    closedir(dir);
    assert_true(with_buffers >= 1 && refused >= 2);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: test_models MODELS_DIR QDQ_BINARY\n");
        return 2;
    }
    models = argv[1];
    binary = realpath(argv[2], NULL);  // tests change the folder
    if (!binary) return 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_gives_its_expected_outputs),
        cmocka_unit_test(every_model_of_memory_has_its_buffers_or_findings)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free((void *)binary);
    return failed;
}
