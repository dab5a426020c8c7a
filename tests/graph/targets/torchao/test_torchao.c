// SPDX-License-Identifier: Apache-2.0
// Target `torchao` against torchao itself: checksums of torchao's results for seeded inputs, which
// are generated again here. tools/peers/torchao_golden.py wrote them and says what they leave out.
#include "tests/graph/targets/torchao/torchao_golden.h"
#include "tests/graph/targets/torchao/torchao_inputs.h"
#include "tests/unit.h"

//---- Checksums --------------------------------------------------------------

static uint32_t crc_table[256];

static int make_crc_table(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ 0xEDB88320 : value >> 1;
        crc_table[i] = value;
    }
    return 0;
}

// Continues a CRC-32 over these bytes; it starts at 0.
static uint32_t crc_over(uint32_t crc, const void *data, size_t bytes) {
    const uint8_t *byte = data;
    crc = ~crc;
    for (size_t i = 0; i < bytes; i++) crc = crc >> 8 ^ crc_table[(crc ^ byte[i]) & 0xFF];
    return ~crc;
}

static uint32_t load(const void *data, size_t size, size_t i) {
    if (size == 1) return ((const uint8_t *)data)[i];
    return size == 2 ? ((const uint16_t *)data)[i] : ((const uint32_t *)data)[i];
}

// Codes above `largest`, which is infinity or the largest number, are NaN; `nan` replaces them all.
static const struct {
    qdq_dtype dtype;
    uint32_t largest, nan;
} nans[] = {
    {QDQ_FLOAT32, 0x7F800000, 0x7FC00000}, {QDQ_FLOAT16, 0x7C00, 0x7E00},
    {QDQ_BFLOAT16, 0x7F80, 0x7FC0},        {QDQ_FLOAT8_E4M3FN, 0x7E, 0x7F},
    {QDQ_FLOAT8_E5M2, 0x7C, 0x7F},
};

static void unite_nans(qdq_dtype dtype, void *data, size_t count) {
    size_t size = qdq_dtype_size(dtype);
    for (size_t n = 0; n < UNIT_COUNT(nans); n++) {
        if (nans[n].dtype != dtype) continue;
        uint32_t sign = (uint32_t)1 << (8 * size - 1);
        for (size_t i = 0; i < count; i++)
            if ((load(data, size, i) & (sign - 1)) > nans[n].largest)
                torchao_store(data, size, i, nans[n].nan);
    }
}

//---- One case ---------------------------------------------------------------

static torchao_data data;
static uint32_t y[TORCHAO_ELEMENTS], out_scales[TORCHAO_BLOCKS], out_zps[TORCHAO_BLOCKS];
static float attr_scales[TORCHAO_BLOCKS];
static double attr_zps[TORCHAO_BLOCKS];

// The shape of a parameter: [], [dim] or the block grid.
static qdq_shape parameter_shape(const torchao_grain *grain) {
    if (grain->qtype == QDQ_PER_TENSOR) return (qdq_shape){0};
    if (grain->qtype == QDQ_PER_CHANNEL) return QDQ_SHAPE((int64_t)data.blocks);
    qdq_shape grid = grain->shape;
    for (int i = 0; i < grid.rank; i++) grid.dims[i] /= grain->block[i];
    return grid;
}

// The attributes that Quantize, Dequantize and DynamicQuantize share.
static qdq_quantize_attrs attributes_of(qdq_graph *g, const torchao_case *c) {
    const torchao_grain *grain = data.grain;
    qdq_quantize_attrs a = {.qtype = grain->qtype, .dtype = c->y};
    if (grain->qtype == QDQ_PER_CHANNEL) a.axis = QDQ_INT(grain->axis);
    if (grain->qtype == QDQ_PER_GROUP)
        a.group_shape = (qdq_ints){grain->block, (size_t)grain->shape.rank};
    if (c->qmin != c->qmax && (c->op != DEQUANTIZE || c->how == QDQ_DOMAIN_FLOAT))
        a.quant_min = QDQ_INT(c->qmin), a.quant_max = QDQ_INT(c->qmax);
    if (c->op == DYNAMIC) return a;
    a.zero_point_domain = (qdq_domain)c->how;
    for (size_t b = 0; b < data.blocks; b++) attr_scales[b] = (float)data.block[b].scale;
    for (size_t b = 0; b < data.blocks; b++) attr_zps[b] = data.block[b].zp;
    if (c->scale)
        a.scale = qdq_input(g, "s", c->scale, parameter_shape(grain));
    else
        a.scales = (qdq_floats){attr_scales, data.blocks, data.blocks == 1};
    if (c->zp_from == ZP_PORT)
        a.zero_point = qdq_input(g, "z", c->zp, parameter_shape(grain));
    else if (data.zp_count)  // torchao wants as many as scales, also if all are one number
        a.zps = (qdq_numbers){attr_zps, data.blocks, data.blocks == 1};
    return a;
}

static qdq_value add_requantize(qdq_graph *g, qdq_value x, qdq_quantize_attrs in) {
    float out_scale = (float)data.out_scale;
    return qdq_requantize(g, x,
                          (qdq_requantize_attrs){.in_scales = in.scales,
                                                 .in_zps = in.zps,
                                                 .out_scales = QDQ_SCALE(out_scale),
                                                 .out_zps = QDQ_ZP(data.out_zp),
                                                 .axis = in.axis,
                                                 .dtype = in.dtype,
                                                 .quant_min = in.quant_min,
                                                 .quant_max = in.quant_max});
}

static qdq_value add_dynamic(qdq_graph *g, qdq_value x, const torchao_case *c,
                             qdq_quantize_attrs a) {
    const float world[1] = {(float)data.out_scale};
    qdq_dynamic_quantize_attrs d = {.quantize = a, .scheme = (qdq_scheme)c->how};
    if (c->eps != 0) d.eps = QDQ_FLOAT(c->eps);
    if (c->zp_from == ZP_SCALAR) d.global_scales = (qdq_floats){world, 1, true};
    if (c->zp_from == ZP_PORT) d.global_scale = qdq_input(g, "s", QDQ_FLOAT32, (qdq_shape){0});
    return qdq_dynamic_quantize(g, x, d);
}

static qdq_graph *build(const torchao_case *c) {
    qdq_graph *g = qdq_graph_create("case", NULL);
    qdq_value x = qdq_input(g, "x", c->x, data.grain->shape), v;
    qdq_quantize_attrs a = attributes_of(g, c);
    if (c->op == QUANTIZE)
        v = qdq_quantize(g, x, a);
    else if (c->op == DEQUANTIZE)
        v = qdq_dequantize(g, x, a);
    else if (c->op == REQUANTIZE)
        v = add_requantize(g, x, a);
    else
        v = add_dynamic(g, x, c, a);
    qdq_output(g, "y", v);
    if (c->op != DYNAMIC) return g;
    qdq_output(g, "scale", qdq_port(g, v, "scale"));
    qdq_output(g, "zp", qdq_port(g, v, "zero_point"));
    return g;
}

static qdq_dtype scale_dtype_of(const torchao_case *c) {
    return torchao_is_mx(c)      ? QDQ_FLOAT8_E8M0
           : c->how == QDQ_NVFP4 ? QDQ_FLOAT8_E4M3FN
                                 : QDQ_FLOAT32;
}

static void bind(qdq_exec *exec, const char *name, qdq_dtype dtype, void *memory, size_t count,
                 qdq_error *err) {
    qdq_exec_bind(exec, name, memory, count * qdq_dtype_size(dtype), err);
}

// Runs the graph of a case on the inputs in `data`; errors go to `err`.
static void run(const torchao_case *c, bool materialize, qdq_error *err) {
    static uint8_t zps[TORCHAO_BLOCKS * 4];
    qdq_graph *g = build(c);
    qdq_compile_options options = {.target = "torchao", .materialize = materialize};
    qdq_plan *plan = qdq_graph_compile(g, &options, err);
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, err);
    if (exec) {
        bind(exec, "x", c->x, data.x, data.count, err);
        bind(exec, "y", c->y, y, data.count, err);
        bool world = c->op == DYNAMIC && c->zp_from == ZP_PORT;
        qdq_dtype scale = world ? QDQ_FLOAT32 : c->scale;
        if (scale) {
            for (size_t b = 0; b < data.blocks; b++)
                torchao_store(out_scales, qdq_dtype_size(scale), b, data.scales[b]);
            bind(exec, "s", scale, out_scales, world ? 1 : data.blocks, err);
        }
        if (!world && c->zp_from == ZP_PORT) {
            for (size_t b = 0; b < data.blocks; b++)
                torchao_store(zps, qdq_dtype_size(c->zp), b, data.zps[b]);
            bind(exec, "z", c->zp, zps, data.blocks, err);
        }
        qdq_exec_run(exec);
        if (c->op == DYNAMIC && !err->status) {
            qdq_exec_read(exec, "scale", scale_dtype_of(c), out_scales, data.blocks, err);
            qdq_exec_read(exec, "zp", c->y, out_zps, data.blocks, err);
        }
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static uint32_t crc_of_inputs(const torchao_case *c) {
    static uint8_t codes[TORCHAO_BLOCKS * 4];
    uint32_t crc = crc_over(0, data.x, data.count * qdq_dtype_size(c->x));
    bool world = c->op == DYNAMIC && c->how == QDQ_NVFP4;
    if (c->op == DYNAMIC && !world) return crc;
    qdq_dtype dtype = c->scale ? c->scale : QDQ_FLOAT32;
    size_t count = world ? 1 : data.blocks, size = qdq_dtype_size(dtype);
    for (size_t b = 0; b < count; b++) torchao_store(codes, size, b, data.scales[b]);
    crc = crc_over(crc, codes, count * size);
    size = c->op != DYNAMIC && c->how == QDQ_DOMAIN_FLOAT && c->zp ? qdq_dtype_size(c->zp) : 4;
    for (size_t b = 0; b < data.zp_count; b++) torchao_store(codes, size, b, data.zps[b]);
    return crc_over(crc, codes, data.zp_count * size);
}

static uint32_t crc_of_results(const torchao_case *c) {
    unite_nans(c->y, y, data.count);
    uint32_t crc = crc_over(0, y, data.count * qdq_dtype_size(c->y));
    if (c->op != DYNAMIC) return crc;
    unite_nans(scale_dtype_of(c), out_scales, data.blocks);
    crc = crc_over(crc, out_scales, data.blocks * qdq_dtype_size(scale_dtype_of(c)));
    if (torchao_small_of(c->y).mantissa) return crc;
    return crc_over(crc, out_zps, data.blocks * qdq_dtype_size(c->y));
}

//---- Groups of cases --------------------------------------------------------

static void print_case(size_t number, const torchao_case *c) {
    static const char *const ops[] = {"Quantize", "Dequantize", "DynamicQuantize", "Requantize"};
    static const char *const zps[] = {"none", "scalar", "list", "port"};
    print_error("case %zu: %s %s %d, %s to %s, grain %d, scale %s, zero point %s %s, [%lld, %lld], "
                "eps %g: ",
                number, ops[c->op], c->op == DYNAMIC ? "scheme" : "domain", c->how,
                qdq_dtype_name(c->x), qdq_dtype_name(c->y), c->grain, qdq_dtype_name(c->scale),
                zps[c->zp_from], qdq_dtype_name(c->zp), (long long)c->qmin, (long long)c->qmax,
                c->eps);
}

// Whether a case gives the recorded results; prints the differences.
static bool check_case(size_t number, bool materialize) {
    const torchao_case *c = &torchao_cases[number];
    qdq_error err = {0};
    run(c, materialize, &err);
    if (!err.status && crc_of_results(c) == c->results) return true;
    print_case(number, c);
    if (err.status) {
        print_error("%s\n", err.text);
        return false;
    }
    print_error("%s first x, y and what torchao makes:", materialize ? "materialized," : "");
    for (size_t i = 0; i < UNIT_COUNT(c->first); i++)
        print_error(" %#x %#x %#x%s", load(data.x, qdq_dtype_size(c->x), i),
                    load(y, qdq_dtype_size(c->y), i), c->first[i], i < 2 ? "," : "\n");
    return false;
}

// All cases of an op with `how` from `first` to `last`; every seventh is also materialized.
static void check_all(int op, int first, int last, bool small) {
    size_t failed = 0, cases = 0;
    for (size_t n = 0; n < UNIT_COUNT(torchao_cases); n++) {
        const torchao_case *c = &torchao_cases[n];
        bool is_small = torchao_small_of(op == DEQUANTIZE ? c->x : c->y).mantissa != 0;
        if (c->op != op || c->how < first || c->how > last || is_small != small) continue;
        torchao_make(&data, c, &torchao_grains[c->grain], n);
        if (crc_of_inputs(c) != c->inputs)
            fail_msg("case %zu: the inputs are not those of torchao_inputs.py", n);
        bool good = check_case(n, false);
        if (good && n % 7 == 3) good = check_case(n, true);
        failed += !good, cases++;
    }
    assert_int_not_equal(cases, 0);
    if (failed) fail_msg("%zu of %zu cases differ from torchao", failed, cases);
}

static void quantize_to_integers_equals_quantize_affine(void **state) {
    (void)state;
    check_all(QUANTIZE, QDQ_DOMAIN_INT, QDQ_DOMAIN_INT, false);
}

static void quantize_without_a_zero_point_equals_torchao(void **state) {
    (void)state;
    check_all(QUANTIZE, QDQ_DOMAIN_NONE, QDQ_DOMAIN_NONE, false);
}

static void quantize_in_the_float_domain_equals_tinygemm(void **state) {
    (void)state;
    check_all(QUANTIZE, QDQ_DOMAIN_FLOAT, QDQ_DOMAIN_FLOAT, false);
}

static void quantize_to_float8_equals_quantize_affine_float8(void **state) {
    (void)state;
    check_all(QUANTIZE, QDQ_DOMAIN_INT, QDQ_DOMAIN_INT, true);
}

static void dequantize_of_integers_equals_dequantize_affine(void **state) {
    (void)state;
    check_all(DEQUANTIZE, QDQ_DOMAIN_INT, QDQ_DOMAIN_INT, false);
}

static void dequantize_without_a_zero_point_equals_torchao(void **state) {
    (void)state;
    check_all(DEQUANTIZE, QDQ_DOMAIN_NONE, QDQ_DOMAIN_NONE, false);
}

static void dequantize_in_the_float_domain_equals_tinygemm(void **state) {
    (void)state;
    check_all(DEQUANTIZE, QDQ_DOMAIN_FLOAT, QDQ_DOMAIN_FLOAT, false);
}

static void dequantize_of_float8_equals_dequantize_affine_float8(void **state) {
    (void)state;
    check_all(DEQUANTIZE, QDQ_DOMAIN_INT, QDQ_DOMAIN_INT, true);
}

static void dynamic_quantize_to_integers_equals_choose_qparams_affine(void **state) {
    (void)state;
    check_all(DYNAMIC, QDQ_ASYMMETRIC, QDQ_SYMMETRIC_NO_CLIPPING, false);
}

static void dynamic_quantize_to_float8_equals_choose_scale_float8(void **state) {
    (void)state;
    check_all(DYNAMIC, QDQ_SYMMETRIC, QDQ_SYMMETRIC, true);
}

static void the_mx_schemes_equal_to_mx(void **state) {
    (void)state;
    check_all(DYNAMIC, QDQ_MX_FLOOR, QDQ_MX_RCEIL, true);
}

static void nvfp4_equals_nvfp4_quantize(void **state) {
    (void)state;
    check_all(DYNAMIC, QDQ_NVFP4, QDQ_NVFP4, true);
}

static void requantize_equals_dequantize_affine_and_then_quantize_affine(void **state) {
    (void)state;
    check_all(REQUANTIZE, QDQ_DOMAIN_INT, QDQ_DOMAIN_INT, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantize_to_integers_equals_quantize_affine),
        cmocka_unit_test(quantize_without_a_zero_point_equals_torchao),
        cmocka_unit_test(quantize_in_the_float_domain_equals_tinygemm),
        cmocka_unit_test(quantize_to_float8_equals_quantize_affine_float8),
        cmocka_unit_test(dequantize_of_integers_equals_dequantize_affine),
        cmocka_unit_test(dequantize_without_a_zero_point_equals_torchao),
        cmocka_unit_test(dequantize_in_the_float_domain_equals_tinygemm),
        cmocka_unit_test(dequantize_of_float8_equals_dequantize_affine_float8),
        cmocka_unit_test(dynamic_quantize_to_integers_equals_choose_qparams_affine),
        cmocka_unit_test(dynamic_quantize_to_float8_equals_choose_scale_float8),
        cmocka_unit_test(the_mx_schemes_equal_to_mx),
        cmocka_unit_test(nvfp4_equals_nvfp4_quantize),
        cmocka_unit_test(requantize_equals_dequantize_affine_and_then_quantize_affine),
    };
    return cmocka_run_group_tests(tests, make_crc_table, NULL);
}
