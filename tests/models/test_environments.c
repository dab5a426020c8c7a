// SPDX-License-Identifier: Apache-2.0
// The caller's floating-point environment changes nothing: loading, checking, writing, compiling
// and running every folder of models/, and graphs with many roundings, give the same bytes under
// four other environments as under the default one. Usage: test_environments MODELS_DIR
#include <fenv.h>

#include "include/qdq/qdq.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/json_writer.h"
#include "runtime/exec/plan.h"
#include "tests/unit.h"

static const char *models;

//---- Environments -----------------------------------------------------------

typedef struct environment {
    const char *name;
    int rounding;
    bool flushes;  // denormal operands and results become zero
} environment;

static const environment environments[] = {
    {"the default", FE_TONEAREST, false}, {"up", FE_UPWARD, false},
    {"down", FE_DOWNWARD, false},         {"toward zero", FE_TOWARDZERO, false},
    {"flushing", FE_TONEAREST, true},
};
enum { ENVIRONMENTS = sizeof environments / sizeof environments[0] };

static void enter(const environment *e) {
    fesetround(e->rounding);
    if (!e->flushes) return;
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(QDQ_CONTROL | QDQ_CONTROL_FLUSH);
#elif defined(__aarch64__)
    qdq_control_set(QDQ_CONTROL_FLUSH);
#endif
}

//---- All that callers see of a graph -----------------------------------------

typedef struct record {
    char *bytes;
    size_t count, capacity;
} record;

static void note(record *r, const void *bytes, size_t count) {
    if (r->count + count > r->capacity) {
        r->capacity = 2 * (r->count + count);
        r->bytes = realloc(r->bytes, r->capacity);
    }
    if (count) memcpy(r->bytes + r->count, bytes, count);
    r->count += count;
}

static void note_text(record *r, const char *text) { note(r, text, strlen(text) + 1); }

static void note_file(record *r, const char *name) {
    char path[256];
    size_t count;
    if (access(unit_path(path, name), F_OK) != 0) return;
    char *bytes = unit_read(path, &count);
    note(r, bytes, count);
    free(bytes);
    unlink(path);
}

static void note_written(record *r, qdq_graph *g) {
    char path[256];
    qdq_error err = {0};
    qdq_status status = qdq_graph_write(g, unit_path(path, "g.json"), &err);
    note(r, &status, sizeof status);
    note_file(r, "g.json");
    note_file(r, "g.safetensors");
}

static void note_targets(record *r, qdq_graph *g) {
    for (size_t t = 0; t < qdq_target_count(); t++) {
        const char *target = qdq_target_get(t).name;
        const qdq_report *report = qdq_graph_validate(g, target, NULL);
        for (size_t i = 0; report && i < report->count; i++)
            note_text(r, report->findings[i].message);
        for (size_t i = 0; i < qdq_graph_node_count(g); i++) {
            qdq_numerics n = {0};
            (void)qdq_graph_numerics(g, target, i, &n, NULL);
#define NOTE_FIELD(field, cause) note(r, &n.field, sizeof n.field);
            QDQ_NUMERICS_FIELDS(NOTE_FIELD)
#undef NOTE_FIELD
        }
    }
}

static void note_params(record *r, const qdq_param *stage_params, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (stage_params[i].values)
            note(r, stage_params[i].values, stage_params[i].count * sizeof(uint32_t));
}

static void note_constant(record *r, const qdq_plan *plan, const qdq_located *l) {
    if (l->place.kind == QDQ_PLACE_CONSTANT)
        note(r, plan->constants + l->place.at,
             qdq_shape_count(l->shape) * qdq_dtype_size(l->dtype));
}

static void note_plan(record *r, const qdq_plan *plan) {
    note(r, &plan->stats, sizeof plan->stats);
    for (size_t i = 0; i < plan->step_count; i++) {
        const qdq_step *step = &plan->steps[i];
        note_text(r, qdq_plan_get_step(plan, i)->text);
        note_constant(r, plan, &step->x);
        for (size_t k = 0; step->tensor_op && k < step->tensor_op->x_count; k++)
            note_constant(r, plan, &step->tensor_op->x[k]);
        for (size_t k = 0; k < step->link_count; k++)
            note_params(r, step->links[k].stage_params, step->links[k].stage_param_count);
        if (step->reduce)
            note_params(r, step->reduce->stage_params, step->reduce->stage_param_count);
    }
}

// Writes the inputs as the file has them, and again as float32 if the dtype allows that.
static void write_inputs(record *r, qdq_exec *exec, const qdq_plan *plan, const char *path) {
    qdq_tensor_file *file = path ? qdq_tensor_file_open(path, NULL, NULL) : NULL;
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        const qdq_tensor_info *input = qdq_plan_input(plan, i);
        const qdq_tensor_info *info = file ? qdq_tensor_file_find(file, input->name) : NULL;
        size_t count = qdq_shape_count(input->shape);
        void *data = calloc(count, 8);
        float *wide = calloc(count, sizeof *wide);
        if (info) (void)qdq_tensor_file_read(file, info, data, NULL);
        qdq_exec_write(exec, input->name, input->dtype, data, count, NULL);
        if (qdq_dtype_is_real(input->dtype)) {
            qdq_widen_float(input->dtype, data, wide, count);
            note(r, wide, count * sizeof *wide);
            qdq_exec_write(exec, input->name, QDQ_FLOAT32, wide, count, NULL);
        }
        free(data), free(wide);
    }
    if (file) qdq_tensor_file_close(file);
}

static void note_outputs(record *r, const qdq_exec *exec, const qdq_plan *plan) {
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
        const qdq_tensor_info *out = qdq_plan_output(plan, i);
        size_t count = qdq_shape_count(out->shape);
        char *data = calloc(count, 8);
        (void)qdq_exec_read(exec, out->name, out->dtype, data, count, NULL);
        note(r, data, out->bytes);
        (void)qdq_exec_read(exec, out->name, QDQ_FLOAT32, data, count, NULL);
        note(r, data, count * 4);
        free(data);
    }
}

static void note_run(record *r, qdq_graph *g, const qdq_compile_options *options,
                     const char *inputs) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, options, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    note_text(r, err.text);
    if (exec) {
        note_plan(r, plan);
        write_inputs(r, exec, plan, inputs);
        qdq_exec_run(exec);
        note_outputs(r, exec, plan);
        for (size_t i = 0; i < plan->step_count; i++) qdq_exec_run_step(exec, i);
        note_outputs(r, exec, plan);
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
}

static void note_nodes(record *r, const qdq_graph *g) {
    for (size_t i = 0; i < qdq_graph_node_count(g) && i < 8; i++) {
        qdq_graph *node = qdq_graph_extract(g, i, NULL, NULL);
        note_run(r, node, NULL, NULL);
        qdq_graph_destroy(node);
    }
}

// All that is seen of the graph in the file `path`, or in `text` if it is not NULL.
static record take(const environment *e, const char *path, const char *text, const char *inputs) {
    record r = {0};
    qdq_error err = {0};
    enter(e);
    qdq_graph *g = text ? qdq_graph_parse(text, strlen(text), path, NULL, NULL, &err)
                        : qdq_graph_load(path, NULL, &err);
    note_text(&r, err.text);
    note_targets(&r, g);
    note_written(&r, g);
    note_run(&r, g, NULL, inputs);
    note_run(&r, g, &(qdq_compile_options){.materialize = true}, inputs);
    note_run(&r, g, &(qdq_compile_options){.fast = true}, inputs);
    note_nodes(&r, g);
    qdq_graph_destroy(g);
    enter(&environments[0]);
    return r;
}

static void check(const char *path, const char *text, const char *inputs) {
    record first = take(&environments[0], path, text, inputs);
    for (size_t i = 1; i < ENVIRONMENTS; i++) {
        record other = take(&environments[i], path, text, inputs);
        if (other.count != first.count || memcmp(other.bytes, first.bytes, first.count) != 0)
            fail_msg("%s differs with rounding or flushing '%s'", path, environments[i].name);
        free(other.bytes);
    }
    free(first.bytes);
}

//---- Tests ------------------------------------------------------------------

static void every_model_is_the_same_in_every_environment(void **state) {
    (void)state;
    char path[512], inputs[512];
    size_t count = 0;
    DIR *dir = opendir(models);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s/graph.json", models, entry->d_name);
        snprintf(inputs, sizeof inputs, "%s/%s/inputs.safetensors", models, entry->d_name);
        if (entry->d_name[0] == '.' || access(path, F_OK) != 0) continue;
        if (!unit_left_out(count++)) check(path, NULL, inputs);
    }
    closedir(dir);
    assert_true(count >= 78);
}

// 0.1 and 1e-40 as scales and constants; folded constants; positions that Interpolate computes in
// advance. Inputs are zero, so these numbers show in the outputs.
static const char *const graphs[] = {
    "{'format': 'qdq/1', 'inputs': [{'name': 'x', 'dtype': 'float32', 'shape': [4]}],"
    " 'constants': [{'name': 'c', 'dtype': 'float32', 'shape': [4], 'data': [0.1, 1e-40, 0.7, "
    "-0.3]},"
    "  {'name': 'h', 'dtype': 'float16', 'shape': [4], 'data': [0.1, 6e-8, 0.7, -0.3]},"
    "  {'name': 'b', 'dtype': 'bfloat16', 'shape': [4], 'data': [0.1, 1e-40, 0.7, -0.3]}],"
    " 'nodes': [{'op': 'Add', 'name': 's', 'inputs': {'a': 'x', 'b': 'c'}},"
    "  {'op': 'Cast', 'name': 'f', 'inputs': {'x': 'b'}, 'attrs': {'dtype': 'float32'}},"
    "  {'op': 'Multiply', 'name': 'm', 'inputs': {'a': 's', 'b': 'f'}}],"
    " 'outputs': [{'name': 's', 'value': 's'}, {'name': 'm', 'value': 'm'},"
    "  {'name': 'c', 'value': 'c'}, {'name': 'h', 'value': 'h'}, {'name': 'b', 'value': 'b'}]}",
    "{'format': 'qdq/1', 'inputs': [{'name': 'q', 'dtype': 'int8', 'shape': [1, 5]}],"
    " 'nodes': [{'op': 'Dequantize', 'name': 'd', 'inputs': {'x': 'q'},"
    "   'attrs': {'dtype': 'float32', 'qtype': 'per_channel', 'axis': 1,"
    "    'scales': [0.1, 1e-40, 3e-39, 0.3, 1e30], 'zps': [1, 2, -3, 4, 5]}},"
    "  {'op': 'Quantize', 'name': 'r', 'inputs': {'x': 'd'},"
    "   'attrs': {'dtype': 'int8', 'scales': 0.1}}],"
    " 'outputs': [{'name': 'd', 'value': 'd'}, {'name': 'r', 'value': 'r'}]}",
    "{'format': 'qdq/1', 'inputs': [{'name': 'x', 'dtype': 'float32', 'shape': [1, 3, 5, 1]}],"
    " 'constants': [{'name': 'c', 'dtype': 'float32', 'shape': [1, 3, 5, 1],"
    "   'data': [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.4, 1.6, 1.7, 1.9]}],"
    " 'nodes': [{'op': 'Add', 'name': 's', 'inputs': {'a': 'x', 'b': 'c'}},"
    "  {'op': 'Interpolate', 'name': 'i', 'inputs': {'x': 's'},"
    "   'attrs': {'mode': 'linear', 'scales': [2.3, 1.7]}},"
    "  {'op': 'SoftMax', 'name': 'e', 'inputs': {'x': 'i'}, 'attrs': {'axis': 1}}],"
    " 'outputs': [{'name': 'i', 'value': 'i'}, {'name': 'e', 'value': 'e'}]}",
    "{'format': 'qdq/1', 'inputs': [{'name': 'x', 'dtype': 'float32', 'shape': [3, 3]}],"
    " 'constants': [{'name': 'c', 'dtype': 'float32', 'shape': [3, 3],"
    "   'data': [0.1, 0.2, 0.3, 1e-40, 0.6, 0.7, 0.8, 0.9, 1.1]}],"
    " 'nodes': [{'op': 'Exp', 'name': 'w', 'inputs': {'x': 'c'}},"
    "  {'op': 'Add', 'name': 's', 'inputs': {'a': 'x', 'b': 'c'}},"
    "  {'op': 'MatMul', 'name': 'm', 'inputs': {'a': 's', 'b': 'w'}},"
    "  {'op': 'Clamp', 'name': 'k', 'inputs': {'x': 'm'}, 'attrs': {'min': 0.1, 'max': 1.7}}],"
    " 'outputs': [{'name': 'm', 'value': 'm'}, {'name': 'k', 'value': 'k'}]}",
};

static void graphs_whose_numbers_round_are_the_same_in_every_environment(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++) {
        char text[4096], name[32];
        snprintf(name, sizeof name, "graph %zu", i);
        size_t length = strlen(graphs[i]);
        for (size_t k = 0; k <= length; k++)
            text[k] = (char)(graphs[i][k] == '\'' ? '"' : graphs[i][k]);
        qdq_error err = {0};
        qdq_graph *g = qdq_graph_parse(text, length, name, NULL, NULL, &err);
        const qdq_report *report = qdq_graph_validate(g, NULL, &err);
        if (!report || report->errors)
            fail_msg("%s: %s", name, report ? report->findings[0].message : err.text);
        qdq_graph_destroy(g);
        check(name, text, NULL);
    }
}

static void to_record(void *self, const char *bytes, size_t count) { note(self, bytes, count); }

static void tiles_and_json_are_the_same_in_every_environment(void **state) {
    (void)state;
    static const volatile float small = 1e-40F, tenth = 0.1F;
    static const volatile double tiny = 1e-310, third = 1.0 / 3;
    record first = {0};
    for (size_t i = 0; i < ENVIRONMENTS; i++) {
        record r = {0};
        qdq_json json;
        float rows[33], tiles[2048] = {0}, back[33] = {0};
        for (int k = 0; k < 33; k++) rows[k] = k & 1 ? small : tenth;
        enter(&environments[i]);
        for (qdq_dtype d = QDQ_BFLOAT8_B; d <= QDQ_BFLOAT4_B; d++) {
            qdq_tilize(d, QDQ_SHAPE(33), rows, tiles);
            qdq_untilize(d, QDQ_SHAPE(33), tiles, back);
            note(&r, tiles, 2 * qdq_tile_bytes(d));
            note(&r, back, sizeof back);
        }
        qdq_json_init(&json, to_record, &r, 0);
        qdq_json_begin_array(&json);
        qdq_json_float32(&json, small), qdq_json_float32(&json, tenth);
        qdq_json_double(&json, tiny), qdq_json_double(&json, third);
        qdq_json_end_array(&json);
        enter(&environments[0]);
        if (i == 0) {
            first = r;
            continue;
        }
        assert_int_equal(r.count, first.count);
        assert_memory_equal(r.bytes, first.bytes, r.count);
        free(r.bytes);
    }
    free(first.bytes);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: test_environments MODELS_DIR\n");
        return 2;
    }
    models = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_is_the_same_in_every_environment),
        cmocka_unit_test(graphs_whose_numbers_round_are_the_same_in_every_environment),
        cmocka_unit_test(tiles_and_json_are_the_same_in_every_environment),
    };
    return cmocka_run_group_tests(tests, unit_folder_begin, unit_folder_end);
}
