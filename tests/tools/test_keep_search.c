// SPDX-License-Identifier: Apache-2.0
// The search for the fewest products in float, against every set of products.
#include <math.h>

#include "tests/unit.h"
#include "tools/lab/quantize/keep_search.h"

enum { MOST = 9 };

// Noise that adds up, but for a factor of each pair of products that are both on codes.
typedef struct network {
    size_t count;
    double alone[MOST], pairs[MOST][MOST];
    double wanted;
    size_t fails_at;  // 0: never
    size_t calls;
} network;

static uint64_t draw_state;

static double draw(void) {
    draw_state = draw_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(draw_state >> 11) / 9007199254740992.0;
}

static double noise_of(const network *n, const bool *kept) {
    double noise = 0;
    for (size_t i = 0; i < n->count; i++) {
        if (kept[i]) continue;
        noise += n->alone[i];
        for (size_t k = 0; k < i; k++)
            if (!kept[k]) noise += n->pairs[i][k] * sqrt(n->alone[i] * n->alone[k]);
    }
    return noise;
}

static int measure(void *with, const bool *kept, bool *fits, double *noise) {
    network *n = with;
    if (++n->calls == n->fails_at) return 7;
    *noise = noise_of(n, kept);
    *fits = *noise <= n->wanted;
    return 0;
}

// `decades`: between the least and the greatest noise.
static network random_network(size_t count, double decades, double interaction) {
    network n = {.count = count};
    for (size_t i = 0; i < count; i++) n.alone[i] = pow(10, -decades * draw());
    for (size_t i = 1; i < count; i++)  // descending
        for (size_t k = i; k > 0 && n.alone[k] > n.alone[k - 1]; k--) {
            double less = n.alone[k - 1];
            n.alone[k - 1] = n.alone[k], n.alone[k] = less;
        }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) n.pairs[i][k] = interaction * (2 * draw() - 1);
    n.wanted = noise_of(&n, (bool[MOST]){false}) * draw();
    return n;
}

static size_t size_of(const bool *kept, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) size += kept[i];
    return size;
}

// Returns the fewest products that fit, by trying all sets but the full one; `count` if none fits.
static size_t fewest(const network *n) {
    size_t best = n->count;
    for (size_t bits = 0; bits + 1 < (size_t)1 << n->count; bits++) {
        bool kept[MOST];
        for (size_t i = 0; i < n->count; i++) kept[i] = bits >> i & 1;
        size_t size = size_of(kept, n->count);
        if (size < best && noise_of(n, kept) <= n->wanted) best = size;
    }
    return best;
}

static keep_search search_of(network *n, bool *kept) {
    return (keep_search){.count = n->count,
                         .noises = n->alone,
                         .wanted = n->wanted,
                         .measure = measure,
                         .with = n,
                         .kept = kept};
}

static void no_set_has_fewer_products(void **state) {
    (void)state;
    size_t found = 0, none = 0;
    for (draw_state = 1; draw_state < 2000; draw_state++) {
        uint64_t seed = draw_state;
        size_t count = 1 + seed % MOST;
        network n = random_network(count, seed % 4 ? 1 : 3, 0.25);
        bool kept[MOST] = {false};
        keep_search s = search_of(&n, kept);
        assert_int_equal(keep_search_run(&s), 0);
        size_t wanted = fewest(&n);
        assert_int_equal(s.found, wanted < count);
        if (s.found) {
            assert_int_equal(size_of(kept, count), wanted);
            assert_true(noise_of(&n, kept) <= n.wanted);
        }
        assert_int_equal(s.trials, n.calls);
        found += s.found, none += !s.found;
        draw_state = seed;
    }
    assert_true(found > 50 && none > 5);
}

static void few_sets_are_all_tried(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 1000; seed++) {
        draw_state = seed;
        size_t count = 1 + seed % 6;
        network n = random_network(count, 1, 0.9);
        bool kept[MOST] = {false};
        keep_search s = search_of(&n, kept);
        assert_int_equal(keep_search_run(&s), 0);
        assert_int_equal(s.found ? size_of(kept, count) : count, fewest(&n));
    }
}

static void a_set_that_shares_codes_is_found(void **state) {
    (void)state;
    // Products 1 and 2 read codes of one value, whose noise both have alone: keeping 0 or one of
    // them is of no use.
    network n = {.count = 4, .alone = {1, 1, 1, 0.001}, .wanted = 1.2};
    bool kept[4] = {false};
    n.pairs[2][1] = -1;
    keep_search s = search_of(&n, kept);
    assert_int_equal(keep_search_run(&s), 0);
    assert_true(s.found);
    assert_int_equal(size_of(kept, 4), fewest(&n));
}

static void additive_noise_takes_few_trials(void **state) {
    (void)state;
    draw_state = 11;
    for (int i = 0; i < 50; i++) {
        network n = random_network(MOST, 4, 0);
        bool kept[MOST] = {false};
        keep_search s = search_of(&n, kept);
        assert_int_equal(keep_search_run(&s), 0);
        assert_true(s.trials <= 2 + 4 + MOST + 12);
    }
}

static void a_failing_measure_ends_the_search(void **state) {
    (void)state;
    draw_state = 5;
    network all = random_network(MOST, 1, 0.25);
    bool kept[MOST] = {false};
    keep_search s = search_of(&all, kept);
    assert_int_equal(keep_search_run(&s), 0);
    for (size_t at = 1; at <= all.calls; at++) {
        network n = all;
        n.calls = 0, n.fails_at = at;
        s = search_of(&n, kept);
        assert_int_equal(keep_search_run(&s), 7);
        assert_int_equal(n.calls, at);
    }
}

static void nothing_to_keep(void **state) {
    (void)state;
    network n = {.wanted = 1};
    bool kept[1];
    keep_search s = search_of(&n, kept);
    assert_int_equal(keep_search_run(&s), 0);
    assert_false(s.found);
    n = (network){.count = 1, .alone = {0.5}, .wanted = 1};
    s = search_of(&n, kept);
    assert_int_equal(keep_search_run(&s), 0);
    assert_true(s.found);
    assert_false(kept[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_set_has_fewer_products),
        cmocka_unit_test(few_sets_are_all_tried),
        cmocka_unit_test(a_set_that_shares_codes_is_found),
        cmocka_unit_test(additive_noise_takes_few_trials),
        cmocka_unit_test(a_failing_measure_ends_the_search),
        cmocka_unit_test(nothing_to_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
