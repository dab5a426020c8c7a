// SPDX-License-Identifier: Apache-2.0
// Every kernel copies lines of x to the columns of panels, or zeros where a mask has no bit.
#include "tests/ops/kernels/gemm_parts.h"

enum { LINES = 37, LINE_TAPS = 5, LINES_ROOM = 300, LINE_PANELS = 3 };

// Panels of columns that lie next to each other (`kind` 0), anywhere, or one or two apart in some
// of the eights, with masks that have no bit for what lies outside of x.
typedef struct lines_case {
    float x[LINES_ROOM], out[LINE_PANELS][LINES * COLUMNS];
    size_t offsets[LINES], tap;
    int32_t at[LINE_PANELS][COLUMNS];
    uint8_t steps[LINE_PANELS][COLUMNS / QDQ_GEMM_STEPPED];
    uint32_t masks[LINE_PANELS][LINE_TAPS];
    qdq_gemm_lines_panel panels[LINE_PANELS];
} lines_case;

static size_t line_at(const lines_case *c, size_t p, size_t k, size_t j) {
    return c->panels[p].base + c->offsets[k] + (c->panels[p].at ? (size_t)c->at[p][j] : j);
}

static void set_columns(lines_case *c, size_t p, size_t kind, uint64_t *seed) {
    for (size_t i = 0; i < COLUMNS / QDQ_GEMM_STEPPED; i++) {
        size_t step = kind == 1 ? 0 : unit_random(seed) % 3, first = unit_random(seed) % 80;
        c->steps[p][i] = (uint8_t)step;
        for (size_t j = 0; j < QDQ_GEMM_STEPPED; j++)
            c->at[p][i * QDQ_GEMM_STEPPED + j] =
                (int32_t)(step ? first + j * step : unit_random(seed) % 99);
    }
    if (kind != 2 || unit_random(seed) % 2) return;
    for (size_t j = 0; j < COLUMNS; j++) {  // rows of 16 columns, two apart
        c->steps[p][j / QDQ_GEMM_STEPPED] = 2;
        c->at[p][j] = (int32_t)(j % 16 * 2 + j / 16 * 45);
    }
}

static void set_lines(lines_case *c, size_t round, uint64_t *seed) {
    c->tap = round % LINE_TAPS;
    for (size_t j = 0; j < LINES_ROOM; j++) c->x[j] = number(seed);
    for (size_t k = 0; k < LINES; k++)
        c->offsets[k] = round % 4 > 1 ? 50 + unit_random(seed) % (LINES_ROOM - 160)
                                      : unit_random(seed) % LINES_ROOM;
    for (size_t p = 0; p < LINE_PANELS; p++) {
        size_t kind = (round + p) % 3;
        set_columns(c, p, kind, seed);
        for (size_t t = 0; t < LINE_TAPS; t++)
            c->masks[p][t] = t % 2 ? ~0U : (uint32_t)unit_random(seed);
        c->panels[p] = (qdq_gemm_lines_panel){p * 7 - 40, kind ? c->at[p] : NULL, c->steps[p],
                                              c->masks[p], c->out[p]};
        for (size_t k = 0; k < LINES; k++)
            for (size_t j = 0; j < COLUMNS; j++)
                if (line_at(c, p, k, j) >= LINES_ROOM)
                    c->masks[p][(c->tap + k) % LINE_TAPS] &= ~(1U << j);
    }
}

static void lines_are_elements_or_zeros(void **state) {
    static lines_case c;
    uint64_t seed = 10;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t round = 0; round < 200 * count; round++) {
        const qdq_gemm_kernel *kernel = &kernels[round % count];
        if (!(qdq_cpu_isas() >> kernel->isa & 1)) continue;
        set_lines(&c, round / count, &seed);
        kernel->lines(
            &(qdq_gemm_lines){c.x, c.offsets, c.tap, LINE_TAPS, LINES, c.panels, LINE_PANELS});
        for (size_t p = 0; p < LINE_PANELS; p++)
            for (size_t k = 0; k < LINES; k++) {
                uint32_t mask = c.masks[p][(c.tap + k) % LINE_TAPS];
                float expected[COLUMNS];
                for (size_t j = 0; j < COLUMNS; j++)
                    expected[j] = mask >> j & 1 ? c.x[line_at(&c, p, k, j)] : 0;
                check_same(kernel->name, expected, c.out[p] + k * COLUMNS, sizeof expected);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_elements_or_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
