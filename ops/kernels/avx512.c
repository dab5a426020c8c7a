// SPDX-License-Identifier: Apache-2.0
// The bodies of kernels, compiled for AVX-512.
#define QDQ_BODY(name) qdq_##name##_avx512
#include "ops/kernels/body.h"
#include "ops/kernels/gemm_body.h"
#include "ops/kernels/gemm_codes_body.h"
#include "ops/kernels/map_body.h"

#define QDQ_SLICE_SET qdq_slice_kernels_avx512
#define QDQ_SLICE_ISA QDQ_ISA_AVX512
#include "ops/kernels/slice_body.h"

#define QDQ_WINDOW_SET qdq_window_avx512
#define QDQ_WINDOW_ISA QDQ_ISA_AVX512
#include "ops/kernels/window_body.h"
