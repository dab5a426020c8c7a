// SPDX-License-Identifier: Apache-2.0
// The table of kernels of matrix products, one row for each instruction set.
#include "ops/kernels/gemm/gemm.h"

#if defined(QDQ_SIMD_X86)
QDQ_GEMM_DECLARE(avx2)
extern qdq_gemm_rest_fn qdq_gemm_rest_avx2;
QDQ_GEMM_DECLARE_INTEGERS(avx_vnni)
extern qdq_gemm_part_fn qdq_gemm_codes_avx_vnni, qdq_gemm_codes_avx512;
QDQ_GEMM_DECLARE(avx512)
extern qdq_gemm_part_fn qdq_gemm_bfloats_avx512_bf16;
extern qdq_gemm_code_columns_fn qdq_gemm_code_columns_avx512;
extern qdq_gemm_code_lines_fn qdq_gemm_picked_lines_avx512;
extern qdq_gemm_code_rows_fn qdq_gemm_code_rows_avx2, qdq_gemm_code_rows_avx512;
extern qdq_gemm_code_factors_fn qdq_gemm_code_factors_avx2;
extern qdq_gemm_code_results_fn qdq_gemm_code_results_avx2;
#elif defined(QDQ_SIMD_NEON)
QDQ_GEMM_DECLARE(neon)
QDQ_GEMM_DECLARE_INTEGERS(neon_dot)
extern qdq_gemm_part_fn qdq_gemm_codes_neon_dot;
#endif

#define ASKS_AHEAD_portable false
#define ASKS_AHEAD_avx2 false
#define ASKS_AHEAD_avx512 true
#define ASKS_AHEAD_neon false
#define PICKED_LINES_portable NULL
#define PICKED_LINES_avx2 NULL
#define PICKED_LINES_avx512 qdq_gemm_picked_lines_avx512
#define PICKED_LINES_neon NULL
#define CODE_COLUMNS_portable NULL
#define CODE_COLUMNS_avx2 NULL
#define CODE_COLUMNS_avx512 qdq_gemm_code_columns_avx512
#define CODE_COLUMNS_neon NULL
#define CODE_ROWS_portable NULL
#define CODE_ROWS_avx2 qdq_gemm_code_rows_avx2
#define CODE_ROWS_avx512 qdq_gemm_code_rows_avx512
#define CODE_ROWS_neon NULL

// A row takes its functions from several instruction sets: `integers`, `bytes` and `bfloats` name
// the sets with the products of these elements, `integers` also with products in fixed point, and
// `base` the set with all other functions. The last columns are `widens_bytes`, `signs_codes`, the
// products of codes (NULL: products of integers are as fast), products of split codes, the function
// that adds the rest of split codes, `code_factors`, `code_results`, `enter` and `leave`.
//
// The AMX row multiplies bfloat16 as AVX512 does: on the measured machine with AMX, VDPBF16PS takes
// longer than the multiply-adds that it replaces.
// clang-format off
#define GEMM(ISA, isa, integers, bytes, bfloats, base, widens_bytes, signs_codes, codes, split, rest, \
             factors, results, ...) \
    {QDQ_ISA_##ISA, widens_bytes, signs_codes, ASKS_AHEAD_##base, "qdq_gemm_" #isa, \
    {[QDQ_GEMM_FLOATS] = qdq_gemm_floats_##base, [QDQ_GEMM_INTEGERS] = qdq_gemm_integers_##integers, \
     [QDQ_GEMM_BYTES] = qdq_gemm_bytes_##bytes, [QDQ_GEMM_BFLOATS] = qdq_gemm_bfloats_##bfloats, \
     [QDQ_GEMM_CODES] = codes, [QDQ_GEMM_SATURATED_BYTES] = qdq_gemm_saturated_bytes_##base, \
     [QDQ_GEMM_SATURATED_CODES] = qdq_gemm_saturated_codes_##base, [QDQ_GEMM_SPLIT_CODES] = split}, \
    qdq_gemm_results_##base, rest, \
    CODE_COLUMNS_##base, \
    qdq_gemm_lanes_##base, qdq_gemm_bfloat_lanes_##base, qdq_gemm_integer_lanes_##base, \
    qdq_gemm_lines_##base, qdq_gemm_byte_lines_##base, qdq_gemm_pair_lines_##base, \
    PICKED_LINES_##base, qdq_gemm_code_runs_##base, qdq_gemm_reals_##base, qdq_gemm_real_rows_##base, CODE_ROWS_##base, \
    factors, results, \
    qdq_gemm_widen_##base, qdq_gemm_narrow_##base, \
     qdq_gemm_decode_##base, qdq_gemm_multiply_codes_##base, \
     qdq_gemm_fix_##integers, qdq_gemm_fixed_##integers, __VA_ARGS__}
static const qdq_gemm_kernel gemms[] = {
    GEMM(PORTABLE, portable, portable, portable, portable, portable, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
#if defined(QDQ_SIMD_X86)
    GEMM(AVX2, avx2, avx2, avx2, avx2, avx2, true, false, NULL, qdq_gemm_saturated_codes_avx2, qdq_gemm_rest_avx2,
         qdq_gemm_code_factors_avx2, qdq_gemm_code_results_avx2, NULL, NULL),
    GEMM(AVX_VNNI, avx_vnni, avx_vnni, avx_vnni, avx2, avx2, false, false, qdq_gemm_codes_avx_vnni, NULL, NULL,
         NULL, NULL, NULL, NULL),
    GEMM(AVX512, avx512, avx512, avx512, avx512, avx512, false, false, qdq_gemm_codes_avx512, NULL, NULL, NULL, NULL, NULL, NULL),
    GEMM(AVX512_BF16, avx512_bf16, avx512, avx512, avx512_bf16, avx512, false, false, qdq_gemm_codes_avx512, NULL, NULL, NULL, NULL, NULL, NULL),
    GEMM(AMX, amx, avx512, amx, avx512, avx512, false, false, qdq_gemm_codes_avx512, NULL, NULL,
         NULL, NULL, qdq_gemm_enter_amx, qdq_gemm_leave_amx),
#elif defined(QDQ_SIMD_NEON)
    GEMM(NEON, neon, neon, neon, neon, neon, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    GEMM(NEON_DOT, neon_dot, neon_dot, neon_dot, neon, neon, false, true, qdq_gemm_codes_neon_dot, NULL, NULL, NULL, NULL, NULL, NULL),
#endif
};
// clang-format on

const qdq_gemm_kernel *qdq_gemm_kernels(size_t *count) {
    *count = sizeof gemms / sizeof gemms[0];
    return gemms;
}

const qdq_gemm_kernel *qdq_gemm_kernel_find(uint32_t isas) {
    return QDQ_BEST_ROW(gemms, isas, NULL, NULL);
}
