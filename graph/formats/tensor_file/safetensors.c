// SPDX-License-Identifier: Apache-2.0
// Opens .safetensors files, finds their tensors and reads them.
#include "graph/formats/tensor_file/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "graph/core/open_file.h"
#include "graph/formats/tensor_file/safetensors_header.h"
#include "runtime/base/error.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/mempool.h"
#include "runtime/base/utf8.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               ".safetensors data is not converted: build for a little-endian machine");

enum { LENGTH_BYTES = 8, SHOWN_BYTES = 80 };

struct qdq_tensor_file {
    const qdq_allocator *allocator;
    char *path;  // for messages
    size_t path_bytes;
    qdq_open_file open;  // descriptor -1: not open yet
    uint64_t data_at;    // offset of the data in the file
    qdq_safetensors_header header;
};

static qdq_status read_text(const qdq_tensor_file *file, char *text, size_t length,
                            uint64_t data_bytes, qdq_safetensors_header *header, qdq_error *err) {
    QDQ_TRY(qdq_open_file_read(file->open.descriptor, text, length, LENGTH_BYTES, err));
    text[length] = '\0';
    return qdq_safetensors_header_read(header, text, length, data_bytes, file->allocator, err);
}

static qdq_status read_header(qdq_tensor_file *file, qdq_error *err) {
    uint64_t length;
    uint64_t rest = file->open.bytes - LENGTH_BYTES;
    if (file->open.bytes < LENGTH_BYTES)
        return qdq_fail(err, QDQ_ERR_PARSE,
                        "the file has %" PRIu64 " bytes, wanted at least the %d of a length",
                        file->open.bytes, (int)LENGTH_BYTES);
    QDQ_TRY(qdq_open_file_read(file->open.descriptor, &length, LENGTH_BYTES, 0, err));
    if (length == 0 || length > QDQ_SAFETENSORS_MAX_HEADER)
        return qdq_fail(err, QDQ_ERR_PARSE, "the header has %" PRIu64 " bytes, wanted 1 to %d",
                        length, (int)QDQ_SAFETENSORS_MAX_HEADER);
    if (length > rest)
        return qdq_fail(err, QDQ_ERR_PARSE,
                        "the header has %" PRIu64 " bytes, but only %" PRIu64 " follow its length",
                        length, rest);
    size_t bytes = (size_t)length;
    char *text = qdq_alloc_array(file->allocator, bytes + 1, 1, 1);
    if (!text) return qdq_fail_memory(err, bytes + 1);
    file->data_at = LENGTH_BYTES + length;
    qdq_status status = read_text(file, text, bytes, rest - length, &file->header, err);
    qdq_free_array(file->allocator, text, bytes + 1, 1);
    return status;
}

// Makes a file object that is not open yet; messages call it "folder/name", or "name" without a
// folder.
static qdq_tensor_file *create(const char *folder, const char *name, const qdq_allocator *allocator,
                               qdq_error *err) {
    allocator = qdq_allocator_or_default(allocator);
    qdq_tensor_file *file = qdq_alloc_array(allocator, 1, sizeof *file, _Alignof(qdq_tensor_file));
    if (!file) {
        qdq_fail_memory(err, sizeof *file);
        return NULL;
    }
    size_t bytes = strlen(folder) + strlen(name) + 2;
    *file = (qdq_tensor_file){.allocator = allocator,
                              .path = qdq_alloc_array(allocator, bytes, 1, 1),
                              .path_bytes = bytes,
                              .open.descriptor = -1};
    if (!file->path) {
        qdq_fail_memory(err, bytes);
        qdq_tensor_file_close(file);
        return NULL;
    }
    (void)snprintf(file->path, bytes, "%s%s%s", folder, folder[0] ? "/" : "", name);
    return file;
}

// Finishes opening: reads the header, or puts the path in front of the error.
static qdq_tensor_file *finish(qdq_tensor_file *file, qdq_status status, qdq_error *own,
                               qdq_error *err) {
    if (status == QDQ_OK) status = read_header(file, own);
    if (status == QDQ_OK) return file;
    qdq_fail(err, status, "%s: %s", file->path, own->text);
    qdq_tensor_file_close(file);
    return NULL;
}

qdq_tensor_file *qdq_tensor_file_open(const char *path, const qdq_allocator *allocator,
                                      qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_error own = {0};
    if (!path) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the path of a .safetensors file is NULL");
        return NULL;
    }
    qdq_tensor_file *file = create("", path, allocator, err);
    if (!file) return NULL;
    return finish(file, qdq_open_path(path, &file->open, &own), &own, err);
}

qdq_tensor_file *qdq_tensor_file_open_beneath(const char *folder, const char *relative,
                                              const qdq_allocator *allocator, qdq_error *err) {
    qdq_error own = {0};
    qdq_tensor_file *file = create(folder, relative, allocator, err);
    if (!file) return NULL;
    return finish(file, qdq_open_beneath(folder, relative, &file->open, &own), &own, err);
}

void qdq_tensor_file_close(qdq_tensor_file *file) {
    if (!file) return;
    if (file->open.descriptor >= 0) close(file->open.descriptor);
    qdq_safetensors_header_release(&file->header);
    qdq_free_array(file->allocator, file->path, file->path_bytes, 1);
    qdq_free_array(file->allocator, file, 1, sizeof *file);
}

size_t qdq_tensor_file_count(const qdq_tensor_file *file) { return file ? file->header.count : 0; }

const qdq_tensor_info *qdq_tensor_file_at(const qdq_tensor_file *file, size_t index) {
    return index < qdq_tensor_file_count(file) ? &file->header.entries[index].info : NULL;
}

const qdq_tensor_info *qdq_tensor_file_find(const qdq_tensor_file *file, const char *name) {
    uint32_t index;
    if (!file || !name) return NULL;
    if (!qdq_symbols_find(file->header.names, name, strlen(name), &index)) return NULL;
    return &file->header.entries[index].info;
}

// Returns the entry that belongs to `info`; NULL if `info` is not from this file.
static const qdq_safetensors_entry *entry_of(const qdq_tensor_file *file,
                                             const qdq_tensor_info *info) {
    uint32_t index;
    if (!file || !info || !info->name) return NULL;
    if (!qdq_symbols_find(file->header.names, info->name, strlen(info->name), &index)) return NULL;
    const qdq_safetensors_entry *entry = &file->header.entries[index];
    return &entry->info == info ? entry : NULL;
}

const char *qdq_tensor_file_dtype(const qdq_tensor_file *file, const qdq_tensor_info *info) {
    const qdq_safetensors_entry *entry = entry_of(file, info);
    return entry ? entry->dtype : NULL;
}

const qdq_open_file *qdq_tensor_file_place(const qdq_tensor_file *file, const qdq_tensor_info *info,
                                           const char **path, uint64_t *at) {
    *path = file->path;
    *at = file->data_at + entry_of(file, info)->begin;
    return &file->open;
}

static qdq_status read_data(const qdq_tensor_file *file, const qdq_safetensors_entry *entry,
                            void *data, qdq_error *err) {
    if (entry->info.dtype == QDQ_DTYPE_NONE) {
        char dtype[SHOWN_BYTES], known[256];
        qdq_safetensors_list_dtypes(known, sizeof known);
        return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "dtype is %s, wanted one of: %s",
                        qdq_utf8_show(dtype, sizeof dtype, entry->dtype, strlen(entry->dtype)),
                        known);
    }
    return qdq_open_file_read(file->open.descriptor, data, entry->info.bytes,
                              file->data_at + entry->begin, err);
}

qdq_status qdq_tensor_file_read(const qdq_tensor_file *file, const qdq_tensor_info *info,
                                void *data, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    const qdq_safetensors_entry *entry = entry_of(file, info);
    if (!entry)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "%s: the info is not of a tensor in this file",
                        file ? file->path : "there is no file");
    if (!data) return qdq_fail(err, QDQ_ERR_ARGUMENT, "%s: the data is NULL", file->path);
    qdq_error own = {0};
    qdq_status status = read_data(file, entry, data, &own);
    if (status == QDQ_OK) return QDQ_OK;
    char shown[SHOWN_BYTES];
    return qdq_fail(err, status, "%s: tensor '%s': %s", file->path,
                    qdq_utf8_show(shown, sizeof shown, info->name, strlen(info->name)), own.text);
}
