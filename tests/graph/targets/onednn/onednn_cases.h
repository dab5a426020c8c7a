// SPDX-License-Identifier: Apache-2.0
// Constructed inputs for oneDNN's four quantizing ops, for both oneDNN and the library. Valid C and
// C++, as tools/peers/onednn_peer.cpp includes it, too. Wanted results are elsewhere.
//
// A batch is an op, a pair of dtypes and a kind of scale. Its cases are 2-d tensors; element i has
// parameter i / span, which is shared by the tensor, a row, or a part of a row.
#ifndef QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_CASES_H
#define QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_CASES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum onednn_op {
    ONEDNN_QUANTIZE,
    ONEDNN_DEQUANTIZE,
    ONEDNN_DYNAMIC_QUANTIZE,
    ONEDNN_DYNAMIC_DEQUANTIZE,
    ONEDNN_TYPE_CAST
} onednn_op;

// Codes of float8_e4m3fn, float8_e5m2 and so on are the low bits of a uint32_t.
typedef enum onednn_type {
    ONEDNN_NONE,
    ONEDNN_F32,
    ONEDNN_F16,
    ONEDNN_BF16,
    ONEDNN_S8,
    ONEDNN_U8,
    ONEDNN_S4,
    ONEDNN_U4,
    ONEDNN_S32,
    ONEDNN_E4M3,
    ONEDNN_E5M2
} onednn_type;

typedef enum onednn_kind {
    ONEDNN_POWERS,     // powers of two: ties are exact
    ONEDNN_FRACTIONS,  // k/127, 1/7, ...: dividing and multiplying by the reciprocal differ
    ONEDNN_NEAR_ONE,   // within and just outside 1e-6 of 1
    ONEDNN_ENDS,       // denormal, huge or negative
    ONEDNN_CHANNELS,   // one for each row, without zero points
    ONEDNN_ODD,        // zero, infinite or NaN: only at run time
    ONEDNN_GROUPS      // one for each 16 elements of a row, with zero points
} onednn_kind;

typedef struct onednn_batch {
    onednn_op op;
    onednn_type from, to;
    onednn_kind kind;
} onednn_batch;

typedef struct onednn_case {
    onednn_batch batch;
    onednn_type scale_type, zp_type;  // ONEDNN_NONE: no zero point
    size_t rows, cols, count;         // count is rows * cols
    size_t span, parameters;          // count is span * parameters
    uint32_t *x, *scales;             // codes
    int32_t *zps;                     // as many as scales
} onednn_case;

//---- Batches ----------------------------------------------------------------

// clang-format off
#define ONEDNN_KINDS(op, from, to)                                    \
    {op, from, to, ONEDNN_POWERS}, {op, from, to, ONEDNN_FRACTIONS},  \
    {op, from, to, ONEDNN_NEAR_ONE}, {op, from, to, ONEDNN_ENDS}
#define ONEDNN_STATIC(op, from, to)                                   \
    ONEDNN_KINDS(op, from, to), {op, from, to, ONEDNN_CHANNELS}
#define ONEDNN_DYNAMIC(to)                                            \
    ONEDNN_STATIC(ONEDNN_DYNAMIC_QUANTIZE, ONEDNN_F32, to),           \
    {ONEDNN_DYNAMIC_QUANTIZE, ONEDNN_F32, to, ONEDNN_ODD}
#define ONEDNN_NIBBLES(from, to) {ONEDNN_DYNAMIC_DEQUANTIZE, from, to, ONEDNN_GROUPS}
#define ONEDNN_BYTES(from, to)                                        \
    ONEDNN_KINDS(ONEDNN_DYNAMIC_DEQUANTIZE, from, to),                \
    {ONEDNN_DYNAMIC_DEQUANTIZE, from, to, ONEDNN_ODD},                \
    ONEDNN_NIBBLES(from, to)

static const onednn_batch onednn_batches[] = {
    ONEDNN_STATIC(ONEDNN_QUANTIZE, ONEDNN_F32, ONEDNN_S8),
    ONEDNN_STATIC(ONEDNN_QUANTIZE, ONEDNN_F32, ONEDNN_U8),
    ONEDNN_STATIC(ONEDNN_QUANTIZE, ONEDNN_F32, ONEDNN_E4M3),
    ONEDNN_STATIC(ONEDNN_QUANTIZE, ONEDNN_F32, ONEDNN_E5M2),
    ONEDNN_DYNAMIC(ONEDNN_S8),
    ONEDNN_DYNAMIC(ONEDNN_U8),
    ONEDNN_STATIC(ONEDNN_DEQUANTIZE, ONEDNN_S8, ONEDNN_F32),
    ONEDNN_STATIC(ONEDNN_DEQUANTIZE, ONEDNN_U8, ONEDNN_F32),
    ONEDNN_STATIC(ONEDNN_DEQUANTIZE, ONEDNN_E4M3, ONEDNN_F32),
    ONEDNN_STATIC(ONEDNN_DEQUANTIZE, ONEDNN_E5M2, ONEDNN_F32),
    ONEDNN_BYTES(ONEDNN_S8, ONEDNN_F32),   ONEDNN_BYTES(ONEDNN_S8, ONEDNN_BF16),
    ONEDNN_BYTES(ONEDNN_S8, ONEDNN_F16),   ONEDNN_BYTES(ONEDNN_U8, ONEDNN_F32),
    ONEDNN_BYTES(ONEDNN_U8, ONEDNN_BF16),  ONEDNN_BYTES(ONEDNN_U8, ONEDNN_F16),
    ONEDNN_NIBBLES(ONEDNN_S4, ONEDNN_F32), ONEDNN_NIBBLES(ONEDNN_S4, ONEDNN_BF16),
    ONEDNN_NIBBLES(ONEDNN_S4, ONEDNN_F16), ONEDNN_NIBBLES(ONEDNN_U4, ONEDNN_F32),
    ONEDNN_NIBBLES(ONEDNN_U4, ONEDNN_BF16), ONEDNN_NIBBLES(ONEDNN_U4, ONEDNN_F16),
    {ONEDNN_TYPE_CAST, ONEDNN_F32, ONEDNN_BF16, ONEDNN_POWERS},
    {ONEDNN_TYPE_CAST, ONEDNN_F32, ONEDNN_F16, ONEDNN_POWERS},
};
// clang-format on
enum { ONEDNN_BATCHES = sizeof onednn_batches / sizeof onednn_batches[0] };

//---- Bits -------------------------------------------------------------------

static inline float onednn_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t onednn_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Marsaglia's xorshift64.
static inline uint64_t onednn_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline bool onednn_is_float8(onednn_type type) {
    return type == ONEDNN_E4M3 || type == ONEDNN_E5M2;
}

static inline size_t onednn_size(onednn_type type) {
    if (type == ONEDNN_F32 || type == ONEDNN_S32) return 4;
    return type == ONEDNN_F16 || type == ONEDNN_BF16 ? 2 : 1;
}

static inline uint32_t onednn_infinity(onednn_type type) {
    if (type == ONEDNN_F32) return 0x7F800000;
    if (type == ONEDNN_E5M2) return 0x7C;
    return type == ONEDNN_BF16 ? 0x7F80 : 0x7C00;
}

// The result of element i, without the differences that kernels of oneDNN have among each other:
// * A type has one NaN. A float8 NaN keeps its sign unless x itself is NaN or 0.
// * A zero has no sign if it comes from float8, from groups, or from a zero v that becomes float8:
//   some kernels add a zero point of +0, others add none.
// * A bfloat16 below the normal range is zero, as is the least normal one, which denormals reach.
static inline uint32_t onednn_canonical(const onednn_case *c, size_t i, uint32_t code) {
    onednn_type to = c->batch.to;
    if (to == ONEDNN_S8 || to == ONEDNN_U8) return code;
    uint32_t sign = (uint32_t)1 << (onednn_size(to) * 8 - 1), size = code & (sign - 1);
    float x = c->batch.from == ONEDNN_F32 ? onednn_float(c->x[i]) : 1;
    bool signless = c->batch.kind == ONEDNN_GROUPS || onednn_is_float8(c->batch.from);
    if (onednn_is_float8(to)) signless = x * (1 / onednn_float(c->scales[i / c->span])) == 0;
    bool nan = to == ONEDNN_E4M3 ? size == 0x7F : size > onednn_infinity(to);
    if (nan) return to == ONEDNN_E4M3 && !isnan(x) && x != 0 ? code : sign - 1;
    if (to == ONEDNN_BF16 && size <= 0x80) size = 0, code &= sign;
    return signless && size == 0 ? 0 : code;
}

// FNV-1a, 64 bits, over the bytes of a code, low byte first. Starts from ONEDNN_HASH.
#define ONEDNN_HASH UINT64_C(0xCBF29CE484222325)
static inline uint64_t onednn_hash(uint64_t hash, onednn_type type, uint32_t code) {
    for (size_t i = 0; i < onednn_size(type); i++)
        hash = (hash ^ (code >> (8 * i) & 0xFF)) * UINT64_C(0x100000001B3);
    return hash;
}

#endif
