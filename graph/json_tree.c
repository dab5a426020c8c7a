// SPDX-License-Identifier: Apache-2.0
#include "graph/json_tree.h"

#include <cJSON.h>
#include <math.h>
#include <string.h>

#include "graph/json_scan.h"
#include "runtime/error.h"

#define MOST_EXACT 9007199254740992.0

qdq_json_item *qdq_json_tree_parse(const char *text, size_t length, const qdq_allocator *allocator,
                                   size_t max_values, qdq_error *err) {
    if (qdq_json_scan(text, length, allocator, max_values, err) != QDQ_OK) return NULL;
    const char *end;
    cJSON *tree = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    if (!tree) qdq_fail_memory(err, length);  // the scan has refused all else
    return tree;
}

void qdq_json_tree_free(qdq_json_item *tree) { cJSON_Delete(tree); }

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
