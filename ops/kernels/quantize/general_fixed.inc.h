// SPDX-License-Identifier: Apache-2.0
// Requantize by multiplier and shift between all dtypes of integers. Elements pass through loops
// over FIXED_PART of them, on integers of 64 bits or doubles; the rounding chooses a loop.
// Parameters and elements for which a loop is not exact go to the portable kernel.
//
// Every rounding in integers is one floor, (v * m + c) >> s, where c depends on the sign of v if it
// rounds twice: avx512_fixed.c says why. Shifts are those of the unsigned number 2^63 above,
// because AVX2 has no arithmetic ones, first by s - 1 and then, after the addition of 1, by 1.
#include "ops/kernels/quantize/lanes.inc.h"
#include "runtime/numerics/quantize_wide.h"

enum { FIXED_PART = 256 };  // elements that pass through all loops together

// 2^63, which the unsigned numbers are above.
#define FIXED_TOP (UINT64_C(1) << 63)

// The parameters of some elements: `shift` is s - 1, c is 2^(s - 1) + up - 2^63, less `back` where
// v is negative.
typedef struct fixed_part {
    const int32_t *m, *s, *in, *out;
    int32_t copies[4][FIXED_PART];
    uint64_t shift[FIXED_PART], up[FIXED_PART], back[FIXED_PART];
    double real[FIXED_PART];
    uint64_t half;   // FIXED_TOP / 2: gcc makes no vectors of shifts of a constant
    uint32_t most;   // at least |m| - 1
    bool one_floor;  // the formula above is right, if v fits int32
} fixed_part;

static void fixed_set_shifts(fixed_part *t, qdq_fixed_rounding rounding, size_t n) {
    const int32_t *restrict m = t->m, *restrict s = t->s;
    uint64_t *restrict shift = t->shift, *restrict up = t->up, *restrict back = t->back;
    uint64_t o = rounding == QDQ_FIXED_SINGLE ? 0 : UINT64_C(1) << 30;
    uint64_t twice_o = rounding == QDQ_FIXED_DOUBLE ? 2 * o : 0;
    int32_t most = 0, odd = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t twice = s[i] > 31 ? UINT64_MAX : 0;
        shift[i] = (uint64_t)(int64_t)s[i] - 1;
        up[i] = (o & twice) ^ FIXED_TOP;
        back[i] = twice_o & twice;
    }
    for (size_t i = 0; i < n; i++) {
        most |= m[i] ^ (m[i] >> 31);
        odd |= rounding == QDQ_FIXED_SINGLE ? s[i] - 1 : m[i] | (s[i] - 31);
    }
    t->half = FIXED_TOP >> 1;
    t->most = (uint32_t)most, t->one_floor = odd >= 0;
}

static void fixed_set(fixed_part *t, qdq_fixed_rounding rounding, const qdq_view *views, size_t n) {
    t->m = body_int_list(views[0], n, t->copies[0]),
    t->in = body_int_list(views[1], n, t->copies[1]);
    t->s = body_int_list(views[2], n, t->copies[2]),
    t->out = body_int_list(views[3], n, t->copies[3]);
    if (rounding <= QDQ_FIXED_UP)
        fixed_set_shifts(t, rounding, n);
    else if (rounding == QDQ_FIXED_FLOAT32)
        for (size_t i = 0; i < n; i++) t->real[i] = (double)qdq_float_from_bits((uint32_t)t->m[i]);
    else
        for (size_t i = 0; i < n; i++)
            t->real[i] = qdq_double_of_words((uint32_t)t->m[i], (uint32_t)t->s[i]);
}

#define FIXED_LOAD(E, type)                                         \
    case QDQ_##E:                                                   \
        for (size_t i = 0; i < n; i++) v[i] = ((const type *)x)[i]; \
        break;

static void fixed_load(qdq_dtype dtype, const void *restrict x, int64_t *restrict v, size_t n) {
    const int64_t bound = INT64_C(1) << 61;
    switch (dtype) {
        FIXED_LOAD(INT8, int8_t)  // NOLINT(bugprone-signed-char-misuse): a number
        FIXED_LOAD(UINT8, uint8_t)
        FIXED_LOAD(INT16, int16_t)
        FIXED_LOAD(UINT16, uint16_t)
        FIXED_LOAD(INT32, int32_t)
    default:
        qdq_decode_wide(dtype, x, v, n);
        for (size_t i = 0; i < n; i++) {
            int64_t u = v[i] < -bound ? -bound : v[i];
            v[i] = u > bound ? bound : u;
        }
    }
}

// Sets v to x less its zero point; an int64 beyond 2^61 counts as 2^61. Returns a number that is at
// least |v| - 1 for all of them.
static uint64_t fixed_differences(const qdq_quant_params *p, const fixed_part *t, const void *x,
                                  int64_t *restrict v, size_t n) {
    const int32_t *restrict in = t->in;
    uint64_t most = 0;
    fixed_load(p->x_dtype, x, v, n);
    for (size_t i = 0; i < n; i++) {
        v[i] -= in[i];
        most |= (uint64_t)(v[i] < 0 ? ~v[i] : v[i]);
    }
    return most;
}

static void fixed_store(qdq_dtype dtype, const int32_t *restrict q, void *restrict y, size_t n) {
    size_t size = qdq_dtype_size(dtype);
    if (size == 1)
        for (size_t i = 0; i < n; i++) ((uint8_t *)y)[i] = (uint8_t)q[i];
    else if (size == 2)
        for (size_t i = 0; i < n; i++) ((uint16_t *)y)[i] = (uint16_t)q[i];
    else
        memcpy(y, q, n * sizeof *q);
}

static void fixed_products(const fixed_part *t, const qdq_range *range, const int64_t *restrict v,
                           int32_t *restrict q, size_t n) {
    const int32_t *restrict m = t->m, *restrict out = t->out;
    const uint64_t *restrict shift = t->shift, *restrict up = t->up, *restrict back = t->back;
    const int64_t low = range->quant_min, high = range->quant_max;
    const uint64_t half = t->half;
    for (size_t i = 0; i < n; i++) {
        uint64_t sign = v[i] < 0 ? UINT64_MAX : 0;
        uint64_t sum = (uint64_t)(v[i] * m[i]) + up[i] - (back[i] & sign);
        uint64_t floor = ((sum >> shift[i]) + 1) >> 1;
        int64_t y = (int64_t)(floor - (half >> shift[i])) + out[i];
        y = y < low ? low : y;
        q[i] = (int32_t)(y > high ? high : y);
    }
}

//---- Doubles ----------------------------------------------------------------

static void fixed_store_wholes(const fixed_part *t, const qdq_range *range,
                               const double *restrict whole, int32_t *restrict q, size_t n) {
    const int32_t *restrict out = t->out;
    const double low = (double)range->quant_min, high = (double)range->quant_max;
    for (size_t i = 0; i < n; i++) {
        double y = whole[i] + out[i];
        y = y > low ? y : low;
        q[i] = (int32_t)(y < high ? y : high);
    }
}

// Multiplies float32 and rounds half to even.
static void fixed_floats(const fixed_part *t, const int64_t *restrict v, double *restrict whole,
                         size_t n) {
    for (size_t i = 0; i < n; i++) whole[i] = rintf((float)v[i] * (float)t->real[i]);
}

// Multiplies float64 and rounds half away from zero: a product less its whole part is exact.
static void fixed_doubles(const fixed_part *t, const int64_t *restrict v, double *restrict whole,
                          size_t n) {
    for (size_t i = 0; i < n; i++) {
        double y = (double)v[i] * t->real[i], cut = trunc(y), rest = y - cut;
        whole[i] = cut + (rest >= 0.5 ? 1.0 : rest <= -0.5 ? -1.0 : 0.0);
    }
}

//---- The kernel -------------------------------------------------------------

// Returns the number of bits of v.
static int fixed_bits(uint64_t v) {
    int bits = 0;
    for (; v; v >>= 1) bits++;
    return bits;
}

// True if the loop on integers is exact.
static bool fixed_fits(const fixed_part *t, qdq_fixed_rounding rounding, uint64_t most) {
    if (!t->one_floor) return false;
    return most <= INT32_MAX ||
           (rounding == QDQ_FIXED_SINGLE && fixed_bits(most) + fixed_bits(t->most) <= 62);
}

// Computes some elements. False, without codes, if no loop is exact.
static bool fixed_codes(const qdq_quant_params *p, const fixed_part *t, const void *x, int32_t *q,
                        size_t n) {
    int64_t v[FIXED_PART];
    double whole[FIXED_PART];
    uint64_t most = fixed_differences(p, t, x, v, n);
    if (p->rounding <= QDQ_FIXED_UP) {
        if (!fixed_fits(t, p->rounding, most)) return false;
        fixed_products(t, &p->range, v, q, n);
        return true;
    }
    if (p->rounding == QDQ_FIXED_FLOAT32)
        fixed_floats(t, v, whole, n);
    else
        fixed_doubles(t, v, whole, n);
    fixed_store_wholes(t, &p->range, whole, q, n);
    return true;
}

void QDQ_ISA_NAME(fixed_tile_general)(const void *params, const qdq_view *views, const void *x,
                                      void *y, size_t n) {
    const qdq_quant_params *p = params;
    size_t x_size = qdq_dtype_size(p->x_dtype), y_size = qdq_dtype_size(p->y_dtype);
    size_t steps = views[0].step | views[1].step | views[2].step | views[3].step;
    fixed_part t;
    for (size_t at = 0; at < n; at += FIXED_PART) {
        size_t part = n - at < FIXED_PART ? n - at : FIXED_PART;
        const char *from = (const char *)x + at * x_size;
        int32_t q[FIXED_PART];
        qdq_view here[4];
        for (size_t k = 0; k < 4; k++) here[k] = body_from(views[k], at);
        if (!at || steps) fixed_set(&t, p->rounding, here, part);
        if (fixed_codes(p, &t, from, q, part))
            fixed_store(p->y_dtype, q, (char *)y + at * y_size, part);
        else
            qdq_fixed_tile_portable(params, here, from, (char *)y + at * y_size, part);
    }
}
