// SPDX-License-Identifier: Apache-2.0
// The functions of elementwise_body.h for any machine, and the table of all of them.
#define QDQ_BODY(name) qdq_##name##_portable
#include "ops/kernels/elementwise/elementwise.inc.h"

#if defined(QDQ_SIMD_X86)
#define ELEMENTWISE(name) \
    extern qdq_elementwise_fn qdq_elementwise_##name##_avx2, qdq_elementwise_##name##_avx512;
QDQ_ELEMENTWISE_LIST(ELEMENTWISE)
#undef ELEMENTWISE
#elif defined(QDQ_SIMD_NEON)
#define ELEMENTWISE(name) extern qdq_elementwise_fn qdq_elementwise_##name##_neon;
QDQ_ELEMENTWISE_LIST(ELEMENTWISE)
#undef ELEMENTWISE
#endif

// From the plainest to the most special.
static const struct {
    qdq_isa isa;
    qdq_elementwise_fn *fns[QDQ_ELEMENTWISE_COUNT];
} rows[] = {
#define ELEMENTWISE(name) qdq_elementwise_##name##_portable,
    {QDQ_ISA_PORTABLE, {QDQ_ELEMENTWISE_LIST(ELEMENTWISE)}},
#undef ELEMENTWISE
#if defined(QDQ_SIMD_X86)
#define ELEMENTWISE(name) qdq_elementwise_##name##_avx2,
    {QDQ_ISA_AVX2, {QDQ_ELEMENTWISE_LIST(ELEMENTWISE)}},
#undef ELEMENTWISE
#define ELEMENTWISE(name) qdq_elementwise_##name##_avx512,
    {QDQ_ISA_AVX512, {QDQ_ELEMENTWISE_LIST(ELEMENTWISE)}},
#undef ELEMENTWISE
#elif defined(QDQ_SIMD_NEON)
#define ELEMENTWISE(name) qdq_elementwise_##name##_neon,
    {QDQ_ISA_NEON, {QDQ_ELEMENTWISE_LIST(ELEMENTWISE)}},
#undef ELEMENTWISE
#endif
};

qdq_elementwise_fn *qdq_elementwise_find(qdq_elementwise function, uint32_t isas) {
    qdq_elementwise_fn *fn = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (isas >> rows[i].isa & 1) fn = rows[i].fns[function];
    return fn;
}
