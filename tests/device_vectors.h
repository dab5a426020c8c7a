// SPDX-License-Identifier: Apache-2.0
// Reads vectors of Tenstorrent chips: safetensors files in the folders `ttnn_device` and
// `ttnn_sfpu` of the folder that the environment variable QDQ_VECTORS names. Tests that need them
// are skipped without it.
#ifndef QDQ_TESTS_DEVICE_VECTORS_H
#define QDQ_TESTS_DEVICE_VECTORS_H

#include "tests/unit.h"

enum { VECTORS_SKIP = 77 };  // Meson's exit status of a skipped test

typedef struct vector_file {
    char path[512];
    char *bytes;  // of the whole file
    const char *header, *data;
    size_t header_bytes;
} vector_file;

// A tensor of a file; `data` is not aligned, vector_copy aligns it.
typedef struct vector_tensor {
    const char *data;
    size_t bytes;
} vector_tensor;

static inline bool vectors_given(void) { return getenv("QDQ_VECTORS") != NULL; }

static inline vector_file vectors_open_in(const char *folder, const char *name) {
    vector_file file = {0};
    size_t size;
    uint64_t header;
    snprintf(file.path, sizeof file.path, "%s/%s/%s.safetensors", getenv("QDQ_VECTORS"), folder,
             name);
    file.bytes = unit_read(file.path, &size);
    memcpy(&header, file.bytes, sizeof header);
    assert_true(header + sizeof header < size);
    file.header = file.bytes + sizeof header;
    file.header_bytes = (size_t)header;
    file.data = file.header + header;
    return file;
}

static inline vector_file vectors_open(const char *name) {
    return vectors_open_in("ttnn_device", name);
}

static inline void vectors_close(vector_file *file) { free(file->bytes); }

// A tensor by its name; NULL data if the file lacks it.
static inline vector_tensor vectors_find(const vector_file *file, const char *name) {
    char key[128];
    int length = snprintf(key, sizeof key, "\"%s\":", name);
    size_t size = (size_t)length;
    for (size_t i = 0; i + size < file->header_bytes; i++) {
        if (memcmp(file->header + i, key, size) != 0) continue;
        const char *value = file->header + i + size;
        if (value[strspn(value, " ")] != '{') continue;
        const char *offsets = strstr(value, "\"data_offsets\":");
        unsigned long long from, to;
        assert_int_equal(sscanf(offsets, "\"data_offsets\": [%llu,%llu]", &from, &to), 2);
        return (vector_tensor){file->data + from, (size_t)(to - from)};
    }
    return (vector_tensor){0};
}

// A copy in memory of its own, which the caller frees; `*count` elements of `size` bytes.
static inline void *vector_copy(const vector_file *file, const char *name, size_t size,
                                size_t *count) {
    vector_tensor tensor = vectors_find(file, name);
    if (!tensor.data) fail_msg("%s has no tensor %s", file->path, name);
    if (count) *count = tensor.bytes / size;
    return memcpy(malloc(tensor.bytes + 1), tensor.data, tensor.bytes);
}

#endif
