// SPDX-License-Identifier: Apache-2.0
// What is better with them than without, compiled for AVX-512 with BF16.
#define QDQ_ISA_NAME(name) qdq_##name##_avx512_bf16
#include "ops/kernels/gemm/gemm_bfloats.inc.h"
