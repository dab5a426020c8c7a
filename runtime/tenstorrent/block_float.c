// SPDX-License-Identifier: Apache-2.0
// Packs and unpacks tiles of bfloat8_b and bfloat4_b, and rounds float32 to numbers that they can
// hold.
#include "runtime/tenstorrent/block_float.h"

#include <string.h>

#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/tile_formats.h"

enum { FRACTION_BITS = 23, HIDDEN_ONE = 1 << FRACTION_BITS };

bool qdq_dtype_is_block_float(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return info && info->kind == QDQ_KIND_BLOCK_FLOAT;
}

// Bits of a code without its sign.
static int magnitude_bits(qdq_dtype dtype) { return qdq_dtype_get(dtype)->bits - 1; }

static int exponent_of(uint32_t bits) { return (int)(bits >> FRACTION_BITS & 0xFF); }

//---- Codes ------------------------------------------------------------------

// Returns the exponent that a group shares: the greatest of its elements. 0: only zeros and
// denormals.
static int shared_exponent(const float *group) {
    int shared = 0;
    for (size_t i = 0; i < QDQ_BLOCK_FLOAT_GROUP; i++) {
        int exponent = exponent_of(qdq_float_bits(group[i]));
        if (exponent > shared) shared = exponent;
    }
    return shared;
}

// Rounds as ttnn's host packer does. Rounding does not see the bits that the shift to the shared
// exponent drops; a value that rounds beyond the largest magnitude saturates; a zero has no sign.
static unsigned encode(float value, int shared, int magnitude) {
    uint32_t bits = qdq_float_bits(value);
    int exponent = exponent_of(bits), shift = shared - exponent;
    if (exponent == 0 || shift >= 32) return 0;
    uint32_t whole = (HIDDEN_ONE | (bits & (HIDDEN_ONE - 1))) >> shift;
    int rest_bits = FRACTION_BITS + 1 - magnitude;
    uint32_t half = 1u << (rest_bits - 1), rest = whole & (2 * half - 1);
    uint32_t code = whole >> rest_bits, largest = (1u << magnitude) - 1;
    if (rest > half || (rest == half && code % 2)) code++;
    if (code > largest) code = largest;
    return code ? (bits >> 31) << magnitude | code : 0;
}

// Decodes as ttnn's unpacker does: sign and magnitude * 2^(shared - 127 - (magnitude bits - 1)).
// The leading one of the magnitude becomes the hidden bit, also if the exponent is 255: the result
// is then an infinity or NaN. Magnitudes below the least exponent give +0; packing never writes
// them.
static float decode(unsigned code, int shared, int magnitude) {
    uint32_t sign = (uint32_t)(code >> magnitude) << 31, mask = (1u << magnitude) - 1;
    uint32_t fraction = code & mask;
    int exponent = shared;
    if (fraction == 0) return qdq_float_from_bits(sign);
    for (; !(fraction >> (magnitude - 1)); exponent--) fraction <<= 1;
    if (exponent < 0) return 0;
    fraction = (fraction << 1 & mask) << (FRACTION_BITS - magnitude);
    return qdq_float_from_bits(sign | (uint32_t)exponent << FRACTION_BITS | fraction);
}

//---- Tiles ------------------------------------------------------------------

size_t qdq_block_float_codes_at(size_t elements) {
    enum { ALIGNMENT = 16 };
    size_t groups = elements / QDQ_BLOCK_FLOAT_GROUP;
    return (groups + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void qdq_block_float_pack(qdq_dtype dtype, size_t elements, const float *block, void *tile) {
    size_t groups = elements / QDQ_BLOCK_FLOAT_GROUP, codes_at = qdq_block_float_codes_at(elements);
    uint8_t *exponents = tile, *codes = exponents + codes_at;
    int magnitude = magnitude_bits(dtype);
    memset(exponents + groups, 0, codes_at - groups);
    for (size_t g = 0; g < groups; g++) {
        const float *group = block + g * QDQ_BLOCK_FLOAT_GROUP;
        int shared = shared_exponent(group);
        exponents[g] = (uint8_t)shared;
        for (size_t i = 0; i < QDQ_BLOCK_FLOAT_GROUP; i++) {
            unsigned code = encode(group[i], shared, magnitude);
            if (magnitude == 7)
                *codes++ = (uint8_t)code;
            else if (i % 2 == 0)
                *codes = (uint8_t)code;
            else
                *codes++ |= (uint8_t)(code << 4);
        }
    }
}

void qdq_block_float_unpack(qdq_dtype dtype, size_t elements, const void *tile, float *block) {
    const uint8_t *exponents = tile, *codes = exponents + qdq_block_float_codes_at(elements);
    int magnitude = magnitude_bits(dtype);
    for (size_t i = 0; i < elements; i++) {
        unsigned code = magnitude == 7 ? codes[i] : (unsigned)codes[i / 2] >> (i % 2 * 4) & 0xFu;
        block[i] = decode(code, exponents[i / QDQ_BLOCK_FLOAT_GROUP], magnitude);
    }
}

static void round_on_host(int magnitude, float *group) {
    int shared = shared_exponent(group);
    for (size_t i = 0; i < QDQ_BLOCK_FLOAT_GROUP; i++)
        group[i] = decode(encode(group[i], shared, magnitude), shared, magnitude);
}

static void round_on_chip(int code_bits, bool precise, float *group) {
    uint32_t bits[QDQ_BLOCK_FLOAT_GROUP];
    uint8_t codes[QDQ_BLOCK_FLOAT_GROUP];
    for (size_t i = 0; i < QDQ_BLOCK_FLOAT_GROUP; i++) bits[i] = qdq_float_bits(group[i]);
    uint8_t shared = qdq_chip_pack_block_float(bits, code_bits, precise, codes);
    for (size_t i = 0; i < QDQ_BLOCK_FLOAT_GROUP; i++) {
        uint32_t upper = qdq_chip_unpack_block_float(codes[i], code_bits, shared);
        group[i] = qdq_float_from_bits(upper << 16);
    }
}

void qdq_block_float_round(qdq_dtype dtype, qdq_block_float_store store, size_t elements,
                           float *block) {
    int magnitude = magnitude_bits(dtype);
    for (size_t g = 0; g < elements / QDQ_BLOCK_FLOAT_GROUP; g++) {
        float *group = block + g * QDQ_BLOCK_FLOAT_GROUP;
        if (store == QDQ_BLOCK_FLOAT_HOST)
            round_on_host(magnitude, group);
        else
            round_on_chip(magnitude + 1, store == QDQ_BLOCK_FLOAT_PRECISE, group);
    }
}
