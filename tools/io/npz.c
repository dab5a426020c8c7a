// SPDX-License-Identifier: Apache-2.0
#include "tools/io/npz.h"

#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/io/npy_header.h"
#include "tools/io/npy_source.h"
#include "tools/io/zip/zip_file.h"

typedef struct member {
    char *name;     // owned
    size_t number;  // in the file
    byte_source source;
} member;

struct npz_file {
    FILE *stream;
    char *path;
    member *members;  // sorted by name, so that npz_find is quick
    size_t count;
};

static qdq_status failed(const npz_file *f, qdq_status status, const qdq_error *own,
                         qdq_error *err) {
    return npy_fail(err, status, "%s: %s", f->path, own->text);
}

//---- The directory ----------------------------------------------------------

// Adds a member named "NAME.npy".
static bool add_member(npz_file *f, const char *name, const byte_source *source) {
    size_t length = strlen(name);
    if (f->count % 16 == 0) {
        member *more = realloc(f->members, (f->count + 16) * sizeof *more);
        if (!more) return false;
        f->members = more;
    }
    member m = {.name = malloc(length + 1), .number = f->count, .source = *source};
    if (!m.name) return false;
    memcpy(m.name, name, length + 1);
    m.name[length - strlen(".npy")] = '\0';
    f->members[f->count++] = m;
    return true;
}

static bool is_array(const char *name) {
    size_t length = strlen(name);
    return length >= 4 && strcmp(name + length - 4, ".npy") == 0;
}

// Orders members by name, and equal names by number.
static int compare_members(const void *a, const void *b) {
    const member *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static qdq_status list_members(npz_file *f, uint64_t bytes, qdq_error *err) {
    zip_file zip = {0};
    char name[ZIP_NAME];
    byte_source source;
    bool more = true;
    qdq_error own = {0};
    qdq_status status = zip_open(&zip, f->stream, bytes, &own);
    while (status == QDQ_OK && more) {
        status = zip_next(&zip, name, &source, &more, &own);
        if (status != QDQ_OK || !more || !is_array(name)) continue;
        if (!add_member(f, name, &source)) status = source_fail(&own, QDQ_ERR_MEMORY, "no memory");
    }
    zip_close(&zip);
    if (f->count) qsort(f->members, f->count, sizeof *f->members, compare_members);
    return status == QDQ_OK ? QDQ_OK : failed(f, status, &own, err);
}

npz_file *npz_open(const char *path, qdq_error *err) {
    uint64_t bytes = 0;
    qdq_error own = {0};
    npz_file *f = calloc(1, sizeof *f);
    if (f) f->path = malloc(strlen(path) + 1);
    if (!f || !f->path) {
        (void)npy_fail(err, QDQ_ERR_MEMORY, "%s: out of memory", path);
        free(f);
        return NULL;
    }
    memcpy(f->path, path, strlen(path) + 1);
    f->stream = open_regular_file(path, &bytes, &own);
    qdq_status status = f->stream ? list_members(f, bytes, err) : failed(f, own.status, &own, err);
    if (status == QDQ_OK) return f;
    npz_close(f);
    return NULL;
}

void npz_close(npz_file *file) {
    if (!file) return;
    for (size_t i = 0; i < file->count; i++) free(file->members[i].name);
    free(file->members);
    free(file->path);
    if (file->stream) (void)fclose(file->stream);
    free(file);
}

size_t npz_count(const npz_file *file) { return file->count; }
const char *npz_name(const npz_file *file, size_t index) { return file->members[index].name; }

size_t npz_find(const npz_file *file, const char *name) {
    size_t low = 0, high = file->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(file->members[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < file->count && strcmp(file->members[low].name, name) == 0;
    return found ? low : file->count;
}

//---- Reading ----------------------------------------------------------------

static qdq_status read_array(byte_source *source, const qdq_shape *wanted,
                             const qdq_allocator *from, npy_tensor *out, qdq_error *err) {
    uint64_t at = 0;
    qdq_status status = npy_source_header(source, &out->dtype, &out->shape, &out->bytes, &at, err);
    if (status != QDQ_OK || (wanted && !qdq_shape_equal(*wanted, out->shape))) return status;
    out->data = elements_take(from, out->bytes);
    if (!out->data) return source_fail(err, QDQ_ERR_MEMORY, "no memory for %zu bytes", out->bytes);
    return source_read(source, at, out->data, out->bytes, err);
}

qdq_status npz_read(npz_file *file, size_t index, const qdq_shape *wanted,
                    const qdq_allocator *from, npy_tensor *out, qdq_error *err) {
    const member *m = &file->members[index];
    byte_source source = m->source;
    qdq_error own = {0};
    *out = (npy_tensor){0};
    qdq_status status = read_array(&source, wanted, from, out, &own);
    source_close(&source);
    if (status == QDQ_OK) return QDQ_OK;
    npy_release(out);
    return npy_fail(err, status, "%s: '%s': %s", file->path, m->name, own.text);
}
