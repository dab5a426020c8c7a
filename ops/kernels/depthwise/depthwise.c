// SPDX-License-Identifier: Apache-2.0
// The kernels of windows for any machine, and the choice among sets.
#define QDQ_WINDOW_SET qdq_window_portable
#define QDQ_WINDOW_ISA QDQ_ISA_PORTABLE
#include "ops/kernels/depthwise/depthwise.inc.h"

static const qdq_window_kernel *const sets[] = {
    &qdq_window_portable,
#if defined(QDQ_SIMD_X86)
    &qdq_window_avx2,
    &qdq_window_avx512,
#elif defined(QDQ_SIMD_NEON)
    &qdq_window_neon,
#endif
};

const qdq_window_kernel *const *qdq_window_kernels(size_t *count) {
    *count = sizeof sets / sizeof sets[0];
    return sets;
}

const qdq_window_kernel *qdq_window_kernel_find(uint32_t isas) {
    const qdq_window_kernel *best = sets[0];
    for (size_t i = 1; i < sizeof sets / sizeof sets[0]; i++)
        if (isas >> sets[i]->isa & 1) best = sets[i];
    return best;
}
