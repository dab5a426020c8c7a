// SPDX-License-Identifier: Apache-2.0
// Suggestions for misspelled names: which candidate is suggested, and when none is.
#include "include/qdq/inspect.h"
#include "runtime/base/did_you_mean.h"
#include "tests/unit.h"

#define LETTERS_32 "abcdefghijklmnopqrstuvwxyz012345"
#define LETTERS_64 LETTERS_32 LETTERS_32

static const char *nearest(const char *name, const char *const *candidates) {
    size_t count = 0;
    while (candidates[count]) count++;
    return qdq_did_you_mean(name, candidates, count);
}

static void the_least_edited_candidate_wins(void **state) {
    (void)state;
    static const struct {
        const char *name, *candidates[4], *wanted;
    } cases[] = {
        {"axsi", {"qtype", "axis", "scales"}, "axis"},   // swapped
        {"scale", {"zps", "scales", "axis"}, "scales"},  // one missing
        {"scaless", {"zps", "scales"}, "scales"},        // one too many
        {"scalas", {"zps", "scales"}, "scales"},         // one wrong
        // another case costs less than a letter
        {"Quantise", {"Dequantize", "Quantize"}, "Quantize"},
        {"DequntizeX", {"Quantize", "Dequantize"}, "Dequantize"},    // two edits
        {"quantize", {"Quantizer", "Quantize"}, "Quantize"},         // case counts half
        {"QUANtize", {"Quantize", "Quantise"}, "Quantize"},          // 1.5 edits
        {"zero_piont", {"zero_point", "zero_paint"}, "zero_point"},  // a swap is one edit
        {"x1", {"x2", "x3"}, "x2"},                                  // the first of equals
        {"axis", {"axis2", "axis"}, "axis"},  // equal after dropping a letter
        {"AZ", {"az"}, "az"},
        {"X", {"y", "x"}, "x"},                  // only the case differs
        {"abcdef", {"ab", "badcef"}, "badcef"},  // two swaps
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        const char *found = nearest(cases[i].name, cases[i].candidates);
        assert_non_null(found);
        assert_string_equal(found, cases[i].wanted);
    }
}

static void distant_names_are_not_suggested(void **state) {
    (void)state;
    static const struct {
        const char *name, *candidates[4];
    } cases[] = {
        {"axis", {"qtype", "scales"}},
        {"abc", {"abxy", "cba"}},      // two edits are too many for three letters
        {"abcde", {"abxye"}},          // two edits are too many for five letters
        {"abcdefghi", {"xbcdxfghx"}},  // three edits
        {"QUANtizX", {"quanTizY"}},    // edits and case, three in all
        {"x", {"y", "xy", ""}},        // nothing in common, or as many edits as letters
        {"", {"x", ""}},
        {"axis", {NULL}},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++)
        assert_null(nearest(cases[i].name, cases[i].candidates));
}

static void null_candidates_are_skipped(void **state) {
    (void)state;
    static const char *const candidates[] = {NULL, "axis", NULL};
    assert_string_equal(qdq_did_you_mean("axs", candidates, 3), "axis");
    assert_null(qdq_did_you_mean("axs", NULL, 3));
    assert_null(qdq_did_you_mean(NULL, candidates, 3));
}

static void long_names_never_match(void **state) {
    (void)state;
    static const char *const candidates[] = {LETTERS_64 "x", LETTERS_64};
    assert_string_equal(qdq_did_you_mean(LETTERS_64, candidates, 2), LETTERS_64);
    assert_null(qdq_did_you_mean(LETTERS_64, candidates, 1));
    assert_null(qdq_did_you_mean(LETTERS_64 "x", candidates, 2));
}

static void a_thousand_candidates_are_considered(void **state) {
    (void)state;
    static const char *candidates[1001];
    for (size_t i = 0; i < 1001; i++) candidates[i] = LETTERS_64;
    candidates[1000] = "axis";
    assert_null(qdq_did_you_mean("axsi", candidates, 1001));
    candidates[999] = "axis";
    double start = unit_seconds();
    assert_string_equal(qdq_did_you_mean("axsi", candidates, 1001), "axis");
    candidates[999] = LETTERS_64;
    assert_string_equal(qdq_did_you_mean(LETTERS_64, candidates, SIZE_MAX), LETTERS_64);
    assert_true(unit_seconds() - start < 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_edited_candidate_wins),
        cmocka_unit_test(distant_names_are_not_suggested),
        cmocka_unit_test(null_candidates_are_skipped),
        cmocka_unit_test(long_names_never_match),
        cmocka_unit_test(a_thousand_candidates_are_considered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
