// SPDX-License-Identifier: Apache-2.0
// Kernels of matrix products: tiles of up to 12 rows and 32 columns whose sums stay in registers.
//
// A float sum is fma(a_k, b_k, sum) in float32 for k ascending. Vectors run over columns, so that
// each sum is one chain, the same on every instruction set; a block of k continues the sums of the
// one before from memory. Integer sums are int32, exact, and wrap around.
#ifndef QDQ_OPS_KERNELS_GEMM_H
#define QDQ_OPS_KERNELS_GEMM_H

#include "include/qdq/base.h"
#include "runtime/cpu.h"

enum {
    QDQ_GEMM_ROWS = 12,     // most rows of a tile
    QDQ_GEMM_COLUMNS = 32,  // of a panel of B, padded with zeros
    QDQ_GEMM_DEPTH = 128,   // most k of a panel; the stride of rows of A
};

// Adds a (rows x depth, rows QDQ_GEMM_DEPTH apart) times b (depth x 32) to c (rows x 32).
// `keep` NULL: all; else bit r of keep[k] says whether row r has a product k; others are left out.
typedef void qdq_gemm_tile_fn(const float *a, const float *b, float *c, size_t rows, size_t depth,
                              const uint16_t *keep);

// The same for integers of at most 9 bits. b has pairs of k: (depth / 2) x 32 x 2; depth is even.
typedef void qdq_gemm_integer_fn(const int16_t *a, const int16_t *b, int32_t *c, size_t rows,
                                 size_t depth);

// The same for bytes, of a without a sign: b has fours of k, (depth / 4) x 32 x 4; depth is a
// multiple of 4.
typedef void qdq_gemm_bytes_fn(const uint8_t *a, const int8_t *b, int32_t *c, size_t rows,
                               size_t depth);

// A product for each column: c[j] += a[k][j] * b[k][j]; panels of 32 columns.
typedef void qdq_gemm_lanes_fn(const float *a, const float *b, float *c, size_t depth);
typedef void qdq_gemm_integer_lanes_fn(const int16_t *a, const int16_t *b, int32_t *c,
                                       size_t depth);

// n elements of float32, float16 or bfloat16 as float32. A NaN stays a NaN.
typedef void qdq_gemm_widen_fn(qdq_dtype dtype, const void *x, float *out, size_t n);

// Back, rounded half to even. A NaN is the quiet one without a sign.
typedef void qdq_gemm_narrow_fn(qdq_dtype dtype, const float *x, void *out, size_t n);

// A part of B as codes, and what it is as floats: rows x 32 of (code - zero) * scale, rounded to
// the dtype. Codes have no sign, and zero points are whole numbers that go with that.
typedef struct qdq_gemm_codes {
    const uint8_t *codes;  // rows x 32; or rows x 16, column j in the low half of byte j and j + 16
    bool halves;           // in the high one
    // Of the columns, or of the rows. The only NaN is the quiet one without a sign.
    bool by_row;
    const float *scale, *zero;
    qdq_dtype dtype;  // float32, float16 or bfloat16
    size_t rows;
    float *b;
} qdq_gemm_codes;

typedef void qdq_gemm_decode_fn(const qdq_gemm_codes *part);

typedef struct qdq_gemm_kernel {
    const char *name;
    qdq_isa isa;
    qdq_gemm_tile_fn *tile;
    qdq_gemm_integer_fn *integer;
    qdq_gemm_lanes_fn *lanes;
    qdq_gemm_integer_lanes_fn *integer_lanes;
    qdq_gemm_widen_fn *widen;
    qdq_gemm_narrow_fn *narrow;
    qdq_gemm_bytes_fn *bytes;  // NULL: no such instructions
    qdq_gemm_decode_fn *decode;
} qdq_gemm_kernel;

// The kernels of this build, from the plainest to the best.
const qdq_gemm_kernel *qdq_gemm_kernels(size_t *count);
// The best one of these instruction sets.
const qdq_gemm_kernel *qdq_gemm_kernel_find(uint32_t isas);

#define QDQ_GEMM_DECLARE(isa)                                      \
    extern qdq_gemm_tile_fn qdq_gemm_tile_##isa;                   \
    extern qdq_gemm_integer_fn qdq_gemm_integer_##isa;             \
    extern qdq_gemm_lanes_fn qdq_gemm_lanes_##isa;                 \
    extern qdq_gemm_integer_lanes_fn qdq_gemm_integer_lanes_##isa; \
    extern qdq_gemm_widen_fn qdq_gemm_widen_##isa;                 \
    extern qdq_gemm_narrow_fn qdq_gemm_narrow_##isa;               \
    extern qdq_gemm_decode_fn qdq_gemm_decode_##isa;

QDQ_GEMM_DECLARE(portable)
extern qdq_gemm_bytes_fn qdq_gemm_bytes_avx512;

#endif
