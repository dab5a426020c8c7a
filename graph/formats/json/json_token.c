// SPDX-License-Identifier: Apache-2.0
// Reads the tokens of JSON text and reports errors by line and column.
#include "graph/formats/json/json_token.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/utf8.h"

enum { MOST_NUMBER_BYTES = 63, SHOWN_BYTES = 80 };

//---- Errors ----

qdq_status qdq_json_fail(qdq_json_source *json, size_t at, qdq_status status, const char *format,
                         ...) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        if (json->text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)json->text[i] & 0xC0) != 0x80) {
            column++;
        }
    }
    char sentence[sizeof json->err->text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return qdq_fail(json->err, status, "line %zu, column %zu: %s", line, column, sentence);
}

qdq_status qdq_json_wanted(qdq_json_source *json, const char *what) {
    char found[SHOWN_BYTES];
    int c = qdq_json_peek(json);
    const char *rest = json->text + json->at;
    size_t bytes = qdq_utf8_length(rest, json->length - json->at);
    if (c == QDQ_JSON_END)
        (void)snprintf(found, sizeof found, "the end of the text");
    else if (bytes == 0 || c < 0x20 || c == 0x7F)
        (void)snprintf(found, sizeof found, "byte 0x%02X", (unsigned)c);
    else
        (void)snprintf(found, sizeof found, "'%.*s'", (int)bytes, rest);
    return qdq_json_fail(json, json->at, QDQ_ERR_PARSE, "found %s, wanted %s", found, what);
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

//---- Strings ----

// Returns the four hex digits at text[at] as a number; QDQ_JSON_END if they are not all there.
static int hex4(const qdq_json_source *json, size_t at) {
    if (json->length - at < 4) return QDQ_JSON_END;
    int unit = 0;
    for (size_t i = 0; i < 4; i++) {
        int c = (unsigned char)json->text[at + i];
        int low = c | 0x20;
        if (!is_digit(c) && !(low >= 'a' && low <= 'f')) return QDQ_JSON_END;
        unit = unit * 16 + (is_digit(c) ? c - '0' : low - 'a' + 10);
    }
    return unit;
}

static bool is_high(int unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
static bool is_low(int unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// True if the second half of a surrogate pair begins at text[at].
static bool low_follows(const qdq_json_source *json, size_t at) {
    return json->length - at >= 6 && json->text[at] == '\\' && json->text[at + 1] == 'u' &&
           is_low(hex4(json, at + 2));
}

static qdq_status take_unicode_escape(qdq_json_source *json) {
    size_t from = json->at;
    int unit = hex4(json, from + 2);
    if (unit == QDQ_JSON_END)
        return qdq_json_fail(json, from, QDQ_ERR_PARSE, "\\u must be followed by four hex digits");
    if (unit == 0)
        return qdq_json_fail(json, from, QDQ_ERR_PARSE, "\\u0000 must not stand in a string");
    if (is_low(unit))
        return qdq_json_fail(json, from, QDQ_ERR_PARSE,
                             "\\u%04X is the second half of a surrogate pair without a first",
                             (unsigned)unit);
    json->at += 6;
    if (!is_high(unit)) return QDQ_OK;
    if (!low_follows(json, json->at))
        return qdq_json_fail(json, from, QDQ_ERR_PARSE,
                             "\\u%04X is the first half of a surrogate pair without a second",
                             (unsigned)unit);
    json->at += 6;
    return QDQ_OK;
}

static qdq_status take_escape(qdq_json_source *json) {
    int c = json->length - json->at >= 2 ? (unsigned char)json->text[json->at + 1] : QDQ_JSON_END;
    if (c == 'u') return take_unicode_escape(json);
    if (c > 0 && strchr("\"\\/bfnrt", c)) {
        json->at += 2;
        return QDQ_OK;
    }
    json->at++;
    return qdq_json_wanted(json, "one of \" \\ / b f n r t u after the backslash");
}

qdq_status qdq_json_take_string(qdq_json_source *json) {
    size_t from = json->at++;
    for (int c; (c = qdq_json_peek(json)) != '"';) {
        if (c == QDQ_JSON_END)
            return qdq_json_fail(json, from, QDQ_ERR_PARSE, "the string has no closing quote");
        if (c == '\\') {
            QDQ_TRY(take_escape(json));
            continue;
        }
        if (c < 0x20)
            return qdq_json_fail(json, json->at, QDQ_ERR_PARSE,
                                 "byte 0x%02X in a string, wanted the escape \\u%04X", (unsigned)c,
                                 (unsigned)c);
        size_t bytes =
            c < 0x80 ? 1 : qdq_utf8_length(json->text + json->at, json->length - json->at);
        if (bytes == 0)
            return qdq_json_fail(json, json->at, QDQ_ERR_PARSE,
                                 "byte 0x%02X in a string is not UTF-8", (unsigned)c);
        json->at += bytes;
    }
    json->at++;
    return QDQ_OK;
}

// Writes the character of the escape at `*at` and moves `*at` past it.
static size_t unescape(const qdq_json_source *json, size_t *at, char *out) {
    static const char letters[] = "b\bf\fn\nr\rt\t";
    char c = json->text[*at + 1];
    if (c != 'u') {
        const char *letter = letters;
        while (*letter && *letter != c) letter += 2;
        *out = c;
        if (*letter) *out = letter[1];
        *at += 2;
        return 1;
    }
    uint32_t code = (uint32_t)hex4(json, *at + 2);
    *at += 6;
    if (is_high((int)code)) {
        uint32_t low = (uint32_t)hex4(json, *at + 2);
        *at += 6;
        code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF);
    }
    return qdq_utf8_write(out, code);
}

size_t qdq_json_unescape(const qdq_json_source *json, size_t from, size_t to, char *out) {
    size_t used = 0;
    for (size_t i = from + 1; i < to - 1;) {
        if (json->text[i] == '\\')
            used += unescape(json, &i, out + used);
        else
            out[used++] = json->text[i++];
    }
    return used;
}

//---- Numbers and words ----

static size_t skip_digits(qdq_json_source *json) {
    size_t from = json->at, at = from;
    while (at < json->length && is_digit(json->text[at])) at++;
    json->at = at;
    return at - from;
}

// True if a number of at most MOST_NUMBER_BYTES overflows a double. strtod gets the number without
// its decimal point, the only part that depends on the locale.
static bool overflows(const char *number, size_t length) {
    char plain[MOST_NUMBER_BYTES + 16];
    size_t used = 0, i = 0;
    int after_point = 0, exponent = 0;
    bool fraction = false;
    for (; i < length && (number[i] | 0x20) != 'e'; i++) {
        if (number[i] == '.') {
            fraction = true;
        } else {
            plain[used++] = number[i];
            after_point += fraction;
        }
    }
    bool negative = i + 1 < length && number[i + 1] == '-';
    for (; i < length; i++)
        if (is_digit(number[i]) && exponent < 100000) exponent = exponent * 10 + number[i] - '0';
    if (negative || exponent < 200) return false;
    (void)snprintf(plain + used, sizeof plain - used, "e%d", exponent - after_point);
    return isinf(strtod(plain, NULL));
}

static qdq_status take_exponent(qdq_json_source *json) {
    int c = qdq_json_peek(json);
    if (c != 'e' && c != 'E') return QDQ_OK;
    json->at++;
    c = qdq_json_peek(json);
    if (c == '+' || c == '-') json->at++;
    return skip_digits(json) ? QDQ_OK : qdq_json_wanted(json, "a digit of the exponent");
}

qdq_status qdq_json_take_number(qdq_json_source *json) {
    size_t from = json->at;
    if (qdq_json_peek(json) == '-') json->at++;
    int first = qdq_json_peek(json);
    if (first == 'I' || first == 'i')
        return qdq_json_wanted(json, "a digit; infinity is the string \"-Infinity\"");
    size_t digits = skip_digits(json);
    if (digits == 0) return qdq_json_wanted(json, "a digit");
    if (first == '0' && digits > 1)
        return qdq_json_fail(json, from, QDQ_ERR_PARSE,
                             "a number must not begin with a needless 0");
    if (qdq_json_peek(json) == '.') {
        json->at++;
        if (skip_digits(json) == 0) return qdq_json_wanted(json, "a digit after the point");
    }
    size_t whole_end = json->at;
    QDQ_TRY(take_exponent(json));
    size_t bytes = json->at - from;
    if (bytes > MOST_NUMBER_BYTES)
        return qdq_json_fail(json, from, QDQ_ERR_PARSE,
                             "a number of %zu characters, wanted at most %d", bytes,
                             (int)MOST_NUMBER_BYTES);
    bool has_exponent = json->at > whole_end;
    if (has_exponent && overflows(json->text + from, bytes))
        return qdq_json_fail(json, from, QDQ_ERR_PARSE, "%.*s is too large for a double",
                             (int)bytes, json->text + from);
    return QDQ_OK;
}

static bool is_one_of(const char *word, size_t length, const char *const *words) {
    for (; *words; words++)
        if (strlen(*words) == length && memcmp(*words, word, length) == 0) return true;
    return false;
}

qdq_status qdq_json_take_word(qdq_json_source *json) {
    static const char *const values[] = {"true", "false", "null", NULL};
    static const char *const not_finite[] = {"NaN", "nan", "Infinity", "inf", "Inf", NULL};
    size_t from = json->at;
    for (int c = qdq_json_peek(json); is_letter(c) || is_digit(c) || c == '_';
         c = qdq_json_peek(json))
        json->at++;
    const char *word = json->text + from;
    size_t length = json->at - from;
    if (is_one_of(word, length, values)) return QDQ_OK;
    char shown[40];
    qdq_utf8_show(shown, sizeof shown, word, length);
    const char *hint = is_one_of(word, length, not_finite)
                           ? "; NaN and infinity are the strings \"NaN\" and \"Infinity\""
                           : "";
    return qdq_json_fail(json, from, QDQ_ERR_PARSE, "found %s, wanted a value%s", shown, hint);
}
