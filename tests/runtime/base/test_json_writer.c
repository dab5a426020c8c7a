// SPDX-License-Identifier: Apache-2.0
// The JSON writer: layout, escapes, numbers with the fewest digits, and misuse.
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>

#include "runtime/base/json_writer.h"
#include "tests/unit.h"

typedef struct sink {
    char text[4096];
    size_t length;
    qdq_json json;
} sink;

static void append(void *self, const char *bytes, size_t count) {
    sink *s = self;
    assert_true(count < sizeof s->text - s->length);
    memcpy(s->text + s->length, bytes, count);
    s->length += count;
    s->text[s->length] = '\0';
}

static qdq_json *begin(sink *s, int indent) {
    s->length = 0;
    s->text[0] = '\0';
    qdq_json_init(&s->json, append, s, indent);
    return &s->json;
}

static void write_example(qdq_json *json) {
    qdq_json_begin_object(json);
    qdq_json_key(json, "name");
    qdq_json_string(json, "mlp");
    qdq_json_key(json, "shape");
    qdq_json_begin_line(json);
    qdq_json_int(json, 1);
    qdq_json_int(json, -64);
    qdq_json_begin_object(json);
    qdq_json_key(json, "in");
    qdq_json_begin_array(json);
    qdq_json_bool(json, true);
    qdq_json_bool(json, false);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
    qdq_json_end_array(json);
    qdq_json_key(json, "nodes");
    qdq_json_begin_array(json);
    qdq_json_null(json);
    qdq_json_begin_array(json);
    qdq_json_end_array(json);
    qdq_json_begin_object(json);
    qdq_json_end_object(json);
    qdq_json_begin_line(json);
    qdq_json_end_array(json);
    qdq_json_end_array(json);
    qdq_json_key(json, "none");
    qdq_json_string(json, NULL);
    qdq_json_end_object(json);
}

static void compact_text_has_no_white_space(void **state) {
    (void)state;
    sink s;
    write_example(begin(&s, 0));
    assert_string_equal(s.text, "{\"name\":\"mlp\",\"shape\":[1,-64,{\"in\":[true,false]}],"
                                "\"nodes\":[null,[],{},[]],\"none\":null}");
    assert_true(qdq_json_complete(&s.json));
}

static void indented_text_is_laid_out(void **state) {
    (void)state;
    sink s;
    write_example(begin(&s, 2));
    assert_string_equal(s.text, "{\n"
                                "  \"name\": \"mlp\",\n"
                                "  \"shape\": [1, -64, {\"in\": [true, false]}],\n"
                                "  \"nodes\": [\n"
                                "    null,\n"
                                "    [],\n"
                                "    {},\n"
                                "    []\n"
                                "  ],\n"
                                "  \"none\": null\n"
                                "}");
    assert_true(qdq_json_complete(&s.json));
}

static void deep_indentation_is_complete(void **state) {
    (void)state;
    sink s;
    qdq_json *json = begin(&s, 7);
    for (int i = 0; i < 5; i++) qdq_json_begin_array(json);
    qdq_json_int(json, 1);
    const char *line = strrchr(s.text, '\n');
    assert_int_equal(strspn(line + 1, " "), 35);
}

static void strings_are_escaped(void **state) {
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", "\"\""},
        {"plain / text", "\"plain / text\""},
        {"\"\\", "\"\\\"\\\\\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1F\x7F", "\"\\u0001\\u001f\x7F\""},
        {"a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z", "\"a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z\""},
        {"\xFF", "\"\xEF\xBF\xBD\""},
        {"a\xC0\x80z", "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\""},              // an overlong sequence
        {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},  // a surrogate
        {"\xE2\x82", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},                  // a truncated sequence
        {"\xE2\"", "\"\xEF\xBF\xBD\\\"\""},
    };
    sink s;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_json_string(begin(&s, 0), cases[i].text);
        assert_string_equal(s.text, cases[i].wanted);
        qdq_json *json = begin(&s, 0);
        qdq_json_begin_object(json);
        qdq_json_key(json, cases[i].text);
        assert_memory_equal(s.text + 1, cases[i].wanted, strlen(cases[i].wanted));
    }
}

static void integers_are_exact(void **state) {
    (void)state;
    sink s;
    qdq_json_int(begin(&s, 0), INT64_MIN);
    assert_string_equal(s.text, "-9223372036854775808");
    qdq_json_int(begin(&s, 0), INT64_MAX);
    assert_string_equal(s.text, "9223372036854775807");
    qdq_json_uint(begin(&s, 0), UINT64_MAX);
    assert_string_equal(s.text, "18446744073709551615");
}

static void floats_are_readable(void **state) {
    (void)state;
    static const struct {
        float value;
        const char *wanted;
    } cases[] = {
        {0.0f, "0"},
        {-0.0f, "-0"},
        {1.0f, "1"},
        {-64.0f, "-64"},
        {0.1f, "0.1"},
        {0.02f, "0.02"},
        {-0.5f, "-0.5"},
        {1.5f, "1.5"},
        {100.25f, "100.25"},
        {1e6f, "1000000"},
        {16777216.0f, "16777216"},
        {3e10f, "30000000000"},
        {1e16f, "10000000000000000"},
        {1e17f, "1e17"},
        {1.0f / 3, "0.33333334"},
        {0.00001f, "0.00001"},
        {0.000001f, "1e-6"},
        {1.25e-7f, "1.25e-7"},
        {FLT_MAX, "3.4028235e38"},
        {FLT_MIN, "1.1754944e-38"},
        {0x1p-149f, "1e-45"},
        {NAN, "\"NaN\""},
        {-NAN, "\"NaN\""},
        {INFINITY, "\"Infinity\""},
        {-INFINITY, "\"-Infinity\""},
    };
    sink s;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_json_float32(begin(&s, 0), cases[i].value);
        assert_string_equal(s.text, cases[i].wanted);
        assert_true(qdq_json_complete(&s.json));
    }
}

static void doubles_are_readable(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *wanted;
    } cases[] = {
        {0.1, "0.1"},
        {-0.0, "-0"},
        {1e15, "1000000000000000"},
        {9007199254740993.0, "9007199254740992"},
        {12345678.9, "12345678.9"},
        {0.1 + 0.2, "0.30000000000000004"},
        {DBL_MAX, "1.7976931348623157e308"},
        {0x1p-1074, "5e-324"},
        {NAN, "\"NaN\""},
        {-INFINITY, "\"-Infinity\""},
    };
    sink s;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_json_double(begin(&s, 0), cases[i].value);
        assert_string_equal(s.text, cases[i].wanted);
    }
}

static int digit_count(const char *text) {
    int count = 0, zeros = 0;
    bool leading = true;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (leading && *text == '0')) continue;
        leading = false;
        zeros = *text == '0' ? zeros + 1 : 0;
        count++;
    }
    return count - zeros > 0 ? count - zeros : 1;
}

static void floats_come_back_from_the_fewest_digits(void **state) {
    (void)state;
    uint64_t seed = 42;
    sink s;
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)unit_random(&seed);
        if (i % 4 == 0) bits &= 0x807FFFFF;  // subnormal
        float value;
        memcpy(&value, &bits, 4);
        if (!isfinite(value)) continue;
        qdq_json_float32(begin(&s, 0), value);
        float back = strtof(s.text, NULL), through_double = (float)strtod(s.text, NULL);
        assert_memory_equal(&back, &value, 4);
        assert_memory_equal(&through_double, &value, 4);
        char shorter[32];
        int digits = digit_count(s.text);
        if (digits == 1) continue;
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, (double)value);
        assert_true(strtof(shorter, NULL) != value);
    }
}

static void doubles_come_back_from_the_fewest_digits(void **state) {
    (void)state;
    uint64_t seed = 43;
    sink s;
    for (int i = 0; i < 50000; i++) {
        uint64_t bits = unit_random(&seed);
        if (i % 4 == 0) bits &= 0x800FFFFFFFFFFFFF;
        double value;
        memcpy(&value, &bits, 8);
        if (!isfinite(value)) continue;
        qdq_json_double(begin(&s, 0), value);
        double back = strtod(s.text, NULL);
        assert_memory_equal(&back, &value, 8);
        char shorter[32];
        int digits = digit_count(s.text);
        if (digits == 1) continue;
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        assert_true(strtod(shorter, NULL) != value);
    }
}

static void the_locale_changes_nothing(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < UNIT_COUNT(names) && !found; i++)
        found = setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ".") != 0;
    if (!found) {
        setlocale(LC_ALL, "C");
        skip();
    }
    floats_are_readable(state);
    doubles_are_readable(state);
    setlocale(LC_ALL, "C");
}

static void sixty_four_levels_nest(void **state) {
    (void)state;
    sink s;
    qdq_json *json = begin(&s, 0);
    for (int i = 0; i < 64; i++) qdq_json_begin_array(json);
    for (int i = 0; i < 64; i++) qdq_json_end_array(json);
    assert_true(qdq_json_complete(json));
    assert_int_equal(s.length, 128);

    json = begin(&s, 0);
    for (int i = 0; i < 65; i++) qdq_json_begin_array(json);
    for (int i = 0; i < 65; i++) qdq_json_end_array(json);
    assert_false(qdq_json_complete(json));
    assert_int_equal(s.length, 64);
}

// Calls the writer as a letter says: { } [ ] as they are, l a line break, k a key, others a value
// of each kind.
static void call(qdq_json *json, char what) {
    switch (what) {
    case '{': qdq_json_begin_object(json); break;
    case '}': qdq_json_end_object(json); break;
    case '[': qdq_json_begin_array(json); break;
    case ']': qdq_json_end_array(json); break;
    case 'l': qdq_json_begin_line(json); break;
    case 'k': qdq_json_key(json, "k"); break;
    case 's': qdq_json_string(json, "s"); break;
    case 'u': qdq_json_uint(json, 2); break;
    case 'b': qdq_json_bool(json, true); break;
    case 'n': qdq_json_null(json); break;
    case 'f': qdq_json_float32(json, 0.5f); break;
    case 'd': qdq_json_double(json, 0.25); break;
    default: qdq_json_int(json, 1); break;
    }
}

static void misuse_drops_what_follows(void **state) {
    (void)state;
    static const struct {
        const char *calls, *wanted;
        bool complete;
    } cases[] = {
        {"", "", false},
        {"1", "1", true},
        {"[1", "[1", false},
        {"11", "1", false},
        {"1s", "1", false},
        {"1u", "1", false},
        {"1b", "1", false},
        {"1n", "1", false},
        {"1f", "1", false},
        {"1d", "1", false},
        {"{s", "{", false},
        {"{d", "{", false},
        {"[1subnfd]", "[1,\"s\",2,true,null,0.5,0.25]", true},
        {"[]1", "[]", false},
        {"[][]", "[]", false},
        {"]", "", false},
        {"}", "", false},
        {"k", "", false},
        {"[k1]", "[", false},
        {"{1}", "{", false},
        {"{k}", "{\"k\":", false},
        {"{kk1}", "{\"k\":", false},
        {"{k1k1}", "{\"k\":1,\"k\":1}", true},
        {"{{}}", "{", false},
        {"[}1]", "[", false},
        {"{]k1}", "{", false},
        {"[1]]", "[1]", false},
        {"l{k1}[]]", "[{\"k\":1},[]]", true},
        {"{k{k1}k[1]}", "{\"k\":{\"k\":1},\"k\":[1]}", true},
    };
    sink s;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_json *json = begin(&s, 0);
        for (const char *c = cases[i].calls; *c; c++) call(json, *c);
        assert_string_equal(s.text, cases[i].wanted);
        assert_int_equal(qdq_json_complete(json), cases[i].complete);
    }
}

static void drop(void *self, const char *bytes, size_t count) {
    (void)self, (void)bytes, (void)count;
}

static void a_null_writer_makes_nothing(void **state) {
    (void)state;
    qdq_json json;
    qdq_json_init(NULL, drop, NULL, 2);
    qdq_json_init(&json, NULL, NULL, INT_MIN);
    qdq_json_null(&json);
    assert_false(qdq_json_complete(&json));
    assert_false(qdq_json_complete(NULL));
}

static void a_null_key_does_not_nest(void **state) {
    (void)state;
    qdq_json json;
    qdq_json_init(&json, drop, NULL, 0);
    qdq_json_begin_object(&json);
    qdq_json_key(&json, NULL);
    qdq_json_int(&json, 1);
    qdq_json_end_object(&json);
    assert_false(qdq_json_complete(&json));
}

// `json` is NULL, or all zero: nothing was begun.
static void call_all(qdq_json *json) {
    qdq_json_begin_object(json);
    qdq_json_key(json, "k");
    qdq_json_string(json, "text");
    qdq_json_end_object(json);
    qdq_json_begin_array(json);
    qdq_json_begin_line(json);
    qdq_json_end_array(json);
    qdq_json_int(json, 1);
    qdq_json_uint(json, 1);
    qdq_json_bool(json, true);
    qdq_json_null(json);
    qdq_json_float32(json, 1);
    qdq_json_double(json, 1);
}

static void calls_without_a_writer_do_nothing(void **state) {
    (void)state;
    qdq_json zero = {0};
    call_all(NULL);
    call_all(&zero);
    assert_false(qdq_json_complete(&zero));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_text_has_no_white_space),
        cmocka_unit_test(indented_text_is_laid_out),
        cmocka_unit_test(deep_indentation_is_complete),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(floats_are_readable),
        cmocka_unit_test(doubles_are_readable),
        cmocka_unit_test(floats_come_back_from_the_fewest_digits),
        cmocka_unit_test(doubles_come_back_from_the_fewest_digits),
        cmocka_unit_test(the_locale_changes_nothing),
        cmocka_unit_test(sixty_four_levels_nest),
        cmocka_unit_test(misuse_drops_what_follows),
        cmocka_unit_test(a_null_writer_makes_nothing),
        cmocka_unit_test(a_null_key_does_not_nest),
        cmocka_unit_test(calls_without_a_writer_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
