// SPDX-License-Identifier: Apache-2.0
// Cast from or to uint32, int64, uint64 and float64, in registers of 64 bits: the rules of
// portable_cast.c without its roundings to float32.
#include <math.h>

#include "ops/kernels/kernel.h"
#include "runtime/numerics/dtype.h"

enum { PART = QDQ_CAST_PART };

// Returns the low bits of a packed integer, sign-extended if the dtype is signed; other integers
// unchanged: encoding drops their upper bits.
static uint64_t low_bits(uint64_t value, const qdq_dtype_info *y) {
    if (y->bits >= 8) return value;
    uint64_t low = value & ((UINT64_C(1) << y->bits) - 1);
    return y->least < 0 && low >> (y->bits - 1) ? low - (UINT64_C(1) << y->bits) : low;
}

// Toward zero, then clamped. NaN becomes 0.
static uint64_t truncated(double v, const qdq_dtype_info *y) {
    bool is_uint64 = y->bits == 64 && y->least == 0;
    if (isnan(v)) return 0;
    if (v <= (double)y->least) return (uint64_t)y->least;
    if (is_uint64) return v >= 0x1p64 ? UINT64_MAX : (uint64_t)v;
    return v >= (double)y->greatest ? (uint64_t)y->greatest : (uint64_t)(int64_t)v;
}

// Toward zero, then to int32 or int64 as the CPU converts; encoding drops the upper bits. PyTorch
// makes uint8 of an int64.
static uint64_t converted(const qdq_cast_params *p, double v, const qdq_dtype_info *y) {
    bool by_int64 = y->bits == 64 ||
                    (p->y_dtype == QDQ_UINT8 && p->numerics.cast_form == QDQ_CAST_TORCH);
    double limit = by_int64 ? 0x1p63 : 0x1p31, whole = trunc(v);
    if (isnan(v) && qdq_cast_drops_nan(p)) return 0;
    int64_t least = by_int64 ? INT64_MIN : INT32_MIN;
    if (whole >= -limit && whole < limit) return (uint64_t)(int64_t)whole;
    if (p->numerics.overflow == QDQ_OVERFLOW_X86) return (uint64_t)least;
    return isnan(v) ? 0 : whole < 0 ? (uint64_t)least : (uint64_t) - (least + 1);
}

// True for integers whose conversion is an instruction of the CPU.
static bool converts(const qdq_cast_params *p, const qdq_dtype_info *y) {
    return qdq_converts(&p->numerics) && (y->least < 0 || y->bits <= 16);
}

// Half even, then the low bits. From 2^63 on a double is a multiple of 2^11, so its low bits are 0.
// NaN and the infinities become 0 too.
static uint64_t wrapped(double v, const qdq_dtype_info *y) {
    double whole = rint(v);
    return fabs(whole) < 0x1p63 ? low_bits((uint64_t)(int64_t)whole, y) : 0;
}

// As Quantize does: half even, then clamped. NaN becomes the least.
static uint64_t quantized(double v, const qdq_dtype_info *y) {
    double whole = isnan(v) ? (double)y->least : rint(v);
    return (uint64_t)(int64_t)fmin(fmax(whole, (double)y->least), (double)y->greatest);
}

static bool quantizes(const qdq_cast_params *p) {
    return p->numerics.cast_quantizes && qdq_dtype_is_packed(p->y_dtype);
}

static void real_to_whole(const qdq_cast_params *p, const double *x, uint64_t *y, size_t n) {
    const qdq_dtype_info *info = qdq_dtype_get(p->y_dtype);
    if (info->kind == QDQ_KIND_BOOL)
        for (size_t i = 0; i < n; i++) y[i] = x[i] != 0;  // NaN is not 0
    else if (quantizes(p))
        for (size_t i = 0; i < n; i++) y[i] = quantized(x[i], info);
    else if (qdq_dtype_is_packed(p->y_dtype))
        for (size_t i = 0; i < n; i++) y[i] = wrapped(x[i], info);
    else if (converts(p, info))
        for (size_t i = 0; i < n; i++) y[i] = converted(p, x[i], info);
    else
        for (size_t i = 0; i < n; i++) y[i] = truncated(x[i], info);
}

static void whole_to_real(qdq_dtype x_dtype, const uint64_t *x, double *y, size_t n) {
    if (x_dtype == QDQ_UINT64)
        for (size_t i = 0; i < n; i++) y[i] = (double)x[i];
    else
        for (size_t i = 0; i < n; i++) y[i] = (double)(int64_t)x[i];
}

bool qdq_cast_wide(const qdq_cast_params *p, const void *x, void *y, size_t n) {
    bool from_real = qdq_dtype_is_real(p->x_dtype), to_real = qdq_dtype_is_real(p->y_dtype);
    uint64_t whole[PART];
    double real[PART];
    if (!qdq_dtype_is_wide(p->x_dtype) && !qdq_dtype_is_wide(p->y_dtype)) return false;
    if (to_real && p->y_dtype != QDQ_FLOAT64) return false;  // by way of float32
    qdq_decode_wide(p->x_dtype, x, from_real ? (void *)real : whole, n);
    if (to_real) {
        if (!from_real) whole_to_real(p->x_dtype, whole, real, n);
        qdq_encode_wide(p->y_dtype, real, y, n);
        return true;
    }
    if (from_real) {
        real_to_whole(p, real, whole, n);
    } else if (quantizes(p)) {  // by way of float32
        float narrow[PART];
        qdq_decode_float(p->x_dtype, x, narrow, n);
        for (size_t i = 0; i < n; i++)
            whole[i] = quantized((double)narrow[i], qdq_dtype_get(p->y_dtype));
    } else {
        for (size_t i = 0; i < n; i++) whole[i] = low_bits(whole[i], qdq_dtype_get(p->y_dtype));
    }
    qdq_encode_wide(p->y_dtype, whole, y, n);
    return true;
}
