// SPDX-License-Identifier: Apache-2.0
// Decodes and encodes float16, float8 and float4 from a description of the format.
#include "runtime/numerics/small_float.h"

#include <math.h>

// clang-format off
const qdq_small_float qdq_float16_format         = {5, 10, 15, 0x7BFF, 0x7C00, 0x7E00, true, true, false};
const qdq_small_float qdq_float8_e4m3fn_format   = {4, 3, 7, 0x7E, 0, 0x7F, true, true, false};
const qdq_small_float qdq_float8_e5m2_format     = {5, 2, 15, 0x7B, 0x7C, 0x7E, true, true, false};
const qdq_small_float qdq_float8_e4m3fnuz_format = {4, 3, 8, 0x7F, 0, 0x80, false, false, false};
const qdq_small_float qdq_float8_e5m2fnuz_format = {5, 2, 16, 0x7F, 0, 0x80, false, false, false};
// This format has no NaN: a NaN becomes -0, as in ONNX's vectors since 1.19.
const qdq_small_float qdq_float4_e2m1_format     = {2, 1, 1, 0x7, 0, 0, false, true, true};
// clang-format on

static int sign_shift(const qdq_small_float *f) { return f->exponent_bits + f->mantissa_bits; }

static bool is_nan(const qdq_small_float *f, uint16_t code, uint16_t magnitude) {
    if (f->nan == 0) return false;
    if (!f->negative_zero) return code == f->nan;  // the code that would be -0
    return magnitude > (f->infinity ? f->infinity : f->largest);
}

float qdq_small_float_decode(const qdq_small_float *f, uint16_t code) {
    uint16_t sign = (uint16_t)(1u << sign_shift(f)), magnitude = (uint16_t)(code & (sign - 1));
    float value;
    if (is_nan(f, (uint16_t)(code & (2u * sign - 1)), magnitude))
        return f->signed_nan && code & sign ? -NAN : NAN;
    if (f->infinity && magnitude == f->infinity) {
        value = INFINITY;
    } else {
        int exponent = magnitude >> f->mantissa_bits;
        int fraction = magnitude & ((1 << f->mantissa_bits) - 1);
        if (exponent)
            fraction += 1 << f->mantissa_bits;
        else
            exponent = 1;
        value = ldexpf((float)fraction, exponent - f->bias - f->mantissa_bits);
    }
    return code & sign ? -value : value;
}

float qdq_small_float_largest(qdq_dtype dtype) {
    const qdq_small_float *format = qdq_small_float_of(dtype);
    return qdq_small_float_decode(format, format->largest);
}

// Returns the code of |value| rounded half to even, as if the format had no largest exponent.
static uint32_t round_magnitude(const qdq_small_float *f, float value) {
    int exponent;
    double magnitude = fabs((double)value);
    if (magnitude == 0) return 0;       // zero has no exponent
    (void)frexp(magnitude, &exponent);  // magnitude in [2^(exponent - 1), 2^exponent)
    exponent -= 1;
    if (exponent < 1 - f->bias) exponent = 1 - f->bias;            // subnormal
    double steps = ldexp(magnitude, f->mantissa_bits - exponent);  // below 2^(mantissa_bits + 1)
    double whole = floor(steps), rest = steps - whole;
    uint32_t code = (uint32_t)whole;
    if (rest > 0.5 || (rest == 0.5 && code % 2)) code++;
    // A carry out of the mantissa correctly increments the exponent.
    return code + ((uint32_t)(exponent - (1 - f->bias)) << f->mantissa_bits);
}

uint16_t qdq_small_float_encode(const qdq_small_float *f, float value,
                                qdq_float_overflow overflow) {
    uint16_t sign = (uint16_t)(signbit(value) ? 1u << sign_shift(f) : 0);
    if (isnan(value)) {
        if (f->nan == 0) return (uint16_t)(1u << sign_shift(f));
        return f->signed_nan ? (uint16_t)(f->nan | sign) : f->nan;
    }
    bool saturate = f->saturates || overflow == QDQ_FLOAT_SATURATE;
    uint32_t code = isinf(value) ? UINT32_MAX : round_magnitude(f, value);
    if (code > f->largest) {
        if (saturate) return (uint16_t)(f->largest | sign);
        if (f->infinity) return (uint16_t)(f->infinity | sign);
        return f->signed_nan ? (uint16_t)(f->nan | sign) : f->nan;
    }
    return code == 0 && !f->negative_zero ? 0 : (uint16_t)(code | sign);
}

float qdq_float8_e8m0_decode(uint8_t code) { return code == 255 ? NAN : ldexpf(1.0f, code - 127); }

uint8_t qdq_float8_e8m0_encode(float value) {
    int exponent;
    if (isnan(value) || value < 0) return 255;
    if (isinf(value)) return 254;
    if (value == 0) return 0;
    float half = frexpf(value, &exponent);  // in [0.5, 1): value = half * 2^exponent
    int code = exponent - 1 + 127;
    if (half > 0.75f || (half == 0.75f && code % 2 != 0)) code++;
    return (uint8_t)(code < 0 ? 0 : code > 254 ? 254 : code);
}
