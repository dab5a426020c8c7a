// SPDX-License-Identifier: Apache-2.0
// Fills the inputs of an exec from files or with random data.
#include "tools/io/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/file_kind.h"
#include "tools/io/streams.h"
#include "tools/io/tensor_io.h"

//---- Inputs from files ------------------------------------------------------

static int write_input(qdq_exec *exec, const qdq_tensor_info *input, const tensor_spec *spec) {
    qdq_error err = {0};
    loaded_tensor tensor;
    char has[128], wants[128];
    if (tensor_load(spec, input->name, &tensor, &err) != QDQ_OK) return report_error(&err);
    int code = EXIT_OK;
    if (are_codes_of(input->dtype, tensor.dtype, spec->file)) tensor.dtype = input->dtype;
    if (!qdq_shape_equal(tensor.shape, input->shape)) {
        code = tell_failure(QDQ_ERR_PARSE, "input '%s': %s has shape %s, wanted %s", input->name,
                            spec->file, qdq_write_shape(tensor.shape, has, sizeof has),
                            qdq_write_shape(input->shape, wants, sizeof wants));
    } else if (qdq_exec_write(exec, input->name, tensor.dtype, tensor.data,
                              qdq_shape_count(tensor.shape), &err) != QDQ_OK) {
        bool narrows = tensor.dtype == QDQ_FLOAT64 && qdq_dtype_is_real(input->dtype);
        code = tell_failure(QDQ_ERR_PARSE, "%s: %s%s", spec->file, err.text,
                            narrows ? "; convert it in numpy with x.astype('float32')" : "");
    }
    tensor_release(&tensor);
    return code;
}

//---- Inputs from a seed -----------------------------------------------------

static uint64_t next_random(uint64_t *state) {  // splitmix64
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

// How the first port that reads each value wants random data: fills[value id].
typedef struct fill_table {
    unsigned char *fills;
    size_t count;
} fill_table;

enum { NOT_READ = 0xFF };

static qdq_fill port_fill(const char *op_name, size_t port) {
    for (size_t op = 0; op < qdq_op_count(); op++)
        if (strcmp(qdq_op_get(op).name, op_name) == 0) return qdq_op_input(op, port).fill;
    return QDQ_FILL_ANY;
}

static bool make_fills(const qdq_graph *graph, fill_table *table) {
    size_t nodes = qdq_graph_node_count(graph);
    *table = (fill_table){NULL, 1};
    for (size_t i = 0; i < nodes; i++)
        for (size_t k = 0; k < qdq_graph_node(graph, i).input_count; k++) {
            size_t id = qdq_graph_node_input(graph, i, k).id;
            if (id >= table->count) table->count = id + 1;
        }
    table->fills = malloc(table->count);
    if (!table->fills) return false;
    memset(table->fills, NOT_READ, table->count);
    for (size_t i = 0; i < nodes; i++) {
        qdq_node_info node = qdq_graph_node(graph, i);
        for (size_t k = 0; k < node.input_count; k++) {
            unsigned char *fill = &table->fills[qdq_graph_node_input(graph, i, k).id];
            if (*fill == NOT_READ) *fill = (unsigned char)port_fill(node.op, k);
        }
    }
    return true;
}

static qdq_fill fill_of(const qdq_graph *graph, const fill_table *table, const char *input) {
    size_t id = qdq_graph_find(graph, input).id;
    bool is_read = id < table->count && table->fills[id] != NOT_READ;
    return is_read ? (qdq_fill)table->fills[id] : QDQ_FILL_ANY;
}

// Floats in [-4, 4), unless a port wants others.
static float random_float(qdq_fill fill, qdq_dtype_kind kind, uint64_t random) {
    float unit = (float)(random >> 40) * 0x1p-24f;  // in [0, 1)
    float value = unit * 8 - 4;
    switch (fill) {
    case QDQ_FILL_SCALE: return 0.0625f + unit * 0.1875f;
    case QDQ_FILL_ZERO_POINT: return kind == QDQ_KIND_FLOAT ? value / 16 : 0;
    case QDQ_FILL_SMALL: return value / 16;
    case QDQ_FILL_POSITIVE: return 0.5f + unit * 3.5f;
    case QDQ_FILL_NEAR_ONE: return 0.75f + unit * 0.5f;
    case QDQ_FILL_HALF: return 0.5f;
    case QDQ_FILL_ANY:
    case QDQ_FILL_COUNT:
    default:
        return kind == QDQ_KIND_EXPONENT && value < 0 ? -value : value;  // the dtype has no sign
    }
}

// Integers over the range of their dtype, at most 16 bits of it, unless a port wants others.
static int64_t random_int(qdq_fill fill, const qdq_dtype_info *dtype, uint64_t random) {
    int64_t low = dtype->least < -32768 ? -32768 : dtype->least;
    int64_t high = dtype->greatest > 65535 ? 32767 : dtype->greatest;
    if (fill == QDQ_FILL_ZERO_POINT) low = low < -4 ? -4 : low, high = high > 4 ? 4 : high;
    if (fill == QDQ_FILL_COUNT) low = 1, high = high > 1000 ? 1000 : high;
    return low + (int64_t)((random >> 32) % (uint64_t)(high - low + 1));
}

static bool fill_input(qdq_exec *exec, const qdq_tensor_info *input, uint64_t seed, qdq_fill fill) {
    const qdq_dtype_info *dtype = qdq_dtype_get(input->dtype);
    size_t count = qdq_shape_count(input->shape), size = qdq_dtype_size(input->dtype);
    uint64_t state = seed;
    for (const char *c = input->name; *c; c++) state = state * 131 + (unsigned char)*c;
    bool is_double = input->dtype == QDQ_FLOAT64,
         is_float = qdq_dtype_is_real(input->dtype) && !is_double;
    char *data = malloc(count * (is_float ? sizeof(float) : size));
    if (!data) return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t random = next_random(&state);
        if (is_double) {
            ((double *)(void *)data)[i] = (double)random_float(fill, dtype->kind, random);
        } else if (is_float) {
            ((float *)(void *)data)[i] = random_float(fill, dtype->kind, random);
        } else {
            int64_t value = random_int(fill, dtype, random);
            memcpy(data + i * size, &value, size);  // little-endian
        }
    }
    qdq_error err = {0};
    qdq_status status =
        qdq_exec_write(exec, input->name, is_float ? QDQ_FLOAT32 : input->dtype, data, count, &err);
    free(data);
    return status == QDQ_OK;
}

//---- All inputs -------------------------------------------------------------

static bool has_input(const qdq_plan *plan, const char *name) {
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++)
        if (strcmp(qdq_plan_input(plan, i)->name, name) == 0) return true;
    return false;
}

static int unknown_input(const qdq_plan *plan, const char *name) {
    size_t count = qdq_plan_input_count(plan);
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++) names[i] = qdq_plan_input(plan, i)->name;
    int code = tell_unknown("input", name, names, names ? count : 0);
    free(names);
    return code;
}

// A file without NAME must be a .safetensors file with a tensor for some input.
static int check_nameless(const qdq_graph *graph, const qdq_plan *plan, const tensor_spec *spec) {
    size_t count = qdq_plan_input_count(plan);
    qdq_error err = {0};
    if (is_no_tensor_file(stream_path(spec->file), &err)) return report_error(&err);
    if (!holds_named_tensors(spec->file))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--input is '%s', wanted NAME=%s, or a .safetensors file for all",
                            spec->file, spec->file);
    qdq_tensor_file *file = tensor_file_open(spec->file, &err);
    if (!file) return report_error(&err);
    bool used = false;
    for (size_t i = 0; i < count; i++) {
        const char *name = qdq_plan_input(plan, i)->name;
        used |= qdq_tensor_file_find(file, name) ||
                qdq_tensor_file_find(file, qdq_value_original(graph, name));
    }
    qdq_tensor_file_close(file);
    if (used) return EXIT_OK;
    return tell_failure(QDQ_ERR_PARSE,
                        "%s has no tensor with the name of an input; use -i NAME=%s#TENSOR",
                        spec->file, spec->file);
}

// Every --input must match an input.
static int check_names(const qdq_graph *graph, const qdq_plan *plan, const options *opt) {
    for (size_t k = 0; k < opt->inputs.count; k++) {
        tensor_spec spec;
        if (!tensor_spec_of_input(graph, opt->inputs.items[k], &spec))
            return tell_failure(QDQ_ERR_ARGUMENT, "--input is '%s', wanted [NAME=]FILE",
                                opt->inputs.items[k]);
        if (*spec.name && !has_input(plan, spec.name)) return unknown_input(plan, spec.name);
        for (size_t i = 0; *spec.name && i < k; i++) {
            tensor_spec other;
            if (tensor_spec_of_input(graph, opt->inputs.items[i], &other) &&
                strcmp(other.name, spec.name) == 0)
                return tell_failure(QDQ_ERR_ARGUMENT, "input '%s' is given twice: %s and %s",
                                    spec.name, other.file, spec.file);
        }
        int code = *spec.name ? EXIT_OK : check_nameless(graph, plan, &spec);
        if (code != EXIT_OK) return code;
    }
    return EXIT_OK;
}

// Finds the file for an input: one with its name, or a file without NAME that has such a tensor, in
// which the input may have the name that the file of the graph gives it.
static bool find_spec(const qdq_graph *graph, const options *opt, const char *name,
                      tensor_spec *spec) {
    const char *original = qdq_value_original(graph, name);
    for (size_t k = 0; k < opt->inputs.count; k++) {
        (void)tensor_spec_of_input(graph, opt->inputs.items[k], spec);
        if (*spec->name ? strcmp(spec->name, name) == 0 : tensor_file_has(spec->file, name))
            return true;
        if (*spec->name || original == name || !tensor_file_has(spec->file, original)) continue;
        snprintf(spec->tensor, sizeof spec->tensor, "%s", original);
        return true;
    }
    return false;
}

static int give_input(const fill_table *fills, const qdq_graph *graph, qdq_exec *exec,
                      const qdq_tensor_info *input, const options *opt, uint64_t seed) {
    tensor_spec spec;
    if (find_spec(graph, opt, input->name, &spec)) return write_input(exec, input, &spec);
    if (!opt->fill)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "input '%s' is not given; add -i %s=FILE, or --fill SEED", input->name,
                            input->name);
    if (fill_input(exec, input, seed, fill_of(graph, fills, input->name))) return EXIT_OK;
    return tell_failure(QDQ_ERR_MEMORY, "no memory to fill input '%s'", input->name);
}

int give_inputs(const qdq_graph *graph, const qdq_plan *plan, qdq_exec *exec, const options *opt) {
    size_t seed;
    fill_table fills = {0};
    int code = check_names(graph, plan, opt);
    if (code != EXIT_OK) return code;
    if (!options_number("fill", opt->fill, 0, 0, &seed)) return EXIT_USAGE;
    if (opt->fill && !make_fills(graph, &fills))
        return tell_failure(QDQ_ERR_MEMORY, "no memory to fill inputs");
    for (size_t i = 0; i < qdq_plan_input_count(plan) && code == EXIT_OK; i++)
        code = give_input(&fills, graph, exec, qdq_plan_input(plan, i), opt, seed);
    free(fills.fills);
    return code;
}
