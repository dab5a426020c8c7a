// SPDX-License-Identifier: Apache-2.0
// The kernels that gain from dot products of bytes: products of integers and of bytes, compiled for
// aarch64 with that extension.
#define QDQ_ISA_NAME(name) qdq_##name##_neon_dot
#include "ops/kernels/gemm/gemm_fixed.inc.h"
#include "ops/kernels/gemm/gemm_integers.inc.h"
