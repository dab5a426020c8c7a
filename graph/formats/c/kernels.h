// SPDX-License-Identifier: Apache-2.0
// The parts of emitted C that have no counterpart in the library: elements in memory, and windows.
// The numbers come from the definitions that this file includes. embed.py copies what a file needs;
// if both define a name, this file counts.
#ifndef QDQ_GRAPH_FORMATS_C_KERNELS_H
#define QDQ_GRAPH_FORMATS_C_KERNELS_H

#include <math.h>
#include <string.h>

#include "include/qdq/base.h"
#include "include/qdq/numerics.h"

//---- Elements in memory -----------------------------------------------------

static inline float load_float32(const void *x, size_t i) {
    float v;
    memcpy(&v, (const char *)x + i * sizeof v, sizeof v);
    return v;
}
static inline uint16_t load_half(const void *x, size_t i) {
    uint16_t v;
    memcpy(&v, (const char *)x + i * sizeof v, sizeof v);
    return v;
}
static inline uint8_t load_byte(const void *x, size_t i) { return ((const unsigned char *)x)[i]; }
static inline float load_float16(const void *x, size_t i) {
    return qdq_small_float_decode(&qdq_float16_format, load_half(x, i));
}
static inline float load_bfloat16(const void *x, size_t i) {
    return qdq_bfloat16_decode(load_half(x, i));
}
static inline float load_float8_e4m3fn(const void *x, size_t i) {
    return qdq_small_float_decode(&qdq_float8_e4m3fn_format, load_byte(x, i));
}
static inline float load_float8_e5m2(const void *x, size_t i) {
    return qdq_small_float_decode(&qdq_float8_e5m2_format, load_byte(x, i));
}
static inline float load_float8_e4m3fnuz(const void *x, size_t i) {
    return qdq_small_float_decode(&qdq_float8_e4m3fnuz_format, load_byte(x, i));
}
static inline float load_float8_e5m2fnuz(const void *x, size_t i) {
    return qdq_small_float_decode(&qdq_float8_e5m2fnuz_format, load_byte(x, i));
}
static inline float load_float4_e2m1(const void *x, size_t i) {
    return qdq_small_float_decode(&qdq_float4_e2m1_format, load_byte(x, i));
}
static inline float load_float8_e8m0(const void *x, size_t i) {
    return qdq_float8_e8m0_decode(load_byte(x, i));
}
static inline int32_t load_int32(const void *x, size_t i) {
    int32_t v;
    memcpy(&v, (const char *)x + i * sizeof v, sizeof v);
    return v;
}
static inline int32_t load_int16(const void *x, size_t i) {
    int16_t v;
    memcpy(&v, (const char *)x + i * sizeof v, sizeof v);
    return v;
}
static inline int32_t load_uint16(const void *x, size_t i) { return load_half(x, i); }
static inline int32_t load_int8(const void *x, size_t i) { return ((const signed char *)x)[i]; }
static inline int32_t load_uint8(const void *x, size_t i) { return load_byte(x, i); }
static inline int32_t load_bool(const void *x, size_t i) { return load_byte(x, i) != 0; }
static inline int32_t load_int4(const void *x, size_t i) {
    return narrow(load_int8(x, i), 4, true);
}
static inline int32_t load_uint4(const void *x, size_t i) {
    return narrow(load_uint8(x, i), 4, false);
}
static inline int32_t load_int2(const void *x, size_t i) {
    return narrow(load_int8(x, i), 2, true);
}
static inline int32_t load_uint2(const void *x, size_t i) {
    return narrow(load_uint8(x, i), 2, false);
}

static inline void store_float32(void *y, size_t i, float v) {
    memcpy((char *)y + i * sizeof v, &v, sizeof v);
}
static inline void store_half(void *y, size_t i, uint16_t v) {
    memcpy((char *)y + i * sizeof v, &v, sizeof v);
}
static inline void store_byte(void *y, size_t i, unsigned v) {
    ((unsigned char *)y)[i] = (unsigned char)v;
}
static inline void store_float16(void *y, size_t i, float v) {
    store_half(y, i, qdq_small_float_encode(&qdq_float16_format, v, QDQ_FLOAT_OVERFLOW));
}
static inline void store_bfloat16(void *y, size_t i, float v) {
    store_half(y, i, qdq_bfloat16_encode(v));
}
static inline void store_bfloat16_by(void *y, size_t i, float v, qdq_bfloat16_store store) {
    store_half(y, i, emitted_bfloat16(store, v));
}
static inline void store_float8_e4m3fn(void *y, size_t i, float v, qdq_float_overflow overflow) {
    store_byte(y, i, qdq_small_float_encode(&qdq_float8_e4m3fn_format, v, overflow));
}
static inline void store_float8_e5m2(void *y, size_t i, float v, qdq_float_overflow overflow) {
    store_byte(y, i, qdq_small_float_encode(&qdq_float8_e5m2_format, v, overflow));
}
static inline void store_float8_e4m3fnuz(void *y, size_t i, float v, qdq_float_overflow overflow) {
    store_byte(y, i, qdq_small_float_encode(&qdq_float8_e4m3fnuz_format, v, overflow));
}
static inline void store_float8_e5m2fnuz(void *y, size_t i, float v, qdq_float_overflow overflow) {
    store_byte(y, i, qdq_small_float_encode(&qdq_float8_e5m2fnuz_format, v, overflow));
}
static inline void store_float4_e2m1(void *y, size_t i, float v, qdq_float_overflow overflow) {
    store_byte(y, i, qdq_small_float_encode(&qdq_float4_e2m1_format, v, overflow));
}
static inline void store_float8_e8m0(void *y, size_t i, float v) {
    store_byte(y, i, qdq_float8_e8m0_encode(v));
}
static inline void store_int32(void *y, size_t i, int32_t v) {
    memcpy((char *)y + i * sizeof v, &v, sizeof v);
}
static inline void store_int16(void *y, size_t i, int32_t v) { store_half(y, i, (uint16_t)v); }
static inline void store_uint16(void *y, size_t i, int32_t v) { store_half(y, i, (uint16_t)v); }
static inline void store_int8(void *y, size_t i, int32_t v) { store_byte(y, i, (unsigned)v); }
static inline void store_uint8(void *y, size_t i, int32_t v) { store_byte(y, i, (unsigned)v); }
static inline void store_int4(void *y, size_t i, int32_t v) { store_byte(y, i, (unsigned)v); }
static inline void store_uint4(void *y, size_t i, int32_t v) { store_byte(y, i, (unsigned)v); }
static inline void store_int2(void *y, size_t i, int32_t v) { store_byte(y, i, (unsigned)v); }
static inline void store_uint2(void *y, size_t i, int32_t v) { store_byte(y, i, (unsigned)v); }
static inline void store_bool(void *y, size_t i, int32_t v) { store_byte(y, i, v != 0); }

//---- Dtypes -----------------------------------------------------------------

static inline uint16_t emitted_bfloat16(qdq_bfloat16_store store, float v) {
    switch (store) {
    case QDQ_BFLOAT16_DEVICE: return bfloat16_encode_device(v);
    case QDQ_BFLOAT16_TRUNCATE: return bfloat16_encode_truncate(v);
    case QDQ_BFLOAT16_FLUSH: return qdq_bfloat16_encode(fabsf(v) < 0x1p-126f ? copysignf(0, v) : v);
    case QDQ_BFLOAT16_HALF_EVEN:
    default: return qdq_bfloat16_encode(v);
    }
}

// For float32, float16 and bfloat16: other dtypes of steps are refused.
static inline float qdq_round_to_dtype(qdq_dtype dtype, float value, const qdq_numerics *numerics) {
    if (dtype == QDQ_FLOAT16)
        return qdq_small_float_decode(
            &qdq_float16_format,
            qdq_small_float_encode(&qdq_float16_format, value, QDQ_FLOAT_OVERFLOW));
    if (dtype != QDQ_BFLOAT16) return value;
    return qdq_bfloat16_decode(
        emitted_bfloat16(numerics ? numerics->bfloat16_store : QDQ_BFLOAT16_HALF_EVEN, value));
}

static inline qdq_dtype_kind emitted_kind(qdq_dtype dtype) {
#define EMITTED_KIND(E, name, bits, kind, least, greatest, safetensors, npy) \
    case QDQ_##E: return QDQ_KIND_##kind;
    switch (dtype) {
        QDQ_DTYPES(EMITTED_KIND)
    default: return QDQ_KIND_FLOAT;
    }
#undef EMITTED_KIND
}

static inline bool qdq_dtype_is_int(qdq_dtype dtype) { return emitted_kind(dtype) == QDQ_KIND_INT; }

static inline bool qdq_dtype_is_real(qdq_dtype dtype) {
    qdq_dtype_kind kind = emitted_kind(dtype);
    return kind != QDQ_KIND_INT && kind != QDQ_KIND_BOOL && kind != QDQ_KIND_WIDE_INT;
}

static inline const qdq_small_float *qdq_small_float_of(qdq_dtype dtype) {
    switch (dtype) {
    case QDQ_FLOAT16: return &qdq_float16_format;
    case QDQ_FLOAT8_E4M3FN: return &qdq_float8_e4m3fn_format;
    case QDQ_FLOAT8_E5M2: return &qdq_float8_e5m2_format;
    case QDQ_FLOAT8_E4M3FNUZ: return &qdq_float8_e4m3fnuz_format;
    case QDQ_FLOAT8_E5M2FNUZ: return &qdq_float8_e5m2fnuz_format;
    default: return &qdq_float4_e2m1_format;
    }
}

// The numerics of a chip are refused.
#define qdq_is_device(n) false
#define qdq_quantize_device(n, x, s, z, range) 0
#define qdq_dequantize_device(n, q, s, z) 0.0f
#define qdq_requantize_device(n, x, whole, p, range) 0

// x over a scale that is itself scaled by `global`.
static inline float emitted_scaled_twice(const qdq_numerics *n, float x, float s, float global) {
    return n->scaling == QDQ_SCALE_RECIPROCAL ? x * (1.0f / global / s) : x / (s * global);
}

// Widens a range by a number.
static inline void emitted_widen(qdq_block_range *range, float v) {
    if (v < range->low) range->low = v;  // NaN compares false
    if (v > range->high) range->high = v;
    range->nan |= isnan(v) != 0;
}

//---- Windows ----------------------------------------------------------------

// A window over up to three spatial dims, as ops/conv/conv_lowering.h lays it out.
typedef struct emitted_window {
    bool transposed, taps_first;
    size_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3], x_stride[3];
    size_t channel_stride, taps, channels;
} emitted_window;

// The index of x under tap `t` of a dim at position `o`. False: beyond the border, or between the
// strides of a transposed convolution.
static inline bool emitted_under(const emitted_window *w, size_t d, size_t o, size_t t,
                                 size_t *at) {
    if (!w->transposed) {
        *at = o * w->stride[d] + t * w->dilation[d] - w->pad[d];  // below 0: very large
        return *at < w->in[d];
    }
    if (o + w->pad[d] < t * w->dilation[d]) return false;
    *at = o + w->pad[d] - t * w->dilation[d];
    if (*at % w->stride[d]) return false;
    *at /= w->stride[d];
    return *at < w->in[d];
}

// The place in x of element k under the window at position `row`.
static inline bool emitted_at(const emitted_window *w, size_t row, size_t k, size_t *at) {
    size_t tap = w->taps_first ? k / w->channels : k % w->taps;
    size_t sum = (w->taps_first ? k % w->channels : k / w->taps) * w->channel_stride;
    for (size_t d = 3; d-- > 0; tap /= w->kernel[d], row /= w->out[d]) {
        size_t own;
        if (!emitted_under(w, d, row % w->out[d], tap % w->kernel[d], &own)) return false;
        sum += own * w->x_stride[d];
    }
    *at = sum;
    return true;
}

//---- Products ---------------------------------------------------------------

// A sum of products in fours: ((p0 + p1) + p2) + p3 is added, then p0 + p1 of two that are left,
// then a last product.
typedef struct emitted_fours {
    float sum, part[4];
    size_t k;
} emitted_fours;

static inline void emitted_add_fours(emitted_fours *s, float product) {
    s->part[s->k++ % 4] = product;
    if (s->k % 4 == 0) s->sum = ((s->part[0] + s->part[1]) + s->part[2]) + s->part[3] + s->sum;
}

static inline float emitted_end_fours(const emitted_fours *s) {
    size_t left = s->k % 4;
    float sum = s->sum;
    if (left >= 2) sum = (s->part[0] + s->part[1]) + sum;
    return left % 2 ? s->part[left - 1] + sum : sum;
}

// Returns the int32 of a sum modulo 2^32.
static inline int32_t emitted_int32(uint32_t sum) {
    return sum >> 31 ? -(int32_t)~sum - 1 : (int32_t)sum;
}

static inline float emitted_quiet(float v) {
    return isnan(v) ? qdq_float_from_bits(0x7FC00000u) : v;
}

// Returns a sum as a code: the bounds less the zero point are applied before rounding. NaN becomes
// the lower bound.
static inline int32_t emitted_requantized(int32_t sum, float multiplier, int32_t least,
                                          int32_t greatest, int32_t zero) {
    float low = (float)(least - zero), high = (float)(greatest - zero);
    float x = (float)sum * multiplier;
    x = x > low ? x : low;
    x = x < high ? x : high;
    return (int32_t)rintf(x) + zero;
}

//---- Slices -----------------------------------------------------------------

static inline float emitted_narrow(double v) {
    float y;
    slice_narrow(&v, 1, &y);
    return y;
}

// For a dtype of 16 bits, to which it is then rounded.
static inline float emitted_narrow_odd(double v) {
    float y;
    slice_narrow_odd(&v, 1, &y);
    return y;
}

static inline double emitted_exp(float x, double max) {
    double e;
    slice_exps(&x, 1, max, &e);
    return e;
}

//---- Places -----------------------------------------------------------------

// A position between elements `before` and `after`; `weight` is the weight of `after`.
typedef struct emitted_position {
    size_t before, after;
    double weight;
} emitted_position;

static inline double emitted_mean(double before, double after, double weight) {
    return weight == 0.0 ? before : before * (1.0 - weight) + after * weight;
}

// Returns the index on a dim of `size` elements that element i of int32 or int64 indices stands
// for.
static inline size_t emitted_index(const void *indices, size_t i, bool wide, size_t size) {
    int64_t index, dim = (int64_t)size;
    int32_t narrow_index;
    if (wide) {
        memcpy(&index, (const char *)indices + i * sizeof index, sizeof index);
    } else {
        memcpy(&narrow_index, (const char *)indices + i * sizeof narrow_index, sizeof narrow_index);
        index = narrow_index;
    }
    if (index < 0) index = index < -dim ? 0 : index + dim;
    return (size_t)(index < dim ? index : dim - 1);
}

#endif
