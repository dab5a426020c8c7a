// SPDX-License-Identifier: Apache-2.0
// Convolutions larger than every block, k block and panel, and random ones: test_large_convolutions
// [COUNT [SEED]].
#include "ops/conv/direct/conv_direct.h"
#include "tests/ops/products/run_convolutions.h"

enum {
    COLUMNS = QDQ_GEMM_COLUMNS,
    ROWS = QDQ_GEMM_ROWS,
    BLOCK_ROWS = QDQ_GEMM_BLOCK_ROWS,
    BLOCK_COLUMNS = QDQ_GEMM_BLOCK_COLUMNS,
    K_BLOCKS = QDQ_GEMM_K_BLOCKS,
};

static const window variants[] = {
    WINDOW_OF_FLOATS,
    {.name = "float16", .x = F16, .w = F16, .real = F16, .size = 4},
    {.name = "bfloat16", .x = BF16, .w = BF16, .real = BF16, .size = 2},
    {.name = "ConvInteger of bytes", .kind = INTEGERS, .x = U8, .w = I8, .size = 1, .wide = true},
    {.name = "ConvInteger",
     .kind = INTEGERS,
     .x = I8,
     .w = U8,
     .size = 2,
     .blocks = PER_COLUMN,
     .zeros = true,
     .wide = true},
    {.name = "QLinearConv",
     .kind = QLINEAR,
     .x = U8,
     .w = I8,
     .size = 2,
     .blocks = PER_COLUMN,
     .zeros = true,
     .wide = true},
    WINDOW_OF_BYTES,
    // clang-format off
    {.name = "codes, int4", .kind = CODES, .x = I8, .w = QDQ_INT4, .real = F32, .size = 1,
     .zeros = true},
    WINDOW_OF_INT8_WEIGHTS,
    {.name = "uint8 weights", .kind = WEIGHTS, .x = F32, .w = U8, .real = F32, .size = 4,
     .blocks = PER_COLUMN, .zeros = true},
    // clang-format on
    {.name = "int4 weights",
     .kind = WEIGHTS,
     .x = BF16,
     .w = QDQ_INT4,
     .real = BF16,
     .size = 2,
     .blocks = PER_BLOCK,
     .zeros = true},
};

//---- Shapes around the block sizes ------------------------------------------

enum {
    SHAPES = 26,
    LANES_SHAPE = 6,
    LAST_LANES_SHAPE = 11,
    PANELS_SHAPE = 14,
    IN_PLACE_SHAPE = 20,
    DIRECT_SHAPE = 22
};

// Positions, k and output channels cross their block sizes twice.
static void set_product_shape(window *p, int shape) {
    example *e = &p->e;
    size_t k_block = QDQ_GEMM_ROW_BYTES / p->size, many = 2 * BLOCK_COLUMNS + COLUMNS + 1;
    set_image(e, 9, 12, 3);
    set_channels(e, 1, 2 * k_block / 9 + 2, many);
    if (shape == 0) e->begin[0] = e->begin[1] = e->end[0] = e->end[1] = 1;
    if (shape == 1) {  // 1x1 kernels with a B that exceeds the cache
        set_image(e, 9, 12, 1);
        set_channels(e, 1, QDQ_GEMM_CACHE_BYTES / (p->size * (many / COLUMNS + 1) * COLUMNS) + 3,
                     many);
    } else if (shape == 2) {  // a stride of 2
        set_image(e, 19, 23, 1);
        set_channels(e, 1, 2 * k_block + 3, COLUMNS + 1);
        e->strides[0] = e->strides[1] = 2;
    } else if (shape == 3) {  // many taps, and padding wider than the strides
        set_image(e, 23, 25, 9);
        set_channels(e, 1, 3, COLUMNS + 9);
        e->begin[0] = e->end[1] = 7, e->end[0] = e->begin[1] = 5, e->dilations[1] = 2;
    } else if (shape == 4) {  // groups
        set_image(e, 22, 13, 3);
        set_channels(e, 3, 2 * QDQ_CONV_PART / 9 + 2, COLUMNS + 3);
        e->strides[0] = 2, e->begin[0] = e->end[1] = 1, e->batch = 2;
    } else if (shape == 5) {  // more k blocks than the row buffer holds
        set_image(e, 5, 11, 3);
        set_channels(e, 1, (K_BLOCKS + 1) * k_block / 9 + 1, COLUMNS + 1);
        e->begin[1] = e->end[1] = 1, e->batch = 2;
    } else if (shape == 12) {  // neighbours of one channel
        set_channels(e, 1, 1, COLUMNS + 1);
    } else if (shape == 13) {  // one channel under the window exceeds a part of a row
        set_image(e, 17, 18, 12);
        set_channels(e, 1, 5, COLUMNS + 1);
    }
}

// Dense float32 and codes whose positions are columns: positions, output channels, k and taps cross
// their sizes.
static void set_panels_shape(window *p, int shape) {
    enum { POSITIONS = 2 * QDQ_CONV_PANELS_POSITIONS };
    example *e = &p->e;
    set_image(e, 19, POSITIONS / 19 + 2, 3);
    set_channels(e, 1, 2 * QDQ_GEMM_ROW_BYTES / (9 * p->size) + 2, BLOCK_ROWS + 1);
    e->begin[0] = e->begin[1] = e->end[0] = e->end[1] = 1;
    if (shape == 15) {
        set_image(e, 9, 12, 2);  // three panels, so that a unit has more rows
        set_channels(e, 2, 5, 2 * 9 * QDQ_CONV_PANELS_ROWS / 5 + 13);
        e->batch = 2, e->dilations[1] = 3;
    } else if (shape == 16) {
        set_dims(e, 2, (int64_t[]){23, 37}, (int64_t[]){8, QDQ_CONV_PANELS_TAPS / 8});
        set_channels(e, 1, 2, 9);
        e->strides[0] = e->strides[1] = 2, e->begin[0] = e->end[1] = 7;
    } else if (shape == 17) {  // strides, whose lines of codes are staged together
        set_image(e, 45, 47, 3);
        set_channels(e, 1, 2 * QDQ_CONV_PANELS_STAGED / 9 + 1, 2 * ROWS + 5);
        e->strides[0] = 2, e->strides[1] = 2, e->batch = 2, e->begin[1] = e->end[0] = 1;
    } else if (shape == 18) {  // rows of one position and a stride of 3; the fewest positions
        set_image(e, 2 * POSITIONS + 9, 5, 3), set_channels(e, 2, 3, ROWS + 1);
        e->strides[0] = 2, e->strides[1] = 3, e->begin[0] = 2;
    } else if (shape >= IN_PLACE_SHAPE) {  // 1x1, with the most outputs that read panels in x
        size_t k_block = QDQ_GEMM_ROW_BYTES / p->size;
        set_image(e, 19, POSITIONS / 19 + 2, 1);
        bool many = shape > IN_PLACE_SHAPE;
        set_channels(e, many ? 1 : 2, 2 * k_block + 3, QDQ_CONV_PANELS_IN_PLACE + many);
        e->batch = 1 + many, e->begin[0] = e->begin[1] = e->end[0] = e->end[1] = 0;
    } else if (shape > 18 && large_is_integer(p->kind)) {
        set_image(e, 3, QDQ_CONV_PANELS_LEAST_CODES / 3, 1), set_channels(e, 1, 70, COLUMNS + 5);
    } else if (shape > 18) {
        set_dims(e, 3, (int64_t[]){7, 6, 19}, (int64_t[]){2, 3, 3});
        set_channels(e, 1, 9, COLUMNS + 5);
        e->begin[0] = e->begin[2] = e->end[0] = e->end[1] = 1;
    }
}

// Groups with few output channels.
static void set_lanes_shape(window *p, int shape) {
    example *e = &p->e;
    set_image(e, 23, 27, 3);
    e->begin[0] = e->begin[1] = e->end[0] = e->end[1] = 1;
    if (shape == 6) set_channels(e, 2 * COLUMNS + 5, 1, 1);
    if (shape == 7) {  // k exceeds two parts
        set_image(e, 9, 15, 3);
        set_channels(e, 11, 2 * QDQ_CONV_LANES_DEPTH / 9 + 2, QDQ_CONV_LANES_OUTPUTS - 1);
        e->batch = 2, e->begin[1] = 1;
    } else if (shape == 8) {  // k at the limit for sums of codes that are exact as floats
        set_image(e, 14, 45, 3);
        set_channels(e, 5, 28, QDQ_CONV_LANES_OUTPUTS - 1);
        e->begin[1] = e->end[1] = 2, e->dilations[1] = 2, e->batch = 2;
    } else if (shape == 9) {  // one line
        set_dims(e, 1, (int64_t[]){2 * BLOCK_COLUMNS + 77}, (int64_t[]){7});
        set_channels(e, 2 * COLUMNS + 3, 2, 1);
        e->begin[0] = 9, e->end[0] = 4;
    } else if (shape == 10) {
        set_dims(e, 3, (int64_t[]){5, 6, 17}, (int64_t[]){2, 3, 2});
        set_channels(e, COLUMNS + 3, 2, 2);
        e->begin[2] = e->end[1] = e->end[0] = 1, e->dilations[1] = 2;
    } else if (shape == 11) {  // the last tap always lies in the padding
        set_image(e, 7, 12, 3);
        set_channels(e, QDQ_DIRECT_CHANNELS + 3, 1, 1);
        e->begin[1] = 2, e->end[1] = 8, e->dilations[1] = 9;
    }
    if (!large_is_integer(p->kind) || e->spatial == 2) return;
    set_image(e, 14, 45, 2);
}

// Bands, blocks of input channels and units of output channels of direct convolutions.
static void set_direct_shape(window *p, int shape) {
    example *e = &p->e;
    int64_t width = 101, rows = 2 * QDQ_DIRECT_RESULTS / width + 2;
    if (shape == 22) {  // three bands of rows, and an odd stride
        set_image(e, rows, width, 3);
        set_channels(e, 2, 1, 1);
        e->begin[0] = e->end[1] = 1, e->strides[1] = 3;
    } else if (shape == 23) {  // bands of parts of rows
        set_image(e, 5, 2 * QDQ_DIRECT_RESULTS + 77, 2);
        set_channels(e, 2, 1, 1);
        e->begin[1] = e->end[1] = 1;
    } else if (shape == 24) {  // blocks of input channels, and more outputs than fit together
        set_image(e, 22, 26, 3);
        set_channels(e, 2, 2 * QDQ_DIRECT_PLANES / (22 * 26) + 3, 2 * QDQ_DIRECT_OUTPUTS + 5);
        e->strides[0] = 2, e->strides[1] = 2, e->begin[0] = 1, e->end[1] = 1;
    } else {  // positions that end in each place of a vector, and strides wider than the window
        set_image(e, 19, 43, 2);
        set_channels(e, QDQ_DIRECT_CHANNELS + 1, 2, 3);
        e->strides[0] = 3, e->strides[1] = 2, e->dilations[1] = 3, e->batch = 2;
    }
}

static void set_layout(window *p, size_t choice) {
    p->e.format = choice & 1 ? QDQ_NXC : QDQ_NCX;
    p->e.spatial_last = choice >> 1 & 1;
    p->e.transposed = choice >> 2 & 1;
    if (large_is_integer(p->kind))
        p->e.format = QDQ_NCX, p->e.spatial_last = true, p->e.transposed = false;
}

// Direct convolutions are tested on float32, panels on codes and on bytes of weights as well.
static int shapes_of(const window *p) {
    if (p == variants) return SHAPES;
    if (p->kind == WEIGHTS) return p->w == U8 ? DIRECT_SHAPE : PANELS_SHAPE;
    return large_is_integer(p->kind) || p->kind == CODES ? IN_PLACE_SHAPE : PANELS_SHAPE;
}

// Two layouts of each shape and kind; two modes of each instruction set, one of the portable
// kernels.
static void convolutions_cross_every_block_size(void **unused) {
    (void)unused;
    const char *isas[32];
    size_t isa_count = large_isas(isas), turn = 0;
    for (size_t v = 0; v < UNIT_COUNT(variants); v++)
        for (int shape = 0; shape < shapes_of(&variants[v]); shape++)
            for (size_t layout = 0; layout < (large_is_integer(variants[v].kind) ? 1 : 3);
                 layout++) {
                if (unit_left_out((v * SHAPES + (size_t)shape) * 3 + layout)) continue;
                uint64_t random = large_state(v * SHAPES + (size_t)shape);
                window p = variants[v];
                p.e.batch = 1, p.block = 5;
                bool lanes = shape >= LANES_SHAPE && shape <= LAST_LANES_SHAPE;
                bool direct = shape >= DIRECT_SHAPE, panels = shape >= PANELS_SHAPE;
                (direct   ? set_direct_shape
                 : panels ? set_panels_shape
                 : lanes  ? set_lanes_shape
                          : set_product_shape)(&p, shape);
                size_t transposed_gemm = (v + (size_t)shape) % 4;
                set_layout(&p, layout < 2 ? layout + transposed_gemm % 2 * 2 : 4 + transposed_gemm);
                set_link(&p, v + (size_t)shape + layout);
                make(&p, &random);
                for (size_t i = 0; i < isa_count; i++, turn++) {
                    run(&p, isas[i], large_ways[turn % LARGE_WAYS]);
                    if (i && layout < 2)
                        run(&p, isas[i], large_ways[(turn + LARGE_WAYS / 2) % LARGE_WAYS]);
                }
                destroy(&p);
            }
}

// Products of the greatest uint8 and pairs of the least and the greatest int8 exceed 16 bits.
static void pairs_at_the_ends_of_int8_do_not_saturate(void **unused) {
    (void)unused;
    const char *isas[32];
    enum { FAST_WAYS = 2 };
    static const large_way fast[FAST_WAYS] = {
        {.threads = 1, .fast = true, .constant = ~1u},
        {.threads = 3, .fast = true, .constant = ~1u},
    };
    size_t isa_count = large_isas(isas);
    for (size_t v = 0; v < UNIT_COUNT(variants); v++)
        for (int shape = PANELS_SHAPE; shape < IN_PLACE_SHAPE; shape++) {
            uint64_t random = large_state(v * SHAPES + (size_t)shape);
            window p = variants[v];
            if (p.kind != CODES || p.x != U8 || p.w != I8) continue;
            p.e.batch = 1, p.block = 5, p.ends = true;
            set_panels_shape(&p, shape);
            set_layout(&p, 2);
            make(&p, &random);
            for (size_t i = 0; i < isa_count * FAST_WAYS; i++)
                run(&p, isas[i / FAST_WAYS], fast[i % FAST_WAYS]);
            destroy(&p);
        }
}

// Positions that exceed 16 or 32 columns by 1 to 5, with k blocks and row blocks.
static void few_positions_beyond_a_panel_are_exact(void **unused) {
    (void)unused;
    static const int64_t images[][2] = {{7, 7},  {14, 14}, {1, 33}, {3, 12},
                                        {1, 50}, {11, 3},  {1, 85}};
    const char *isas[32];
    size_t isa_count = large_isas(isas);
    for (size_t v = 0; v < UNIT_COUNT(variants); v++)
        for (size_t image = 0; image < UNIT_COUNT(images); image++) {
            uint64_t random = large_state(v * 100 + image);
            window p = variants[v];
            if (p.kind != CODES || p.size != 1) continue;
            p.e.batch = 2, p.block = 5, p.ends = image % 2;
            set_image(&p.e, images[image][0], images[image][1], 3);
            set_channels(&p.e, 1, 2 * QDQ_GEMM_ROW_BYTES / 9 + 5, 2 * BLOCK_ROWS + 5);
            for (int d = 0; d < 2; d++) p.e.begin[d] = p.e.end[d] = 1;
            set_layout(&p, 2);
            set_link(&p, image);
            make(&p, &random);
            for (size_t i = 0; i < isa_count; i++)
                run(&p, isas[i],
                    (large_way){.threads = i % 2 ? 3 : 1, .fast = true, .constant = ~1u});
            destroy(&p);
        }
}

// Windows with many neighbouring elements are copied by loops of their own; others one by one.
static void windows_of_every_width_are_copied(void **unused) {
    (void)unused;
    for (size_t v = 0; v < UNIT_COUNT(variants); v++)
        for (int64_t width = 1; width < 10; width++) {
            uint64_t random = large_state(v * 10 + (size_t)width);
            window p = variants[v];
            p.e.batch = 1, p.block = 5;
            set_dims(&p.e, 2, (int64_t[]){9, 20}, (int64_t[]){2, width});
            set_channels(&p.e, 1, (size_t)(QDQ_CONV_PART / (2 * width) + 2), 9);
            p.e.strides[1] = 2, p.e.begin[1] = 1;
            set_layout(&p, 2);
            make(&p, &random);
            run(&p, qdq_isa_get(0).name, large_ways[1]);
            run(&p, NULL, large_ways[0]);
            destroy(&p);
        }
}

// In a transposed convolution groups follow each other along the dim that blocks of weights divide.
static void groups_may_begin_within_a_block_of_weights(void **unused) {
    (void)unused;
    for (int64_t block = 3; block < 12; block++) {
        uint64_t random = large_state((uint64_t)block);
        window p = variants[UNIT_COUNT(variants) - 1];
        p.e.batch = 1, p.block = block;
        set_image(&p.e, 5, 4, 2);
        set_channels(&p.e, 3, 11, COLUMNS + 3);
        set_layout(&p, 4 + (size_t)block % 4);
        make(&p, &random);
        run(&p, NULL, large_ways[2]);
        destroy(&p);
    }
}

//---- Random convolutions ----------------------------------------------------

static void set_random_window(example *e, uint64_t *state) {
    static const int64_t kernels[] = {1, 1, 2, 3, 3, 5, 7, 9};
    static const size_t positions[] = {QDQ_CONV_PART_ROWS, BLOCK_ROWS, BLOCK_COLUMNS};
    int64_t in[DIMS] = {0}, kernel[DIMS] = {0};
    int spatial = 1 + (int)large_pick(state, 3);
    for (int d = 0; d < spatial; d++) {
        bool last = d + 1 == spatial;
        kernel[d] = kernels[large_pick(state, spatial == 3 ? 5 : 8)];
        in[d] = last ? (int64_t)large_size(state, positions, spatial == 1 ? 3 : 2, 700)
                     : 1 + (int64_t)large_pick(state, 9);
    }
    set_dims(e, spatial, in, kernel);
    for (int d = 0; d < spatial; d++) {
        if (large_pick(state, 3) == 0) e->strides[d] = 1 + (int64_t)large_pick(state, 3);
        if (large_pick(state, 3) == 0) e->dilations[d] = 1 + (int64_t)large_pick(state, 3);
        int64_t reach = (kernel[d] - 1) * e->dilations[d];
        if (large_pick(state, 2)) {
            e->begin[d] = (int64_t)large_pick(state, (size_t)reach + 1);
            e->end[d] = (int64_t)large_pick(state, (size_t)reach + 1);
        }
        if (e->in[d] + e->begin[d] + e->end[d] <= reach) e->in[d] = reach + 1;
    }
}

static void set_random_channels(window *p, uint64_t *state) {
    enum { MOST = 4 << 20 };  // multiply-adds
    example *e = &p->e;
    size_t k_block = QDQ_GEMM_ROW_BYTES / p->size, taps = (size_t)window_volume(e->kernel);
    const size_t outputs[] = {QDQ_CONV_LANES_OUTPUTS, COLUMNS, BLOCK_COLUMNS, 1};
    const size_t depths[] = {QDQ_CONV_PART, k_block, K_BLOCKS * k_block};
    size_t groups[] = {1, 1, 2, 3, 1 + large_pick(state, 2 * COLUMNS + 9)};
    size_t count = groups[large_pick(state, 5)],
           volume = (size_t)window_volume(e->in) * taps * count;
    size_t in = 1 + large_size(state, depths, 3, (K_BLOCKS + 2) * k_block) / taps;
    size_t out = large_size(state, outputs, 4, 2 * BLOCK_COLUMNS + COLUMNS);
    if (count > 3) out = large_size(state, outputs, 1, COLUMNS), in = 1 + in % 40;
    e->batch = 1 + (int64_t)large_pick(state, 2);
    while (volume * in * out > MOST && in * out > 1) {
        bool less = large_pick(state, 2) && in > 1;
        *(less || out == 1 ? &in : &out) /= 2;
    }
    set_channels(e, (int64_t)count, in, out);
    p->block = 1 + (int64_t)large_pick(state, in);
}

static window random_window(uint64_t *state) {
    window p = variants[large_pick(state, UNIT_COUNT(variants))];
    p.zeros = large_pick(state, 2), p.wide = p.wide && large_pick(state, 2);
    if (p.kind != FLOATS) p.blocks = (large_blocks)large_pick(state, p.kind == WEIGHTS ? 3 : 2);
    do {
        set_random_window(&p.e, state);
    } while (large_is_integer(p.kind) && p.e.spatial != 2);
    set_random_channels(&p, state);
    set_layout(&p, large_pick(state, 4) + (large_pick(state, 3) ? 0 : 4));
    set_link(&p, large_pick(state, 12));
    if (!large_is_integer(p.kind) && large_pick(state, 5) == 0)
        p.e.auto_pad = large_pick(state, 2) ? QDQ_PAD_SAME_UPPER : QDQ_PAD_SAME_LOWER;
    for (int d = 0; p.e.transposed && d < p.e.spatial; d++)
        if (p.e.strides[d] > 1) p.e.extra[d] = (int64_t)large_pick(state, 2);
    return p;
}

// The pads of a transposed convolution may leave an empty result.
static bool has_result(const example *e) {
    int64_t begin[DIMS], out[DIMS];
    pads_and_sizes(e, begin, out);
    for (int d = 0; d < e->spatial; d++)
        if (out[d] < 1) return false;
    return true;
}

static void random_convolutions_are_exact(void **unused) {
    (void)unused;
    const char *isas[32];
    size_t isa_count = large_isas(isas);
    for (uint64_t i = 0; i < large_cases.count; i++) {
        uint64_t seed = large_cases.seed + i, state = large_state(seed);
        window p = random_window(&state);
        while (!has_result(&p.e)) p = random_window(&state);
        char name[100];
        snprintf(name, sizeof name, "QDQ_SEED=%llu QDQ_RANDOM=1: %s", (unsigned long long)seed,
                 p.name);
        p.name = name;
        make(&p, &state);
        for (int way = 0; way < 2; way++)
            run(&p, isas[large_pick(&state, isa_count)], large_random_way(&state));
        destroy(&p);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_cross_every_block_size),
        cmocka_unit_test(pairs_at_the_ends_of_int8_do_not_saturate),
        cmocka_unit_test(few_positions_beyond_a_panel_are_exact),
        cmocka_unit_test(windows_of_every_width_are_copied),
        cmocka_unit_test(groups_may_begin_within_a_block_of_weights),
        cmocka_unit_test(random_convolutions_are_exact),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
