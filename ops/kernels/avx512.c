// SPDX-License-Identifier: Apache-2.0
// The kernels of body.h and slice_body.h, compiled for AVX-512.
#define QDQ_BODY(name) qdq_##name##_avx512
#include "ops/kernels/body.h"

#define QDQ_SLICE_SET qdq_slice_kernels_avx512
#define QDQ_SLICE_ISA QDQ_ISA_AVX512
#include "ops/kernels/slice_body.h"
