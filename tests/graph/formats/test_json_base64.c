// SPDX-License-Identifier: Apache-2.0
// Constants in base64: the bytes of every dtype, and the sentence of each text that is refused.
#include "graph/core/graph.h"
#include "graph/core/held_constants.h"
#include "include/qdq/qdq.h"
#include "runtime/base/base64.h"
#include "runtime/numerics/dtype.h"
#include "tests/unit.h"

// A graph with a constant c of these keys, which is its output.
static qdq_graph *parse(const char *dtype, const char *shape, const char *keys, qdq_error *err) {
    char text[65536];
    int length = snprintf(text, sizeof text,
                          "{\"format\": \"qdq/1\", \"constants\": [{\"name\": \"c\","
                          " \"dtype\": \"%s\", \"shape\": %s, %s}],"
                          " \"outputs\": [{\"name\": \"y\", \"value\": \"c\"}]}",
                          dtype, shape, keys);
    assert_true(length > 0 && length < (int)sizeof text);
    return qdq_graph_parse(text, (size_t)length, "g.json", NULL, NULL, err);
}

// Random bytes that are elements of a dtype.
static void fill(qdq_dtype dtype, unsigned char *bytes, size_t count) {
    static uint64_t seed = 45;
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    for (size_t i = 0; i < count; i++) {
        uint64_t chosen = unit_random(&seed) >> 32;
        bool narrow = info->bits < 8 && info->kind == QDQ_KIND_INT && info->least < 0;
        if (info->kind == QDQ_KIND_BOOL) chosen &= 1;
        if (qdq_dtype_is_packed(dtype)) chosen &= (1U << info->bits) - 1;
        bytes[i] = (unsigned char)(narrow ? chosen + (uint64_t)info->least : chosen);
    }
}

static void quote(char *out, const unsigned char *bytes, size_t count) {
    size_t at = (size_t)sprintf(out, "\"base64\": \"");
    qdq_base64_encode("+/", bytes, count, out + at);
    strcat(out, count % 3 == 1 ? "==\"" : count % 3 == 2 ? "=\"" : "\"");
}

//---- What can be read -------------------------------------------------------

// 4,097 elements end in a group of one or two bytes, 3 in a whole one.
static void every_dtype_has_its_bytes(void **state) {
    (void)state;
    static const size_t counts[] = {1, 2, 3, 4097};
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++)
        for (size_t i = 0; i < UNIT_COUNT(counts); i++) {
            static unsigned char bytes[4097 * 8];
            static char keys[50000], shape[32];
            size_t count = counts[i], size = qdq_dtype_size((qdq_dtype)d);
            qdq_error err = {0};
            fill((qdq_dtype)d, bytes, count * size);
            quote(keys, bytes, count * size);
            snprintf(shape, sizeof shape, "[%zu, 1]", count);
            qdq_graph *g = parse(qdq_dtype_name((qdq_dtype)d), shape, keys, &err);
            assert_string_equal(err.text, "");
            assert_int_equal(qdq_graph_validate(g, NULL, NULL)->errors, 0);
            const qdq_graph_value *c = &g->values[qdq_graph_find(g, "c").id];
            assert_memory_equal(c->data, bytes, count * size);
            qdq_graph_destroy(g);
        }
}

static void a_scalar_has_one_element(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse("float32", "[]", "\"base64\": \"AAAAvw==\"", &err);
    assert_string_equal(err.text, "");
    const qdq_graph_value *c = &g->values[qdq_graph_find(g, "c").id];
    assert_true(*(const float *)c->data == -0.5f);
    qdq_graph_destroy(g);
}

//---- What is refused --------------------------------------------------------

static void wrong_texts_are_findings(void **state) {
    (void)state;
#define LENGTH "4 for each 3 of the 4 bytes of dtype and shape, with padding; "
    static const struct {
        const char *dtype, *text, *wanted;
    } cases[] = {
        {"int8", "", "base64 has 0 characters, wanted " LENGTH},
        {"int8", "AAAAAA", "base64 has 6 characters, wanted " LENGTH},
        {"int8", "AAAAAAAA\\n", "base64 has 9 characters, wanted " LENGTH},
        {"int8", "AAAAAAAAAAAA", "base64 has 12 characters, wanted " LENGTH},
        {"int8", "AAAAAAAA", "base64 has no padding, wanted '==' at its end; "},
        {"int8", "AAAAAAA=", "base64 has no padding, wanted '==' at its end; "},
        {"int8",
         "AAA=AA==", "base64 has another character at index 3, wanted A-Z, a-z, 0-9, + and /; "},
        {"int8",
         "AA-_AA==", "base64 has another character at index 2, wanted A-Z, a-z, 0-9, + and /; "},
        {"int8", "AAAAAB==", "base64 has bits behind its last byte, wanted zeros there; "},
        {"int4", "AAAACA==", "data has byte 8 at index 3, wanted elements of int4; "},
        {"float4_e2m1",
         "EAAAAA==", "data has byte 16 at index 0, wanted elements of float4_e2m1; "},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char keys[64], wanted[256];
        qdq_error err = {0};
        snprintf(keys, sizeof keys, "\"base64\": \"%s\"", cases[i].text);
        qdq_graph *g = parse(cases[i].dtype, "[2, 2]", keys, &err);
        assert_string_equal(err.text, "");
        const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
        assert_int_equal(report->errors, 1);
        snprintf(wanted, sizeof wanted, "g.json: constant 'c': %s", cases[i].wanted);
        assert_memory_equal(report->findings[0].message, wanted, strlen(wanted));
        assert_string_equal(report->findings[0].rule, "core/constant-data");
        qdq_graph_destroy(g);
    }
}

static void other_keys_end_the_reading(void **state) {
    (void)state;
    static const struct {
        const char *keys, *wanted;
    } cases[] = {
        {"\"base64\": 4", "constants[0].base64 is a number, wanted a string"},
        {"\"base64\": [\"AA==\"]", "constants[0].base64 is an array, wanted a string"},
        {"\"base64\": \"AA==\", \"data\": [0]",
         "constants[0] has both data and base64, wanted data, base64, or file and tensor"},
        {"\"base64\": \"AA==\", \"file\": \"a\"",
         "constants[0] has both base64 and file, wanted data, base64, or file and tensor"},
        {"\"base64\": \"AA==\", \"tensor\": \"a\"",
         "constants[0] has both base64 and tensor, wanted data, base64, or file and tensor"},
        {"\"base64\": null",
         "constants[0] has no content, wanted data, base64, or file and tensor"},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_error err = {0};
        assert_null(parse("int8", "[1]", cases[i].keys, &err));
        assert_int_equal(err.status, QDQ_ERR_PARSE);
        assert_non_null(strstr(err.text, cases[i].wanted));
    }
}

// A wrong length is found before memory is taken: the shape alone takes none.
static void a_shape_takes_no_memory_for_a_short_text(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse("int64", "[2147483647]", "\"base64\": \"AAAA\"", &err);
    assert_string_equal(err.text, "");
    assert_int_equal(g->bytes, 0);
    assert_int_equal(qdq_graph_validate(g, NULL, NULL)->errors, 1);
    qdq_graph_destroy(g);
    g = parse("int64", "[65536, 65536, 65536, 65536]", "\"base64\": \"AAAA\"", &err);
    assert_int_equal(qdq_graph_validate(g, NULL, NULL)->errors, 1);
    qdq_graph_destroy(g);
}

//---- What is written --------------------------------------------------------

// A graph whose outputs are a constant of each dtype, of 4,097 elements.
static qdq_graph *graph_of_all(void) {
    static unsigned char bytes[4097 * 8];
    qdq_graph *g = qdq_graph_create("all", NULL);
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const char *name = qdq_dtype_name((qdq_dtype)d);
        fill((qdq_dtype)d, bytes, 4097 * qdq_dtype_size((qdq_dtype)d));
        qdq_output(g, name, qdq_constant(g, name, (qdq_dtype)d, QDQ_SHAPE(17, 241), bytes));
    }
    return g;
}

static void assert_equal_constants(const qdq_graph *a, const qdq_graph *b) {
    static unsigned char bytes[2][4097 * 8];
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const char *name = qdq_dtype_name((qdq_dtype)d);
        assert_true(qdq_graph_copy_elements(&a->values[qdq_graph_find(a, name).id], bytes[0]));
        assert_true(qdq_graph_copy_elements(&b->values[qdq_graph_find(b, name).id], bytes[1]));
        assert_memory_equal(bytes[0], bytes[1], 4097 * qdq_dtype_size((qdq_dtype)d));
    }
}

static void a_whole_graph_is_one_file_with_the_same_bits(void **state) {
    (void)state;
    char path[256];
    qdq_error err = {0};
    qdq_graph *g = graph_of_all();
    assert_int_equal(qdq_graph_write_whole(g, unit_path(path, "g.json"), 0, &err), QDQ_OK);
    assert_int_equal(unit_folder_count(), 1);
    qdq_graph *whole = qdq_graph_load(path, NULL, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(qdq_graph_validate(whole, NULL, NULL)->errors, 0);
    assert_equal_constants(g, whole);
    qdq_graph_destroy(whole), qdq_graph_destroy(g);
}

// Elements that are still in a file are read.
static void constants_of_a_file_become_base64(void **state) {
    (void)state;
    char path[256], out[256];
    qdq_error err = {0};
    qdq_graph *g = graph_of_all();
    assert_int_equal(qdq_graph_write(g, unit_path(path, "g.json"), &err), QDQ_OK);
    qdq_graph *held = qdq_graph_load(path, NULL, &err);
    assert_non_null(held->values[qdq_graph_find(held, "float32").id].stored);
    assert_int_equal(qdq_graph_write_whole(held, unit_path(out, "whole.json"), 0, &err), QDQ_OK);
    assert_int_equal(unit_folder_count(), 3);
    qdq_graph *whole = qdq_graph_load(out, NULL, &err);
    assert_string_equal(err.text, "");
    assert_equal_constants(g, whole);
    qdq_graph_destroy(whole), qdq_graph_destroy(held), qdq_graph_destroy(g);
}

static void a_limit_of_the_text_is_kept(void **state) {
    (void)state;
    char path[256];
    static const unsigned char bytes[4098] = {0};
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_output(g, "y", qdq_constant(g, "c", QDQ_UINT8, QDQ_SHAPE(4098), bytes));
    (void)unit_path(path, "g.json");
    assert_int_equal(qdq_graph_write_whole(g, path, 5463, &err), QDQ_ERR_LIMIT);
    assert_non_null(strstr(err.text, "take more than 5463 bytes of text as base64"));
    assert_int_equal(unit_folder_count(), 0);
    assert_int_equal(qdq_graph_write_whole(g, path, 5464, &err), QDQ_OK);
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_has_its_bytes),
        cmocka_unit_test(a_scalar_has_one_element),
        cmocka_unit_test(wrong_texts_are_findings),
        cmocka_unit_test(other_keys_end_the_reading),
        cmocka_unit_test(a_shape_takes_no_memory_for_a_short_text),
        cmocka_unit_test_setup_teardown(a_whole_graph_is_one_file_with_the_same_bits,
                                        unit_folder_begin, unit_folder_end),
        cmocka_unit_test_setup_teardown(constants_of_a_file_become_base64, unit_folder_begin,
                                        unit_folder_end),
        cmocka_unit_test_setup_teardown(a_limit_of_the_text_is_kept, unit_folder_begin,
                                        unit_folder_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
