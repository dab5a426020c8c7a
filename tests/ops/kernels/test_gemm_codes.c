// SPDX-License-Identifier: Apache-2.0
// The gemm kernels of convolutions of codes on every instruction set against plain loops: tiles,
// lines that begin before x or end after it, and runs of positions with strides.
#include "tests/ops/kernels/gemm_parts.h"

// int8_t times codes, which a kernel takes as uint8_t or int8_t.
static int64_t codes_of(uint32_t a, uint32_t b) { return fours_of(b, a); }
static int64_t signed_codes_of(uint32_t a, uint32_t b) {
    int64_t sum = 0;
    for (int i = 0; i < 4; i++) sum += (int64_t)(int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i);
    return sum;
}

static void tiles_of_codes_are_exact(void **state) {
    static work w;
    uint64_t seed = 11;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1) || !kernels[i].part[QDQ_GEMM_CODES]) continue;
        for (size_t round = 0; round < 3 * ROWS; round++) {
            fill(&w, &seed, any_word, round % 2 ? end_word : any_word);
            check_integers(&w, &kernels[i], QDQ_GEMM_CODES, round,
                           kernels[i].signs_codes ? signed_codes_of : codes_of);
        }
    }
}

static void rows_of_codes_start_from_sums_of_their_own(void **state) {
    static work w;
    uint64_t seed = 12;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1) || !kernels[i].part[QDQ_GEMM_CODES]) continue;
        for (size_t round = 0; round < 3 * ROWS; round++) {
            int32_t starts[ROWS];
            fill(&w, &seed, any_word, any_word);
            for (size_t r = 0; r < ROWS; r++) starts[r] = (int32_t)any_word(&seed);
            qdq_gemm_part p = part_of(&w, round, w.c[0]);
            p.start = NULL;
            for (size_t r = 0; r < p.rows; r++)
                for (size_t j = 0; j < COLUMNS; j++) w.c[0][r * STRIDE + j] = (uint32_t)starts[r];
            kernels[i].part[QDQ_GEMM_CODES](&p);
            p.c = w.c[1], p.row_start = starts;
            p.ahead = w.b, p.ahead_bytes = round * 100;  // changes no sum
            kernels[i].part[QDQ_GEMM_CODES](&p);
            for (size_t r = 0; r < p.rows; r++)
                check_same(kernels[i].name, w.c[0] + r * STRIDE, w.c[1] + r * STRIDE,
                           COLUMNS * sizeof w.c[0][0]);
        }
    }
}

// The other columns may have any sums.
static void halves_of_codes_are_the_first_columns(void **state) {
    static work w;
    uint64_t seed = 15;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1) || !kernels[i].part[QDQ_GEMM_CODES]) continue;
        for (size_t round = 0; round < 3 * ROWS; round++) {
            fill(&w, &seed, any_word, round % 2 ? end_word : any_word);
            qdq_gemm_part p = part_of(&w, round, w.c[0]);
            kernels[i].part[QDQ_GEMM_CODES](&p);
            p.c = w.c[1], p.half = true;
            kernels[i].part[QDQ_GEMM_CODES](&p);
            for (size_t r = 0; r < p.rows; r++)
                check_same(kernels[i].name, w.c[0] + r * STRIDE, w.c[1] + r * STRIDE,
                           COLUMNS / 2 * sizeof w.c[0][0]);
        }
    }
}

// A column apart, with zeros from its last step to a multiple of 64 bytes.
static void take_column(const work *w, size_t steps, size_t j, uint32_t *column) {
    for (size_t k = 0; k < steps; k++) column[k] = w->b[k * COLUMNS + j];
    for (size_t k = steps; k % 16; k++) column[k] = 0;
}

static void few_columns_are_dot_products(void **state) {
    enum { FEW = 5 };
    static work w;
    static _Alignas(64) uint32_t columns[FEW][STEPS];
    uint64_t seed = 16;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1) || !kernels[i].code_columns) continue;
        for (size_t round = 0; round < 3 * ROWS; round++) {
            int32_t starts[ROWS];
            fill(&w, &seed, round % 2 ? end_word : any_word, any_word);
            for (size_t r = 0; r < ROWS; r++) starts[r] = (int32_t)any_word(&seed);
            qdq_gemm_part p = part_of(&w, round, w.c[0]);
            p.start = NULL, p.row_start = round % 3 ? starts : NULL;
            qdq_gemm_code_columns few = {.a = w.a,
                                         .b = columns,
                                         .row_start = p.row_start,
                                         .c = (int32_t *)w.c[1],
                                         .c_stride = STRIDE,
                                         .rows = p.rows,
                                         .columns = 1 + round % FEW,
                                         .steps = p.steps};
            for (size_t j = 0; j < few.columns; j++) take_column(&w, p.steps, j, columns[j]);
            kernels[i].part[QDQ_GEMM_CODES](&p);
            kernels[i].code_columns(&few);
            for (size_t r = 0; r < p.rows; r++) {
                check_same(kernels[i].name, w.c[0] + r * STRIDE, w.c[1] + r * STRIDE,
                           few.columns * sizeof w.c[0][0]);
                check_same(kernels[i].name, w.c[2] + r * STRIDE + few.columns,
                           w.c[1] + r * STRIDE + few.columns, sizeof w.c[0][0]);
            }
        }
    }
}

enum { CODE_LINES = 37, CODE_TAPS = 5, CODE_ROOM = 300, CODE_BASE = 40 };

// Random lines of which some begin before x or end after it.
static qdq_gemm_code_lines random_lines(uint64_t *seed, uint8_t *x, size_t *offsets,
                                        uint32_t *masks) {
    qdq_gemm_code_lines l = {.x = x,
                             .size = CODE_ROOM,
                             .base = (size_t)0 - CODE_BASE,
                             .offsets = offsets,
                             .masks = masks,
                             .tap = unit_random(seed) % CODE_TAPS,
                             .taps = CODE_TAPS,
                             .n = 1 + unit_random(seed) % CODE_LINES,
                             .pad = (uint8_t)any_word(seed),
                             .flip = unit_random(seed) % 2 ? 0x80 : 0,
                             .zero = (int16_t)(unit_random(seed) % 256)};
    for (size_t j = 0; j < CODE_ROOM; j++) x[j] = (uint8_t)any_word(seed);
    for (size_t t = 0; t < CODE_TAPS; t++) masks[t] = any_word(seed);
    masks[unit_random(seed) % CODE_TAPS] = ~0U;
    for (size_t k = 0; k < CODE_LINES; k++) {
        uint32_t *mask = &masks[(l.tap + k) % CODE_TAPS];
        offsets[k] = unit_random(seed) % (CODE_ROOM + CODE_BASE);
        if (*mask == ~0U) offsets[k] = CODE_BASE + unit_random(seed) % (CODE_ROOM - COLUMNS);
        for (size_t j = 0; j < COLUMNS; j++)
            if (l.base + offsets[k] + j >= CODE_ROOM) *mask &= ~(1U << j);
    }
    return l;
}

static void check_lines(const qdq_gemm_kernel *kernel, uint64_t *seed) {
    uint8_t x[CODE_ROOM], bytes[CODE_LINES * 4 * COLUMNS];
    int16_t pairs[CODE_LINES * 2 * COLUMNS];
    size_t offsets[CODE_LINES];
    uint32_t masks[CODE_TAPS];
    qdq_gemm_code_lines l = random_lines(seed, x, offsets, masks);
    l.out = bytes;
    kernel->byte_lines(&l);
    l.out = pairs;
    kernel->pair_lines(&l);
    for (size_t k = 0; k < l.n; k++)
        for (size_t j = 0; j < COLUMNS; j++) {
            bool there = masks[(l.tap + k) % CODE_TAPS] >> j & 1;
            uint8_t code = (there ? x[l.base + offsets[k] + j] : l.pad) ^ l.flip;
            assert_int_equal(bytes[(k / 4 * COLUMNS + j) * 4 + k % 4], code);
            assert_int_equal(pairs[(k / 2 * COLUMNS + j) * 2 + k % 2], code - l.zero);
        }
}

static void lines_of_codes_are_codes_or_padding(void **state) {
    uint64_t seed = 13;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (int round = 0; qdq_cpu_isas() >> kernels[i].isa & 1 && round < 300; round++)
            check_lines(&kernels[i], &seed);
}

// Columns from two stretches, of which some begin before x or end after it.
static void check_picked(const qdq_gemm_kernel *kernel, uint64_t *seed) {
    uint8_t x[CODE_ROOM], bytes[CODE_LINES * 4 * COLUMNS], from[COLUMNS];
    size_t offsets[CODE_LINES], at[COLUMNS];
    uint32_t masks[CODE_TAPS];
    qdq_gemm_code_lines l = random_lines(seed, x, offsets, masks);
    l.from = from, l.second = unit_random(seed) % CODE_ROOM, l.out = bytes;
    for (size_t j = 0; j < COLUMNS; j++) {
        from[j] = (uint8_t)(unit_random(seed) % 128);
        at[j] = from[j] < 64 ? from[j] : l.second + from[j] - 64;
    }
    for (size_t k = 0; k < l.n; k++)
        for (size_t j = 0; j < COLUMNS; j++)
            if (l.base + offsets[k] + at[j] >= CODE_ROOM)
                masks[(l.tap + k) % CODE_TAPS] &= ~(1U << j);
    kernel->picked_lines(&l);
    for (size_t k = 0; k < l.n; k++)
        for (size_t j = 0; j < COLUMNS; j++) {
            bool there = masks[(l.tap + k) % CODE_TAPS] >> j & 1;
            uint8_t code = (there ? x[l.base + offsets[k] + at[j]] : l.pad) ^ l.flip;
            assert_int_equal(bytes[(k / 4 * COLUMNS + j) * 4 + k % 4], code);
        }
}

static void picked_codes_are_codes_or_padding(void **state) {
    uint64_t seed = 17;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1) || !kernels[i].picked_lines) continue;
        for (int round = 0; round < 600; round++) check_picked(&kernels[i], &seed);
    }
}

// Runs of 1 to 70 positions with strides of 1 to 3, of which some lie in rows beyond the border and
// some positions beyond the ends of their row.
static void check_runs(const qdq_gemm_kernel *kernel, uint64_t *seed) {
    enum { RUNS = 3, WIDTH = 250, HEIGHT = 4, MOST = 70 };
    uint8_t x[HEIGHT * WIDTH], out[RUNS * MOST + COLUMNS];
    size_t stride = 1 + unit_random(seed) % 3, pad = unit_random(seed) % 4, column = 0;
    size_t step = unit_random(seed) % 2, tap = unit_random(seed) % 5;
    qdq_gemm_run runs[RUNS];
    qdq_gemm_code_runs r = {.x = x,
                            .size = sizeof x,
                            .offset = step * WIDTH + tap,
                            .stride = stride,
                            .runs = runs,
                            .count = RUNS,
                            .step = {step, 0},
                            .in = {HEIGHT, 1},
                            .pad = 77,
                            .out = out};
    r.begin = pad > tap ? (pad - tap + stride - 1) / stride : 0;
    r.end = (WIDTH + pad - tap - 1) / stride + 1;
    for (size_t j = 0; j < sizeof x; j++) x[j] = (uint8_t)any_word(seed);
    for (size_t i = 0; i < RUNS; i++) {
        size_t y = unit_random(seed) % (HEIGHT + 1) - 1, n = 1 + unit_random(seed) % MOST;
        size_t most = (WIDTH + pad) / stride - n + 1;
        size_t first = unit_random(seed) % 2 ? unit_random(seed) % most : most - 1;
        runs[i] = (qdq_gemm_run){y * WIDTH - pad, {y, 0}, first, n, column};
        column += n;
    }
    kernel->code_runs(&r);
    for (size_t i = 0; i < RUNS; i++)
        for (size_t p = 0; p < runs[i].n; p++) {
            size_t row = runs[i].index[0] + step;
            size_t at = (runs[i].first + p) * stride + tap - pad;
            uint8_t expected = row < HEIGHT && at < WIDTH ? x[row * WIDTH + at] : 77;
            assert_int_equal(out[runs[i].column + p], expected);
        }
}

static void runs_of_codes_are_codes_or_padding(void **state) {
    uint64_t seed = 14;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (int round = 0; qdq_cpu_isas() >> kernels[i].isa & 1 && round < 600; round++)
            check_runs(&kernels[i], &seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_codes_are_exact),
        cmocka_unit_test(rows_of_codes_start_from_sums_of_their_own),
        cmocka_unit_test(halves_of_codes_are_the_first_columns),
        cmocka_unit_test(few_columns_are_dot_products),
        cmocka_unit_test(lines_of_codes_are_codes_or_padding),
        cmocka_unit_test(picked_codes_are_codes_or_padding),
        cmocka_unit_test(runs_of_codes_are_codes_or_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
