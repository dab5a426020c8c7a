// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR of targets litert and tflm against recorded results of its engines.
#include "include/qdq/ops/spatial.h"
#include "tests/network.h"

enum { ROWS = 2, COLUMNS = 3, COUNT = ROWS * COLUMNS, TO_ROWS = 5, TO_COLUMNS = 4 };
enum { RESULTS = TO_ROWS * TO_COLUMNS };

typedef struct resize_case {
    const char *target;
    qdq_coordinates positions;
    uint8_t wanted[RESULTS];  // of uint8; codes of int8 are 128 less
} resize_case;

static const uint8_t usual[COUNT] = {0, 51, 133, 255, 127, 192};

// Compares codes, of int8 less 128.
static void resize(const resize_case *c, const uint8_t *codes, bool is_signed) {
    static const int64_t sizes[] = {TO_ROWS, TO_COLUMNS};
    static const float scale = 0.5f;
    qdq_dtype dtype = is_signed ? QDQ_INT8 : QDQ_UINT8;
    uint8_t x[COUNT], y[RESULTS];
    for (int i = 0; i < COUNT; i++) x[i] = (uint8_t)(codes[i] ^ (is_signed ? 0x80 : 0));
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value v = qdq_input(g, "x", dtype, QDQ_SHAPE(1, ROWS, COLUMNS, 1));
    v = qdq_dequantize(g, v,
                       (qdq_dequantize_attrs){
                           .scales = {&scale, 1, true}, .zps = QDQ_ZP(7), .dtype = QDQ_FLOAT32});
    v = qdq_interpolate(g, v,
                        (qdq_interpolate_attrs){.mode = QDQ_MODE(QDQ_LINEAR),
                                                .sizes = {sizes, 2},
                                                .coordinate_transformation_mode = c->positions,
                                                .data_format = QDQ_NXC});
    v = qdq_quantize(
        g, v,
        (qdq_quantize_attrs){
            .name = "q", .scales = {&scale, 1, true}, .zps = QDQ_ZP(7), .dtype = dtype});
    qdq_output(g, "y", v);
    qdq_error err = {0};
    qdq_graph *deployed = qdq_graph_deployed(g, c->target, &err);
    if (!deployed) print_error("%s\n", err.text);
    assert_non_null(deployed);
    network_tensor in = {"x", dtype, x, COUNT};
    network_run(deployed, &in, 1, (network_tensor){"y", dtype, y, RESULTS});
    for (int i = 0; i < RESULTS; i++) assert_int_equal(y[i] ^ (is_signed ? 0x80 : 0), c->wanted[i]);
    qdq_graph_destroy(deployed);
    qdq_graph_destroy(g);
}

//---- int8 -------------------------------------------------------------------

#define FIXED_HALF_PIXEL \
    { 0, 32, 82, 133, 26, 46, 89, 139, 128, 104, 117, 163, 230, 161, 145, 186, 255, 175, 151, 192 }
#define FIXED_CORNERS \
    { 0, 34, 78, 133, 64, 68, 96, 148, 127, 102, 114, 163, 191, 136, 131, 177, 255, 170, 149, 192 }
#define DELEGATED_HALF_PIXEL \
    { 0, 32, 82, 133, 26, 46, 89, 139, 128, 103, 117, 163, 229, 161, 144, 186, 255, 175, 151, 192 }
#define DELEGATED_CORNERS \
    { 0, 34, 78, 133, 64, 68, 96, 148, 128, 102, 114, 163, 191, 136, 131, 177, 255, 170, 149, 192 }
#define ASYMMETRIC                                                                                \
    {                                                                                             \
        0, 38, 92, 133, 102, 87, 119, 157, 204, 135, 146, 180, 255, 159, 160, 192, 255, 159, 160, \
            192                                                                                   \
    }

static void codes_of_int8(void **state) {
    (void)state;
    static const resize_case cases[] = {
        {"litert@reference", QDQ_HALF_PIXEL, FIXED_HALF_PIXEL},
        {"litert@reference", QDQ_ALIGN_CORNERS, FIXED_CORNERS},
        {"litert@reference", QDQ_ASYMMETRIC_POSITIONS, ASYMMETRIC},
        {"litert@builtin-x86", QDQ_HALF_PIXEL, FIXED_HALF_PIXEL},
        {"litert@builtin-arm64", QDQ_HALF_PIXEL, FIXED_HALF_PIXEL},
        {"litert@xnnpack-x86", QDQ_HALF_PIXEL, DELEGATED_HALF_PIXEL},
        {"litert@xnnpack-x86", QDQ_ALIGN_CORNERS, DELEGATED_CORNERS},
        {"litert@xnnpack-arm64", QDQ_ASYMMETRIC_POSITIONS, ASYMMETRIC},
        {"tflm", QDQ_ALIGN_CORNERS, FIXED_CORNERS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) resize(&cases[i], usual, true);
}

//---- uint8 ------------------------------------------------------------------

// The built-in kernels multiply the weights of a corner first, on aarch64 with multiply-adds.
static void codes_of_uint8(void **state) {
    (void)state;
    static const resize_case cases[] = {
        {"litert@reference", QDQ_HALF_PIXEL, {0,   32,  82,  133, 26,  46,  89,  139, 128, 103,
                                              117, 163, 230, 161, 144, 186, 255, 175, 151, 192}},
        {"litert@builtin-x86", QDQ_HALF_PIXEL, DELEGATED_HALF_PIXEL},
        {"litert@builtin-arm64", QDQ_HALF_PIXEL, {0,   32,  82,  133, 26,  46,  89,
                                                  139, 128, 103, 117, 163, 230, 161,
                                                  144, 186, 255, 175, 151, 192}},
        {"litert@xnnpack-x86", QDQ_HALF_PIXEL, DELEGATED_HALF_PIXEL},
        {"litert@reference", QDQ_ALIGN_CORNERS, DELEGATED_CORNERS},
        {"litert@builtin-x86", QDQ_ASYMMETRIC_POSITIONS, ASYMMETRIC},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) resize(&cases[i], usual, false);
}

// The compiler for aarch64 makes multiply-adds of the reference kernel too.
static void codes_of_uint8_on_aarch64(void **state) {
    (void)state;
    static const uint8_t codes[COUNT] = {198, 244, 67, 53, 202, 212};
    static const resize_case cases[] = {
        {"litert@reference", QDQ_HALF_PIXEL, {198, 227, 178, 67,  184, 219, 180, 82,  126, 186,
                                              192, 140, 68,  154, 203, 197, 53,  146, 206, 212}},
        {"litert@reference-arm64", QDQ_HALF_PIXEL, {198, 227, 178, 67,  184, 219, 180,
                                                    82,  126, 186, 192, 140, 67,  154,
                                                    203, 198, 53,  146, 206, 212}},
        {"litert@builtin-arm64", QDQ_HALF_PIXEL, {198, 227, 178, 67,  183, 219, 180,
                                                  82,  126, 186, 192, 140, 67,  154,
                                                  203, 198, 53,  146, 206, 212}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) resize(&cases[i], codes, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_of_int8),
        cmocka_unit_test(codes_of_uint8),
        cmocka_unit_test(codes_of_uint8_on_aarch64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
