// SPDX-License-Identifier: Apache-2.0
// Finds out which instruction sets the CPU has, and names them for messages and the isa option.
#include "runtime/base/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/did_you_mean.h"
#include "runtime/base/error.h"

#if defined(QDQ_SIMD_X86)
#include <cpuid.h>
enum {
    LEAF_AVX_VNNI = 4,  // bit of EAX: CPUID leaf 7, subleaf 1
    LEAF_AMX_TILE = 24,
    LEAF_AMX_INT8 = 25,  // bits of EDX: leaf 7, subleaf 0
};
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
enum { ASK_FOR_STATE = 0x1023, TILE_STATE = 18 };  // of arch_prctl
#endif
#elif defined(QDQ_SIMD_NEON) && defined(__linux__)
#include <sys/auxv.h>
#ifndef HWCAP_ASIMDDP
#define HWCAP_ASIMDDP (1 << 20)
#endif
#endif

#if defined(__x86_64__)
#define MACHINE "x86-64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "other"
#endif

#define BIT(isa) (1u << QDQ_ISA_##isa)

static const struct {
    const char *name, *machine;  // NULL: every machine
    uint32_t contains;
} rows[QDQ_ISA_COUNT] = {
    [QDQ_ISA_PORTABLE] = {"portable", NULL, 0},
    [QDQ_ISA_AVX2] = {"avx2", "x86-64", BIT(PORTABLE)},
    [QDQ_ISA_AVX_VNNI] = {"avx_vnni", "x86-64", BIT(PORTABLE) | BIT(AVX2)},
    [QDQ_ISA_AVX512] = {"avx512", "x86-64", BIT(PORTABLE) | BIT(AVX2)},
    [QDQ_ISA_AVX512_BF16] = {"avx512_bf16", "x86-64", BIT(PORTABLE) | BIT(AVX2) | BIT(AVX512)},
    [QDQ_ISA_AMX] = {"amx", "x86-64", BIT(PORTABLE) | BIT(AVX2) | BIT(AVX512) | BIT(AVX512_BF16)},
    [QDQ_ISA_NEON] = {"neon", "aarch64", BIT(PORTABLE)},
    [QDQ_ISA_NEON_DOT] = {"neon_dot", "aarch64", BIT(PORTABLE) | BIT(NEON)},
};

//---- This machine -----------------------------------------------------------

#if defined(QDQ_SIMD_X86)

// Returns the sets that compilers can test for. __builtin_cpu_supports also checks that the
// operating system saves the registers.
static uint32_t known(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512vbmi") || !__builtin_cpu_supports("avx512vnni"))
        return BIT(AVX2);
    bool bf16 = __builtin_cpu_supports("avx512bf16");
    return BIT(AVX2) | BIT(AVX512) | (bf16 ? BIT(AVX512_BF16) : 0);
}

// True if the process may use tiles. A system that saves tile registers grants them on request.
static bool tiles_are_given(void) {
#if defined(__linux__) && defined(SYS_arch_prctl)
    return syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_STATE) == 0;
#else
    return false;
#endif
}

// Returns the sets that older compilers cannot test for. They are then found with CPUID, which
// takes up to 3 microseconds a call in a virtual machine, a third of the time of compiling a small
// graph. AVX-VNNI uses the registers of AVX2, so they need no separate check.
#if !defined(__clang__) && __GNUC__ >= 11
static bool has_vnni(void) { return __builtin_cpu_supports("avxvnni"); }
static bool has_tiles(void) {
    return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-int8");
}
#else
static bool has_vnni(void) {
    unsigned a = 0, b, c, d;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> LEAF_AVX_VNNI & 1;
}
static bool has_tiles(void) {
    unsigned a, b, c, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d >> LEAF_AMX_TILE & 1 &&
           d >> LEAF_AMX_INT8 & 1;
}
#endif

static uint32_t asked(void) {
    uint32_t has = known();
    bool vnni = has & BIT(AVX2) && has_vnni();
    bool amx = has & BIT(AVX512_BF16) && has_tiles() && tiles_are_given();
    return (vnni ? BIT(AVX_VNNI) : 0) | (amx ? BIT(AMX) : 0);
}

#elif defined(QDQ_SIMD_NEON)

static uint32_t asked(void) { return 0; }
static uint32_t known(void) {
#if defined(__linux__)
    bool dot = getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
#elif defined(__ARM_FEATURE_DOTPROD)
    bool dot = true;
#else
    bool dot = false;
#endif
    return BIT(NEON) | (dot ? BIT(NEON_DOT) : 0);
}

#else

static uint32_t asked(void) { return 0; }
static uint32_t known(void) { return 0; }

#endif

//---- Names ------------------------------------------------------------------

static bool is_here(int isa) { return !rows[isa].machine || !strcmp(rows[isa].machine, MACHINE); }

// Returns the sets that a cap of this name allows; 0 if machines of this kind have no set of this
// name.
static uint32_t allowed(const char *name) {
    for (int i = 0; i < QDQ_ISA_COUNT; i++)
        if (is_here(i) && strcmp(rows[i].name, name) == 0) return rows[i].contains | 1u << i;
    return 0;
}

// Builds with assertions take a cap from QDQ_ISA too, so that tests run as on a lesser CPU.
static uint32_t cap_of_tests(void) {
#if !defined(NDEBUG) && !defined(QDQ_BARE)
    const char *name = getenv("QDQ_ISA");
    uint32_t cap = name ? allowed(name) : 0;
    if (cap) return cap;
#endif
    return ~(uint32_t)0;
}

uint32_t qdq_cpu_isas(void) { return (BIT(PORTABLE) | known() | asked()) & cap_of_tests(); }

bool qdq_cpu_has_avx2(void) { return known() & BIT(AVX2) & cap_of_tests(); }
bool qdq_cpu_has_avx512(void) { return known() & BIT(AVX512) & cap_of_tests(); }

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
    const char *nearest = other ? NULL : qdq_did_you_mean(name, here, QDQ_ISA_COUNT);
    qdq_fail(err, QDQ_ERR_ARGUMENT, "instruction set '%.64s' is %s%s, wanted one of: %s%s%s%s",
             name, other ? "only for " : "unknown", other ? other : "", wanted,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return false;
}

bool qdq_cpu_cap(const char *name, uint32_t *isas, qdq_error *err) {
    *isas = qdq_cpu_isas();
    if (!name) return true;
    uint32_t cap = allowed(name);
    *isas &= cap;
    return cap || refuse(name, err);
}

qdq_isa_info qdq_isa_get(size_t isa) {
    if (isa >= QDQ_ISA_COUNT) return (qdq_isa_info){0};
    return (qdq_isa_info){rows[isa].name, (qdq_cpu_isas() >> isa & 1) != 0};
}
