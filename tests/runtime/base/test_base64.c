// SPDX-License-Identifier: Apache-2.0
// base64 is the one of RFC 4648, and a text is of one row of bytes only.
#include <stdint.h>
#include <string.h>

#include "runtime/base/base64.h"
#include "tests/unit.h"

// The examples of section 10, without padding, and the digits that differ.
static void texts_are_the_examples_of_the_rfc(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
        {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xbf", "-_-_"}};
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char text[16];
        unsigned char bytes[16];
        size_t count = strlen(cases[i].bytes), length = strlen(cases[i].text);
        qdq_base64_encode("-_", (const unsigned char *)cases[i].bytes, count, text);
        assert_string_equal(text, cases[i].text);
        assert_true(length < QDQ_BASE64_SIZE(count));
        assert_int_equal(qdq_base64_decode("-_", text, length, bytes), count);
        assert_memory_equal(bytes, cases[i].bytes, count);
    }
    char text[16];
    qdq_base64_encode("+/", (const unsigned char *)"\xfb\xff\xbf", 3, text);
    assert_string_equal(text, "+/+/");
}

static void other_texts_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"A",   "AAAAA", "+/AA",  "AA==",   "Zh",
                                        "Zm9", " AAA",  "A\nAA", "AAA\x80"};
    unsigned char bytes[16];
    for (size_t i = 0; i < UNIT_COUNT(texts); i++)
        assert_int_equal(qdq_base64_decode("-_", texts[i], strlen(texts[i]), bytes), SIZE_MAX);
    assert_int_equal(qdq_base64_span("+/", "Az09+/-", 7), 6);
    assert_int_equal(qdq_base64_span("+/", "AA", 1), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_the_examples_of_the_rfc),
        cmocka_unit_test(other_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
