// SPDX-License-Identifier: Apache-2.0
// One element of Quantize, Dequantize and Requantize by the multiply-add of a chip, or by the steps
// of its kernels: the order of instructions of tt-metal's quantization kernels
// (docs/device_arithmetic.md 4). The multiply-add may be IEEE's as well.
#include "runtime/tenstorrent/quantize_device.h"

#include "runtime/numerics/fma.h"
#include "runtime/tenstorrent/eltwise.h"
#include "runtime/tenstorrent/sfpmad.h"
#include "runtime/tenstorrent/sfpu.h"
#include "runtime/tenstorrent/tile_formats.h"

#define ONE 0x3F800000u
#define MINUS_ONE 0xBF800000u
#define BIAS_128 0x43000000u
#define MAGIC 0x4B400000u  // 1.5 * 2^23: a sum with it has no fraction

static uint32_t bits_of(float v) { return qdq_float_bits(v); }
static float float_of(uint32_t v) { return qdq_float_from_bits(v); }

static uint32_t multiply_add(const qdq_numerics *n, uint32_t x, uint32_t y, uint32_t z) {
    if (n->multiply_add != QDQ_MULTIPLY_ADD_IEEE) return qdq_sfpmad(n->multiply_add, x, y, z);
    float sum = qdq_fmaf(qdq_flushed(n, float_of(x)), qdq_flushed(n, float_of(y)),
                         qdq_flushed(n, float_of(z)));
    return bits_of(qdq_flushed(n, sum));
}

static uint32_t add(const qdq_numerics *n, uint32_t x, uint32_t y) {
    return multiply_add(n, x, ONE, y);
}

static uint32_t multiply(const qdq_numerics *n, uint32_t x, uint32_t y) {
    return multiply_add(n, x, y, 0);
}

static uint32_t divide(const qdq_numerics *n, uint32_t x, uint32_t y) {
    if (n->multiply_add != QDQ_MULTIPLY_ADD_IEEE) return qdq_sfp_divide(n->multiply_add, x, y);
    return bits_of(qdq_flushed(n, qdq_flushed(n, float_of(x)) / qdq_flushed(n, float_of(y))));
}

static uint32_t quantize_step(const qdq_numerics *n, uint32_t v) {
    return bits_of(qdq_quantize_step(n, float_of(v)));
}

static uint32_t dequantize_step(const qdq_numerics *n, uint32_t v) {
    return bits_of(qdq_dequantize_step(n, float_of(v)));
}

//---- Quantize ---------------------------------------------------------------

// Returns the scale, for a chip converted to bfloat16 by its typecast.
static float scale_of(const qdq_numerics *n, float s) {
    if (!n->multiply_add || n->scale_dtype != QDQ_BFLOAT16) return qdq_quantize_scale(n, s);
    return float_of((uint32_t)qdq_chip_cast_bfloat16(bits_of(s)) << 16);
}

// The host hands a chip 1 / s in bfloat16 without the low bits.
static uint32_t inverse_of(const qdq_numerics *n, float s) {
    s = scale_of(n, s);
    if (!n->multiply_add) return bits_of(qdq_reciprocal_one(n, s));
    if (n->scaling == QDQ_SCALE_DEVICE_RECIPROCAL)
        return qdq_sfp_reciprocal(n->multiply_add, bits_of(s));
    if (n->reciprocal_dtype != QDQ_BFLOAT16) return bits_of(qdq_reciprocal_one(n, s));
    return bits_of(qdq_flushed(n, 1.0f / s)) & 0xFFFF0000u;
}

// True if steps are a chip's elementwise ops of bfloat16.
static bool in_bfloat16(const qdq_numerics *n) {
    return n->multiply_add && n->quantize_step_dtype == QDQ_BFLOAT16;
}

// Computes x / s if the zero point is added separately.
static uint32_t scaled(const qdq_numerics *n, float x, float s) {
    bool divides = n->scaling == QDQ_SCALE_DIVIDE;
    uint32_t a = bits_of(x), b = divides ? bits_of(scale_of(n, s)) : inverse_of(n, s);
    if (in_bfloat16(n))
        return divides ? qdq_chip_divide(n->multiply_add, QDQ_CHIP_BFLOAT16, a, b)
                       : qdq_chip_multiply(n->multiply_add, QDQ_CHIP_BFLOAT16, a, b);
    return quantize_step(n, divides ? divide(n, a, b) : multiply(n, a, b));
}

// Returns v + z, both rounded to the dtype of the steps.
static uint32_t shifted(const qdq_numerics *n, uint32_t v, int32_t z) {
    if (!in_bfloat16(n)) return quantize_step(n, add(n, v, quantize_step(n, bits_of((float)z))));
    uint32_t zero = (uint32_t)qdq_chip_cast_bfloat16_from_int32(z) << 16;
    return qdq_chip_add(n->multiply_add, QDQ_CHIP_BFLOAT16, v, zero);
}

// Returns the place in the total order of the chip, which bounds are compared in.
static int64_t place(uint32_t v) {
    int64_t magnitude = v & 0x7FFFFFFF;
    return v >> 31 ? -magnitude - 1 : magnitude;
}

// The sum with 1.5 * 2^23 has the rounded quotient in its last bits. The zero point and the bounds
// are sums of this kind too.
static int32_t quantize_by_magic(const qdq_numerics *n, float x, float inverse, int32_t z,
                                 const qdq_range *range) {
    uint32_t zero = multiply_add(n, bits_of((float)z), MINUS_ONE, MAGIC);
    uint32_t sum = multiply_add(n, bits_of(x), bits_of(inverse), MAGIC);
    if ((sum & 0x7FFFFFFF) > 0x7F800000 && n->nan != QDQ_NAN_BY_SIGN)
        return qdq_to_integer(n, float_of(sum), 0, z, range);
    return (int32_t)qdq_clamp_one(place(sum) - place(zero), range->quant_min, range->quant_max);
}

// Rounds a float sum. With `fold_128` it is 128 too large.
static int32_t to_integer(const qdq_numerics *n, uint32_t v, int32_t z, const qdq_range *range) {
    return qdq_to_integer(n, float_of(v), n->fold_128 ? -128 : 0, z, range);
}

// Returns a float zero point, with 128 more if the kernel has them.
static uint32_t folded(const qdq_numerics *n, uint32_t z) {
    return n->fold_128 ? multiply_add(n, z, ONE, BIAS_128) : z;
}

static bool adds_in_one(const qdq_numerics *n) {
    return n->zero_point_order == QDQ_ZERO_POINT_AFTER_MAGIC ||
           n->zero_point_order == QDQ_ZERO_POINT_FMA;
}

bool qdq_quantizes_by_chip_inverse(const qdq_numerics *n) {
    return n->scaling == QDQ_SCALE_DEVICE_RECIPROCAL && n->multiply_add && adds_in_one(n);
}

float qdq_quantize_inverse(const qdq_numerics *n, float s) { return float_of(inverse_of(n, s)); }

int32_t qdq_quantize_by_inverse(const qdq_numerics *n, float x, float inverse, int32_t z,
                                const qdq_range *range) {
    if (n->zero_point_order == QDQ_ZERO_POINT_AFTER_MAGIC)
        return quantize_by_magic(n, x, inverse, z, range);
    uint32_t zero = bits_of((float)z);
    uint32_t v = multiply_add(n, bits_of(x), bits_of(inverse), folded(n, zero));
    return to_integer(n, quantize_step(n, v), z, range);
}

int32_t qdq_quantize_device(const qdq_numerics *n, float x, float s, int32_t z,
                            const qdq_range *range) {
    if (adds_in_one(n)) return qdq_quantize_by_inverse(n, x, qdq_quantize_inverse(n, s), z, range);
    switch (n->zero_point_order) {
    case QDQ_ZERO_POINT_BEFORE:
        return to_integer(n, folded(n, shifted(n, scaled(n, x, s), z)), z, range);
    case QDQ_ZERO_POINT_AFTER_FLOAT: {
        float whole = qdq_round_one(n->rounding, float_of(scaled(n, x, s)));
        return qdq_to_integer(n, float_of(shifted(n, bits_of(whole), z)), 0, z, range);
    }
    case QDQ_ZERO_POINT_AFTER:
    default: return qdq_to_integer(n, float_of(scaled(n, x, s)), z, z, range);
    }
}

//---- Dequantize -------------------------------------------------------------

// Returns a code as a float.
static uint32_t float_of_code(const qdq_numerics *n, int32_t q) {
    if (n->sign_magnitude && q == INT32_MIN && !n->code_bias) return 0x80000000u;
    return bits_of((float)((int64_t)q + n->code_bias));
}

float qdq_dequantize_device(const qdq_numerics *n, int32_t q, float s, int32_t z) {
    uint32_t difference;
    if (n->subtraction == QDQ_SUBTRACT_EXACT) {
        difference = bits_of((float)((int64_t)q - (int64_t)z));
    } else {
        float minus = -(float)((int64_t)z + n->code_bias);
        difference =
            add(n, dequantize_step(n, float_of_code(n, q)), dequantize_step(n, bits_of(minus)));
    }
    difference = dequantize_step(n, difference);
    return float_of(dequantize_step(n, multiply(n, difference, bits_of(s))));
}

//---- Requantize -------------------------------------------------------------

// The host forms ratio and offset of the fused kernel, in float32.
static uint32_t fused(const qdq_numerics *n, uint32_t x, const qdq_requantize_scales *p) {
    float ratio = qdq_flushed(n, qdq_flushed(n, p->in_scale) / qdq_flushed(n, p->out_scale));
    float shift = qdq_flushed(n, (float)((int64_t)p->in_zero_point + n->code_bias) * ratio);
    float offset = qdq_flushed(n, (float)p->out_zero_point - shift);
    return multiply_add(n, x, bits_of(ratio), folded(n, bits_of(offset)));
}

// Computes as the chip does, each operation separately.
static uint32_t expanded(const qdq_numerics *n, uint32_t x, const qdq_requantize_scales *p) {
    uint32_t ratio = divide(n, bits_of(p->in_scale), bits_of(p->out_scale));
    uint32_t in_zero = bits_of((float)((int64_t)p->in_zero_point + n->code_bias));
    uint32_t shift = multiply(n, in_zero, ratio);
    uint32_t offset = add(n, bits_of((float)p->out_zero_point), shift ^ 0x80000000u);
    return folded(n, add(n, multiply(n, x, ratio), offset));
}

int32_t qdq_requantize_device(const qdq_numerics *n, float x, int32_t whole,
                              const qdq_requantize_scales *p, const qdq_range *range) {
    bool from_code = n->code_bias || (n->sign_magnitude && whole == INT32_MIN);
    uint32_t v = from_code ? float_of_code(n, whole) : bits_of(x);
    v = n->requantize_form == QDQ_REQUANTIZE_FUSED ? fused(n, v, p) : expanded(n, v, p);
    return to_integer(n, v, p->out_zero_point, range);
}
