// SPDX-License-Identifier: Apache-2.0
// Random cases with a printed seed, and random sizes around an op's block sizes.
#ifndef QDQ_TESTS_OPS_LARGE_RANDOM_H
#define QDQ_TESTS_OPS_LARGE_RANDOM_H

#include <time.h>

#include "oracle.h"

// How many random cases to run, and the seed of the first. Case n has the seed of the first plus n,
// so its own seed and a count of 1 repeat it. Both come from the arguments COUNT and SEED, or from
// QDQ_RANDOM and QDQ_SEED. Slow runs (unit_slow) and builds without optimization take a quarter.
typedef struct large_random {
    uint64_t count, seed;
} large_random;

static large_random large_cases;

static inline void large_begin(int argc, char **argv) {
#ifdef __OPTIMIZE__
    large_cases.count = unit_slow() ? 50 : 200;
#else
    large_cases.count = 50;
#endif
    large_cases.seed = (uint64_t)time(NULL) * 1000000;
    const char *count = argc > 1 ? argv[1] : getenv("QDQ_RANDOM");
    const char *seed = argc > 2 ? argv[2] : getenv("QDQ_SEED");
    if (count) large_cases.count = strtoull(count, NULL, 10);
    if (seed) large_cases.seed = strtoull(seed, NULL, 10);
    print_message("%llu random cases, QDQ_SEED=%llu\n", (unsigned long long)large_cases.count,
                  (unsigned long long)large_cases.seed);
}

// A state for unit_random: neighbouring seeds give states far apart.
static inline uint64_t large_state(uint64_t seed) {
    uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15u;
    state ^= state >> 29;
    return state ? state : 1;
}

static inline size_t large_pick(uint64_t *state, size_t count) {
    if (count == 0) abort();
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the analyser forgets the line before
    return (size_t)(unit_random(state) >> 20) % count;
}

// Up to three blocks: exactly, one less, one more, or with a remainder.
static inline size_t large_size(uint64_t *state, const size_t *cuts, size_t count, size_t most) {
    size_t cut = cuts[large_pick(state, count)], size = cut * large_pick(state, 4);
    switch (large_pick(state, 4)) {
    case 0: size += 1; break;
    case 1: size -= size > 0; break;
    case 2: size += large_pick(state, cut); break;
    default: break;
    }
    return size < 1 ? 1 : size > most ? most : size;
}

#endif
