// SPDX-License-Identifier: Apache-2.0
// The kernels of body.h, gemm_body.h and map_body.h, compiled for aarch64, where NEON is always there.
#define QDQ_BODY(name) qdq_##name##_neon
#include "ops/kernels/body.h"
#include "ops/kernels/map_body.h"
#include "ops/kernels/gemm_body.h"
