// SPDX-License-Identifier: Apache-2.0
// Every kernel makes results of the sums of floats, by a plain loop in the order of
// ops/kernels/gemm/gemm.h: every number of rows and columns, sums of earlier chunks that a
// chain goes on from or that are added, and each operand there or not, with NaN, infinities and
// zeros of both signs. B is panels, or rows that lie evenly or anywhere. Tiles of rows may share
// rows of A.
#include "tests/ops/kernels/gemm_parts.h"

enum { APART = 2 * COLUMNS + 5 };  // from one row of B to another

typedef struct results_case {
    work w;  // a, b and c[2]: the sums before
    float apart[STEPS * APART];
    size_t apart_at[STEPS];
    float bias[ROWS], addend[ROWS * STRIDE], y[2][ROWS * STRIDE];
    qdq_bounds bounds;
} results_case;

static uint32_t word(uint64_t *seed) { return qdq_float_bits(number(seed)); }

// A number, or one that is not finite.
static float any_number(uint64_t *seed) {
    static const float odd[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN};
    uint64_t r = unit_random(seed) >> 8;
    return r % 16 ? number(seed) : odd[r / 16 % UNIT_COUNT(odd)];
}

static void fill_case(results_case *c, size_t round, uint64_t *seed) {
    static const qdq_bounds bounds[] = {
        {0, INFINITY, true}, {0, INFINITY, false}, {0, 6, false}, {-1, 0x1p-3f, false}};
    fill(&c->w, seed, word, word);
    for (size_t i = 0; i < UNIT_COUNT(c->apart); i++) c->apart[i] = number(seed);
    for (size_t k = 0; k < STEPS; k++) c->apart_at[k] = (k * 37 + round) % STEPS * APART + k % 5;
    for (size_t i = 0; i < ROWS; i++) c->bias[i] = round % 7 ? number(seed) : -0.0f;
    for (size_t i = 0; i < ROWS * STRIDE; i++) {
        c->addend[i] = any_number(seed);
        if (round % 3 == 0) c->w.c[2][i] = qdq_float_bits(any_number(seed));
        c->y[0][i] = c->y[1][i] = number(seed);
    }
    c->bounds = bounds[round / 2 % UNIT_COUNT(bounds)];
}

static qdq_gemm_results results_of(const results_case *c, size_t round) {
    bool apart = round / ROWS & 1, even = apart && round / ROWS & 2;
    size_t ways = (size_t)1 << round / 2 % 4, steps = round % 11 ? round % STEPS : 0;
    if (round % 5 == 0) steps = STEPS;
    while (steps * ways > STEPS) ways /= 2;
    bool two = apart || 2 * steps <= STEPS;  // panels
    return (qdq_gemm_results){.a = c->w.a,
                              .b = apart ? (const void *)c->apart : c->w.b,
                              .ways = ways == 1 ? round % 2 : ways,
                              .way = round / 3 % ways,
                              .b_step = even ? APART : COLUMNS,
                              .b_panel = apart ? COLUMNS : steps * COLUMNS,
                              .b_at = apart && !even ? c->apart_at : NULL,
                              .rows = round % ROWS + 1,
                              .columns = round * 5 % (two ? 2 * COLUMNS : COLUMNS) + 1,
                              .steps = steps,
                              .before = round % 4 ? (const float *)(const void *)c->w.c[2] : NULL,
                              .before_stride = STRIDE,
                              .adds = round & 1,
                              .bias = round / 3 & 1 ? c->bias : NULL,
                              .addend = round / 5 & 1 ? c->addend : NULL,
                              .addend_stride = 2 * COLUMNS + 3,
                              .bounds = round / 2 % 5 ? &c->bounds : NULL,
                              .y_stride = STRIDE - 1,
                              .ahead = c->w.c[2],
                              .ahead_bytes = round % 5 * sizeof c->w.c[2] / 4};
}

static float wanted(const qdq_gemm_results *p, size_t r, size_t j) {
    const float *a = (const float *)p->a;
    const float *b = (const float *)p->b + j / COLUMNS * p->b_panel + j % COLUMNS;
    size_t ways = p->ways ? p->ways : 1, tile = p->way + r / QDQ_GEMM_ROWS;
    a += (tile / ways * QDQ_GEMM_ROWS + r % QDQ_GEMM_ROWS) * STEPS + tile % ways * (STEPS / ways);
    float before = p->before ? p->before[r * p->before_stride + j] : 0;
    float sum = p->adds ? 0 : before;
    for (size_t k = 0; k < p->steps; k++)
        sum = fmaf(a[k], b[p->b_at ? p->b_at[k] : k * p->b_step], sum);
    if (p->adds && p->before) sum = before + sum;
    if (p->bias) sum = sum + p->bias[r];
    if (p->addend) sum = sum + p->addend[r * p->addend_stride + j];
    if (isnan(sum)) return qdq_float_from_bits(0x7FC00000);
    if (p->bounds && sum < p->bounds->least) sum = p->bounds->least;
    if (p->bounds && sum > p->bounds->most) sum = p->bounds->most;
    return p->bounds && p->bounds->no_minus && sum == 0 ? 0 : sum;
}

static void sums_become_results_in_order(void **state) {
    static results_case c;
    uint64_t seed = 21;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t round = 0; round < 8 * ROWS; round++) {
        fill_case(&c, round, &seed);
        qdq_gemm_results p = results_of(&c, round);
        for (size_t r = 0; r < p.rows; r++)
            for (size_t j = 0; j < p.columns; j++) c.y[0][r * p.y_stride + j] = wanted(&p, r, j);
        for (size_t i = 0; i < count; i++) {
            if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
            for (size_t r = 0; r < p.rows; r++)
                for (size_t j = 0; j < p.columns; j++) c.y[1][r * p.y_stride + j] = NAN;
            p.y = c.y[1];
            kernels[i].results(&p);
            check_same(kernels[i].name, c.y[0], c.y[1], sizeof c.y[0]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_become_results_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
