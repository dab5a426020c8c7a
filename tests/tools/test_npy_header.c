// SPDX-License-Identifier: Apache-2.0
// The header of .npy files, a Python dict as text: every spelling, and the message of each error.
#include "tests/unit.h"
#include "tools/io/npy_header.h"

#define HEADER(descr, order, shape) \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

// Reads a copy without a terminator, so that sanitizers see reads past the end.
static qdq_status read_header(const char *text, qdq_dtype *dtype, qdq_shape *shape,
                              qdq_error *err) {
    size_t length = strlen(text);
    char *copy = malloc(length + (length == 0));
    assert_non_null(copy);
    memcpy(copy, text, length);
    qdq_status status = npy_header_read(copy, length, dtype, shape, err);
    free(copy);
    return status;
}

static void every_spelling_is_accepted(void **state) {
    (void)state;
    static const struct {
        const char *header;
        qdq_dtype dtype;
        qdq_shape shape;
    } cases[] = {
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }   \n", QDQ_INT8, {2, {2, 3}}},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }\n", QDQ_UINT8, {1, {6}}},
        {"{'shape':(6,),'fortran_order':False,'descr':'|i1'}", QDQ_INT8, {1, {6}}},
        {"{\"descr\" : \"|i1\" , \"shape\" : ( 3 , 2 , ) , \"fortran_order\" : False }",
         QDQ_INT8,
         {2, {3, 2}}},
        {"\n { 'descr':'|i1','shape':(1,6),'fortran_order':False}\n\n", QDQ_INT8, {2, {1, 6}}},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_error err = {0};
        qdq_dtype dtype;
        qdq_shape shape;
        if (read_header(cases[i].header, &dtype, &shape, &err) != QDQ_OK)
            fail_msg("%s: %s", cases[i].header, err.text);
        assert_int_equal(dtype, cases[i].dtype);
        assert_true(qdq_shape_equal(shape, cases[i].shape));
    }
}

static const struct {
    const char *header;
    qdq_status status;
    const char *message;
} bad_headers[] = {
    {"", QDQ_ERR_PARSE, "header ends at byte 1, wanted '{'"},
    {"[]", QDQ_ERR_PARSE, "header byte 1 is '[', wanted '{'"},
    {"{", QDQ_ERR_PARSE, "header ends at byte 2, wanted a key in quotes or '}'"},
    {"{}", QDQ_ERR_PARSE, "key 'descr' is missing"},
    {"{'descr': '<f4'}", QDQ_ERR_PARSE, "key 'fortran_order' is missing"},
    {"{'descr': '<f4', 'fortran_order': False}", QDQ_ERR_PARSE, "key 'shape' is missing"},
    {"{'descr': '<f4', 'descr': '<f4'}", QDQ_ERR_PARSE, "key 'descr' is given twice"},
    {"{'color': 1}", QDQ_ERR_PARSE, "unknown key 'color', wanted descr, fortran_order and shape"},
    {"{'descr' '<f4'}", QDQ_ERR_PARSE, "header byte 10 is ''', wanted ':' after the key"},
    {"{descr: '<f4'}", QDQ_ERR_PARSE, "header byte 2 is 'd', wanted a key in quotes or '}'"},
    {"{'descr': '<f4' 'shape': ()}", QDQ_ERR_PARSE, "header byte 17 is ''', wanted ',' or '}'"},
    {"{'descr': '<f4', , }", QDQ_ERR_PARSE, "header byte 18 is ',', wanted a key in quotes or '}'"},
    {"{'descr", QDQ_ERR_PARSE, "header ends at byte 8, wanted a closing quote"},
    {"{'descr\"", QDQ_ERR_PARSE, "header ends at byte 9, wanted a closing quote"},
    {"{'des cr'", QDQ_ERR_PARSE, "unknown key 'des cr', wanted descr, fortran_order and shape"},
    {"{'des\ncr'", QDQ_ERR_PARSE, "header byte 6 is 0x0A, wanted a plain character"},
    {"{'des\x7F'", QDQ_ERR_PARSE, "header byte 6 is 0x7F, wanted a plain character"},
    {"{'fortran_order': False", QDQ_ERR_PARSE, "header ends at byte 24, wanted ',' or '}'"},
    {"{'des\\cr'", QDQ_ERR_PARSE, "header byte 6 is '\\', wanted a plain character"},
    {"{'d\xC3\xA9'", QDQ_ERR_PARSE, "header byte 4 is 0xC3, wanted a plain character"},
    {"{'01234567890123456789012345678901'}", QDQ_ERR_PARSE,
     "header byte 34 is '1', wanted a closing quote by now"},
    {HEADER("'<f4'", "False", "()") "x", QDQ_ERR_PARSE,
     "header byte 57 is 'x', wanted nothing after '}'"},
    {"\t{}", QDQ_ERR_PARSE, "header byte 1 is 0x09, wanted '{'"},
    // Bad descr.
    {HEADER("<f4", "False", "()"), QDQ_ERR_PARSE, "header byte 11 is '<', wanted a type in quotes"},
    {HEADER("[('a', '<f4')]", "False", "()"), QDQ_ERR_UNSUPPORTED,
     "descr is a list (a structured array), wanted a single type"},
    // Bad fortran_order.
    {HEADER("'<f4'", "True", "(1,)"), QDQ_ERR_UNSUPPORTED,
     "fortran_order is True, wanted row-major; convert it in numpy with "
     "np.ascontiguousarray(x)"},
    {HEADER("'<f4'", "0", "()"), QDQ_ERR_PARSE, "header byte 35 is '0', wanted True or False"},
    {HEADER("'<f4'", "Falsey", "()"), QDQ_ERR_PARSE, "header byte 40 is 'y', wanted ',' or '}'"},
    // Bad shape.
    {HEADER("'<f4'", "False", "3"), QDQ_ERR_PARSE, "header byte 51 is '3', wanted a tuple of dims"},
    {HEADER("'<f4'", "False", "[3]"), QDQ_ERR_PARSE,
     "header byte 51 is '[', wanted a tuple of dims"},
    {HEADER("'<f4'", "False", "(3)"), QDQ_ERR_PARSE,
     "header byte 53 is ')', wanted ',' after the only dim"},
    {HEADER("'<f4'", "False", "(,)"), QDQ_ERR_PARSE, "header byte 52 is ',', wanted a dim"},
    {HEADER("'<f4'", "False", "(2,,3)"), QDQ_ERR_PARSE, "header byte 54 is ',', wanted a dim"},
    {HEADER("'<f4'", "False", "(2 3)"), QDQ_ERR_PARSE,
     "header byte 54 is '3', wanted ',' after the only dim"},
    {HEADER("'<f4'", "False", "(1, 2 3)"), QDQ_ERR_PARSE,
     "header byte 57 is '3', wanted ',' or ')'"},
    {HEADER("'<f4'", "False", "(-1,)"), QDQ_ERR_PARSE, "header byte 52 is '-', wanted a dim"},
    {HEADER("'<f4'", "False", "(3L,)"), QDQ_ERR_PARSE,
     "header byte 53 is 'L', wanted ',' after the only dim"},
    {HEADER("'<f4'", "False", "(03,)"), QDQ_ERR_PARSE,
     "header byte 52 is '0', wanted a dim without leading 0"},
    {HEADER("'<f4'", "False", "(2, 0)"), QDQ_ERR_PARSE, "dim 1 of shape is 0, wanted at least 1"},
    {HEADER("'<f4'", "False", "(9223372036854775808,)"), QDQ_ERR_PARSE,
     "header byte 70 is '8', wanted a dim below 2^63"},
    {HEADER("'<f4'", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), QDQ_ERR_UNSUPPORTED,
     "shape has more than 8 dims"},
};

static void each_bad_header_has_its_message(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(bad_headers); i++) {
        qdq_error err = {0};
        qdq_dtype dtype;
        qdq_shape shape;
        assert_int_equal(read_header(bad_headers[i].header, &dtype, &shape, &err),
                         bad_headers[i].status);
        assert_int_equal(err.status, bad_headers[i].status);
        assert_string_equal(err.text, bad_headers[i].message);
        assert_int_equal(read_header(bad_headers[i].header, &dtype, &shape, NULL),
                         bad_headers[i].status);
    }
}

// The list of types grows with QDQ_DTYPES; only its beginning is compared.
static void foreign_types_are_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *header, *begin, *end;
    } cases[] = {
        {HEADER("'<c8'", "False", "()"), "descr is '<c8', wanted one of: <f4, ", "<i4"},
        {HEADER("''", "False", "()"), "descr is '', wanted one of: <f4, ", "<i4"},
        {HEADER("'>f4'", "False", "()"), "descr is '>f4', wanted one of: <f4, ",
         "; it is big-endian, convert it in numpy with x.astype(x.dtype.newbyteorder('<'))"},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_error err = {0};
        qdq_dtype dtype;
        qdq_shape shape;
        assert_int_equal(read_header(cases[i].header, &dtype, &shape, &err), QDQ_ERR_UNSUPPORTED);
        assert_memory_equal(err.text, cases[i].begin, strlen(cases[i].begin));
        assert_non_null(strstr(err.text, cases[i].end));
    }
}

static void a_truncated_header_is_refused_at_every_length(void **state) {
    (void)state;
    static const char header[] = HEADER("'<f4'", "False", "(2, 3)");
    char text[sizeof header];
    qdq_dtype dtype;
    qdq_shape shape;
    size_t whole = strlen(header) - 1;  // without the newline at the end
    for (size_t length = 0; length <= whole; length++) {
        memcpy(text, header, length);
        text[length] = '\0';
        qdq_status wanted = length < whole ? QDQ_ERR_PARSE : QDQ_OK;
        assert_int_equal(read_header(text, &dtype, &shape, NULL), wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_is_accepted),
        cmocka_unit_test(each_bad_header_has_its_message),
        cmocka_unit_test(foreign_types_are_refused_by_name),
        cmocka_unit_test(a_truncated_header_is_refused_at_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
