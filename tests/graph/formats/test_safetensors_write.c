// SPDX-License-Identifier: Apache-2.0
// Writing safetensors files: the layout, refused tensors, and failed writes, which keep the old
// file.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "include/qdq/tensor_file.h"
#include "tests/unit.h"

static const float floats[2][3] = {{0.5f, -1, 2}, {3, 4, 1e-30f}};
static const int8_t bytes[5] = {-128, -1, 0, 1, 127};
static const int32_t scalar = -7;
static const qdq_tensor tensors[] = {
    {"fc1.weight", QDQ_FLOAT32, {2, {2, 3}}, floats},
    {"a \"b\"\n\xC3\xA9", QDQ_INT8, {1, {5}}, bytes},
};

static void the_layout_follows_the_format(void **state) {
    (void)state;
    static const char header[] =
        "{\"fc1.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
        "\"a \\\"b\\\"\\n\xC3\xA9\":{\"dtype\":\"I8\",\"shape\":[5],\"data_offsets\":[24,29]}}";
    char path[256];
    size_t count;
    unit_path(path, "layout.safetensors");
    assert_int_equal(qdq_tensor_file_write(path, tensors, 2, NULL, NULL), QDQ_OK);
    unsigned char *content = (unsigned char *)unit_read(path, &count);
    size_t length = content[0] | (size_t)content[1] << 8;
    for (size_t i = 2; i < 8; i++) assert_int_equal(content[i], 0);
    assert_int_equal(length % 8, 0);
    assert_true(length >= strlen(header) && length < strlen(header) + 8);
    assert_memory_equal(content + 8, header, strlen(header));
    for (size_t i = strlen(header); i < length; i++) assert_int_equal(content[8 + i], ' ');
    assert_int_equal(count, 8 + length + 24 + 5);
    assert_memory_equal(content + 8 + length, floats, 24);
    assert_memory_equal(content + 8 + length + 24, bytes, 5);
    free(content);
    unlink(path);
}

static void bad_tensors_are_not_written(void **state) {
    (void)state;
    enum { MANY = 100000 };
    static const struct {
        qdq_tensor tensor;
        const char *message;
    } cases[] = {
        {{NULL, QDQ_INT8, {0}, bytes}, "a tensor is named '', which the format keeps"},
        {{"", QDQ_INT8, {0}, bytes}, "a tensor is named '', which the format keeps"},
        {{"__metadata__", QDQ_INT8, {0}, bytes},
         "a tensor is named '__metadata__', which the format keeps"},
        {{"a\xFF", QDQ_INT8, {0}, bytes}, "a name has byte 0xFF, wanted UTF-8"},
        {{"x", QDQ_DTYPE_NONE, {0}, bytes}, "tensor 'x': dtype is 0, wanted a known dtype"},
        {{"x", QDQ_DTYPE_COUNT, {0}, bytes}, NULL},
        {{"x", QDQ_INT8, {9, {1}}, bytes}, "tensor 'x': rank is 9, wanted 0 to 8"},
        {{"x", QDQ_INT8, {-1, {1}}, bytes}, "tensor 'x': rank is -1, wanted 0 to 8"},
        {{"x", QDQ_INT8, {2, {1, 0}}, bytes}, "tensor 'x': dim 1 of shape is 0, wanted at least 1"},
        {{"x", QDQ_INT8, {1, {-3}}, bytes}, "tensor 'x': dim 0 of shape is -3, wanted at least 1"},
        {{"x", QDQ_INT8, {2, {INT64_MAX, INT64_MAX}}, bytes},
         "tensor 'x': shape is larger than the address space"},
        {{"x", QDQ_INT8, {1, {1}}, NULL}, "tensor 'x': the data is NULL"},
        {{"x", QDQ_INT8, {2, {(int64_t)(SIZE_MAX / 2), 2}}, bytes},
         "tensor 'x': the tensors are larger than the address space"},
        {{"first", QDQ_INT8, {0}, bytes}, "two tensors are named 'first'"},
    };
    char path[256];
    unit_path(path, "bad.safetensors");
    size_t files = unit_folder_count();
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_tensor pair[] = {{"first", QDQ_INT32, {0}, &scalar}, cases[i].tensor};
        qdq_error err = {0};
        assert_int_equal(qdq_tensor_file_write(path, pair, 2, NULL, &err), QDQ_ERR_ARGUMENT);
        if (cases[i].message) unit_check_error(&err, QDQ_ERR_ARGUMENT, path, cases[i].message);
    }
    qdq_error err = {0};
    qdq_tensor *many = calloc(MANY, sizeof *many);
    assert_non_null(many);
    assert_int_equal(qdq_tensor_file_write(path, many, MANY, NULL, &err), QDQ_ERR_LIMIT);
    unit_check_error(&err, QDQ_ERR_LIMIT, path, "100000 tensors, wanted at most 71428 in a file");
    free(many);
    assert_int_equal(unit_folder_count(), files);
}

static void a_failed_write_keeps_the_old_file(void **state) {
    (void)state;
    char path[256], folder[256], link_path[256], inner[300];
    qdq_error err = {0};
    assert_int_equal(mkdir(unit_path(folder, "folder"), 0777), 0);
    assert_int_equal(qdq_tensor_file_write(folder, tensors, 1, NULL, &err), QDQ_ERR_IO);
    unit_check_error(&err, QDQ_ERR_IO, folder,
                     "is not a regular file, wanted a new or a regular one");

    unit_write(unit_path(path, "old"), "old", 3);
    assert_int_equal(symlink(path, unit_path(link_path, "link")), 0);
    assert_int_equal(qdq_tensor_file_write(link_path, tensors, 1, NULL, NULL), QDQ_ERR_IO);
    size_t count;
    char *content = unit_read(path, &count);
    assert_string_equal(content, "old");
    free(content);

    err = (qdq_error){0};
    snprintf(inner, sizeof inner, "%s/none/x", folder);
    assert_int_equal(qdq_tensor_file_write(inner, tensors, 1, NULL, &err), QDQ_ERR_IO);
    unit_check_error(&err, QDQ_ERR_IO, inner,
                     "its folder takes no new file: No such file or directory");

    assert_int_equal(qdq_tensor_file_write(path, tensors, 1, NULL, NULL), QDQ_OK);
    qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, NULL);
    assert_non_null(file);
    qdq_tensor_file_close(file);
    rmdir(folder);
    unlink(link_path);
    unlink(path);
}

static void existing_temporary_files_are_kept(void **state) {
    (void)state;
    char path[256], name[64], stale[256];
    qdq_error err = {0};
    size_t count;
    unit_path(path, "wanted");
    for (int i = 0; i < 100; i++) {
        assert_int_equal(qdq_tensor_file_write(path, tensors, 1, NULL, &err), QDQ_OK);
        snprintf(name, sizeof name, ".qdq-%ld-%d", (long)getpid(), i);
        unit_write(unit_path(stale, name), "other", 5);
    }
    assert_int_equal(qdq_tensor_file_write(path, tensors, 1, NULL, &err), QDQ_ERR_IO);
    unit_check_error(&err, QDQ_ERR_IO, path, "its folder takes no new file: File exists");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, ".qdq-%ld-%d", (long)getpid(), i);
        char *content = unit_read(unit_path(stale, name), &count);
        assert_string_equal(content, "other");
        free(content);
        unlink(stale);
    }
    unlink(path);
}

// A limit on the file size stands in for a full disk.
static void a_full_disk_leaves_no_files(void **state) {
    (void)state;
    char path[256];
    size_t files = unit_folder_count();
    unit_path(path, "full");
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {16, 16};
        qdq_error err = {0};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
        qdq_status status = qdq_tensor_file_write(path, tensors, 1, NULL, &err);
        bool said = strstr(err.text, ": cannot be written: File too large") != NULL;
        _exit(status == QDQ_ERR_IO && said ? 0 : 1);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(unit_folder_count(), files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_follows_the_format),
        cmocka_unit_test(bad_tensors_are_not_written),
        cmocka_unit_test(a_failed_write_keeps_the_old_file),
        cmocka_unit_test(existing_temporary_files_are_kept),
        cmocka_unit_test(a_full_disk_leaves_no_files),
    };
    return cmocka_run_group_tests(tests, unit_folder_begin, unit_folder_end);
}
