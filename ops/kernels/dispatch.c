// SPDX-License-Identifier: Apache-2.0
// The table of kernels: which tile function runs for a family of ops, its dtypes, its numerics and
// the instruction sets that the machine has. The last row that fits wins. A row names one choice
// of the numerics fields that matter to its family (qdq_numerics_that_matter clears the others);
// the portable rows take everything.
//
// The portable functions are the definition, by runtime/numerics/quantize_one.h, and every kernel
// equals them bit for bit. Vector kernels are plain C without branches, which compilers vectorize,
// one library for each instruction set: AVX2 and AVX-512 on x86-64, NEON on aarch64. Meson's
// option `simd` decides which of them a build has, and runtime/base/cpu.c which of them a run
// uses. Two targets whose numerics have the same fields share kernels.
#include "ops/kernels/kernel.h"

#if defined(QDQ_SIMD_X86) || defined(QDQ_SIMD_NEON)
#include "ops/kernels/quantize/chip_list.h"
#include "ops/kernels/quantize/kernel_list.h"
#endif

//---- The rows ---------------------------------------------------------------

// clang-format off
#define ROW(isa, fn, family, x, y, numerics) {QDQ_ISA_##isa, QDQ_FAMILY_##family, (qdq_dtype)DTYPE_##x, (qdq_dtype)DTYPE_##y, #fn, numerics, fn},

// Rows of kernel_list.h, for the instruction set that KERNEL names.
#define QUANTIZE(name, x, y, numerics, lane, by_product) KERNEL(name, QUANTIZE, x, y, &numerics_##numerics)
#define QUANTIZE_FLOAT8(name, x, y, numerics) KERNEL(name, QUANTIZE, x, y, &numerics_##numerics)
#define DEQUANTIZE(name, x, y, numerics, store) KERNEL(name, DEQUANTIZE, x, y, &numerics_##numerics)
#define REQUANTIZE(name, y, numerics) KERNEL(name, REQUANTIZE, int32, y, &numerics_##numerics)
#define FROM_FLOAT16(name, y, numerics, kernel) KERNEL(name, QUANTIZE, float16, y, &numerics_##numerics)
#define TO_FLOAT16(name, x, numerics, kernel) KERNEL(name, DEQUANTIZE, x, float16, &numerics_##numerics)
// Rows of chip_list.h.
#define CHIP_INTEGER(chip, CHIP, generation, y) QDQ_CHIP_INTEGER_ROWS(KERNEL, chip, generation, y)
#define CHIP_FLOAT(chip, CHIP, x, bias, y) QDQ_CHIP_FLOAT_ROWS(KERNEL, chip, x, y)
#define CHIP_COMPOSITE(chip, CHIP, x, way, stage, y) QDQ_CHIP_COMPOSITE_ROW(KERNEL, chip, x, way, stage, y)
#define CHIP_BACK(x, y) QDQ_CHIP_BACK_ROWS(KERNEL, x, y)
#define CHIP_EXPANDED QDQ_CHIP_EXPANDED_ROWS(KERNEL, int32) QDQ_CHIP_EXPANDED_ROWS(KERNEL, int8) QDQ_CHIP_EXPANDED_ROWS(KERNEL, uint8)
#define KERNELS QDQ_CHIP_INTEGERS(CHIP_INTEGER) QDQ_CHIP_FLOATS(CHIP_FLOAT) QDQ_CHIP_COMPOSITES(CHIP_COMPOSITE) QDQ_CHIP_BACK(CHIP_BACK) CHIP_EXPANDED QDQ_KERNEL_LIST(QUANTIZE, QUANTIZE_FLOAT8, DEQUANTIZE, REQUANTIZE, FROM_FLOAT16, TO_FLOAT16)

enum {
    DTYPE_any = QDQ_DTYPE_NONE,
#define DTYPE(E, name, ...) DTYPE_##name = QDQ_##E,
    QDQ_DTYPES(DTYPE)
};

static const qdq_kernel kernels[] = {
    ROW(PORTABLE, qdq_quantize_tile_portable, QUANTIZE, any, any, NULL)
    ROW(PORTABLE, qdq_dequantize_tile_portable, DEQUANTIZE, any, any, NULL)
    ROW(PORTABLE, qdq_requantize_tile_portable, REQUANTIZE, any, any, NULL)
    ROW(PORTABLE, qdq_cast_tile_portable, CAST, any, any, NULL)
    ROW(PORTABLE, qdq_fixed_tile_portable, FIXED, any, any, NULL)
    ROW(PORTABLE, qdq_lookup_bytes_portable, LOOKUP, any, any, NULL)
    ROW(PORTABLE, qdq_lookup_halves_portable, LOOKUP_HALVES, any, any, NULL)
    ROW(PORTABLE, qdq_lookup_words_portable, LOOKUP_WORDS, any, any, NULL)
#if defined(QDQ_SIMD_X86)
#define GENERAL(name, family) ROW(AVX2, qdq_##name##_avx2, family, any, any, NULL)
    QDQ_GENERAL_LIST(GENERAL)
#undef GENERAL
#define KERNEL(name, ...) ROW(AVX2, qdq_##name##_avx2, __VA_ARGS__)
    KERNELS
#undef KERNEL
#define INTRIN(name, ...) ROW(AVX2, qdq_##name, __VA_ARGS__)
    QDQ_AVX2_LIST(INTRIN)
#undef INTRIN
#define GENERAL(name, family) ROW(AVX512, qdq_##name##_avx512, family, any, any, NULL)
    QDQ_GENERAL_LIST(GENERAL)
#undef GENERAL
#define KERNEL(name, ...) ROW(AVX512, qdq_##name##_avx512, __VA_ARGS__)
    KERNELS
#define INTRIN(name, ...) ROW(AVX512, qdq_##name, __VA_ARGS__)
    QDQ_AVX512_LIST(INTRIN)
#elif defined(QDQ_SIMD_NEON)
#define GENERAL(name, family) ROW(NEON, qdq_##name##_neon, family, any, any, NULL)
    QDQ_GENERAL_LIST(GENERAL)
#undef GENERAL
#define KERNEL(name, ...) ROW(NEON, qdq_##name##_neon, __VA_ARGS__)
    KERNELS
#define INTRIN(name, ...) ROW(NEON, qdq_##name, __VA_ARGS__)
    QDQ_NEON_LIST(INTRIN)
#endif
};

// Functions that widen ranges, in the same order.
typedef struct range_row {
    qdq_isa isa;
    qdq_dtype x_dtype;
    qdq_range_fn *fn;
} range_row;

static const range_row ranges[] = {
    {QDQ_ISA_PORTABLE, QDQ_DTYPE_NONE, qdq_range_portable},
#if defined(QDQ_SIMD_X86)
#define RANGE(x, ...) {QDQ_ISA_AVX2, (qdq_dtype)DTYPE_##x, qdq_range_##x##_avx2},
    QDQ_RANGE_LIST(RANGE)
#undef RANGE
#define RANGE(x, ...) {QDQ_ISA_AVX512, (qdq_dtype)DTYPE_##x, qdq_range_##x##_avx512},
    QDQ_RANGE_LIST(RANGE)
#elif defined(QDQ_SIMD_NEON)
#define RANGE(x, ...) {QDQ_ISA_NEON, (qdq_dtype)DTYPE_##x, qdq_range_##x##_neon},
    QDQ_RANGE_LIST(RANGE)
#endif
};
// clang-format on

static bool range_fits(const void *row, const void *wanted) {
    const range_row *r = row;
    const qdq_dtype *x_dtype = wanted;
    return !r->x_dtype || r->x_dtype == *x_dtype;
}

qdq_range_fn *qdq_range_find(qdq_dtype x_dtype, uint32_t isas) {
    const range_row *best = QDQ_BEST_ROW(ranges, isas, range_fits, &x_dtype);
    return best->fn;
}

const qdq_kernel *qdq_kernels(size_t *count) {
    *count = sizeof kernels / sizeof kernels[0];
    return kernels;
}

qdq_numerics qdq_numerics_that_matter(qdq_family family, qdq_dtype y_dtype,
                                      const qdq_numerics *numerics) {
    qdq_numerics n = *numerics;
    bool to_float = qdq_dtype_is_real(y_dtype);
    n.choice = QDQ_CHOOSE_CORE;                  // used before kernels run
    n.device_typecast = false;                   // used by Cast only
    n.cast_form = QDQ_CAST_TEXT;                 // likewise
    n.block_float_store = QDQ_BLOCK_FLOAT_HOST;  // used after kernels
    n.float_ops = QDQ_FLOAT_OPS_CORE;            // used by other ops
    n.pair_sums = QDQ_PAIR_SUMS_EXACT;           // likewise
    n.qlinear = QDQ_QLINEAR_FMA;                 // likewise
    n.sfpu_generation = QDQ_SFPU_2026_10;        // likewise
    n.sfpu_keep_nan = n.sfpu_round_store = n.sfpu_wide_dst = n.sfpu_accurate = false;
    n.narrow = false, n.quant_min = n.quant_max = 0;
    n.unit_scale_tolerance = n.least_scale = 0;
    if (family != QDQ_FAMILY_REQUANTIZE) n.requantize_form = QDQ_REQUANTIZE_PAIR;
    if (family != QDQ_FAMILY_REQUANTIZE) n.requantize_dtype = QDQ_DTYPE_NONE;
    if (family != QDQ_FAMILY_QUANTIZE) n.bfloat16_load = QDQ_BFLOAT16_LOAD_EXACT;
    if (family == QDQ_FAMILY_QUANTIZE) {
        n.subtraction = QDQ_SUBTRACT_EXACT;
        n.dequantize_step_dtype = QDQ_DTYPE_NONE;
        n.code_bias = 0;
        n.sign_magnitude = false;
        n.middle_dtype = QDQ_DTYPE_NONE;
        if (!to_float) n.float_overflow = QDQ_FLOAT_SATURATE;
        if (n.input_dtype != QDQ_BFLOAT16 && n.quantize_step_dtype != QDQ_BFLOAT16 &&
            n.scale_dtype != QDQ_BFLOAT16 && n.reciprocal_dtype != QDQ_BFLOAT16)
            n.bfloat16_store = QDQ_BFLOAT16_HALF_EVEN;
    }
    if (family == QDQ_FAMILY_DEQUANTIZE) {
        n = (qdq_numerics){.subtraction = n.subtraction,
                           .dequantize_step_dtype = n.dequantize_step_dtype,
                           .bfloat16_store = n.bfloat16_store,
                           .code_bias = n.code_bias,
                           .flush_denormals = n.flush_denormals,
                           .multiply_add = n.multiply_add,
                           .sign_magnitude = n.sign_magnitude};
        if (y_dtype != QDQ_BFLOAT16 && n.dequantize_step_dtype != QDQ_BFLOAT16)
            n.bfloat16_store = QDQ_BFLOAT16_HALF_EVEN;
    }
    return n;
}

// Returns the dtype of the bytes that a kernel stores: integers narrower than a byte take one byte,
// so a kernel for bytes stores them too.
static qdq_dtype held_as(qdq_family family, qdq_dtype dtype) {
    if (family != QDQ_FAMILY_QUANTIZE) return dtype;
    if (dtype == QDQ_INT4 || dtype == QDQ_INT2) return QDQ_INT8;
    return dtype == QDQ_UINT4 || dtype == QDQ_UINT2 ? QDQ_UINT8 : dtype;
}

// True if a row fits: a column that is zero or NULL takes everything, but a chip's arithmetic and
// fixed point from scales need the portable row or a row with their numerics.
static bool kernel_fits(const void *row, const void *wanted) {
    const qdq_kernel *k = row, *w = wanted;
    bool special = w->numerics &&
                   (qdq_is_device(w->numerics) || qdq_is_fixed_form(w->numerics->requantize_form));
    if (!k->numerics && k->isa != QDQ_ISA_PORTABLE && special) return false;
    return k->family == w->family && (!k->x_dtype || k->x_dtype == w->x_dtype) &&
           (!k->y_dtype || k->y_dtype == w->y_dtype) &&
           (!k->numerics || (w->numerics && qdq_numerics_equal(k->numerics, w->numerics)));
}

qdq_tile_fn *qdq_kernel_find(qdq_family family, qdq_dtype x_dtype, qdq_dtype y_dtype,
                             const qdq_numerics *numerics, uint32_t isas) {
    qdq_kernel wanted = {.family = family, .x_dtype = x_dtype, .y_dtype = held_as(family, y_dtype)};
    qdq_numerics that_matter;
    if (numerics) {
        that_matter = qdq_numerics_that_matter(family, wanted.y_dtype, numerics);
        wanted.numerics = &that_matter;
    }
    const qdq_kernel *best = QDQ_BEST_ROW(kernels, isas, kernel_fits, &wanted);
    return best ? best->fn : NULL;
}

qdq_tile_fn *qdq_quant_kernel(qdq_family family, const qdq_quant_params *p, uint32_t isas) {
    bool special =
        p->float_zero_point || p->scales_twice || p->adds_zero || p->bounded || p->wide_scale;
    if (special) isas = 1u << QDQ_ISA_PORTABLE;
    return qdq_kernel_find(family, p->x_dtype, p->y_dtype, &p->numerics, isas);
}
