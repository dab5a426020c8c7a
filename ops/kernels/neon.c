// SPDX-License-Identifier: Apache-2.0
// The bodies of kernels, compiled for aarch64, where NEON is always there.
#define QDQ_ISA_NAME(name) qdq_##name##_neon
#include "ops/kernels/quantize/quantize.inc.h"

#include "ops/kernels/depthwise/depthwise.inc.h"
#include "ops/kernels/elementwise/elementwise.inc.h"
#include "ops/kernels/gemm/gemm.inc.h"
#include "ops/kernels/gemm/gemm_dequant_b.inc.h"
#include "ops/kernels/reduce/reduce.inc.h"
