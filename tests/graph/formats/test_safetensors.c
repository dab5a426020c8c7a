// SPDX-License-Identifier: Apache-2.0
// Reading safetensors files: what is accepted, the message of each bad header, truncated files.
#include <cJSON.h>

#include "graph/formats/tensor_file/safetensors.h"
#include "tests/unit.h"

// Writes a file: the length of `header`, the header, and `data_bytes` bytes 0, 1, 2 ...
static const char *make(char path[256], const char *header, size_t data_bytes) {
    size_t length = strlen(header), count = 8 + length + data_bytes;
    char *bytes = malloc(count);
    assert_non_null(bytes);
    uint64_t prefix = length;
    memcpy(bytes, &prefix, 8);
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < data_bytes; i++) bytes[8 + length + i] = (char)i;
    unit_write(unit_path(path, "made.safetensors"), bytes, count);
    free(bytes);
    return path;
}

static const float floats[2][3] = {{0.5f, -1, 2}, {3, 4, 1e-30f}};
static const int8_t bytes[5] = {-128, -1, 0, 1, 127};
static const int32_t scalar = -7;
static const uint16_t halves[3] = {0x3F80, 0xBF80, 0x7FC0};
static const qdq_tensor tensors[] = {
    {"fc1.weight", QDQ_FLOAT32, {2, {2, 3}}, floats},
    {"a \"b\"\n\xC3\xA9", QDQ_INT8, {1, {5}}, bytes},
    {"scalar", QDQ_INT32, {0}, &scalar},
    {"bf", QDQ_BFLOAT16, {8, {1, 1, 3, 1, 1, 1, 1, 1}}, halves},
};

static void check_tensor(const qdq_tensor_file *file, const qdq_tensor_info *info,
                         const qdq_tensor *wanted) {
    char data[64];
    qdq_error err = {0};
    assert_string_equal(info->name, wanted->name);
    assert_int_equal(info->dtype, wanted->dtype);
    assert_true(qdq_shape_equal(info->shape, wanted->shape));
    size_t count = qdq_shape_count(wanted->shape) * qdq_dtype_size(wanted->dtype);
    assert_int_equal(info->bytes, count);
    assert_string_equal(qdq_tensor_file_dtype(file, info),
                        qdq_dtype_get(wanted->dtype)->safetensors);
    memset(data, 0x77, sizeof data);
    assert_int_equal(qdq_tensor_file_read(file, info, data, &err), QDQ_OK);
    assert_int_equal(err.text[0], '\0');
    assert_memory_equal(data, wanted->data, count);
    assert_int_equal(data[count], 0x77);
}

static void what_was_written_reads_back(void **state) {
    (void)state;
    char path[256];
    qdq_error err = {0};
    unit_path(path, "all.safetensors");
    for (size_t count = 0; count <= UNIT_COUNT(tensors); count++) {
        assert_int_equal(qdq_tensor_file_write(path, tensors, count, NULL, &err), QDQ_OK);
        qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, &err);
        assert_non_null(file);
        assert_int_equal(qdq_tensor_file_count(file), count);
        for (size_t i = 0; i < count; i++) {
            const qdq_tensor_info *info = qdq_tensor_file_find(file, tensors[i].name);
            assert_ptr_equal(info, qdq_tensor_file_at(file, i));
            check_tensor(file, info, &tensors[i]);
        }
        assert_null(qdq_tensor_file_at(file, count));
        assert_null(qdq_tensor_file_find(file, "fc1"));
        assert_null(qdq_tensor_file_find(file, "FC1.weight"));
        qdq_tensor_file_close(file);
        assert_int_equal(unit_folder_count(), 1);
    }
    assert_int_equal(err.status, QDQ_OK);
    unlink(path);
    qdq_tensor_file_close(NULL);
}

static void any_order_and_metadata_are_accepted(void **state) {
    (void)state;
    char path[256];
    qdq_error err = {0};
    make(path,
         "{\"b\":{\"shape\":[2],\"data_offsets\":[4,6],\"dtype\":\"U8\"},"
         "\"__metadata__\":{\"format\":\"pt\",\"x\":\"\"},"
         "\"a\":{\"dtype\":\"I32\",\"shape\":[1.0,1e0],\"data_offsets\":[0,4]}, "
         "\"\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[6,7]}}   ",
         7);
    qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, &err);
    assert_non_null(file);
    assert_int_equal(qdq_tensor_file_count(file), 3);
    assert_string_equal(qdq_tensor_file_at(file, 0)->name, "b");
    assert_string_equal(qdq_tensor_file_at(file, 1)->name, "a");
    check_tensor(file, qdq_tensor_file_find(file, "b"),
                 &(qdq_tensor){"b", QDQ_UINT8, {1, {2}}, "\4\5"});
    check_tensor(file, qdq_tensor_file_find(file, "a"),
                 &(qdq_tensor){"a", QDQ_INT32, {2, {1, 1}}, "\0\1\2\3"});
    check_tensor(file, qdq_tensor_file_find(file, ""), &(qdq_tensor){"", QDQ_INT8, {0}, "\6"});
    assert_null(qdq_tensor_file_find(file, "__metadata__"));
    qdq_tensor_file_close(file);

    file = qdq_tensor_file_open(make(path, "{\"__metadata__\":{}}", 0), NULL, &err);
    assert_non_null(file);
    assert_int_equal(qdq_tensor_file_count(file), 0);
    assert_null(qdq_tensor_file_find(file, "a"));
    qdq_tensor_file_close(file);
}

// The message ends with a list of types that grows with QDQ_DTYPES; only its beginning is compared.
static void a_foreign_dtype_is_listed_but_not_read(void **state) {
    (void)state;
    char path[256], data[8], wanted[400];
    qdq_error err = {0};
    make(path,
         "{\"x\":{\"dtype\":\"F6_E3M2\",\"shape\":[4],\"data_offsets\":[0,3]},"
         "\"e\":{\"dtype\":\"\",\"shape\":[9007199254740991],\"data_offsets\":[3,3]},"
         "\"m\":{\"dtype\":\"?\",\"shape\":[454279,31252369,649657],\"data_offsets\":[3,3]},"
         "\"y\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[3,4]}}",
         4);
    qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, &err);
    assert_non_null(file);
    const qdq_tensor_info *x = qdq_tensor_file_find(file, "x");
    assert_int_equal(x->dtype, QDQ_DTYPE_NONE);
    assert_int_equal(x->bytes, 3);
    assert_int_equal(x->shape.dims[0], 4);
    assert_string_equal(qdq_tensor_file_dtype(file, x), "F6_E3M2");
    assert_int_equal(qdq_tensor_file_find(file, "e")->dtype, QDQ_DTYPE_NONE);
    const qdq_shape *m = &qdq_tensor_file_find(file, "m")->shape;
    assert_true(m->dims[0] * m->dims[1] * m->dims[2] == INT64_MAX);
    assert_int_equal(qdq_tensor_file_read(file, x, data, &err), QDQ_ERR_UNSUPPORTED);
    snprintf(wanted, sizeof wanted,
             "%s: tensor 'x': dtype is F6_E3M2, wanted one of: F32, F16, BF16, ", path);
    assert_int_equal(strncmp(err.text, wanted, strlen(wanted)), 0);
    check_tensor(file, qdq_tensor_file_find(file, "y"),
                 &(qdq_tensor){"y", QDQ_INT8, {1, {1}}, "\3"});
    qdq_tensor_file_close(file);
}

static void only_infos_of_the_file_are_read(void **state) {
    (void)state;
    char path[256], data[64];
    qdq_error err = {0};
    unit_path(path, "infos.safetensors");
    assert_int_equal(qdq_tensor_file_write(path, tensors, 2, NULL, NULL), QDQ_OK);
    qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, NULL);
    qdq_tensor_info copy = *qdq_tensor_file_at(file, 0);
    const qdq_tensor_info *infos[] = {NULL, &copy, &(qdq_tensor_info){0},
                                      &(qdq_tensor_info){.name = "nothing"}};
    for (size_t i = 0; i < UNIT_COUNT(infos); i++) {
        err = (qdq_error){0};
        assert_int_equal(qdq_tensor_file_read(file, infos[i], data, &err), QDQ_ERR_ARGUMENT);
        unit_check_error(&err, QDQ_ERR_ARGUMENT, path, "the info is not of a tensor in this file");
        assert_null(qdq_tensor_file_dtype(file, infos[i]));
    }
    qdq_tensor_file_close(file);
    unlink(path);
}

#define TENSOR(dtype, shape, offsets) \
    "{\"w\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static const struct bad_header {
    const char *header;
    size_t data_bytes;
    const char *message;
} bad_headers[] = {
    {"[]", 0, "the header begins with byte 0x5B, wanted '{'"},
    {" {}", 0, "the header begins with byte 0x20, wanted '{'"},
    {"{\"a\"}", 0, "line 1, column 5: found '}', wanted ':' after the key"},
    {"{}x", 0, "line 1, column 3: found 'x', wanted nothing after the document"},
    {"{\"w\":1,\"w\":1}", 0, "line 1, column 8: key 'w' is given twice in one object"},
    {"{\"__metadata__\":[]}", 0, "__metadata__ is not an object, wanted one of strings"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "__metadata__: 'k' is not a string"},
    {"{\"w\":[]}", 0,
     "tensor 'w': the tensor is not an object, wanted dtype, shape and data_offsets"},
    {"{\"w\\n\":{}}", 0, "tensor 'w?': key 'dtype' is missing"},
    {"{\"w\":{\"dtype\":\"I8\"}}", 0, "tensor 'w': key 'shape' is missing"},
    {"{\"w\":{\"dtype\":\"I8\",\"shape\":[]}}", 0, "tensor 'w': key 'data_offsets' is missing"},
    {"{\"w\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offset\":[0,1]}}", 1,
     "tensor 'w': unknown key 'data_offset', wanted dtype, shape and data_offsets; did you mean "
     "'data_offsets'?"},
    {"{\"w\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1],\"more\":0}}", 1,
     "tensor 'w': unknown key 'more', wanted dtype, shape and data_offsets"},
    {"{\"w\":{\"DTYPE\":\"I8\"}}", 0,
     "tensor 'w': unknown key 'DTYPE', wanted dtype, shape and data_offsets"},
    {TENSOR("1", "[1]", "[0,1]"), 1,
     "tensor 'w': dtype is not a string, wanted one such as \"F32\""},
    // Bad shapes.
    {TENSOR("\"I8\"", "1", "[0,1]"), 1,
     "tensor 'w': shape is not an array, wanted an array of dims"},
    {TENSOR("\"I8\"", "[1,0]", "[0,0]"), 0, "tensor 'w': dim 1 of shape is 0, wanted at least 1"},
    {TENSOR("\"I8\"", "[-1]", "[0,1]"), 1,
     "tensor 'w': dim 0 of shape is no integer from 1 to 2^53 - 1"},
    {TENSOR("\"I8\"", "[1.5]", "[0,1]"), 1,
     "tensor 'w': dim 0 of shape is no integer from 1 to 2^53 - 1"},
    {TENSOR("\"I8\"", "[\"1\"]", "[0,1]"), 1,
     "tensor 'w': dim 0 of shape is no integer from 1 to 2^53 - 1"},
    {TENSOR("\"I8\"", "[9007199254740993]", "[0,1]"), 1,
     "tensor 'w': dim 0 of shape is no integer from 1 to 2^53 - 1"},
    {TENSOR("\"I8\"", "[1e300]", "[0,1]"), 1,
     "tensor 'w': dim 0 of shape is no integer from 1 to 2^53 - 1"},
    {TENSOR("\"I8\"", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, "tensor 'w': shape has more than 8 dims"},
    {TENSOR("\"I8\"", "[4294967296,2147483648]", "[0,1]"), 1,
     "tensor 'w': shape has more than 2^63 elements"},
    {TENSOR("\"?\"", "[4294967296,4294967296]", "[0,1]"), 1,
     "tensor 'w': shape has more than 2^63 elements"},
    {TENSOR("\"I32\"", "[4294967296,1073741824]", "[0,1]"), 1,
     "tensor 'w': shape has more than 2^63 bytes"},
    // Bad offsets.
    {TENSOR("\"I8\"", "[1]", "{}"), 1,
     "tensor 'w': data_offsets are not two integers from 0 to 2^53 - 1, wanted [begin, end]"},
    {TENSOR("\"I8\"", "[1]", "[0]"), 1,
     "tensor 'w': data_offsets are not two integers from 0 to 2^53 - 1, wanted [begin, end]"},
    {TENSOR("\"I8\"", "[1]", "[0,1,2]"), 1,
     "tensor 'w': data_offsets are not two integers from 0 to 2^53 - 1, wanted [begin, end]"},
    {TENSOR("\"I8\"", "[1]", "[-1,0]"), 1,
     "tensor 'w': data_offsets are not two integers from 0 to 2^53 - 1, wanted [begin, end]"},
    {TENSOR("\"I8\"", "[1]", "[0,\"1\"]"), 1,
     "tensor 'w': data_offsets are not two integers from 0 to 2^53 - 1, wanted [begin, end]"},
    {TENSOR("\"I8\"", "[1]", "[1,0]"), 1,
     "tensor 'w': data_offsets are [1, 0], wanted begin <= end"},
    {TENSOR("\"I8\"", "[2]", "[0,2]"), 1,
     "tensor 'w': data_offsets are [0, 2], but the file has 1 bytes of data"},
    {TENSOR("\"F32\"", "[2]", "[0,4]"), 4,
     "tensor 'w': data_offsets span 4 bytes, but 2 elements of F32 take 8"},
    {TENSOR("\"I8\"", "[2]", "[0,3]"), 3,
     "tensor 'w': data_offsets span 3 bytes, but 2 elements of I8 take 2"},
    {TENSOR("\"?\"", "[1]", "[0,5]"), 1,
     "tensor 'w': data_offsets are [0, 5], but the file has 1 bytes of data"},
    // Gaps and overlaps in the data.
    {"{}", 1, "byte 0 of the 1 bytes of data belongs to no tensor"},
    {TENSOR("\"I8\"", "[1]", "[0,1]"), 3, "byte 1 of the 3 bytes of data belongs to no tensor"},
    {TENSOR("\"I8\"", "[1]", "[1,2]"), 2, "byte 0 of the 2 bytes of data belongs to no tensor"},
    {"{\"b\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[2,3]},"
     "\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
     3, "byte 1 of the 3 bytes of data belongs to no tensor"},
    {"{\"b\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[1,3]},"
     "\"a\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
     3, "tensor 'b' begins at byte 1 of the data, where another reaches to byte 2"},
    {"{\"a\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[0,2]},"
     "\"b\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
     2, "tensor 'b' begins at byte 0 of the data, where another reaches to byte 2"},
};

static void each_bad_header_has_its_message(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(bad_headers); i++) {
        char path[256];
        qdq_error err = {0};
        unit_memory memory;
        make(path, bad_headers[i].header, bad_headers[i].data_bytes);
        assert_null(qdq_tensor_file_open(path, unit_memory_init(&memory, 0), &err));
        unit_check_error(&err, QDQ_ERR_PARSE, path, bad_headers[i].message);
        unit_memory_check(&memory);
        assert_null(qdq_tensor_file_open(path, NULL, NULL));
    }
}

static void the_length_of_the_header_is_checked(void **state) {
    (void)state;
    static const struct {
        const char *content;
        size_t count;
        const char *message;
    } cases[] = {
        {"", 0, "the file has 0 bytes, wanted at least the 8 of a length"},
        {"\2\0\0\0\0\0\0", 7, "the file has 7 bytes, wanted at least the 8 of a length"},
        {"\0\0\0\0\0\0\0\0", 8, "the header has 0 bytes, wanted 1 to 100000000"},
        {"\1\xE1\xF5\5\0\0\0\0", 8, "the header has 100000001 bytes, wanted 1 to 100000000"},
        {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10,
         "the header has 18446744073709551615 bytes, wanted 1 to 100000000"},
        {"\3\0\0\0\0\0\0\0{}", 10, "the header has 3 bytes, but only 2 follow its length"},
        {"\0\xE1\xF5\5\0\0\0\0{}", 10,
         "the header has 100000000 bytes, but only 2 follow its length"},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char path[256];
        qdq_error err = {0};
        unit_write(unit_path(path, "made.safetensors"), cases[i].content, cases[i].count);
        assert_null(qdq_tensor_file_open(path, NULL, &err));
        unit_check_error(&err, QDQ_ERR_PARSE, path, cases[i].message);
    }
}

static void a_truncated_file_is_refused_at_every_length(void **state) {
    (void)state;
    char path[256];
    size_t count;
    unit_path(path, "cut.safetensors");
    assert_int_equal(qdq_tensor_file_write(path, tensors, UNIT_COUNT(tensors), NULL, NULL), QDQ_OK);
    char *content = unit_read(path, &count);
    for (size_t length = 0; length < count; length++) {
        qdq_error err = {0};
        unit_write(path, content, length);
        assert_null(qdq_tensor_file_open(path, NULL, &err));
        assert_int_equal(err.status, QDQ_ERR_PARSE);
    }
    free(content);
    unlink(path);
}

static void a_file_that_shrinks_fails_to_read(void **state) {
    (void)state;
    char path[256], data[64];
    qdq_error err = {0};
    unit_path(path, "shrinks.safetensors");
    assert_int_equal(qdq_tensor_file_write(path, tensors, 1, NULL, NULL), QDQ_OK);
    qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, NULL);
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(truncate(path, facts.st_size - 3), 0);
    assert_int_equal(qdq_tensor_file_read(file, qdq_tensor_file_at(file, 0), data, &err),
                     QDQ_ERR_IO);
    unit_check_error(&err, QDQ_ERR_IO, path,
                     "tensor 'fc1.weight': ends 3 bytes too early: it was cut while open");
    qdq_tensor_file_close(file);
    unlink(path);
}

static qdq_status write_and_open(const qdq_allocator *allocator, qdq_error *err) {
    char path[256];
    unit_path(path, "memory.safetensors");
    qdq_status status = qdq_tensor_file_write(path, tensors, UNIT_COUNT(tensors), allocator, err);
    if (status != QDQ_OK) return status;
    qdq_tensor_file *file = qdq_tensor_file_open(path, allocator, err);
    unlink(path);
    if (!file) return QDQ_ERR_MEMORY;
    qdq_tensor_file_close(file);
    return QDQ_OK;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    unit_memory memory;
    assert_int_equal(write_and_open(unit_memory_init(&memory, 0), NULL), QDQ_OK);
    unit_memory_check(&memory);
    size_t calls = memory.calls, files = unit_folder_count();
    assert_true(calls > 20);
    for (size_t n = 1; n <= 2 * calls; n++) {
        qdq_error err = {0};
        const qdq_allocator *allocator = unit_memory_init(&memory, (n + 1) / 2);
        memory.once = n % 2;
        assert_int_equal(write_and_open(allocator, &err), QDQ_ERR_MEMORY);
        assert_int_equal(err.status, QDQ_ERR_MEMORY);
        assert_non_null(strstr(err.text, "out of memory"));
        unit_memory_check(&memory);
        assert_int_equal(unit_folder_count(), files);
    }
}

static size_t cjson_calls, cjson_fail_at;

static void *cjson_malloc(size_t size) {
    return ++cjson_calls >= cjson_fail_at ? NULL : malloc(size);
}

static void every_allocation_of_cjson_may_fail(void **state) {
    (void)state;
    char path[256];
    unit_memory memory;
    unit_path(path, "memory.safetensors");
    assert_int_equal(qdq_tensor_file_write(path, tensors, UNIT_COUNT(tensors), NULL, NULL), QDQ_OK);
    cJSON_InitHooks(&(cJSON_Hooks){cjson_malloc, free});
    for (cjson_fail_at = 1;; cjson_fail_at++) {
        qdq_error err = {0};
        cjson_calls = 0;
        qdq_tensor_file *file = qdq_tensor_file_open(path, unit_memory_init(&memory, 0), &err);
        bool opened = file != NULL;
        qdq_tensor_file_close(file);
        unit_memory_check(&memory);
        if (opened) break;
        assert_int_equal(err.status, QDQ_ERR_MEMORY);
    }
    assert_true(cjson_fail_at > 40);
    cJSON_InitHooks(NULL);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_reads_back),
        cmocka_unit_test(any_order_and_metadata_are_accepted),
        cmocka_unit_test(a_foreign_dtype_is_listed_but_not_read),
        cmocka_unit_test(only_infos_of_the_file_are_read),
        cmocka_unit_test(each_bad_header_has_its_message),
        cmocka_unit_test(the_length_of_the_header_is_checked),
        cmocka_unit_test(a_truncated_file_is_refused_at_every_length),
        cmocka_unit_test(a_file_that_shrinks_fails_to_read),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_cjson_may_fail),
    };
    return cmocka_run_group_tests(tests, unit_folder_begin, unit_folder_end);
}
