// SPDX-License-Identifier: Apache-2.0
// The kernels of windows for any machine, and the choice among sets.
#define QDQ_DEPTHWISE_SET qdq_depthwise_portable
#define QDQ_DEPTHWISE_ISA QDQ_ISA_PORTABLE
#include "ops/kernels/depthwise/depthwise.inc.h"

static const qdq_depthwise_kernel *const sets[] = {
    &qdq_depthwise_portable,
#if defined(QDQ_SIMD_X86)
    &qdq_depthwise_avx2,
    &qdq_depthwise_avx512,
#elif defined(QDQ_SIMD_NEON)
    &qdq_depthwise_neon,
#endif
};

const qdq_depthwise_kernel *const *qdq_depthwise_kernels(size_t *count) {
    *count = sizeof sets / sizeof sets[0];
    return sets;
}

const qdq_depthwise_kernel *qdq_depthwise_kernel_find(uint32_t isas) {
    const qdq_depthwise_kernel *best = sets[0];
    for (size_t i = 1; i < sizeof sets / sizeof sets[0]; i++)
        if (isas >> sets[i]->isa & 1) best = sets[i];
    return best;
}
