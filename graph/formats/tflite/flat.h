// SPDX-License-Identifier: Apache-2.0
// Reads FlatBuffers, from memory or a file, and checks every offset, length and count against the
// end of the file. Nothing is taken to be aligned.
//
// The first error is kept in `err`; from then on every call returns zeros.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_FLAT_H
#define QDQ_GRAPH_FORMATS_TFLITE_FLAT_H

#include "graph/core/open_file.h"

enum { QDQ_FLAT_WINDOW = 1 << 14 };

typedef struct qdq_flat {
    const unsigned char *memory;  // NULL: the file
    const qdq_open_file *file;
    uint64_t size;
    size_t read, most;  // entries of lists that were read, and how many may be
    qdq_error *err;
    uint64_t window_at;  // of the file
    size_t window_length;
    unsigned char window[QDQ_FLAT_WINDOW];
} qdq_flat;

// A table; `at` 0: there is none, and all its fields are absent.
typedef struct qdq_flat_table {
    uint64_t at, vtable;
    uint64_t bytes, vtable_bytes;
} qdq_flat_table;

// A vector: the place of its first entry.
typedef struct qdq_flat_list {
    uint64_t at;  // 0: absent
    size_t count;
} qdq_flat_list;

typedef enum qdq_flat_kind {
    QDQ_FLAT_I8,
    QDQ_FLAT_U8,
    QDQ_FLAT_I32,
    QDQ_FLAT_U32,
    QDQ_FLAT_I64,  // also uint64: numbers from 2^63 on are negative
} qdq_flat_kind;

// Copies bytes. False, with an error, if they are not all inside.
bool qdq_flat_bytes(qdq_flat *flat, uint64_t at, void *out, size_t count);

qdq_flat_table qdq_flat_root(qdq_flat *flat);

// Return fields of a table by their slot; a field that is absent is `otherwise`, or empty.
int64_t qdq_flat_int(qdq_flat *flat, const qdq_flat_table *table, unsigned slot, qdq_flat_kind kind,
                     int64_t otherwise);
float qdq_flat_float(qdq_flat *flat, const qdq_flat_table *table, unsigned slot, float otherwise);
qdq_flat_table qdq_flat_table_of(qdq_flat *flat, const qdq_flat_table *table, unsigned slot);
// A list whose entries have `bytes` bytes; they lie within the file. Its entries count as read
// unless they are single bytes.
qdq_flat_list qdq_flat_list_of(qdq_flat *flat, const qdq_flat_table *table, unsigned slot,
                               size_t bytes);

// Return entry i of a list of tables or numbers; i is below its count.
qdq_flat_table qdq_flat_table_at(qdq_flat *flat, qdq_flat_list list, size_t i);
int64_t qdq_flat_int_at(qdq_flat *flat, qdq_flat_list list, size_t i, qdq_flat_kind kind);

#endif
