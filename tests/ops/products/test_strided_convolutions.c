// SPDX-License-Identifier: Apache-2.0
// Strided convolutions of float32 that read planes (ops/conv/panels/conv_panels_planes.c):
// positions, k and output channels cross their blocks twice, rows of results end in every place of
// a tile, and phases, rows and windows lie beyond the border.
#include "ops/conv/conv_lowering.h"
#include "tests/ops/products/run_convolutions.h"

enum { WIDTH = QDQ_CONV_PLANES_WIDTH, POSITIONS = QDQ_CONV_PANELS_POSITIONS, SHAPES = 11 };

// An image whose results are `rows` rows of `columns`, without padding and dilation.
static void set_results(example *e, int64_t rows, int64_t columns, int64_t kernel) {
    set_image(e, (rows - 1) * 2 + kernel, (columns - 1) * 2 + kernel, kernel);
    e->strides[0] = e->strides[1] = 2;
}

static void pad(example *e, int64_t top, int64_t left, int64_t bottom, int64_t right) {
    e->begin[0] = top, e->begin[1] = left, e->end[0] = bottom, e->end[1] = right;
}

static void set_shape(window *p, int shape) {
    enum { K_BLOCK = QDQ_GEMM_ROW_BYTES / sizeof(float), ROWS = 2 * POSITIONS / WIDTH + 2 };
    example *e = &p->e;
    e->format = QDQ_NCX, e->spatial_last = true;
    e->batch = 1, p->block = 5, e->bias = shape % 3 != 1;
    p->after.link = shape % 4 == 3 ? large_link_after(p->kind, (size_t)shape) : PLAIN;
    set_results(e, ROWS, WIDTH, 3);
    set_channels(e, 1, 3, QDQ_GEMM_BLOCK_ROWS + 1);
    pad(e, 1, 1, 1, 1);
    if (shape == 1) {  // k blocks that begin and end within a channel
        set_results(e, ROWS, WIDTH, 7), set_channels(e, 1, 2 * K_BLOCK / 49 + 1, 9);
        pad(e, 3, 3, 3, 3);
    } else if (shape == 2) {  // rows that end in every place of a tile
        set_results(e, 37, WIDTH + 5, 3), set_channels(e, 2, 5, QDQ_GEMM_ROWS + 1), e->batch = 2;
    } else if (shape == 3) {  // only one of the phases
        set_results(e, ROWS, WIDTH + 1, 1), pad(e, 0, 0, 0, 0), set_channels(e, 1, K_BLOCK / 2, 5);
    } else if (shape == 4) {  // another stride of rows, and taps that are far apart
        set_results(e, 2 * ROWS, WIDTH + 9, 5), e->strides[0] = 3;
        e->dilations[0] = 2, e->dilations[1] = 3, pad(e, 0, 7, 5, 0);
    } else if (shape == 5) {  // windows, phases and rows beyond the border
        set_results(e, 11, 9, 4), set_channels(e, 1, 2, 7);
        pad(e, 13, 77, 12, 15);
    } else if (shape == 6) {  // one line
        set_dims(e, 1, (int64_t[]){4 * POSITIONS + 77}, (int64_t[]){3});
        set_channels(e, 1, 3, 2 * QDQ_GEMM_BLOCK_ROWS + 5);
        e->strides[0] = 2, e->begin[0] = 1;
    } else if (shape == 7) {  // the most output channels of planes, then one more
        set_channels(e, 1, 3, QDQ_CONV_PANELS_IN_PLACE);
    } else if (shape == 8) {
        set_channels(e, 1, 3, QDQ_CONV_PANELS_IN_PLACE + 1);
    } else if (shape == 9) {  // rows that are longer than a unit
        set_results(e, 5, 2 * POSITIONS + 21, 3), set_channels(e, 1, 1, 5);
    } else if (shape == 10) {  // planes that there is no room for
        set_results(e, 5, 8 * POSITIONS, 5), set_channels(e, 1, 4, 2);
    }
}

static void strided_convolutions_cross_every_block_size(void **unused) {
    (void)unused;
    static const window kinds[] = {WINDOW_OF_FLOATS, WINDOW_OF_INT8_WEIGHTS};
    const char *isas[32];
    size_t isa_count = large_isas(isas), turn = 0;
    for (size_t kind = 0; kind < UNIT_COUNT(kinds); kind++)
        for (int shape = 0; shape < SHAPES; shape++) {
            uint64_t random = large_state(kind * SHAPES + (size_t)shape);
            window p = kinds[kind];
            set_shape(&p, shape);
            make(&p, &random);
            for (size_t i = 0; i < isa_count; i++, turn += 3) {
                large_way way = large_ways[turn % LARGE_WAYS];
                way.constant = ~1u;
                run(&p, isas[i], way);
            }
            destroy(&p);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strided_convolutions_cross_every_block_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
