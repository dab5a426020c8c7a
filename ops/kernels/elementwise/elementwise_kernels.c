// SPDX-License-Identifier: Apache-2.0
// The functions of map_body.h for any machine, and the table of all of them.
#define QDQ_BODY(name) qdq_##name##_portable
#include "ops/kernels/elementwise/elementwise.inc.h"

#if defined(QDQ_SIMD_X86)
#define MAP(name) extern qdq_map_fn qdq_map_##name##_avx2, qdq_map_##name##_avx512;
QDQ_MAPS(MAP)
#undef MAP
#elif defined(QDQ_SIMD_NEON)
#define MAP(name) extern qdq_map_fn qdq_map_##name##_neon;
QDQ_MAPS(MAP)
#undef MAP
#endif

// From the plainest to the most special.
static const struct {
    qdq_isa isa;
    qdq_map_fn *fns[QDQ_MAP_COUNT];
} rows[] = {
#define MAP(name) qdq_map_##name##_portable,
    {QDQ_ISA_PORTABLE, {QDQ_MAPS(MAP)}},
#undef MAP
#if defined(QDQ_SIMD_X86)
#define MAP(name) qdq_map_##name##_avx2,
    {QDQ_ISA_AVX2, {QDQ_MAPS(MAP)}},
#undef MAP
#define MAP(name) qdq_map_##name##_avx512,
    {QDQ_ISA_AVX512, {QDQ_MAPS(MAP)}},
#undef MAP
#elif defined(QDQ_SIMD_NEON)
#define MAP(name) qdq_map_##name##_neon,
    {QDQ_ISA_NEON, {QDQ_MAPS(MAP)}},
#undef MAP
#endif
};

qdq_map_fn *qdq_map_find(qdq_map map, uint32_t isas) {
    qdq_map_fn *fn = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (isas >> rows[i].isa & 1) fn = rows[i].fns[map];
    return fn;
}
