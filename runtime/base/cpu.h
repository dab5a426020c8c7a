// SPDX-License-Identifier: Apache-2.0
// Instruction sets: which of them this build has kernels for, and which this machine runs.
#ifndef QDQ_RUNTIME_BASE_CPU_H
#define QDQ_RUNTIME_BASE_CPU_H

#include "include/qdq/inspect.h"

// Those of one machine from the plainest to the best: where a machine has several, kernels of the
// last of them are used. One need not contain all before it: see qdq_cpu_cap.
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

// Those that this machine runs and this build has, a bit 1 << isa each. On Linux, a process that
// may use the tiles of AMX has asked for them: this does.
uint32_t qdq_cpu_isas(void);

// Whether AVX512 is one of them, in no time: for what asks in a run.
bool qdq_cpu_has_avx512(void);

// The same without those that a machine of just `name` lacks: left are `name` and those that it
// contains. NULL: all. False with `err` set if there is none with this name for machines of this
// kind, whether or not this one runs it.
bool qdq_cpu_cap(const char *name, uint32_t *isas, qdq_error *err);

#endif
