// SPDX-License-Identifier: Apache-2.0
// The kernels of slices for any machine, and the choice among sets.
#define QDQ_SLICE_SET qdq_slice_kernels_portable
#define QDQ_SLICE_ISA QDQ_ISA_PORTABLE
#include "ops/kernels/reduce/reduce.inc.h"

static const qdq_slice_kernels *const sets[] = {
    &qdq_slice_kernels_portable,
#if defined(QDQ_SIMD_X86)
    &qdq_slice_kernels_avx2,
    &qdq_slice_kernels_avx512,
#elif defined(QDQ_SIMD_NEON)
    &qdq_slice_kernels_neon,
#endif
};

const qdq_slice_kernels *qdq_slice_kernels_find(uint32_t isas) {
    const qdq_slice_kernels *best = sets[0];
    for (size_t i = 1; i < sizeof sets / sizeof sets[0]; i++)
        if (isas >> sets[i]->isa & 1) best = sets[i];
    return best;
}
