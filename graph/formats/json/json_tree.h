// SPDX-License-Identifier: Apache-2.0
// JSON text as a read-only tree. Only this file sees cJSON among the graph readers. Text must pass
// the strict scan first; lists are walked, never indexed; names are compared with their case.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_TREE_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_TREE_H

#include "include/qdq/base.h"

// An item of a tree; strings live as long as the tree.
typedef struct cJSON qdq_json_item;

// Parses `text`, which has a NUL after its `length` bytes. NULL with `err` set, by the scan if it
// refuses the text.
qdq_json_item *qdq_json_tree_parse(const char *text, size_t length, const qdq_allocator *allocator,
                                   size_t max_values, qdq_error *err);
void qdq_json_tree_free(qdq_json_item *tree);

bool qdq_json_is_null(const qdq_json_item *item);
bool qdq_json_is_object(const qdq_json_item *item);
bool qdq_json_is_array(const qdq_json_item *item);
bool qdq_json_is_bool(const qdq_json_item *item);
bool qdq_json_is_true(const qdq_json_item *item);
// Returns the kind in words: "a string", "an array", ...
const char *qdq_json_kind_text(const qdq_json_item *item);

// Return the members of an object or array in order, and the name of an object's member.
const qdq_json_item *qdq_json_first(const qdq_json_item *item);
const qdq_json_item *qdq_json_next(const qdq_json_item *item);
const char *qdq_json_name(const qdq_json_item *item);
size_t qdq_json_count(const qdq_json_item *item);
// Returns the member of an object; NULL if it is missing.
const qdq_json_item *qdq_json_find(const qdq_json_item *object, const char *name);

// `item` is declared by it.
// clang-format off
// NOLINTBEGIN(bugprone-macro-parentheses)
#define QDQ_JSON_EACH(item, list) \
    for (const qdq_json_item *item = qdq_json_first(list); (item) != NULL; (item) = qdq_json_next(item))
// NOLINTEND(bugprone-macro-parentheses)
// clang-format on

// NULL if it is not a string.
const char *qdq_json_text(const qdq_json_item *item);
// False if it is not a number.
bool qdq_json_number(const qdq_json_item *item, double *out);
// False if it is not an integer of magnitude up to 2^53, the last that a double holds exactly.
bool qdq_json_whole(const qdq_json_item *item, int64_t *out);
// False if it is not written as an integer, without fraction or exponent, that int64 holds. Exact
// beyond 2^53 as well.
bool qdq_json_int64(const qdq_json_item *item, int64_t *out);
bool qdq_json_uint64(const qdq_json_item *item, uint64_t *out);
// Reads a number, or "NaN", "Infinity" or "-Infinity", which are no JSON numbers.
bool qdq_json_any_number(const qdq_json_item *item, double *out);

#endif
