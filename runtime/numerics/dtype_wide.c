// SPDX-License-Identifier: Apache-2.0
// Elements in registers of 64 bits: the dtypes that float32 and int32_t cannot hold.
#include "runtime/base/fp_environment.h"
#include "runtime/numerics/dtype.h"

enum { PART = 256 };  // elements in 32-bit registers at a time

bool qdq_dtype_is_wide(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return info && (info->kind == QDQ_KIND_WIDE_INT || info->kind == QDQ_KIND_WIDE_FLOAT);
}

static void decode_narrow(qdq_dtype dtype, const char *x, void *out, size_t n) {
    size_t size = qdq_dtype_size(dtype);
    float real[PART];
    int32_t whole[PART];
    for (size_t at = 0; at < n; at += PART) {
        size_t part = n - at < PART ? n - at : PART;
        if (qdq_dtype_is_real(dtype)) {
            qdq_decode_float(dtype, x + at * size, real, part);
            for (size_t i = 0; i < part; i++) ((double *)out)[at + i] = (double)real[i];
        } else {
            qdq_decode_int(dtype, x + at * size, whole, part);
            for (size_t i = 0; i < part; i++) ((int64_t *)out)[at + i] = whole[i];
        }
    }
}

void qdq_decode_wide(qdq_dtype dtype, const void *x, void *out, size_t n) {
    if (!qdq_dtype_is_wide(dtype))
        decode_narrow(dtype, x, out, n);
    else if (dtype == QDQ_UINT32)
        for (size_t i = 0; i < n; i++) ((int64_t *)out)[i] = ((const uint32_t *)x)[i];
    else
        memcpy(out, x, n * sizeof(uint64_t));
}

void qdq_encode_wide(qdq_dtype dtype, const void *in, void *y, size_t n) {
    const uint64_t *bits = in;
    bool is_bool = qdq_dtype_get(dtype)->kind == QDQ_KIND_BOOL;
    switch (qdq_dtype_size(dtype)) {
    case 1:
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)y)[i] = (uint8_t)(is_bool ? bits[i] != 0 : bits[i]);
        break;
    case 2:
        for (size_t i = 0; i < n; i++) ((uint16_t *)y)[i] = (uint16_t)bits[i];
        break;
    case 4:
        for (size_t i = 0; i < n; i++) ((uint32_t *)y)[i] = (uint32_t)bits[i];
        break;
    default: memcpy(y, in, n * sizeof *bits);
    }
}

static bool is_whole(qdq_dtype dtype) { return qdq_dtype_get(dtype) && !qdq_dtype_is_real(dtype); }

void qdq_widen_int64(qdq_dtype dtype, const void *data, int64_t *out, size_t n) {
    QDQ_FIXED_ENVIRONMENT;
    if (is_whole(dtype) && data && out) qdq_decode_wide(dtype, data, out, n);
}

void qdq_widen_float64(qdq_dtype dtype, const void *data, double *out, size_t n) {
    QDQ_FIXED_ENVIRONMENT;
    if (qdq_dtype_is_real(dtype) && data && out) qdq_decode_wide(dtype, data, out, n);
}
