// SPDX-License-Identifier: Apache-2.0
// The table of mends: targets name mends and their own errors, and docs/float_to_int8.md has a row
// for each mend that says if it is exact.
//
//   test_mend DOCUMENT
#include "graph/core/target.h"
#include "graph/transform/mend/mend.h"
#include "include/qdq/inspect.h"
#include "tests/unit.h"

static bool is_error(const char *id, size_t length) {
    for (size_t t = 0; t < qdq_target_count(); t++) {
        size_t rules = qdq_target_get(t).rule_count;
        for (size_t i = 0; i < rules; i++) {
            qdq_rule_info rule = qdq_target_rule(t, i);
            if (strlen(rule.id) == length && strncmp(rule.id, id, length) == 0)
                return rule.severity == QDQ_SEVERITY_ERROR;
        }
    }
    return false;
}

static const char *document;

static bool is_mend(const char *name) {
    for (const qdq_pattern *mend = qdq_mends; mend->name; mend++)
        if (strcmp(mend->name, name) == 0) return true;
    return false;
}

static void every_target_names_mends_and_errors(void **state) {
    (void)state;
    size_t rows = 0;
    for (size_t t = 0; qdq_target_at(t); t++)
        for (const qdq_mended_rules *row = qdq_target_at(t)->mended; row && row->mend; row++) {
            rows++;
            if (!is_mend(row->mend)) fail_msg("'%s' is no mend", row->mend);
            for (const char *at = row->rules; *at; at += strspn(at, " ")) {
                size_t length = strcspn(at, " ");
                if (!is_error(at, length))
                    fail_msg("%s: %.*s is no error of a target", row->mend, (int)length, at);
                at += length;
            }
        }
    assert_true(rows > 0);
}

static void every_mend_answers_a_rule(void **state) {
    (void)state;
    for (const qdq_pattern *mend = qdq_mends; mend->name; mend++) {
        bool found = false;
        for (size_t t = 0; qdq_target_at(t); t++)
            for (const qdq_mended_rules *row = qdq_target_at(t)->mended; row && row->mend; row++)
                found |= strcmp(row->mend, mend->name) == 0;
        if (!found) fail_msg("no target has a rule for '%s'", mend->name);
    }
}

static void the_document_says_which_mends_are_exact(void **state) {
    (void)state;
    static char text[1 << 16];
    FILE *file = fopen(document, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    for (const qdq_pattern *mend = qdq_mends; mend->name; mend++) {
        char row[128];
        snprintf(row, sizeof row, "\n| %s |", mend->name);
        const char *at = strstr(text, row);
        if (!at) fail_msg("docs/float_to_int8.md has no row for %s", mend->name);
        const char *end = strchr(at + 1, '\n');
        bool exact = strncmp(end - 7, "| yes |", 7) == 0;
        if (exact != !mend->cause)
            fail_msg("docs/float_to_int8.md: %s is exact: %d", mend->name, exact);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_target_names_mends_and_errors),
        cmocka_unit_test(every_mend_answers_a_rule),
        cmocka_unit_test(the_document_says_which_mends_are_exact),
    };
    if (argc != 2) return 2;
    document = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
