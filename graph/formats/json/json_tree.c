// SPDX-License-Identifier: Apache-2.0
// Parses JSON text with cJSON into a read-only tree; integers keep more digits than a double has.
#include "graph/formats/json/json_tree.h"

#include <cJSON.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/formats/json/json_scan.h"
#include "runtime/base/error.h"

#define MOST_EXACT 9007199254740992.0

//---- Numbers that doubles cannot tell apart ---------------------------------

static bool is_number_char(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// Finds the first number at or after `at` outside of strings, in valid JSON that has a number.
// *length: its bytes.
static const char *find_number(const char *at, size_t *length) {
    while (*at != '-' && !(*at >= '0' && *at <= '9')) {
        if (*at == '"')
            for (at++; *at != '"'; at++) at += *at == '\\';
        at++;
    }
    *length = 0;
    while (is_number_char(at[*length])) ++*length;
    return at;
}

enum { EXACT_DIGITS = 15, MOST_DIGITS = 24 };  // a double has; an integer may have and be refused

// Writes the digits of a whole number that a double may not hold: 9007199254740993, with .0 or as
// 9007199254740993e0. 0 if the number is short, not whole, or longer than any integer.
static size_t whole_digits(const char *number, size_t length, char out[MOST_DIGITS + 2]) {
    size_t used = 0, digits = 0, fraction = 0, i = 0;
    if (length <= EXACT_DIGITS) return 0;
    if (number[0] == '-') out[used++] = number[i++];
    for (bool behind = false; i < length && number[i] != 'e' && number[i] != 'E'; i++) {
        if (number[i] == '.') behind = true;
        if (number[i] == '.' || (number[i] == '0' && !digits && !behind)) continue;
        if (digits < MOST_DIGITS) out[used + digits] = number[i];
        digits++, fraction += behind;
    }
    long power = i < length ? strtol(number + i + 1, NULL, 10) : 0;
    for (; power > 0 && fraction; power--) fraction--;
    for (; power < 0 && fraction <= MOST_DIGITS; power++) fraction++;
    // Digits of the fraction must be 0. Digits beyond MOST_DIGITS were not kept.
    for (size_t k = 0; k < fraction; k++)
        if (k >= digits || digits - 1 - k >= MOST_DIGITS || out[used + digits - 1 - k] != '0')
            return 0;
    digits -= fraction;
    for (; power > 0 && digits && digits < MOST_DIGITS; power--) out[used + digits++] = '0';
    if (digits <= EXACT_DIGITS || digits >= MOST_DIGITS) return 0;
    out[used + digits] = '\0';
    return used + digits;
}

// Walks the tree and its text together and keeps the digits of integers beyond 2^53. They go to the
// item's string, which cJSON leaves unused for numbers and frees with the item. The scanner limits
// the depth. False if memory runs out.
static bool keep_long_numbers(cJSON *item, const char **at) {
    if (cJSON_IsNumber(item)) {
        size_t length;
        char digits[MOST_DIGITS + 2];
        *at = find_number(*at, &length);
        size_t bytes = whole_digits(*at, length, digits);
        if (bytes) {
            item->valuestring = cJSON_malloc(bytes + 1);
            if (!item->valuestring) return false;
            memcpy(item->valuestring, digits, bytes + 1);
        }
        *at += length;
    }
    for (cJSON *child = item->child; child; child = child->next)
        if (!keep_long_numbers(child, at)) return false;
    return true;
}

//---- The tree ---------------------------------------------------------------

// Parses in the locale "C", because cJSON uses the decimal point of the thread's locale.
static cJSON *parse(const char *text, size_t length) {
    const char *end;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return NULL;
    locale_t before = uselocale(plain);
    cJSON *tree = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    uselocale(before);
    freelocale(plain);
    return tree;
}

qdq_json_item *qdq_json_tree_parse(const char *text, size_t length, const qdq_allocator *allocator,
                                   size_t max_values, qdq_error *err) {
    size_t longest;
    if (qdq_json_scan(text, length, allocator, max_values, &longest, err) != QDQ_OK) return NULL;
    cJSON *tree = parse(text, length);
    if (tree && (longest <= EXACT_DIGITS || keep_long_numbers(tree, &text))) return tree;
    qdq_fail_memory(err, length);  // the scan has refused every other cause
    cJSON_Delete(tree);
    return NULL;
}

void qdq_json_tree_free(qdq_json_item *tree) { cJSON_Delete(tree); }

bool qdq_json_is_null(const qdq_json_item *item) { return cJSON_IsNull(item); }

bool qdq_json_is_object(const qdq_json_item *item) { return cJSON_IsObject(item); }

bool qdq_json_is_array(const qdq_json_item *item) { return cJSON_IsArray(item); }

bool qdq_json_is_bool(const qdq_json_item *item) { return cJSON_IsBool(item); }

bool qdq_json_is_true(const qdq_json_item *item) { return cJSON_IsTrue(item); }

const char *qdq_json_kind_text(const qdq_json_item *item) {
    if (cJSON_IsString(item)) return "a string";
    if (cJSON_IsNumber(item)) return "a number";
    if (cJSON_IsBool(item)) return "a bool";
    if (cJSON_IsArray(item)) return "an array";
    if (cJSON_IsObject(item)) return "an object";
    return "null";
}

const qdq_json_item *qdq_json_first(const qdq_json_item *item) { return item ? item->child : NULL; }

const qdq_json_item *qdq_json_next(const qdq_json_item *item) { return item->next; }

const char *qdq_json_name(const qdq_json_item *item) { return item->string; }

size_t qdq_json_count(const qdq_json_item *item) {
    size_t count = 0;
    QDQ_JSON_EACH(child, item) count++;
    return count;
}

const qdq_json_item *qdq_json_find(const qdq_json_item *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

const char *qdq_json_text(const qdq_json_item *item) {
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

bool qdq_json_number(const qdq_json_item *item, double *out) {
    if (!cJSON_IsNumber(item)) return false;
    *out = item->valuedouble;
    return true;
}

bool qdq_json_whole(const qdq_json_item *item, int64_t *out) {
    double number;
    if (!qdq_json_number(item, &number) || fabs(number) > MOST_EXACT || number != floor(number))
        return false;
    *out = (int64_t)number;
    return true;
}

bool qdq_json_int64(const qdq_json_item *item, int64_t *out) {
    if (!cJSON_IsNumber(item) || !item->valuestring) return qdq_json_whole(item, out);
    errno = 0;
    long long value = strtoll(item->valuestring, NULL, 10);
    *out = value;
    return errno == 0;
}

bool qdq_json_uint64(const qdq_json_item *item, uint64_t *out) {
    int64_t whole;
    if (!cJSON_IsNumber(item) || !item->valuestring) {
        if (!qdq_json_whole(item, &whole) || whole < 0) return false;
        *out = (uint64_t)whole;
        return true;
    }
    errno = 0;
    unsigned long long value = strtoull(item->valuestring, NULL, 10);
    *out = value;
    return errno == 0 && item->valuestring[0] != '-';
}

bool qdq_json_any_number(const qdq_json_item *item, double *out) {
    const char *text = qdq_json_text(item);
    if (!text) return qdq_json_number(item, out);
    if (strcmp(text, "NaN") == 0)
        *out = NAN;
    else if (strcmp(text, "Infinity") == 0)
        *out = INFINITY;
    else if (strcmp(text, "-Infinity") == 0)
        *out = -INFINITY;
    else
        return false;
    return true;
}
