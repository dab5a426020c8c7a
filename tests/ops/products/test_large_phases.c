// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions whose windows are as wide as their strides, which are products of phases
// (ops/conv/conv_phases.c): positions, k and columns cross their blocks twice, and units end
// within rows of x.
#include "ops/conv/conv_lowering.h"
#include "tests/ops/products/run_convolutions.h"

enum { ROWS = QDQ_GEMM_ROWS, BLOCK_ROWS = QDQ_GEMM_BLOCK_ROWS };

static const window variants[] = {
    WINDOW_OF_FLOATS,
    {.name = "bfloat16", .x = BF16, .w = BF16, .real = BF16, .size = 2},
    WINDOW_OF_BYTES,
    {.name = "codes with zero points",
     .kind = CODES,
     .x = I8,
     .w = U8,
     .real = F32,
     .size = 2,
     .blocks = PER_COLUMN,
     .zeros = true},
    WINDOW_OF_INT8_WEIGHTS,
};

typedef struct shape {
    int spatial;
    int64_t in[DIMS], strides[DIMS], batch, groups;
    size_t k_blocks, columns;  // k: three more; columns: of a group, at least
} shape;

static const shape shapes[] = {
    {2, {9, 67}, {2, 2}, 1, 1, 2, 20},
    {2, {9, 12}, {2, 2}, 2, 2, 0, 2 * 9 * QDQ_CONV_PANELS_ROWS / 5 + 13},
    {2, {13, 41}, {3, 3}, 1, 1, 0, 2 * BLOCK_ROWS + 5},
    {2, {23, 25}, {1, 2}, 2, 2, 1, 2 * BLOCK_ROWS + 2},
    {2, {7, 79}, {2, 1}, 1, 1, 0, 5},
    {1, {2 * QDQ_CONV_PANELS_POSITIONS + 77}, {4}, 1, 1, 1, 4},
    {1, {QDQ_CONV_PANELS_POSITIONS + 3}, {ROWS}, 2, 3, 0, 2 * BLOCK_ROWS},
    {1, {QDQ_CONV_PANELS_POSITIONS + 3}, {6}, 1, 1, 0, 5 * ROWS},
    {1, {QDQ_CONV_PANELS_POSITIONS + 3}, {5}, 1, 1, 0, 2 * ROWS},  // a tile ends within a phase
    {3, {3, 5, 37}, {2, 3, 2}, 1, 1, 1, 2 * BLOCK_ROWS + 9},
    {2, {17, 18}, {1, 1}, 2, 1, 1, BLOCK_ROWS},
};

static void set_shape(window *p, const shape *s) {
    size_t taps = 1;
    set_dims(&p->e, s->spatial, s->in, s->strides);
    for (int d = 0; d < s->spatial; d++) {
        p->e.strides[d] = s->strides[d];
        taps *= (size_t)s->strides[d];
    }
    p->e.batch = s->batch, p->block = 5;
    set_channels(&p->e, s->groups, s->k_blocks * QDQ_GEMM_ROW_BYTES / p->size + 3,
                 (s->columns + taps - 1) / taps);
}

// The order of weights that phases take, and one of the other layouts.
static void set_layout(window *p, size_t layout) {
    p->e.transposed = true;
    p->e.format = layout & 1 ? QDQ_NXC : QDQ_NCX;
    p->e.spatial_last = !(layout & 2);
}

static void phases_lie_where_they_belong(void **unused) {
    (void)unused;
    const char *isas[32];
    size_t isa_count = large_isas(isas), turn = 0;
    for (size_t v = 0; v < UNIT_COUNT(variants); v++)
        for (size_t i = 0; i < UNIT_COUNT(shapes) * 2; i++) {
            if (unit_slow() && (v + i) % 4) continue;
            uint64_t random = large_state(v * 100 + i);
            window p = variants[v];
            set_shape(&p, &shapes[i / 2]);
            set_layout(&p, i % 2 ? 1 + i / 2 % 3 : 0);
            set_link(&p, v + i);
            make(&p, &random);
            for (size_t n = 0; n < isa_count; n++)
                run(&p, isas[n], large_ways[turn++ % LARGE_WAYS]);
            destroy(&p);
        }
}

// Every way of each instruction set.
static void phases_are_the_same_in_every_mode(void **unused) {
    (void)unused;
    const char *isas[32];
    size_t isa_count = large_isas(isas);
    for (size_t v = 0; v < UNIT_COUNT(variants); v++) {
        uint64_t random = large_state(v);
        window p = variants[v];
        set_shape(&p, &shapes[0]);
        set_layout(&p, 0);
        make(&p, &random);
        for (size_t n = 0; n < isa_count; n++)
            for (size_t way = 0; way < LARGE_WAYS; way++)
                if (!unit_slow() || (v + n + way) % 4 == 0) run(&p, isas[n], large_ways[way]);
        destroy(&p);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_lie_where_they_belong),
        cmocka_unit_test(phases_are_the_same_in_every_mode),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
