// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu.h"

#include <stdio.h>
#include <string.h>

#include "runtime/error.h"

#if defined(__x86_64__)
#define MACHINE "x86-64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "other"
#endif

static const struct {
    const char *name, *machine;  // NULL: every machine
} rows[QDQ_ISA_COUNT] = {
    {"portable", NULL}, {"avx2", "x86-64"}, {"avx512", "x86-64"}, {"neon", "aarch64"}};

uint32_t qdq_cpu_isas(void) {
    uint32_t isas = 1u << QDQ_ISA_PORTABLE;
#if defined(QDQ_SIMD_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) isas |= 1u << QDQ_ISA_AVX2;
    if (isas >> QDQ_ISA_AVX2 & 1 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vnni"))
        isas |= 1u << QDQ_ISA_AVX512;
#elif defined(QDQ_SIMD_NEON)
    isas |= 1u << QDQ_ISA_NEON;
#endif
    return isas;
}

static bool is_here(int isa) { return !rows[isa].machine || !strcmp(rows[isa].machine, MACHINE); }

static bool refuse(const char *name, qdq_error *err) {
    const char *here[QDQ_ISA_COUNT] = {NULL}, *other = NULL;
    char wanted[128] = "";
    for (int i = 0, used = 0; i < QDQ_ISA_COUNT; i++) {
        if (!is_here(i)) {
            if (strcmp(rows[i].name, name) == 0) other = rows[i].machine;
            continue;
        }
        here[i] = rows[i].name;
        used += snprintf(wanted + used, sizeof wanted - (size_t)used, "%s%s", used ? ", " : "",
                         rows[i].name);
    }
    const char *nearest = other ? NULL : qdq_nearest(name, here, QDQ_ISA_COUNT);
    qdq_fail(err, QDQ_ERR_ARGUMENT, "instruction set '%.64s' is %s%s, wanted one of: %s%s%s%s",
             name, other ? "only for " : "unknown", other ? other : "", wanted,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return false;
}

bool qdq_cpu_cap(const char *name, uint32_t *isas, qdq_error *err) {
    *isas = qdq_cpu_isas();
    if (!name) return true;
    for (int i = 0; i < QDQ_ISA_COUNT; i++) {
        if (!is_here(i) || strcmp(rows[i].name, name) != 0) continue;
        *isas &= (2u << i) - 1;
        return true;
    }
    return refuse(name, err);
}

qdq_isa_info qdq_isa_get(size_t isa) {
    if (isa >= QDQ_ISA_COUNT) return (qdq_isa_info){0};
    return (qdq_isa_info){rows[isa].name, (qdq_cpu_isas() >> isa & 1) != 0};
}
