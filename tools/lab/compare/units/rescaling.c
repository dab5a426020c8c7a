// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/units/rescaling.h"

#include <math.h>

void rescaling_set_rounding(rescaling *r, qdq_fixed_rounding rounding) {
    r->product = rounding == QDQ_FIXED_FLOAT32   ? PRODUCT_FLOAT32
                 : rounding == QDQ_FIXED_FLOAT64 ? PRODUCT_FLOAT64
                                                 : PRODUCT_EXACT;
    bool twice = rounding == QDQ_FIXED_DOUBLE || rounding == QDQ_FIXED_UP;
    // A product with a multiplier of 31 bits loses 31 bits of the fraction.
    r->first = twice && r->shift > 31 ? r->shift - 31 : -1;
    if (twice && r->first < 0) rounding = QDQ_FIXED_UP;
    r->ties = rounding == QDQ_FIXED_DOUBLE || rounding == QDQ_FIXED_FLOAT64 ? TIES_AWAY
              : rounding == QDQ_FIXED_FLOAT32                               ? TIES_EVEN
                                                                            : TIES_UP;
}

// Rounds whole + fraction, where `side` is the sign of fraction - 1/2 and the fraction is in [0,
// 1).
static int64_t round_at(int64_t whole, int side, rescaling_ties ties) {
    if (side) return whole + (side > 0);
    if (ties == TIES_EVEN) return whole + (whole & 1);
    return whole + (ties == TIES_UP || whole >= 0);
}

static int sign_of(int64_t x) { return (x > 0) - (x < 0); }

// Rounds an integer with `bits` bits of fraction.
static int64_t round_bits(int64_t x, int bits, rescaling_ties ties) {
    if (bits <= 0) return x;
    int64_t half = INT64_C(1) << (bits - 1), whole = x >> bits;
    return round_at(whole, sign_of((x & (half - 1 + half)) - half), ties);
}

static int64_t exact_code(const rescaling *r) {
    if (fabs((double)r->sum * r->multiplier) >= 0x1p62) return INT32_MIN;
    int64_t product = r->sum * (int64_t)r->multiplier;
    int bits = r->shift, left = r->first < 0 ? bits : r->first;
    if (left < bits) product = round_bits(product, bits - left, TIES_UP), bits = left;
    return round_bits(product, bits, r->ties);
}

static int64_t float_code(const rescaling *r) {
    const double most = 0x1p40;  // beyond every code
    double scale = ldexp(r->multiplier, -r->shift);
    double product = r->product == PRODUCT_FLOAT32 ? (double)((float)r->sum * (float)scale)
                                                   : (double)r->sum * scale;
    if (r->first >= 0) product = ldexp(floor(ldexp(product, r->first) + 0.5), -r->first);
    product = product > most ? most : product < -most ? -most : product;
    double whole = floor(product), rest = product - whole;
    return round_at((int64_t)whole, (rest > 0.5) - (rest < 0.5), r->ties);
}

int64_t rescaling_code(const rescaling *r) {
    int64_t code = (r->product == PRODUCT_EXACT ? exact_code(r) : float_code(r)) + r->zero;
    return code < r->least ? r->least : code > r->greatest ? r->greatest : code;
}
