// SPDX-License-Identifier: Apache-2.0
// The bodies of kernels, compiled for aarch64, where NEON is always there.
#define QDQ_BODY(name) qdq_##name##_neon
#include "ops/kernels/body.h"
#include "ops/kernels/gemm_body.h"
#include "ops/kernels/gemm_codes_body.h"
#include "ops/kernels/map_body.h"

#define QDQ_SLICE_SET qdq_slice_kernels_neon
#define QDQ_SLICE_ISA QDQ_ISA_NEON
#include "ops/kernels/slice_body.h"

#define QDQ_WINDOW_SET qdq_window_neon
#define QDQ_WINDOW_ISA QDQ_ISA_NEON
#include "ops/kernels/window_body.h"
