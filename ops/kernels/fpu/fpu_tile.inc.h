// SPDX-License-Identifier: Apache-2.0
// The kernel of products in a Tenstorrent chip's arithmetic for x86: lanes are columns.
// runtime/tenstorrent/fpu.c has the definition, step by step. Included once for each
// instruction set; NEON takes the portable kernel.
#include "ops/kernels/fpu/fpu_tile.h"

#if !defined(__AVX2__)

void QDQ_ISA_NAME(fpu_tile)(const qdq_fpu_mode *mode, size_t rows, size_t columns,
                            uint32_t (*a)[QDQ_FPU_TILE], uint32_t (*b)[QDQ_FPU_COLUMNS],
                            uint32_t (*sums)[QDQ_FPU_COLUMNS]) {
    qdq_fpu_tile_portable(mode, rows, columns, a, b, sums);
}

#else

#include "ops/kernels/fpu/fpu_vectors.inc.h"

enum {
    FPU_GROUP = 8,  // products that are aligned to each other
    FPU_GROUPS = QDQ_FPU_TILE / FPU_GROUP,
    FPU_PHASES = 4,
    FPU_HALF = FPU_LANES / 2,  // lanes of 32 bits
    FPU_ZERO = -1024,          // the exponent of an operand that is zero: below all others
};

//---- Operands ---------------------------------------------------------------

// Weights: lanes of 16 bits. `sign` is 0 or -1, the parts of the significand are times 4.
typedef struct fpu_weights {
    int16_t exponent[QDQ_FPU_TILE][QDQ_FPU_COLUMNS], sign[QDQ_FPU_TILE][QDQ_FPU_COLUMNS];
    int16_t high[QDQ_FPU_TILE][QDQ_FPU_COLUMNS], low[QDQ_FPU_TILE][QDQ_FPU_COLUMNS];
} fpu_weights;

// A row of activations: each number of 16 bits twice, as a word is loaded to all lanes at once.
typedef struct fpu_activations {
    uint32_t exponent[QDQ_FPU_TILE], sign[QDQ_FPU_TILE];
    uint32_t high[QDQ_FPU_TILE], low[QDQ_FPU_TILE];
} fpu_activations;

static inline int32_t fpu_exponent(uint32_t v) {
    int32_t exponent = (int32_t)(v >> 23 & 0xFF);
    return exponent ? exponent : FPU_ZERO;
}

static inline int32_t fpu_significand(uint32_t v) { return (int32_t)((v >> 13 & 0x3FF) | 0x400); }

static void fpu_split_weights(uint32_t (*b)[QDQ_FPU_COLUMNS], fpu_weights *out) {
    for (size_t k = 0; k < QDQ_FPU_TILE; k++)
        for (size_t j = 0; j < QDQ_FPU_COLUMNS; j++) {
            int32_t m = fpu_significand(b[k][j]);
            out->exponent[k][j] = (int16_t)fpu_exponent(b[k][j]);
            out->sign[k][j] = (int16_t)((int32_t)b[k][j] >> 31);
            out->high[k][j] = (int16_t)(m >> 6 << 2);
            out->low[k][j] = (int16_t)((m >> 1 & 0x1F) << 2);
        }
}

static inline uint32_t fpu_twice(int32_t v) { return ((uint32_t)v & 0xFFFF) * 0x10001u; }

static void fpu_split_activations(const uint32_t *a, fpu_activations *out) {
    for (size_t k = 0; k < QDQ_FPU_TILE; k++) {
        int32_t m = fpu_significand(a[k]);
        out->exponent[k] = fpu_twice(fpu_exponent(a[k]));
        out->sign[k] = fpu_twice((int32_t)a[k] >> 31);
        out->high[k] = fpu_twice(m >> 4);
        out->low[k] = fpu_twice((m & 0xF) << 3);
    }
}

//---- Groups of eight products -----------------------------------------------

// The sums of the groups, and the exponent that each group is aligned to, without the adjustment of
// a phase.
typedef struct fpu_sums {
    int16_t exponent[FPU_GROUPS][FPU_LANES];
    int16_t sum[FPU_PHASES][FPU_GROUPS][FPU_LANES];
} fpu_sums;

// Adds a product of parts, shifted right: x is 4 * m, or -4 * m - 1 if the product is negative, so
// that fpu_scale16 rounds halves up in magnitude. No product reaches 2^12, and no sum 2^15.
static inline fpu_vec fpu_add_product(fpu_vec sum, fpu_vec weight, uint32_t activation,
                                      fpu_vec sign, fpu_vec power) {
    fpu_vec x = fpu_xor(fpu_mul16(weight, fpu_all((int32_t)activation)), sign);
    return fpu_add16(sum, fpu_scale16(x, power));
}

// The distance of a product's exponent to the greatest one is the same in all phases.
static inline void fpu_group(int phases, const fpu_weights *w, size_t column,
                             const fpu_activations *a, size_t group, fpu_sums *out) {
    fpu_vec exponents[FPU_GROUP], sums[FPU_PHASES], most = fpu_all(0);
    for (size_t i = 0; i < FPU_GROUP; i++) {
        size_t k = group * FPU_GROUP + i;
        exponents[i] =
            fpu_add16(fpu_load(&w->exponent[k][column]), fpu_all((int32_t)a->exponent[k]));
        most = i ? fpu_max16(most, exponents[i]) : exponents[i];
    }
    for (int phase = 0; phase < phases; phase++) sums[phase] = fpu_all(0);
    for (size_t i = 0; i < FPU_GROUP; i++) {
        size_t k = group * FPU_GROUP + i;
        fpu_vec power = fpu_power(fpu_sub16(most, exponents[i]));
        fpu_vec sign = fpu_xor(fpu_load(&w->sign[k][column]), fpu_all((int32_t)a->sign[k]));
        fpu_vec high = fpu_load(&w->high[k][column]), low = fpu_load(&w->low[k][column]);
        for (int phase = 0; phase < phases; phase++)
            sums[phase] = fpu_add_product(sums[phase], phase & 1 ? low : high,
                                          phase & 2 ? a->low[k] : a->high[k], sign, power);
    }
    fpu_store(out->exponent[group], most);
    for (int phase = 0; phase < phases; phase++) fpu_store(out->sum[phase][group], sums[phase]);
}

//---- Dst --------------------------------------------------------------------

// An accumulator in lanes of 32 bits: `mantissa` is 4 * m, or -4 * m - 1 if it is negative. Zero
// has two zeros.
typedef struct fpu_dst {
    fpu_vec exponent, mantissa;
} fpu_dst;

static inline fpu_dst fpu_dst_of(fpu_vec v) {
    fpu_vec exponent = fpu_and(fpu_right(v, 23), 0xFF), zero = fpu_all(0);
    fpu_vec m = fpu_left(fpu_or(fpu_and(v, 0x7FFFFF), fpu_all(0x800000)), 2);
    m = fpu_xor(m, fpu_right(v, 31));
    return (fpu_dst){exponent, fpu_keep_greater(m, exponent, zero)};
}

static inline fpu_vec fpu_pattern(fpu_dst d) {
    fpu_vec negative = fpu_right(d.mantissa, 31);
    fpu_vec m = fpu_and(fpu_right(fpu_xor(d.mantissa, negative), 2), 0x7FFFFF);
    m = fpu_or(fpu_or(m, fpu_left(d.exponent, 23)), fpu_left(negative, 31));
    return fpu_keep_greater(m, d.exponent, fpu_all(0));
}

// (v + half) >> by.
static inline fpu_vec fpu_round(fpu_vec v, fpu_count by) {
    return fpu_right(fpu_add_word(v, 1 << (by - 1)), by);
}

// Returns a sum as the next accumulator. Converting it to float rounds to 24 bits; a bit below
// rounds ties up. With a Dst of 16 bits the sum counts 2^13, and its float is exact.
static inline fpu_dst fpu_packed(bool wormhole, bool dst32, fpu_vec sum, fpu_vec exponent) {
    fpu_vec size = fpu_abs(sum), zero = fpu_all(0), bits;
    if (dst32) {
        fpu_vec below = fpu_keep_greater(fpu_all(1), size, fpu_all(0xFFFFFF));
        bits = fpu_float_bits(fpu_or(fpu_left(size, 2), below));
    } else {
        bits = fpu_and(fpu_add_word(fpu_float_bits(size), 0x8000), -0x10000);
    }
    exponent = fpu_add(exponent, fpu_add_word(fpu_right(bits, 23), dst32 ? -152 : -137));
    if (wormhole && dst32)  // an error of the chip
        exponent = fpu_add(exponent, fpu_keep_equal(fpu_all(27), sum, fpu_all(-1)));
    exponent = fpu_keep_greater(fpu_max(exponent, zero), size, zero);
    fpu_vec m = fpu_keep_greater(fpu_and(bits, 0x7FFFFF), fpu_all(255), exponent);
    m = fpu_left(fpu_or(m, fpu_all(0x800000)), 2);
    m = fpu_keep_greater(fpu_xor(m, fpu_right(sum, 31)), exponent, zero);
    return (fpu_dst){fpu_min(exponent, fpu_all(255)), m};
}

// Returns a group's sum, shifted right, halves up. It counts for nothing if its exponent is 0 or
// less.
static inline fpu_vec fpu_aligned(bool dst32, fpu_vec sum, fpu_vec of_sum, fpu_vec exponent) {
    sum = fpu_keep_greater(fpu_left(sum, 14), of_sum, fpu_all(0));
    sum = fpu_round(fpu_right_by(sum, fpu_sub(exponent, of_sum)), 1);
    return dst32 ? sum : fpu_round(sum, 13);
}

// Adds the groups `group` and `group` + 1 to dst, from column `at` on.
static inline fpu_dst fpu_accumulate(bool wormhole, bool dst32, fpu_dst dst, const fpu_sums *sums,
                                     int phase, size_t group, size_t at) {
    static const int adjust[FPU_PHASES] = {-127, -127 - 5, -127 - 7, -127 - 12};
    fpu_vec of_0 = fpu_add_word(fpu_widen(&sums->exponent[group][at]), adjust[phase]);
    fpu_vec of_1 = fpu_add_word(fpu_widen(&sums->exponent[group + 1][at]), adjust[phase]);
    fpu_vec exponent = fpu_max(dst.exponent, fpu_max(of_0, of_1));
    fpu_vec sum = fpu_round(fpu_right_by(dst.mantissa, fpu_sub(exponent, dst.exponent)), 2);
    if (!dst32) sum = fpu_round(fpu_add(sum, fpu_right(sum, 31)), 13);
    sum = fpu_add(sum, fpu_aligned(dst32, fpu_widen(&sums->sum[phase][group][at]), of_0, exponent));
    sum = fpu_add(sum,
                  fpu_aligned(dst32, fpu_widen(&sums->sum[phase][group + 1][at]), of_1, exponent));
    return fpu_packed(wormhole, dst32, sum, exponent);
}

// Adds the sums of one row and FPU_LANES columns, in two accumulators, because each waits for
// itself.
static inline void fpu_add_sums(bool wormhole, bool dst32, int phases, const fpu_sums *sums,
                                uint32_t *out) {
    fpu_dst first = fpu_dst_of(fpu_load(out)), second = fpu_dst_of(fpu_load(out + FPU_HALF));
    for (int phase = 0; phase < phases; phase++)
        for (size_t group = 0; group < FPU_GROUPS; group += 2) {
            first = fpu_accumulate(wormhole, dst32, first, sums, phase, group, 0);
            second = fpu_accumulate(wormhole, dst32, second, sums, phase, group, FPU_HALF);
        }
    fpu_store(out, fpu_pattern(first));
    fpu_store(out + FPU_HALF, fpu_pattern(second));
}

//---- The tile ---------------------------------------------------------------

static inline void fpu_strip(int phases, const qdq_fpu_mode *mode, const fpu_weights *w,
                             size_t column, const fpu_activations *a, uint32_t *sums) {
    fpu_sums groups;
    for (size_t group = 0; group < FPU_GROUPS; group++)
        fpu_group(phases, w, column, a, group, &groups);
    bool wormhole = mode->chip == QDQ_MULTIPLY_ADD_WORMHOLE;
    if (wormhole && mode->dst32)
        fpu_add_sums(true, true, phases, &groups, sums);
    else
        fpu_add_sums(false, mode->dst32, phases, &groups, sums);
}

void QDQ_ISA_NAME(fpu_tile)(const qdq_fpu_mode *mode, size_t rows, size_t columns,
                            uint32_t (*a)[QDQ_FPU_TILE], uint32_t (*b)[QDQ_FPU_COLUMNS],
                            uint32_t (*sums)[QDQ_FPU_COLUMNS]) {
    fpu_weights weights;
    fpu_activations activations[QDQ_FPU_ROWS];
    fpu_split_weights(b, &weights);
    for (size_t row = 0; row < rows; row++) fpu_split_activations(a[row], &activations[row]);
    for (size_t column = 0; column < columns; column += FPU_LANES)
        for (size_t row = 0; row < rows; row++) {
            const fpu_activations *of = &activations[row];
            uint32_t *out = sums[row] + column;
            switch (mode->phases) {
            case 1: fpu_strip(1, mode, &weights, column, of, out); break;
            case 2: fpu_strip(2, mode, &weights, column, of, out); break;
            case 3: fpu_strip(3, mode, &weights, column, of, out); break;
            default: fpu_strip(4, mode, &weights, column, of, out);
            }
        }
}

#endif
