// SPDX-License-Identifier: Apache-2.0
// Quantize with a zero point that is a tensor, which a Tenstorrent chip computes with several ops:
// a product or quotient, a sum and a cast, each of the dtype of x. In plain C that compilers turn
// into vectors; runtime/tenstorrent/quantize_device.c is the definition.
//
// The lanes take scales between 2^-90 and 2^91, zero points up to 2^20, and finite float32. Numbers
// too small for them do not change an integer. All else goes to the portable kernel.
#include "ops/kernels/quantize/chip_bfloat16.inc.h"
#include "ops/kernels/quantize/lanes.inc.h"

// The parameters of a part of PART elements, and its elements.
typedef struct composite_part {
    uint32_t scale[PART], factor[PART], zero[PART], x[PART];
    int32_t q[PART];
} composite_part;

//---- Parameters -------------------------------------------------------------

static QDQ_RARE void composite_seeds(bool wormhole, const uint32_t *restrict s, size_t n,
                                     uint32_t *restrict out) {
    if (wormhole)
        for (size_t i = 0; i < n; i++) out[i] = qdq_float_bits(chip_seed(true, s[i]));
    else
        for (size_t i = 0; i < n; i++) out[i] = qdq_float_bits(chip_seed(false, s[i]));
}

static QDQ_RARE bool composite_all_middling(const uint32_t *s, size_t n) {
    uint32_t wrong = 0;
    for (size_t i = 0; i < n; i++) wrong |= chip_is_middling(s[i]) ? 0 : 1;
    return !wrong;
}

// Sets the factors of x: 1 / s of the host or of the chip, or the estimate with which a division
// begins. False if a scale is not middling.
static QDQ_RARE bool composite_factors(const qdq_quant_params *p, qdq_view view, size_t n,
                                       bool narrow, composite_part *part) {
    bool wormhole = p->numerics.multiply_add == QDQ_MULTIPLY_ADD_WORMHOLE;
    bool divides = p->numerics.scaling == QDQ_SCALE_DIVIDE;
    uint32_t keeps = narrow ? CHIP_UPPER : UINT32_MAX;
    float s[PART];
    body_floats(view, n, s);
    memcpy(part->scale, s, n * sizeof *s);
    if (divides && narrow)
        for (size_t i = 0; i < n; i++) part->scale[i] = chip_upper_even(part->scale[i]);
    if (!composite_all_middling(part->scale, n)) return false;
    if (!divides)
        for (size_t i = 0; i < n; i++) part->factor[i] = qdq_float_bits(1.0f / s[i]) & keeps;
    else if (narrow)
        chip_reciprocals(wormhole, part->scale, n, part->factor);
    else
        composite_seeds(wormhole, part->scale, n, part->factor);
    return true;
}

static QDQ_RARE bool composite_zeros(qdq_view view, size_t n, bool narrow, composite_part *part) {
    int32_t z[PART];
    if (!body_small_zeros(view, n)) return false;
    body_ints(view, n, z);
    for (size_t i = 0; i < n; i++) part->zero[i] = qdq_float_bits((float)z[i]);
    if (narrow)
        for (size_t i = 0; i < n; i++) part->zero[i] = chip_upper_away(part->zero[i]);
    return true;
}

//---- Sums -------------------------------------------------------------------

static QDQ_RARE bool composite_all_finite(const uint32_t *x, size_t n) {
    uint32_t special = 0;
    for (size_t i = 0; i < n; i++)
        special |= CHIP_IF((int32_t)(x[i] & CHIP_INFINITY) == (int32_t)CHIP_INFINITY);
    return !special;
}

// An infinity stays one, as the zero point is far below it.
static QDQ_RARE void composite_narrow_sums(composite_part *part, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t quotient = chip_short_product(chip_loaded(part->x[i]), part->factor[i]);
        part->x[i] = chip_upper_away(chip_short_sum(quotient, part->zero[i]));
    }
}

// The chip's sum of two float32 is IEEE's.
static inline uint32_t composite_sum(uint32_t a, uint32_t b) {
    return qdq_float_bits(qdq_float_from_bits(a) + qdq_float_from_bits(b));
}

static QDQ_RARE void composite_sums_of_products(composite_part *part, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t x = part->x[i] & CHIP_IF((int32_t)(part->x[i] & CHIP_INFINITY) != 0);
        float product = qdq_float_from_bits(x) * qdq_float_from_bits(part->factor[i]);
        part->x[i] = composite_sum(qdq_float_bits(product), part->zero[i]);
    }
}

static QDQ_RARE void composite_sums_of_quotients(composite_part *part, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t quotient =
            chip_divide_seeded(part->x[i], part->scale[i], qdq_float_from_bits(part->factor[i]));
        part->x[i] = composite_sum(quotient, part->zero[i]);
    }
}

//---- To integers ------------------------------------------------------------

// Toward zero; beyond int32 its ends. v is not NaN.
static inline int32_t composite_truncated(uint32_t v) {
    uint32_t inside = CHIP_IF((int32_t)(v & ~CHIP_SIGN) < 0x4F000000);
    uint32_t end = (uint32_t)INT32_MAX ^ (uint32_t)((int32_t)v >> 31);
    return (int32_t)chip_pick(inside, (uint32_t)(int32_t)qdq_float_from_bits(v & inside), end);
}

static inline int32_t composite_clamped(chip_integer c, int32_t q) {
    q = q > c.low ? q : c.low;
    return q < c.high ? q : c.high;
}

static inline int32_t composite_int32(chip_integer c, uint32_t sum) {
    return composite_clamped(c, composite_truncated(sum));
}
static inline int32_t composite_uint8(chip_integer c, uint32_t sum) {
    return composite_clamped(c, composite_truncated(sum) & c.wraps);
}
// Quantize with scale 1 and zero point 0.
static inline int32_t composite_away(chip_integer c, uint32_t sum) {
    return chip_away(c, composite_sum(sum, CHIP_128));
}
static inline int32_t composite_even(chip_integer c, uint32_t sum) {
    return chip_even(c, composite_sum(sum, CHIP_MAGIC), CHIP_MAGIC);
}

//---- The kernels ------------------------------------------------------------

enum { COMPOSITE_NARROWS_float32 = 0, COMPOSITE_NARROWS_bfloat16 = 1 };
enum { COMPOSITE_FOLDS_int32 = 0, COMPOSITE_FOLDS_uint8 = 0, COMPOSITE_FOLDS_even = 0 };
enum { COMPOSITE_FOLDS_away = 128 };

// The loops of a kernel over a part.
typedef struct composite_loops {
    bool narrow;  // x is bfloat16
    int32_t folded;
    void (*read)(const void *x, size_t n, uint32_t *out);
    void (*round)(chip_integer c, composite_part *part, size_t n);
    void (*write)(void *restrict y, const int32_t *restrict q, size_t n);
} composite_loops;

static QDQ_RARE void composite_quantize(const composite_loops *loops, const void *params,
                                        const qdq_view *views, const void *x, void *y, size_t n) {
    const qdq_quant_params *p = params;
    const chip_integer c = {.folded = loops->folded,
                            .keeps_sign = -1,
                            .low = (int32_t)p->range.quant_min,
                            .high = (int32_t)p->range.quant_max,
                            .wraps = (int32_t)qdq_dtype_get(p->y_dtype)->greatest};
    const size_t x_size = qdq_dtype_size(p->x_dtype), y_size = qdq_dtype_size(p->y_dtype);
    const bool narrow = loops->narrow, lists = views[0].step || views[1].step;
    bool known = false;
    composite_part part;
    for (size_t at = 0; at < n; at += PART) {
        size_t size = n - at < PART ? n - at : PART;
        const qdq_view here[2] = {body_from(views[0], at), body_from(views[1], at)};
        const void *from = (const char *)x + at * x_size;
        if (!at || lists)
            known = composite_factors(p, here[0], size, narrow, &part) &&
                    composite_zeros(here[1], size, narrow, &part);
        loops->read(from, size, part.x);
        if (!known || !(narrow || composite_all_finite(part.x, size))) {
            qdq_quantize_tile_portable(params, here, from, (char *)y + at * y_size, size);
            continue;
        }
        if (narrow)
            composite_narrow_sums(&part, size);
        else if (p->numerics.scaling == QDQ_SCALE_DIVIDE)
            composite_sums_of_quotients(&part, size);
        else
            composite_sums_of_products(&part, size);
        loops->round(c, &part, size);
        loops->write((char *)y + at * y_size, part.q, size);
    }
}

#define CHIP_COMPOSITE(x_name, stage, y_name)                                                      \
    void QDQ_ISA_NAME(quantize_##x_name##_##y_name##_composite_##stage)(                           \
        const void *restrict params, const qdq_view *restrict views, const void *restrict x,       \
        void *restrict y, size_t n) {                                                              \
        static const composite_loops loops = {COMPOSITE_NARROWS_##x_name, COMPOSITE_FOLDS_##stage, \
                                              chip_read_##x_name, composite_round_##stage,         \
                                              chip_write_##y_name};                                \
        composite_quantize(&loops, params, views, x, y, n);                                        \
    }
#define COMPOSITE_ROUND(stage, y_name)                                                    \
    static void composite_round_##stage(chip_integer c, composite_part *part, size_t n) { \
        for (size_t i = 0; i < n; i++) part->q[i] = composite_##stage(c, part->x[i]);     \
    }
QDQ_CHIP_STAGES(COMPOSITE_ROUND)
#define CHIP_COMPOSITES(stage, y_name)     \
    CHIP_COMPOSITE(float32, stage, y_name) \
    CHIP_COMPOSITE(bfloat16, stage, y_name)

QDQ_CHIP_STAGES(CHIP_COMPOSITES)

#define COMPOSITE_DEQUANTIZE(x, y) \
    CHIP_DEQUANTIZE(dequantize_##x##_##y##_composite, x, chip_scaled_exactly, CHIP_STORE_##y)
QDQ_CHIP_BACK(COMPOSITE_DEQUANTIZE)

//---- Requantize -------------------------------------------------------------

// Replaces seeds of out by in / out. Returns bits that are not 0 if a quotient is too small or too
// large.
static QDQ_RARE uint32_t composite_quotients(const uint32_t *restrict in,
                                             const uint32_t *restrict out, size_t n,
                                             uint32_t *restrict factor) {
    uint32_t beyond = 0;
    for (size_t i = 0; i < n; i++)
        factor[i] = chip_divide_seeded(in[i], out[i], qdq_float_from_bits(factor[i]));
    for (size_t i = 0; i < n; i++) {
        int32_t exponent = (int32_t)(factor[i] >> 23 & 0xFF);
        beyond |= CHIP_IF(exponent < 64) | CHIP_IF(exponent > 190);
    }
    return beyond;
}

// z_out - z_in * ratio.
static QDQ_RARE void composite_offsets(const int32_t *restrict in_zero,
                                       const int32_t *restrict out_zero,
                                       const uint32_t *restrict ratio, size_t n,
                                       uint32_t *restrict out) {
    for (size_t i = 0; i < n; i++) {
        float shift = (float)in_zero[i] * qdq_float_from_bits(ratio[i]);
        out[i] = qdq_float_bits((float)out_zero[i] - shift);
    }
}

// Sets the ratios of the scales and the addends of up to PART elements. False if a ratio is so
// small or large that a product with it may leave the normal numbers.
static bool composite_ratios(const qdq_quant_params *p, const qdq_view *views, size_t n,
                             composite_part *part) {
    bool wormhole = p->numerics.multiply_add == QDQ_MULTIPLY_ADD_WORMHOLE;
    uint32_t in[PART];
    int32_t in_zero[PART], out_zero[PART];
    if (!body_small_zeros(views[1], n) || !body_small_zeros(views[3], n)) return false;
    body_ints(views[0], n, (int32_t *)in), body_ints(views[2], n, (int32_t *)part->scale);
    body_ints(views[1], n, in_zero), body_ints(views[3], n, out_zero);
    if (!composite_all_middling(in, n) || !composite_all_middling(part->scale, n)) return false;
    composite_seeds(wormhole, part->scale, n, part->factor);
    if (composite_quotients(in, part->scale, n, part->factor)) return false;
    composite_offsets(in_zero, out_zero, part->factor, n, part->zero);
    return true;
}

#define COMPOSITE_REQUANTIZE(x_name)                                                              \
    void QDQ_ISA_NAME(requantize_##x_name##_int32_expanded)(                                      \
        const void *restrict params, const qdq_view *restrict views, const void *restrict x,      \
        void *restrict y, size_t n) {                                                             \
        const qdq_quant_params *p = params;                                                       \
        const chip_integer c = {.low = (int32_t)p->range.quant_min,                               \
                                .high = (int32_t)p->range.quant_max};                             \
        const bool lists = views[0].step || views[1].step || views[2].step || views[3].step;      \
        bool known = false;                                                                       \
        composite_part part;                                                                      \
        for (size_t at = 0; at < n; at += PART) {                                                 \
            size_t size = n - at < PART ? n - at : PART;                                          \
            const qdq_view here[4] = {body_from(views[0], at), body_from(views[1], at),           \
                                      body_from(views[2], at), body_from(views[3], at)};          \
            int32_t *to = (int32_t *)y + at;                                                      \
            if (!at || lists) known = composite_ratios(p, here, size, &part);                     \
            if (!known) {                                                                         \
                qdq_requantize_tile_portable(                                                     \
                    params, here, (const char *)x + at * qdq_dtype_size(p->x_dtype), to, size);   \
                continue;                                                                         \
            }                                                                                     \
            for (size_t i = 0; i < size; i++) {                                                   \
                float product =                                                                   \
                    (float)code_##x_name(x, at + i) * qdq_float_from_bits(part.factor[i]);        \
                to[i] = composite_int32(c, composite_sum(qdq_float_bits(product), part.zero[i])); \
            }                                                                                     \
        }                                                                                         \
    }
COMPOSITE_REQUANTIZE(int32)
COMPOSITE_REQUANTIZE(int8)
COMPOSITE_REQUANTIZE(uint8)
