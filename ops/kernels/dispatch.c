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
#include "ops/kernels/gemm/gemm.h"
#include "ops/kernels/quantize/avx2_intrin.h"
#include "ops/kernels/quantize/avx512_intrin.h"
#include "ops/kernels/quantize/body_list.h"

#if defined(QDQ_SIMD_X86) || defined(QDQ_SIMD_NEON)

//---- Numerics that kernels are written for ----------------------------------

#define FUSED \
    .zero_point_order = QDQ_ZERO_POINT_FMA, .nan = QDQ_NAN_QUANT_MAX, .flush_denormals = true
#define DEVICE .bfloat16_store = QDQ_BFLOAT16_DEVICE, .flush_denormals = true

static const qdq_numerics core, exact;
static const qdq_numerics subtracts = {.subtraction = QDQ_SUBTRACT_FLOAT};
static const qdq_numerics onednn = {.scaling = QDQ_SCALE_RECIPROCAL,
                                    .zero_point_order = QDQ_ZERO_POINT_BEFORE};
static const qdq_numerics onednn_d = {.subtraction = QDQ_SUBTRACT_FLOAT,
                                      .bfloat16_store = QDQ_BFLOAT16_FLUSH};
static const qdq_numerics torchao_db = {.subtraction = QDQ_SUBTRACT_FLOAT,
                                        .dequantize_step_dtype = QDQ_BFLOAT16};
static const qdq_numerics torchao = {.scaling = QDQ_SCALE_RECIPROCAL,
                                     .zero_point_order = QDQ_ZERO_POINT_AFTER_FLOAT};
static const qdq_numerics ttnn_int32 = {FUSED, .rounding = QDQ_ROUND_HALF_AWAY};
static const qdq_numerics ttnn_uint8 = {FUSED, .rounding = QDQ_ROUND_HALF_AWAY,
                                        .overflow = QDQ_OVERFLOW_MAGNITUDE};
static const qdq_numerics ttnn_int8 = {FUSED, .rounding = QDQ_ROUND_HALF_UP_BIASED};
static const qdq_numerics ttnn_d = {.subtraction = QDQ_SUBTRACT_FLOAT, .flush_denormals = true};
static const qdq_numerics ttnn_d_int8 = {
    .subtraction = QDQ_SUBTRACT_FLOAT, .flush_denormals = true, .code_bias = 128};
static const qdq_numerics ttnn_db = {.subtraction = QDQ_SUBTRACT_FLOAT, DEVICE};
static const qdq_numerics ttnn_db_int8 = {
    .subtraction = QDQ_SUBTRACT_FLOAT, DEVICE, .code_bias = 128};

#endif

//---- The rows ---------------------------------------------------------------

// clang-format off
#define BODY_Q(name, x, y, numerics, lane, flush) BODY(name, QUANTIZE, DTYPE_##x, DTYPE_##y, &(numerics))
#define BODY_F(name, x, y, numerics) BODY(name, QUANTIZE, DTYPE_##x, DTYPE_##y, &(numerics))
#define BODY_D(name, x, y, y_dtype, numerics, flush) BODY(name, DEQUANTIZE, DTYPE_##x, QDQ_##y_dtype, &(numerics))
#define BODY_R(name, y, numerics) BODY(name, REQUANTIZE, QDQ_INT32, DTYPE_##y, &(numerics))
#define BODY_H(name, y, numerics, with) BODY(name, QUANTIZE, QDQ_FLOAT16, DTYPE_##y, &(numerics))
#define BODY_G(name, x, numerics, with) BODY(name, DEQUANTIZE, DTYPE_##x, QDQ_FLOAT16, &(numerics))
#define DTYPE_float32 QDQ_FLOAT32
#define DTYPE_bfloat16 QDQ_BFLOAT16
#define DTYPE_int8 QDQ_INT8
#define DTYPE_uint8 QDQ_UINT8
#define DTYPE_int4 QDQ_INT4
#define DTYPE_uint4 QDQ_UINT4
#define DTYPE_int16 QDQ_INT16
#define DTYPE_uint16 QDQ_UINT16
#define DTYPE_int32 QDQ_INT32
#define DTYPE_float8_e4m3fn QDQ_FLOAT8_E4M3FN
#define DTYPE_float8_e5m2 QDQ_FLOAT8_E5M2

#if defined(QDQ_SIMD_X86)
#define BODY(name, family, x, y, numerics) extern qdq_tile_fn qdq_##name##_avx2, qdq_##name##_avx512;
QDQ_BODY_LIST(BODY_Q, BODY_F, BODY_D, BODY_R, BODY_H, BODY_G)
#undef BODY
extern qdq_range_fn qdq_range_float32_avx2, qdq_range_bfloat16_avx2, qdq_range_float32_avx512, qdq_range_bfloat16_avx512;
#elif defined(QDQ_SIMD_NEON)
#define BODY(name, family, x, y, numerics) extern qdq_tile_fn qdq_##name##_neon;
QDQ_BODY_LIST(BODY_Q, BODY_F, BODY_D, BODY_R, BODY_H, BODY_G)
#undef BODY
extern qdq_tile_fn qdq_lookup_bytes_neon;
extern qdq_range_fn qdq_range_float32_neon, qdq_range_bfloat16_neon;
#endif

#define ROW(isa, family, x, y, numerics, fn) {QDQ_ISA_##isa, #fn, QDQ_FAMILY_##family, x, y, numerics, fn}

static const qdq_kernel kernels[] = {
    ROW(PORTABLE, QUANTIZE, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_quantize_tile_portable),
    ROW(PORTABLE, DEQUANTIZE, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_dequantize_tile_portable),
    ROW(PORTABLE, REQUANTIZE, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_requantize_tile_portable),
    ROW(PORTABLE, CAST, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_cast_tile_portable),
    ROW(PORTABLE, LOOKUP, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_lookup_bytes_portable),
    ROW(PORTABLE, LOOKUP_HALVES, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_lookup_halves_portable),
    ROW(PORTABLE, LOOKUP_WORDS, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_lookup_words_portable),
#if defined(QDQ_SIMD_X86)
#define BODY(name, family, x, y, numerics) ROW(AVX2, family, x, y, numerics, qdq_##name##_avx2),
    QDQ_BODY_LIST(BODY_Q, BODY_F, BODY_D, BODY_R, BODY_H, BODY_G)
#undef BODY
    ROW(AVX2, QUANTIZE, QDQ_FLOAT32, QDQ_INT8, &core, qdq_quantize_float32_int8_hot_avx2),
    ROW(AVX2, QUANTIZE, QDQ_FLOAT32, QDQ_UINT8, &core, qdq_quantize_float32_uint8_hot_avx2),
    ROW(AVX2, QUANTIZE, QDQ_BFLOAT16, QDQ_INT8, &core, qdq_quantize_bfloat16_int8_hot_avx2),
    ROW(AVX2, QUANTIZE, QDQ_BFLOAT16, QDQ_UINT8, &core, qdq_quantize_bfloat16_uint8_hot_avx2),
#define BODY(name, family, x, y, numerics) ROW(AVX512, family, x, y, numerics, qdq_##name##_avx512),
    QDQ_BODY_LIST(BODY_Q, BODY_F, BODY_D, BODY_R, BODY_H, BODY_G)
#undef BODY
    ROW(AVX512, QUANTIZE, QDQ_FLOAT32, QDQ_INT8, &core, qdq_quantize_float32_int8_channels_avx512),
    ROW(AVX512, QUANTIZE, QDQ_FLOAT32, QDQ_UINT8, &core, qdq_quantize_float32_uint8_channels_avx512),
    ROW(AVX512, QUANTIZE, QDQ_BFLOAT16, QDQ_INT8, &core, qdq_quantize_bfloat16_int8_channels_avx512),
    ROW(AVX512, QUANTIZE, QDQ_BFLOAT16, QDQ_UINT8, &core, qdq_quantize_bfloat16_uint8_channels_avx512),
    ROW(AVX512, QUANTIZE, QDQ_INT32, QDQ_INT8, &core, qdq_quantize_int32_int8_hot_avx512),
    ROW(AVX512, QUANTIZE, QDQ_INT32, QDQ_UINT8, &core, qdq_quantize_int32_uint8_hot_avx512),
    ROW(AVX512, REQUANTIZE, QDQ_INT32, QDQ_INT8, &core, qdq_requantize_int32_int8_hot_avx512),
    ROW(AVX512, REQUANTIZE, QDQ_INT32, QDQ_UINT8, &core, qdq_requantize_int32_uint8_hot_avx512),
    ROW(AVX512, LOOKUP, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_lookup_bytes_avx512),
    ROW(AVX512, LOOKUP_HALVES, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_lookup_halves_avx512),
    ROW(AVX512, LOOKUP_WORDS, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_lookup_words_avx512),
#elif defined(QDQ_SIMD_NEON)
#define BODY(name, family, x, y, numerics) ROW(NEON, family, x, y, numerics, qdq_##name##_neon),
    QDQ_BODY_LIST(BODY_Q, BODY_F, BODY_D, BODY_R, BODY_H, BODY_G)
#undef BODY
    ROW(NEON, LOOKUP, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, qdq_lookup_bytes_neon),
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
    {QDQ_ISA_AVX2, QDQ_FLOAT32, qdq_range_float32_avx2},
    {QDQ_ISA_AVX2, QDQ_BFLOAT16, qdq_range_bfloat16_avx2},
    {QDQ_ISA_AVX512, QDQ_FLOAT32, qdq_range_float32_avx512},
    {QDQ_ISA_AVX512, QDQ_BFLOAT16, qdq_range_bfloat16_avx512},
#elif defined(QDQ_SIMD_NEON)
    {QDQ_ISA_NEON, QDQ_FLOAT32, qdq_range_float32_neon},
    {QDQ_ISA_NEON, QDQ_BFLOAT16, qdq_range_bfloat16_neon},
#endif
};

// Matrix products, in the same order: whose functions a row has, of integers, of bytes and of bfloat16,
// the others; and what goes before and after.
#define GEMM(ISA, isa, integers, bytes, bfloats, base, ...) {QDQ_ISA_##ISA, "qdq_gemm_" #isa, \
    {[QDQ_GEMM_FLOATS] = qdq_gemm_floats_##base, [QDQ_GEMM_INTEGERS] = qdq_gemm_integers_##integers, \
     [QDQ_GEMM_BYTES] = qdq_gemm_bytes_##bytes, [QDQ_GEMM_BFLOATS] = qdq_gemm_bfloats_##bfloats}, \
    qdq_gemm_lanes_##base, qdq_gemm_bfloat_lanes_##base, qdq_gemm_integer_lanes_##base, \
    qdq_gemm_reals_##base, qdq_gemm_widen_##base, qdq_gemm_narrow_##base, \
     qdq_gemm_decode_##base, __VA_ARGS__}
#if defined(QDQ_SIMD_X86)
QDQ_GEMM_DECLARE(avx2)
QDQ_GEMM_DECLARE_INTEGERS(avx_vnni)
QDQ_GEMM_DECLARE(avx512)
extern qdq_gemm_part_fn qdq_gemm_bfloats_avx512_bf16;
#elif defined(QDQ_SIMD_NEON)
QDQ_GEMM_DECLARE(neon)
QDQ_GEMM_DECLARE_INTEGERS(neon_dot)
#endif
// The machine with AMX that was measured takes longer for VDPBF16PS than for what it stands for.
static const qdq_gemm_kernel gemms[] = {
    GEMM(PORTABLE, portable, portable, portable, portable, portable, NULL, NULL),
#if defined(QDQ_SIMD_X86)
    GEMM(AVX2, avx2, avx2, avx2, avx2, avx2, NULL, NULL),
    GEMM(AVX_VNNI, avx_vnni, avx_vnni, avx_vnni, avx2, avx2, NULL, NULL),
    GEMM(AVX512, avx512, avx512, avx512, avx512, avx512, NULL, NULL),
    GEMM(AVX512_BF16, avx512_bf16, avx512, avx512, avx512_bf16, avx512, NULL, NULL),
    GEMM(AMX, amx, avx512, amx, avx512, avx512, qdq_gemm_enter_amx, qdq_gemm_leave_amx),
#elif defined(QDQ_SIMD_NEON)
    GEMM(NEON, neon, neon, neon, neon, neon, NULL, NULL),
    GEMM(NEON_DOT, neon_dot, neon_dot, neon_dot, neon, neon, NULL, NULL),
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

const qdq_gemm_kernel *qdq_gemm_kernels(size_t *count) {
    *count = sizeof gemms / sizeof gemms[0];
    return gemms;
}

const qdq_gemm_kernel *qdq_gemm_kernel_find(uint32_t isas) {
    return QDQ_BEST_ROW(gemms, isas, NULL, NULL);
}

const qdq_kernel *qdq_kernels(size_t *count) {
    *count = sizeof kernels / sizeof kernels[0];
    return kernels;
}

qdq_numerics qdq_numerics_that_matter(qdq_family family, qdq_dtype y_dtype,
                                      const qdq_numerics *numerics) {
    qdq_numerics n = *numerics;
    bool to_float = qdq_dtype_is_real(y_dtype);
    n.choice = QDQ_CHOOSE_CORE;  // looked at before kernels run
    n.narrow = false, n.quant_min = n.quant_max = 0;
    n.unit_scale_tolerance = n.least_scale = 0;
    if (family != QDQ_FAMILY_REQUANTIZE) n.requantize_form = QDQ_REQUANTIZE_PAIR;
    if (family != QDQ_FAMILY_REQUANTIZE) n.requantize_dtype = QDQ_DTYPE_NONE;
    if (family == QDQ_FAMILY_QUANTIZE) {
        n.subtraction = QDQ_SUBTRACT_EXACT;
        n.dequantize_step_dtype = QDQ_DTYPE_NONE;
        n.code_bias = 0;
        n.middle_dtype = QDQ_DTYPE_NONE;
        if (!to_float) n.float_overflow = QDQ_FLOAT_SATURATE;
        if (n.quantize_step_dtype != QDQ_BFLOAT16 && n.scale_dtype != QDQ_BFLOAT16 &&
            n.reciprocal_dtype != QDQ_BFLOAT16)
            n.bfloat16_store = QDQ_BFLOAT16_HALF_EVEN;
    }
    if (family == QDQ_FAMILY_DEQUANTIZE) {
        n = (qdq_numerics){.subtraction = n.subtraction,
                           .dequantize_step_dtype = n.dequantize_step_dtype,
                           .bfloat16_store = n.bfloat16_store,
                           .code_bias = n.code_bias,
                           .flush_denormals = n.flush_denormals};
        if (y_dtype != QDQ_BFLOAT16 && n.dequantize_step_dtype != QDQ_BFLOAT16)
            n.bfloat16_store = QDQ_BFLOAT16_HALF_EVEN;
    }
    return n;
}

// Integers narrower than a byte are held in one, so that what makes bytes makes them too.
static qdq_dtype held_as(qdq_family family, qdq_dtype dtype) {
    if (family != QDQ_FAMILY_QUANTIZE) return dtype;
    if (dtype == QDQ_INT4 || dtype == QDQ_INT2) return QDQ_INT8;
    return dtype == QDQ_UINT4 || dtype == QDQ_UINT2 ? QDQ_UINT8 : dtype;
}

// A column of a row that is zero or NULL takes everything.
static bool kernel_fits(const void *row, const void *wanted) {
    const qdq_kernel *k = row, *w = wanted;
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
    bool special = p->float_zero_point || p->scales_twice || p->adds_zero || p->bounded;
    return qdq_kernel_find(family, p->x_dtype, p->y_dtype, special ? NULL : &p->numerics, isas);
}
