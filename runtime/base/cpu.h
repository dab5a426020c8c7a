// SPDX-License-Identifier: Apache-2.0
// Instruction sets: the sets that this build has kernels for, and the sets that this CPU runs.
#ifndef QDQ_RUNTIME_BASE_CPU_H
#define QDQ_RUNTIME_BASE_CPU_H

#include "include/qdq/inspect.h"

// From the plainest to the best for each kind of machine. If a CPU has several, the kernels of the
// last one are used. A set need not contain all sets before it: see qdq_cpu_cap.
typedef enum qdq_isa {
    QDQ_ISA_PORTABLE = 0,
    QDQ_ISA_AVX2,         // x86-64: with FMA and F16C
    QDQ_ISA_AVX_VNNI,     // x86-64: AVX2 and AVX-VNNI, products of bytes in 256 bits
    QDQ_ISA_AVX512,       // x86-64: AVX2, and F, BW, DQ, VL, VBMI and VNNI of AVX-512
    QDQ_ISA_AVX512_BF16,  // x86-64: these and BF16, products of bfloat16
    QDQ_ISA_AMX,          // x86-64: these and AMX-INT8, products of bytes in tiles
    QDQ_ISA_NEON,         // aarch64, which always has it
    QDQ_ISA_NEON_DOT,     // aarch64: NEON and the dot products of bytes
    QDQ_ISA_COUNT,
} qdq_isa;

// Returns the sets that this CPU runs and this build has, a bit 1 << isa each. In a build with
// assertions the environment variable QDQ_ISA caps them, as qdq_cpu_cap does. Linux gives a process
// the tiles of AMX only on request; this function requests them.
uint32_t qdq_cpu_isas(void);

// True if AVX2, or AVX512, is among these sets. Fast enough to be called during a run.
bool qdq_cpu_has_avx2(void);
bool qdq_cpu_has_avx512(void);

// Like qdq_cpu_isas, limited to `name` and the sets that it contains. NULL: no limit. False with
// `err` set if machines of this kind have no set of this name; the CPU need not run it.
bool qdq_cpu_cap(const char *name, uint32_t *isas, qdq_error *err);

#endif
