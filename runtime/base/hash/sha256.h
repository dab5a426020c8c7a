// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for fingerprints that other programs can recompute. No library has it that
// every system has, and the function never changes.
#ifndef QDQ_RUNTIME_BASE_HASH_SHA256_H
#define QDQ_RUNTIME_BASE_HASH_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { QDQ_SHA256_BYTES = 32, QDQ_SHA256_BLOCK = 64 };

typedef struct qdq_sha256 {
    uint32_t state[8];
    uint64_t length;  // bytes so far
    unsigned char block[QDQ_SHA256_BLOCK];
} qdq_sha256;

void qdq_sha256_begin(qdq_sha256 *hash);
// Hashes `size` more bytes. `data` may be NULL if `size` is 0.
void qdq_sha256_add(qdq_sha256 *hash, const void *data, size_t size);
// Writes the digest. No bytes can be added after it.
void qdq_sha256_end(qdq_sha256 *hash, unsigned char digest[QDQ_SHA256_BYTES]);

#endif
