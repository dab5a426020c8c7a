// SPDX-License-Identifier: Apache-2.0
// 1x1 convolutions of codes with few input channels, whose results become codes in registers: every
// depth up to the most, rows left over, and positions that end within a group.
#include "ops/conv/conv_lowering.h"
#include "ops/kernels/gemm/codes/few_codes.h"
#include "tests/ops/products/run_convolutions.h"

static const window kinds[] = {
    {.name = "uint8", .kind = CODES, .x = U8, .w = I8, .real = F32, .size = 1, .wide = true},
    {.name = "int8",
     .kind = CODES,
     .x = I8,
     .w = I8,
     .real = F32,
     .size = 1,
     .blocks = PER_COLUMN,
     .wide = true},
};

// All instruction sets, with constant weights and one to three threads, and a Quantize, also behind
// a Relu.
static void check_window(window *p, uint64_t seed) {
    const char *isas[32];
    size_t isa_count = large_isas(isas);
    uint64_t random = large_state(seed);
    p->block = 5, p->e.format = QDQ_NCX, p->e.spatial_last = true;
    set_link(p, 5 * seed + 1 + 2 * (seed / 3 % 2));
    make(p, &random);
    for (size_t i = 0; i < isa_count; i++)
        run(p, isas[i], (large_way){1 + (int)((seed + i) % 3), false, true, ~1u});
    destroy(p);
}

static void every_depth_is_exact(void **unused) {
    (void)unused;
    for (size_t depth = 1; depth <= QDQ_FEW_CODES_DEPTH + 1; depth++) {
        window p = kinds[depth % 2];
        set_image(&p.e, 8, 8 * (int64_t)(1 + depth % 5), 1);
        set_channels(&p.e, 1 + (int64_t)(depth % 2), depth, 1 + depth * 7 % 23);
        p.e.batch = 1 + (int64_t)(depth % 3 == 0);
        check_window(&p, depth);
    }
}

static void every_end_of_a_group_is_exact(void **unused) {
    enum { GROUP = QDQ_FEW_CODES_GROUP };
    (void)unused;
    for (size_t n = 1; n <= GROUP; n++) {
        window p = kinds[n % 2];
        set_image(&p.e, 1, (int64_t)(QDQ_FEW_CODES_POSITIONS * (1 + n % 2) + GROUP + n), 1);
        set_channels(&p.e, 1, 5 + n % 30, 1 + n % 13);
        p.e.batch = 1;
        check_window(&p, n);
    }
}

// More output channels than a unit has.
static void rows_of_several_units_are_exact(void **unused) {
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        window p = kinds[i];
        set_image(&p.e, 19, 32, 1);
        set_channels(&p.e, 1, 21 + i, QDQ_CONV_PANELS_ROWS + 5 + i);
        p.e.batch = 1;
        check_window(&p, i);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_depth_is_exact),
        cmocka_unit_test(every_end_of_a_group_is_exact),
        cmocka_unit_test(rows_of_several_units_are_exact),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
