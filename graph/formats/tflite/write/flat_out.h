// SPDX-License-Identifier: Apache-2.0
// Builds a FlatBuffer front to back: a table lies before its children, whose offsets are filled in
// afterwards. Tables with equal layouts share a vtable.
//
// When memory runs out the pool remembers it, every call returns 0, and callers go on.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_WRITE_FLAT_OUT_H
#define QDQ_GRAPH_FORMATS_TFLITE_WRITE_FLAT_OUT_H

#include "runtime/base/mempool.h"

enum { QDQ_FLAT_SLOTS = 16 };

typedef struct qdq_flat_out {
    qdq_mempool *mempool;
    unsigned char *bytes;
    size_t count, capacity;
    size_t *vtables;  // their places
    size_t vtable_count, vtable_capacity;
} qdq_flat_out;

// The fields of a new table, by slot. All zero: none is present.
typedef struct qdq_flat_fields {
    struct {
        unsigned char bytes;  // 1 or 4; 0: absent
        uint32_t bits;
    } slots[QDQ_FLAT_SLOTS];
} qdq_flat_fields;

// Set fields: a number of one byte or of four, a float, or an offset that qdq_flat_point fills in.
void qdq_flat_set_byte(qdq_flat_fields *fields, unsigned slot, int number);
void qdq_flat_set_int(qdq_flat_fields *fields, unsigned slot, int64_t number);
void qdq_flat_set_float(qdq_flat_fields *fields, unsigned slot, float number);
void qdq_flat_set_child(qdq_flat_fields *fields, unsigned slot);

// Begins the buffer: the place of the root, which qdq_flat_point_from sets, and an identifier of
// four bytes.
void qdq_flat_put_head(qdq_flat_out *out, const char *identifier);
// Appends zeros until the count is `rest` bytes short of a multiple of `align`.
void qdq_flat_align(qdq_flat_out *out, size_t align, size_t rest);

// Append an object and return its place. A vector has entries of 1, 4 or 8 bytes, the least
// significant byte first, and a list has offsets that qdq_flat_point_entry fills in.
size_t qdq_flat_put_table(qdq_flat_out *out, const qdq_flat_fields *fields);
size_t qdq_flat_put_ints(qdq_flat_out *out, const int32_t *numbers, size_t count);
size_t qdq_flat_put_wide(qdq_flat_out *out, const int64_t *numbers, size_t count);
size_t qdq_flat_put_floats(qdq_flat_out *out, const float *numbers, size_t count);
size_t qdq_flat_put_text(qdq_flat_out *out, const char *text);
size_t qdq_flat_put_list(qdq_flat_out *out, size_t count);

// Point a field of a table, an entry of a list, or the four bytes at a place to a later object.
void qdq_flat_point(qdq_flat_out *out, size_t table, unsigned slot, size_t to);
void qdq_flat_point_entry(qdq_flat_out *out, size_t list, size_t entry, size_t to);
void qdq_flat_point_from(qdq_flat_out *out, size_t place, size_t to);
// Returns the place of a field of a table, which is present.
size_t qdq_flat_place(const qdq_flat_out *out, size_t table, unsigned slot);

#endif
