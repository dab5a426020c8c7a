// SPDX-License-Identifier: Apache-2.0
// UTF-8: what is valid, writing one character, and showing foreign text in a message.
#ifndef QDQ_RUNTIME_BASE_UTF8_H
#define QDQ_RUNTIME_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

// Bytes (1..4) of the character that `text` begins with, looking at no more than `count` bytes.
// 0 if there is none: overlong, a surrogate, beyond U+10FFFF, cut, a stray byte, or count is 0.
size_t qdq_utf8_length(const char *text, size_t count);

// Bytes of `text` in front of the first that is not UTF-8; `count` if all are.
size_t qdq_utf8_valid(const char *text, size_t count);

// Writes the character `code` (a Unicode scalar value) to `out` and returns its 1..4 bytes.
size_t qdq_utf8_write(char out[4], uint32_t code);

// Copies a name that a file chose into a message: control characters and bytes that are not UTF-8
// become '?', and what does not fit ends in "...". Writes at most `capacity` (>= 8) bytes, returns
// `out`.
const char *qdq_utf8_show(char *out, size_t capacity, const char *text, size_t length);

#endif
