// SPDX-License-Identifier: Apache-2.0
// The portable kernel of Cast, which defines it. Real numbers go through float registers, integers
// and bool through int32_t. The kind of y selects the conversion. If one of the dtypes has 64 bits,
// portable_cast_wide.c converts.
#include "ops/kernels/kernel.h"
#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/block_float.h"
#include "runtime/tenstorrent/tile_formats.h"

enum { PART = QDQ_CAST_PART };  // elements in registers at a time

//---- To integers and bool ---------------------------------------------------

static bool quantizes(const qdq_cast_params *p) {
    return p->numerics.cast_quantizes && qdq_dtype_is_packed(p->y_dtype);
}

// Returns the low `bits` bits of a value, sign-extended if `is_signed`.
static int32_t low_bits(int32_t value, int bits, bool is_signed) {
    if (bits >= 32) return value;
    int32_t low = (int32_t)((uint32_t)value & ((1u << bits) - 1));
    return is_signed && low >> (bits - 1) ? low - (int32_t)(1u << bits) : low;
}

// Integers of a byte or more: toward zero, then clamped. NaN becomes 0.
static int32_t truncated(float v, const qdq_dtype_info *y) {
    if (isnan(v)) return 0;
    double whole = (double)truncf(v);
    if (whole <= (double)y->least) return (int32_t)y->least;
    if (whole >= (double)y->greatest) return (int32_t)y->greatest;
    return (int32_t)whole;
}

// Integers of a byte or more: toward zero, then to int32 as the CPU converts, whose low bits stay.
static int32_t converted(const qdq_cast_params *p, float v, const qdq_dtype_info *y) {
    bool drops = isnan(v) && qdq_cast_drops_nan(p);
    int32_t whole = drops ? 0 : qdq_converted(p->numerics.overflow, truncf(v));
    return low_bits(whole, y->bits, y->least < 0);
}

// Integers narrower than a byte: half even or away, then the low bits. From 2^31 on a float32 is a
// multiple of 256, so its low bits are 0. NaN and the infinities become 0 too.
static int32_t wrapped(const qdq_cast_params *p, float v, const qdq_dtype_info *y) {
    bool away = p->numerics.cast_form == QDQ_CAST_ONNX_RUNTIME;
    float whole = qdq_round_one(away ? QDQ_ROUND_HALF_AWAY : QDQ_ROUND_HALF_EVEN, v);
    return fabsf(whole) < 0x1p31f ? low_bits((int32_t)whole, y->bits, y->least < 0) : 0;
}

// As Quantize does: half even, then clamped. NaN becomes the least.
static int32_t quantized(float v, const qdq_dtype_info *y) {
    double whole = isnan(v) ? (double)y->least : (double)qdq_round_half_even(v);
    return (int32_t)fmin(fmax(whole, (double)y->least), (double)y->greatest);
}

static void float_to_int(const qdq_cast_params *p, const float *x, int32_t *y, size_t n) {
    const qdq_dtype_info *info = qdq_dtype_get(p->y_dtype);
    if (info->kind == QDQ_KIND_BOOL)
        for (size_t i = 0; i < n; i++) y[i] = x[i] != 0;  // NaN is not 0
    else if (quantizes(p))
        for (size_t i = 0; i < n; i++) y[i] = quantized(x[i], info);
    else if (qdq_dtype_is_packed(p->y_dtype))
        for (size_t i = 0; i < n; i++) y[i] = wrapped(p, x[i], info);
    else if (qdq_converts(&p->numerics))
        for (size_t i = 0; i < n; i++) y[i] = converted(p, x[i], info);
    else
        for (size_t i = 0; i < n; i++) y[i] = truncated(x[i], info);
}

static void int_to_int(const qdq_cast_params *p, const int32_t *x, int32_t *y, size_t n) {
    const qdq_dtype_info *info = qdq_dtype_get(p->y_dtype);
    if (info->kind == QDQ_KIND_BOOL)
        for (size_t i = 0; i < n; i++) y[i] = x[i] != 0;
    else if (quantizes(p))
        for (size_t i = 0; i < n; i++) y[i] = quantized((float)x[i], info);
    else
        for (size_t i = 0; i < n; i++) y[i] = low_bits(x[i], info->bits, info->least < 0);
}

//---- To powers of two -------------------------------------------------------

// Returns the power of two that a number in [2^-127, 2^127] becomes.
static float power_of_two(qdq_cast_rounding mode, float v) {
    int exponent;
    float half = frexpf(v, &exponent);  // in [0.5, 1): v = half * 2^exponent
    bool up = mode == QDQ_CAST_ROUND_UP     ? half > 0.5f
              : mode == QDQ_CAST_ROUND_DOWN ? false
                                            : half >= 0.75f;
    return ldexpf(1.0f, exponent - (up ? 0 : 1));
}

// Returns the nearest power of two of |v|, a tie upward, by the bits of v: below 2^-126 only
// 2^-127, and NaN for infinity.
static float nearest_power(const qdq_cast_params *p, float v) {
    uint32_t bits = qdq_float_bits(v), exponent = bits >> 23 & 0xFF, fraction = bits & 0x7FFFFF;
    bool saturates = p->numerics.float_overflow == QDQ_FLOAT_SATURATE;
    if (exponent == 0xFF) return NAN;
    exponent += fraction > 0x400000 || (fraction == 0x400000 && exponent > 0);
    if (exponent == 0xFF) return saturates ? 0x1p127f : NAN;
    return exponent ? qdq_float_from_bits(exponent << 23) : 0x1p-127f;
}

// Rounds to powers of two. Numbers below 2^-127 (zero and negative numbers too) and above 2^127
// have no power of two: they saturate or become NaN.
static void round_to_powers(const qdq_cast_params *p, float *v, size_t n) {
    bool saturate = p->numerics.float_overflow == QDQ_FLOAT_SATURATE;
    for (size_t i = 0; i < n; i++) {
        if (p->numerics.cast_form == QDQ_CAST_TORCH)
            v[i] = nearest_power(p, v[i]);
        else if (v[i] < 0x1p-127f)
            v[i] = saturate ? 0x1p-127f : NAN;
        else if (v[i] > 0x1p127f)
            v[i] = saturate ? 0x1p127f : NAN;
        else if (!isnan(v[i]))
            v[i] = power_of_two(p->round_mode, v[i]);
    }
}

//---- On a chip --------------------------------------------------------------

// Returns an element as it arrives in the vector unit. A block float is a float32 here, with the
// significant bits of a bfloat16.
static uint32_t operand_on_chip(qdq_dtype dtype, const void *x, size_t i) {
    if (dtype == QDQ_FLOAT32) return ((const uint32_t *)x)[i];
    if (dtype == QDQ_BFLOAT16) return qdq_chip_load_bfloat16(((const uint16_t *)x)[i]);
    return qdq_chip_load_bfloat16((uint16_t)(((const uint32_t *)x)[i] >> 16));
}

// One loop of cast_on_chip: `v` is the element of x.
#define TO(type, ...)                                   \
    for (size_t i = 0; i < n; i++) {                    \
        uint32_t v = operand_on_chip(p->x_dtype, x, i); \
        ((type *)y)[i] = (type)(__VA_ARGS__);           \
    }                                                   \
    return true

static bool int_on_chip(const qdq_cast_params *p, const void *x, uint16_t *y, size_t n) {
    if (p->x_dtype != QDQ_INT32 || p->y_dtype != QDQ_BFLOAT16) return false;
    for (size_t i = 0; i < n; i++)
        y[i] = qdq_chip_cast_bfloat16_from_int32(((const int32_t *)x)[i]);
    return true;
}

// Converts as typecast and the packer after it do. False: nothing says how, or IEEE's way is exact.
static bool cast_on_chip(const qdq_cast_params *p, const void *x, void *y, size_t n) {
    bool from_float32 = p->x_dtype == QDQ_FLOAT32;
    bool from_narrow = p->x_dtype == QDQ_BFLOAT16 || qdq_dtype_is_block_float(p->x_dtype);
    if (!from_float32 && !from_narrow) return int_on_chip(p, x, y, n);
    switch ((int)p->y_dtype) {
    case QDQ_BFLOAT16:
        if (p->x_dtype == QDQ_BFLOAT16) return false;
        // Exact for a block float.
        TO(uint16_t, qdq_chip_pack_bfloat16((uint32_t)qdq_chip_cast_bfloat16(v) << 16));
    case QDQ_FLOAT32:
        if (from_float32) return false;
        TO(uint32_t, v);
    case QDQ_INT32: TO(int32_t, qdq_chip_cast_int32(v));
    case QDQ_UINT16: TO(uint16_t, qdq_chip_cast_uint16(v));
    case QDQ_UINT8: TO(uint8_t, qdq_chip_cast_uint8(v));
    default: return false;
    }
}
#undef TO

//---- The tile function ------------------------------------------------------

// True if bool says that a code is not 0: also of -0, and not of the least power of two.
static bool code_is_true(const qdq_cast_params *p) {
    return p->numerics.cast_form == QDQ_CAST_ONNX_RUNTIME && p->y_dtype == QDQ_BOOL &&
           qdq_dtype_is_real(p->x_dtype) && qdq_dtype_size(p->x_dtype) == 1;
}

static void cast_part(const qdq_cast_params *p, const void *x, void *y, size_t n) {
    const qdq_dtype_info *to = qdq_dtype_get(p->y_dtype);
    bool from_real = qdq_dtype_is_real(p->x_dtype);
    float real[PART];
    int32_t whole[PART];
    if (p->numerics.device_typecast && cast_on_chip(p, x, y, n)) return;
    if (qdq_cast_wide(p, x, y, n)) return;
    if (qdq_dtype_is_real(p->y_dtype)) {
        qdq_decode_float(p->x_dtype, x, real, n);
        for (size_t i = 0; qdq_cast_drops_minus(p) && i < n; i++) real[i] += 0.0f;
        if (to->kind == QDQ_KIND_EXPONENT) round_to_powers(p, real, n);
        qdq_encode_float(p->y_dtype, real, y, n, &p->numerics);
        return;
    }
    if (code_is_true(p)) {
        for (size_t i = 0; i < n; i++) whole[i] = ((const uint8_t *)x)[i] != 0;
    } else if (from_real) {
        qdq_decode_float(p->x_dtype, x, real, n);
        float_to_int(p, real, whole, n);
    } else {
        qdq_decode_int(p->x_dtype, x, whole, n);
        int_to_int(p, whole, whole, n);
    }
    qdq_encode_int(p->y_dtype, whole, y, n);
}

void qdq_cast_tile_portable(const void *params, const qdq_view *views, const void *x, void *y,
                            size_t n) {
    const qdq_cast_params *p = params;
    size_t x_size = qdq_dtype_size(p->x_dtype), y_size = qdq_dtype_size(p->y_dtype);
    (void)views;
    for (size_t at = 0; at < n; at += PART)
        cast_part(p, (const char *)x + at * x_size, (char *)y + at * y_size,
                  n - at < PART ? n - at : PART);
}
