// SPDX-License-Identifier: Apache-2.0
// Instruction sets: which of them this build has kernels for, and which this machine runs.
#ifndef QDQ_RUNTIME_CPU_H
#define QDQ_RUNTIME_CPU_H

#include "include/qdq/inspect.h"

// Those of one machine from the plainest to the best; each contains those before it. The order of
// two that no machine has both of means nothing.
typedef enum qdq_isa {
    QDQ_ISA_PORTABLE = 0,
    QDQ_ISA_AVX2,    // x86-64: with FMA and F16C
    QDQ_ISA_AVX512,  // x86-64: F, BW, DQ, VL, VBMI and VNNI
    QDQ_ISA_NEON,    // aarch64, which always has it
    QDQ_ISA_COUNT,
} qdq_isa;

// Those that this machine runs and this build has, a bit 1 << isa each.
uint32_t qdq_cpu_isas(void);

// The same without those better than `name`; NULL: all. False with `err` set if there is none with
// this name for machines of this kind, whether or not this one runs it.
bool qdq_cpu_cap(const char *name, uint32_t *isas, qdq_error *err);

#endif
