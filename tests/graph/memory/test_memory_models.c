// SPDX-License-Identifier: Apache-2.0
// Every allocation may fail while ten networks are loaded, compiled, run and written: the result is
// a MEMORY error without a crash or a leak. Usage: test_graph_memory_models MODELS_DIR
#include <qdq/qdq.h>

#include "tests/unit.h"

static const char *models;

static const char *const kinds[] = {
    "attention",                  // products, softmax, norms
    "cast_chain",                 // a chain of tile functions
    "digits_pixels",              // convolutions, pooling, packed weights
    "digits_int4_block",          // 4-bit codes in blocks
    "gated_mlp",                  // folded weights
    "dynamic_quantize_computed",  // reductions
    "onednn_float8_e4m3fn",       // the oneDNN Graph format
    "tensorrt_nvfp4",             // block scales and a global scale
    "torchao_mx",                 // power-of-two scales
    "ttnn_quantize_bfloat8_b",    // block floats
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

// Load, compile, run and write, with all memory from `allocator`.
static qdq_status walk(const char *kind, const qdq_allocator *allocator,
                       const qdq_compile_options *compile, qdq_error *err) {
    qdq_graph_options options = {.allocator = allocator};
    qdq_exec_options exec_options = {.allocator = allocator};
    char path[512];
    snprintf(path, sizeof path, "%s/%s/graph.json", models, kind);
    qdq_graph *g = qdq_graph_load(path, &options, err);
    if (g) (void)qdq_graph_validate(g, NULL, err);
    qdq_graph *node = g && !err->status ? qdq_graph_extract(g, 0, NULL, err) : NULL;
    qdq_plan *plan = g && !err->status ? qdq_graph_compile(g, compile, err) : NULL;
    qdq_exec *exec = qdq_exec_create(plan, &exec_options, err);
    if (exec) {
        qdq_exec_run(exec);
        (void)qdq_graph_write(g, unit_path(path, "out.json"), err);
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    qdq_graph_destroy(node), qdq_graph_destroy(g);
    return err->status;
}

// Fails each allocation in turn; returns their number.
static size_t fail_each(const char *kind, const qdq_compile_options *compile) {
    for (size_t n = 1;; n++) {
        unit_memory memory;
        qdq_error err = {0};
        qdq_status status = walk(kind, unit_memory_init(&memory, n), compile, &err);
        unit_memory_check(&memory);
        if (status == QDQ_OK) {
            assert_true(memory.calls < n);
            return memory.calls;
        }
        if (status != QDQ_ERR_MEMORY) fail_msg("%s, allocation %zu: %s", kind, n, err.text);
        assert_non_null(strstr(err.text, "out of memory"));
        assert_true(n < 10000);
    }
}

static void every_allocation_for_ten_networks_may_fail(void **state) {
    (void)state;
    static const qdq_compile_options options[] = {{0}, {.fast = true}, {.materialize = true}};
    for (size_t i = 0; i < KINDS; i++)
        for (size_t k = 0; k < 3; k++) {
            size_t calls = fail_each(kinds[i], &options[k]);
            printf("%s: %zu\n", kinds[i], calls);
            assert_true(calls > 5);
        }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: test_graph_memory_models MODELS_DIR\n");
        return 2;
    }
    models = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        every_allocation_for_ten_networks_may_fail, unit_folder_begin, unit_folder_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
