// SPDX-License-Identifier: Apache-2.0
// The choice of a kernel: each family has a table of rows, one or more for each instruction set,
// and the last row that a run may use wins.
#ifndef QDQ_OPS_KERNELS_BEST_ROW_H
#define QDQ_OPS_KERNELS_BEST_ROW_H

#include "runtime/base/cpu.h"

// X(enumerator, suffix of names): the instruction sets that all families are compiled for, from the
// plainest to the best. Matrix products have rows for a few more.
#if defined(QDQ_SIMD_X86)
#define QDQ_KERNEL_ISAS(X) X(PORTABLE, portable) X(AVX2, avx2) X(AVX512, avx512)
#elif defined(QDQ_SIMD_NEON)
#define QDQ_KERNEL_ISAS(X) X(PORTABLE, portable) X(NEON, neon)
#else
#define QDQ_KERNEL_ISAS(X) X(PORTABLE, portable)
#endif

// True if the kernel of a row can do the work that `wanted` describes.
typedef bool qdq_row_fits_fn(const void *row, const void *wanted);

// Returns the last of `count` rows that needs one of the instruction sets `isas` and fits; NULL if
// no row does. A row has `size` bytes and begins with its qdq_isa. `fits` NULL: every row fits.
//
// Inline: compiling a graph looks up a kernel for most nodes, and with constant arguments the loop
// is as short as a loop written for its table.
static inline const void *qdq_best_row(const void *rows, size_t count, size_t size, uint32_t isas,
                                       qdq_row_fits_fn *fits, const void *wanted) {
    const char *row = (const char *)rows + count * size;
    while (count-- > 0) {
        row -= size;
        const qdq_isa *isa = (const void *)row;
        // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): tables are const
        if (isas >> *isa & 1 && (!fits || fits(row, wanted))) return row;
    }
    return NULL;
}

// The same for an array.
#define QDQ_BEST_ROW(rows, isas, fits, wanted) \
    qdq_best_row(rows, sizeof(rows) / sizeof(rows)[0], sizeof(rows)[0], isas, fits, wanted)

#endif
