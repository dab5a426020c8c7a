// SPDX-License-Identifier: Apache-2.0
// Bytes as base64url (RFC 4648, section 5) without padding.
#ifndef QDQ_TOOLS_LINK_BASE64_H
#define QDQ_TOOLS_LINK_BASE64_H

#include <stddef.h>

// The size of the text for a number of bytes, with the zero at its end.
#define BASE64_SIZE(bytes) ((bytes) / 3 * 4 + 4)

void base64_encode(const unsigned char *bytes, size_t count, char *out);

// Decodes a text to at most as many bytes as it has characters. Returns their number; SIZE_MAX for
// another character, or a length that no bytes have.
size_t base64_decode(const char *text, size_t length, unsigned char *out);

#endif
