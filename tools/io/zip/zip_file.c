// SPDX-License-Identifier: Apache-2.0
// Reads the directory of a zip archive (APPNOTE 6.3, sections 4.3 and 4.5.3). Every number in it is
// checked against the size of the file.
#include "tools/io/zip/zip_file.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/utf8.h"

enum {
    END_BYTES = 22,
    LOCATOR_BYTES = 20,
    END64_BYTES = 56,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    COMMENT_BYTES = 65535,
    MOST_RATIO = 1100,  // deflate compresses less than this
    MOST_DIRECTORY_BYTES = 16 << 20,
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8,
    ZIP64 = 1,
    SHOWN_BYTES = 200,
};
static const uint64_t all_32 = 0xFFFFFFFF;

static uint64_t number(const unsigned char *at, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8 | at[i];
    return value;
}

static bool is_record(const unsigned char *at, char third, char fourth) {
    return at[0] == 'P' && at[1] == 'K' && at[2] == (unsigned char)third &&
           at[3] == (unsigned char)fourth;
}

static qdq_status read_at(const zip_file *zip, uint64_t from, void *out, size_t count,
                          qdq_error *err) {
    byte_source all = {.file = zip->file, .size = zip->bytes, .stored = zip->bytes};
    return source_read(&all, from, out, count, err);
}

//---- The directory ----------------------------------------------------------

// Takes size and offset of the directory from the zip64 record, if the archive has one.
static qdq_status read_end64(const zip_file *zip, uint64_t end, uint64_t *size, uint64_t *offset,
                             qdq_error *err) {
    unsigned char locator[LOCATOR_BYTES], record[END64_BYTES];
    if (end < LOCATOR_BYTES) return QDQ_OK;
    qdq_status status = read_at(zip, end - LOCATOR_BYTES, locator, sizeof locator, err);
    if (status != QDQ_OK || !is_record(locator, 6, 7)) return status;
    status = read_at(zip, number(locator + 8, 8), record, sizeof record, err);
    if (status != QDQ_OK) return status;
    if (!is_record(record, 6, 6))
        return source_fail(err, QDQ_ERR_PARSE, "the end of its directory is damaged");
    *size = number(record + 40, 8);
    *offset = number(record + 48, 8);
    return QDQ_OK;
}

// Reads size and offset of the directory from the last record of the archive, which a comment may
// follow.
static qdq_status find_end(const zip_file *zip, uint64_t *size, uint64_t *offset, qdq_error *err) {
    size_t count =
        zip->bytes < END_BYTES + COMMENT_BYTES ? (size_t)zip->bytes : END_BYTES + COMMENT_BYTES;
    unsigned char *tail = malloc(count + 1);
    if (!tail) return source_fail(err, QDQ_ERR_MEMORY, "out of memory: %zu bytes", count);
    qdq_status status = read_at(zip, zip->bytes - count, tail, count, err);
    size_t at = count < END_BYTES ? 0 : count - END_BYTES;
    while (status == QDQ_OK && at > 0 && !is_record(tail + at, 5, 6)) at--;
    if (status == QDQ_OK && (count < END_BYTES || !is_record(tail + at, 5, 6)))
        status = source_fail(err, QDQ_ERR_PARSE,
                             "the directory at the end of the archive is missing, so the file is "
                             "cut or is no .npz file");
    if (status == QDQ_OK) {
        *size = number(tail + at + 12, 4);
        *offset = number(tail + at + 16, 4);
        status = read_end64(zip, zip->bytes - count + at, size, offset, err);
    }
    free(tail);
    return status;
}

typedef struct member_name {
    const char *text;
    size_t bytes;
} member_name;

static int by_name(const void *a, const void *b) {
    const member_name *one = a, *two = b;
    size_t least = one->bytes < two->bytes ? one->bytes : two->bytes;
    int order = memcmp(one->text, two->text, least);
    return order ? order : (one->bytes > two->bytes) - (one->bytes < two->bytes);
}

// Refuses two members with one name, because programs differ in the member that they read. Ends
// before a damaged entry, which zip_next reports.
static qdq_status refuse_doubles(const zip_file *zip, qdq_error *err) {
    char shown[SHOWN_BYTES];
    size_t most = zip->directory_bytes / ENTRY_BYTES, count = 0, at = 0;
    member_name *names = malloc((most + 1) * sizeof *names);
    if (!names) return source_fail(err, QDQ_ERR_MEMORY, "out of memory: a directory");
    while (zip->directory_bytes - at >= ENTRY_BYTES) {
        const unsigned char *entry = zip->directory + at;
        size_t bytes = (size_t)number(entry + 28, 2),
               left = zip->directory_bytes - at - ENTRY_BYTES;
        if (!is_record(entry, 1, 2) || bytes > left) break;
        names[count++] = (member_name){(const char *)entry + ENTRY_BYTES, bytes};
        bytes += (size_t)number(entry + 30, 2) + (size_t)number(entry + 32, 2);
        if (bytes > left) break;
        at += ENTRY_BYTES + bytes;
    }
    qsort(names, count, sizeof *names, by_name);
    qdq_status status = QDQ_OK;
    for (size_t i = 1; i < count && status == QDQ_OK; i++)
        if (by_name(&names[i - 1], &names[i]) == 0)
            status = source_fail(err, QDQ_ERR_PARSE, "has two members '%s', wanted one",
                                 qdq_utf8_show(shown, sizeof shown, names[i].text, names[i].bytes));
    free(names);
    return status;
}

qdq_status zip_open(zip_file *zip, FILE *file, uint64_t bytes, qdq_error *err) {
    uint64_t size = 0, offset = 0;
    *zip = (zip_file){.file = file, .bytes = bytes};
    qdq_status status = find_end(zip, &size, &offset, err);
    if (status != QDQ_OK) return status;
    if (size > MOST_DIRECTORY_BYTES || offset > bytes || size > bytes - offset)
        return source_fail(err, QDQ_ERR_PARSE, "the directory of the archive is damaged");
    zip->directory = malloc((size_t)size + 1);
    zip->directory_bytes = (size_t)size;
    if (!zip->directory) return source_fail(err, QDQ_ERR_MEMORY, "out of memory: a directory");
    status = read_at(zip, offset, zip->directory, (size_t)size, err);
    return status == QDQ_OK ? refuse_doubles(zip, err) : status;
}

void zip_close(zip_file *zip) {
    free(zip->directory);
    *zip = (zip_file){0};
}

//---- Members ----------------------------------------------------------------

// Reads sizes and offset from the zip64 extra field of a large member, in the order of the format.
static void read_zip64(const unsigned char *extra, size_t bytes, byte_source *out) {
    uint64_t *const fields[] = {&out->size, &out->stored, &out->start};
    size_t at = 0;
    while (at + 4 <= bytes) {
        size_t tag = (size_t)number(extra + at, 2), length = (size_t)number(extra + at + 2, 2);
        size_t next = at + 4, end = next + length;
        if (end > bytes) return;
        for (size_t i = 0; tag == ZIP64 && i < 3 && next + 8 <= end; i++) {
            if (*fields[i] != all_32) continue;
            *fields[i] = number(extra + next, 8);
            next += 8;
        }
        at = end;
    }
}

// Advances `start` from the member's local header to its data.
static qdq_status find_data(const zip_file *zip, byte_source *out, qdq_error *err) {
    unsigned char local[LOCAL_BYTES];
    qdq_status status = read_at(zip, out->start, local, sizeof local, err);
    if (status != QDQ_OK) return status;
    if (!is_record(local, 3, 4))
        return source_fail(err, QDQ_ERR_PARSE, "the header of a member is damaged");
    out->start += LOCAL_BYTES + number(local + 26, 2) + number(local + 28, 2);
    if (out->start > zip->bytes || out->stored > zip->bytes - out->start)
        return source_fail(err, QDQ_ERR_PARSE, "the file ends within a member");
    return QDQ_OK;
}

qdq_status zip_next(zip_file *zip, char name[ZIP_NAME], byte_source *out, bool *more,
                    qdq_error *err) {
    char shown[SHOWN_BYTES];
    const unsigned char *entry = zip->directory + zip->at;
    size_t left = zip->directory_bytes - zip->at;
    *more = left > 0;
    if (!*more) return QDQ_OK;
    if (left < ENTRY_BYTES || !is_record(entry, 1, 2))
        return source_fail(err, QDQ_ERR_PARSE, "the directory of the archive is damaged");
    size_t name_bytes = (size_t)number(entry + 28, 2), extra = (size_t)number(entry + 30, 2);
    size_t all = ENTRY_BYTES + name_bytes + extra + (size_t)number(entry + 32, 2);
    if (all > left || name_bytes >= ZIP_NAME || memchr(entry + ENTRY_BYTES, 0, name_bytes))
        return source_fail(err, QDQ_ERR_PARSE, "the directory of the archive is damaged");
    unsigned flags = (unsigned)number(entry + 8, 2), method = (unsigned)number(entry + 10, 2);
    memcpy(name, entry + ENTRY_BYTES, name_bytes);
    name[name_bytes] = '\0';
    qdq_utf8_show(shown, sizeof shown, name, name_bytes);
    if (flags & 1 || (method != METHOD_STORED && method != METHOD_DEFLATED))
        return source_fail(err, QDQ_ERR_UNSUPPORTED,
                           "member '%s' is packed by method %u%s, wanted stored or deflated", shown,
                           method, flags & 1 ? " and encrypted" : "");
    *out = (byte_source){.file = zip->file,
                         .start = number(entry + 42, 4),
                         .stored = number(entry + 20, 4),
                         .size = number(entry + 24, 4),
                         .deflated = method == METHOD_DEFLATED,
                         .has_crc = true,
                         .crc = (uint32_t)number(entry + 16, 4)};
    read_zip64(entry + ENTRY_BYTES + name_bytes, extra, out);
    if (!out->deflated && out->size != out->stored)
        return source_fail(err, QDQ_ERR_PARSE, "member '%s' has two sizes", shown);
    if (out->size / MOST_RATIO > out->stored)
        return source_fail(err, QDQ_ERR_PARSE, "member '%s' claims more bytes than it can hold",
                           shown);
    zip->at += all;
    return find_data(zip, out, err);
}
