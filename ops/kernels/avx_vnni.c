// SPDX-License-Identifier: Apache-2.0
// The kernels that gain from AVX-VNNI: products of integers and of bytes, compiled for AVX2 with
// AVX-VNNI.
#define QDQ_ISA_NAME(name) qdq_##name##_avx_vnni
#include "ops/kernels/gemm/gemm_fixed.inc.h"
#include "ops/kernels/gemm/gemm_integers.inc.h"
