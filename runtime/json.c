// SPDX-License-Identifier: Apache-2.0
#include "include/qdq/json.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/environment.h"
#include "runtime/utf8.h"

enum { NUMBER_BYTES = 48 };

static void put(qdq_json *json, const char *bytes, size_t count) {
    json->write(json->self, bytes, count);
}

static void put_text(qdq_json *json, const char *text) { put(json, text, strlen(text)); }

static uint64_t level_bit(const qdq_json *json) { return UINT64_C(1) << (json->depth - 1); }

static bool in_object(const qdq_json *json) {
    return json->depth > 0 && (json->objects & level_bit(json));
}

static bool misuse(qdq_json *json) {
    json->misused = true;
    return false;
}

static void new_line(qdq_json *json) {
    static const char spaces[] = "                ";
    put(json, "\n", 1);
    for (size_t left = (size_t)json->indent * (size_t)json->depth; left > 0;) {
        size_t count = left < sizeof spaces - 1 ? left : sizeof spaces - 1;
        put(json, spaces, count);
        left -= count;
    }
}

// What stands before the next item of the open level.
static void separate(qdq_json *json) {
    uint64_t bit = level_bit(json);
    bool first = !(json->filled & bit);
    json->filled |= bit;
    if (!first) put(json, ",", 1);
    if (json->indent == 0) return;
    if (!(json->lines & bit))
        new_line(json);
    else if (!first)
        put(json, " ", 1);
}

// Whether calls have an effect.
static bool is_open(const qdq_json *json) { return json && json->write && !json->misused; }

// Whether a value may stand here; writes what goes in front of it.
static bool begin_value(qdq_json *json) {
    if (!is_open(json)) return false;
    if (json->depth == 0) {
        if (json->started) return misuse(json);
        json->started = true;
    } else if (!in_object(json)) {
        separate(json);
    } else {
        if (!json->after_key) return misuse(json);
        json->after_key = false;
    }
    return true;
}

static void begin_level(qdq_json *json, bool object, bool line) {
    if (is_open(json) && json->depth == QDQ_JSON_MAX_DEPTH) json->misused = true;
    if (!begin_value(json)) return;
    if (json->depth > 0 && (json->lines & level_bit(json))) line = true;
    put(json, object ? "{" : "[", 1);
    json->depth++;
    uint64_t bit = level_bit(json);
    json->objects = object ? json->objects | bit : json->objects & ~bit;
    json->lines = line ? json->lines | bit : json->lines & ~bit;
    json->filled &= ~bit;
}

static void end_level(qdq_json *json, bool object) {
    if (!is_open(json)) return;
    if (json->depth == 0 || in_object(json) != object || json->after_key) json->misused = true;
    if (json->misused) return;
    uint64_t bit = level_bit(json);
    json->depth--;
    if (json->indent && (json->filled & bit) && !(json->lines & bit)) new_line(json);
    put(json, object ? "}" : "]", 1);
}

static void put_escaped(qdq_json *json, unsigned char byte) {
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; i < sizeof letters - 1; i += 2) {
        if ((unsigned char)letters[i] != byte) continue;
        put(json, (const char[]){'\\', letters[i + 1]}, 2);
        return;
    }
    char text[8];
    int count = snprintf(text, sizeof text, "\\u%04x", (unsigned)byte);
    put(json, text, (size_t)count);
}

static void put_string(qdq_json *json, const char *text) {
    size_t length = strlen(text);
    size_t from = 0;  // what is not written yet and needs no escape
    put(json, "\"", 1);
    for (size_t i = 0; i < length;) {
        unsigned char byte = (unsigned char)text[i];
        size_t bytes = qdq_utf8_length(text + i, length - i);
        if (bytes > 0 && byte >= 0x20 && byte != '"' && byte != '\\') {
            i += bytes;
            continue;
        }
        if (i > from) put(json, text + from, i - from);
        if (bytes)
            put_escaped(json, byte);
        else
            put_text(json, "\xEF\xBF\xBD");
        from = ++i;
    }
    if (length > from) put(json, text + from, length - from);
    put(json, "\"", 1);
}

//---- Numbers ----
// Digits come from snprintf("%e"), whose only locale-dependent part, the point, is skipped.

static bool same_double(const char *text, double value) { return strtod(text, NULL) == value; }

// Readers of JSON go through double, so that road must lead back to the same float32, too.
static bool same_float32(const char *text, double value) {
    return strtof(text, NULL) == (float)value && (float)strtod(text, NULL) == (float)value;
}

static char digit_at(const char *digits, int count, int i) {
    if (i < 0 || i >= count) return '0';
    return digits[i];
}

// Rewrites "-d.ddde+XX" without the exponent where that is readable; returns the new length.
static size_t lay_out(const char *scientific, char out[NUMBER_BYTES]) {
    char digits[32];
    int count = 0;
    const char *next = scientific;
    for (; *next != 'e'; next++)
        if (*next >= '0' && *next <= '9') digits[count++] = *next;
    int exponent = (int)strtol(next + 1, NULL, 10);
    while (count > 1 && digits[count - 1] == '0') count--;

    bool plain = exponent >= -5 && exponent <= 16;
    int point = plain ? exponent + 1 : 1;  // digits before the point
    size_t used = 0;
    if (scientific[0] == '-') out[used++] = '-';
    if (point <= 0) out[used++] = '0';
    for (int i = 0; i < point; i++) out[used++] = digit_at(digits, count, i);
    if (count > point) out[used++] = '.';
    for (int i = point; i < count; i++) out[used++] = digit_at(digits, count, i);
    if (!plain) used += (size_t)snprintf(out + used, NUMBER_BYTES - used, "e%d", exponent);
    return used;
}

static void put_number(qdq_json *json, double value, int digits, int most_digits,
                       bool (*same)(const char *text, double value)) {
    if (isnan(value)) {
        put_text(json, "\"NaN\"");
    } else if (isinf(value)) {
        put_text(json, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    } else {
        char scientific[NUMBER_BYTES];
        for (;; digits++) {
            (void)snprintf(scientific, sizeof scientific, "%.*e", digits - 1, value);
            if (digits == most_digits || same(scientific, value)) break;
        }
        char text[NUMBER_BYTES];
        put(json, text, lay_out(scientific, text));
    }
}

//---- The calls ----

void qdq_json_init(qdq_json *json, void (*write)(void *self, const char *bytes, size_t count),
                   void *self, int indent) {
    if (json) *json = (qdq_json){.write = write, .self = self, .indent = indent > 0 ? indent : 0};
}

bool qdq_json_complete(const qdq_json *json) {
    return json && json->started && json->depth == 0 && !json->misused;
}

void qdq_json_begin_object(qdq_json *json) { begin_level(json, true, false); }
void qdq_json_end_object(qdq_json *json) { end_level(json, true); }
void qdq_json_begin_array(qdq_json *json) { begin_level(json, false, false); }
void qdq_json_begin_line(qdq_json *json) { begin_level(json, false, true); }
void qdq_json_end_array(qdq_json *json) { end_level(json, false); }

void qdq_json_key(qdq_json *json, const char *key) {
    if (!is_open(json)) return;
    if (!key || !in_object(json) || json->after_key) json->misused = true;
    if (json->misused) return;
    separate(json);
    put_string(json, key);
    put_text(json, json->indent ? ": " : ":");
    json->after_key = true;
}

void qdq_json_string(qdq_json *json, const char *text) {
    if (!begin_value(json)) return;
    if (text)
        put_string(json, text);
    else
        put_text(json, "null");
}

void qdq_json_int(qdq_json *json, int64_t value) {
    char text[NUMBER_BYTES];
    if (!begin_value(json)) return;
    put(json, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

void qdq_json_uint(qdq_json *json, uint64_t value) {
    char text[NUMBER_BYTES];
    if (!begin_value(json)) return;
    put(json, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
}

void qdq_json_bool(qdq_json *json, bool value) {
    if (begin_value(json)) put_text(json, value ? "true" : "false");
}

void qdq_json_null(qdq_json *json) {
    if (begin_value(json)) put_text(json, "null");
}

// FLT_DIG and DBL_DIG digits are always needed unless the value is subnormal.
static QDQ_APART void put_float32(qdq_json *json, float value) {
    put_number(json, value, fabsf(value) < FLT_MIN ? 1 : FLT_DIG, FLT_DECIMAL_DIG, same_float32);
}

static QDQ_APART void put_double(qdq_json *json, double value) {
    put_number(json, value, fabs(value) < DBL_MIN ? 1 : DBL_DIG, DBL_DECIMAL_DIG, same_double);
}

void qdq_json_float32(qdq_json *json, float value) {
    QDQ_FIXED_ENVIRONMENT;
    if (begin_value(json)) put_float32(json, value);
}

void qdq_json_double(qdq_json *json, double value) {
    QDQ_FIXED_ENVIRONMENT;
    if (begin_value(json)) put_double(json, value);
}
