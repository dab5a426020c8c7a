// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/tensor_list.h"

#include <inttypes.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/inspect/inventory.h"
#include "tools/io/array_file.h"
#include "tools/io/file_kind.h"
#include "tools/options.h"

bool is_tensor_list(const char *path) {
    file_kind kind = file_kind_of(path);
    return kind == KIND_NPY || kind == KIND_NPZ || kind == KIND_SAFETENSORS;
}

// Returns the bytes of the elements in the file; 0: unknown.
static uint64_t bytes_of(const file_array *array) {
    if (array->info) return array->info->bytes;
    return array->dtype ? tensor_bytes(array->dtype, array->shape) : 0;
}

// Returns the dtype, or the name that the file has for an unknown one.
static const char *dtype_of(const array_file *file, const file_array *array) {
    if (array->dtype || !array->info) return qdq_dtype_name(array->dtype);
    return qdq_tensor_file_dtype(file->tensors, array->info);
}

static void print_array(const array_file *file, const file_array *array) {
    char shape[128];
    printf("  %s%s", array->name, file->nameless ? "" : ": ");
    if (!array->dtype && !array->info) {
        printf("%s\n", array->problem.text);
        return;
    }
    printf("%s %s, %" PRIu64 " bytes%s\n", dtype_of(file, array),
           qdq_write_shape(array->shape, shape, sizeof shape), bytes_of(array),
           array->dtype ? "" : ", which qdq does not read");
}

static void json_array(qdq_json *json, const array_file *file, const file_array *array) {
    qdq_json_begin_object(json);
    json_string_key(json, "name", array->name);
    json_string_key(json, "dtype", dtype_of(file, array));
    qdq_json_key(json, "shape");
    json_shape(json, array->shape);
    json_uint_key(json, "bytes", bytes_of(array));
    qdq_json_end_object(json);
}

static void print_arrays(const array_file *file, const char *path, const options *opt) {
    uint64_t bytes = 0;
    qdq_json json;
    for (size_t i = 0; i < file->count; i++) bytes += bytes_of(&file->arrays[i]);
    if (opt->json) {
        json_begin(&json);
        json_string_key(&json, "file", path);
        json_string_key(&json, "kind", "tensors");
        json_uint_key(&json, "bytes", bytes);
        qdq_json_key(&json, "tensors");
        qdq_json_begin_array(&json);
    } else {
        printf("%s: %zu tensor%s, %" PRIu64 " bytes\n", path, file->count,
               file->count == 1 ? "" : "s", bytes);
    }
    for (size_t i = 0; i < file->count; i++) {
        if (opt->json)
            json_array(&json, file, &file->arrays[i]);
        else
            print_array(file, &file->arrays[i]);
    }
    if (!opt->json) return;
    qdq_json_end_array(&json);
    json_end(&json);
}

int print_tensor_list(const char *path, const options *opt) {
    array_file file;
    qdq_error err = {0};
    int code = EXIT_OK;
    if (array_file_open_kind(&file, path, opt->memory, &err) == QDQ_OK)
        print_arrays(&file, path, opt);
    else
        code = tell_failure(err.status, "%s: %s", path, err.text);
    array_file_close(&file);
    return code;
}
