// SPDX-License-Identifier: Apache-2.0
// The portable kernels of Winograd's convolution, and the table of all of them.
#define QDQ_ISA_NAME(name) qdq_##name##_portable
#include "ops/kernels/winograd/winograd.inc.h"

typedef struct row {
    qdq_isa isa;
    const qdq_winograd_kernels *kernels;
} row;

#define ROW(ISA, isa) {QDQ_ISA_##ISA, &qdq_winograd_##isa},
static const row rows[] = {QDQ_KERNEL_ISAS(ROW)};

const qdq_winograd_kernels *qdq_winograd_find(uint32_t isas) {
    const row *best = QDQ_BEST_ROW(rows, isas, NULL, NULL);
    return best->kernels;
}

#if defined(QDQ_SIMD_X86)
extern const qdq_winograd_kernels qdq_winograd_codes_avx2;
#endif

const qdq_winograd_kernels *qdq_winograd_find_codes(uint32_t isas) {
    static const row of_codes[] = {
        {QDQ_ISA_PORTABLE, NULL},
#if defined(QDQ_SIMD_X86)
        {QDQ_ISA_AVX2, &qdq_winograd_codes_avx2},
        {QDQ_ISA_AVX_VNNI, NULL},
        {QDQ_ISA_AVX512, NULL},
#endif
    };
    const row *best = QDQ_BEST_ROW(of_codes, isas, NULL, NULL);
    return best->kernels;
}
