// SPDX-License-Identifier: Apache-2.0
// Scales and zero points for the cases of onednn_cases.h. Valid C and C++.
#ifndef QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_SCALES_H
#define QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_SCALES_H

#include "tests/graph/targets/onednn/onednn_cases.h"

//---- Scales ------------------------------------------------------------------

static const uint32_t onednn_powers[] = {0x3F800000, 0x3F000000, 0x3C000000, 0x3E000000,
                                         0x40000000, 0x41800000, 0x49800000, 0x2F800000};
// 1/127, 2/127, 3/127, 5/127, 13/127, 64/127, 100/127, 126/127; 1/7, 1/3, 0.1, 0.3, 1/255, 127/128.
static const uint32_t onednn_fractions[] = {
    0x3C010204, 0x3C810204, 0x3CC18306, 0x3D214285, 0x3DD1A347, 0x3F010204, 0x3F499326,
    0x3F7DFBF8, 0x3E124925, 0x3EAAAAAB, 0x3DCCCCCD, 0x3E99999A, 0x3B808081, 0x3F7E0000};
// 1 + 8 and 1 - 16 units in the last place are within 1e-6 of 1, one more unit is not.
static const uint32_t onednn_near_one[] = {0x3F800008, 0x3F800009, 0x3F7FFFF0, 0x3F7FFFEF,
                                           0x3F800001, 0x3F7FFFFF, 0x3F800014, 0x3F7FFFD8};
static const uint32_t onednn_ends[] = {0x00000001, 0x00012345, 0x00200000, 0x00200001, 0x00400000,
                                       0x00800000, 0x7F7FFFFF, 0x7F000000, 0x7E967699, 0x1E3CE508,
                                       0xBF000000, 0xBC010204, 0xBF800000};
static const uint32_t onednn_odd[] = {0x00000000, 0x80000000, 0x7F800000, 0xFF800000,
                                      0x7FC00000, 0xFFC00000, 0x80000001};
static const int32_t onednn_zps[] = {0, 1, 3, -7, 127, 1000, 16777217, INT32_MIN};
enum { ONEDNN_ZPS = sizeof onednn_zps / sizeof onednn_zps[0] };

static inline const uint32_t *onednn_scales(onednn_kind kind, size_t *count) {
#define ONEDNN_LIST(list) (*count = sizeof(list) / sizeof((list)[0]), list)
    switch (kind) {
    case ONEDNN_POWERS: return ONEDNN_LIST(onednn_powers);
    case ONEDNN_FRACTIONS: return ONEDNN_LIST(onednn_fractions);
    case ONEDNN_NEAR_ONE: return ONEDNN_LIST(onednn_near_one);
    case ONEDNN_ENDS: return ONEDNN_LIST(onednn_ends);
    default: return ONEDNN_LIST(onednn_odd);
    }
#undef ONEDNN_LIST
}

// A float32 truncated to a scale of another type; out of range, the nearest end.
static inline uint32_t onednn_cut(onednn_type type, uint32_t bits) {
    if (type == ONEDNN_F32) return bits;
    uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
    if (size == 0) return sign;
    if (type == ONEDNN_BF16) return bits >> 16 | (size < 0x10000);
    if (size >= 0x7F800000) return sign | (size > 0x7F800000 ? 0x7E00 : 0x7C00);
    if (size < 0x38800000) return sign | 1;
    return sign | (size >= 0x47800000 ? 0x7BFF : (size - 0x38000000) >> 13);
}

// A random scale: a third k/127, a third between 2^-20 and 2^20, the rest any finite number but
// zero.
static inline uint32_t onednn_any_scale(onednn_type type, uint64_t *seed) {
    uint64_t r = onednn_random(seed);
    uint32_t bits = (uint32_t)(r >> 32);
    if (r % 3 == 0) bits = onednn_bits((float)(r >> 8 & 0xFF) / 127.0f);
    if (r % 3 == 1) bits = (bits & 0x7FFFFF) | (uint32_t)(107 + (r >> 8) % 41) << 23;
    if ((bits & 0x7F800000) == 0x7F800000) bits &= 0xBFFFFFFF;
    bits = onednn_cut(type, bits);
    return bits << (32 - 8 * onednn_size(type)) << 1 ? bits : bits | 1;
}

//---- Zero points ------------------------------------------------------------

// The dtype in which a case stores its zero points.
static inline onednn_type onednn_zp_type(onednn_batch b, size_t number, int32_t zp) {
    bool is_static = b.op == ONEDNN_QUANTIZE || b.op == ONEDNN_DEQUANTIZE;
    if (onednn_is_float8(b.from) || onednn_is_float8(b.to)) return ONEDNN_NONE;
    if (is_static) return zp ? ONEDNN_S32 : ONEDNN_NONE;
    if (zp == 0 && number % 2) return ONEDNN_NONE;
    if (number % 3 == 0 && zp >= -128 && zp <= 127) return ONEDNN_S8;
    return number % 3 == 1 && zp >= 0 && zp <= 255 ? ONEDNN_U8 : ONEDNN_S32;
}

static inline int32_t onednn_any_zp(onednn_type type, uint64_t *seed) {
    uint64_t r = onednn_random(seed);
    int32_t value = (int32_t)(uint32_t)(r >> 32);
    switch (type) {
    case ONEDNN_S8: return (int32_t)(r >> 8 & 0xFF) - 128;
    case ONEDNN_U8: return (int32_t)(r >> 8 & 0xFF);
    case ONEDNN_S4: return (int32_t)(r >> 8 & 15) - 8;
    case ONEDNN_U4: return (int32_t)(r >> 8 & 15);
    case ONEDNN_S32: return r & 7 ? value % 1000 : value;
    default: return 0;
    }
}

#endif
