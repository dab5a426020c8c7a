// SPDX-License-Identifier: Apache-2.0
#include "tools/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/tensor_io.h"

//---- Inputs from files ------------------------------------------------------

static int write_input(qdq_exec *exec, const qdq_tensor_info *input, const tensor_spec *spec) {
    qdq_error err = {0};
    loaded_tensor tensor;
    char has[128], wants[128];
    if (tensor_load(spec, input->name, &tensor, &err) != QDQ_OK) return report_error(&err);
    int code = EXIT_OK;
    if (are_codes_of(input->dtype, tensor.dtype, spec->file)) tensor.dtype = input->dtype;
    if (!qdq_shape_equal(tensor.shape, input->shape)) {
        fprintf(stderr, "qdq: input '%s': %s has shape %s, wanted %s\n", input->name, spec->file,
                shape_text(tensor.shape, has, sizeof has),
                shape_text(input->shape, wants, sizeof wants));
        code = EXIT_BAD_FILE;
    } else if (qdq_exec_write(exec, input->name, tensor.dtype, tensor.data,
                              qdq_shape_count(tensor.shape), &err) != QDQ_OK) {
        fprintf(stderr, "qdq: %s: %s\n", spec->file, err.text);
        code = EXIT_BAD_FILE;
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

// Floats in [-4, 4); integers over the range of their type, at most 16 bits of it.
static bool fill_input(qdq_exec *exec, const qdq_tensor_info *input, uint64_t seed) {
    const qdq_dtype_info *dtype = qdq_dtype_get(input->dtype);
    size_t count = qdq_shape_count(input->shape), size = qdq_dtype_size(input->dtype);
    uint64_t state = seed;
    for (const char *c = input->name; *c; c++) state = state * 131 + (unsigned char)*c;
    bool is_float = qdq_dtype_is_real(input->dtype);
    char *data = malloc(count * (is_float ? sizeof(float) : size));
    if (!data) return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t random = next_random(&state);
        if (is_float) {
            float value = (float)(random >> 40) * 0x1p-21f - 4.0f;
            if (dtype->kind == QDQ_KIND_EXPONENT && value < 0) value = -value;  // it has no sign
            ((float *)(void *)data)[i] = value;
        } else {
            int64_t low = dtype->least < -32768 ? -32768 : dtype->least;
            int64_t high = dtype->greatest > 65535 ? 32767 : dtype->greatest;
            int64_t value = low + (int64_t)((random >> 32) % (uint64_t)(high - low + 1));
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

// A file without a name is a .safetensors file that has a tensor for some input.
static int check_nameless(const qdq_plan *plan, const tensor_spec *spec) {
    size_t count = qdq_plan_input_count(plan);
    if (!has_ending(spec->file, ".safetensors")) {
        fprintf(stderr, "qdq: --input is '%s', wanted NAME=%s, or a .safetensors file for all\n",
                spec->file, spec->file);
        return EXIT_USAGE;
    }
    qdq_error err = {0};
    qdq_tensor_file *file = qdq_tensor_file_open(spec->file, NULL, &err);
    if (!file) return report_error(&err);
    bool used = false;
    for (size_t i = 0; i < count; i++)
        used |= qdq_tensor_file_find(file, qdq_plan_input(plan, i)->name) != NULL;
    qdq_tensor_file_close(file);
    if (used) return EXIT_OK;
    fprintf(stderr, "qdq: %s has no tensor with the name of an input; use -i NAME=%s#TENSOR\n",
            spec->file, spec->file);
    return EXIT_BAD_FILE;
}

// Every --input is for an input.
static int check_names(const qdq_plan *plan, const options *opt) {
    for (size_t k = 0; k < opt->inputs.count; k++) {
        tensor_spec spec;
        if (!tensor_spec_parse(opt->inputs.items[k], &spec)) {
            fprintf(stderr, "qdq: --input is '%s', wanted [NAME=]FILE\n", opt->inputs.items[k]);
            return EXIT_USAGE;
        }
        if (*spec.name && !has_input(plan, spec.name)) {
            fprintf(stderr, "qdq: the graph has no input named '%s', it has:", spec.name);
            for (size_t i = 0; i < qdq_plan_input_count(plan); i++)
                fprintf(stderr, " %s", qdq_plan_input(plan, i)->name);
            fprintf(stderr, "\n");
            return EXIT_USAGE;
        }
        for (size_t i = 0; *spec.name && i < k; i++) {
            tensor_spec other;
            if (tensor_spec_parse(opt->inputs.items[i], &other) &&
                strcmp(other.name, spec.name) == 0) {
                fprintf(stderr, "qdq: input '%s' is given twice: %s and %s\n", spec.name,
                        other.file, spec.file);
                return EXIT_USAGE;
            }
        }
        int code = *spec.name ? EXIT_OK : check_nameless(plan, &spec);
        if (code != EXIT_OK) return code;
    }
    return EXIT_OK;
}

// The file that gives an input: by its name, or a file without a name that has such a tensor.
static bool find_spec(const options *opt, const char *name, tensor_spec *spec) {
    for (size_t k = 0; k < opt->inputs.count; k++) {
        (void)tensor_spec_parse(opt->inputs.items[k], spec);
        if (*spec->name ? strcmp(spec->name, name) == 0 : tensor_file_has(spec->file, name))
            return true;
    }
    return false;
}

int give_inputs(const qdq_plan *plan, qdq_exec *exec, const options *opt) {
    size_t seed;
    int code = check_names(plan, opt);
    if (code != EXIT_OK) return code;
    if (!options_number("fill", opt->fill, 0, 0, &seed)) return EXIT_USAGE;
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        const qdq_tensor_info *input = qdq_plan_input(plan, i);
        tensor_spec spec;
        if (find_spec(opt, input->name, &spec)) {
            code = write_input(exec, input, &spec);
            if (code != EXIT_OK) return code;
        } else if (!opt->fill) {
            fprintf(stderr, "qdq: input '%s' is not given; add -i %s=FILE, or --fill SEED\n",
                    input->name, input->name);
            return EXIT_USAGE;
        } else if (!fill_input(exec, input, seed)) {
            fprintf(stderr, "qdq: no memory to fill input '%s'\n", input->name);
            return EXIT_LIMIT;
        }
    }
    return EXIT_OK;
}
