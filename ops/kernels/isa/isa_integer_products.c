// SPDX-License-Identifier: Apache-2.0
// Products of integers and of bytes, for an instruction set that adds dot products of bytes to
// another set.
#include "ops/kernels/isa/isa.h"

#include "ops/kernels/gemm/gemm_fixed.inc.h"
#include "ops/kernels/gemm/gemm_integers.inc.h"
