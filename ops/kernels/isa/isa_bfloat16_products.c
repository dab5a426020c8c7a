// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16, for a set that adds dot products of bfloat16 to another one.
#include "ops/kernels/isa/isa.h"

#include "ops/kernels/gemm/gemm_bfloats.inc.h"
