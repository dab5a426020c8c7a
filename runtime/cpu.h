// SPDX-License-Identifier: Apache-2.0
// Instruction sets: which of them this build has kernels for, and which this machine runs.
#ifndef QDQ_RUNTIME_CPU_H
#define QDQ_RUNTIME_CPU_H

#include "include/qdq/inspect.h"

// From the plainest to the best; each x86 one contains those before it.
typedef enum qdq_isa {
    QDQ_ISA_PORTABLE = 0,
    QDQ_ISA_AVX2,    // with FMA and F16C
    QDQ_ISA_AVX512,  // F, BW, DQ, VL and VBMI
    QDQ_ISA_COUNT,
} qdq_isa;

// Those that this machine runs and this build has, a bit 1 << isa each.
uint32_t qdq_cpu_isas(void);

// The same without those better than `name`; NULL: all. False with `err` set if there is none with
// this name.
bool qdq_cpu_cap(const char *name, uint32_t *isas, qdq_error *err);

#endif
