// SPDX-License-Identifier: Apache-2.0
// Scans JSON text strictly, without recursion: structure, limits and repeated keys.
#include "graph/formats/json/json_scan.h"

#include <string.h>

#include "graph/core/symbols.h"
#include "graph/formats/json/json_token.h"
#include "runtime/base/mempool.h"
#include "runtime/base/utf8.h"

enum { MOST_LEVELS = 64, DEFAULT_VALUES = 1000000 };

// The tokens that the grammar allows next.
typedef enum expects {
    EXPECTS_VALUE,
    EXPECTS_FIRST_ITEM,
    EXPECTS_ITEM,
    EXPECTS_FIRST_KEY,
    EXPECTS_KEY,
    EXPECTS_COLON,
    EXPECTS_COMMA,
    EXPECTS_NOTHING,
} expects;

typedef struct level {
    bool object;
    size_t keys;  // how many entries of scanner.keys belong to enclosing levels
} level;

typedef struct scanner {
    qdq_json_source json;
    expects next;
    size_t values, max_values, longest_number;
    level levels[MOST_LEVELS];
    size_t depth;
    // The keys of all open objects, each prefixed by its depth as one byte.
    qdq_symbols *keys;
    char *key;  // room to build one prefixed key
    size_t key_capacity;
    const qdq_allocator *allocator;
} scanner;

static qdq_status unexpected(scanner *s) {
    const char *what = s->depth && s->levels[s->depth - 1].object ? "',' or '}'" : "',' or ']'";
    switch (s->next) {
    case EXPECTS_VALUE: what = "a value"; break;
    case EXPECTS_FIRST_ITEM: what = "a value or ']'"; break;
    case EXPECTS_ITEM: what = "another value after the comma"; break;
    case EXPECTS_FIRST_KEY: what = "a key in double quotes or '}'"; break;
    case EXPECTS_KEY: what = "another key in double quotes after the comma"; break;
    case EXPECTS_COLON: what = "':' after the key"; break;
    case EXPECTS_NOTHING: what = "nothing after the document"; break;
    case EXPECTS_COMMA: break;
    }
    return qdq_json_wanted(&s->json, what);
}

static qdq_status make_room(scanner *s, size_t bytes) {
    if (bytes <= s->key_capacity) return QDQ_OK;
    size_t capacity = bytes < 128 ? 256 : 2 * bytes;
    qdq_free_array(s->allocator, s->key, s->key_capacity, 1);
    s->key = qdq_alloc_array(s->allocator, capacity, 1, 1);
    s->key_capacity = s->key ? capacity : 0;
    return s->key ? QDQ_OK : qdq_fail_memory(s->json.err, capacity);
}

// Scans a key, which must be new in the innermost object; keys are compared without escapes.
static qdq_status scan_key(scanner *s) {
    size_t from = s->json.at;
    QDQ_TRY(qdq_json_take_string(&s->json));
    QDQ_TRY(make_room(s, s->json.at - from));
    s->key[0] = (char)s->depth;
    size_t length = qdq_json_unescape(&s->json, from, s->json.at, s->key + 1);
    qdq_error own;
    own.status = QDQ_OK;  // `= {0}` would clear the whole text for every key
    qdq_status status = qdq_symbols_add(s->keys, s->key, length + 1, 0, &own);
    if (status == QDQ_ERR_ARGUMENT) {
        char shown[80];
        return qdq_json_fail(&s->json, from, QDQ_ERR_PARSE, "key '%s' is given twice in one object",
                             qdq_utf8_show(shown, sizeof shown, s->key + 1, length));
    }
    if (status != QDQ_OK) return qdq_json_fail(&s->json, from, status, "%s", own.text);
    s->next = EXPECTS_COLON;
    return QDQ_OK;
}

static void end_value(scanner *s) { s->next = s->depth ? EXPECTS_COMMA : EXPECTS_NOTHING; }

static qdq_status open_level(scanner *s, bool object) {
    if (s->depth == MOST_LEVELS)
        return qdq_json_fail(&s->json, s->json.at, QDQ_ERR_PARSE, "more than %d levels of nesting",
                             (int)MOST_LEVELS);
    s->levels[s->depth++] = (level){object, qdq_symbols_count(s->keys)};
    s->next = object ? EXPECTS_FIRST_KEY : EXPECTS_FIRST_ITEM;
    s->json.at++;
    return QDQ_OK;
}

static qdq_status close_level(scanner *s) {
    bool object = s->depth > 0 && s->levels[s->depth - 1].object;
    expects empty = object ? EXPECTS_FIRST_KEY : EXPECTS_FIRST_ITEM;
    if (s->next != EXPECTS_COMMA && s->next != empty) return unexpected(s);
    if ((qdq_json_peek(&s->json) == '}') != object) return unexpected(s);
    qdq_symbols_truncate(s->keys, s->levels[--s->depth].keys);
    s->json.at++;
    end_value(s);
    return QDQ_OK;
}

static qdq_status scan_value(scanner *s) {
    int c = qdq_json_peek(&s->json);
    bool number = c == '-' || (c >= '0' && c <= '9');
    bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!number && !word && c != '"' && c != '{' && c != '[') return unexpected(s);
    if (s->values++ == s->max_values)
        return qdq_json_fail(&s->json, s->json.at, QDQ_ERR_LIMIT,
                             "more than %zu values; raise --max-values", s->max_values);
    if (c == '{' || c == '[') return open_level(s, c == '{');
    size_t from = s->json.at;
    QDQ_TRY(number ? qdq_json_take_number(&s->json)
            : word ? qdq_json_take_word(&s->json)
                   : qdq_json_take_string(&s->json));
    if (number && s->json.at - from > s->longest_number) s->longest_number = s->json.at - from;
    end_value(s);
    return QDQ_OK;
}

static qdq_status scan_token(scanner *s) {
    int c = qdq_json_peek(&s->json);
    if (c == '}' || c == ']') return close_level(s);
    switch (s->next) {
    case EXPECTS_VALUE:
    case EXPECTS_FIRST_ITEM:
    case EXPECTS_ITEM: return scan_value(s);
    case EXPECTS_FIRST_KEY:
    case EXPECTS_KEY: return c == '"' ? scan_key(s) : unexpected(s);
    case EXPECTS_COLON:
        if (c != ':') return unexpected(s);
        s->next = EXPECTS_VALUE;
        break;
    case EXPECTS_COMMA:
        if (c != ',') return unexpected(s);
        s->next = s->levels[s->depth - 1].object ? EXPECTS_KEY : EXPECTS_ITEM;
        break;
    case EXPECTS_NOTHING: return unexpected(s);
    }
    s->json.at++;
    return QDQ_OK;
}

static qdq_status scan(scanner *s) {
    qdq_json_source *json = &s->json;
    if (json->length == 0)
        return qdq_json_fail(json, 0, QDQ_ERR_PARSE, "the text is empty, wanted a value");
    if (json->length >= 3 && memcmp(json->text, "\xEF\xBB\xBF", 3) == 0)
        return qdq_json_fail(json, 0, QDQ_ERR_PARSE,
                             "the text begins with a byte order mark, wanted UTF-8 without one");
    for (;;) {
        int c = qdq_json_peek(json);
        if (c == QDQ_JSON_END && s->next == EXPECTS_NOTHING) return QDQ_OK;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            json->at++;
        else
            QDQ_TRY(scan_token(s));
    }
}

qdq_status qdq_json_scan(const char *text, size_t length, const qdq_allocator *allocator,
                         size_t max_values, size_t *longest_number, qdq_error *err) {
    allocator = qdq_allocator_or_default(allocator);
    scanner s = {.json = {.text = text, .length = length, .err = err},
                 .max_values = max_values ? max_values : DEFAULT_VALUES,
                 .keys = qdq_symbols_create(allocator, err),
                 .allocator = allocator};
    if (!s.keys) return QDQ_ERR_MEMORY;
    qdq_status status = scan(&s);
    qdq_free_array(allocator, s.key, s.key_capacity, 1);
    qdq_symbols_destroy(s.keys);
    if (longest_number) *longest_number = s.longest_number;
    return status;
}
