// SPDX-License-Identifier: Apache-2.0
#include "graph/formats/tflite/write/flat_out.h"

#include <string.h>

//---- Bytes ------------------------------------------------------------------

// Appends `count` zeroed bytes; NULL when memory runs out.
static unsigned char *append(qdq_flat_out *out, size_t count) {
    if (out->mempool->failed) return NULL;
    unsigned char *bytes = qdq_mempool_reserve(out->mempool, out->bytes, out->count,
                                               out->count + count, &out->capacity, 1);
    if (!bytes) return NULL;
    out->bytes = bytes;
    out->count += count;
    memset(bytes + out->count - count, 0, count);
    return bytes + out->count - count;
}

static void store(unsigned char *to, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)(number >> 8 * i);
}

static uint32_t load(const unsigned char *from, size_t bytes) {
    uint32_t number = 0;
    for (size_t i = 0; i < bytes; i++) number |= (uint32_t)from[i] << 8 * i;
    return number;
}

void qdq_flat_align(qdq_flat_out *out, size_t align, size_t rest) {
    size_t over = (out->count + rest) % align;
    if (over) (void)append(out, align - over);
}

void qdq_flat_put_head(qdq_flat_out *out, const char *identifier) {
    unsigned char *head = append(out, 8);
    if (head) memcpy(head + 4, identifier, 4);
}

//---- Tables -----------------------------------------------------------------

static void set(qdq_flat_fields *fields, unsigned slot, unsigned char bytes, uint32_t bits) {
    fields->slots[slot].bytes = bytes;
    fields->slots[slot].bits = bits;
}

void qdq_flat_set_byte(qdq_flat_fields *fields, unsigned slot, int number) {
    set(fields, slot, 1, (uint32_t)number & 0xFF);
}

void qdq_flat_set_int(qdq_flat_fields *fields, unsigned slot, int64_t number) {
    set(fields, slot, 4, (uint32_t)(uint64_t)number);
}

void qdq_flat_set_float(qdq_flat_fields *fields, unsigned slot, float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    set(fields, slot, 4, bits);
}

void qdq_flat_set_child(qdq_flat_fields *fields, unsigned slot) { set(fields, slot, 4, 0); }

// The bytes of a vtable: its size, the size of the table, and the offset of each field.
typedef struct vtable {
    size_t count;
    unsigned char bytes[4 + 2 * QDQ_FLAT_SLOTS];
} vtable;

// Lays out the fields of a table behind its offset to the vtable: first those of four bytes.
static vtable lay_out(const qdq_flat_fields *fields) {
    vtable v = {.count = 4};
    size_t at = 4;
    for (int bytes = 4; bytes >= 1; bytes -= 3)
        for (size_t i = 0; i < QDQ_FLAT_SLOTS; i++) {
            if (fields->slots[i].bytes != bytes) continue;
            store(v.bytes + 4 + 2 * i, at, 2);
            if (v.count < 6 + 2 * i) v.count = 6 + 2 * i;
            at += (size_t)bytes;
        }
    store(v.bytes, v.count, 2);
    store(v.bytes + 2, at, 2);
    return v;
}

// Returns the place of an equal vtable, appended if there is none.
static size_t share_vtable(qdq_flat_out *out, const vtable *v) {
    for (size_t i = 0; i < out->vtable_count; i++) {
        const unsigned char *other = out->bytes + out->vtables[i];
        if (load(other, 2) == v->count && memcmp(other, v->bytes, v->count) == 0)
            return out->vtables[i];
    }
    size_t *all = qdq_mempool_grow(out->mempool, out->vtables, out->vtable_count,
                                   &out->vtable_capacity, sizeof *all);
    if (!all) return 0;
    out->vtables = all;
    qdq_flat_align(out, 2, 0);
    unsigned char *to = append(out, v->count);
    if (!to) return 0;
    memcpy(to, v->bytes, v->count);
    return all[out->vtable_count++] = out->count - v->count;
}

size_t qdq_flat_put_table(qdq_flat_out *out, const qdq_flat_fields *fields) {
    vtable v = lay_out(fields);
    size_t shared = share_vtable(out, &v), size = load(v.bytes + 2, 2);
    qdq_flat_align(out, 4, 0);
    unsigned char *table = append(out, size);
    if (!table) return 0;
    size_t place = out->count - size;
    store(table, place - shared, 4);
    for (size_t i = 0; i < QDQ_FLAT_SLOTS; i++)
        if (fields->slots[i].bytes)
            store(table + load(v.bytes + 4 + 2 * i, 2), fields->slots[i].bits,
                  fields->slots[i].bytes);
    return place;
}

size_t qdq_flat_place(const qdq_flat_out *out, size_t table, unsigned slot) {
    if (out->mempool->failed) return 0;
    const unsigned char *bytes = out->bytes;
    size_t shared = table - load(bytes + table, 4);
    return table + load(bytes + shared + 4 + 2 * (size_t)slot, 2);
}

//---- Vectors ----------------------------------------------------------------

// Appends the length of a vector, whose entries of `bytes` bytes are aligned, and room for them.
static unsigned char *put_vector(qdq_flat_out *out, size_t count, size_t bytes, size_t *place) {
    qdq_flat_align(out, bytes > 4 ? bytes : 4, 4);
    unsigned char *length = append(out, 4 + count * bytes);
    *place = length ? out->count - 4 - count * bytes : 0;
    if (length) store(length, count, 4);
    return length ? length + 4 : NULL;
}

size_t qdq_flat_put_ints(qdq_flat_out *out, const int32_t *numbers, size_t count) {
    size_t place;
    unsigned char *to = put_vector(out, count, 4, &place);
    for (size_t i = 0; to && i < count; i++) store(to + 4 * i, (uint32_t)numbers[i], 4);
    return place;
}

size_t qdq_flat_put_wide(qdq_flat_out *out, const int64_t *numbers, size_t count) {
    size_t place;
    unsigned char *to = put_vector(out, count, 8, &place);
    for (size_t i = 0; to && i < count; i++) store(to + 8 * i, (uint64_t)numbers[i], 8);
    return place;
}

size_t qdq_flat_put_floats(qdq_flat_out *out, const float *numbers, size_t count) {
    size_t place;
    unsigned char *to = put_vector(out, count, 4, &place);
    for (size_t i = 0; to && i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        store(to + 4 * i, bits, 4);
    }
    return place;
}

// A text ends in a zero byte that its length does not count.
size_t qdq_flat_put_text(qdq_flat_out *out, const char *text) {
    size_t place, length = strlen(text);
    unsigned char *to = put_vector(out, length, 1, &place);
    for (size_t i = 0; to && i < length; i++) to[i] = (unsigned char)text[i];
    (void)append(out, 1);
    return place;
}

size_t qdq_flat_put_list(qdq_flat_out *out, size_t count) {
    size_t place;
    (void)put_vector(out, count, 4, &place);
    return place;
}

//---- Offsets ----------------------------------------------------------------

void qdq_flat_point_from(qdq_flat_out *out, size_t place, size_t to) {
    if (!out->mempool->failed) store(out->bytes + place, to - place, 4);
}

void qdq_flat_point(qdq_flat_out *out, size_t table, unsigned slot, size_t to) {
    qdq_flat_point_from(out, qdq_flat_place(out, table, slot), to);
}

void qdq_flat_point_entry(qdq_flat_out *out, size_t list, size_t entry, size_t to) {
    qdq_flat_point_from(out, list + 4 + 4 * entry, to);
}
