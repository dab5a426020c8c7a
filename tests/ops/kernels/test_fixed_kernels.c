// SPDX-License-Identifier: Apache-2.0
// Every vector kernel of Requantize by multiplier and shift gives the bits of the portable one, for
// each rounding: every shift, multipliers at their ends, x at the ends of int32 and next to every
// tie of a byte, each with one parameter or lists of them, at every length and alignment; kernels
// for all dtypes with each of them.
#include "ops/kernels/kernel.h"
#include "runtime/base/cpu.h"
#include "runtime/numerics/dtype.h"
#include "tests/unit.h"

enum { MOST = 1024, GUARD = 64, ROUNDS = 20000 };

typedef struct work {
    uint32_t params[4][MOST];
    int64_t x[MOST + 16];
    _Alignas(8) unsigned char encoded[8 * (MOST + 16)], y[2][4 * MOST + 2 * GUARD];
} work;

static uint64_t pick(uint64_t *seed, uint64_t count) { return (unit_random(seed) >> 17) % count; }

static int32_t pick_multiplier(uint64_t *seed) {
    static const int32_t ends[] = {0, 1, 1 << 30, (1 << 30) + 1, INT32_MAX, INT32_MAX - 1, 3 << 29};
    if (pick(seed, 4) == 0) return ends[pick(seed, 7)];
    if (pick(seed, 40) == 0) return -(int32_t)pick(seed, 1u << 31);
    return (int32_t)((1u << 30) + pick(seed, 1u << 30));
}

// Multiplier and shift, or the words of the scale.
static void pick_factor(qdq_fixed_rounding rounding, int *near, uint64_t *seed, uint32_t *first,
                        uint32_t *second) {
    int32_t m = pick_multiplier(seed), s = (int32_t)pick(seed, 63);
    if (pick(seed, 3)) s = 31 + (int32_t)pick(seed, 20);
    *near = s - 31;
    *first = (uint32_t)m, *second = (uint32_t)s;
    double real = ldexp((double)m, -s);
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    if (rounding == QDQ_FIXED_FLOAT32) *first = qdq_float_bits((float)real);
    if (rounding == QDQ_FIXED_FLOAT64) *first = (uint32_t)(bits >> 32), *second = (uint32_t)bits;
}

// x near a tie of its factor, or any.
static int32_t pick_int32(double scale, uint64_t *seed) {
    static const int32_t ends[] = {INT32_MIN, INT32_MIN + 1, INT32_MAX, -1, 0,
                                   1,         1 << 24,       -(1 << 30)};
    uint64_t how = pick(seed, 16);
    if (how == 0) return ends[pick(seed, 8)];
    if (how < 4 || scale == 0) return (int32_t)unit_random(seed) >> pick(seed, 32);
    double tie = ((double)pick(seed, 520) - 260 + 0.5) / scale;
    double x = rint(tie) + (double)pick(seed, 7) - 3;
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}

// The same in the range of a dtype.
static int64_t pick_x(qdq_dtype dtype, double scale, uint64_t *seed) {
    static const qdq_numerics core = {0};
    int64_t x = pick_int32(scale, seed);
    if (dtype == QDQ_INT64 && pick(seed, 8) == 0)
        return (int64_t)unit_random(seed) >> pick(seed, 64);
    if (dtype == QDQ_INT32 || dtype == QDQ_INT64) return x;
    qdq_range range = qdq_range_of(dtype, NULL, NULL, &core);
    return qdq_clamp_one(x, range.least, range.greatest);
}

static double scale_of(qdq_fixed_rounding rounding, uint32_t first, uint32_t second) {
    uint64_t bits = (uint64_t)first << 32 | second;
    double real;
    memcpy(&real, &bits, sizeof real);
    if (rounding == QDQ_FIXED_FLOAT64) return real;
    if (rounding == QDQ_FIXED_FLOAT32) return (double)qdq_float_from_bits(first);
    return ldexp((double)(int32_t)first, -(int)(int32_t)second);
}

static void make(work *w, const qdq_quant_params *p, qdq_view *views, uint64_t *seed) {
    unsigned steps = (unsigned)pick(seed, 3) ? 0 : (unsigned)pick(seed, 16);
    bool calm = pick(seed, 4) != 0;  // as kernels want it
    int near = 0;
    for (size_t i = 0; i < MOST; i++) {
        pick_factor(p->rounding, &near, seed, &w->params[0][i], &w->params[2][i]);
        if (calm && near < 0 && p->rounding <= QDQ_FIXED_UP) w->params[2][i] = 31;
        if (calm && (int32_t)w->params[0][i] < 0 && p->rounding <= QDQ_FIXED_UP)
            w->params[0][i] = 1 << 30;
        w->params[1][i] = calm ? 0 : (uint32_t)pick(seed, 5);
        w->params[3][i] =
            (uint32_t)((int32_t)pick(seed, calm ? 256 : 300) + (int32_t)p->range.least);
    }
    for (unsigned k = 0; k < 4; k++) views[k] = (qdq_view){w->params[k], steps >> k & 1};
    for (size_t i = 0; i < MOST + 16; i++) {
        size_t at = i < MOST ? i : 0;
        uint32_t first = w->params[0][views[0].step ? at : 0];
        w->x[i] = pick_x(p->x_dtype,
                         scale_of(p->rounding, first, w->params[2][views[2].step ? at : 0]), seed);
    }
    qdq_encode_wide(p->x_dtype, w->x, w->encoded, MOST + 16);
}

static qdq_dtype pick_dtype(qdq_dtype of_kernel, size_t count, uint64_t *seed) {
    static const qdq_dtype dtypes[] = {QDQ_INT8,   QDQ_UINT8, QDQ_INT16,
                                       QDQ_UINT16, QDQ_INT32, QDQ_INT64};
    return of_kernel ? of_kernel : dtypes[pick(seed, count)];
}

static void check(const qdq_kernel *k, work *w, uint64_t *seed) {
    static const size_t lengths[] = {1, 7, 16, 31, 33, 63, 64, 65, 128, 200, 257, MOST};
    int64_t least = -100, most = 77;
    const qdq_numerics core = {0};
    qdq_quant_params p = {.x_dtype = pick_dtype(k->x_dtype, 6, seed),
                          .y_dtype = pick_dtype(k->y_dtype, 5, seed),
                          .fixed = true};
    size_t x_size = qdq_dtype_size(p.x_dtype), y_size = qdq_dtype_size(p.y_dtype);
    p.rounding = (qdq_fixed_rounding)pick(seed, 5);
    uint64_t bounds = pick(seed, 5);
    p.range =
        qdq_range_of(p.y_dtype, bounds == 1 ? &least : NULL, bounds == 2 ? &most : NULL, &core);
    qdq_view views[4];
    make(w, &p, views, seed);
    size_t n = lengths[pick(seed, UNIT_COUNT(lengths))], x_at = pick(seed, 5), y_at = pick(seed, 9);
    memset(w->y, 0xA5, sizeof w->y);
    const unsigned char *x = w->encoded + x_at * x_size;
    qdq_fixed_tile_portable(&p, views, x, w->y[0] + GUARD + y_at * y_size, n);
    k->fn(&p, views, x, w->y[1] + GUARD + y_at * y_size, n);
    for (size_t i = 0; i < sizeof w->y[0]; i++) {
        if (w->y[0][i] == w->y[1][i]) continue;
        size_t e = (i - GUARD) / y_size - y_at;
        if (e >= n) fail_msg("%s writes beside its %zu elements", k->name, n);
        fail_msg(
            "%s, rounding %d, %s to %s, n %zu, element %zu, x %lld, m %#x, s %d, z %d: got byte "
            "%d, want %d",
            k->name, (int)p.rounding, qdq_dtype_name(p.x_dtype), qdq_dtype_name(p.y_dtype), n, e,
            (long long)w->x[x_at + e], w->params[0][views[0].step * e],
            (int)w->params[2][views[2].step * e], (int)w->params[3][views[3].step * e], w->y[1][i],
            w->y[0][i]);
    }
}

static void every_kernel_gives_the_bits_of_the_portable_one(void **state) {
    static work w;
    size_t count, checked = 0;
    const qdq_kernel *kernels = qdq_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (kernels[i].family != QDQ_FAMILY_FIXED || kernels[i].isa == QDQ_ISA_PORTABLE ||
            !(qdq_cpu_isas() >> kernels[i].isa & 1))
            continue;
        uint64_t seed = 47 + i;
        for (int round = 0; round < (unit_slow() ? ROUNDS / 4 : ROUNDS); round++)
            check(&kernels[i], &w, &seed);
        checked++;
    }
    print_message("%zu kernels\n", checked);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_bits_of_the_portable_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
