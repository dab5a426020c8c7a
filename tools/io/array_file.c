// SPDX-License-Identifier: Apache-2.0
// Lists the arrays of .npy, .npz and .safetensors files, and reads parts of them.
#include "tools/io/array_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/io/file_kind.h"
#include "tools/io/npy_source.h"
#include "tools/io/tensor_io.h"

bool is_array_file_name(const char *path) {
    return has_ending(path, ".npy") || has_ending(path, ".npz") || has_ending(path, ".safetensors");
}

// Appends an empty array; NULL if memory runs out.
static file_array *add_array(array_file *file, const char *name, size_t name_bytes) {
    if (file->count % 16 == 0) {
        file_array *more = realloc(file->arrays, (file->count + 16) * sizeof *more);
        if (!more) return NULL;
        file->arrays = more;
    }
    file_array *array = &file->arrays[file->count];
    *array = (file_array){.name = malloc(name_bytes + 1)};
    if (!array->name) return NULL;
    memcpy(array->name, name, name_bytes);
    array->name[name_bytes] = '\0';
    file->count++;
    return array;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(((const file_array *)a)->name, ((const file_array *)b)->name);
}

static int find_name(const void *name, const void *array) {
    return strcmp(name, ((const file_array *)array)->name);
}

// Sorts the arrays by name. Names are given once.
static void sort_arrays(array_file *file) {
    if (file->count) qsort(file->arrays, file->count, sizeof *file->arrays, compare_names);
}

//---- .npy -------------------------------------------------------------------

static qdq_status read_header(file_array *array, qdq_error *err) {
    size_t bytes;
    return npy_source_header(&array->source, &array->dtype, &array->shape, &bytes, &array->data_at,
                             err);
}

static qdq_status open_npy(array_file *file, const char *path, qdq_error *err) {
    uint64_t bytes = 0;
    file->file = open_regular_file(path, &bytes, err);
    if (!file->file) return err->status;
    file_array *array = add_array(file, "", 0);
    if (!array) return source_fail(err, QDQ_ERR_MEMORY, "out of memory: an array");
    file->nameless = true;
    array->source = (byte_source){.file = file->file, .stored = bytes, .size = bytes};
    return read_header(array, err);
}

//---- .npz -------------------------------------------------------------------

static qdq_status list_members(array_file *file, zip_file *zip, qdq_error *err) {
    char name[ZIP_NAME];
    byte_source source;
    bool more = true;
    for (;;) {
        qdq_status status = zip_next(zip, name, &source, &more, err);
        if (status != QDQ_OK || !more) return status;
        if (!has_ending(name, ".npy")) continue;
        file_array *array = add_array(file, name, strlen(name) - strlen(".npy"));
        if (!array) return source_fail(err, QDQ_ERR_MEMORY, "out of memory: an array");
        array->source = source;
    }
}

// Refuses an archive of a few bytes that would be read for hours.
static qdq_status check_inflated(const array_file *file, qdq_error *err) {
    uint64_t inflated = 0;
    for (size_t i = 0; i < file->count; i++) {
        const byte_source *source = &file->arrays[i].source;
        uint64_t size = source->deflated ? source->size : 0;
        inflated = size > UINT64_MAX - inflated ? UINT64_MAX : inflated + size;
    }
    if (inflated <= file->memory->left) return QDQ_OK;
    file->memory->exceeded = true, file->memory->had = file->memory->left;
    return source_fail(err, QDQ_ERR_MEMORY,
                       "the archive inflates to %" PRIu64 " bytes, which do not fit", inflated);
}

static qdq_status open_npz(array_file *file, const char *path, qdq_error *err) {
    zip_file zip = {0};
    uint64_t bytes = 0;
    file->file = open_regular_file(path, &bytes, err);
    if (!file->file) return err->status;
    qdq_status status = zip_open(&zip, file->file, bytes, err);
    if (status == QDQ_OK) status = list_members(file, &zip, err);
    zip_close(&zip);
    if (status == QDQ_OK) status = check_inflated(file, err);
    sort_arrays(file);
    // An element type that cannot be read is an error only once the member is read.
    for (size_t i = 0; status == QDQ_OK && i < file->count; i++)
        (void)read_header(&file->arrays[i], &file->arrays[i].problem);
    return status;
}

//---- .safetensors -----------------------------------------------------------

static qdq_status open_safetensors(array_file *file, const char *path, qdq_error *err) {
    qdq_error own = {0};
    size_t path_bytes = strlen(path);
    file->tensors = qdq_tensor_file_open(path, &file->memory->allocator, &own);
    if (!file->tensors) {
        bool named = strncmp(own.text, path, path_bytes) == 0 && own.text[path_bytes] == ':';
        return source_fail(err, own.status, "%s", own.text + (named ? path_bytes + 2 : 0));
    }
    for (size_t i = 0; i < qdq_tensor_file_count(file->tensors); i++) {
        const qdq_tensor_info *info = qdq_tensor_file_at(file->tensors, i);
        file_array *array = add_array(file, info->name, strlen(info->name));
        if (!array) return source_fail(err, QDQ_ERR_MEMORY, "out of memory: an array");
        array->info = info;
        array->dtype = info->dtype, array->shape = info->shape;
        if (info->dtype == QDQ_DTYPE_NONE)
            (void)source_fail(&array->problem, QDQ_ERR_UNSUPPORTED, "has an unknown element type");
    }
    sort_arrays(file);
    return QDQ_OK;
}

//---- Entry ------------------------------------------------------------------

qdq_status array_file_open(array_file *file, const char *path, qdq_budget *memory, qdq_error *err) {
    *file = (array_file){.memory = memory};
    if (has_ending(path, ".npy")) return open_npy(file, path, err);
    if (has_ending(path, ".npz")) return open_npz(file, path, err);
    return open_safetensors(file, path, err);
}

qdq_status array_file_open_kind(array_file *file, const char *path, qdq_budget *memory,
                                qdq_error *err) {
    file_kind kind = file_kind_of(path);
    *file = (array_file){.memory = memory};
    if (kind == KIND_NPY) return open_npy(file, path, err);
    if (kind == KIND_NPZ) return open_npz(file, path, err);
    return open_safetensors(file, path, err);
}

void array_file_close(array_file *file) {
    for (size_t i = 0; i < file->count; i++) {
        source_close(&file->arrays[i].source);
        free(file->arrays[i].name);
        elements_free(file->arrays[i].loaded);
    }
    free(file->arrays);
    qdq_tensor_file_close(file->tensors);
    if (file->file) (void)fclose(file->file);
    *file = (array_file){0};
}

file_array *array_file_find(const array_file *file, const char *name, qdq_error *err) {
    file_array *array = file->arrays;
    if (!file->nameless && file->count)
        array = bsearch(name, file->arrays, file->count, sizeof *file->arrays, find_name);
    if (!array)
        (void)source_fail(err, QDQ_ERR_PARSE, "has no array '%.200s'", name);
    else if (array->problem.status != QDQ_OK)
        (void)source_fail(err, array->problem.status, "array '%.200s': %.600s", name,
                          array->problem.text);
    else
        return array;
    return NULL;
}

qdq_status file_array_read(const array_file *file, file_array *array, uint64_t from, void *out,
                           size_t count, qdq_error *err) {
    size_t size = qdq_dtype_size(array->dtype);
    if (!array->info)
        return source_read(&array->source, array->data_at + from * size, out, count * size, err);
    if (!array->loaded) {
        void *all = elements_take(&file->memory->allocator, array->info->bytes);
        if (!all)
            return source_fail(err, QDQ_ERR_MEMORY, "no memory for %zu bytes", array->info->bytes);
        qdq_status status = qdq_tensor_file_read(file->tensors, array->info, all, err);
        if (status != QDQ_OK) elements_free(all);
        if (status != QDQ_OK) return status;
        array->loaded = all;
    }
    memcpy(out, (const char *)array->loaded + from * size, count * size);
    return QDQ_OK;
}
