// SPDX-License-Identifier: Apache-2.0
// Typed access to the items of a graph file, with errors that name the item.
#include "graph/formats/json/json_item.h"

#include <string.h>

#include "include/qdq/inspect.h"
#include "runtime/base/did_you_mean.h"

qdq_status qdq_item_wrong_kind(const qdq_reader *r, const qdq_item *at, const char *wanted) {
    return qdq_fail(r->err, QDQ_ERR_PARSE, "%s is %s, wanted %s", at->where,
                    qdq_json_kind_text(at->json), wanted);
}

// Copies a string, at most `most` bytes of it, and returns how many.
static size_t put(char *to, const char *from, size_t most) {
    size_t n = strnlen(from, most);
    memcpy(to, from, n);
    return n;
}

// Sets the path of a member of the object with path `object`. Each member of each node has one, so
// it is copied instead of printed, which took a quarter of the time of reading a graph.
static void set_path(qdq_item *item, const char *object, const char *key) {
    enum { OBJECT = 60, KEY = 30 };
    _Static_assert(OBJECT + KEY + 2 <= sizeof item->where, "a path has room");
    size_t n = put(item->where, object, OBJECT);
    if (n) item->where[n++] = '.';
    item->where[n + put(item->where + n, key, KEY)] = 0;
}

qdq_status qdq_item_member(const qdq_reader *r, const qdq_item *object, const char *key,
                           bool required, qdq_item *out) {
    out->json = qdq_json_find(object->json, key);
    if (!required && out->json && qdq_json_is_null(out->json)) out->json = NULL;
    *out->where = 0;
    if (out->json) set_path(out, object->where, key);
    if (out->json || !required) return QDQ_OK;
    return qdq_fail(r->err, QDQ_ERR_PARSE, "%s%skey '%s' is missing", object->where,
                    *object->where ? ": " : "", key);
}

qdq_status qdq_item_string(const qdq_reader *r, const qdq_item *object, const char *key,
                           const char **out) {
    qdq_item value;
    QDQ_TRY(qdq_item_member(r, object, key, true, &value));
    *out = qdq_json_text(value.json);
    return *out ? QDQ_OK : qdq_item_wrong_kind(r, &value, "a string");
}

qdq_status qdq_item_array(const qdq_reader *r, const qdq_item *object, const char *key,
                          bool required, qdq_item *out) {
    QDQ_TRY(qdq_item_member(r, object, key, required, out));
    if (out->json && !qdq_json_is_array(out->json)) return qdq_item_wrong_kind(r, out, "an array");
    return QDQ_OK;
}

qdq_status qdq_item_shape(const qdq_reader *r, const qdq_item *object, const char *key,
                          qdq_shape *out) {
    qdq_item list;
    QDQ_TRY(qdq_item_array(r, object, key, true, &list));
    *out = (qdq_shape){0};
    QDQ_JSON_EACH(dim, list.json) {
        int64_t value;
        if (!qdq_json_whole(dim, &value))
            return qdq_fail(r->err, QDQ_ERR_PARSE, "%s[%d] is %s, wanted a whole number",
                            list.where, out->rank, qdq_json_kind_text(dim));
        if (out->rank < QDQ_MAX_RANK) out->dims[out->rank] = value;
        out->rank++;
    }
    return QDQ_OK;
}

qdq_status qdq_item_check_keys(const qdq_reader *r, const qdq_item *object,
                               const char *const *keys) {
    size_t count = 0;
    while (keys[count]) count++;
    if (!qdq_json_is_object(object->json)) return qdq_item_wrong_kind(r, object, "an object");
    QDQ_JSON_EACH(child, object->json) {
        bool known = strncmp(qdq_json_name(child), "x-", 2) == 0;
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(qdq_json_name(child), keys[i]) == 0;
        if (known) continue;
        const char *nearest = qdq_did_you_mean(qdq_json_name(child), keys, count);
        return qdq_fail(r->err, QDQ_ERR_PARSE, "%s%skey '%.64s' is unknown%s%s%s", object->where,
                        *object->where ? ": " : "", qdq_json_name(child),
                        nearest ? "; did you mean '" : "; keys of your own begin with 'x-'",
                        nearest ? nearest : "", nearest ? "'?" : "");
    }
    return QDQ_OK;
}
