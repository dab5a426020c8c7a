// SPDX-License-Identifier: Apache-2.0
#include "graph/formats/tflite/flat.h"

#include <string.h>

#include "runtime/base/error.h"

static const size_t kind_bytes[] = {[QDQ_FLAT_I8] = 1,
                                    [QDQ_FLAT_U8] = 1,
                                    [QDQ_FLAT_I32] = 4,
                                    [QDQ_FLAT_U32] = 4,
                                    [QDQ_FLAT_I64] = 8};

//---- Bytes ------------------------------------------------------------------

// Fails unless `count` bytes from `at` on are inside.
static bool check_inside(qdq_flat *flat, uint64_t at, uint64_t count, const char *what) {
    if (flat->err->status) return false;
    if (at <= flat->size && count <= flat->size - at) return true;
    qdq_fail(flat->err, QDQ_ERR_PARSE,
             "%s of %llu bytes at byte %llu ends beyond the file, which has %llu bytes", what,
             (unsigned long long)count, (unsigned long long)at, (unsigned long long)flat->size);
    return false;
}

static bool read_window(qdq_flat *flat, uint64_t at, void *out, size_t count) {
    bool inside = at >= flat->window_at && at - flat->window_at <= flat->window_length &&
                  count <= flat->window_length - (size_t)(at - flat->window_at);
    if (!inside) {
        uint64_t left = flat->size - at;
        size_t length = left < QDQ_FLAT_WINDOW ? (size_t)left : QDQ_FLAT_WINDOW;
        flat->window_at = at, flat->window_length = 0;
        if (qdq_open_file_read(flat->file->descriptor, flat->window, length, at, flat->err))
            return false;
        flat->window_length = length;
    }
    memcpy(out, flat->window + (size_t)(at - flat->window_at), count);
    return true;
}

bool qdq_flat_bytes(qdq_flat *flat, uint64_t at, void *out, size_t count) {
    if (!check_inside(flat, at, count, "data")) return false;
    if (flat->memory)
        memcpy(out, flat->memory + (size_t)at, count);
    else if (count <= QDQ_FLAT_WINDOW)
        return read_window(flat, at, out, count);
    else
        return !qdq_open_file_read(flat->file->descriptor, out, count, at, flat->err);
    return true;
}

// Reads `bytes` bytes, the least significant first.
static uint64_t load(qdq_flat *flat, uint64_t at, size_t bytes, const char *what) {
    unsigned char raw[8] = {0};
    uint64_t number = 0;
    if (!check_inside(flat, at, bytes, what) || !qdq_flat_bytes(flat, at, raw, bytes)) return 0;
    for (size_t i = 0; i < bytes; i++) number |= (uint64_t)raw[i] << 8 * i;
    return number;
}

static int64_t load_int(qdq_flat *flat, uint64_t at, qdq_flat_kind kind, const char *what) {
    uint64_t bits = load(flat, at, kind_bytes[kind], what);
    if (kind == QDQ_FLAT_I8) return (int8_t)(uint8_t)bits;
    if (kind == QDQ_FLAT_I32) return (int32_t)(uint32_t)bits;
    return (int64_t)bits;
}

//---- Tables -----------------------------------------------------------------

// Returns the table at `at`, after checks of its vtable, which lies a signed distance before it and
// has the sizes of both.
static qdq_flat_table open_table(qdq_flat *flat, uint64_t at) {
    qdq_flat_table none = {0}, table = {.at = at};
    int64_t back = load_int(flat, at, QDQ_FLAT_I32, "a table");
    table.vtable = at - (uint64_t)back;  // beyond the file if it wraps around
    table.vtable_bytes = load(flat, table.vtable, 2, "a vtable");
    table.bytes = load(flat, table.vtable + 2, 2, "a vtable");
    if (flat->err->status) return none;
    if (table.vtable_bytes < 4 || table.vtable_bytes % 2 || table.bytes < 4) {
        qdq_fail(
            flat->err, QDQ_ERR_PARSE,
            "the vtable at byte %llu has %llu bytes for a table of %llu, wanted an even number "
            "from 4 on for 4 or more",
            (unsigned long long)table.vtable, (unsigned long long)table.vtable_bytes,
            (unsigned long long)table.bytes);
        return none;
    }
    bool fine = check_inside(flat, table.vtable, table.vtable_bytes, "a vtable") &&
                check_inside(flat, at, table.bytes, "a table");
    return fine ? table : none;
}

qdq_flat_table qdq_flat_root(qdq_flat *flat) {
    return open_table(flat, load(flat, 0, 4, "the root offset"));
}

// Returns the place of a field of `bytes` bytes; 0 if it is absent or broken.
static uint64_t field_at(qdq_flat *flat, const qdq_flat_table *table, unsigned slot, size_t bytes) {
    uint64_t entry = 4 + 2 * (uint64_t)slot;
    if (!table->at || entry + 2 > table->vtable_bytes) return 0;
    uint64_t offset = load(flat, table->vtable + entry, 2, "a vtable");
    if (!offset) return 0;
    if (offset >= 4 && offset + bytes <= table->bytes) return table->at + offset;
    qdq_fail(flat->err, QDQ_ERR_PARSE,
             "field %u of the table at byte %llu is at %llu, outside of its %llu bytes", slot,
             (unsigned long long)table->at, (unsigned long long)offset,
             (unsigned long long)table->bytes);
    return 0;
}

int64_t qdq_flat_int(qdq_flat *flat, const qdq_flat_table *table, unsigned slot, qdq_flat_kind kind,
                     int64_t otherwise) {
    uint64_t at = field_at(flat, table, slot, kind_bytes[kind]);
    return at ? load_int(flat, at, kind, "a field") : otherwise;
}

float qdq_flat_float(qdq_flat *flat, const qdq_flat_table *table, unsigned slot, float otherwise) {
    uint64_t at = field_at(flat, table, slot, 4);
    uint32_t bits = (uint32_t)(at ? load(flat, at, 4, "a field") : 0);
    float number;
    memcpy(&number, &bits, sizeof number);
    return at ? number : otherwise;
}

// Returns the place that an offset at `at` leads to; 0 after an error.
static uint64_t follow(qdq_flat *flat, uint64_t at) {
    uint64_t offset = load(flat, at, 4, "an offset");
    return flat->err->status ? 0 : at + offset;
}

qdq_flat_table qdq_flat_table_of(qdq_flat *flat, const qdq_flat_table *table, unsigned slot) {
    uint64_t at = field_at(flat, table, slot, 4);
    uint64_t to = at ? follow(flat, at) : 0;
    return to ? open_table(flat, to) : (qdq_flat_table){0};
}

//---- Lists ------------------------------------------------------------------

qdq_flat_list qdq_flat_list_of(qdq_flat *flat, const qdq_flat_table *table, unsigned slot,
                               size_t bytes) {
    qdq_flat_list none = {0}, list;
    uint64_t at = field_at(flat, table, slot, 4);
    uint64_t to = at ? follow(flat, at) : 0;
    if (!to) return none;
    uint64_t count = load(flat, to, 4, "a list");
    if (!check_inside(flat, to + 4, count * bytes, "a list")) return none;
    list = (qdq_flat_list){to + 4, (size_t)count};
    if (bytes == 1) return list;
    if (list.count > flat->most - flat->read) {
        qdq_fail(flat->err, QDQ_ERR_LIMIT,
                 "the lists of the file have more than %zu entries, wanted at most that number",
                 flat->most);
        return none;
    }
    flat->read += list.count;
    return list;
}

qdq_flat_table qdq_flat_table_at(qdq_flat *flat, qdq_flat_list list, size_t i) {
    uint64_t to = follow(flat, list.at + 4 * (uint64_t)i);
    return to ? open_table(flat, to) : (qdq_flat_table){0};
}

int64_t qdq_flat_int_at(qdq_flat *flat, qdq_flat_list list, size_t i, qdq_flat_kind kind) {
    return load_int(flat, list.at + (uint64_t)i * kind_bytes[kind], kind, "an entry");
}
