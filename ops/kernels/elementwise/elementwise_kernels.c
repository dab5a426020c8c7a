// SPDX-License-Identifier: Apache-2.0
// The functions of elementwise.inc.h for any machine, and the table of all of them.
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

typedef struct row {
    qdq_isa isa;
    qdq_elementwise_fn *fns[QDQ_ELEMENTWISE_COUNT];
} row;

static const row rows[] = {
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
    const row *best = QDQ_BEST_ROW(rows, isas, NULL, NULL);
    return best->fns[function];
}
