// SPDX-License-Identifier: Apache-2.0
// Writes JSON token by token; one bit per open level tells objects from arrays.
#include "runtime/base/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/fp_environment.h"
#include "runtime/base/number.h"
#include "runtime/base/utf8.h"

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

// Writes the separator between the text before and the next item of the open level.
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

// True if calls have an effect.
static bool is_open(const qdq_json *json) { return json && json->write && !json->misused; }

// True if a value may stand here; writes the separator before it.
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
    size_t from = 0;  // start of the text that is not written yet and needs no escape
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
    char text[QDQ_NUMBER_BYTES];
    if (!begin_value(json)) return;
    put(json, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

void qdq_json_uint(qdq_json *json, uint64_t value) {
    char text[QDQ_NUMBER_BYTES];
    if (!begin_value(json)) return;
    put(json, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)value));
}

void qdq_json_bool(qdq_json *json, bool value) {
    if (begin_value(json)) put_text(json, value ? "true" : "false");
}

void qdq_json_null(qdq_json *json) {
    if (begin_value(json)) put_text(json, "null");
}

// Writes a number; NaN and the infinities, which JSON lacks, become strings.
static QDQ_APART void put_number(qdq_json *json, double value, bool is_float32) {
    char text[QDQ_NUMBER_BYTES];
    bool finite = isfinite(value);
    if (!finite) put(json, "\"", 1);
    put_text(json, qdq_number_text(text, value, is_float32));
    if (!finite) put(json, "\"", 1);
}

// In the caller's environment the widening might flush a denormal.
static QDQ_APART double widened(float value) { return value; }

void qdq_json_float32(qdq_json *json, float value) {
    QDQ_FIXED_ENVIRONMENT;
    if (begin_value(json)) put_number(json, widened(value), true);
}

void qdq_json_double(qdq_json *json, double value) {
    QDQ_FIXED_ENVIRONMENT;
    if (begin_value(json)) put_number(json, value, false);
}
