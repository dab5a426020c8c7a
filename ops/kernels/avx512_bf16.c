// SPDX-License-Identifier: Apache-2.0
// The kernels that gain from BF16: products of bfloat16, compiled for AVX-512 with BF16.
#define QDQ_ISA_NAME(name) qdq_##name##_avx512_bf16
#include "ops/kernels/gemm/gemm_bfloats.inc.h"
