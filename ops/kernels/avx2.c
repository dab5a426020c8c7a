// SPDX-License-Identifier: Apache-2.0
// The vector kernels of all families, compiled for AVX2 with FMA and F16C.
#define QDQ_ISA_NAME(name) qdq_##name##_avx2
#include "ops/kernels/quantize/quantize.inc.h"

#include "ops/kernels/direct/direct.inc.h"
#include "ops/kernels/elementwise/chip_elementwise.inc.h"
#include "ops/kernels/elementwise/elementwise.inc.h"
#include "ops/kernels/fpu/fpu_tile.inc.h"
#include "ops/kernels/gemm/gemm.inc.h"
#include "ops/kernels/gemm/gemm_dequant_b.inc.h"
#include "ops/kernels/gemm/gemm_fixed.inc.h"
#include "ops/kernels/gemm/gemm_orders.inc.h"
#include "ops/kernels/pool/pool.inc.h"
#include "ops/kernels/quantize/chip.inc.h"
#include "ops/kernels/quantize/chip_composite.inc.h"
#include "ops/kernels/quantize/general.inc.h"
#include "ops/kernels/reduce/reduce.inc.h"
#include "ops/kernels/resize/resize.inc.h"
#include "ops/kernels/winograd/winograd.inc.h"
