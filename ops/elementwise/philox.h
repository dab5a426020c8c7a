// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (2011).
#ifndef QDQ_OPS_ELEMENTWISE_PHILOX_H
#define QDQ_OPS_ELEMENTWISE_PHILOX_H

#include <stdint.h>

// Turns a counter into four random words.
static inline void qdq_philox4x32(uint32_t counter[4], uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; round++) {
        uint64_t first = UINT64_C(0xD2511F53) * counter[0];
        uint64_t second = UINT64_C(0xCD9E8D57) * counter[2];
        counter[0] = (uint32_t)(second >> 32) ^ counter[1] ^ key0;
        counter[1] = (uint32_t)second;
        counter[2] = (uint32_t)(first >> 32) ^ counter[3] ^ key1;
        counter[3] = (uint32_t)first;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

// Computes the random words of Dropout for elements group * 4 to group * 4 + 3. With offset 0 all
// four are the same word, from a counter with 32 bits of the index, as in oneDNN 3.13 on x86-64.
static inline void qdq_dropout_words(uint64_t seed, uint64_t offset, uint64_t group,
                                     uint32_t words[4]) {
    uint64_t at = group * 4;
    uint32_t low = (uint32_t)seed, x = (uint32_t)at;
    if (offset == 0) {
        words[0] = x, words[1] = x + 1, words[2] = x, words[3] = x + 3;
        qdq_philox4x32(words, low, low);
        words[0] = words[1] = words[3] = words[2];
    } else {
        words[0] = (uint32_t)offset, words[1] = (uint32_t)(offset >> 32);
        words[2] = x, words[3] = (uint32_t)(at >> 32);
        qdq_philox4x32(words, low, (uint32_t)(seed >> 32));
    }
}

#endif
