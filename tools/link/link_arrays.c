// SPDX-License-Identifier: Apache-2.0
#include "tools/link/link_arrays.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/budget.h"
#include "runtime/base/mempool.h"
#include "tools/elements.h"
#include "tools/io/array_file.h"
#include "tools/io/streams.h"
#include "tools/io/tensor_io.h"
#include "tools/link/fragment.h"
#include "tools/link/structure.h"

// Arrays that are read; names are from malloc, elements from `memory`.
typedef struct array_list {
    qdq_budget memory;
    qdq_tensor *items;
    size_t count, bytes;
} array_list;

static bool has_name(const array_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return true;
    return false;
}

// Appends an array without elements. NULL if memory runs out.
static qdq_tensor *append(array_list *list, const char *name) {
    qdq_tensor *more = realloc(list->items, (list->count + 1) * sizeof *more);
    if (!more) return NULL;
    list->items = more;
    more[list->count] = (qdq_tensor){.name = strdup(name)};
    return more[list->count].name ? &more[list->count++] : NULL;
}

static bool add_array(array_list *list, const array_file *file, file_array *array, const char *name,
                      qdq_error *err) {
    size_t count = qdq_shape_count(array->shape), size = qdq_dtype_size(array->dtype);
    if (array->problem.status != QDQ_OK) *err = array->problem;
    if (err->status != QDQ_OK) return false;
    if (has_name(list, name))
        return source_fail(err, QDQ_ERR_ARGUMENT, "'%.200s' is given twice", name), false;
    if (count > (LINK_TEXT_LIMIT - list->bytes) / size)
        return source_fail(err, QDQ_ERR_LIMIT,
                           "'%.200s' is too large for a link, wanted at most %d bytes in all", name,
                           LINK_TEXT_LIMIT),
               false;
    void *data = elements_take(&list->memory.allocator, count * size);
    qdq_tensor *tensor = data ? append(list, name) : NULL;
    if (!tensor) {
        elements_free(data);
        return source_fail(err, QDQ_ERR_MEMORY, "no memory for '%.200s'", name), false;
    }
    list->bytes += count * size;
    tensor->dtype = array->dtype, tensor->shape = array->shape, tensor->data = data;
    return file_array_read(file, array, 0, data, count, err) == QDQ_OK;
}

// Adds the array that a text names, or all arrays of a file without NAME.
static void add_arrays(array_list *list, const array_file *file, const tensor_spec *spec,
                       qdq_error *err) {
    if (!*spec->name && !*spec->tensor && !file->nameless) {
        for (size_t i = 0; i < file->count; i++)
            if (!add_array(list, file, &file->arrays[i], file->arrays[i].name, err)) return;
        return;
    }
    const char *name = *spec->name ? spec->name : spec->tensor;
    if (!*name) {
        (void)source_fail(err, QDQ_ERR_ARGUMENT, "has an array without a name, wanted NAME=FILE");
        return;
    }
    file_array *array = *spec->tensor || file->count != 1
                            ? array_file_find(file, *spec->tensor ? spec->tensor : name, err)
                            : &file->arrays[0];
    if (array) (void)add_array(list, file, array, name, err);
}

static bool read_arrays(array_list *list, const char *text, qdq_error *err) {
    tensor_spec spec;
    array_file file = {0};
    qdq_error own = {0};
    if (!tensor_spec_parse(text, &spec))
        return source_fail(err, QDQ_ERR_ARGUMENT, "'%.200s' is given, wanted [NAME=]FILE", text),
               false;
    if (array_file_open_kind(&file, stream_path(spec.file), &list->memory, &own) == QDQ_OK)
        add_arrays(list, &file, &spec, &own);
    array_file_close(&file);
    if (own.status != QDQ_OK) (void)source_fail(err, own.status, "%.400s: %s", spec.file, own.text);
    return own.status == QDQ_OK;
}

char *link_arrays(const string_list *files, qdq_error *err) {
    array_list list = {.count = 0};
    char *text = NULL;
    bool read = true;
    // A tensor of a .safetensors file is read twice, by the file and into the list; and its header.
    qdq_budget_init(&list.memory, qdq_allocator_or_default(NULL), (size_t)3 * LINK_TEXT_LIMIT);
    for (size_t i = 0; read && i < files->count; i++)
        read = read_arrays(&list, files->items[i], err);
    if (read) text = structure_of_tensors(list.items, list.count, err);
    for (size_t i = 0; i < list.count; i++) {
        elements_free((void *)list.items[i].data);
        free((void *)list.items[i].name);
    }
    free(list.items);
    return text;
}
