// SPDX-License-Identifier: Apache-2.0
// The definition of each family: decode to registers, compute one by one, encode.
#include "ops/kernels/kernel.h"

enum { PART = 256 };  // elements in registers at a time

static const qdq_numerics core;  // all zero: the formula most graphs run with

static bool is_core(const qdq_numerics *n) {
    qdq_numerics zero = {0};
    return n->rounding == zero.rounding && n->scaling == zero.scaling &&
           n->zero_point_order == zero.zero_point_order && n->overflow == zero.overflow &&
           n->nan == zero.nan && n->subtraction == zero.subtraction &&
           n->requantize_form == zero.requantize_form && n->step_dtype == zero.step_dtype &&
           n->requantize_dtype == zero.requantize_dtype;
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

// Small floats have no zero point: the quotient, rounded once by its encoding.
static void quantize_to_real(const qdq_quant_params *p, qdq_view s, float *real, void *y,
                             size_t n) {
    for (size_t i = 0; i < n; i++) {
        real[i] = qdq_scaled(&p->numerics, real[i], float_at(s, i));
        if (p->adds_zero) real[i] += 0.0f;
    }
    qdq_encode_float(p->y_dtype, real, y, n, &p->numerics);
}

void qdq_quantize_tile_portable(const void *params, const qdq_view *views, const void *x, void *y,
                                size_t n) {
    const qdq_quant_params *p = params;
    bool to_real = qdq_dtype_is_real(p->y_dtype);
    bool plain = is_core(&p->numerics);
    for (size_t at = 0; at < n; at += PART) {
        size_t part = n - at < PART ? n - at : PART;
        qdq_view s = view_from(views[0], at), z = view_from(views[1], at);
        float real[PART];
        int32_t q[PART];
        qdq_decode_float(p->x_dtype, x_from(p, x, at), real, part);
        if (to_real) {
            quantize_to_real(p, s, real, y_from(p, y, at), part);
            continue;
        }
        if (plain)
            for (size_t i = 0; i < part; i++)
                q[i] = qdq_quantize_one(&core, real[i], float_at(s, i), int_at(z, i), &p->range);
        else
            for (size_t i = 0; i < part; i++)
                q[i] = qdq_quantize_one(&p->numerics, real[i], float_at(s, i), int_at(z, i),
                                        &p->range);
        qdq_encode_int(p->y_dtype, q, y_from(p, y, at), part);
    }
}

// The same from small floats.
static void dequantize_from_real(const qdq_quant_params *p, qdq_view s, const void *x, float *real,
                                 size_t n) {
    qdq_decode_float(p->x_dtype, x, real, n);
    for (size_t i = 0; i < n; i++) real[i] = qdq_rounded(&p->numerics, real[i] * float_at(s, i));
}

void qdq_dequantize_tile_portable(const void *params, const qdq_view *views, const void *x, void *y,
                                  size_t n) {
    const qdq_quant_params *p = params;
    bool from_real = qdq_dtype_is_real(p->x_dtype);
    bool plain = is_core(&p->numerics);
    for (size_t at = 0; at < n; at += PART) {
        size_t part = n - at < PART ? n - at : PART;
        qdq_view s = view_from(views[0], at), z = view_from(views[1], at);
        int32_t q[PART];
        float real[PART];
        if (from_real) {
            dequantize_from_real(p, s, x_from(p, x, at), real, part);
        } else {
            qdq_decode_int(p->x_dtype, x_from(p, x, at), q, part);
            for (size_t i = 0; i < part; i++)
                real[i] =
                    plain ? qdq_dequantize_one(&core, q[i], float_at(s, i), int_at(z, i))
                          : qdq_dequantize_one(&p->numerics, q[i], float_at(s, i), int_at(z, i));
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
