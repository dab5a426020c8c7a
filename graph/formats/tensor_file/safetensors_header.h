// SPDX-License-Identifier: Apache-2.0
// The header of a .safetensors file: the tensors and their place in the data.
#ifndef QDQ_GRAPH_FORMATS_TENSOR_FILE_SAFETENSORS_HEADER_H
#define QDQ_GRAPH_FORMATS_TENSOR_FILE_SAFETENSORS_HEADER_H

#include "graph/core/symbols.h"
#include "include/qdq/base.h"

enum {
    QDQ_SAFETENSORS_MAX_HEADER = 100000000,  // bytes; the format's own limit
    QDQ_SAFETENSORS_MAX_VALUES = 1000000,    // JSON values
};

typedef struct qdq_safetensors_entry {
    qdq_tensor_info info;
    const char *dtype;    // the file's word for the dtype
    uint64_t begin, end;  // offsets in the data
} qdq_safetensors_entry;

typedef struct qdq_safetensors_header {
    const qdq_allocator *allocator;
    uint64_t data_bytes;
    qdq_safetensors_entry *entries;
    size_t count, capacity;
    char *strings;  // names and dtypes of all entries
    size_t strings_bytes, strings_used;
    qdq_symbols *names;  // name -> index of the entry
} qdq_safetensors_header;

// Parses the JSON `text`, `length` > 0 bytes followed by a NUL, and checks it against the size of
// the data. Release `out` whatever the status.
qdq_status qdq_safetensors_header_read(qdq_safetensors_header *out, const char *text, size_t length,
                                       uint64_t data_bytes, const qdq_allocator *allocator,
                                       qdq_error *err);
// Accepts an all-zero header.
void qdq_safetensors_header_release(qdq_safetensors_header *header);

// Lists the types that can be read: "F32, BF16, ...".
void qdq_safetensors_list_dtypes(char *out, size_t capacity);

#endif
