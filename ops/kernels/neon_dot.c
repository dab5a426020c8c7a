// SPDX-License-Identifier: Apache-2.0
// What is better with them than without, compiled for aarch64 with the dot products of bytes.
#define QDQ_ISA_NAME(name) qdq_##name##_neon_dot
#include "ops/kernels/gemm/gemm_integers.inc.h"
