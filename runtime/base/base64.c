// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/base64.h"

#include <stdint.h>

static char digit_of(const char *last, unsigned value) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    if (value < 62) return digits[value];
    return last[value - 62];
}

// Returns 64 for another character.
static unsigned value_of(const char *last, char digit) {
    if (digit >= 'A' && digit <= 'Z') return (unsigned)(digit - 'A');
    if (digit >= 'a' && digit <= 'z') return (unsigned)(digit - 'a') + 26;
    if (digit >= '0' && digit <= '9') return (unsigned)(digit - '0') + 52;
    return digit == last[0] ? 62 : digit == last[1] ? 63 : 64;
}

void qdq_base64_encode(const char *last, const unsigned char *bytes, size_t count, char *out) {
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        unsigned group = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0U);
        for (size_t k = 0; k < (left > 2 ? 4 : left + 1); k++)
            *out++ = digit_of(last, group >> (18 - 6 * k) & 63);
    }
    *out = '\0';
}

size_t qdq_base64_span(const char *last, const char *text, size_t length) {
    size_t i = 0;
    while (i < length && value_of(last, text[i]) < 64) i++;
    return i;
}

size_t qdq_base64_decode(const char *last, const char *text, size_t length, unsigned char *out) {
    size_t count = 0;
    unsigned group = 0;
    if (length % 4 == 1) return SIZE_MAX;
    for (size_t i = 0; i < length; i++) {
        unsigned value = value_of(last, text[i]);
        if (value == 64) return SIZE_MAX;
        group = group << 6 | value;
        if (i % 4 > 0) out[count++] = (unsigned char)(group >> (6 - 2 * (i % 4)));
    }
    unsigned behind = length % 4 == 2 ? 15 : length % 4 == 3 ? 3 : 0;
    return group & behind ? SIZE_MAX : count;
}
