// SPDX-License-Identifier: Apache-2.0
// The table of mends: every rule that a mend names exists and is an error, and
// docs/float_to_int8.md has a row for every mend that says whether it is exact.
//
//   test_mend DOCUMENT
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

static void every_rule_is_an_error_of_a_target(void **state) {
    (void)state;
    for (const qdq_pattern *mend = qdq_mends; mend->name; mend++)
        for (const char *at = mend->rule; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            if (!is_error(at, length))
                fail_msg("%s: %.*s is no error of a target", mend->name, (int)length, at);
            at += length;
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
        cmocka_unit_test(every_rule_is_an_error_of_a_target),
        cmocka_unit_test(the_document_says_which_mends_are_exact),
    };
    if (argc != 2) return 2;
    document = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
