// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16, for an instruction set that adds dot products of bfloat16 to another set.
#include "ops/kernels/isa/isa.h"

#include "ops/kernels/gemm/gemm_bfloats.inc.h"
