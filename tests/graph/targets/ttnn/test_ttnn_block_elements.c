// SPDX-License-Identifier: Apache-2.0
// Target `ttnn` computes elementwise ops on block floats as its chip does: unpacked to bfloat16, by
// the programs of bfloat16, packed by the chip's packer. Results have the checksums of a second
// model in Python, which was written from the text of docs/device_arithmetic.md and of the formats.
//
// x has every bfloat16 three times: next to numbers of all exponents, next to numbers of the same
// exponent, and next to numbers whose exponents are at most 7 apart, with both signs.
#include "include/qdq/qdq.h"
#include "tests/unit.h"

enum { ALL = 65536, COUNT = 3 * ALL, WIDE = 32, NARROW = 20, DTYPES = 2, CHIPS = 2 };

static const qdq_dtype dtypes[DTYPES] = {QDQ_BFLOAT8_B, QDQ_BFLOAT4_B};
static const char *const targets[CHIPS] = {"ttnn@wormhole", "ttnn@blackhole"};

typedef struct expected {
    const char *op;
    bool approximate;
    uint64_t checksums[CHIPS][DTYPES];
} expected;

// Rows of 32 elements.
// clang-format off
static const expected functions[] = {
    {"Exp", false, {{0xB1E6A7F6457663A8, 0xDF92B316A09139E0}, {0xBF53746F4C5D6028, 0xAAF3D96A23BE2960}}},
    {"Sigmoid", false, {{0x7EBA8B0A526C53E0, 0xF7192DBA086B04E0}, {0x89FBFD3C59A53F68, 0x2440D253C11A29E0}}},
    {"SiLU", false, {{0xE31DC28F5A55BF5A, 0x224BF93F4ACB36E0}, {0xBF2F995BB69539E8, 0x0CE022AE325B36E0}}},
    {"Tanh", false, {{0x4F4BDE9121CC5738, 0x57322EB39C0CCF00}, {0x4F4BDE9121CC5738, 0x57322EB39C0CCF00}}},
    {"GELU", false, {{0xD12F05D2FCB92F36, 0xB3EF0F70116BFA00}, {0x7F1944FCB625A936, 0x687281B06957E900}}},
    {"Sqrt", false, {{0xCBBFBCAA5FF0169E, 0x4723349A13AC1120}, {0xCBBFBCAA5FF0169E, 0x4723349A13AC1120}}},
    {"Rsqrt", false, {{0x0D2B12AE091265A8, 0x4D029A2A7AC138C0}, {0xBD19088C32E465A8, 0x5D72C3B0F91C38C0}}},
    {"Reciprocal", false, {{0x98E4752E80619190, 0xD842CEA8A056DD00}, {0x217307C1749AE220, 0xD842CEA8A056DD00}}},
    {"Log", false, {{0x0ABDBD00C3D1925E, 0x0B644B2C4903CCC0}, {0x0ABDBD00C3D1925E, 0x0B644B2C4903CCC0}}},
    {"Log1p", false, {{0xD4BFB877F3637118, 0xA863BF0D99DF9020}, {0xD4BFB877F3637118, 0xA863BF0D99DF9020}}},
    {"Elu", false, {{0x4897FAB2AE4E00BC, 0x736B99180DF597E0}, {0x4897FAB2AE4E00BC, 0x736B99180DF597E0}}},
    {"Erf", false, {{0x9327F6DC10F72E9C, 0xA48B0B3CC039FB80}, {0x9327F6DC10F72E9C, 0xA48B0B3CC039FB80}}},
    {"Softplus", false, {{0xBAC0C44465105BE2, 0x05477CBBE1A69F80}, {0xF3A4F97A66B2EAE8, 0x8303ABFB0EBA3F60}}},
    {"Mish", false, {{0xF4C93DC862914794, 0xCD6A9906994B4EA0}, {0x1B89C905A9264380, 0xF05CAA89B6EC4EA0}}},
    {"Square", false, {{0x5C3967FD8DA2CA94, 0x97C1065F8FA02500}, {0x5C3967FD8DA2CA94, 0x97C1065F8FA02500}}},
    {"LeakyReLU", false, {{0xE33DDFD9E499BE50, 0xFC0D21AB1A5245E0}, {0xC5B9FE544513BE50, 0xC3AF3996E44145E0}}},
    {"ReLU6", false, {{0xB5241D14D588FFA0, 0x2634589EFF7FD1E0}, {0x979253A9EDBB48A0, 0x5CB7D98538D96B60}}},
    {"HardSigmoid", false, {{0x131C02CEC945DFF2, 0xA248A8053F80CB80}, {0x14C06FB0136959F2, 0x023F3E2746533A80}}},
    {"Floor", false, {{0x691263CA51164C94, 0xB902FD5033148080}, {0x691263CA51164C94, 0xB902FD5033148080}}},
    {"Ceil", false, {{0xDE4586F02B19E094, 0xF2F60B296A9E5480}, {0xDE4586F02B19E094, 0xF2F60B296A9E5480}}},
    {"Trunc", false, {{0xFA2F7C61AE8F22C4, 0x422D20E6836B3980}, {0xFA2F7C61AE8F22C4, 0x422D20E6836B3980}}},
    {"Round", false, {{0x33C3B762C425B0E4, 0x2DC852F267CB6100}, {0x163FD5DD249FB0E4, 0xF56A6ADE31BA6100}}},
    {"Abs", false, {{0xD888BFC6225AD0A4, 0x36EDBD6D8523ED80}, {0xD888BFC6225AD0A4, 0x36EDBD6D8523ED80}}},
    {"Neg", false, {{0xA7900415C9A550A4, 0x1FA092E856E2ED80}, {0xA7900415C9A550A4, 0x1FA092E856E2ED80}}},
    {"Sign", false, {{0x1C1A31837A790B00, 0x21E4B141A63E6000}, {0x1C1A31837A790B00, 0x21E4B141A63E6000}}},
    {"ReLU", false, {{0xB19D807E08A81DAA, 0xFEFB7526801879C0}, {0xB19D807E08A81DAA, 0xFEFB7526801879C0}}},
    {"Exp", true, {{0xCE5F33F2A46E915A, 0x7426B53AFD4364E0}, {0xCE5F33F2A46E915A, 0x7426B53AFD4364E0}}},
    {"Tanh", true, {{0x5C82F94E1FDA6E50, 0x5306F637F846B380}, {0x5C82F94E1FDA6E50, 0x5306F637F846B380}}},
    {"GELU", true, {{0xF275B1E8751C69AE, 0x3EAA9D43DF639460}, {0x0BFBB81E6D6D69AE, 0x293EC6B2C6F39460}}},
    {"Sqrt", true, {{0x78C8DB183CBCA0C4, 0x36B30B1395511120}, {0x28B6D0F6668EA0C4, 0x4723349A13AC1120}}},
    {"Rsqrt", true, {{0x482AD63BE47DA618, 0x4D029A2A7AC138C0}, {0xF818CC1A0E4FA618, 0x5D72C3B0F91C38C0}}},
};

// Rows of 20 elements: 12 elements beyond the tensor have the function of zero.
static const expected padded[] = {
    {"Exp", false, {{0xACC03BCE5FEA14C8, 0x0B87E2B0AA7CFEEC}, {0x95ADDBCC4EB9BA48, 0x1529B29F5D91536C}}},
    {"Sigmoid", false, {{0x0D36A27F37807D52, 0x58404244FC1A1ECC}, {0xC7FBFEDD18E5E3D4, 0x8567E6DEB4C943CC}}},
    {"HardSigmoid", false, {{0x8AA874600A6A4BAE, 0x8024DBEED98AE98C}, {0xC5C576FEADD4BBAE, 0x199407CE39A44E8C}}},
    {"Softplus", false, {{0xCB1B988EEEA9A192, 0x410372BA14870D0C}, {0xEB74F7D5B4C5E0AC, 0x8DAA103ED05A452C}}},
    {"Log", false, {{0xD9F41F2C38E5DF4A, 0xFE2A654608A6B8AC}, {0xD9F41F2C38E5DF4A, 0xFE2A654608A6B8AC}}},
    {"Reciprocal", false, {{0x875A4DB2765FEFF4, 0xDAB73E38C073482C}, {0xE216BE881EA47750, 0xDAB73E38C073482C}}},
    {"Tanh", false, {{0x1249DB727F3B1248, 0xDA58987848E355AC}, {0x1249DB727F3B1248, 0xDA58987848E355AC}}},
};

static const expected sums[] = {
    {"Add", false, {{0x4724CECA85895A24, 0x973201795F0BA500}, {0x4724CECA85895A24, 0x973201795F0BA500}}},
    {"Subtract", false, {{0xE9429A37E545A078, 0x174BAFA467A6BA80}, {0xE9429A37E545A078, 0x174BAFA467A6BA80}}},
    {"Multiply", false, {{0x7A0393B30E90FEF0, 0x29CDF8A85BC5EA00}, {0x7A0393B30E90FEF0, 0x29CDF8A85BC5EA00}}},
};
// clang-format on

//---- Numbers ----------------------------------------------------------------

static float x[COUNT], b[COUNT], y[COUNT];

static float float_of(uint32_t code) { return unit_float_of_bits(code << 16); }

static void fill(void) {
    for (uint32_t i = 0; i < ALL; i++) {
        uint32_t high = i >> 4;
        x[i] = float_of(i * 40503 & 0xFFFF);
        x[ALL + i] = float_of(i);
        x[2 * ALL + i] =
            float_of((i >> 3 & 1) << 15 | (high >> 7) << 10 | (i & 7) << 7 | (high & 127));
    }
    // The same in another order: from the last to the first, five places later.
    for (size_t k = 0; k < COUNT; k++) {
        size_t from = k / ALL * ALL;
        b[from + (k - from + 5) % ALL] = x[from + ALL - 1 - (k - from)];
    }
}

static uint64_t checksum_of(size_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        sum += ((uint64_t)(bits >> 16) + 1) * (i * 0x9E3779B97F4A7C15u + 1);
    }
    return sum;
}

//---- Running ----------------------------------------------------------------

static qdq_value add(qdq_graph *g, const expected *e, qdq_value v, qdq_value other) {
    const qdq_bool mode = e->approximate ? QDQ_TRUE : QDQ_UNSET;
    const char *op = e->op;
    if (other.id) {
        qdq_binary_attrs attrs = {.a = v, .b = other};
        return qdq_add_node(g, op, &attrs, sizeof attrs);
    }
    if (strcmp(op, "HardSigmoid") == 0)
        return qdq_hard_sigmoid(
            g, v, (qdq_hard_sigmoid_attrs){.alpha = QDQ_FLOAT(1.0f / 6), .beta = QDQ_FLOAT(0.5f)});
    if (strcmp(op, "GELU") == 0)
        return qdq_gelu(g, v, (qdq_gelu_attrs){.fast_and_approximate_mode = mode});
    if (strcmp(op, "Elu") == 0) return qdq_elu(g, v, (qdq_alpha_attrs){.alpha = QDQ_FLOAT(1)});
    if (strcmp(op, "LeakyReLU") == 0)
        return qdq_leaky_relu(g, v, (qdq_alpha_attrs){.alpha = QDQ_FLOAT(0.01f)});
    if (strcmp(op, "Tanh") == 0) {
        qdq_tanh_attrs attrs = {.x = v, .fast_and_approximate_mode = mode};
        return qdq_add_node(g, op, &attrs, sizeof attrs);
    }
    if (e->approximate) {
        qdq_approximate_attrs attrs = {.x = v, .fast_and_approximate_mode = mode};
        return qdq_add_node(g, op, &attrs, sizeof attrs);
    }
    qdq_unary_attrs attrs = {.x = v};
    return qdq_add_node(g, op, &attrs, sizeof attrs);
}

static void run(const expected *e, qdq_dtype dtype, const qdq_compile_options *options,
                int64_t rows, int64_t columns, bool two) {
    qdq_error err = {0};
    size_t count = (size_t)(rows * columns);
    qdq_graph *g = qdq_graph_create("one", NULL);
    qdq_shape shape = QDQ_SHAPE(rows, columns);
    qdq_value v = qdq_input(g, "x", dtype, shape), other = {0};
    if (two) other = qdq_input(g, "b", dtype, shape);
    qdq_output(g, "y", add(g, e, v, other));
    qdq_plan *plan = qdq_graph_compile(g, options, &err);
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, &err);
    assert_string_equal(err.text, "");
    (void)qdq_exec_write(exec, "x", QDQ_FLOAT32, x, count, &err);
    if (two) (void)qdq_exec_write(exec, "b", QDQ_FLOAT32, b, count, &err);
    qdq_exec_run(exec);
    (void)qdq_exec_read(exec, "y", dtype, y, count, &err);
    assert_string_equal(err.text, "");
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// Checks a row on both chips: on their devices, without memory, and node by node.
static void check(const expected *e, int64_t columns, bool two) {
    int64_t rows = COUNT / columns;
    for (int i = 0; i < CHIPS * DTYPES * 3; i++) {
        int chip = i % CHIPS, k = i / CHIPS % DTYPES, way = i / CHIPS / DTYPES;
        if (way == 2 && strcmp(e->op, "Exp") != 0) continue;
        qdq_compile_options options = {
            .target = targets[chip], .fast = way == 1, .materialize = way == 2};
        run(e, dtypes[k], &options, rows, columns, two);
        if (checksum_of((size_t)(rows * columns)) != e->checksums[chip][k])
            fail_msg("%s of %s on %s differs (%d)", e->op, qdq_dtype_name(dtypes[k]), targets[chip],
                     way);
    }
}

static void functions_are_those_of_bfloat16_between_the_unpacker_and_the_packer(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(functions); i++) check(&functions[i], WIDE, false);
}

static void elements_beyond_the_tensor_are_functions_of_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(padded); i++) check(&padded[i], NARROW, false);
}

static void sums_and_products_are_those_of_bfloat16(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(sums); i++) check(&sums[i], WIDE, true);
}

// exp(-3) to exp(-6) are 3D4C, 3C96, 3BDD and 3B22. Alone they share the exponent of exp(-3); among
// elements beyond the tensor, which are exp(0), they have few bits left.
static void a_row_of_four_loses_bits_to_its_padding(void **state) {
    (void)state;
    static const float wanted[2][4] = {{3.0f / 64, 1.0f / 64, 0, 0},
                                       {51.0f / 1024, 19.0f / 1024, 7.0f / 1024, 5.0f / 2048}};
    const expected exponential = {.op = "Exp"};
    for (int alone = 0; alone < 2; alone++) {
        for (int i = 0; i < 16; i++) x[i] = i < 4 ? (float)(-3 - i) : -100;
        qdq_compile_options options = {.target = targets[0]};
        run(&exponential, QDQ_BFLOAT8_B, &options, 1, alone ? 16 : 4, false);
        assert_memory_equal(y, wanted[alone], sizeof wanted[alone]);
    }
    fill();
}

// typecast sets bfp8_pack_precise for bfloat8_b alone (typecast.cpp of tt-metal); the groups are
// those of docs/device_arithmetic.md 3.
static void casts_round_once_to_bfloat8_b_and_twice_to_bfloat4_b(void **state) {
    (void)state;
    static const struct {
        qdq_dtype dtype;
        float second, wanted;
    } rows[] = {{QDQ_BFLOAT8_B, 1.0078125f, 1.0f}, {QDQ_BFLOAT4_B, 1.4765625f, 1.5f}};
    for (size_t i = 0; i < CHIPS * UNIT_COUNT(rows); i++) {
        qdq_error err = {0};
        const float group[16] = {2, rows[i / CHIPS].second};
        float found[16];
        qdq_graph *g = qdq_graph_create("one", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(1, 16));
        qdq_output(g, "y", qdq_cast(g, v, (qdq_cast_attrs){.dtype = rows[i / CHIPS].dtype}));
        qdq_plan *plan =
            qdq_graph_compile(g, &(qdq_compile_options){.target = targets[i % CHIPS]}, &err);
        qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
        (void)qdq_exec_write(exec, "x", QDQ_FLOAT32, group, 16, &err);
        qdq_exec_run(exec);
        (void)qdq_exec_read(exec, "y", QDQ_FLOAT32, found, 16, &err);
        assert_string_equal(err.text, "");
        assert_true(found[0] == 2 && found[1] == rows[i / CHIPS].wanted);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

//---- What is known ----------------------------------------------------------

// The bits of y = a + b, with a of the shape [4, 32], and what the rule about block floats says.
static const struct {
    qdq_dtype a, b, y;
    qdq_shape of_b;
    qdq_bits bits;
    const char *found;
} known[] = {
    {QDQ_BFLOAT8_B, QDQ_BFLOAT8_B, QDQ_BFLOAT8_B, {2, {4, 32}}, QDQ_BITS_READ, ""},
    {QDQ_BFLOAT4_B, QDQ_BFLOAT16, QDQ_BFLOAT8_B, {2, {4, 32}}, QDQ_BITS_READ, ""},
    {QDQ_BFLOAT16, QDQ_BFLOAT8_B, QDQ_FLOAT32, {2, {4, 32}}, QDQ_BITS_READ, ""},
    {QDQ_BFLOAT8_B,
     QDQ_FLOAT32,
     QDQ_BFLOAT8_B,
     {2, {4, 32}},
     QDQ_BITS_UNKNOWN,
     "makes bfloat8_b of bfloat8_b and float32, computed as without a chip"},
    {QDQ_BFLOAT8_B,
     QDQ_BFLOAT8_B,
     QDQ_BFLOAT8_B,
     {1, {32}},
     QDQ_BITS_UNKNOWN,
     "broadcasts block floats by a program that was not read"},
};

static void sums_of_other_dtypes_and_shapes_are_unknown(void **state) {
    (void)state;
    for (size_t i = 0; i < CHIPS * UNIT_COUNT(known); i++) {
        size_t k = i / CHIPS;
        qdq_error err = {0};
        qdq_graph *g = qdq_graph_create("one", NULL);
        qdq_value a = qdq_input(g, "a", known[k].a, QDQ_SHAPE(4, 32));
        qdq_value b_in = qdq_input(g, "b", known[k].b, known[k].of_b);
        qdq_output(g, "y", qdq_add(g, a, b_in, (qdq_binary_attrs){.dtype = known[k].y}));
        const qdq_report *report = qdq_graph_validate(g, targets[i % CHIPS], &err);
        assert_non_null(report);
        assert_int_equal(report->node_count, 1);
        assert_int_equal(report->nodes[0].bits, known[k].bits);
        assert_string_equal(report->count ? report->findings[0].found : "", known[k].found);
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_those_of_bfloat16_between_the_unpacker_and_the_packer),
        cmocka_unit_test(elements_beyond_the_tensor_are_functions_of_zero),
        cmocka_unit_test(sums_and_products_are_those_of_bfloat16),
        cmocka_unit_test(a_row_of_four_loses_bits_to_its_padding),
        cmocka_unit_test(casts_round_once_to_bfloat8_b_and_twice_to_bfloat4_b),
        cmocka_unit_test(sums_of_other_dtypes_and_shapes_are_unknown),
    };
    fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
