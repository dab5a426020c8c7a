// SPDX-License-Identifier: Apache-2.0
// Quantize, Requantize and Dequantize as the kernels of Tenstorrent chips compute them, in plain C
// that compilers turn into vectors. runtime/tenstorrent/quantize_device.c is the definition.
//
// The lanes take scales whose reciprocals are normal numbers. Others, infinite and NaN among them,
// and zero points above 2^20 go to the portable kernel.
#include "ops/kernels/quantize/chip_lanes.inc.h"
#include "ops/kernels/quantize/chip_list.h"
#include "ops/kernels/quantize/lanes.inc.h"
#include "runtime/tenstorrent/sfpmad.h"

//---- To integers ------------------------------------------------------------

// A conversion to integers.
typedef struct chip_integer {
    bool wormhole, even;
    int32_t folded;      // excess of the zero point: 128 or 0
    int32_t keeps_sign;  // -1; 0: the sign is dropped
    int32_t low, high;   // of y
    int32_t wraps;       // composite uint8: the bits of y that remain
} chip_integer;

// Returns a rounded magnitude as a code of y.
static inline int32_t chip_code(chip_integer c, uint32_t sign, int32_t whole) {
    int32_t negative = (int32_t)sign >> 31 & c.keeps_sign;
    whole = (whole ^ negative) - negative - c.folded;
    whole = whole > c.low ? whole : c.low;
    return whole < c.high ? whole : c.high;
}

// Patterns of floats without sign have their order, with NaN last.
enum { CHIP_HALF = 0x3F000000, CHIP_2_21 = 0x4A000000, CHIP_128 = 0x43000000 };
enum { CHIP_MAGIC = 0x4B400000 };  // 1.5 * 2^23

// Returns the lesser of two floats without sign; of a NaN and a number the number.
static inline float chip_least(uint32_t a, int32_t b) {
    return qdq_float_from_bits((uint32_t)((int32_t)a < b ? (int32_t)a : b));
}

// Rounds half away from zero. Numbers from 2^21 on, infinities and NaN are beyond all bounds.
static inline int32_t chip_away(chip_integer c, uint32_t v) {
    float size = chip_least(v & ~CHIP_SIGN, CHIP_2_21);
    int32_t whole = (int32_t)size;
    uint32_t rest = qdq_float_bits(size - (float)whole);
    whole += (int32_t)(CHIP_IF((int32_t)rest >= CHIP_HALF) & 1);
    return chip_code(c, v, whole);
}

// Returns the place of a pattern in the total order.
static inline int32_t chip_place(uint32_t v) {
    return (int32_t)(v & CHIP_SIGN ? v ^ ~CHIP_SIGN : v);
}

// Returns the code of a sum with 1.5 * 2^23 less the zero point; `zero` is the place of that term,
// chip_zero.
static inline int32_t chip_even(chip_integer c, uint32_t sum, int32_t zero) {
    int32_t place = chip_place(sum), low = zero + c.low, high = zero + c.high;
    place = place > low ? place : low;
    place = place < high ? place : high;
    return place - zero;
}

static inline qdq_multiply_add chip_name(chip_integer c) {
    return c.wormhole ? QDQ_MULTIPLY_ADD_WORMHOLE : QDQ_MULTIPLY_ADD_BLACKHOLE;
}

// Return the number that the multiply-add adds for a zero point of at most 2^20, and the place of
// the zero point: the chip's sums for both are exact.
static inline uint32_t chip_addend(chip_integer c, int32_t z) {
    return c.even ? (uint32_t)CHIP_MAGIC : qdq_float_bits((float)(z + c.folded));
}
static inline int32_t chip_zero(chip_integer c, int32_t z) { return c.even ? CHIP_MAGIC - z : 0; }

//---- Parts -------------------------------------------------------------------

// Compilers vectorize loops whose elements all have one width, so a part of PART elements goes
// through four of them: patterns of x, sums, integers, elements of y.

static QDQ_RARE void chip_read_float32(const void *x, size_t n, uint32_t *out) {
    memcpy(out, x, n * sizeof *out);
}

// As qdq_chip_load_bfloat16; denormals are zero to the multiply-add anyway.
static QDQ_RARE void chip_read_bfloat16(const void *x, size_t n, uint32_t *out) {
    for (size_t i = 0; i < n; i++) {
        uint32_t v = (uint32_t)((const uint16_t *)x)[i] << 16;
        uint32_t nan = CHIP_IF((int32_t)(v & ~CHIP_SIGN) > (int32_t)CHIP_INFINITY);
        out[i] = chip_pick(nan, (v & CHIP_SIGN) | CHIP_INFINITY, v);
    }
}

// INT32_MIN has sign and magnitude: it is -0.
static QDQ_RARE void chip_read_int32(const void *x, size_t n, uint32_t *out) {
    for (size_t i = 0; i < n; i++) {
        int32_t q = ((const int32_t *)x)[i];
        out[i] = chip_pick(CHIP_IF(q == INT32_MIN), CHIP_SIGN, qdq_float_bits((float)q));
    }
}

static QDQ_RARE void chip_write_uint8(void *restrict y, const int32_t *restrict q, size_t n) {
    for (size_t i = 0; i < n; i++) store_uint8(y, i, q[i]);
}
static inline void chip_write_int8(void *restrict y, const int32_t *restrict q, size_t n) {
    chip_write_uint8(y, q, n);
}
static inline void chip_write_int32(void *restrict y, const int32_t *restrict q, size_t n) {
    memcpy(y, q, n * sizeof *q);
}

// x * y + z, in place. `forgets`: see chip_mad.
static QDQ_RARE void chip_sums(bool wormhole, bool forgets, uint32_t *x, uint32_t y, uint32_t z,
                               size_t n) {
    if (wormhole && forgets)
        for (size_t i = 0; i < n; i++) x[i] = chip_mad(true, true, x[i], y, z);
    else if (wormhole)
        for (size_t i = 0; i < n; i++) x[i] = chip_mad(true, false, x[i], y, z);
    else
        for (size_t i = 0; i < n; i++) x[i] = chip_mad(false, false, x[i], y, z);
}

static QDQ_RARE void chip_sums_of_lists(bool wormhole, uint32_t *restrict x,
                                        const uint32_t *restrict y, const uint32_t *restrict z,
                                        size_t n) {
    if (wormhole)
        for (size_t i = 0; i < n; i++) x[i] = chip_mad(true, false, x[i], y[i], z[i]);
    else
        for (size_t i = 0; i < n; i++) x[i] = chip_mad(false, false, x[i], y[i], z[i]);
}

//---- Parts, fast ------------------------------------------------------------

// Most sums may be an IEEE fma: the chip's differs by less than CHIP_DOUBT from it while zero point
// and bounds are below 512, so both round to the same integer unless the fma is that close to a
// tie. Beyond 512 both are beyond the bounds. Sums with 1.5 * 2^23 are equal up to 2^22. A NaN has
// another sign on each chip. Denormal x are less than CHIP_DOUBT after a product below 2^100.
//
// The bound: the chip cuts the product at 2^-17 and the lesser term at 2^-16, and both round at
// 2^-16. With a power of two as a factor it cuts nothing, and ties are equal too.
#define CHIP_DOUBT 0x1p-14f
enum { CHIP_BLOCK = 64 };  // elements that are searched for doubtful sums together

typedef struct chip_factors {
    float y, z;     // x * y + z
    int32_t doubt;  // the distance from a tie that is doubtful, as a pattern; -1: none is
    bool is_fast;   // the fma may be taken
} chip_factors;

static inline chip_factors chip_factors_of(chip_integer c, uint32_t y, uint32_t z) {
    chip_factors f = {.y = qdq_float_from_bits(y), .z = qdq_float_from_bits(z)};
    f.doubt = y & 0x7FFFFF ? (int32_t)qdq_float_bits(CHIP_DOUBT) : -1;
    f.is_fast = fabsf(f.y) < 0x1p100f && c.low >= -512 && c.high <= 511 &&
                (fabsf(f.z) <= 512 || z == CHIP_MAGIC);
    return f;
}

static inline uint32_t chip_is_nan(uint32_t v) {
    return CHIP_IF((int32_t)(v & ~CHIP_SIGN) > (int32_t)CHIP_INFINITY);
}

// Converts n patterns of x to integers; returns bits that are not 0 if an integer is doubtful.
static inline uint32_t chip_fast_away(chip_integer c, chip_factors f, const uint32_t *restrict x,
                                      size_t n, int32_t *restrict q) {
    uint32_t doubtful = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t v = qdq_float_bits(__builtin_fmaf(qdq_float_from_bits(x[i]), f.y, f.z));
        float size = chip_least(v & ~CHIP_SIGN, CHIP_2_21), rest;
        int32_t whole = (int32_t)size;
        rest = size - (float)whole;
        doubtful |= chip_is_nan(v);
        doubtful |= CHIP_IF((int32_t)qdq_float_bits(fabsf(rest - 0.5f)) < f.doubt);
        whole += (int32_t)(CHIP_IF((int32_t)qdq_float_bits(rest) >= CHIP_HALF) & 1);
        q[i] = chip_code(c, v, whole);
    }
    return doubtful;
}

static inline uint32_t chip_fast_even(chip_integer c, chip_factors f, int32_t zero,
                                      const uint32_t *restrict x, size_t n, int32_t *restrict q) {
    uint32_t doubtful = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t v = qdq_float_bits(__builtin_fmaf(qdq_float_from_bits(x[i]), f.y, f.z));
        doubtful |= chip_is_nan(v);
        q[i] = chip_even(c, v, zero);
    }
    return doubtful;
}

// Converts n patterns of x, which are overwritten, to integers, with one scale and one zero point.
static inline void chip_quantize_part(chip_integer c, chip_factors f, int32_t zero, uint32_t *x,
                                      size_t n, int32_t *q) {
    for (size_t at = 0; at < n; at += CHIP_BLOCK) {
        size_t size = n - at < CHIP_BLOCK ? n - at : CHIP_BLOCK;
        uint32_t *from = x + at;
        if (f.is_fast && !(c.even ? chip_fast_even(c, f, zero, from, size, q + at)
                                  : chip_fast_away(c, f, from, size, q + at)))
            continue;
        chip_sums(c.wormhole, false, from, qdq_float_bits(f.y), qdq_float_bits(f.z), size);
        if (c.even)
            for (size_t i = 0; i < size; i++) q[at + i] = chip_even(c, from[i], zero);
        else
            for (size_t i = 0; i < size; i++) q[at + i] = chip_away(c, from[i]);
    }
}

static inline bool chip_is_normal(uint32_t v) { return (v >> 23 & 0xFF) - 1 < 254; }

//---- Quantize ---------------------------------------------------------------

// Sets n reciprocals 1 / s as a chip computes them.
static QDQ_RARE void chip_reciprocals(bool wormhole, const uint32_t *restrict s, size_t n,
                                      uint32_t *restrict out) {
    if (wormhole)
        for (size_t i = 0; i < n; i++) out[i] = chip_wormhole_reciprocal(s[i]);
    else
        for (size_t i = 0; i < n; i++) out[i] = chip_blackhole_reciprocal(s[i]);
}

// Sets the reciprocals of up to PART scales: computed when the graph was compiled, or as the host
// or the chip computes them. False if a reciprocal is not normal, or near an end of the range.
static QDQ_RARE bool chip_inverses(const qdq_quant_params *p, bool wormhole, qdq_view view,
                                   size_t n, uint32_t *restrict inverse) {
    float s[PART];
    uint32_t patterns[PART], wrong = 0;
    body_floats(view, n, s);
    memcpy(patterns, s, n * sizeof *s);
    for (size_t i = 0; i < n; i++) wrong |= chip_is_middling(patterns[i]) ? 0 : 1;
    if (wrong) return false;
    if (p->scale_is_inverse)
        memcpy(inverse, patterns, n * sizeof *inverse);
    else if (p->numerics.scaling == QDQ_SCALE_DEVICE_RECIPROCAL)
        chip_reciprocals(wormhole, patterns, n, inverse);
    else
        for (size_t i = 0; i < n; i++) inverse[i] = qdq_float_bits(1.0f / s[i]);
    return true;
}

static QDQ_RARE bool chip_all_equal(qdq_view view, size_t n) {
    uint32_t other = 0;
    for (size_t i = 1; i < n && view.step; i++) other |= view.data[i] ^ view.data[0];
    return !other;
}

// The parameters of one part of a Quantize.
typedef struct chip_part {
    uint32_t x[PART], inverse[PART], z[PART];
    int32_t zero[PART];
} chip_part;

// Sets zero points as the multiply-add takes them, and their places.
static QDQ_RARE void chip_zero_points(chip_integer c, qdq_view view, size_t n, chip_part *part) {
    int32_t z[PART];
    body_ints(view, n, z);
    for (size_t i = 0; i < n; i++) part->z[i] = chip_addend(c, z[i]);
    for (size_t i = 0; i < n; i++) part->zero[i] = chip_zero(c, z[i]);
}

// The loops of a kernel over a part. Calls through pointers keep one copy of each in a file.
typedef struct chip_loops {
    chip_integer c;  // without bounds
    void (*read)(const void *x, size_t n, uint32_t *out);
    void (*quantize)(chip_integer c, chip_factors f, int32_t zero, uint32_t *x, size_t n,
                     int32_t *q);
    void (*round)(chip_integer c, const chip_part *part, size_t n, int32_t *q);
    void (*write)(void *restrict y, const int32_t *restrict q, size_t n);
} chip_loops;

// One scale and one zero point, or a part at a time with a list of them.
static QDQ_RARE void chip_quantize(const chip_loops *loops, const void *params,
                                   const qdq_view *views, const void *x, void *y, size_t n) {
    const qdq_quant_params *p = params;
    const size_t x_size = qdq_dtype_size(p->x_dtype), y_size = qdq_dtype_size(p->y_dtype);
    const int32_t z = (int32_t)views[1].data[0];
    chip_integer c = loops->c;
    c.low = (int32_t)p->range.quant_min, c.high = (int32_t)p->range.quant_max;
    uint32_t inverse;
    if (!body_small(p, views[1], n)) {
        qdq_quantize_tile_portable(params, views, x, y, n);
        return;
    }
    bool one = chip_all_equal(views[0], n) && chip_all_equal(views[1], n) &&
               chip_inverses(p, c.wormhole, (qdq_view){views[0].data, 0}, 1, &inverse);
    int32_t zero = one ? chip_zero(c, z) : 0;
    const chip_factors f = chip_factors_of(c, one ? inverse : 0, one ? chip_addend(c, z) : 0);
    chip_part part;
    int32_t q[PART];
    for (size_t at = 0; at < n; at += PART) {
        size_t size = n - at < PART ? n - at : PART;
        const void *from = (const char *)x + at * x_size;
        void *to = (char *)y + at * y_size;
        qdq_view here[2] = {body_from(views[0], at), body_from(views[1], at)};
        bool known = one || chip_inverses(p, c.wormhole, here[0], size, part.inverse);
        if (!known) {
            qdq_quantize_tile_portable(params, here, from, to, size);
            continue;
        }
        loops->read(from, size, part.x);
        if (one) {
            loops->quantize(c, f, zero, part.x, size, q);
        } else {
            chip_zero_points(c, here[1], size, &part);
            chip_sums_of_lists(c.wormhole, part.x, part.inverse, part.z, size);
            loops->round(c, &part, size, q);
        }
        loops->write(to, q, size);
    }
}

//---- Requantize -------------------------------------------------------------

// The host computes ratio and offset.
static QDQ_RARE void chip_requantize(const chip_loops *loops, const void *params,
                                     const qdq_view *views, const void *x, void *y, size_t n) {
    const qdq_quant_params *p = params;
    bool alike = !views[0].step && !views[1].step && !views[2].step && !views[3].step;
    chip_integer c = loops->c;
    c.low = (int32_t)p->range.quant_min, c.high = (int32_t)p->range.quant_max;
    float ratio = qdq_float_from_bits(views[0].data[0]) / qdq_float_from_bits(views[2].data[0]);
    float shift = (float)(int32_t)views[1].data[0] * ratio;
    float offset = (float)(int32_t)views[3].data[0] - shift;
    uint32_t r = qdq_float_bits(ratio), z = qdq_float_bits(offset);
    if (!alike || !body_small(p, views[3], n) || !chip_is_normal(r) ||
        (z & CHIP_INFINITY) == CHIP_INFINITY) {
        qdq_requantize_tile_portable(params, views, x, y, n);
        return;
    }
    if (c.folded) z = qdq_sfpmad(chip_name(c), z, CHIP_ONE, CHIP_128);
    const chip_factors f = chip_factors_of(c, r, z);
    const size_t y_size = qdq_dtype_size(p->y_dtype);
    chip_part part;
    int32_t q[PART];
    for (size_t i = 0; i < PART; i++) part.zero[i] = CHIP_MAGIC;
    for (size_t at = 0; at < n; at += PART) {
        size_t size = n - at < PART ? n - at : PART;
        loops->read((const int32_t *)x + at, size, part.x);
        if (c.even) {
            chip_sums(c.wormhole, true, part.x, r, z, size);
            chip_sums(c.wormhole, false, part.x, CHIP_ONE, CHIP_MAGIC, size);
            loops->round(c, &part, size, q);
        } else {
            loops->quantize(c, f, 0, part.x, size, q);
        }
        loops->write((char *)y + at * y_size, q, size);
    }
}

//---- Dequantize -------------------------------------------------------------

static inline int32_t code_int32(const void *x, size_t i) { return ((const int32_t *)x)[i]; }

// (q - z) * s. The chip's difference of integers is IEEE's. With a normal scale the chip's product
// is IEEE's too, except that zeros have no sign: neither ever rounds below 2^-126. A denormal scale
// is 0.
static inline float chip_scaled(int32_t q, float z, float s) {
    float product = ((q == INT32_MIN ? 0.0f : (float)q) - z) * s;
    return product == 0 ? 0.0f : product;
}

static inline float chip_scale(uint32_t s) {
    return qdq_float_from_bits(s & CHIP_INFINITY ? s : 0);
}

// (q - z) * s where the chip subtracts integers.
static inline float chip_scaled_exactly(int32_t q, int32_t z, float s) {
    float product = (float)((double)q - (double)z) * s;
    return product == 0 ? 0.0f : product;
}

static inline float chip_minus(int32_t q, int32_t z, float s) {
    return chip_scaled(q, (float)z, s);
}

#define CHIP_DEQUANTIZE(name, x_name, scaled, store)                                       \
    void QDQ_ISA_NAME(name)(const void *restrict params, const qdq_view *restrict views,   \
                            const void *restrict x, void *restrict y, size_t n) {          \
        if (!body_small_zeros(views[1], n) || !body_finite(views[0], n)) {                 \
            qdq_dequantize_tile_portable(params, views, x, y, n);                          \
            return;                                                                        \
        }                                                                                  \
        if (!views[0].step && !views[1].step) {                                            \
            const float s = chip_scale(views[0].data[0]);                                  \
            const int32_t z = (int32_t)views[1].data[0];                                   \
            for (size_t i = 0; i < n; i++) store(y, i, scaled(code_##x_name(x, i), z, s)); \
            return;                                                                        \
        }                                                                                  \
        for (size_t i = 0; i < n; i++)                                                     \
            store(y, i,                                                                    \
                  scaled(code_##x_name(x, i), (int32_t)views[1].data[i * views[1].step],   \
                         chip_scale(views[0].data[i * views[0].step])));                   \
    }

//---- The rows ---------------------------------------------------------------

enum { CHIP_IS_wormhole = 1, CHIP_IS_blackhole = 0, CHIP_IS_away = 0, CHIP_IS_even = 1 };
#define CHIP_FOLDS_away_int8 true
#define CHIP_FOLDS_away_uint8 false
#define CHIP_FOLDS_away_int32 false
#define CHIP_FOLDS_even_int8 false
#define CHIP_FOLDS_even_uint8 false
#define CHIP_FOLDS_even_int32 false
#define CHIP_DROPS_away_int8 false
#define CHIP_DROPS_away_uint8 true
#define CHIP_DROPS_away_int32 false
#define CHIP_DROPS_even_int8 false
#define CHIP_DROPS_even_uint8 false
#define CHIP_DROPS_even_int32 false
#define CHIP_STORE_float32 finite_float32
#define CHIP_STORE_bfloat16 finite_bfloat16_device

// The integer of a row. Its constants are known in the loops below.
#define CHIP_INTEGER_OF(generation, y)                                               \
    .even = CHIP_IS_##generation, .folded = CHIP_FOLDS_##generation##_##y ? 128 : 0, \
    .keeps_sign = CHIP_DROPS_##generation##_##y ? 0 : -1
#define CHIP_INTEGER_LOOPS(generation, y)                                                          \
    static void chip_quantize_##generation##_##y(chip_integer c, chip_factors f, int32_t zero,     \
                                                 uint32_t *x, size_t n, int32_t *q) {              \
        const chip_integer known = {                                                               \
            .wormhole = c.wormhole, .low = c.low, .high = c.high, CHIP_INTEGER_OF(generation, y)}; \
        chip_quantize_part(known, f, zero, x, n, q);                                               \
    }                                                                                              \
    static void chip_round_##generation##_##y(chip_integer c, const chip_part *part, size_t n,     \
                                              int32_t *restrict q) {                               \
        const chip_integer known = {.low = c.low, .high = c.high, CHIP_INTEGER_OF(generation, y)}; \
        for (size_t i = 0; i < n; i++)                                                             \
            q[i] = known.even ? chip_even(known, part->x[i], part->zero[i])                        \
                              : chip_away(known, part->x[i]);                                      \
    }
CHIP_INTEGER_LOOPS(away, int32)
CHIP_INTEGER_LOOPS(away, uint8)
CHIP_INTEGER_LOOPS(away, int8)
CHIP_INTEGER_LOOPS(even, int32)
CHIP_INTEGER_LOOPS(even, uint8)
CHIP_INTEGER_LOOPS(even, int8)

#define CHIP_INTEGER_KERNEL(name, run, chip, generation, x_name, y_name)                 \
    void QDQ_ISA_NAME(name)(const void *restrict params, const qdq_view *restrict views, \
                            const void *restrict x, void *restrict y, size_t n) {        \
        static const chip_loops loops = {                                                \
            {.wormhole = CHIP_IS_##chip, CHIP_INTEGER_OF(generation, y_name)},           \
            chip_read_##x_name,                                                          \
            chip_quantize_##generation##_##y_name,                                       \
            chip_round_##generation##_##y_name,                                          \
            chip_write_##y_name};                                                        \
        run(&loops, params, views, x, y, n);                                             \
    }
#define CHIP_INTEGER_KERNELS(chip, CHIP, generation, y)                                      \
    CHIP_INTEGER_KERNEL(quantize_float32_##y##_##chip##_##generation, chip_quantize, chip,   \
                        generation, float32, y)                                              \
    CHIP_INTEGER_KERNEL(quantize_bfloat16_##y##_##chip##_##generation, chip_quantize, chip,  \
                        generation, bfloat16, y)                                             \
    CHIP_INTEGER_KERNEL(requantize_int32_##y##_##chip##_##generation, chip_requantize, chip, \
                        generation, int32, y)
#define CHIP_FLOAT_KERNELS(chip, CHIP, x, bias, y) \
    CHIP_DEQUANTIZE(dequantize_##x##_##y##_##chip, x, chip_minus, CHIP_STORE_##y)

QDQ_CHIP_INTEGERS(CHIP_INTEGER_KERNELS)
QDQ_CHIP_FLOATS(CHIP_FLOAT_KERNELS)
