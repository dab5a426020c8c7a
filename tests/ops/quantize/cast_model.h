// SPDX-License-Identifier: Apache-2.0
// A model of Cast, in double and integer arithmetic (oracle.h, small_floats.h), and the values that
// its tests cast. Elements are passed as bits.
#ifndef QDQ_TESTS_OPS_QUANTIZE_CAST_MODEL_H
#define QDQ_TESTS_OPS_QUANTIZE_CAST_MODEL_H

#include "tests/ops/oracle.h"
#include "tests/small_floats.h"

enum { CAST_MOST = 1 << 17 };  // values in a list

//---- Element types ----------------------------------------------------------

typedef struct whole_format {
    qdq_dtype dtype;
    int bits;
    bool is_signed;
} whole_format;

static const whole_format whole_formats[] = {
    {QDQ_INT8, 8, true},   {QDQ_UINT8, 8, false}, {QDQ_INT4, 4, true},
    {QDQ_UINT4, 4, false}, {QDQ_INT16, 16, true}, {QDQ_UINT16, 16, false},
    {QDQ_INT32, 32, true}, {QDQ_INT2, 2, true},   {QDQ_UINT2, 2, false},
};

// NULL for floats and bool.
static inline const whole_format *whole_format_of(qdq_dtype dtype) {
    for (size_t i = 0; i < UNIT_COUNT(whole_formats); i++)
        if (whole_formats[i].dtype == dtype) return &whole_formats[i];
    return NULL;
}

// The dtypes of this model; other dtypes have tests of their own.
static inline bool cast_knows(qdq_dtype dtype) {
    return dtype == QDQ_FLOAT32 || dtype == QDQ_BOOL || small_format_of(dtype) ||
           whole_format_of(dtype);
}

// The bytes of an element in the API.
static inline size_t cast_bytes(qdq_dtype dtype) {
    const small_format *small = small_format_of(dtype);
    const whole_format *whole = whole_format_of(dtype);
    if (small) return small_codes(small) > 256 ? 2 : 1;
    if (whole) return whole->bits <= 8 ? 1 : (size_t)whole->bits / 8;
    return dtype == QDQ_FLOAT32 ? 4 : 1;
}

static inline uint32_t cast_held(qdq_dtype dtype, const void *data, size_t i) {
    uint32_t bits = 0;
    memcpy(&bits, (const char *)data + i * cast_bytes(dtype), cast_bytes(dtype));
    return bits;
}

static inline void cast_hold(qdq_dtype dtype, void *data, size_t i, uint32_t bits) {
    memcpy((char *)data + i * cast_bytes(dtype), &bits, cast_bytes(dtype));
}

// The low bits of an integer, sign-extended to the bytes that the API holds it in.
static inline uint32_t whole_bits(const whole_format *w, int64_t value) {
    int64_t one = (int64_t)1 << w->bits, low = ((value % one) + one) % one;
    if (w->is_signed && low >= one / 2) low -= one;
    return (uint32_t)(low & (((int64_t)1 << 8 * cast_bytes(w->dtype)) - 1));
}

// The number that the bits mean.
static inline double cast_value(qdq_dtype dtype, uint32_t bits) {
    const small_format *small = small_format_of(dtype);
    const whole_format *whole = whole_format_of(dtype);
    if (small && small->rule == SMALL_FNUZ && small_is_nan(small, bits)) return (double)NAN;
    if (small) return small_value(small, bits);
    if (dtype == QDQ_FLOAT32) return (double)unit_float_of_bits(bits);
    if (!whole) return bits != 0;
    int64_t one = (int64_t)1 << whole->bits, low = (int64_t)bits & (one - 1);
    return (double)(whole->is_signed && low >= one / 2 ? low - one : low);
}

static inline bool cast_same(qdq_dtype dtype, uint32_t a, uint32_t b) {
    const small_format *small = small_format_of(dtype);
    if (small) return small_same(small, a, b);
    if (dtype != QDQ_FLOAT32 || !isnan(unit_float_of_bits(a))) return a == b;
    return isnan(unit_float_of_bits(b)) && (a ^ b) >> 31 == 0;
}

//---- Wanted results ---------------------------------------------------------

typedef struct cast_case {
    qdq_dtype from, to;
    qdq_bool saturate;
    qdq_cast_rounding mode;
} cast_case;

static inline uint32_t cast_to_whole(double v, bool from_real, const whole_format *w) {
    if (!from_real) return whole_bits(w, (int64_t)v);
    if (isnan(v)) return 0;
    if (w->bits < 8) return isinf(v) ? 0 : whole_bits(w, oracle_to_integer(v, QDQ_ROUND_HALF_EVEN));
    int64_t least = w->is_signed ? -((int64_t)1 << (w->bits - 1)) : 0;
    int64_t greatest = least + ((int64_t)1 << w->bits) - 1;
    int64_t i = oracle_to_integer(v, QDQ_ROUND_TRUNCATE);
    return whole_bits(w, i < least ? least : i > greatest ? greatest : i);
}

// Searches all powers of two from 2^-127 on.
static inline uint32_t cast_to_power(double v, bool saturate, qdq_cast_rounding mode) {
    if (isnan(v)) return 255;
    if (v < 0x1p-127) return saturate ? 0 : 255;
    if (v > 0x1p127) return saturate ? 254 : 255;
    uint32_t below = 0;
    while (below < 254 && ldexp(1, (int)below + 1 - 127) <= v) below++;
    double low = ldexp(1, (int)below - 127), high = 2 * low;
    if (v == low || mode == QDQ_CAST_ROUND_DOWN) return below;
    if (mode == QDQ_CAST_ROUND_UP) return below + 1;
    return v - low < high - v ? below : below + 1;
}

static inline uint32_t cast_wanted(const cast_case *c, uint32_t bits) {
    double v = cast_value(c->from, bits);
    bool saturate = c->saturate != QDQ_FALSE, from_real = qdq_dtype_is_real(c->from);
    if (c->to == QDQ_BOOL) return isnan(v) || v != 0;
    if (whole_format_of(c->to)) return cast_to_whole(v, from_real, whole_format_of(c->to));
    if (!from_real) v = oracle_of_integer((int64_t)v);
    if (c->to == QDQ_FLOAT32) return unit_bits_of_float((float)v);
    if (c->to == QDQ_FLOAT8_E8M0) return cast_to_power(v, saturate, c->mode);
    return small_encode(small_format_of(c->to), v,
                        saturate ? QDQ_FLOAT_SATURATE : QDQ_FLOAT_OVERFLOW);
}

//---- Inputs -----------------------------------------------------------------

typedef struct cast_list {
    size_t count;
    uint32_t bits[CAST_MOST];
} cast_list;

static inline void list_add(cast_list *l, uint32_t bits) {
    assert_true(l->count < CAST_MOST);
    l->bits[l->count++] = bits;
}

// Adds a float32, its two neighbours and their negatives.
static inline void list_around(cast_list *l, double at) {
    float f = (float)at;
    float three[3] = {f, nextafterf(f, 0), nextafterf(f, INFINITY)};
    for (int i = 0; i < 3; i++) {
        list_add(l, unit_bits_of_float(three[i]));
        list_add(l, unit_bits_of_float(-three[i]));
    }
}

// Every code of every narrow float and the midpoint above it; every integer and half of up to 9
// bits; the ends of the integer dtypes; every power of two and 1.5 times it; some special values.
static inline void list_float32(cast_list *l) {
    static const uint32_t odd[] = {0x00000000, 0x00000001, 0x00400000, 0x00600000, 0x7F7FFFFF,
                                   0x7F800000, 0x7FC00000, 0x7F800001, 0x7FFFFFFF};
    static const double ends[] = {32767,  32768,      32769,  65535,        65536,
                                  0x1p31, 0x1p31 - 1, 0x1p32, 0x1p31 + 256, 16777215,
                                  65504,  65520,      1e10,   1e30,         4294967301.0};
    for (size_t i = 0; i < UNIT_COUNT(odd); i++)
        list_add(l, odd[i]), list_add(l, odd[i] | 0x80000000);
    for (size_t i = 0; i < UNIT_COUNT(ends); i++)
        list_around(l, ends[i]), list_around(l, ends[i] - 0.5);
    for (int i = 0; i < 1030; i++) list_around(l, i / 2.0);
    for (int k = -148; k < 128; k++) list_around(l, ldexp(1, k)), list_around(l, ldexp(1.5, k));
    for (size_t k = 0; k < SMALL_FORMATS; k++) {
        const small_format *f = &small_formats[k];
        // an odd step, so that both kinds of ties occur
        unsigned step = small_codes(f) > 256 ? 61 : 1;
        for (unsigned code = 0; code <= small_largest(f); code += step) {
            double low = small_magnitude(f, code), high = small_magnitude(f, code + 1);
            list_around(l, low), list_around(l, (low + high) / 2);
        }
        double last = small_magnitude(f, small_largest(f));
        double next = small_magnitude(f, small_largest(f) + 1);
        list_around(l, last), list_around(l, (last + next) / 2);
    }
    uint64_t seed = 25;
    for (int i = 0; i < 5000; i++) list_add(l, (uint32_t)unit_random(&seed));
}

// Powers of two and their neighbours, midpoints of float32 and bfloat16 above 2^24, some others.
static inline void list_int32(cast_list *l) {
    for (int64_t i = -70000; i <= 70000; i += i > -600 && i < 600 ? 1 : 17)
        list_add(l, (uint32_t)i);
    for (int k = 0; k < 32; k++)
        for (int low = 0; low < k; low++)
            for (int near = -2; near <= 2; near++) {
                int64_t i = ((int64_t)1 << k) + ((int64_t)1 << low) + near;
                list_add(l, (uint32_t)i), list_add(l, (uint32_t)-i);
            }
    uint64_t seed = 26;
    for (int i = 0; i < 5000; i++) list_add(l, (uint32_t)unit_random(&seed));
}

// All values of a dtype of at most 16 bits; the lists above for wider ones.
static inline const cast_list *list_of(qdq_dtype dtype) {
    static cast_list list;
    list.count = 0;
    const whole_format *w = whole_format_of(dtype);
    if (dtype == QDQ_FLOAT32) {
        list_float32(&list);
    } else if (dtype == QDQ_INT32) {
        list_int32(&list);
    } else {
        size_t codes = 256;  // a bool is read from any byte, though only 0 and 1 are ever written
        if (w) codes = (size_t)1 << w->bits;
        if (small_format_of(dtype)) codes = small_codes(small_format_of(dtype));
        for (size_t i = 0; i < codes; i++)
            list_add(&list, w ? whole_bits(w, (int64_t)i) : (uint32_t)i);
    }
    return &list;
}

#endif
