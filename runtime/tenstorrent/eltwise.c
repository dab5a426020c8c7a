// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of a chip (docs/device_arithmetic.md 8). float32 goes through the vector
// unit. Sums of bfloat16 go through the matrix unit, and all else of bfloat16 through the vector
// unit, with an explicit rounding if Dst has 16 bits.
#include "runtime/tenstorrent/eltwise.h"

#include "runtime/tenstorrent/fpu.h"
#include "runtime/tenstorrent/patterns.h"
#include "runtime/tenstorrent/sfpmad.h"
#include "runtime/tenstorrent/sfpu.h"
#include "runtime/tenstorrent/tile_formats.h"

static bool is_zero(uint32_t v) { return (v & MAGNITUDE) < LEAST_NORMAL; }

// Returns an operand in the vector unit.
static uint32_t load(qdq_chip_formats formats, uint32_t v) {
    return formats == QDQ_CHIP_FLOAT32 ? v : qdq_chip_load_bfloat16((uint16_t)(v >> 16));
}

// Packs as the packer does, from a Dst of 16 bits.
static uint32_t pack_bfloat16(uint32_t v) {
    return (uint32_t)qdq_chip_pack_bfloat16_dst16((uint16_t)(v >> 16)) << 16;
}

// Moves a result from the vector unit to the tile. A kernel for a Dst of 16 bits rounds half to
// even.
static uint32_t store(qdq_chip_formats formats, uint32_t v) {
    if (formats != QDQ_CHIP_BFLOAT16) return qdq_sfp_store(v);
    return pack_bfloat16((uint32_t)qdq_chip_cast_bfloat16(v) << 16);
}

//---- Sums -------------------------------------------------------------------

static uint32_t sum_in_matrix_unit(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a,
                                   uint32_t b) {
    bool dst32 = formats != QDQ_CHIP_BFLOAT16;
    uint32_t sum = qdq_fpu_elwadd(chip, dst32, a, b);
    return dst32 ? sum : pack_bfloat16(sum);
}

uint32_t qdq_chip_add(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a, uint32_t b) {
    if (formats != QDQ_CHIP_FLOAT32) return sum_in_matrix_unit(chip, formats, a, b);
    return store(formats, qdq_sfpmad(chip, a, ONE, b));
}

// Wormhole's multiply-add has no subtraction: it multiplies by -1. On Blackhole both ways give the
// same bits.
uint32_t qdq_chip_subtract(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a,
                           uint32_t b) {
    if (formats != QDQ_CHIP_FLOAT32) return sum_in_matrix_unit(chip, formats, a, b ^ SIGN_BIT);
    return store(formats, qdq_sfpmad(chip, b, MINUS_ONE, a));
}

//---- Products and quotients -------------------------------------------------

// Into a Dst of 16 bits a zero times anything is +0, as in the matrix unit.
uint32_t qdq_chip_multiply(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a,
                           uint32_t b) {
    a = load(formats, a), b = load(formats, b);
    if (formats == QDQ_CHIP_BFLOAT16 && (is_zero(a) || is_zero(b))) return 0;
    return store(formats, qdq_sfpmul(chip, a, b));
}

// Into a Dst of 16 bits the quotient is a product with the reciprocal.
uint32_t qdq_chip_divide(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a, uint32_t b) {
    a = load(formats, a), b = load(formats, b);
    if (formats != QDQ_CHIP_BFLOAT16) return store(formats, qdq_sfp_divide(chip, a, b));
    if (!is_zero(b)) return store(formats, qdq_sfpmul(chip, a, qdq_sfp_reciprocal(chip, b)));
    return store(formats, is_zero(a) ? NAN_BITS : (a & SIGN_BIT) | INFINITY_BITS);
}

uint32_t qdq_chip_reciprocal(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a) {
    return store(formats, qdq_sfp_reciprocal(chip, load(formats, a)));
}

//---- Order ------------------------------------------------------------------

uint32_t qdq_chip_minimum(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a, uint32_t b) {
    (void)chip;
    return store(formats, qdq_sfp_min(load(formats, a), load(formats, b)));
}

uint32_t qdq_chip_maximum(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a, uint32_t b) {
    (void)chip;
    return store(formats, qdq_sfp_max(load(formats, a), load(formats, b)));
}

uint32_t qdq_chip_relu(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a) {
    return qdq_chip_maximum(chip, formats, a, 0);
}
