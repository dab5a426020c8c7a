// SPDX-License-Identifier: Apache-2.0
#include "tools/link/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64_encode(const unsigned char *bytes, size_t count, char *out) {
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        unsigned group = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0U);
        for (size_t k = 0; k < (left > 2 ? 4 : left + 1); k++)
            *out++ = digits[group >> (18 - 6 * k) & 63];
    }
    *out = '\0';
}

size_t base64_decode(const char *text, size_t length, unsigned char *out) {
    size_t count = 0;
    unsigned group = 0;
    if (length % 4 == 1) return SIZE_MAX;
    for (size_t i = 0; i < length; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit) return SIZE_MAX;
        group = group << 6 | (unsigned)(digit - digits);
        if (i % 4 > 0) out[count++] = (unsigned char)(group >> (6 - 2 * (i % 4)));
    }
    return count;
}
