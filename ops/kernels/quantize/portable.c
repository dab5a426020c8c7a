// SPDX-License-Identifier: Apache-2.0
// The portable kernels of the quantizing ops, which define them: decode to registers, compute one
// by one, encode.
#include "ops/kernels/kernel.h"
#include "runtime/numerics/quantize_wide.h"
#include "runtime/tenstorrent/block_float.h"
#include "runtime/tenstorrent/quantize_device.h"
#include "runtime/tenstorrent/tile_formats.h"

enum { PART = 256 };  // elements in registers at a time

static const qdq_numerics core;  // all zero: the formula most graphs run with

static bool is_core(const qdq_numerics *n) {
    qdq_numerics plain = *n;  // without the fields that are applied elsewhere
    plain.bfloat16_store = core.bfloat16_store;
    plain.float_overflow = core.float_overflow;
    plain.narrow = false, plain.quant_min = plain.quant_max = 0;
    plain.choice = core.choice, plain.least_scale = 0, plain.unit_scale_tolerance = 0;
    plain.block_float_store = core.block_float_store, plain.device_typecast = false;
    plain.cast_form = core.cast_form;
    return qdq_numerics_equal(&plain, &core);
}

static float float_at(qdq_view view, size_t i) {
    return qdq_float_from_bits(view.data[i * view.step]);
}

static int32_t int_at(qdq_view view, size_t i) { return (int32_t)view.data[i * view.step]; }

static qdq_view view_from(qdq_view view, size_t at) {
    return (qdq_view){view.data + at * view.step, view.step};
}

static const void *x_from(const qdq_quant_params *p, const void *x, size_t at) {
    return (const char *)x + at * qdq_dtype_size(p->x_dtype);
}

static void *y_from(const qdq_quant_params *p, void *y, size_t at) {
    return (char *)y + at * qdq_dtype_size(p->y_dtype);
}

// x over a scale that is itself scaled by `global` (docs/numerics.md, NVFP4).
static float scaled_twice(const qdq_numerics *n, float x, float s, float global) {
    return n->scaling == QDQ_SCALE_RECIPROCAL ? x * (1.0f / global / s) : x / (s * global);
}

//---- float64 scales ----------------------------------------------------------

static double wide_at(const qdq_view *views, size_t i) {
    return qdq_double_of_words((uint32_t)int_at(views[0], i), (uint32_t)int_at(views[2], i));
}

static void quantize_wide(const qdq_quant_params *p, const qdq_view *views, size_t at, float *real,
                          void *y, size_t n) {
    int32_t q[PART];
    for (size_t i = 0; i < n; i++) {
        double s = wide_at(views, at + i);
        int32_t z = int_at(views[1], at + i);
        if (p->float_zero_point) {
            q[i] = qdq_quantize_wide_float_zero_point(&p->numerics, real[i], s,
                                                      float_at(views[1], at + i), &p->range);
        } else if (!p->bounded) {
            q[i] = qdq_quantize_wide(&p->numerics, real[i], s, z, &p->range);
        } else {
            double v =
                qdq_wide_sum(&p->numerics, real[i], s, p->adds_zero_point ? (double)z : -0.0);
            real[i] = v < (double)p->low ? p->low : v > (double)p->high ? p->high : (float)v;
        }
    }
    if (p->bounded)
        qdq_encode_float(p->y_dtype, real, y, n, &p->numerics);
    else
        qdq_encode_int(p->y_dtype, q, y, n);
}

static void dequantize_wide(const qdq_quant_params *p, const qdq_view *views, size_t at,
                            const int32_t *q, float *real, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double s = wide_at(views, at + i);
        real[i] = p->float_zero_point
                      ? qdq_dequantize_wide_float_zero_point(&p->numerics, q[i], s,
                                                             float_at(views[1], at + i), &p->range)
                      : qdq_dequantize_wide(&p->numerics, q[i], s, int_at(views[1], at + i));
    }
}

//---- Quantize ----------------------------------------------------------------

static void quantize_bounded(const qdq_quant_params *p, qdq_view s, qdq_view z, float *real,
                             size_t n) {
    for (size_t i = 0; i < n; i++) {
        float zero_point = p->adds_zero_point ? (float)int_at(z, i) : -0.0f;
        real[i] = qdq_quantize_bounded(&p->numerics, real[i], float_at(s, i), zero_point, p->low,
                                       p->high);
    }
}

// Quantizes to small floats without bounds, which have no zero point: the result is the quotient,
// rounded once when it is encoded.
static void quantize_to_real(const qdq_quant_params *p, qdq_view s, qdq_view z, float global,
                             float *real, void *y, size_t n) {
    if (p->bounded) quantize_bounded(p, s, z, real, n);
    for (size_t i = 0; i < n && !p->bounded; i++) {
        real[i] = p->scales_twice ? scaled_twice(&p->numerics, real[i], float_at(s, i), global)
                                  : qdq_scaled(&p->numerics, real[i], float_at(s, i));
        if (p->adds_zero) real[i] += 0.0f;
    }
    qdq_encode_float(p->y_dtype, real, y, n, &p->numerics);
}

// Decodes x to floats. A chip reads a block float as bfloat16.
static void decode_x(const qdq_quant_params *p, const void *x, float *real, size_t n) {
    qdq_decode_float(p->x_dtype, x, real, n);
    if (p->numerics.bfloat16_load == QDQ_BFLOAT16_LOAD_EXACT ||
        (p->x_dtype != QDQ_BFLOAT16 && !qdq_dtype_is_block_float(p->x_dtype)))
        return;
    for (size_t i = 0; i < n; i++)
        real[i] =
            qdq_float_from_bits(qdq_chip_load_bfloat16((uint16_t)(qdq_float_bits(real[i]) >> 16)));
}

void qdq_quantize_tile_portable(const void *params, const qdq_view *views, const void *x, void *y,
                                size_t n) {
    const qdq_quant_params *p = params;
    bool to_real = qdq_dtype_is_real(p->y_dtype);
    bool plain = is_core(&p->numerics);
    float global = p->scales_twice ? float_at(views[2], 0) : 1;
    for (size_t at = 0; at < n; at += PART) {
        size_t part = n - at < PART ? n - at : PART;
        qdq_view s = view_from(views[0], at), z = view_from(views[1], at);
        float real[PART];
        int32_t q[PART];
        decode_x(p, x_from(p, x, at), real, part);
        if (p->wide_scale) {
            quantize_wide(p, views, at, real, y_from(p, y, at), part);
            continue;
        }
        if (to_real) {
            quantize_to_real(p, s, z, global, real, y_from(p, y, at), part);
            continue;
        }
        if (p->float_zero_point)
            for (size_t i = 0; i < part; i++)
                q[i] = qdq_quantize_float_zero_point(&p->numerics, real[i], float_at(s, i),
                                                     float_at(z, i), &p->range);
        else if (p->scale_is_inverse)
            for (size_t i = 0; i < part; i++)
                q[i] = qdq_quantize_by_inverse(&p->numerics, real[i], float_at(s, i), int_at(z, i),
                                               &p->range);
        else if (plain)
            for (size_t i = 0; i < part; i++)
                q[i] = qdq_quantize_one(&core, real[i], float_at(s, i), int_at(z, i), &p->range);
        else
            for (size_t i = 0; i < part; i++)
                q[i] = qdq_quantize_one(&p->numerics, real[i], float_at(s, i), int_at(z, i),
                                        &p->range);
        qdq_encode_int(p->y_dtype, q, y_from(p, y, at), part);
    }
}

// Dequantizes small floats, which have no zero point.
static void dequantize_from_real(const qdq_quant_params *p, qdq_view s, const void *x, float *real,
                                 size_t n) {
    qdq_decode_float(p->x_dtype, x, real, n);
    for (size_t i = 0; i < n; i++)
        real[i] = qdq_dequantize_step(&p->numerics, real[i] * float_at(s, i));
}

static void dequantize_ints(const qdq_quant_params *p, qdq_view s, qdq_view z, const int32_t *q,
                            float *real, size_t n) {
    const qdq_numerics *numerics = is_core(&p->numerics) ? &core : &p->numerics;
    if (p->float_zero_point)
        for (size_t i = 0; i < n; i++)
            real[i] = qdq_dequantize_float_zero_point(numerics, q[i], float_at(s, i),
                                                      float_at(z, i), &p->range);
    else if (numerics == &core)
        for (size_t i = 0; i < n; i++)
            real[i] = qdq_dequantize_one(&core, q[i], float_at(s, i), int_at(z, i));
    else
        for (size_t i = 0; i < n; i++)
            real[i] = qdq_dequantize_one(numerics, q[i], float_at(s, i), int_at(z, i));
}

void qdq_dequantize_tile_portable(const void *params, const qdq_view *views, const void *x, void *y,
                                  size_t n) {
    const qdq_quant_params *p = params;
    bool from_real = qdq_dtype_is_real(p->x_dtype);
    for (size_t at = 0; at < n; at += PART) {
        size_t part = n - at < PART ? n - at : PART;
        qdq_view s = view_from(views[0], at), z = view_from(views[1], at);
        int32_t q[PART];
        float real[PART];
        if (from_real) {
            dequantize_from_real(p, s, x_from(p, x, at), real, part);
        } else {
            qdq_decode_int(p->x_dtype, x_from(p, x, at), q, part);
            if (p->wide_scale)
                dequantize_wide(p, views, at, q, real, part);
            else
                dequantize_ints(p, s, z, q, real, part);
        }
        qdq_encode_float(p->y_dtype, real, y_from(p, y, at), part, &p->numerics);
    }
}

void qdq_requantize_tile_portable(const void *params, const qdq_view *views, const void *x, void *y,
                                  size_t n) {
    const qdq_quant_params *p = params;
    bool x_is_int = qdq_dtype_is_int(p->x_dtype), plain = is_core(&p->numerics);
    for (size_t at = 0; at < n; at += PART) {
        size_t part = n - at < PART ? n - at : PART;
        qdq_view v[4];
        for (int k = 0; k < 4; k++) v[k] = view_from(views[k], at);
        float real[PART];
        int32_t q[PART] = {0};
        qdq_decode_float(p->x_dtype, x_from(p, x, at), real, part);
        if (x_is_int) qdq_decode_int(p->x_dtype, x_from(p, x, at), q, part);
        for (size_t i = 0; i < part; i++) {
            qdq_requantize_scales scales = {float_at(v[0], i), float_at(v[2], i), int_at(v[1], i),
                                            int_at(v[3], i)};
            q[i] = plain ? qdq_requantize_one(&core, real[i], q[i], x_is_int, &scales, &p->range)
                         : qdq_requantize_one(&p->numerics, real[i], q[i], x_is_int, &scales,
                                              &p->range);
        }
        qdq_encode_int(p->y_dtype, q, y_from(p, y, at), part);
    }
}

// Returns the parameters of element i.
static qdq_fixed_params fixed_at(const qdq_quant_params *p, const qdq_view *views, size_t i) {
    qdq_fixed_params fixed = {.rounding = p->rounding,
                              .scale = {int_at(views[0], i), int_at(views[2], i)},
                              .in_zero_point = int_at(views[1], i),
                              .out_zero_point = int_at(views[3], i)};
    if (p->rounding == QDQ_FIXED_FLOAT32) fixed.real = (double)float_at(views[0], i);
    if (p->rounding == QDQ_FIXED_FLOAT64) fixed.real = wide_at(views, i);
    return fixed;
}

void qdq_fixed_tile_portable(const void *params, const qdq_view *views, const void *x, void *y,
                             size_t n) {
    const qdq_quant_params *p = params;
    for (size_t at = 0; at < n; at += PART) {
        size_t part = n - at < PART ? n - at : PART;
        int64_t whole[PART];
        int32_t q[PART];
        qdq_decode_wide(p->x_dtype, x_from(p, x, at), whole, part);
        for (size_t i = 0; i < part; i++) {
            qdq_fixed_params fixed = fixed_at(p, views, at + i);
            q[i] = (int32_t)qdq_clamp_one(qdq_fixed_one(&fixed, whole[i]), p->range.quant_min,
                                          p->range.quant_max);
        }
        qdq_encode_int(p->y_dtype, q, y_from(p, y, at), part);
    }
}

bool qdq_fixed_is_plain(const qdq_quant_params *p, const qdq_view *views, size_t n) {
    bool real = p->rounding == QDQ_FIXED_FLOAT32, single = p->rounding == QDQ_FIXED_SINGLE;
    int32_t least = single ? 1 : 31;
    if (views[1].step || views[1].data[0]) return false;
    for (size_t i = 0; i < (views[3].step ? n : 1); i++)
        if (int_at(views[3], i) < p->range.least || int_at(views[3], i) > p->range.greatest)
            return false;
    for (size_t i = 0; !real && i < (views[0].step ? n : 1); i++)
        if (int_at(views[0], i) < 0) return false;
    for (size_t i = 0; !real && i < (views[2].step ? n : 1); i++)
        if (int_at(views[2], i) < least) return false;
    return true;
}

//---- Ranges -----------------------------------------------------------------

void qdq_range_portable(qdq_dtype dtype, const void *x, size_t n, qdq_block_range *range) {
    for (size_t at = 0; at < n; at += PART) {
        size_t part = n - at < PART ? n - at : PART;
        float real[PART];
        qdq_decode_float(dtype, (const char *)x + at * qdq_dtype_size(dtype), real, part);
        for (size_t i = 0; i < part; i++) {  // NaN compares false
            if (real[i] < range->low) range->low = real[i];
            if (real[i] > range->high) range->high = real[i];
            range->nan |= isnan(real[i]) != 0;
        }
    }
}
