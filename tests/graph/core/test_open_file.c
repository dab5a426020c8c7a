// SPDX-License-Identifier: Apache-2.0
// Opening a constant's file below the graph's folder: paths that leave it are refused, also by
// qdq_tensor_file_open_beneath.
#include <errno.h>

#include "graph/core/open_file.h"
#include "graph/formats/tensor_file/safetensors.h"
#include "tests/unit.h"

// Takes the place of the C library's: fails `interrupted` times, then reads at most `most_read`
// bytes (0: no limit).
static size_t most_read, interrupted;

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved
ssize_t pread(int descriptor, void *data, size_t count, off_t offset) {
    if (interrupted) {
        interrupted--;
        errno = EINTR;
        return -1;
    }
    if (lseek(descriptor, offset, SEEK_SET) < 0) return -1;
    return read(descriptor, data, most_read && count > most_read ? most_read : count);
}

static const int8_t bytes[5] = {-128, -1, 0, 1, 127};
static const qdq_tensor tensors[] = {{"w", QDQ_INT8, {1, {5}}, bytes}};

static void only_regular_files_are_opened(void **state) {
    (void)state;
    char path[256];
    qdq_error err = {0};
    assert_null(qdq_tensor_file_open(unit_path(path, "none"), NULL, &err));
    unit_check_error(&err, QDQ_ERR_IO, path, "cannot be opened: No such file or directory");
    err = (qdq_error){0};
    assert_null(qdq_tensor_file_open(unit_folder, NULL, &err));
    unit_check_error(&err, QDQ_ERR_IO, unit_folder, "is a folder, wanted a regular file");
    err = (qdq_error){0};
    assert_int_equal(mkfifo(unit_path(path, "pipe"), 0666), 0);
    assert_null(qdq_tensor_file_open(path, NULL, &err));
    unit_check_error(&err, QDQ_ERR_IO, path, "is a device or pipe, wanted a regular file");
    unlink(path);
}

static size_t open_files(void) {
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir) return 0;
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

static void paths_beneath_a_folder_stay_there(void **state) {
    (void)state;
    static const struct {
        const char *relative;
        qdq_status status;
        const char *message;
    } cases[] = {
        {"", QDQ_ERR_PARSE, "the path is empty, wanted the name of a file"},
        {"/etc/passwd", QDQ_ERR_PARSE,
         "the path is absolute, wanted one relative to the folder of the file that names it"},
        {"../inside", QDQ_ERR_PARSE, "the path has a part '..', wanted one without"},
        {"sub/../inside", QDQ_ERR_PARSE, "the path has a part '..', wanted one without"},
        {"sub/..", QDQ_ERR_PARSE, "the path has a part '..', wanted one without"},
        {"./inside", QDQ_ERR_PARSE, "the path has a part '.', wanted one without"},
        {"sub/.", QDQ_ERR_PARSE, "the path has a part '.', wanted one without"},
        {"sub//inside", QDQ_ERR_PARSE, "the path has an empty part, wanted names between '/'"},
        {"inside/", QDQ_ERR_PARSE, "the path has an empty part, wanted names between '/'"},
        {"none", QDQ_ERR_IO, "'none' cannot be opened: No such file or directory"},
        {"sub/none", QDQ_ERR_IO, "'none' cannot be opened: No such file or directory"},
        {"inside/none", QDQ_ERR_IO, "'inside' cannot be opened: Not a directory"},
        {"sub", QDQ_ERR_IO, "is a folder, wanted a regular file"},
        {"file_link", QDQ_ERR_IO,
         "'file_link' is a link, which may lead out of the folder; wanted a file or folder"},
        {"folder_link/inside", QDQ_ERR_IO,
         "'folder_link' is a link, which may lead out of the folder; wanted a file or folder"},
        {"sub/dangling", QDQ_ERR_IO,
         "'dangling' is a link, which may lead out of the folder; wanted a file or folder"},
    };
    char path[256];
    size_t files = open_files();
    assert_int_equal(mkdir(unit_path(path, "sub"), 0777), 0);
    assert_int_equal(symlink("inside", unit_path(path, "file_link")), 0);
    assert_int_equal(symlink("sub", unit_path(path, "folder_link")), 0);
    assert_int_equal(symlink("/none", unit_path(path, "sub/dangling")), 0);
    const char *const good[] = {"inside", "sub/inside", "sub/..inside", ".hidden"};
    for (size_t i = 0; i < UNIT_COUNT(good); i++) {
        qdq_error err = {0};
        unit_path(path, good[i]);
        assert_int_equal(qdq_tensor_file_write(path, tensors, 1, NULL, NULL), QDQ_OK);
        qdq_tensor_file *file = qdq_tensor_file_open_beneath(unit_folder, good[i], NULL, &err);
        assert_non_null(file);
        int8_t data[5];
        assert_int_equal(qdq_tensor_file_read(file, qdq_tensor_file_at(file, 0), data, &err),
                         QDQ_OK);
        assert_memory_equal(data, bytes, sizeof data);
        qdq_tensor_file_close(file);
    }
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_error err = {0};
        unit_path(path, cases[i].relative);
        assert_null(qdq_tensor_file_open_beneath(unit_folder, cases[i].relative, NULL, &err));
        unit_check_error(&err, cases[i].status, path, cases[i].message);
    }
    qdq_error err = {0};
    assert_null(qdq_tensor_file_open_beneath("/none", "x", NULL, &err));
    unit_check_error(&err, QDQ_ERR_IO, "/none/x",
                     "the folder cannot be opened: No such file or directory");
    assert_int_equal(open_files(), files);
}

// Descriptor 0 is a file like others where a program was started with its input closed.
static void files_are_opened_without_standard_input(void **state) {
    (void)state;
    char path[256];
    qdq_open_file file;
    qdq_error err = {0};
    unit_path(path, "first");
    assert_int_equal(qdq_tensor_file_write(path, tensors, 1, NULL, &err), QDQ_OK);
    int kept = dup(0);
    close(0);
    assert_int_equal(qdq_open_path(path, &file, &err), QDQ_OK);
    assert_int_equal(file.descriptor, 0);
    close(0);
    assert_int_equal(qdq_open_beneath(unit_folder, "first", &file, &err), QDQ_OK);
    assert_true(file.bytes > 5);
    close(file.descriptor);
    dup2(kept, 0);
    close(kept);
}

static void the_empty_folder_is_the_current_one(void **state) {
    (void)state;
    char old[512], name[300];
    qdq_error err = {0};
    assert_non_null(getcwd(old, sizeof old));
    assert_int_equal(chdir(unit_folder), 0);
    assert_int_equal(qdq_tensor_file_write("here", tensors, 1, NULL, &err), QDQ_OK);
    qdq_tensor_file *file = qdq_tensor_file_open_beneath("", "here", NULL, &err);
    assert_non_null(file);
    qdq_tensor_file_close(file);
    assert_null(qdq_tensor_file_open_beneath("", "none", NULL, &err));
    unit_check_error(&err, QDQ_ERR_IO, "none",
                     "'none' cannot be opened: No such file or directory");

    memset(name, 'n', 255);
    name[255] = '\0';
    err = (qdq_error){0};
    assert_null(qdq_tensor_file_open_beneath("", name, NULL, &err));
    assert_non_null(strstr(err.text, "n' cannot be opened: No such file or directory"));

    memset(name, 'n', 256);
    name[256] = '\0';
    err = (qdq_error){0};
    assert_null(qdq_tensor_file_open_beneath("", name, NULL, &err));
    unit_check_error(&err, QDQ_ERR_PARSE, name,
                     "the path has a part of 256 bytes, wanted at most 255");
    assert_int_equal(chdir(old), 0);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char path[256];
    unit_memory memory;
    size_t files = open_files();
    assert_int_equal(qdq_tensor_file_write(unit_path(path, "memory"), tensors, 1, NULL, NULL),
                     QDQ_OK);
    for (size_t n = 1;; n++) {
        qdq_error err = {0};
        const qdq_allocator *allocator = unit_memory_init(&memory, (n + 1) / 2);
        memory.once = n % 2;
        qdq_tensor_file *file =
            qdq_tensor_file_open_beneath(unit_folder, "memory", allocator, &err);
        bool opened = file != NULL;
        qdq_tensor_file_close(file);
        unit_memory_check(&memory);
        assert_int_equal(open_files(), files);
        if (opened) break;
        assert_int_equal(err.status, QDQ_ERR_MEMORY);
    }
}

static void a_failed_read_says_why(void **state) {
    (void)state;
    char data[4];
    qdq_error err = {0};
    assert_int_equal(qdq_open_file_read(-1, data, sizeof data, 0, &err), QDQ_ERR_IO);
    assert_string_equal(err.text, "cannot be read: Bad file descriptor");
    // The end of a file is no interrupted call, whatever an earlier call has left in errno.
    char path[256];
    FILE *to = fopen(unit_path(path, "short"), "wb");
    fwrite("abc", 3, 1, to), fclose(to);
    qdq_open_file file;
    assert_int_equal(qdq_open_path(path, &file, &err), QDQ_OK);
    err = (qdq_error){0};
    errno = EINTR;
    assert_int_equal(qdq_open_file_read(file.descriptor, data, 4, 0, &err), QDQ_ERR_IO);
    assert_string_equal(err.text, "ends 1 bytes too early: it was cut while open");
    close(file.descriptor);
}

static void a_read_that_ends_early_goes_on(void **state) {
    (void)state;
    static const char text[] = "0123456789";
    char path[256], data[10];
    qdq_error err = {0};
    qdq_open_file file;
    FILE *to = fopen(unit_path(path, "digits"), "wb");
    fwrite(text, 10, 1, to), fclose(to);
    assert_int_equal(qdq_open_path(path, &file, &err), QDQ_OK);
    for (most_read = 1; most_read <= 10; most_read++) {
        memset(data, 0, sizeof data);
        interrupted = 2;
        assert_int_equal(qdq_open_file_read(file.descriptor, data, 9, 1, &err), QDQ_OK);
        assert_memory_equal(data, "123456789", 10);
        err = (qdq_error){0};
        assert_int_equal(qdq_open_file_read(file.descriptor, data, 9, 4, &err), QDQ_ERR_IO);
        assert_string_equal(err.text, "ends 3 bytes too early: it was cut while open");
    }
    most_read = 0;
    close(file.descriptor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_regular_files_are_opened),
        cmocka_unit_test(paths_beneath_a_folder_stay_there),
        cmocka_unit_test(files_are_opened_without_standard_input),
        cmocka_unit_test(the_empty_folder_is_the_current_one),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_failed_read_says_why),
        cmocka_unit_test(a_read_that_ends_early_goes_on),
    };
    return cmocka_run_group_tests(tests, unit_folder_begin, unit_folder_end);
}
