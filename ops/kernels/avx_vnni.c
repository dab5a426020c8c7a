// SPDX-License-Identifier: Apache-2.0
// What is better with them than without, compiled for AVX2 with AVX-VNNI.
#define QDQ_ISA_NAME(name) qdq_##name##_avx_vnni
#include "ops/kernels/gemm/gemm_integers.inc.h"
