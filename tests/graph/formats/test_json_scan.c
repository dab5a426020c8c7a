// SPDX-License-Identifier: Apache-2.0
// The strict JSON scanner: what it accepts, the message and position of each error, limits of depth
// and size, and linear time on hostile text.
#include "graph/formats/json/json_scan.h"
#include "tests/unit.h"

static qdq_status scan(const char *text, qdq_error *err) {
    // A copy without a terminator, so that reading past the end is seen.
    size_t length = strlen(text);
    char *copy = malloc(length + (length == 0));
    assert_non_null(copy);
    memcpy(copy, text, length);
    qdq_status status = qdq_json_scan(copy, length, NULL, 0, NULL, err);
    free(copy);
    return status;
}

static void valid_json_is_accepted(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "9",
        "10",
        "-1.5e+10",
        "1E5",
        "1e-999",
        "0.0e0",
        "1.7976931348623157e308",
        "12345678901234567890123456789012345678901234567890123456789.123",  // 63 characters
        "0.000000000000000000000000000000000000000000000000000001e300",
        "true",
        "false",
        "null",
        "\"\"",
        "[]",
        "{}",
        " \t\r\n{} \t\r\n",
        "\"\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0041 \\u00e9 \\uFFFF\"",
        "\"\\uD83D\\uDE00 \\ud83d\\ude00\"",
        "\"\xC2\x80 \xDF\xBF \xE0\xA0\x80 \xED\x9F\xBF\"",
        "\"\xEE\x80\x80 \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF\"",
        "\"\x7F\"",
        "[1,[2,[3]],{\"a\":{\"b\":[]}}]",
        "{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":2}],\"A\":1,\"\":0}",
        "{\"ab\":1,\"a\":{\"b\":1,\"c\":{}},\"c\":2}",
    };
    for (size_t i = 0; i < UNIT_COUNT(texts); i++) {
        qdq_error err = {0};
        if (scan(texts[i], &err) != QDQ_OK) fail_msg("%s: %s", texts[i], err.text);
        assert_int_equal(err.status, QDQ_OK);
    }
}

static const struct {
    const char *text, *message;
} bad_texts[] = {
    {"", "line 1, column 1: the text is empty, wanted a value"},
    {" \n ", "line 2, column 2: found the end of the text, wanted a value"},
    {"\xEF\xBB\xBF{}",
     "line 1, column 1: the text begins with a byte order mark, wanted UTF-8 without one"},
    {"\xEF\xBB\xBF",
     "line 1, column 1: the text begins with a byte order mark, wanted UTF-8 without one"},
    {"\xFF\xFE{", "line 1, column 1: found byte 0xFF, wanted a value"},
    {"{} x", "line 1, column 4: found 'x', wanted nothing after the document"},
    {"{}\n{}", "line 2, column 1: found '{', wanted nothing after the document"},
    {"1 ]", "line 1, column 3: found ']', wanted nothing after the document"},
    {"]", "line 1, column 1: found ']', wanted a value"},
    // Structure.
    {"[", "line 1, column 2: found the end of the text, wanted a value or ']'"},
    {"[,", "line 1, column 2: found ',', wanted a value or ']'"},
    {"[}", "line 1, column 2: found '}', wanted a value or ']'"},
    {"[1", "line 1, column 3: found the end of the text, wanted ',' or ']'"},
    {"[1 2]", "line 1, column 4: found '2', wanted ',' or ']'"},
    {"[1}", "line 1, column 3: found '}', wanted ',' or ']'"},
    {"[1,]", "line 1, column 4: found ']', wanted another value after the comma"},
    {"[1,", "line 1, column 4: found the end of the text, wanted another value after the comma"},
    {"{", "line 1, column 2: found the end of the text, wanted a key in double quotes or '}'"},
    {"{a:1}", "line 1, column 2: found 'a', wanted a key in double quotes or '}'"},
    {"{'a':1}", "line 1, column 2: found ''', wanted a key in double quotes or '}'"},
    {"{]", "line 1, column 2: found ']', wanted a key in double quotes or '}'"},
    {"{\"a\"}", "line 1, column 5: found '}', wanted ':' after the key"},
    {"{\"a\" 1}", "line 1, column 6: found '1', wanted ':' after the key"},
    {"{\"a\":}", "line 1, column 6: found '}', wanted a value"},
    {"{\"a\":1", "line 1, column 7: found the end of the text, wanted ',' or '}'"},
    {"{\"a\":1]", "line 1, column 7: found ']', wanted ',' or '}'"},
    {"{\"a\":1;", "line 1, column 7: found ';', wanted ',' or '}'"},
    {"{\"a\":1,}",
     "line 1, column 8: found '}', wanted another key in double quotes after the comma"},
    {"[1, // no\n2]", "line 1, column 5: found '/', wanted another value after the comma"},
    {"[\xC3\xA9]", "line 1, column 2: found '\xC3\xA9', wanted a value or ']'"},
    {"[\x01]", "line 1, column 2: found byte 0x01, wanted a value or ']'"},
    {"[\x7F]", "line 1, column 2: found byte 0x7F, wanted a value or ']'"},
    {"[1\f]", "line 1, column 3: found byte 0x0C, wanted ',' or ']'"},
    // Keys.
    {"{\n \"node\": 1,\n \"x\": {}, \"axis\": 1, \"axis\": 2}",
     "line 3, column 22: key 'axis' is given twice in one object"},
    {"{\"a\":{\"b\":1},\"a\":2}", "line 1, column 14: key 'a' is given twice in one object"},
    {"[{\"a\":{\"b\":1,\"b\":1}}]", "line 1, column 14: key 'b' is given twice in one object"},
    {"{\"a\\u00e9\":1,\"\\u0061\xC3\xA9\":2}",
     "line 1, column 14: key 'a\xC3\xA9' is given twice in one object"},
    {"{\"\\ud83d\\ude00\":1,\"\xF0\x9F\x98\x80\":2}",
     "line 1, column 19: key '\xF0\x9F\x98\x80' is given twice in one object"},
    {"{\"\\b\\f\\n\\r\\t\\/\\\\\\\"\":1,"
     "\"\\u0008\\u000c\\u000a\\u000d\\u0009\\u002f\\u005c\\u0022\":2}",
     "line 1, column 23: key '????\?/\\\"' is given twice in one object"},
    {"{\"\":1,\"\":2}", "line 1, column 7: key '' is given twice in one object"},
    // Strings; columns count characters.
    {"[\"\xC3\xA9\xE2\x82\xAC\", x]", "line 1, column 8: found x, wanted a value"},
    {"[\"abc", "line 1, column 2: the string has no closing quote"},
    {"[\"a\nb\"]", "line 1, column 4: byte 0x0A in a string, wanted the escape \\u000A"},
    {"\"\x1F\"", "line 1, column 2: byte 0x1F in a string, wanted the escape \\u001F"},
    {"\"\\x\"",
     "line 1, column 3: found 'x', wanted one of \" \\ / b f n r t u after the backslash"},
    {"\"\\",
     "line 1, column 3: found the end of the text, wanted one of \" \\ / b f n r t u after the "
     "backslash"},
    {"\"\\ \"",
     "line 1, column 3: found ' ', wanted one of \" \\ / b f n r t u after the backslash"},
    {"\"\\n", "line 1, column 1: the string has no closing quote"},
    {"\"\\u0041", "line 1, column 1: the string has no closing quote"},
    {"\"\\uD800\\uDC00", "line 1, column 1: the string has no closing quote"},
    {"\"\\u12G4\"", "line 1, column 2: \\u must be followed by four hex digits"},
    {"\"\\u123", "line 1, column 2: \\u must be followed by four hex digits"},
    {"\"\\u0000\"", "line 1, column 2: \\u0000 must not stand in a string"},
    {"{\"a\\u0000b\":1}", "line 1, column 4: \\u0000 must not stand in a string"},
    {"\"\\uDC00\"",
     "line 1, column 2: \\uDC00 is the second half of a surrogate pair without a first"},
    {"\"\\uDFFF\\uD800\"",
     "line 1, column 2: \\uDFFF is the second half of a surrogate pair without a first"},
    {"\"\\uD800\"",
     "line 1, column 2: \\uD800 is the first half of a surrogate pair without a second"},
    {"\"\\udbff\\u0041\"",
     "line 1, column 2: \\uDBFF is the first half of a surrogate pair without a second"},
    {"\"\\uD800x\\uDC00\"",
     "line 1, column 2: \\uD800 is the first half of a surrogate pair without a second"},
    {"\"\\uD800\\uD800\\uDC00\"",
     "line 1, column 2: \\uD800 is the first half of a surrogate pair without a second"},
    {"\"\\uD800\\uDC0",
     "line 1, column 2: \\uD800 is the first half of a surrogate pair without a second"},
    {"\"\xC0\x80\"", "line 1, column 2: byte 0xC0 in a string is not UTF-8"},
    {"\"\xED\xA0\x80\"", "line 1, column 2: byte 0xED in a string is not UTF-8"},
    {"\"\xF4\x90\x80\x80\"", "line 1, column 2: byte 0xF4 in a string is not UTF-8"},
    {"\"\x80\"", "line 1, column 2: byte 0x80 in a string is not UTF-8"},
    {"\"\xE2\x82\"", "line 1, column 2: byte 0xE2 in a string is not UTF-8"},
    // Numbers.
    {"01", "line 1, column 1: a number must not begin with a needless 0"},
    {"[-00]", "line 1, column 2: a number must not begin with a needless 0"},
    {"-", "line 1, column 2: found the end of the text, wanted a digit"},
    {"+1", "line 1, column 1: found '+', wanted a value"},
    {".5", "line 1, column 1: found '.', wanted a value"},
    {"[1.]", "line 1, column 4: found ']', wanted a digit after the point"},
    {"[1.e5]", "line 1, column 4: found 'e', wanted a digit after the point"},
    {"[1e]", "line 1, column 4: found ']', wanted a digit of the exponent"},
    {"[1e+]", "line 1, column 5: found ']', wanted a digit of the exponent"},
    {"0x10", "line 1, column 2: found 'x', wanted nothing after the document"},
    {"1.5.2", "line 1, column 4: found '.', wanted nothing after the document"},
    {"1e999", "line 1, column 1: 1e999 is too large for a double"},
    {"[-1E+309]", "line 1, column 2: -1E+309 is too large for a double"},
    {"1.7976931348623159e308",
     "line 1, column 1: 1.7976931348623159e308 is too large for a double"},
    {"0.0001e313", "line 1, column 1: 0.0001e313 is too large for a double"},
    {"1e99999999999999999999",
     "line 1, column 1: 1e99999999999999999999 is too large for a double"},
    {"1234567890123456789012345678901234567890123456789012345678901234",
     "line 1, column 1: a number of 64 characters, wanted at most 63"},
    // Words.
    {"nul", "line 1, column 1: found nul, wanted a value"},
    {"[trueish]", "line 1, column 2: found trueish, wanted a value"},
    {"a1_b", "line 1, column 1: found a1_b, wanted a value"},
    {"z", "line 1, column 1: found z, wanted a value"},
    {"AZ", "line 1, column 1: found AZ, wanted a value"},
    {"Z", "line 1, column 1: found Z, wanted a value"},
    {"az", "line 1, column 1: found az, wanted a value"},
    {"True", "line 1, column 1: found True, wanted a value"},
    {"[NaN]", "line 1, column 2: found NaN, wanted a value; NaN and infinity are the strings "
              "\"NaN\" and \"Infinity\""},
    {"[-Infinity]",
     "line 1, column 3: found 'I', wanted a digit; infinity is the string \"-Infinity\""},
};

static void each_error_has_a_position_and_a_message(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(bad_texts); i++) {
        qdq_error err = {0};
        assert_int_equal(scan(bad_texts[i].text, &err), QDQ_ERR_PARSE);
        assert_int_equal(err.status, QDQ_ERR_PARSE);
        assert_string_equal(err.text, bad_texts[i].message);
        assert_int_equal(scan(bad_texts[i].text, NULL), QDQ_ERR_PARSE);
    }
}

static void a_raw_nul_is_refused(void **state) {
    (void)state;
    qdq_error err = {0};
    assert_int_equal(qdq_json_scan("{}\0", 3, NULL, 0, NULL, &err), QDQ_ERR_PARSE);
    assert_string_equal(err.text,
                        "line 1, column 3: found byte 0x00, wanted nothing after the document");
    err = (qdq_error){0};
    assert_int_equal(qdq_json_scan("\"\0\"", 3, NULL, 0, NULL, &err), QDQ_ERR_PARSE);
    assert_string_equal(err.text,
                        "line 1, column 2: byte 0x00 in a string, wanted the escape \\u0000");
    err = (qdq_error){0};
    assert_int_equal(qdq_json_scan("\"\\\0\"", 4, NULL, 0, NULL, &err), QDQ_ERR_PARSE);
    assert_string_equal(err.text,
                        "line 1, column 3: found byte 0x00, wanted one of \" \\ / b f n r "
                        "t u after the backslash");
    assert_int_equal(qdq_json_scan(NULL, 0, NULL, 0, NULL, NULL), QDQ_ERR_PARSE);
}

static void sixty_four_levels_nest(void **state) {
    (void)state;
    char text[512];
    for (int mixed = 0; mixed < 2; mixed++) {
        char *next = text;
        for (int i = 0; i < 64; i++) next += sprintf(next, "%s", mixed && i % 2 ? "{\"k\":" : "[");
        char *inner = next;
        next += sprintf(next, "0");
        for (int i = 63; i >= 0; i--) *next++ = mixed && i % 2 ? '}' : ']';
        *next = '\0';
        assert_int_equal(scan(text, NULL), QDQ_OK);
        qdq_error err = {0};
        *inner = '[';
        assert_int_equal(scan(text, &err), QDQ_ERR_PARSE);
        char wanted[80];
        snprintf(wanted, sizeof wanted, "line 1, column %d: more than 64 levels of nesting",
                 (int)(inner - text) + 1);
        assert_string_equal(err.text, wanted);
    }
}

static void the_longest_number_is_measured(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t longest;
    } cases[] = {{"[]", 0},
                 {"\"1234\"", 0},
                 {"[1, -2.5e3, 17]", 6},
                 {"{\"a\": 9007199254740993}", 16},
                 {"-9007199254740993", 17}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t longest = 99;
        assert_int_equal(
            qdq_json_scan(cases[i].text, strlen(cases[i].text), NULL, 0, &longest, NULL), QDQ_OK);
        assert_int_equal(longest, cases[i].longest);
    }
}

static void values_are_counted(void **state) {
    (void)state;
    static const char text[] = "{\"a\":[1,\"x\",null],\"b\":{}}";
    qdq_error err = {0};
    assert_int_equal(qdq_json_scan(text, strlen(text), NULL, 6, NULL, NULL), QDQ_OK);
    assert_int_equal(qdq_json_scan(text, strlen(text), NULL, 5, NULL, &err), QDQ_ERR_LIMIT);
    assert_int_equal(err.status, QDQ_ERR_LIMIT);
    assert_string_equal(err.text, "line 1, column 23: more than 5 values; raise --max-values");

    size_t count = 1000000;  // the array and its items, the default limit
    char *many = malloc(2 * count + 2);
    assert_non_null(many);
    for (size_t i = 0; i < count; i++) memcpy(many + 2 * i, i ? ",0" : " [", 2);
    many[2] = ' ';
    memcpy(many + 2 * count, "]", 1);
    assert_int_equal(qdq_json_scan(many, 2 * count + 1, NULL, 0, NULL, NULL), QDQ_OK);
    memcpy(many + 2 * count, ",0", 2);
    assert_int_equal(qdq_json_scan(many, 2 * count + 2, NULL, 0, NULL, NULL), QDQ_ERR_LIMIT);
    free(many);
}

static const char example[] =
    "{\"format\": \"qdq/1\", \"x-\\u00e9\\ud83d\\ude00\": [1.5e3, -0.25, true, false, null, []],\n"
    " \"nodes\": [{\"op\": \"Quantize\", \"inputs\": {\"x\": \"\xC3\xA9\"}, \"attrs\": {}}]}";

static void a_truncated_text_is_refused_at_every_length(void **state) {
    (void)state;
    for (size_t length = 0; length < sizeof example - 1; length++) {
        qdq_error err = {0};
        char *copy = malloc(length + (length == 0));
        assert_non_null(copy);
        memcpy(copy, example, length);
        assert_int_equal(qdq_json_scan(copy, length, NULL, 0, NULL, &err), QDQ_ERR_PARSE);
        assert_int_equal(strncmp(err.text, "line ", 5), 0);
        free(copy);
    }
    assert_int_equal(qdq_json_scan(example, sizeof example - 1, NULL, 0, NULL, NULL), QDQ_OK);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char text[2000] = "{\"short\":1,\"";
    memset(text + strlen(text), 'k', 1000);  // a key that needs more room than the first
    strcat(text, "\":[{\"a\":{\"b\":1}},{}]}");
    unit_memory memory;
    assert_int_equal(qdq_json_scan(text, strlen(text), unit_memory_init(&memory, 0), 0, NULL, NULL),
                     QDQ_OK);
    unit_memory_check(&memory);
    size_t calls = memory.calls;
    assert_true(calls >= 9);
    for (size_t n = 1; n <= 2 * calls; n++) {
        qdq_error err = {0};
        const qdq_allocator *allocator = unit_memory_init(&memory, (n + 1) / 2);
        memory.once = n % 2;
        assert_int_equal(qdq_json_scan(text, strlen(text), allocator, 0, NULL, &err),
                         QDQ_ERR_MEMORY);
        assert_int_equal(err.status, QDQ_ERR_MEMORY);
        assert_non_null(strstr(err.text, "out of memory"));
        unit_memory_check(&memory);
    }
}

static void an_error_that_is_already_set_is_kept(void **state) {
    (void)state;
    qdq_error err = {QDQ_ERR_IO, "first"};
    assert_int_equal(scan("[", &err), QDQ_ERR_PARSE);
    assert_int_equal(err.status, QDQ_ERR_IO);
    assert_string_equal(err.text, "first");
}

// Scans `count` times `unit` behind `before`; returns the status.
static qdq_status scan_many(const char *before, const char *unit, size_t count) {
    size_t used = strlen(before), bytes = strlen(unit);
    char *text = malloc(used + count * bytes);
    assert_non_null(text);
    memcpy(text, before, used);
    for (size_t i = 0; i < count; i++) memcpy(text + used + i * bytes, unit, bytes);
    qdq_status status = qdq_json_scan(text, used + count * bytes, NULL, 0, NULL, NULL);
    free(text);
    return status;
}

static void hostile_text_costs_linear_time(void **state) {
    (void)state;
    enum { MANY = 4000000 };
    double start = unit_seconds();
    assert_int_equal(scan_many("", "[", MANY), QDQ_ERR_PARSE);
    assert_int_equal(scan_many("", "{\"a\":", MANY), QDQ_ERR_PARSE);
    assert_int_equal(scan_many("", "\n", MANY), QDQ_ERR_PARSE);
    assert_int_equal(scan_many("[", "0,", MANY), QDQ_ERR_LIMIT);
    assert_int_equal(scan_many("[", "{},", MANY), QDQ_ERR_LIMIT);
    assert_int_equal(scan_many("", "9", MANY), QDQ_ERR_PARSE);
    assert_int_equal(scan_many("", "a", MANY), QDQ_ERR_PARSE);
    assert_int_equal(scan_many("\"", "\\u0041", MANY), QDQ_ERR_PARSE);
    assert_int_equal(scan_many("{\"", "k", MANY), QDQ_ERR_PARSE);
    assert_int_equal(scan_many("[", "{\"a\":1},", 450000), QDQ_ERR_PARSE);
    assert_true(unit_seconds() - start < 20);
}

static void many_keys_cost_linear_time(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    char *text = malloc(COUNT * 16 + 64);
    assert_non_null(text);
    double start = unit_seconds();
    char *next = text;
    *next++ = '{';
    for (int i = 0; i < COUNT; i++) next += sprintf(next, "\"key%d\":0,", i);
    next += sprintf(next, "\"key7\":0}");
    qdq_error err = {0};
    assert_int_equal(qdq_json_scan(text, (size_t)(next - text), NULL, 0, NULL, &err),
                     QDQ_ERR_PARSE);
    assert_non_null(strstr(err.text, "key 'key7' is given twice in one object"));
    free(text);
    assert_true(unit_seconds() - start < 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_json_is_accepted),
        cmocka_unit_test(each_error_has_a_position_and_a_message),
        cmocka_unit_test(a_raw_nul_is_refused),
        cmocka_unit_test(sixty_four_levels_nest),
        cmocka_unit_test(the_longest_number_is_measured),
        cmocka_unit_test(values_are_counted),
        cmocka_unit_test(a_truncated_text_is_refused_at_every_length),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(an_error_that_is_already_set_is_kept),
        cmocka_unit_test(hostile_text_costs_linear_time),
        cmocka_unit_test(many_keys_cost_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
