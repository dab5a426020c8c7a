// SPDX-License-Identifier: Apache-2.0
// Products of split codes that become codes of a Quantize in registers, on every instruction set
// that has them, against sums and quotients for each element: every number of rows and columns of a
// panel, few and all steps, rests of rows, ties and bounds.
#include "ops/kernels/kernel.h"
#include "tests/ops/kernels/gemm_parts.h"

enum { OUT_STRIDE = COLUMNS + 9, RESTS = 3, ROUNDS = 24 * ROWS };

typedef struct operands {
    _Alignas(64) int8_t a[ROWS * QDQ_GEMM_ROW_BYTES];
    _Alignas(64) uint8_t b[QDQ_GEMM_ROW_BYTES * COLUMNS];
    _Alignas(64) int32_t c[ROWS * STRIDE];
    int32_t start[ROWS];
    float scale[ROWS], bias[ROWS];
    qdq_gemm_rest_step rest[RESTS * ROWS];
    uint32_t ends[ROWS + 1];  // ends[r + 1] is the end of row r
    uint8_t out[ROWS * OUT_STRIDE];
    qdq_gemm_code_factors factors;
} operands;

// Pairs of -64 to 63 cannot saturate, and a rest is one weight of a step.
static void fill_operands(operands *w, uint64_t *seed, size_t steps) {
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof w->a; i++) w->a[i] = (int8_t)((int)(any_word(seed) & 127) - 64);
    for (size_t i = 0; i < sizeof w->b; i++) w->b[i] = (uint8_t)any_word(seed);
    for (size_t i = 0; i < UNIT_COUNT(w->c); i++) w->c[i] = (int32_t)(any_word(seed) & 0xFFFF);
    for (size_t r = 0; r < ROWS; r++) {
        bool tie = unit_random(seed) % 2;
        w->start[r] = (int32_t)(any_word(seed) & 0xFFFF) - 0x8000;
        w->scale[r] = ldexpf(1, -(int)(unit_random(seed) % 12));
        if (!tie) w->scale[r] *= 1 + (float)(any_word(seed) & 0xFFFF) / 0x10000;
        w->bias[r] = ((float)(any_word(seed) & 0xFF) - 128) / 16;
        for (size_t i = unit_random(seed) % (RESTS + 1); i-- > 0;) {
            int8_t word[QDQ_GEMM_STEP_BYTES] = {0};
            word[unit_random(seed) % QDQ_GEMM_STEP_BYTES] = (int8_t)(any_word(seed) | 1);
            w->rest[count].step = (uint32_t)(unit_random(seed) % steps);
            memcpy(&w->rest[count++].word, word, sizeof word);
        }
        w->ends[r + 1] = count;
    }
    memset(w->out, 0xA5, sizeof w->out);
}

static int32_t products(const int8_t *weights, const uint8_t *codes) {
    int32_t sum = 0;
    for (size_t i = 0; i < QDQ_GEMM_STEP_BYTES; i++) sum += weights[i] * codes[i];
    return sum;
}

static int32_t sum_of(const operands *w, size_t steps, int32_t start, size_t r, size_t j) {
    enum { FOUR = QDQ_GEMM_STEP_BYTES };
    for (size_t k = 0; k < steps; k++)
        start +=
            products(w->a + r * QDQ_GEMM_ROW_BYTES + k * FOUR, w->b + (k * COLUMNS + j) * FOUR);
    for (uint32_t i = w->ends[r]; i < w->ends[r + 1]; i++)
        start += products((const int8_t *)&w->rest[i].word,
                          w->b + (w->rest[i].step * COLUMNS + j) * FOUR);
    return start;
}

static int32_t code_of(const qdq_quant_params *p, float v, float s, int32_t z) {
    double code = (double)rintf(v / s) + z;
    if (code < (double)p->range.quant_min) return (int32_t)p->range.quant_min;
    return (int32_t)(code > (double)p->range.quant_max ? (double)p->range.quant_max : code);
}

// The sums that tiles start from are those before, or a start of each row, and the rests.
static void check_results(const qdq_gemm_kernel *kernel, uint64_t *seed, size_t round) {
    static operands w;
    static int32_t before[ROWS * STRIDE];
    bool is_signed = round & 1, starts = round >> 1 & 1;
    int32_t least = is_signed ? -128 : 0, z = least + (int32_t)(unit_random(seed) % 256);
    qdq_quant_params p = {
        .x_dtype = QDQ_FLOAT32,
        .y_dtype = is_signed ? QDQ_INT8 : QDQ_UINT8,
        .range = {
            .least = least, .greatest = least + 255, .quant_min = least, .quant_max = least + 255}};
    float s = ldexpf(1, (int)(unit_random(seed) % 8));
    qdq_view views[] = {{(const uint32_t *)(const void *)&s, 0}, {(const uint32_t *)&z, 0}};
    size_t steps = round % 3 ? 1 + round % 9 : STEPS, rows = 1 + round / 4 % ROWS;
    size_t n = 1 + unit_random(seed) % COLUMNS;
    fill_operands(&w, seed, steps);
    memcpy(before, w.c, sizeof before);
    qdq_gemm_code_rows codes = {.scale = w.scale,
                                .bias = w.bias,
                                .n = n,
                                .fn = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, 1u << kernel->isa),
                                .params = &p,
                                .views = views,
                                .out = w.out,
                                .out_stride = OUT_STRIDE};
    assert_true(kernel->code_rows(&codes));  // it has this arithmetic
    kernel->code_factors(&codes, &w.factors);
    kernel->rest(&(qdq_gemm_rest){.steps = w.rest,
                                  .ends = w.ends + 1,
                                  .ends_stride = 1,
                                  .b = w.b,
                                  .row_start = starts ? w.start : NULL,
                                  .c = w.c,
                                  .c_stride = STRIDE,
                                  .rows = rows});
    qdq_gemm_part part = {
        .a = w.a, .b = w.b, .c = w.c, .c_stride = STRIDE, .rows = rows, .steps = steps};
    kernel->code_results(&(qdq_gemm_code_results){part, codes, &w.factors});
    for (size_t i = 0; i < sizeof w.out; i++) {
        size_t r = i / OUT_STRIDE, j = i % OUT_STRIDE;
        int32_t want = 0xA5;  // nothing is written beyond the ends of rows
        if (r < rows && j < n) {
            int32_t sum = sum_of(&w, steps, starts ? w.start[r] : before[r * STRIDE + j], r, j);
            want = code_of(&p, (float)sum * w.scale[r] + w.bias[r], s, z);
        }
        if (w.out[i] != (uint8_t)want)
            fail_msg("%s: round %zu, row %zu of %zu, column %zu of %zu: got %d, want %d",
                     kernel->name, round, r, rows, j, n, w.out[i], (uint8_t)want);
    }
}

static void sums_become_rounded_quotients(void **state) {
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        uint64_t seed = 41;
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1) || !kernels[i].code_results) continue;
        for (size_t round = 0; round < ROUNDS; round++) check_results(&kernels[i], &seed, round);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_become_rounded_quotients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
