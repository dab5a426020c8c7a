// SPDX-License-Identifier: Apache-2.0
// Element types: converts elements between memory and the registers that ops compute in. Memory
// holds an element in qdq_dtype_size(dtype) bytes; registers are float or int32_t, or have 64 bits.
// In tiles of the arena, types narrower than a byte are packed, the first element in the low bits,
// and block floats have a separate form (runtime/tenstorrent/block_float.h); here they are float32.
#ifndef QDQ_RUNTIME_NUMERICS_DTYPE_H
#define QDQ_RUNTIME_NUMERICS_DTYPE_H

#include <string.h>

#include "include/qdq/base.h"
#include "include/qdq/numerics.h"

bool qdq_dtype_is_int(qdq_dtype dtype);
// True for these and the wide integers, and bool.
bool qdq_dtype_is_whole(qdq_dtype dtype);

// Converts n elements of any dtype to float32; integers and float64 are rounded once, half to even.
void qdq_decode_float(qdq_dtype dtype, const void *x, float *out, size_t n);
// Converts n float32 to elements of a dtype of real numbers, rounded as `numerics` says (NULL: all
// zero, which means half to even, and float8 saturates).
void qdq_encode_float(qdq_dtype dtype, const float *in, void *y, size_t n,
                      const qdq_numerics *numerics);
// Convert integers and bool likewise; values must be in the range of the dtype. Decoding uint32,
// int64 and uint64 clamps to the range of int32_t.
void qdq_decode_int(qdq_dtype dtype, const void *x, int32_t *out, size_t n);
void qdq_encode_int(qdq_dtype dtype, const int32_t *in, void *y, size_t n);

// The same with registers of 64 bits, exact: uint64_t for uint64, int64_t for other integers and
// bool, double for real numbers. Encoding keeps the low bits of an integer; among the real dtypes
// it knows float64 only.
bool qdq_dtype_is_wide(qdq_dtype dtype);  // uint32, int64, uint64, float64
void qdq_decode_wide(qdq_dtype dtype, const void *x, void *out, size_t n);
void qdq_encode_wide(qdq_dtype dtype, const void *in, void *y, size_t n);

// Converts n elements between one byte each and their packed form, ceil(n * bits / 8) bytes. For
// dtypes narrower than a byte; n is a multiple of 8 / bits.
void qdq_pack_bits(qdq_dtype dtype, const void *elements, void *packed, size_t n);
void qdq_unpack_bits(qdq_dtype dtype, const void *packed, void *elements, size_t n);
bool qdq_dtype_is_packed(qdq_dtype dtype);
// Returns the index of the first of n bytes that is not an element of a dtype narrower than its
// byte (int4: -8 to 7 as an int8, float4: a code up to 15); SIZE_MAX if all are, and for other
// dtypes.
size_t qdq_first_beyond(qdq_dtype dtype, const void *elements, size_t n);

// Returns `value` rounded to a float dtype as `numerics` says (NULL: all zero).
float qdq_round_to_dtype(qdq_dtype dtype, float value, const qdq_numerics *numerics);

// True if a shape has a rank of 0 to QDQ_MAX_RANK, and dims of at least 1.
bool qdq_shape_is_legal(qdq_shape shape);

// Rounds like qdq_round_to_dtype; QDQ_DTYPE_NONE does not change the value.
static inline float qdq_round_to(qdq_dtype dtype, float value, const qdq_numerics *numerics) {
    return dtype == QDQ_DTYPE_NONE ? value : qdq_round_to_dtype(dtype, value, numerics);
}

static inline uint32_t qdq_float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float qdq_float_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Exact.
static inline float qdq_bfloat16_decode(uint16_t code) {
    return qdq_float_from_bits((uint32_t)code << 16);
}

// Rounds half to even; overflow gives infinity; NaN keeps its upper bits and stays NaN.
uint16_t qdq_bfloat16_encode(float value);

#endif
