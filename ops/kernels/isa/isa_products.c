// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions, for one instruction set.
#include "ops/kernels/isa/isa.h"

#include "ops/kernels/direct/direct.inc.h"
#include "ops/kernels/gemm/gemm.inc.h"
#include "ops/kernels/gemm/gemm_dequant_b.inc.h"
#include "ops/kernels/gemm/gemm_fixed.inc.h"
#include "ops/kernels/gemm/gemm_orders.inc.h"
#include "ops/kernels/winograd/winograd.inc.h"
