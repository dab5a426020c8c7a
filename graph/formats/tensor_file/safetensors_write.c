// SPDX-License-Identifier: Apache-2.0
// Writes tensors as a .safetensors file.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "graph/formats/new_file.h"
#include "graph/formats/tensor_file/safetensors_header.h"
#include "include/qdq/tensor_file.h"
#include "runtime/base/error.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/json_writer.h"
#include "runtime/base/mempool.h"
#include "runtime/base/utf8.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               ".safetensors data is not converted: build for a little-endian machine");

enum {
    LENGTH_BYTES = 8,
    DATA_ALIGN = 8,
    VALUES_PER_TENSOR = 6 + QDQ_MAX_RANK,  // upper bound; see write_header_json
    SHOWN_BYTES = 80,
};

//---- Checks ----

static qdq_status data_bytes(const qdq_tensor *tensor, size_t *out, qdq_error *err) {
    const qdq_shape *shape = &tensor->shape;
    *out = qdq_dtype_size(tensor->dtype);
    if (shape->rank < 0 || shape->rank > QDQ_MAX_RANK)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "rank is %d, wanted 0 to %d", shape->rank,
                        QDQ_MAX_RANK);
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 1)
            return qdq_fail(err, QDQ_ERR_ARGUMENT, "dim %d of shape is %lld, wanted at least 1", i,
                            (long long)shape->dims[i]);
        if (__builtin_mul_overflow(*out, shape->dims[i], out))
            return qdq_fail(err, QDQ_ERR_ARGUMENT, "shape is larger than the address space");
    }
    return QDQ_OK;
}

static qdq_status check_name(const char *name, qdq_error *err) {
    if (!name || name[0] == '\0' || strcmp(name, "__metadata__") == 0)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "a tensor is named '%s', which the format keeps",
                        name ? name : "");
    size_t length = strlen(name), valid = qdq_utf8_valid(name, length);
    if (valid == length) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_ARGUMENT, "a name has byte 0x%02X, wanted UTF-8",
                    (unsigned)(unsigned char)name[valid]);
}

static qdq_status check_tensor(const qdq_tensor *tensor, size_t *all_bytes, qdq_error *err) {
    const qdq_dtype_info *row = qdq_dtype_get(tensor->dtype);
    size_t bytes;
    if (!row)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "dtype is %d, wanted a known dtype",
                        (int)tensor->dtype);
    if (row->safetensors[0] == '\0')
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "dtype is %s, which the format does not have",
                        row->name);
    QDQ_TRY(data_bytes(tensor, &bytes, err));
    if (!tensor->data) return qdq_fail(err, QDQ_ERR_ARGUMENT, "the data is NULL");
    if (__builtin_add_overflow(*all_bytes, bytes, all_bytes))
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "the tensors are larger than the address space");
    return QDQ_OK;
}

static qdq_status check_named(const qdq_tensor *tensors, size_t count, qdq_symbols *names,
                              qdq_error *err) {
    size_t all_bytes = 0;
    if (count > QDQ_SAFETENSORS_MAX_VALUES / VALUES_PER_TENSOR)
        return qdq_fail(err, QDQ_ERR_LIMIT, "%zu tensors, wanted at most %d in a file", count,
                        QDQ_SAFETENSORS_MAX_VALUES / VALUES_PER_TENSOR);
    for (size_t i = 0; i < count; i++) {
        const qdq_tensor *tensor = &tensors[i];
        char shown[SHOWN_BYTES];
        qdq_error own = {0};
        QDQ_TRY(check_name(tensor->name, err));
        size_t length = strlen(tensor->name);
        qdq_utf8_show(shown, sizeof shown, tensor->name, length);
        qdq_status status = check_tensor(tensor, &all_bytes, &own);
        if (status != QDQ_OK) return qdq_fail(err, status, "tensor '%s': %s", shown, own.text);
        status = qdq_symbols_add(names, tensor->name, length, 0, &own);
        if (status == QDQ_ERR_ARGUMENT)
            return qdq_fail(err, status, "two tensors are named '%s'", shown);
        if (status != QDQ_OK) return qdq_fail(err, status, "%s", own.text);
    }
    return QDQ_OK;
}

static qdq_status check_tensors(const qdq_tensor *tensors, size_t count,
                                const qdq_allocator *allocator, qdq_error *err) {
    qdq_symbols *names = qdq_symbols_create(allocator, err);
    if (!names) return QDQ_ERR_MEMORY;
    qdq_status status = check_named(tensors, count, names, err);
    qdq_symbols_destroy(names);
    return status;
}

//---- The header ----

typedef struct text_sink {
    char *text;  // NULL: only count the bytes
    size_t length;
} text_sink;

static void append(void *self, const char *bytes, size_t count) {
    text_sink *sink = self;
    if (sink->text) memcpy(sink->text + sink->length, bytes, count);
    sink->length += count;
}

static size_t bytes_of(const qdq_tensor *tensor) {
    return qdq_shape_count(tensor->shape) * qdq_dtype_size(tensor->dtype);
}

static void write_header_json(text_sink *sink, const qdq_tensor *tensors, size_t count) {
    qdq_json json;
    uint64_t at = 0;
    qdq_json_init(&json, append, sink, 0);
    qdq_json_begin_object(&json);
    for (size_t i = 0; i < count; i++) {
        qdq_json_key(&json, tensors[i].name);
        qdq_json_begin_object(&json);
        qdq_json_key(&json, "dtype");
        qdq_json_string(&json, qdq_dtype_get(tensors[i].dtype)->safetensors);
        qdq_json_key(&json, "shape");
        qdq_json_begin_array(&json);
        for (int r = 0; r < tensors[i].shape.rank; r++)
            qdq_json_int(&json, tensors[i].shape.dims[r]);
        qdq_json_end_array(&json);
        qdq_json_key(&json, "data_offsets");
        qdq_json_begin_array(&json);
        qdq_json_uint(&json, at);
        at += bytes_of(&tensors[i]);
        qdq_json_uint(&json, at);
        qdq_json_end_array(&json);
        qdq_json_end_object(&json);
    }
    qdq_json_end_object(&json);
    while (sink->length % DATA_ALIGN) append(sink, " ", 1);
}

//---- The file ----

static qdq_status write_content(FILE *stream, const text_sink *header, const qdq_tensor *tensors,
                                size_t count, qdq_error *err) {
    uint64_t length = header->length;
    bool done = fwrite(&length, LENGTH_BYTES, 1, stream) == 1 &&
                fwrite(header->text, header->length, 1, stream) == 1;
    for (size_t i = 0; i < count && done; i++)
        done = fwrite(tensors[i].data, bytes_of(&tensors[i]), 1, stream) == 1;
    return done ? QDQ_OK : qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
}

static qdq_status write_file(const char *path, const qdq_tensor *tensors, size_t count,
                             const qdq_allocator *allocator, qdq_error *err) {
    QDQ_TRY(check_tensors(tensors, count, allocator, err));
    text_sink header = {0};
    write_header_json(&header, tensors, count);
    size_t header_bytes = header.length;
    if (header_bytes > QDQ_SAFETENSORS_MAX_HEADER)
        return qdq_fail(err, QDQ_ERR_LIMIT, "the header has %zu bytes, wanted at most %d",
                        header_bytes, (int)QDQ_SAFETENSORS_MAX_HEADER);
    qdq_new_file file;
    QDQ_TRY(qdq_new_file_open(&file, path, allocator, err));
    qdq_status status;
    header = (text_sink){.text = qdq_alloc_array(allocator, header_bytes, 1, 1)};
    if (header.text) {
        write_header_json(&header, tensors, count);
        status = write_content(file.stream, &header, tensors, count, err);
    } else {
        status = qdq_fail_memory(err, header_bytes);
    }
    qdq_free_array(allocator, header.text, header_bytes, 1);
    return qdq_new_file_close(&file, path, status, err);
}

qdq_status qdq_tensor_file_write(const char *path, const qdq_tensor *tensors, size_t count,
                                 const qdq_allocator *allocator, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_error own = {0};
    if (!path || (!tensors && count))
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "the %s of a .safetensors file is NULL",
                        path ? "list of tensors" : "path");
    qdq_status status = write_file(path, tensors, count, qdq_allocator_or_default(allocator), &own);
    return status == QDQ_OK ? QDQ_OK : qdq_fail(err, status, "%s: %s", path, own.text);
}
