// SPDX-License-Identifier: Apache-2.0
// Elements on their way into and out of a Tenstorrent core: the unpacker, which turns elements of
// tiles into operands, and the packer, which turns results into elements of tiles.
#ifndef QDQ_RUNTIME_TENSTORRENT_TILE_FORMATS_H
#define QDQ_RUNTIME_TENSTORRENT_TILE_FORMATS_H

#include "include/qdq/numerics.h"

//---- In ---------------------------------------------------------------------

// A bfloat16 that reaches the vector unit through an addition of zero in the matrix unit: denormals
// and -0 become +0, NaN infinity with its sign.
uint32_t qdq_chip_load_bfloat16(uint16_t code);
// Converts float32 to the 19 bits of the matrix unit's operands, at their places in a float32:
// truncates.
uint32_t qdq_chip_unpack_tf32(uint32_t v);
// Converts float32 to bfloat16 in the unpacker: truncates; denormals become +0.
uint16_t qdq_chip_unpack_bfloat16(uint32_t v);
// Returns the bfloat16 of a block float's code with `code_bits` 8, 4 or 2, sign included. The code
// of minus zero is minus infinity, and the exponent wraps around below 0. qdq_block_float_* have
// the rule of the host, which differs.
uint16_t qdq_chip_unpack_block_float(uint8_t code, int code_bits, uint8_t exponent);

//---- Out --------------------------------------------------------------------

// Converts float32 to bfloat16: half away from zero; a result that is a zero or a denormal becomes
// +0, NaN infinity with its sign.
uint16_t qdq_chip_pack_bfloat16(uint32_t v);
// The same from a 16-bit Dst.
uint16_t qdq_chip_pack_bfloat16_dst16(uint16_t v);
// Converts integers, in sign and magnitude, to a byte: uint8 0..255, int8 sign and at most 127.
uint8_t qdq_chip_pack_uint8(uint32_t v);
uint8_t qdq_chip_pack_int8(uint32_t v);
// Packs 16 float32 that share an exponent to codes of a block float; returns the exponent.
// `precise` leaves out an early rounding to 7 significand bits, which turns NaN into infinity.
uint8_t qdq_chip_pack_block_float(const uint32_t v[16], int code_bits, bool precise,
                                  uint8_t codes[16]);

//---- Typecast ---------------------------------------------------------------

// ttnn.typecast of float32 patterns and integers.
uint16_t qdq_chip_cast_bfloat16(uint32_t v);  // half to even, unlike the packer
int32_t qdq_chip_cast_int32(uint32_t v);      // truncates; beyond the range and NaN: INT32_MIN
uint32_t qdq_chip_cast_uint32(uint32_t v);    // truncates and saturates
uint16_t qdq_chip_cast_uint16(uint32_t v);    // half away from zero, saturates
uint8_t qdq_chip_cast_uint8(uint32_t v);      // truncates and keeps the low 8 bits
uint32_t qdq_chip_cast_from_int32(int32_t v);
uint32_t qdq_chip_cast_from_uint32(uint32_t v);         // bit 31 is added after the rest is rounded
uint16_t qdq_chip_cast_bfloat16_from_int32(int32_t v);  // rounded twice, the second time away

#endif
