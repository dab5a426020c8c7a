// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu.h"

#include <string.h>

#include "runtime/error.h"

static const char *const names[QDQ_ISA_COUNT] = {"portable", "avx2", "avx512"};

uint32_t qdq_cpu_isas(void) {
    uint32_t isas = 1u << QDQ_ISA_PORTABLE;
#if defined(QDQ_SIMD_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) isas |= 1u << QDQ_ISA_AVX2;
    if (isas >> QDQ_ISA_AVX2 & 1 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi"))
        isas |= 1u << QDQ_ISA_AVX512;
#endif
    return isas;
}

bool qdq_cpu_cap(const char *name, uint32_t *isas, qdq_error *err) {
    *isas = qdq_cpu_isas();
    if (!name) return true;
    for (int i = 0; i < QDQ_ISA_COUNT; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *isas &= (2u << i) - 1;
        return true;
    }
    const char *nearest = qdq_nearest(name, names, QDQ_ISA_COUNT);
    qdq_fail(err, QDQ_ERR_ARGUMENT,
             "instruction set '%.64s' is unknown, wanted one of: portable, avx2, avx512%s%s%s",
             name, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return false;
}

qdq_isa_info qdq_isa_get(size_t isa) {
    if (isa >= QDQ_ISA_COUNT) return (qdq_isa_info){0};
    return (qdq_isa_info){names[isa], (qdq_cpu_isas() >> isa & 1) != 0};
}
