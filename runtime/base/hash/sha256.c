// SPDX-License-Identifier: Apache-2.0
// SHA-256 as FIPS 180-4 defines it, block by block.
#include "runtime/base/hash/sha256.h"

#include <string.h>

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
static const uint32_t constants[64] = {
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
};

// The same of the square roots of the first 8 primes.
static const uint32_t first_state[8] = {
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Expands the 16 words of a block to 64.
static void expand(const unsigned char *block, uint32_t *w) {
    for (size_t i = 0; i < 16; i++) w[i] = big_endian(block + 4 * i);
    for (size_t i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        uint32_t s0 = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3;
        uint32_t s1 = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

// Computes one round. `v` has the working variables a to h, and `a` is the place of a: rounds turn
// the names of the variables instead of moving eight numbers.
static inline void add_word(uint32_t *v, size_t a, uint32_t word) {
    uint32_t *d = &v[(a + 3) & 7], *h = &v[(a + 7) & 7];
    uint32_t b = v[(a + 1) & 7], c = v[(a + 2) & 7];
    uint32_t e = v[(a + 4) & 7], f = v[(a + 5) & 7], g = v[(a + 6) & 7];
    uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t t1 = *h + s1 + ((e & f) ^ (~e & g)) + word;
    uint32_t s0 = rotate(v[a], 2) ^ rotate(v[a], 13) ^ rotate(v[a], 22);
    *d += t1;
    *h = t1 + s0 + ((v[a] & b) ^ (v[a] & c) ^ (b & c));
}

static void add_block(uint32_t *state, const unsigned char *block) {
    uint32_t w[64] = {0}, v[8];
    expand(block, w);
    memcpy(v, state, sizeof v);
    for (size_t i = 0; i < 64; i++) w[i] += constants[i];
    for (size_t i = 0; i < 64; i += 8) {
        add_word(v, 0, w[i]), add_word(v, 7, w[i + 1]);
        add_word(v, 6, w[i + 2]), add_word(v, 5, w[i + 3]);
        add_word(v, 4, w[i + 4]), add_word(v, 3, w[i + 5]);
        add_word(v, 2, w[i + 6]), add_word(v, 1, w[i + 7]);
    }
    for (size_t i = 0; i < 8; i++) state[i] += v[i];
}

void qdq_sha256_begin(qdq_sha256 *hash) {
    *hash = (qdq_sha256){.length = 0};
    memcpy(hash->state, first_state, sizeof first_state);
}

void qdq_sha256_add(qdq_sha256 *hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    while (size) {
        size_t at = (size_t)(hash->length % QDQ_SHA256_BLOCK), room = QDQ_SHA256_BLOCK - at;
        size_t part = size < room ? size : room;
        memcpy(hash->block + at, bytes, part);
        hash->length += part, bytes += part, size -= part;
        if (part == room) add_block(hash->state, hash->block);
    }
}

void qdq_sha256_end(qdq_sha256 *hash, unsigned char digest[QDQ_SHA256_BYTES]) {
    static const unsigned char padding[QDQ_SHA256_BLOCK] = {0x80};
    uint64_t bits = hash->length * 8;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    size_t at = (size_t)(hash->length % QDQ_SHA256_BLOCK);
    qdq_sha256_add(hash, padding, (at < 56 ? 56 : 120) - at);
    qdq_sha256_add(hash, length, sizeof length);
    for (size_t i = 0; i < QDQ_SHA256_BYTES; i++)
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}
