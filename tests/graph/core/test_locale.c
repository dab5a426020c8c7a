// SPDX-License-Identifier: Apache-2.0
// Reading and writing do not depend on the locale: if its decimal point is a comma, files give the
// same numbers, and files and messages have the same text.
#include <locale.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

// Sets the locale of a country: the machine's, or one that localedef makes in the test's folder.
static bool set_locale(const char *country) {
    char name[32], command[512];
    snprintf(name, sizeof name, "%s.UTF-8", country);
    if (setlocale(LC_ALL, name)) return true;
    snprintf(command, sizeof command, "localedef -i %s -f UTF-8 '%s/%s' > /dev/null 2>&1", country,
             unit_folder, name);
    if (system(command) != 0) return false;
    setenv("LOCPATH", unit_folder, 1);
    return setlocale(LC_ALL, name) != NULL;
}

static const char text[] =
    "{\"format\": \"qdq/1\", \"name\": \"n\","
    " \"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [3]}],"
    " \"constants\": [{\"name\": \"c\", \"dtype\": \"float32\", \"shape\": [3],"
    "   \"data\": [0.1, 1.25e-3, 12345.678]}],"
    " \"nodes\": [{\"op\": \"Add\", \"name\": \"s\", \"inputs\": {\"a\": \"x\", \"b\": \"c\"}},"
    "  {\"op\": \"Quantize\", \"name\": \"q\", \"inputs\": {\"x\": \"s\"},"
    "   \"attrs\": {\"scales\": 0.75, \"zps\": 2}}],"
    " \"outputs\": [{\"name\": \"q\", \"value\": \"q\"}]}";

// Wrong values of every kind that messages print.
static const char wrong[] =
    "{\"format\": \"qdq/1\", \"name\": \"n\","
    " \"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [3]}],"
    " \"constants\": [{\"name\": \"c\", \"dtype\": \"int8\", \"shape\": [1], \"data\": [1.5]}],"
    " \"nodes\": [{\"op\": \"Clamp\", \"name\": \"a\", \"inputs\": {\"x\": \"x\"},"
    "   \"attrs\": {\"min\": 2.5, \"max\": 1.5}},"
    "  {\"op\": \"Quantize\", \"name\": \"b\", \"inputs\": {\"x\": \"x\"},"
    "   \"attrs\": {\"scales\": 0.5, \"zps\": 3.5}},"
    "  {\"op\": \"DynamicQuantize\", \"name\": \"c\", \"inputs\": {\"x\": \"x\"},"
    "   \"attrs\": {\"eps\": -4.5}},"
    "  {\"op\": \"RMSNorm\", \"name\": \"d\", \"inputs\": {\"x\": \"x\"},"
    "   \"attrs\": {\"epsilon\": -5.5}},"
    "  {\"op\": \"SoftMax\", \"name\": \"e\", \"inputs\": {\"x\": \"x\"},"
    "   \"attrs\": {\"axis\": 6.5}},"
    "  {\"op\": \"Quantize\", \"name\": \"f\", \"inputs\": {\"x\": \"x\"},"
    "   \"attrs\": {\"scales\": -7.5}}],"
    " \"outputs\": []}";

// All text and numbers that a caller sees of the two graphs.
static char *describe(void) {
    char path[256], *out = NULL;
    size_t count;
    FILE *to = open_memstream(&out, &count);
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_parse(text, strlen(text), "n.json", NULL, NULL, &err);
    assert_string_equal(err.text, "");
    const float *data = qdq_value_data(g, qdq_graph_find(g, "c"));
    assert_true(data[0] == 0.1F && data[1] == 1.25e-3F && data[2] == 12345.678F);
    assert_int_equal(qdq_graph_write(g, unit_path(path, "out.json"), &err), QDQ_OK);
    char *written = unit_read(path, &count);
    fprintf(to, "%s\n", written);
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    for (size_t i = 0; i < qdq_plan_get_stats(plan).step_count; i++)
        fprintf(to, "%s\n", qdq_plan_get_step(plan, i)->text);
    qdq_plan_destroy(plan), qdq_graph_destroy(g), free(written);
    g = qdq_graph_parse(wrong, strlen(wrong), "n.json", NULL, NULL, &err);
    for (size_t t = 0; t < qdq_target_count(); t++) {
        const qdq_report *report = qdq_graph_validate(g, qdq_target_get(t).name, &err);
        assert_true(report && report->errors > 7);
        for (size_t i = 0; i < report->count; i++) fprintf(to, "%s\n", report->findings[i].message);
    }
    qdq_graph_destroy(g);
    fclose(to);
    return out;
}

static void numbers_are_read_and_written_alike_with_a_decimal_comma(void **state) {
    (void)state;
    static const char *const told[] = {"1.5", "2.5", "3.5", "-4.5", "-5.5", "6.5", "-7.5"};
    char *plain = describe(), number[16];
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        assert_non_null(strstr(plain, told[i]));
    if (!set_locale("de_DE")) {
        free(plain);
        skip();
    }
    snprintf(number, sizeof number, "%g", 1.5);
    assert_string_equal(number, "1,5");
    char *german = describe();
    setlocale(LC_ALL, "C");
    assert_string_equal(german, plain);
    free(plain), free(german);
}

// The decimal point of Pashto has two bytes, of which a parser that replaces one byte keeps one.
static void headers_of_tensors_are_read_alike_with_any_decimal_point(void **state) {
    (void)state;
    static const char *const countries[] = {"de_DE", "ps_AF"};
    static const char header[] =
        "{\"x\": {\"dtype\": \"F32\", \"shape\": [2.0], \"data_offsets\": [0.0, 8.0]}}";
    static const float data[] = {0.5F, -3};
    char path[256];
    uint64_t bytes = sizeof header - 1;
    FILE *to = fopen(unit_path(path, "header.safetensors"), "wb");
    fwrite(&bytes, 8, 1, to), fwrite(header, sizeof header - 1, 1, to);
    fwrite(data, sizeof data, 1, to), fclose(to);
    size_t set = 0;
    for (size_t i = 0; i < UNIT_COUNT(countries); i++) {
        if (!set_locale(countries[i])) continue;
        qdq_error err = {0};
        qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, &err);
        setlocale(LC_ALL, "C");
        assert_string_equal(err.text, "");
        assert_non_null(file);
        assert_int_equal(qdq_tensor_file_at(file, 0)->shape.dims[0], 2);
        qdq_tensor_file_close(file);
        set++;
    }
    if (!set) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_are_read_and_written_alike_with_a_decimal_comma,
                                        unit_folder_begin, unit_folder_end),
        cmocka_unit_test_setup_teardown(headers_of_tensors_are_read_alike_with_any_decimal_point,
                                        unit_folder_begin, unit_folder_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
