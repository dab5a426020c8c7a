// SPDX-License-Identifier: Apache-2.0
// Reading and writing .npy files: what is accepted, truncated files, and failed writes.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit.h"
#include "tools/io/npy.h"

// Writes "\x93NUMPY", `version`, the length of `header` in that version's width, the header, and
// `data_bytes` bytes 0, 1, 2 ...
static const char *make(char path[256], int version, const char *header, size_t data_bytes) {
    size_t length = strlen(header), before = version == 1 ? 10 : 12, count = before + length;
    unsigned char *bytes = calloc(count + data_bytes, 1);
    assert_non_null(bytes);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)version;
    bytes[8] = (unsigned char)(length & 0xFF);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + before, header, length);
    for (size_t i = 0; i < data_bytes; i++) bytes[count + i] = (unsigned char)i;
    unit_write(unit_path(path, "made.npy"), bytes, count + data_bytes);
    free(bytes);
    return path;
}

static void what_was_written_reads_back(void **state) {
    (void)state;
    static const int32_t data[] = {1, -2, 0x7FFFFFFF, INT32_MIN, 5, 6};
    static const struct {
        qdq_dtype dtype;
        qdq_shape shape;
    } cases[] = {
        {QDQ_FLOAT32, {0}},
        {QDQ_FLOAT32, {1, {3}}},
        {QDQ_INT32, {2, {2, 3}}},
        {QDQ_INT8, {4, {1, 4, 1, 6}}},
        {QDQ_UINT8, {8, {1, 1, 2, 1, 3, 1, 4, 1}}},
    };
    char path[256];
    unit_path(path, "round.npy");
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_error err = {0};
        npy_tensor out;
        size_t count = qdq_shape_count(cases[i].shape) * qdq_dtype_size(cases[i].dtype);
        assert_int_equal(npy_write(path, cases[i].dtype, cases[i].shape, data, &err), QDQ_OK);
        assert_int_equal(npy_read(path, &out, &err), QDQ_OK);
        assert_int_equal(out.dtype, cases[i].dtype);
        assert_true(qdq_shape_equal(out.shape, cases[i].shape));
        assert_int_equal(out.bytes, count);
        assert_memory_equal(out.data, data, count);
        npy_release(&out);
        assert_null(out.data);
        npy_release(&out);
        assert_int_equal(unit_folder_count(), 1);
    }
    unlink(path);
}

static void the_layout_follows_numpy(void **state) {
    (void)state;
    static const struct {
        qdq_shape shape;
        const char *header;
    } cases[] = {
        {{0}, "{'descr': '|i1', 'fortran_order': False, 'shape': (), }"},
        {{1, {3}}, "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }"},
        {{2, {1, 3}}, "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 3), }"},
        {{5, {1, 1, 1, 3, 1}},
         "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 1, 3, 1), }"},
    };
    static const int8_t data[] = {1, -1, 7};
    char path[256];
    unit_path(path, "layout.npy");
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        size_t count, length = strlen(cases[i].header);
        size_t bytes = qdq_shape_count(cases[i].shape);
        assert_int_equal(npy_write(path, QDQ_INT8, cases[i].shape, data, NULL), QDQ_OK);
        char *content = unit_read(path, &count);
        size_t data_at = count - bytes;
        assert_int_equal(data_at % 64, 0);
        assert_true(data_at < 10 + length + 1 + 64);
        assert_memory_equal(content, "\x93NUMPY\1\0", 8);
        assert_int_equal((unsigned char)content[8] + 256 * (unsigned char)content[9], data_at - 10);
        assert_memory_equal(content + 10, cases[i].header, length);
        for (size_t k = 10 + length; k < data_at - 1; k++) assert_int_equal(content[k], ' ');
        assert_int_equal(content[data_at - 1], '\n');
        assert_memory_equal(content + data_at, data, bytes);
        free(content);
    }
    unlink(path);
}

#define HEADER(descr, shape) \
    "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"

static void every_version_is_accepted(void **state) {
    (void)state;
    for (int version = 1; version <= 3; version++) {
        char path[256];
        qdq_error err = {0};
        npy_tensor out;
        make(path, version, HEADER("|i1", "(2, 3)"), 6);
        assert_int_equal(npy_read(path, &out, &err), QDQ_OK);
        assert_int_equal(out.dtype, QDQ_INT8);
        assert_int_equal(out.shape.rank, 2);
        assert_memory_equal(out.data, "\0\1\2\3\4\5", 6);
        npy_release(&out);
    }
}

static void a_header_of_64_kib_is_accepted(void **state) {
    (void)state;
    enum { BYTES = 64 * 1024 };
    static const char preamble[12] = "\x93NUMPY\2\0\0\0\1\0", dict[] = HEADER("|i1", "()");
    static char content[12 + BYTES + 1];
    char path[256];
    npy_tensor out;
    memset(content, ' ', sizeof content);
    memcpy(content, preamble, sizeof preamble);
    memcpy(content + sizeof preamble, dict, sizeof dict - 1);
    unit_write(unit_path(path, "made.npy"), content, sizeof content);
    assert_int_equal(npy_read(path, &out, NULL), QDQ_OK);
    assert_int_equal(*(int8_t *)out.data, ' ');
    npy_release(&out);
}

static void the_size_of_the_data_is_checked(void **state) {
    (void)state;
    static const struct {
        const char *header;
        qdq_status status;
        const char *message;
    } cases[] = {
        {HEADER("<f4", "(2,)"), QDQ_ERR_PARSE,
         "the file has 4 bytes of data, but its shape and type take 8"},
        {HEADER("|i1", "(3,)"), QDQ_ERR_PARSE,
         "the file has 4 bytes of data, but its shape and type take 3"},
        {HEADER("|i1", "(1073741824,)"), QDQ_ERR_PARSE,
         "the file has 4 bytes of data, but its shape and type take 1073741824"},
        {HEADER("<f4", "(9223372036854775807, 2)"), QDQ_ERR_UNSUPPORTED,
         "shape is larger than the address space"},
        {HEADER("<f4", "(0,)"), QDQ_ERR_PARSE, "dim 0 of shape is 0, wanted at least 1"},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char path[256];
        qdq_error err = {0};
        npy_tensor out;
        make(path, 1, cases[i].header, 4);
        assert_int_equal(npy_read(path, &out, &err), cases[i].status);
        unit_check_error(&err, cases[i].status, path, cases[i].message);
        assert_null(out.data);
        assert_int_equal(out.shape.rank, 0);
        assert_int_equal(npy_read(path, &out, NULL), cases[i].status);
    }
}

static void the_preamble_is_checked(void **state) {
    (void)state;
    static const struct {
        const char *content;
        size_t count;
        qdq_status status;
        const char *message;
    } cases[] = {
        {"", 0, QDQ_ERR_PARSE, "the file ends within its first 8 bytes"},
        {"\x93NUMPY\1", 7, QDQ_ERR_PARSE, "the file ends within its first 8 bytes"},
        {"\x93numpy\1\0", 8, QDQ_ERR_PARSE, "the file does not begin like an .npy file"},
        {"PK\3\4xxxxxxxx", 12, QDQ_ERR_PARSE, "the file does not begin like an .npy file"},
        {"\x93NUMPY\0\0\0\0", 10, QDQ_ERR_UNSUPPORTED, "the format is 0.0, wanted 1.0, 2.0 or 3.0"},
        {"\x93NUMPY\4\0\0\0", 10, QDQ_ERR_UNSUPPORTED, "the format is 4.0, wanted 1.0, 2.0 or 3.0"},
        {"\x93NUMPY\1\1\0\0", 10, QDQ_ERR_UNSUPPORTED, "the format is 1.1, wanted 1.0, 2.0 or 3.0"},
        {"\x93NUMPY\1\0\1", 9, QDQ_ERR_PARSE, "the file ends within its header length"},
        {"\x93NUMPY\2\0\1\0\0", 11, QDQ_ERR_PARSE, "the file ends within its header length"},
        {"\x93NUMPY\2\0\1\0\1\0", 12, QDQ_ERR_PARSE,
         "the header has 65537 bytes, wanted at most 65536"},
        {"\x93NUMPY\3\0\xFF\xFF\xFF\xFF", 12, QDQ_ERR_PARSE,
         "the header has 4294967295 bytes, wanted at most 65536"},
        {"\x93NUMPY\1\0\2\0{", 11, QDQ_ERR_PARSE, "the file ends within its header"},
        {"\x93NUMPY\1\0\0\0", 10, QDQ_ERR_PARSE, "header ends at byte 1, wanted '{'"},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char path[256];
        qdq_error err = {0};
        npy_tensor out;
        unit_write(unit_path(path, "made.npy"), cases[i].content, cases[i].count);
        assert_int_equal(npy_read(path, &out, &err), cases[i].status);
        unit_check_error(&err, cases[i].status, path, cases[i].message);
    }
}

static void a_truncated_file_is_refused_at_every_length(void **state) {
    (void)state;
    static const int32_t data[6] = {1, 2, 3, 4, 5, 6};
    char path[256];
    size_t count;
    npy_tensor out;
    unit_path(path, "cut.npy");
    assert_int_equal(npy_write(path, QDQ_INT32, QDQ_SHAPE(2, 3), data, NULL), QDQ_OK);
    char *content = unit_read(path, &count);
    for (size_t length = 0; length < count; length++) {
        qdq_error err = {0};
        unit_write(path, content, length);
        assert_int_equal(npy_read(path, &out, &err), QDQ_ERR_PARSE);
        assert_null(out.data);
    }
    free(content);
    unlink(path);
}

static void only_regular_files_are_read(void **state) {
    (void)state;
    char path[256];
    qdq_error err = {0};
    npy_tensor out;
    assert_int_equal(npy_read(unit_path(path, "none"), &out, &err), QDQ_ERR_IO);
    unit_check_error(&err, QDQ_ERR_IO, path, "cannot be opened: No such file or directory");
    err = (qdq_error){0};
    assert_int_equal(npy_read(unit_folder, &out, &err), QDQ_ERR_IO);
    unit_check_error(&err, QDQ_ERR_IO, unit_folder, "is not a regular file");
    err = (qdq_error){0};
    assert_int_equal(mkfifo(unit_path(path, "pipe"), 0666), 0);
    assert_int_equal(npy_read(path, &out, &err), QDQ_ERR_IO);
    unit_check_error(&err, QDQ_ERR_IO, path, "is not a regular file");
    unlink(path);
}

static void bad_arrays_are_not_written(void **state) {
    (void)state;
    static const float data[4] = {0};
    static const struct {
        qdq_dtype dtype;
        qdq_shape shape;
        const void *data;
        qdq_status status;
        const char *message;
    } cases[] = {
        {QDQ_DTYPE_NONE, {0}, data, QDQ_ERR_ARGUMENT, "dtype is 0, wanted a known dtype"},
        {QDQ_BFLOAT16,
         {0},
         data,
         QDQ_ERR_ARGUMENT,
         "dtype is bfloat16, which .npy does not have; widen it to float32"},
        {QDQ_INT8, {9, {1}}, data, QDQ_ERR_ARGUMENT, "rank is 9, wanted 0 to 8"},
        {QDQ_INT8, {-1, {1}}, data, QDQ_ERR_ARGUMENT, "rank is -1, wanted 0 to 8"},
        {QDQ_INT8, {2, {1, 0}}, data, QDQ_ERR_ARGUMENT, "dim 1 of shape is 0, wanted at least 1"},
        {QDQ_INT8, {1, {-2}}, data, QDQ_ERR_ARGUMENT, "dim 0 of shape is -2, wanted at least 1"},
        {QDQ_INT8, {1, {1}}, NULL, QDQ_ERR_ARGUMENT, "the data is NULL"},
        {QDQ_FLOAT32,
         {1, {INT64_MAX}},
         data,
         QDQ_ERR_UNSUPPORTED,
         "shape is larger than the address space"},
    };
    char path[256];
    unit_path(path, "bad.npy");
    size_t files = unit_folder_count();
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_error err = {0};
        qdq_status status = npy_write(path, cases[i].dtype, cases[i].shape, cases[i].data, &err);
        assert_int_equal(status, cases[i].status);
        unit_check_error(&err, cases[i].status, path, cases[i].message);
    }
    assert_int_equal(unit_folder_count(), files);
}

static void a_failed_write_keeps_the_old_file(void **state) {
    (void)state;
    static const float data[4] = {0};
    char path[256], link_path[256], inner[300];
    qdq_error err = {0};
    unit_write(unit_path(path, "old"), "old", 3);
    assert_int_equal(symlink(path, unit_path(link_path, "link")), 0);
    assert_int_equal(npy_write(link_path, QDQ_FLOAT32, QDQ_SHAPE(4), data, &err), QDQ_ERR_IO);
    unit_check_error(&err, QDQ_ERR_IO, link_path,
                     "is not a regular file, wanted a new or a regular one");
    err = (qdq_error){0};
    snprintf(inner, sizeof inner, "%s/none/x", unit_folder);
    assert_int_equal(npy_write(inner, QDQ_FLOAT32, QDQ_SHAPE(4), data, &err), QDQ_ERR_IO);
    unit_check_error(&err, QDQ_ERR_IO, inner,
                     "its folder takes no new file: No such file or directory");
    size_t count;
    char *content = unit_read(path, &count);
    assert_string_equal(content, "old");
    free(content);
    assert_int_equal(npy_write(path, QDQ_FLOAT32, QDQ_SHAPE(4), data, NULL), QDQ_OK);
    npy_tensor out;
    assert_int_equal(npy_read(path, &out, NULL), QDQ_OK);
    npy_release(&out);
    unlink(link_path);
    unlink(path);
}

static void existing_temporary_files_are_kept(void **state) {
    (void)state;
    char path[256], name[64], stale[256];
    qdq_error err = {0};
    static const float data[4] = {0};
    size_t count;
    unit_path(path, "wanted");
    for (int i = 0; i < 100; i++) {
        assert_int_equal(npy_write(path, QDQ_FLOAT32, QDQ_SHAPE(4), data, &err), QDQ_OK);
        snprintf(name, sizeof name, ".qdq-%ld-%d", (long)getpid(), i);
        unit_write(unit_path(stale, name), "other", 5);
    }
    assert_int_equal(npy_write(path, QDQ_FLOAT32, QDQ_SHAPE(4), data, &err), QDQ_ERR_IO);
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
    static const float data[64] = {0};
    char path[256];
    size_t files = unit_folder_count();
    unit_path(path, "full");
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {16, 16};
        qdq_error err = {0};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
        qdq_status status = npy_write(path, QDQ_FLOAT32, QDQ_SHAPE(64), data, &err);
        bool said = strstr(err.text, ": cannot be written: File too large") != NULL;
        _exit(status == QDQ_ERR_IO && said ? 0 : 1);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(unit_folder_count(), files);
}

static void a_long_error_is_shortened(void **state) {
    (void)state;
    char path[1500];
    qdq_error err = {0};
    npy_tensor out;
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(npy_read(path, &out, &err), QDQ_ERR_IO);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_string_equal(err.text + sizeof err.text - 5, "p...");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_reads_back),
        cmocka_unit_test(the_layout_follows_numpy),
        cmocka_unit_test(every_version_is_accepted),
        cmocka_unit_test(a_header_of_64_kib_is_accepted),
        cmocka_unit_test(the_size_of_the_data_is_checked),
        cmocka_unit_test(the_preamble_is_checked),
        cmocka_unit_test(a_truncated_file_is_refused_at_every_length),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(bad_arrays_are_not_written),
        cmocka_unit_test(a_failed_write_keeps_the_old_file),
        cmocka_unit_test(existing_temporary_files_are_kept),
        cmocka_unit_test(a_full_disk_leaves_no_files),
        cmocka_unit_test(a_long_error_is_shortened),
    };
    return cmocka_run_group_tests(tests, unit_folder_begin, unit_folder_end);
}
