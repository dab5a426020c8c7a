// SPDX-License-Identifier: Apache-2.0
// Drafts: no name before they are complete, where the file system has such files; then one step to
// their place.
#include <errno.h>

#include "runtime/base/file_draft.h"
#include "tests/unit.h"

static qdq_file_draft begin(const char *path, char name[400]) {
    qdq_file_draft draft;
    assert_true(qdq_file_draft_open(&draft, path, name));
    assert_int_equal(write(draft.descriptor, "new", 3), 3);
    return draft;
}

static void check_content(const char *path, const char *wanted) {
    size_t count;
    char *content = unit_read(path, &count);
    assert_string_equal(content, wanted);
    free(content);
}

// A process that is killed while it writes leaves nothing.
static void a_draft_has_no_name_until_it_is_complete(void **state) {
    (void)state;
    char path[256], name[400];
    size_t files = unit_folder_count();
    qdq_file_draft draft = begin(unit_path(path, "a"), name);
    bool named = draft.named;
    if (!named) assert_int_equal(unit_folder_count(), files);
    qdq_file_draft_drop(&draft);
    close(draft.descriptor);
    assert_int_equal(unit_folder_count(), files);
    if (named) skip();
}

static void a_complete_draft_takes_the_place_of_a_file(void **state) {
    (void)state;
    char path[256], name[400];
    unit_write(unit_path(path, "b"), "old", 3);
    assert_int_equal(chmod(path, 0640), 0);
    size_t files = unit_folder_count();
    qdq_file_draft draft = begin(path, name);
    assert_true(qdq_file_draft_link(&draft, path));
    check_content(path, "old");
    close(draft.descriptor);
    assert_true(qdq_file_draft_place(&draft, path));
    check_content(path, "new");
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0640);
    assert_int_equal(unit_folder_count(), files);
}

static void a_path_without_a_folder_is_in_the_current_one(void **state) {
    (void)state;
    char name[400], before[256];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(unit_folder), 0);
    qdq_file_draft draft = begin("c", name);
    assert_true(qdq_file_draft_link(&draft, "c"));
    close(draft.descriptor);
    assert_true(qdq_file_draft_place(&draft, "c"));
    check_content("c", "new");
    assert_int_equal(chdir(before), 0);
}

static void names_that_are_taken_are_left_alone(void **state) {
    (void)state;
    char path[256], name[400], taken[64], other[256];
    unit_path(path, "d");
    for (int i = 0; i < 100; i++) {
        snprintf(taken, sizeof taken, ".qdq-%ld-%d", (long)getpid(), i);
        unit_write(unit_path(other, taken), "other", 5);
    }
    qdq_file_draft draft = {0};
    bool open = qdq_file_draft_open(&draft, path, name);
    assert_false(open && qdq_file_draft_link(&draft, path));
    assert_int_equal(errno, EEXIST);
    if (open) close(draft.descriptor);
    for (int i = 0; i < 100; i++) {
        snprintf(taken, sizeof taken, ".qdq-%ld-%d", (long)getpid(), i);
        check_content(unit_path(other, taken), "other");
        unlink(other);
    }
}

static void a_folder_that_is_not_there_is_an_error(void **state) {
    (void)state;
    char path[256], name[400];
    qdq_file_draft draft;
    assert_false(qdq_file_draft_open(&draft, unit_path(path, "none/e"), name));
    assert_int_equal(errno, ENOENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_draft_has_no_name_until_it_is_complete),
        cmocka_unit_test(a_complete_draft_takes_the_place_of_a_file),
        cmocka_unit_test(a_path_without_a_folder_is_in_the_current_one),
        cmocka_unit_test(names_that_are_taken_are_left_alone),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, unit_folder_begin, unit_folder_end);
}
