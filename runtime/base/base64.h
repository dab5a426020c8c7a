// SPDX-License-Identifier: Apache-2.0
// Bytes as text in base64 (RFC 4648), without padding. The last two digits name the alphabet: "+/"
// is base64 (section 4), "-_" base64url (section 5).
#ifndef QDQ_RUNTIME_BASE_BASE64_H
#define QDQ_RUNTIME_BASE_BASE64_H

#include <stddef.h>

// The size of the text for a number of bytes, with the zero at its end.
#define QDQ_BASE64_SIZE(bytes) ((bytes) / 3 * 4 + 4)

void qdq_base64_encode(const char *last, const unsigned char *bytes, size_t count, char *out);

// Returns how many characters at the head of a text are digits.
size_t qdq_base64_span(const char *last, const char *text, size_t length);

// Decodes a text to at most as many bytes as it has characters. Returns their number; SIZE_MAX for
// another character, a length that no bytes have, or bits behind the last byte.
size_t qdq_base64_decode(const char *last, const char *text, size_t length, unsigned char *out);

#endif
