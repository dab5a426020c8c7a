// SPDX-License-Identifier: Apache-2.0
// Parses the header of an .npy file.
#include "tools/io/npy_header.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_WORD_BYTES = 32 };

typedef struct reader {
    const char *next, *end;
    const char *begin;
    qdq_error *err;
} reader;

qdq_status npy_fail(qdq_error *err, qdq_status status, const char *format, ...) {
    if (!err || err->status != QDQ_OK) return status;
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (wanted >= (int)sizeof err->text) memcpy(err->text + sizeof err->text - 4, "...", 4);
    err->status = status;
    return status;
}

qdq_status npy_bytes(qdq_dtype dtype, qdq_shape shape, size_t *out, qdq_error *err) {
    *out = qdq_dtype_size(dtype);
    for (int i = 0; i < shape.rank; i++)
        if (__builtin_mul_overflow(*out, shape.dims[i], out))
            return npy_fail(err, QDQ_ERR_UNSUPPORTED, "shape is larger than the address space");
    return QDQ_OK;
}

//---- Element types ----

// Finds the dtype of an .npy name. Dtypes narrower than a byte are stored as whole bytes and share
// the name of int8 or uint8.
static qdq_dtype dtype_of(const char *descr) {
    qdq_dtype found = QDQ_DTYPE_NONE;
    if (descr[0] == '\0') return found;
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const qdq_dtype_info *row = qdq_dtype_get((qdq_dtype)d);
        if (strcmp(row->npy, descr) != 0) continue;
        if (row->bits >= 8) return (qdq_dtype)d;
        if (found == QDQ_DTYPE_NONE) found = (qdq_dtype)d;
    }
    return found;
}

static qdq_status fail_descr(const char *descr, qdq_error *err) {
    char known[256] = "";
    size_t used = 0;
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const char *word = qdq_dtype_get((qdq_dtype)d)->npy;
        if (dtype_of(word) != (qdq_dtype)d) continue;
        int count = snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", word);
        if (count < 0 || (size_t)count >= sizeof known - used) break;
        used += (size_t)count;
    }
    const char *hint = "";
    if (descr[0] == '>')
        hint = "; it is big-endian, convert it in numpy with x.astype(x.dtype.newbyteorder('<'))";
    return npy_fail(err, QDQ_ERR_UNSUPPORTED, "descr is '%s', wanted one of: %s%s", descr, known,
                    hint);
}

//---- Grammar ----

static qdq_status fail_wanted(const reader *r, const char *wanted) {
    size_t at = (size_t)(r->next - r->begin) + 1;
    if (r->next == r->end)
        return npy_fail(r->err, QDQ_ERR_PARSE, "header ends at byte %zu, wanted %s", at, wanted);
    unsigned char c = (unsigned char)*r->next;
    if (c < 0x20 || c >= 0x7F)
        return npy_fail(r->err, QDQ_ERR_PARSE, "header byte %zu is 0x%02X, wanted %s", at,
                        (unsigned)c, wanted);
    return npy_fail(r->err, QDQ_ERR_PARSE, "header byte %zu is '%c', wanted %s", at, c, wanted);
}

static void skip_space(reader *r) {
    while (r->next < r->end && (*r->next == ' ' || *r->next == '\n')) r->next++;
}

static bool take(reader *r, char c) {
    skip_space(r);
    if (r->next == r->end || *r->next != c) return false;
    r->next++;
    return true;
}

static bool take_word(reader *r, const char *word) {
    size_t length = strlen(word);
    skip_space(r);
    if ((size_t)(r->end - r->next) < length || memcmp(r->next, word, length) != 0) return false;
    r->next += length;
    return true;
}

// Reads a string of printable ASCII without escapes, in single or double quotes.
static qdq_status read_string(reader *r, char out[MOST_WORD_BYTES], const char *wanted) {
    skip_space(r);
    const char quote = r->next < r->end && *r->next == '"' ? '"' : '\'';
    if (!take(r, quote)) return fail_wanted(r, wanted);
    size_t used = 0;
    for (; r->next < r->end && *r->next != quote; r->next++) {
        unsigned char c = (unsigned char)*r->next;
        if (c < 0x20 || c >= 0x7F || c == '\\') return fail_wanted(r, "a plain character");
        if (used == MOST_WORD_BYTES - 1) return fail_wanted(r, "a closing quote by now");
        out[used++] = (char)c;
    }
    out[used] = '\0';
    return take(r, quote) ? QDQ_OK : fail_wanted(r, "a closing quote");
}

static qdq_status read_descr(reader *r, qdq_dtype *dtype) {
    char descr[MOST_WORD_BYTES] = "";
    skip_space(r);
    if (r->next < r->end && *r->next == '[')
        return npy_fail(r->err, QDQ_ERR_UNSUPPORTED,
                        "descr is a list (a structured array), wanted a single type");
    qdq_status status = read_string(r, descr, "a type in quotes");
    if (status != QDQ_OK) return status;
    *dtype = dtype_of(descr);
    return *dtype == QDQ_DTYPE_NONE ? fail_descr(descr, r->err) : QDQ_OK;
}

static qdq_status read_fortran_order(reader *r) {
    if (take_word(r, "False")) return QDQ_OK;
    if (take_word(r, "True"))
        return npy_fail(r->err, QDQ_ERR_UNSUPPORTED,
                        "fortran_order is True, wanted row-major; convert it in numpy with "
                        "np.ascontiguousarray(x)");
    return fail_wanted(r, "True or False");
}

static qdq_status read_dim(reader *r, qdq_shape *shape) {
    int64_t dim = 0;
    const char *from = r->next;
    for (; r->next < r->end && *r->next >= '0' && *r->next <= '9'; r->next++)
        if (__builtin_mul_overflow(dim, 10, &dim) ||
            __builtin_add_overflow(dim, *r->next - '0', &dim))
            return fail_wanted(r, "a dim below 2^63");
    if (r->next == from) return fail_wanted(r, "a dim");
    if (*from == '0' && r->next - from > 1) {
        r->next = from;
        return fail_wanted(r, "a dim without leading 0");
    }
    if (dim == 0)
        return npy_fail(r->err, QDQ_ERR_PARSE, "dim %d of shape is 0, wanted at least 1",
                        shape->rank);
    if (shape->rank == QDQ_MAX_RANK)
        return npy_fail(r->err, QDQ_ERR_UNSUPPORTED, "shape has more than %d dims", QDQ_MAX_RANK);
    shape->dims[shape->rank++] = dim;
    return QDQ_OK;
}

// Reads a tuple: "()", "(3,)", "(2, 3)", "(2, 3,)".
static qdq_status read_shape(reader *r, qdq_shape *shape) {
    if (!take(r, '(')) return fail_wanted(r, "a tuple of dims");
    while (!take(r, ')')) {
        qdq_status status = read_dim(r, shape);
        if (status != QDQ_OK) return status;
        if (take(r, ',')) continue;
        if (shape->rank > 1 && take(r, ')')) break;
        return fail_wanted(r, shape->rank > 1 ? "',' or ')'" : "',' after the only dim");
    }
    return QDQ_OK;
}

enum { DESCR, FORTRAN_ORDER, SHAPE, KEY_COUNT };
static const char *const keys[KEY_COUNT] = {"descr", "fortran_order", "shape"};

static qdq_status read_item(reader *r, bool seen[KEY_COUNT], qdq_dtype *dtype, qdq_shape *shape) {
    char word[MOST_WORD_BYTES] = "";
    qdq_status status = read_string(r, word, "a key in quotes or '}'");
    if (status != QDQ_OK) return status;
    int key = 0;
    while (key < KEY_COUNT && strcmp(word, keys[key]) != 0) key++;
    if (key == KEY_COUNT)
        return npy_fail(r->err, QDQ_ERR_PARSE,
                        "unknown key '%s', wanted descr, fortran_order and shape", word);
    if (seen[key]) return npy_fail(r->err, QDQ_ERR_PARSE, "key '%s' is given twice", word);
    seen[key] = true;
    if (!take(r, ':')) return fail_wanted(r, "':' after the key");
    if (key == DESCR) return read_descr(r, dtype);
    if (key == SHAPE) return read_shape(r, shape);
    return read_fortran_order(r);
}

qdq_status npy_header_read(const char *text, size_t length, qdq_dtype *dtype, qdq_shape *shape,
                           qdq_error *err) {
    reader r = {.next = text, .end = text + length, .begin = text, .err = err};
    bool seen[KEY_COUNT] = {false};
    *shape = (qdq_shape){0};
    if (!take(&r, '{')) return fail_wanted(&r, "'{'");
    while (!take(&r, '}')) {
        qdq_status status = read_item(&r, seen, dtype, shape);
        if (status != QDQ_OK) return status;
        if (take(&r, ',')) continue;
        if (take(&r, '}')) break;
        return fail_wanted(&r, "',' or '}'");
    }
    skip_space(&r);
    if (r.next != r.end) return fail_wanted(&r, "nothing after '}'");
    for (int key = 0; key < KEY_COUNT; key++)
        if (!seen[key]) return npy_fail(err, QDQ_ERR_PARSE, "key '%s' is missing", keys[key]);
    return QDQ_OK;
}
