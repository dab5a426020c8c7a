// SPDX-License-Identifier: Apache-2.0
// The kernels of body.h and slice_body.h, compiled for aarch64, where NEON is always there.
#define QDQ_BODY(name) qdq_##name##_neon
#include "ops/kernels/body.h"

#define QDQ_SLICE_SET qdq_slice_kernels_neon
#define QDQ_SLICE_ISA QDQ_ISA_NEON
#include "ops/kernels/slice_body.h"
