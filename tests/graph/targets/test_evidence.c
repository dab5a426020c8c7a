// SPDX-License-Identifier: Apache-2.0
// The evidence of each target: every op at every version has a row, and a row says what it claims.
#include "graph/core/target.h"
#include "include/qdq/inspect.h"
#include "tests/unit.h"

static bool is_release(size_t target, const char *name) {
    for (size_t i = 0; qdq_target_release(target, i); i++)
        if (strcmp(qdq_target_release(target, i), name) == 0) return true;
    return false;
}

static bool is_op(const char *name) {
    for (size_t i = 0; i < qdq_op_count(); i++)
        if (strcmp(qdq_op_get(i).name, name) == 0) return true;
    return false;
}

// Fails for a word that is neither an op nor, with a target, one of its releases.
static void check_words(const char *words, const size_t *target) {
    char word[64];
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (target ? !is_release(*target, word) : !is_op(word)) fail_msg("there is no %s", word);
        at += length;
    }
}

static void check_row(size_t target, qdq_evidence row) {
    bool read = strcmp(row.kind, "read from source") == 0;
    assert_true(read || strcmp(row.kind, "run") == 0 || strcmp(row.kind, "vendor's model") == 0);
    assert_true(*row.against && *row.what);
    if (read == (*row.compared || *row.date)) fail_msg("%s: %s", row.against, row.compared);
    int year, month, day, length;
    if (!read) {
        assert_int_equal(sscanf(row.date, "%4d-%2d-%2d%n", &year, &month, &day, &length), 3);
        assert_int_equal(length, 10);
    }
    check_words(row.versions, &target);
    check_words(row.ops, NULL);
}

static void a_row_names_versions_and_ops_that_exist_and_dates_what_was_compared(void **state) {
    (void)state;
    for (size_t t = 0; t < qdq_target_count(); t++) {
        assert_true(qdq_target_get(t).evidence_count > 0);
        for (size_t i = 0; i < qdq_target_get(t).evidence_count; i++)
            check_row(t, qdq_target_evidence(t, i));
    }
}

// The version of number `index`, or the plain name of a target without versions.
static bool version_text(size_t target, size_t index, char *out, size_t capacity) {
    const char *release = qdq_target_release(target, index);
    if (!release && (index > 0 || qdq_target_get(target).release_count)) return false;
    snprintf(out, capacity, "%s%s%s", qdq_target_get(target).name, release ? "@" : "",
             release ? release : "");
    return true;
}

static void every_op_at_every_version_has_evidence(void **state) {
    char name[64];
    (void)state;
    for (size_t t = 0; t < qdq_target_count(); t++)
        for (size_t v = 0; version_text(t, v, name, sizeof name); v++)
            for (size_t op = 0; op <= qdq_op_count(); op++)
                if (!qdq_evidence_of(name, qdq_op_get(op).name).kind)
                    fail_msg("%s has no evidence for %s", name, qdq_op_get(op).name);
}

static void no_row_is_hidden_by_rows_before_it(void **state) {
    char name[64];
    (void)state;
    for (size_t t = 0; t < qdq_target_count(); t++)
        for (size_t i = 0; i < qdq_target_get(t).evidence_count; i++) {
            qdq_evidence row = qdq_target_evidence(t, i);
            bool seen = false;
            for (size_t v = 0; version_text(t, v, name, sizeof name); v++)
                for (size_t op = 0; op <= qdq_op_count(); op++)
                    seen |= qdq_evidence_of(name, qdq_op_get(op).name).what == row.what &&
                            qdq_evidence_of(name, qdq_op_get(op).name).against == row.against;
            if (!seen) fail_msg("%s: %s is never found", qdq_target_get(t).name, row.what);
        }
}

static void the_version_and_the_op_choose_the_row(void **state) {
    (void)state;
    assert_string_equal(qdq_evidence_of("ort@1.31-avx512", "Add").kind, "read from source");
    assert_string_equal(qdq_evidence_of("ort@1.31-avx2:level=basic", "Add").kind, "run");
    assert_string_equal(qdq_evidence_of("ttnn", "Quantize").kind, "vendor's model");
    assert_string_equal(qdq_evidence_of("ttnn@ieee", "Quantize").kind, "read from source");
    assert_string_equal(qdq_evidence_of("torchao", "MatMul").kind, "read from source");
    assert_null(qdq_evidence_of("ort@1.3", "Add").kind);
    assert_null(qdq_evidence_of(NULL, "Add").kind);
}

static void a_finding_has_the_evidence_of_the_target_that_has_the_rule(void **state) {
    qdq_finding finding = {.target = "onnx", .op = "MatMul"};
    (void)state;
    qdq_evidence row = qdq_finding_evidence("ort@1.31-avx512:level=basic", &finding);
    assert_string_equal(row.against, qdq_evidence_of("onnx@1.31-avx512", "MatMul").against);
    finding.target = "core";
    row = qdq_finding_evidence("ort@1.31-avx512", &finding);
    assert_string_equal(row.against, qdq_evidence_of("core", "MatMul").against);
    finding.target = "ort";
    assert_string_equal(qdq_finding_evidence("ort@1.31-avx2", &finding).kind, "run");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_names_versions_and_ops_that_exist_and_dates_what_was_compared),
        cmocka_unit_test(every_op_at_every_version_has_evidence),
        cmocka_unit_test(no_row_is_hidden_by_rows_before_it),
        cmocka_unit_test(the_version_and_the_op_choose_the_row),
        cmocka_unit_test(a_finding_has_the_evidence_of_the_target_that_has_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
