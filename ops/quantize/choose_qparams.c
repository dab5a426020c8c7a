// SPDX-License-Identifier: Apache-2.0
// Computes the scale and the zero point of a block, by a scheme, from the least and greatest
// element of the block and the presence of a NaN. MX scales are float8_e8m0, NVFP4 scales
// float8_e4m3fn.
#include "ops/quantize/choose_qparams.h"

#include "runtime/numerics/small_float.h"

static float absmax(const qdq_block_range *block) {
    return -block->low > block->high ? -block->low : block->high;
}

//---- The core: float32, NaN ignored, an all-zero range gives scale 1 ---------

static float core_scale(const qdq_choose_params *p, const qdq_block_range *block) {
    float qmin = (float)p->range.quant_min, qmax = (float)p->range.quant_max;
    switch (p->scheme) {
    case QDQ_SYMMETRIC:
        return absmax(block) /
               (qdq_dtype_is_int(p->y_dtype) ? qmax : qdq_small_float_largest(p->y_dtype));
    case QDQ_SYMMETRIC_NO_CLIPPING: {
        float above = block->high / qmax, below = qmin < 0 ? block->low / qmin : 0;
        return below > above ? below : above;
    }
    default: return (block->high - block->low) / (qmax - qmin);
    }
}

// True if a scale of 0 becomes 1. In the core a range so small that its scale is 0 counts as all
// zero. ONNX Runtime looks at the range: an underflow leaves the scale 0, and y the greatest code, the
// least, or the least for a NaN.
static bool has_no_range(const qdq_choose_params *p, const qdq_block_range *block, float scale) {
    bool runtime = p->choice == QDQ_CHOOSE_ORT_X86 || p->choice == QDQ_CHOOSE_ORT_ARM;
    return scale == 0 && (!runtime || block->high == block->low);
}

static qdq_qparams choose_core(const qdq_choose_params *p, const qdq_block_range *block) {
    float qmin = (float)p->range.quant_min, qmax = (float)p->range.quant_max;
    float scale = core_scale(p, block);
    int64_t zero_point = 0;
    if (scale > 0 && scale < p->eps) scale = p->eps;
    if (has_no_range(p, block, scale)) {
        scale = 1.0f;
    } else if (p->scheme == QDQ_ASYMMETRIC) {
        float exact = qmin - block->low / scale;
        exact = !(exact < qmax) ? qmax : exact < qmin ? qmin : exact;  // NaN too: ONNX Runtime 1.30
        zero_point = (int64_t)qdq_round_half_even(exact);
    }
    return (qdq_qparams){
        scale, (int32_t)qdq_clamp_one(zero_point, p->range.quant_min, p->range.quant_max)};
}

//---- torchao: in the dtype of x, NaN propagates ------------------------------

static float step(const qdq_choose_params *p, float v) {
    return qdq_dtype_is_real(p->x_dtype) ? qdq_round_to_dtype(p->x_dtype, v, NULL) : v;
}

static float torchao_scale(const qdq_choose_params *p, const qdq_block_range *block) {
    float width = (float)(p->high - p->low);
    if (p->scheme == QDQ_ASYMMETRIC) return step(p, step(p, block->high - block->low) / width);
    if (p->scheme == QDQ_SYMMETRIC) return step(p, absmax(block) / (width / 2));
    float below = step(p, block->low / (float)p->low);
    float above = step(p, block->high / (float)p->high);
    return below > above ? below : above;
}

// Returns a sum of bounds and rounded quotients, which torchao rounds and clamps in the dtype of x,
// as a zero point of y. torchao's own are int32, so beyond y's dtype it saturates.
static int32_t torchao_zero_point(const qdq_choose_params *p, float exact) {
    float least = step(p, (float)p->low), most = step(p, (float)p->high);
    float z = exact > most ? most : exact >= least ? exact : least;  // NaN: the least
    int64_t whole = p->choice == QDQ_CHOOSE_TORCHAO_0_18
                        ? qdq_converted(QDQ_OVERFLOW_X86, truncf(z))
                        : (int64_t)z;
    return (int32_t)qdq_clamp_one(whole, p->range.least, p->range.greatest);
}

static qdq_qparams choose_torchao(const qdq_choose_params *p, const qdq_block_range *block) {
    if (!qdq_dtype_is_int(p->y_dtype))  // float8: no floor
        return (qdq_qparams){
            block->nan ? NAN : step(p, absmax(block) / qdq_small_float_largest(p->y_dtype)), 0};
    float scale = block->nan ? NAN : torchao_scale(p, block), eps = step(p, p->eps);
    if (scale < eps) scale = eps;
    if (p->scheme != QDQ_ASYMMETRIC)
        return (qdq_qparams){scale, (int32_t)step(p, (float)trunc((p->high + p->low + 1) / 2))};
    float whole = qdq_round_half_even(step(p, block->low / scale));
    return (qdq_qparams){scale, torchao_zero_point(p, step(p, step(p, (float)p->low) - whole))};
}

//---- Powers of two ----------------------------------------------------------

static bool is_torchao(const qdq_choose_params *p) {
    return p->choice == QDQ_CHOOSE_TORCHAO || p->choice == QDQ_CHOOSE_TORCHAO_0_18;
}

// Returns the code of the least power of two that is at least d; 255 if d is not finite.
static int round_up_to_power(float d) {
    uint32_t bits = qdq_float_bits(d);
    int exponent = (int)(bits >> 23 & 0xFF);
    uint32_t mantissa = bits & 0x7FFFFF;
    if (exponent == 0xFF) return 0xFF;
    return exponent + (mantissa > (exponent ? 0u : 0x400000u));
}

// Returns the number of float32 steps above 2^exponent whose float32 logarithm is the exponent.
static uint32_t steps_without_logarithm(int exponent) {
    int whole = exponent < 0 ? -exponent - 1 : exponent;
    return whole >= 64 ? 22 : whole >= 32 ? 11 : whole >= 16 ? 5 : whole >= 8 ? 2 : whole >= 4;
}

// The same by a float32 logarithm that is rounded up: torchao 0.18's code.
static int round_logarithm_up(float d) {
    uint32_t bits = qdq_float_bits(d), mantissa = bits & 0x7FFFFF;
    int exponent = (int)(bits >> 23 & 0xFF);
    if (exponent >= 0xFE) return 0xFE;
    if (exponent == 0) return mantissa > 0x400000 + steps_without_logarithm(-127) / 2;
    return exponent + (mantissa > steps_without_logarithm(exponent - 127));
}

static int power_code(const qdq_choose_params *p, float most, const qdq_small_float *format) {
    float largest = qdq_small_float_decode(format, format->largest);
    bool old = p->choice == QDQ_CHOOSE_TORCHAO_0_18;
    if (p->scheme == QDQ_MX_RCEIL)
        return old ? round_logarithm_up(most / largest)
                   : round_up_to_power(most * (1.0f / largest));
    int largest_exponent = (int)(qdq_float_bits(largest) >> 23) - 127;
    uint32_t bits = qdq_float_bits(most);
    if (p->scheme == QDQ_MX_EVEN) bits += 1u << (23 - format->mantissa_bits - 1);
    int code = (int)(bits >> 23);
    if (code == 0xFF && !old) return 0xFF;
    if (p->scheme == QDQ_MX_CEIL) code += (bits & 0x7FFFFF) != 0;
    return code > largest_exponent ? code - largest_exponent : 0;
}

// torchao 0.18 makes a scale of an infinity.
static qdq_qparams choose_power(const qdq_choose_params *p, const qdq_block_range *block) {
    const qdq_small_float *format = qdq_small_float_of(p->y_dtype);
    bool none = block->nan || (isinf(absmax(block)) && p->choice != QDQ_CHOOSE_TORCHAO_0_18);
    int code = none ? 0xFF : power_code(p, absmax(block), format);
    return (qdq_qparams){qdq_float8_e8m0_decode((uint8_t)code), 0};
}

//---- NVFP4 ------------------------------------------------------------------

static qdq_qparams choose_nvfp4(const qdq_choose_params *p, const qdq_block_range *block,
                                float global_scale) {
    bool torchao = is_torchao(p);
    float least = torchao ? 0x1p-6f : 0x1p-9f;
    if (block->nan && torchao) return (qdq_qparams){NAN, 0};
    if (absmax(block) == 0 && !torchao) return (qdq_qparams){1.0f, 0};
    float scale = absmax(block) / 6.0f;
    if (p->has_global_scale) scale /= global_scale;
    if (!(scale >= least)) scale = least;
    if (scale > 448.0f) scale = 448.0f;
    return (qdq_qparams){qdq_round_to_dtype(QDQ_FLOAT8_E4M3FN, scale, NULL), 0};
}

//---- Entry -------------------------------------------------------------------

qdq_qparams qdq_choose_qparams(const qdq_choose_params *p, const qdq_block_range *block,
                               float global_scale) {
    switch (p->scheme) {
    case QDQ_MX_FLOOR:
    case QDQ_MX_CEIL:
    case QDQ_MX_EVEN:
    case QDQ_MX_RCEIL: return choose_power(p, block);
    case QDQ_NVFP4: return choose_nvfp4(p, block, global_scale);
    default: return is_torchao(p) ? choose_torchao(p, block) : choose_core(p, block);
    }
}

qdq_dtype qdq_scheme_scale_dtype(qdq_scheme scheme) {
    if (scheme == QDQ_NVFP4) return QDQ_FLOAT8_E4M3FN;
    return scheme >= QDQ_MX_FLOOR ? QDQ_FLOAT8_E8M0 : QDQ_FLOAT32;
}
