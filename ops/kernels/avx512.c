// SPDX-License-Identifier: Apache-2.0
// The kernels of body.h, gemm_body.h and map_body.h, compiled for AVX-512.
#define QDQ_BODY(name) qdq_##name##_avx512
#include "ops/kernels/body.h"
#include "ops/kernels/map_body.h"
#include "ops/kernels/gemm_body.h"
