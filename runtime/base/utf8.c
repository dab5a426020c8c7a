// SPDX-License-Identifier: Apache-2.0
// UTF-8: checks text, encodes a character, and escapes text from a file so that a message can show
// it.
#include "runtime/base/utf8.h"

#include <stdbool.h>
#include <string.h>

size_t qdq_utf8_length(const char *text, size_t count) {
    if (count == 0) return 0;
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned first = bytes[0];
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (count < length) return 0;
    // The second byte decides: it rules out overlong forms, surrogates and codes beyond U+10FFFF.
    unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned greatest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (bytes[1] < least || bytes[1] > greatest) return 0;
    for (size_t i = 2; i < length; i++)
        if ((bytes[i] & 0xC0) != 0x80) return 0;
    return length;
}

size_t qdq_utf8_valid(const char *text, size_t count) {
    size_t at = 0;
    for (size_t bytes; at < count; at += bytes) {
        bytes = qdq_utf8_length(text + at, count - at);
        if (bytes == 0) return at;
    }
    return at;
}

size_t qdq_utf8_write(char out[4], uint32_t code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3F));
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(lead[length] | code);
    return length;
}

const char *qdq_utf8_show(char *out, size_t capacity, const char *text, size_t length) {
    size_t used = 0;
    size_t cut = 0;  // where "..." still fits
    for (size_t i = 0; i < length;) {
        size_t bytes = qdq_utf8_length(text + i, length - i);
        if (used + (bytes ? bytes : 1) >= capacity) {
            memcpy(out + cut, "...", 4);
            return out;
        }
        unsigned char first = (unsigned char)text[i];
        bool upper_control = bytes == 2 && first == 0xC2 && (unsigned char)text[i + 1] < 0xA0;
        if (bytes == 0 || first < 0x20 || first == 0x7F || upper_control) {
            out[used++] = '?';
            i += bytes ? bytes : 1;
        } else {
            memcpy(out + used, text + i, bytes);
            used += bytes;
            i += bytes;
        }
        if (used + 4 <= capacity) cut = used;
    }
    out[used] = '\0';
    return out;
}
