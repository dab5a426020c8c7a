// SPDX-License-Identifier: Apache-2.0
// Target `onnx@spec` against results of ONNX's reference implementation, recorded by
// tools/peers/onnx_spec.py: QuantizeLinear with quotients near halves, in every type of x and
// y_scale, and DequantizeLinear of its codes.
#include "tests/crc32.h"
#include "tests/graph/targets/onnx/onnx_spec.h"
#include "tests/ops/small_example.h"

enum { COUNT = 8 * 20 * 36, MOST_PARAMETERS = 8 * 20 * 36 };

static const qdq_dtype floats[3] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};
static const float scales[7] = {0.3f, 0.25f, 1.7f, 0.0117f, 3, 0.07f, 0.5f};

static const struct {
    qdq_dtype dtype;
    int least, greatest;
} codes[] = {{QDQ_INT8, -128, 127},       {QDQ_UINT8, 0, 255},     {QDQ_INT16, -32768, 32767},
             {QDQ_UINT16, 0, 65535},      {QDQ_INT4, -8, 7},       {QDQ_UINT4, 0, 15},
             {QDQ_FLOAT8_E4M3FN, 0, 0},   {QDQ_FLOAT8_E5M2, 0, 0}, {QDQ_FLOAT8_E4M3FNUZ, 0, 0},
             {QDQ_FLOAT8_E5M2FNUZ, 0, 0}, {QDQ_FLOAT4_E2M1, 0, 0}};

static const struct {
    int axis, block;  // axis -1: one scale for all
} forms[7] = {{-1, 0}, {0, 0}, {1, 0}, {2, 0}, {2, 7}, {1, 5}, {0, 3}};

static void make_x(qdq_dtype dtype, uint32_t *bits) {
    for (uint64_t i = 0; i < COUNT; i++) {
        float half = ((float)((uint32_t)(i * 2654435761u) / 4096 % 1201) - 600) * 0.5f;
        bits[i] = bits_of(dtype, (half + (float)(i * 40503 / 16 % 3) * 0x1p-9f) * 0.3f);
    }
}

// The parameters of a form: scales in their dtype, and zero points.
static qdq_quantize_attrs make_attrs(size_t code, size_t form, int64_t *group, double *zeros) {
    static const int64_t dims[3] = {8, 20, 36};
    int least = codes[code].least, greatest = codes[code].greatest, axis = forms[form].axis;
    int middle = greatest ? (greatest + least + 1) / 2 + 1 : 0;
    size_t parameters = 1;
    qdq_quantize_attrs a = {.dtype = codes[code].dtype};
    if (axis >= 0)
        a.qtype = QDQ_PER_CHANNEL, a.axis = QDQ_INT(axis), parameters = (size_t)dims[axis];
    if (forms[form].block) {
        parameters = 1;
        for (int i = 0; i < 3; i++) {
            group[i] = i == axis ? forms[form].block : 1;
            parameters *= (size_t)((dims[i] + group[i] - 1) / group[i]);
        }
        a.qtype = QDQ_PER_GROUP, a.axis = (qdq_int){0}, a.group_shape = (qdq_ints){group, 3};
    }
    for (size_t p = 0; p < parameters; p++) zeros[p] = p % 3 == 0 ? 0 : p % 3 == 1 ? middle : least;
    a.zps = (qdq_numbers){zeros, greatest ? parameters : 1, false};
    return a;
}

static qdq_shape shape_of_form(size_t form) {
    qdq_shape grid = {0}, all = QDQ_SHAPE(8, 20, 36);
    int axis = forms[form].axis, block = forms[form].block;
    if (axis >= 0 && !block) grid = (qdq_shape){1, {all.dims[axis]}};
    if (block) grid = all, grid.dims[axis] = (all.dims[axis] + block - 1) / block;
    return grid;
}

// The CRC of the codes, and of the numbers that they stand for in the type of the scale.
static void check(size_t code, qdq_dtype scale, size_t form, qdq_dtype from, const uint32_t *want,
                  const uint32_t *back) {
    static uint32_t x[COUNT], s[MOST_PARAMETERS];
    static double zeros[MOST_PARAMETERS];
    int64_t group[3];
    qdq_shape grid = shape_of_form(form);
    make_x(from, x);
    for (size_t p = 0; p < qdq_shape_count(grid); p++) s[p] = bits_of(scale, (double)scales[p % 7]);
    run r = {.graph = qdq_graph_create("spec", NULL)};
    qdq_value v = tensor(&r, "x", INPUT, from, QDQ_SHAPE(8, 20, 36), x);
    qdq_quantize_attrs a = make_attrs(code, form, group, zeros);
    a.scale = tensor(&r, "s", CONSTANT, scale, grid, s);
    v = qdq_quantize(r.graph, v, a);
    qdq_output(r.graph, "y", v);
    a.dtype = scale;
    qdq_output(r.graph, "z", qdq_dequantize(r.graph, v, a));
    void *y = bind_bits(&r, "y", codes[code].dtype, NULL, COUNT);
    void *z = bind_bits(&r, "z", scale, NULL, COUNT);
    oracle_run(r.graph, &(qdq_compile_options){.target = "onnx@spec"}, r.bound, r.count);
    uint32_t got = crc32_of(y, COUNT * qdq_dtype_size(codes[code].dtype));
    uint32_t got_back = crc32_of(z, COUNT * qdq_dtype_size(scale));
    for (size_t i = 0; i < r.count; i++) free(r.bound[i].data);
    qdq_graph_destroy(r.graph);
    if (got != *want || (back && got_back != *back))
        fail_msg("%s to %s, scale %s, form %zu: codes %s, numbers %s", qdq_dtype_name(from),
                 qdq_dtype_name(codes[code].dtype), qdq_dtype_name(scale), form,
                 got == *want ? "equal" : "differ",
                 !back || got_back == *back ? "equal" : "differ");
}

static void codes_and_numbers_are_those_of_the_reference(void **state) {
    size_t at = 0;
    (void)state;
    for (size_t code = 0; code < UNIT_COUNT(codes); code++)
        for (size_t scale = 0; scale < 3; scale++)
            for (size_t form = 0; form < UNIT_COUNT(forms); form++, at++)
                for (size_t from = 0; from < 3; from++, at++)
                    check(code, floats[scale], form, floats[from], &onnx_spec[at],
                          from == 2 ? &onnx_spec[at + 1] : NULL);
    assert_int_equal(at, UNIT_COUNT(onnx_spec));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_and_numbers_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
