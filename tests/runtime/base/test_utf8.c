// SPDX-License-Identifier: Apache-2.0
// Decoding UTF-8, and making foreign text safe to print.
#include "runtime/base/utf8.h"
#include "tests/unit.h"

static void every_character_round_trips(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char out[4];
        if (code >= 0xD800 && code <= 0xDFFF) continue;
        size_t length = qdq_utf8_write(out, code);
        size_t wanted = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        assert_int_equal(length, wanted);
        for (size_t count = 0; count < length; count++)
            assert_int_equal(qdq_utf8_length(out, count), 0);
        assert_int_equal(qdq_utf8_length(out, length), length);
    }
    char out[4];
    qdq_utf8_write(out, 0x20AC);
    assert_memory_equal(out, "\xE2\x82\xAC", 3);
    qdq_utf8_write(out, 0x1F600);
    assert_memory_equal(out, "\xF0\x9F\x98\x80", 4);
}

// As many sequences are accepted as there are characters, so no invalid one is.
static void no_other_sequence_is_a_character(void **state) {
    (void)state;
    size_t valid[5] = {0};
    for (uint32_t bits = 0; bits < 0x1000000; bits++) {
        char bytes[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
        valid[qdq_utf8_length(bytes, 3)]++;
    }
    assert_int_equal(valid[1], 0x80 << 16);
    assert_int_equal(valid[2], (0x800 - 0x80) << 8);
    assert_int_equal(valid[3], 0x10000 - 0x800 - 0x800);
    assert_int_equal(valid[4], 0);

    size_t four = 0;
    for (uint32_t bits = 0xE0000000; bits >= 0xE0000000; bits += 0x40) {
        char bytes[4] = {(char)(bits >> 24), (char)(bits >> 16), (char)(bits >> 8), (char)bits};
        four += qdq_utf8_length(bytes, 4) == 4;
    }
    assert_int_equal(four, 0x100000 / 0x40);
}

static void text_is_shortened_and_made_printable(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"weight", "weight"},
        {"a\nb\x01\x7F", "a?b??"},
        {"\xC3\xA9", "\xC3\xA9"},
        {"\xC3", "?"},
        {"\xFFok", "?ok"},
        {"fifteen bytes..", "fifteen bytes.."},
        {"sixteen bytes ..", "sixteen byte..."},
        {"twelve bytes\xC3\xA9\xC3\xA9", "twelve bytes..."},
        {"eleven byte\xC3\xA9\xC3\xA9\xC3\xA9", "eleven byte..."},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char out[16];
        assert_string_equal(qdq_utf8_show(out, sizeof out, cases[i].text, strlen(cases[i].text)),
                            cases[i].shown);
    }
    char out[16];
    assert_string_equal(qdq_utf8_show(out, sizeof out, "a\0b", 3), "a?b");
    assert_string_equal(qdq_utf8_show(out, sizeof out, NULL, 0), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_round_trips),
        cmocka_unit_test(no_other_sequence_is_a_character),
        cmocka_unit_test(text_is_shortened_and_made_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
