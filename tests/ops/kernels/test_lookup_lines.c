// SPDX-License-Identifier: Apache-2.0
// Tables of bytes that lie on a line may be computed instead of looked up. Every lookup kernel
// gives the results of the table for every code, at every length, whether a line is found or not; a
// line is found only if all 256 results lie on it.
#include <math.h>

#include "ops/kernels/kernel.h"
#include "tests/unit.h"

enum { MOST = 1024, GUARD = 64, ROUNDS = 4000 };

typedef struct bytes_case {
    bool x_unsigned, y_unsigned;
    float in, out;
    int32_t in_zero, out_zero, least, most;
    uint8_t table[256];
    qdq_lookup_line line;
} bytes_case;

// ONNX's formula: Dequantize to float32, then Quantize.
static void fill_table(bytes_case *c) {
    for (int i = 0; i < 256; i++) {
        int32_t code = c->x_unsigned ? i : (int8_t)i;
        float real = (float)(code - c->in_zero) * c->in;
        double q = (double)rintf(real / c->out) + c->out_zero;
        q = q < c->least ? c->least : q > c->most ? c->most : q;
        c->table[i] = (uint8_t)(int32_t)q;
    }
}

static void find(bytes_case *c) {
    float slope = c->in / c->out;
    c->line = (qdq_lookup_line){.x_unsigned = c->x_unsigned, .y_unsigned = c->y_unsigned};
    qdq_lookup_line_find(&c->line, c->table, slope, -(float)c->in_zero * slope, c->out_zero);
}

static bytes_case make_case(uint64_t *seed, unsigned round) {
    uint64_t r = unit_random(seed);
    bytes_case c = {.x_unsigned = r & 1, .y_unsigned = r >> 1 & 1};
    c.in = (float)(unit_random(seed) % 4096 + 1) / 65536.0f;
    c.out = (float)(unit_random(seed) % 4096 + 1) / 65536.0f;
    if (round % 4 == 1) c.out = c.in * (float)(1 << (r >> 8 & 3));  // ties
    if (round % 4 == 2) c.out = c.in * (1.5f + (float)(r >> 8 & 255) / 64.0f);
    if (round % 16 == 3) c.out = c.in * 0x1p-40f;  // steep beyond any line
    if (round % 16 == 7) c.in = -c.in;
    c.in_zero = (int32_t)(r >> 16 & 255) - (c.x_unsigned ? 0 : 128);
    c.least = c.y_unsigned ? 0 : -128, c.most = c.least + 255;
    c.out_zero = (int32_t)(r >> 24 & 255) + c.least;
    if (round % 8 == 5) c.least += 40, c.most -= 17;
    fill_table(&c);
    find(&c);
    return c;
}

// The kernel gives the table's results for n elements and writes nothing else.
static void check_kernel(const qdq_kernel *k, const bytes_case *c, size_t n, uint64_t *seed) {
    static uint8_t x[MOST], y[MOST + GUARD], want[MOST + GUARD];
    qdq_lookup_params p = {c->table, &c->line};
    const uint32_t number = 0;
    memset(y, 0xA5, sizeof y);
    memset(want, 0xA5, sizeof want);
    for (size_t i = 0; i < n; i++) {
        x[i] = (uint8_t)(n == MOST ? i : unit_random(seed));
        want[i] = c->table[x[i]];
    }
    k->fn(&p, &(qdq_view){&number, 0}, x, y, n);
    if (memcmp(y, want, sizeof y) != 0)
        fail_msg("%s, n %zu, in %a %d, out %a %d, line %d", k->name, n, (double)c->in, c->in_zero,
                 (double)c->out, c->out_zero, (int)c->line.kind);
}

static void every_kernel_gives_the_results_of_the_table(void **state) {
    static const size_t lengths[] = {MOST, 1, 31, 32, 33, 127, 128, 129, 1000};
    uint64_t seed = 11;
    unsigned found[3] = {0};
    size_t count;
    const qdq_kernel *kernels = qdq_kernels(&count);
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        bytes_case c = make_case(&seed, round);
        found[c.line.kind]++;
        for (size_t i = 0; i < count; i++) {
            if (kernels[i].family != QDQ_FAMILY_LOOKUP || !(qdq_cpu_isas() >> kernels[i].isa & 1))
                continue;
            check_kernel(&kernels[i], &c, MOST, &seed);
            check_kernel(&kernels[i], &c, lengths[round % 9], &seed);
        }
    }
    print_message("no line %u, words %u, floats %u\n", found[0], found[1], found[2]);
    for (int i = 0; i < 3; i++) assert_true(found[i] > ROUNDS / 50);
}

// One other result anywhere, by one, and the line is gone or goes through that result as well.
static void a_line_goes_through_all_results(void **state) {
    uint64_t seed = 23;
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        bytes_case c = make_case(&seed, round);
        c.table[unit_random(&seed) % 256] ^= 1;
        find(&c);
        size_t count;
        const qdq_kernel *kernels = qdq_kernels(&count);
        for (size_t i = 0; c.line.kind && i < count; i++)
            if (kernels[i].family == QDQ_FAMILY_LOOKUP && qdq_cpu_isas() >> kernels[i].isa & 1)
                check_kernel(&kernels[i], &c, MOST, &seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_results_of_the_table),
        cmocka_unit_test(a_line_goes_through_all_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
