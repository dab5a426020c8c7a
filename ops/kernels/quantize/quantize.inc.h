// SPDX-License-Identifier: Apache-2.0
// Quantizing kernels: loops over the functions of lanes.inc.h. The macros define a kernel for each
// row of kernel_list.h.
//
// All kernels take numbers of any value. Zero points of magnitude above 2^20, whose sums would not
// be exact in float32, go to the portable kernel.
#include "ops/kernels/quantize/halves.inc.h"
#include "ops/kernels/quantize/lanes.inc.h"

// One scale: multiplies, and divides with lane_fn where a product is close to a tie or, if numbers
// are converted to int32, beyond 2^30 or NaN.
#define QUANTIZE_BY_PRODUCT(x_name, y_name, lane_fn, converts)                        \
    {                                                                                 \
        size_t at = 0;                                                                \
        float close = lane_is_power(l) ? 1.0f : 0.4998f;                              \
        for (; at + FAST <= n; at += FAST) {                                          \
            uint32_t ties = 0;                                                        \
            for (size_t i = at; i < at + FAST; i++) {                                 \
                float v = load_##x_name(x, i) * l.inverse, r = rintf(v);              \
                ties |= fabsf(v - r) > close ? 1u : 0u;                               \
                ties |= !(converts) || fabsf(v) < 0x1p30f ? 0u : 1u;                  \
                store_##y_name(y, i, lane_multiplied(l, r));                          \
            }                                                                         \
            if (ties)                                                                 \
                for (size_t i = at; i < at + FAST; i++)                               \
                    store_##y_name(y, i, lane_fn(l, load_##x_name(x, i)));            \
        }                                                                             \
        for (; at < n; at++) store_##y_name(y, at, lane_fn(l, load_##x_name(x, at))); \
        return;                                                                       \
    }

#define QUANTIZE(name, x_name, y_name, numerics, lane_fn, by_product)                             \
    void QDQ_ISA_NAME(name)(const void *restrict params, const qdq_view *restrict views,          \
                            const void *restrict x, void *restrict y, size_t n) {                 \
        const qdq_quant_params *p = params;                                                       \
        const bool flush = numerics_##numerics.flush_denormals;                                   \
        const bool converts = qdq_converts(&numerics_##numerics);                                 \
        if (!body_small(p, views[1], n)) {                                                        \
            qdq_quantize_tile_portable(params, views, x, y, n);                                   \
            return;                                                                               \
        }                                                                                         \
        if (!views[0].step && !views[1].step) {                                                   \
            lane l = lane_of(p, qdq_float_from_bits(views[0].data[0]), (int32_t)views[1].data[0], \
                             flush);                                                              \
            if ((by_product) && lane_may_multiply(l))                                             \
                QUANTIZE_BY_PRODUCT(x_name, y_name, lane_fn, converts)                            \
            for (size_t i = 0; i < n; i++) store_##y_name(y, i, lane_fn(l, load_##x_name(x, i))); \
            return;                                                                               \
        }                                                                                         \
        for (size_t at = 0; at < n; at += PART) {                                                 \
            size_t part = n - at < PART ? n - at : PART;                                          \
            float scales[PART];                                                                   \
            int32_t zs[PART];                                                                     \
            const float *restrict s = body_float_list(body_from(views[0], at), part, scales);     \
            const int32_t *restrict z = body_int_list(body_from(views[1], at), part, zs);         \
            for (size_t i = 0; i < part; i++)                                                     \
                store_##y_name(y, at + i,                                                         \
                               lane_fn(lane_of(p, s[i], z[i], flush), load_##x_name(x, at + i))); \
        }                                                                                         \
    }

// Returns the scale that a power of two stands for, as qdq_quantize_scale.
static inline float power_of(qdq_power_scale form, float s) {
    if (form && s == 0x1p-127f) s = form == QDQ_POWER_SCALE_ONE ? 1.0f : 0x1p-126f;
    return form == QDQ_POWER_SCALE_NORMAL && s != s ? INFINITY : s;
}

// To float8: only the store rounds the quotient.
#define FLOAT8_LOOPS(x_name, y_name)                                                              \
    static QDQ_RARE void one_##x_name##_##y_name(const void *restrict x, void *restrict y,        \
                                                 size_t n, float s) {                             \
        for (size_t i = 0; i < n; i++) store_##y_name(y, i, quotient(load_##x_name(x, i), s));    \
    }                                                                                             \
    static QDQ_RARE void list_##x_name##_##y_name(const void *restrict x, void *restrict y,       \
                                                  size_t n, const float *restrict s) {            \
        for (size_t i = 0; i < n; i++) store_##y_name(y, i, quotient(load_##x_name(x, i), s[i])); \
    }
FLOAT8_LOOPS(float32, float8_e4m3fn)
FLOAT8_LOOPS(float32, float8_e5m2)
FLOAT8_LOOPS(bfloat16, float8_e4m3fn)
FLOAT8_LOOPS(bfloat16, float8_e5m2)

static QDQ_RARE void powers_of(qdq_power_scale form, const uint32_t *s, size_t n, float *out) {
    for (size_t i = 0; i < n; i++) out[i] = power_of(form, qdq_float_from_bits(s[i]));
}

#define QUANTIZE_FLOAT8(name, x_name, y_name, numerics)                                            \
    void QDQ_ISA_NAME(name)(const void *restrict params, const qdq_view *restrict views,           \
                            const void *restrict x, void *restrict y, size_t n) {                  \
        const size_t x_size = qdq_dtype_size(((const qdq_quant_params *)params)->x_dtype);         \
        const qdq_power_scale form = numerics_##numerics.power_scale;                              \
        const uint32_t *s = views[0].data;                                                         \
        if (!views[0].step) {                                                                      \
            one_##x_name##_##y_name(x, y, n, power_of(form, qdq_float_from_bits(s[0])));           \
            return;                                                                                \
        }                                                                                          \
        for (size_t at = 0; at < n; at += PART) {                                                  \
            size_t part = n - at < PART ? n - at : PART;                                           \
            float scales[PART];                                                                    \
            powers_of(form, s + at, part, scales);                                                 \
            list_##x_name##_##y_name((const char *)x + at * x_size, (char *)y + at, part, scales); \
        }                                                                                          \
    }

//---- Dequantize -------------------------------------------------------------

// (q - z) * s. With codes of 8 bits and small zero points every way to subtract is exact. With
// finite scales a result is NaN only if the code is, and bfloat16 holds that NaN too.
#define DEQUANTIZE(name, x_name, y_name, numerics, store)                                          \
    void QDQ_ISA_NAME(name)(const void *restrict params, const qdq_view *restrict views,           \
                            const void *restrict x, void *restrict y, size_t n) {                  \
        const qdq_quant_params *p = params;                                                        \
        const bool flush = numerics_##numerics.flush_denormals;                                    \
        if (!body_small(p, views[1], n) || !body_finite(views[0], n)) {                            \
            qdq_dequantize_tile_portable(params, views, x, y, n);                                  \
            return;                                                                                \
        }                                                                                          \
        if (!views[0].step && !views[1].step) {                                                    \
            float s = qdq_float_from_bits(views[0].data[0]);                                       \
            int32_t z = (int32_t)views[1].data[0];                                                 \
            if (flush) s = lane_flushed(s);                                                        \
            for (size_t i = 0; i < n; i++) store(y, i, scaled(minus_##x_name(x, i, z), s, flush)); \
            return;                                                                                \
        }                                                                                          \
        for (size_t at = 0; at < n; at += PART) {                                                  \
            size_t part = n - at < PART ? n - at : PART;                                           \
            float scales[PART];                                                                    \
            int32_t zs[PART];                                                                      \
            const float *restrict s = body_float_list(body_from(views[0], at), part, scales);      \
            const int32_t *restrict z = body_int_list(body_from(views[1], at), part, zs);          \
            for (size_t i = 0; i < part; i++)                                                      \
                store(y, at + i,                                                                   \
                      scaled(minus_##x_name(x, at + i, z[i]), flush ? lane_flushed(s[i]) : s[i],   \
                             flush));                                                              \
        }                                                                                          \
    }

//---- Requantize -------------------------------------------------------------

// Dequantize to float32, then Quantize, as the core does it, with one number for each parameter.
#define REQUANTIZE(name, y_name, numerics)                                                        \
    void QDQ_ISA_NAME(name)(const void *restrict params, const qdq_view *restrict views,          \
                            const void *restrict x, void *restrict y, size_t n) {                 \
        const qdq_quant_params *p = params;                                                       \
        bool alike = !views[0].step && !views[1].step && !views[2].step && !views[3].step;        \
        if (!alike || views[1].data[0] || !body_small(p, views[3], n)) {                          \
            QDQ_ISA_NAME(requantize_tile_general)(params, views, x, y, n);                        \
            return;                                                                               \
        }                                                                                         \
        float in = qdq_float_from_bits(views[0].data[0]);                                         \
        lane l =                                                                                  \
            lane_of(p, qdq_float_from_bits(views[2].data[0]), (int32_t)views[3].data[0], false);  \
        for (size_t i = 0; i < n; i++) store_##y_name(y, i, lane_core(l, load_int32(x, i) * in)); \
    }

//---- float16 -----------------------------------------------------------------

// float16 goes through float32, which holds every float16, a part at a time.
#define FROM_FLOAT16(name, y_name, numerics, kernel)                                     \
    void QDQ_ISA_NAME(name)(const void *restrict params, const qdq_view *restrict views, \
                            const void *restrict x, void *restrict y, size_t n) {        \
        qdq_quant_params p = *(const qdq_quant_params *)params;                          \
        p.x_dtype = QDQ_FLOAT32;                                                         \
        for (size_t at = 0; at < n; at += PART) {                                        \
            size_t part = n - at < PART ? n - at : PART;                                 \
            qdq_view here[2] = {body_from(views[0], at), body_from(views[1], at)};       \
            float real[PART];                                                            \
            body_from_halves((const uint16_t *)x + at, part, real);                      \
            QDQ_ISA_NAME(kernel)                                                         \
            (&p, here, real, (char *)y + at * qdq_dtype_size(p.y_dtype), part);          \
        }                                                                                \
    }

#define TO_FLOAT16(name, x_name, numerics, kernel)                                       \
    void QDQ_ISA_NAME(name)(const void *restrict params, const qdq_view *restrict views, \
                            const void *restrict x, void *restrict y, size_t n) {        \
        qdq_quant_params p = *(const qdq_quant_params *)params;                          \
        p.y_dtype = QDQ_FLOAT32;                                                         \
        for (size_t at = 0; at < n; at += PART) {                                        \
            size_t part = n - at < PART ? n - at : PART;                                 \
            qdq_view here[2] = {body_from(views[0], at), body_from(views[1], at)};       \
            float real[PART];                                                            \
            QDQ_ISA_NAME(kernel)                                                         \
            (&p, here, (const char *)x + at * qdq_dtype_size(p.x_dtype), real, part);    \
            body_to_halves(real, part, (uint16_t *)y + at);                              \
        }                                                                                \
    }

//---- Ranges -----------------------------------------------------------------

// The bits of floats are ordered by magnitude. As signed integers the greatest is the greatest
// positive float or a NaN without sign. As unsigned integers the greatest, if its sign is set, is
// the least float or a NaN with sign.
static inline bool body_widen(uint32_t high, uint32_t low, qdq_block_range *range) {
    if ((high & 0x7FFFFFFF) > 0x7F800000 || (low & 0x7FFFFFFF) > 0x7F800000) return false;
    float least = qdq_float_from_bits(low >> 31 ? low : 0), most = qdq_float_from_bits(high);
    range->low = least < range->low ? least : range->low;
    range->high = most > range->high ? most : range->high;
    return true;
}

// Parts with a NaN go to the portable kernel.
#define RANGE(x_name, type, wide)                                                        \
    void QDQ_ISA_NAME(range_##x_name)(qdq_dtype dtype, const void *restrict x, size_t n, \
                                      qdq_block_range *restrict range) {                 \
        enum { RANGE_PART = 4096 };                                                      \
        for (size_t at = 0; at < n; at += RANGE_PART) {                                  \
            size_t part = n - at < RANGE_PART ? n - at : RANGE_PART;                     \
            const u##type *codes = (const u##type *)x + at;                              \
            type high = 0;                                                               \
            u##type low = 0;                                                             \
            for (size_t i = 0; i < part; i++) {                                          \
                high = (type)codes[i] > high ? (type)codes[i] : high;                    \
                low = codes[i] > low ? codes[i] : low;                                   \
            }                                                                            \
            if (!body_widen((uint32_t)high << (wide), (uint32_t)low << (wide), range))   \
                qdq_range_portable(dtype, codes, part, range);                           \
        }                                                                                \
    }

QDQ_KERNEL_LIST(QUANTIZE, QUANTIZE_FLOAT8, DEQUANTIZE, REQUANTIZE, FROM_FLOAT16, TO_FLOAT16)
QDQ_RANGE_LIST(RANGE)
