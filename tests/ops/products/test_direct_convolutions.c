// SPDX-License-Identifier: Apache-2.0
// Direct convolutions: narrow images, strides, and groups and transposed convolutions of codes
// around the depths and channel counts where the form changes.
#include "ops/conv/direct/conv_direct.h"
#include "tests/ops/products/run_convolutions.h"

static const window codes = {
    .name = "codes", .kind = CODES, .x = U8, .w = I8, .real = F32, .size = 1, .wide = true};

static const window kinds[] = {
    {.name = "float32", .x = F32, .w = F32, .real = F32, .size = 4},
    {.name = "uint8", .kind = CODES, .x = U8, .w = I8, .real = F32, .size = 1, .zeros = true},
    {.name = "int8",
     .kind = CODES,
     .x = I8,
     .w = I8,
     .real = F32,
     .size = 1,
     .blocks = PER_COLUMN,
     .wide = true},
    {.name = "QLinearConv", .kind = QLINEAR, .x = U8, .w = I8, .size = 2, .wide = true},
};

// All instruction sets, with constant weights and one to three threads.
static void check_window(window *p, uint64_t seed) {
    const char *isas[32];
    size_t isa_count = large_isas(isas);
    uint64_t random = large_state(seed);
    p->e.batch = p->e.batch ? p->e.batch : 1, p->block = 5;
    p->e.format = QDQ_NCX, p->e.spatial_last = true;
    set_link(p, seed);
    make(p, &random);
    for (size_t i = 0; i < isa_count; i++)
        run(p, isas[i], (large_way){1 + (int)((seed + i) % 3), false, true, ~1u});
    destroy(p);
}

// Depths where the greatest codes give sums up to 2^24, above it, and twice as great.
static void sums_of_the_greatest_codes_are_exact(void **unused) {
    (void)unused;
    enum { DEPTH = (1 << 24) / (255 * 127) };
    static const size_t depths[] = {DEPTH - 1, DEPTH, DEPTH + 1, DEPTH + 9, 2 * DEPTH + 7};
    for (size_t i = 0; i < UNIT_COUNT(depths); i++)
        for (int transposed = 0; transposed < 2; transposed++) {
            window p = codes;
            p.peaks = true;
            set_image(&p.e, 3, 19, 1);
            set_channels(&p.e, 2, depths[i], 3);
            p.e.transposed = transposed;
            check_window(&p, i);
        }
}

// The phases of a transposed convolution are sums of their own: together they exceed 2^24.
static void sums_of_each_phase_are_exact(void **unused) {
    (void)unused;
    for (int64_t stride = 1; stride < 7; stride++) {
        window p = codes;
        p.peaks = true;
        set_image(&p.e, 6, 7, 3);
        set_channels(&p.e, 1, 130, 2);
        p.e.transposed = true, p.e.strides[0] = p.e.strides[1] = stride;
        check_window(&p, (uint64_t)stride);
    }
}

static void groups_of_codes_with_many_outputs_are_exact(void **unused) {
    (void)unused;
    static const size_t outputs[] = {QDQ_CONV_LANES_OUTPUTS,       QDQ_DIRECT_OUTPUTS - 1,
                                     QDQ_DIRECT_OUTPUTS + 1,       QDQ_DIRECT_CODES_OUTPUTS - 1,
                                     QDQ_DIRECT_CODES_OUTPUTS,     2 * QDQ_DIRECT_OUTPUTS + 5,
                                     QDQ_DIRECT_TRANSPOSED_OUTPUTS};
    for (size_t i = 0; i < 2 * UNIT_COUNT(outputs); i++) {
        window p = codes;
        p.blocks = i % 3 ? PER_COLUMN : PER_TENSOR;
        set_image(&p.e, 9, 21, 3);
        set_channels(&p.e, 1 + (int64_t)(i / 2 % 3), 11, outputs[i / 2]);
        p.e.strides[1] = 1 + (int64_t)(i % 3), p.e.begin[0] = p.e.end[1] = 1;
        p.e.transposed = i % 2, p.e.batch = 1 + (int64_t)(i % 2);
        check_window(&p, i);
    }
}

// Windows that keep the width of an image, from one column to more than planes without padding
// take.
static void narrow_images_are_exact(void **unused) {
    (void)unused;
    uint64_t turn = 0;
    for (size_t v = 0; v < UNIT_COUNT(kinds); v++)
        for (int64_t width = 1; width <= QDQ_DIRECT_FLAT_WIDTH + 2; width++, turn++) {
            static const int64_t kernels[] = {3, 5, 1, 2, 7};
            window p = kinds[v];
            int64_t kernel = kernels[turn % 5], dilation = 1 + (int64_t)(turn % 7 == 3);
            int64_t reach = (kernel - 1) * dilation, begin = turn % 3 == 2 ? reach : reach / 2;
            set_dims(&p.e, 2, (int64_t[]){1 + (int64_t)(turn * 5 % 17), width},
                     (int64_t[]){turn % 4 ? 3 : 2, kernel});
            set_channels(&p.e, QDQ_DIRECT_CHANNELS + 1 + (int64_t)(turn % 3), 1, 1);
            p.e.begin[0] = p.e.end[0] = 1, p.e.dilations[1] = dilation;
            p.e.begin[1] = begin, p.e.end[1] = reach - begin;
            check_window(&p, turn);
        }
}

// Three bands of rows, groups with several channels, several planes under a window.
static void bands_and_groups_of_narrow_images_are_exact(void **unused) {
    (void)unused;
    enum { WIDTH = QDQ_DIRECT_FLAT_WIDTH, ROWS = 2 * QDQ_DIRECT_SUMS / WIDTH + 7 };
    for (size_t i = 0; i < 3 * UNIT_COUNT(kinds); i++) {
        bool deep = i % 3 == 2 && !large_is_integer(kinds[i / 3].kind);
        window p = kinds[i / 3];
        set_image(&p.e, i % 3 ? 11 : ROWS, i % 3 ? 13 : WIDTH, 3);
        set_channels(&p.e, 3, i % 3 ? 2 * QDQ_DIRECT_PLANES / (13 * 13 * 3) + 3 : 1,
                     i % 3 == 1 ? QDQ_CONV_LANES_OUTPUTS - 1 : 1);
        if (deep) {  // one plane under the window at the border, three inside
            set_dims(&p.e, 3, (int64_t[]){4, 9, 14}, (int64_t[]){3, 3, 3});
            set_channels(&p.e, 19, 1, 1);
            p.e.begin[2] = p.e.end[2] = 1;
        }
        p.e.begin[0] = p.e.begin[1] = p.e.end[0] = p.e.end[1] = 1;
        if (deep) p.e.begin[0] = p.e.end[0] = 2;
        check_window(&p, i);
    }
}

// Rows that end in each place of a vector, without and with a stride.
static void strides_of_rows_of_every_width_are_exact(void **unused) {
    (void)unused;
    for (size_t v = 0; v < UNIT_COUNT(kinds); v++)
        for (int64_t width = 1; width < 72; width++) {
            window p = kinds[v];
            int64_t kernel = width % 5 == 1 ? 5 : 3;
            set_dims(&p.e, 2, (int64_t[]){5, width}, (int64_t[]){3, kernel});
            set_channels(&p.e, 5, 1, 1);
            p.e.strides[0] = 1 + width % 2, p.e.strides[1] = 1 + (width + 1) / 2 % 3;
            p.e.begin[0] = p.e.begin[1] = p.e.end[0] = 1, p.e.end[1] = kernel - 1;
            p.e.batch = 1 + width % 2;
            check_window(&p, (uint64_t)width);
        }
}

// Square windows, which take x where it lies, around all counts of vectors in a row, and with sums
// of 0 and bands of rows.
static void square_windows_of_every_width_are_exact(void **unused) {
    (void)unused;
    enum { ROWS = 2 * QDQ_DIRECT_RESULTS / 40 + 3 };
    for (size_t v = 0; v < UNIT_COUNT(kinds); v++)
        for (int64_t width = 1; width < 72; width++) {
            window p = kinds[v];
            int64_t kernel = 3 + width / 2 % 2 * 2, stride = 1 + width % 2;
            set_image(&p.e, width == 40 ? ROWS : 5 + width % 4, width, kernel);
            set_channels(&p.e, width == 40 ? 2 : 5, 1, 1);
            p.e.strides[0] = p.e.strides[1] = stride;
            p.e.begin[0] = p.e.begin[1] = p.e.end[0] = kernel / 2, p.e.end[1] = kernel - 1;
            p.e.batch = 1 + width % 2;
            check_window(&p, (uint64_t)width);
        }
}

// Codes of depthwise windows that a Quantize turns into codes: rows of y that follow each other as
// one, and rows in parts of 16, 32 and 64 codes, with windows that begin and end at every distance
// from the border, and images in bands.
static void depthwise_codes_become_codes(void **unused) {
    (void)unused;
    enum { ROWS = 2 * QDQ_DIRECT_RESULTS / 70 + 3 };
    static const qdq_dtype dtypes[] = {U8, I8};
    for (int64_t width = 1; width <= 2 * QDQ_DEPTHWISE_GROUP + 13; width += 1 + width / 40)
        for (uint64_t turn = 0; turn < 4; turn++) {
            window p = codes;
            int64_t size = turn & 1 ? 5 : 3, stride = turn & 2 ? 2 : 1;
            uint64_t seed = (uint64_t)width * 4 + turn;
            p.x = dtypes[width % 2], p.zeros = width % 3;
            p.blocks = width % 5 ? PER_COLUMN : PER_TENSOR;
            set_image(&p.e, width % 16 == 7 ? ROWS : 1 + width % 9, width, size);
            set_channels(&p.e, width % 16 == 7 ? 3 : 7 + width % 3, 1, 1);
            p.e.strides[0] = p.e.strides[1] = stride;
            for (int d = 0; d < 2; d++) {
                p.e.begin[d] = (width / 2 + d) % (size + 1), p.e.end[d] = size / 2;
                if (width % 4 == 0) p.e.begin[d] = p.e.end[d] = size / 2;
                if (width + p.e.begin[d] < size) p.e.end[d] = size - 1;
            }
            if (p.e.in[0] < size) p.e.begin[0] = p.e.end[0] = size - 1;
            check_window(&p, 5 * seed + 1 + 2 * (seed % 2));
        }
}

// Phases of y with as many inputs as planes have room for, and one more or less; one to three rows.
static void phases_share_the_planes_of_all_inputs(void **unused) {
    (void)unused;
    enum { WIDTH = 50 };
    for (size_t i = 0; i < 9 * (UNIT_COUNT(kinds) - 1); i++) {  // QLinearConv is last
        window p = kinds[i / 9];
        set_image(&p.e, 7, WIDTH, 2);
        set_channels(&p.e, 1, QDQ_DIRECT_PLANES / WIDTH / (i % 3 + 1) + i / 3 % 3 - 1, 1);
        p.e.strides[0] = p.e.strides[1] = 2, p.e.transposed = true;
        check_window(&p, i);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_the_greatest_codes_are_exact),
        cmocka_unit_test(sums_of_each_phase_are_exact),
        cmocka_unit_test(narrow_images_are_exact),
        cmocka_unit_test(bands_and_groups_of_narrow_images_are_exact),
        cmocka_unit_test(strides_of_rows_of_every_width_are_exact),
        cmocka_unit_test(square_windows_of_every_width_are_exact),
        cmocka_unit_test(depthwise_codes_become_codes),
        cmocka_unit_test(phases_share_the_planes_of_all_inputs),
        cmocka_unit_test(groups_of_codes_with_many_outputs_are_exact),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
