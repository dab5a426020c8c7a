// SPDX-License-Identifier: Apache-2.0
// Formats of Tenstorrent's unpacker and packer, and typecasts (docs/device_arithmetic.md 3 and 6).
#include "runtime/tenstorrent/tile_formats.h"

#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/patterns.h"
#include "runtime/tenstorrent/sfpu.h"

static bool is_nan(uint32_t v) { return (v & MAGNITUDE) > INFINITY_BITS; }

//---- In ---------------------------------------------------------------------

uint32_t qdq_chip_load_bfloat16(uint16_t code) {
    uint32_t v = (uint32_t)code << 16;
    if ((v & MAGNITUDE) < LEAST_NORMAL) return 0;
    return is_nan(v) ? (v & SIGN_BIT) | INFINITY_BITS : v;
}

uint32_t qdq_chip_unpack_tf32(uint32_t v) { return v & ~0x1FFFu; }

uint16_t qdq_chip_unpack_bfloat16(uint32_t v) {
    return (v & MAGNITUDE) < LEAST_NORMAL ? 0 : (uint16_t)(v >> 16);
}

uint16_t qdq_chip_unpack_block_float(uint8_t code, int code_bits, uint8_t exponent) {
    uint32_t wide = (uint32_t)code << (8 - code_bits) & 0xFF, sign = wide >> 7 << 15;
    uint32_t magnitude = wide << 1 & 0xFF, zeros = 0;
    if (!magnitude) return sign ? 0xFF80 : 0;
    for (; !(magnitude & 0x80); magnitude <<= 1) zeros++;
    uint32_t of_value = (exponent - zeros) & 0xFF;
    return (uint16_t)(sign | of_value << 7 | (magnitude & 0x7E));
}

//---- Out --------------------------------------------------------------------

uint16_t qdq_chip_pack_bfloat16(uint32_t v) {
    if (is_nan(v)) return (uint16_t)(((v & SIGN_BIT) | INFINITY_BITS) >> 16);
    uint16_t code = (uint16_t)((v + 0x8000) >> 16);
    return code & 0x7F80 ? code : 0;
}

uint16_t qdq_chip_pack_bfloat16_dst16(uint16_t v) {
    return qdq_chip_pack_bfloat16((uint32_t)v << 16);
}

uint8_t qdq_chip_pack_uint8(uint32_t v) {
    if (v & SIGN_BIT) return 0;
    return (uint8_t)(v > 255 ? 255 : v);
}

uint8_t qdq_chip_pack_int8(uint32_t v) {
    uint32_t magnitude = v & MAGNITUDE;
    return (uint8_t)(v >> 24 & 0x80) | (uint8_t)(magnitude > 127 ? 127 : magnitude);
}

static uint8_t block_code(uint16_t v, uint32_t shared, int code_bits) {
    uint32_t exponent = v >> 7 & 0xFF, mantissa = exponent ? (v & 0x7F) | 0x80u : 0;
    uint32_t away = shared - exponent;
    mantissa = away >= 8 ? 0 : (mantissa + (1u << away)) >> (away + 1);
    if (mantissa > 127) mantissa = 127;
    mantissa >>= 8 - code_bits;
    return (uint8_t)(mantissa | (mantissa && v >> 15 ? 1u << (code_bits - 1) : 0));
}

// Rounds half away to 6 fraction bits, in the upper half; NaN becomes infinity.
static uint16_t early_block_float(uint32_t v) {
    if (is_nan(v)) return (uint16_t)(((v & SIGN_BIT) | INFINITY_BITS) >> 16);
    return (uint16_t)(((v >> 16) + 1) & 0xFFFE);
}

uint8_t qdq_chip_pack_block_float(const uint32_t v[16], int code_bits, bool precise,
                                  uint8_t codes[16]) {
    uint16_t early[16];
    uint32_t shared = 0;
    for (int i = 0; i < 16; i++) {
        early[i] = precise ? (uint16_t)(v[i] >> 16) : early_block_float(v[i]);
        if ((early[i] >> 7 & 0xFF) > (int)shared) shared = early[i] >> 7 & 0xFF;
    }
    for (int i = 0; i < 16; i++) codes[i] = block_code(early[i], shared, code_bits);
    return (uint8_t)shared;
}

//---- Typecast ---------------------------------------------------------------

uint16_t qdq_chip_cast_bfloat16(uint32_t v) {
    return (uint16_t)((v + 0x7FFF + (v >> 16 & 1)) >> 16);
}

// Returns the magnitude of v, truncated. Wants v below 2^32.
static uint32_t truncated(uint32_t v) {
    int power = (int)(v >> 23 & 0xFF) - 127;
    uint32_t mantissa = (v & 0x7FFFFF) | 0x800000;
    if (power < 0) return 0;
    return power <= 23 ? mantissa >> (23 - power) : mantissa << (power - 23);
}

int32_t qdq_chip_cast_int32(uint32_t v) {
    if ((v & MAGNITUDE) >= 0x4F000000u) return INT32_MIN;
    int32_t magnitude = (int32_t)truncated(v);
    return v & SIGN_BIT ? -magnitude : magnitude;
}

uint32_t qdq_chip_cast_uint32(uint32_t v) {
    if (v & SIGN_BIT) return 0;
    return v >= 0x4F800000u ? UINT32_MAX : truncated(v);
}

uint16_t qdq_chip_cast_uint16(uint32_t v) {
    return v & SIGN_BIT ? 0 : (uint16_t)qdq_sfp_round(v, 65535, false);
}

uint8_t qdq_chip_cast_uint8(uint32_t v) {
    return (uint8_t)((uint32_t)qdq_chip_cast_int32(v) & 0xFF);
}

uint32_t qdq_chip_cast_from_int32(int32_t v) { return qdq_float_bits((float)v); }

uint32_t qdq_chip_cast_from_uint32(uint32_t v) {
    float low = (float)(int32_t)(v & MAGNITUDE);
    return qdq_float_bits(v & SIGN_BIT ? low + 0x1p31f : low);
}

uint16_t qdq_chip_cast_bfloat16_from_int32(int32_t v) {
    return (uint16_t)(qdq_sfp_round_bfloat16(qdq_chip_cast_from_int32(v)) >> 16);
}
