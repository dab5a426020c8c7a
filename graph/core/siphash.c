// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4, after the reference description by Aumasson and Bernstein.
#include "graph/core/siphash.h"

typedef struct state {
    uint64_t v0, v1, v2, v3;
} state;

static uint64_t rotate(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

// Reads up to eight bytes as a little-endian number.
static uint64_t little_endian(const unsigned char *bytes, size_t count) {
    uint64_t x = 0;
    for (size_t i = 0; i < count; i++) x |= (uint64_t)bytes[i] << (8 * i);
    return x;
}

static void rounds(state *s, int count) {
    for (int i = 0; i < count; i++) {
        s->v0 += s->v1, s->v2 += s->v3;
        s->v1 = rotate(s->v1, 13) ^ s->v0;
        s->v3 = rotate(s->v3, 16) ^ s->v2;
        s->v0 = rotate(s->v0, 32);
        s->v2 += s->v1, s->v0 += s->v3;
        s->v1 = rotate(s->v1, 17) ^ s->v2;
        s->v3 = rotate(s->v3, 21) ^ s->v0;
        s->v2 = rotate(s->v2, 32);
    }
}

static void compress(state *s, uint64_t word) {
    s->v3 ^= word;
    rounds(s, 2);
    s->v0 ^= word;
}

uint64_t qdq_siphash(const unsigned char key[QDQ_SIPHASH_KEY_BYTES], const void *data,
                     size_t length) {
    uint64_t k0 = little_endian(key, 8), k1 = little_endian(key + 8, 8);
    // Together the constants spell "somepseudorandomlygeneratedbytes".
    state s = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
               k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    const unsigned char *bytes = data;
    size_t whole = length / 8 * 8;
    for (size_t i = 0; i < whole; i += 8) compress(&s, little_endian(bytes + i, 8));
    uint64_t last = (uint64_t)(length & 0xFF) << 56;
    if (length > whole) last |= little_endian(bytes + whole, length - whole);
    compress(&s, last);
    s.v2 ^= 0xFF;
    rounds(&s, 4);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
