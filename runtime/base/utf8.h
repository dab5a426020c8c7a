// SPDX-License-Identifier: Apache-2.0
// UTF-8: checks text, encodes a character, and escapes text from a file so that a message can show
// it.
#ifndef QDQ_RUNTIME_BASE_UTF8_H
#define QDQ_RUNTIME_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

// Returns the length (1..4 bytes) of the character at the start of `text`, reading at most `count`
// bytes. 0 without a valid one: overlong, a surrogate, beyond U+10FFFF, cut, a stray byte, or no
// bytes.
size_t qdq_utf8_length(const char *text, size_t count);

// Returns how many bytes of `text` come before the first invalid one; `count` if all are valid.
size_t qdq_utf8_valid(const char *text, size_t count);

// Writes the character `code` (a Unicode scalar value) to `out` and returns its 1..4 bytes.
size_t qdq_utf8_write(char out[4], uint32_t code);

// Copies a name from a file into a message: control characters and bytes that are not UTF-8 become
// '?', and a name that is too long is cut and ends in "...". Writes at most `capacity` (>= 8)
// bytes, returns `out`.
const char *qdq_utf8_show(char *out, size_t capacity, const char *text, size_t length);

#endif
