// SPDX-License-Identifier: Apache-2.0
// Writes JSON as a stream: a call for each token, no tree, no allocation.
#ifndef QDQ_RUNTIME_BASE_JSON_WRITER_H
#define QDQ_RUNTIME_BASE_JSON_WRITER_H

#include "include/qdq/base.h"

#define QDQ_JSON_MAX_DEPTH 64

// The destination of text, and the writer's state. Owned by the caller, who may drop it at any
// time; it borrows `self` and holds no memory. One thread at a time; two writers share nothing.
//
// Calls must nest as JSON does: a key before each value of an object, none elsewhere, one value at
// the top, at most QDQ_JSON_MAX_DEPTH levels. The first call that does not nest is dropped, and all
// calls after it, and qdq_json_complete stays false. If `json` or its `write` is NULL, calls do
// nothing.
typedef struct qdq_json {
    // Receives the text part by part, never terminated. It deals with failed writes itself:
    // the writer goes on.
    void (*write)(void *self, const char *bytes, size_t count);
    void *self;
    // Private to the functions below.
    int indent, depth;
    bool started, after_key, misused;
    uint64_t objects, lines, filled;  // a bit for each open level
} qdq_json;

// Begins a text. `indent` is the number of spaces for each level; 0 writes everything on one line
// without spaces.
void qdq_json_init(qdq_json *json, void (*write)(void *self, const char *bytes, size_t count),
                   void *self, int indent);

// True if one whole value was written and no call was dropped. False for NULL.
bool qdq_json_complete(const qdq_json *json);

void qdq_json_begin_object(qdq_json *json);
void qdq_json_end_object(qdq_json *json);
void qdq_json_begin_array(qdq_json *json);
// Begins an array that stays on one line with everything in it, whatever `indent` says.
void qdq_json_begin_line(qdq_json *json);
void qdq_json_end_array(qdq_json *json);
// A NULL key counts as a call that does not nest.
void qdq_json_key(qdq_json *json, const char *key);

// Writes a string. `text` is UTF-8; each byte that is not valid becomes U+FFFD. NULL is written as
// null.
void qdq_json_string(qdq_json *json, const char *text);
void qdq_json_int(qdq_json *json, int64_t value);
void qdq_json_uint(qdq_json *json, uint64_t value);
void qdq_json_bool(qdq_json *json, bool value);
void qdq_json_null(qdq_json *json);
// Writes the fewest digits that read back as `value`, in any locale. NaN and the infinities are the
// strings "NaN", "Infinity" and "-Infinity".
void qdq_json_float32(qdq_json *json, float value);
void qdq_json_double(qdq_json *json, double value);

#endif
