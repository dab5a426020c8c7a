// SPDX-License-Identifier: Apache-2.0
// Counts elements. Elements of 32 bits or less are first summed by exponent: one addition per
// element instead of three.
#include "tools/lab/calibrate/statistics.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK = 1 << 15,  // the squares of as many 24-bit mantissas add up in 64 bits
    EXPONENTS = 256,
    FLOAT_BIAS = 127,
    FLOAT_FRACTION = 23,
    DOUBLE_BIAS = 1023,
    DOUBLE_FRACTION = 52,
    BINS_PER_OCTAVE = 1 << BINS_PER_OCTAVE_BITS,
};

void statistics_clear(const statistics *s) {
    s->range[0] = INFINITY, s->range[1] = -INFINITY;
    memset(s->counts, 0, COUNTS * sizeof *s->counts);
    memset(s->sum, 0, SUM_DIGITS * sizeof *s->sum);
    memset(s->squares, 0, SQUARE_DIGITS * sizeof *s->squares);
    memset(s->histogram, 0, HISTOGRAM_BINS * sizeof *s->histogram);
}

bool statistics_count(qdq_dtype dtype) {
    const qdq_dtype_info *row = qdq_dtype_get(dtype);
    return row && (row->kind == QDQ_KIND_FLOAT || row->kind == QDQ_KIND_BLOCK_FLOAT ||
                   row->kind == QDQ_KIND_WIDE_FLOAT);
}

// Returns the bin of a finite number, by its exponent and the first bits of its fraction.
static size_t bin_of(int exponent, unsigned fraction, bool negative) {
    int octave = exponent - LEAST_EXPONENT;
    size_t side = octave >= OCTAVES
                      ? SIDE_BINS
                      : (size_t)octave * BINS_PER_OCTAVE + fraction + 1;  // 1 .. SIDE_BINS
    if (octave < 0) return MIDDLE_BIN;
    return negative ? MIDDLE_BIN - side : MIDDLE_BIN + side;
}

// Counts a number that is not finite.
static void count_special(const statistics *s, bool is_nan, bool negative) {
    s->counts[is_nan ? COUNT_NAN : negative ? COUNT_NEGATIVE_INFINITY : COUNT_POSITIVE_INFINITY]++;
}

static void widen_range(const statistics *s, double least, double greatest) {
    // Adding 0 turns -0 into 0, so that the sign of a zero does not depend on the order.
    if (least < s->range[0]) s->range[0] = least + 0.0;
    if (greatest > s->range[1]) s->range[1] = greatest + 0.0;
}

//---- float32 ----------------------------------------------------------------

static void fold(const statistics *s, const int64_t *sums, const uint64_t *squares) {
    for (unsigned e = 0; e < EXPONENTS - 1; e++) {
        unsigned scale = (e ? e : 1) - 1 + SUM_SHIFT - FLOAT_BIAS - FLOAT_FRACTION + 1;
        if (!squares[e]) continue;
        exact_add(s->sum, (uint64_t)(sums[e] < 0 ? -sums[e] : sums[e]), scale, sums[e] < 0);
        exact_add(s->squares, squares[e], 2 * scale, false);
    }
    exact_carry(s->sum, SUM_DIGITS);
    exact_carry(s->squares, SQUARE_DIGITS);
}

static void add_floats(const statistics *s, const float *x, size_t count) {
    int64_t sums[EXPONENTS] = {0};
    uint64_t squares[EXPONENTS] = {0};
    float least = INFINITY, greatest = -INFINITY;
    int64_t finite = 0, zeros = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bool negative = bits >> 31;
        unsigned e = bits >> FLOAT_FRACTION & 0xFF;
        uint32_t fraction = bits & 0x7FFFFF;
        if (e == EXPONENTS - 1) {
            count_special(s, fraction != 0, negative);
            continue;
        }
        int64_t mantissa = (int64_t)fraction | (e ? (int64_t)1 << FLOAT_FRACTION : 0);
        sums[e] += negative ? -mantissa : mantissa;
        squares[e] += (uint64_t)(mantissa * mantissa);
        finite++;
        zeros += mantissa == 0;
        if (x[i] < least) least = x[i];
        if (x[i] > greatest) greatest = x[i];
        s->histogram[bin_of((int)e - FLOAT_BIAS,
                            fraction >> (FLOAT_FRACTION - BINS_PER_OCTAVE_BITS), negative)]++;
    }
    s->counts[COUNT_FINITE] += finite;
    s->counts[COUNT_ZERO] += zeros;
    if (finite) widen_range(s, (double)least, (double)greatest);
    fold(s, sums, squares);
}

//---- float64 ----------------------------------------------------------------

static void add_double(const statistics *s, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bool negative = bits >> 63;
    unsigned e = (unsigned)(bits >> DOUBLE_FRACTION & 0x7FF);
    uint64_t fraction = bits & (((uint64_t)1 << DOUBLE_FRACTION) - 1);
    if (e == 0x7FF) {
        count_special(s, fraction != 0, negative);
        return;
    }
    uint64_t mantissa = fraction | (e ? (uint64_t)1 << DOUBLE_FRACTION : 0);
    exact_add(s->sum, mantissa, (e ? e : 1) - 1, negative);
    exact_add_square(s->squares, x);
    s->counts[COUNT_FINITE]++;
    s->counts[COUNT_ZERO] += mantissa == 0;
    widen_range(s, x, x);
    unsigned part = (unsigned)(fraction >> (DOUBLE_FRACTION - BINS_PER_OCTAVE_BITS));
    s->histogram[bin_of((int)e - DOUBLE_BIAS, part, negative)]++;
}

//---- Entry ------------------------------------------------------------------

void statistics_add(const statistics *s, qdq_dtype dtype, const void *data, size_t count) {
    static const size_t piece = 1024;
    float wide[1024];
    size_t size = qdq_dtype_size(dtype);
    const char *bytes = data;
    bool is_float = dtype == QDQ_FLOAT32 || qdq_dtype_get(dtype)->kind == QDQ_KIND_BLOCK_FLOAT;
    size_t step = is_float || dtype == QDQ_FLOAT64 ? CHUNK : piece;
    for (size_t at = 0; at < count; at += step) {
        size_t n = count - at < step ? count - at : step;
        const void *x = bytes + at * size;
        if (is_float) {
            add_floats(s, x, n);
        } else if (dtype == QDQ_FLOAT64) {
            for (size_t i = 0; i < n; i++) add_double(s, ((const double *)x)[i]);
            exact_carry(s->sum, SUM_DIGITS);
            exact_carry(s->squares, SQUARE_DIGITS);
        } else {
            qdq_widen_float(dtype, x, wide, n);
            add_floats(s, wide, n);
        }
    }
}

static void add_all(int64_t *into, const int64_t *from, size_t count) {
    for (size_t i = 0; i < count; i++) into[i] = (int64_t)((uint64_t)into[i] + (uint64_t)from[i]);
}

void statistics_merge(const statistics *into, const statistics *from) {
    widen_range(into, from->range[0], from->range[1]);
    add_all(into->counts, from->counts, COUNTS);
    add_all(into->sum, from->sum, SUM_DIGITS);
    add_all(into->squares, from->squares, SQUARE_DIGITS);
    add_all(into->histogram, from->histogram, HISTOGRAM_BINS);
    exact_carry(into->sum, SUM_DIGITS);
    exact_carry(into->squares, SQUARE_DIGITS);
}

void histogram_edges(size_t bin, double *from, double *to) {
    bool negative = bin < MIDDLE_BIN;
    size_t side = negative ? MIDDLE_BIN - bin : bin - MIDDLE_BIN;
    *from = 0, *to = ldexp(1, LEAST_EXPONENT);
    if (side == 0) {
        *from = -*to;
        return;
    }
    size_t octave = (side - 1) / BINS_PER_OCTAVE, part = (side - 1) % BINS_PER_OCTAVE;
    int exponent = LEAST_EXPONENT + (int)octave - BINS_PER_OCTAVE_BITS;
    *from = ldexp((double)(BINS_PER_OCTAVE + part), exponent);
    *to = side == SIDE_BINS ? INFINITY : ldexp((double)(BINS_PER_OCTAVE + part + 1), exponent);
    if (negative) *from = -*from, *to = -*to;
}
