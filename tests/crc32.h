// SPDX-License-Identifier: Apache-2.0
// CRC-32, as zlib and Python compute it.
#ifndef QDQ_TESTS_CRC32_H
#define QDQ_TESTS_CRC32_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t crc32_of(const void *data, size_t size) {
    const unsigned char *byte = data;
    uint32_t table[256], crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
    }
    for (size_t i = 0; i < size; i++) crc = table[(crc ^ byte[i]) & 0xFF] ^ crc >> 8;
    return ~crc;
}

#endif
