// SPDX-License-Identifier: Apache-2.0
// Random numbers and the codes of floats, the same as in tools/peers/torchao_inputs.py.
#ifndef QDQ_TESTS_GRAPH_TARGETS_TORCHAO_TORCHAO_CODES_H
#define QDQ_TESTS_GRAPH_TARGETS_TORCHAO_TORCHAO_CODES_H

#include <math.h>

#include "tests/graph/targets/torchao/torchao_case.h"

// Output number `index` of splitmix64, for a state made of `number` and `stream`.
static inline uint64_t torchao_mix(uint64_t number, uint64_t stream, uint64_t index) {
    uint64_t z = ((4 * number + stream) << 32) + (index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// (r >> low) % modulus.
static inline int64_t torchao_field(uint64_t r, int low, int64_t modulus) {
    return (int64_t)((r >> low) % (uint64_t)modulus);
}

//---- Codes ------------------------------------------------------------------

typedef struct torchao_float {
    // least, greatest: exponents of the largest number in a block
    int bits, mantissa, bias, least, greatest;
} torchao_float;

static inline torchao_float torchao_float_of(qdq_dtype dtype) {
    if (dtype == QDQ_FLOAT16) return (torchao_float){16, 10, 15, -22, 13};
    if (dtype == QDQ_BFLOAT16) return (torchao_float){16, 7, 127, -130, 100};
    return (torchao_float){32, 23, 127, -140, 100};
}

typedef struct torchao_small {
    int mantissa, least, greatest;
    double largest;
} torchao_small;

// All zero for dtypes that are no small floats.
static inline torchao_small torchao_small_of(qdq_dtype dtype) {
    if (dtype == QDQ_FLOAT8_E4M3FN) return (torchao_small){3, -6, 8, 448};
    if (dtype == QDQ_FLOAT8_E5M2) return (torchao_small){2, -14, 15, 57344};
    if (dtype == QDQ_FLOAT4_E2M1) return (torchao_small){1, 0, 2, 6};
    return (torchao_small){0};
}

static inline uint32_t torchao_infinity(qdq_dtype dtype) {
    return dtype == QDQ_FLOAT16 ? 0x7C00 : dtype == QDQ_BFLOAT16 ? 0x7F80 : 0x7F800000;
}

static inline uint32_t torchao_sign(qdq_dtype dtype) {
    return (uint32_t)1 << (torchao_float_of(dtype).bits - 1);
}

static inline uint32_t torchao_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float torchao_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Rounds half to even; no NaN.
static inline uint32_t torchao_to_float16(uint32_t bits) {
    uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
    if (size >= 0x477FF000) return sign | 0x7C00;  // from 65520 on
    if (size < 0x38800000)                         // a multiple of 2^-24, rounded by adding 1/2
        return sign | (torchao_bits(torchao_of_bits(size) + 0.5f) - 0x3F000000);
    return sign | ((size - 0x38000000 + 0xFFF + (size >> 13 & 1)) >> 13);
}

static inline uint32_t torchao_encode(qdq_dtype dtype, double value) {
    uint32_t bits = torchao_bits((float)value);
    if (dtype == QDQ_FLOAT16) return torchao_to_float16(bits);
    return dtype == QDQ_BFLOAT16 ? (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 : bits;
}

// The value of a finite code.
static inline double torchao_decode(qdq_dtype dtype, uint32_t code) {
    if (dtype == QDQ_BFLOAT16) code <<= 16;
    if (dtype != QDQ_FLOAT16) return (double)torchao_of_bits(code);
    int exponent = (int)(code >> 10 & 31), fraction = (int)(code & 1023);
    double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return code & 0x8000 ? -size : size;
}

static inline uint32_t torchao_nudge(qdq_dtype dtype, uint32_t code, int64_t steps) {
    uint32_t sign = torchao_sign(dtype), most = torchao_infinity(dtype);
    int64_t size = (int64_t)(code & (sign - 1)) + steps;
    size = size < 0 ? 0 : size > (int64_t)most ? (int64_t)most : size;
    return (code & sign) | (uint32_t)size;
}

static inline int64_t torchao_jitter(uint64_t r) {
    static const int steps[4] = {-1, 0, 1, 0};
    return steps[r >> 62];
}

// The number with a sign from bit `bit` of r.
static inline uint32_t torchao_signed(qdq_dtype dtype, uint64_t r, int bit) {
    return r >> bit & 1 ? torchao_sign(dtype) : 0;
}

static inline uint32_t torchao_special(qdq_dtype dtype, uint64_t r, bool nan) {
    uint32_t inf = torchao_infinity(dtype);
    uint32_t sizes[8] = {0,       1,
                         inf - 1, inf,
                         2,       nan ? inf + 1 : 0,
                         inf - 2, (uint32_t)1 << torchao_float_of(dtype).mantissa};
    return sizes[r >> 8 & 7] | torchao_signed(dtype, r, 11);
}

static inline uint32_t torchao_any(qdq_dtype dtype, uint64_t r, bool nan) {
    uint32_t sign = torchao_sign(dtype), inf = torchao_infinity(dtype);
    uint32_t code = (uint32_t)(r >> 8) & (sign | (sign - 1));
    return !nan && (code & (sign - 1)) > inf ? (code & sign) | inf : code;
}

// Stores `code` as element i of a buffer with elements of `size` bytes.
static inline void torchao_store(void *buffer, size_t size, size_t i, uint32_t code) {
    if (size == 1) ((uint8_t *)buffer)[i] = (uint8_t)code;
    if (size == 2) ((uint16_t *)buffer)[i] = (uint16_t)code;
    if (size == 4) ((uint32_t *)buffer)[i] = code;
}

#endif
