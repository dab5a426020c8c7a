// SPDX-License-Identifier: Apache-2.0
// Reductions, pooling and resizing, for one instruction set.
#include "ops/kernels/isa/isa.h"

#include "ops/kernels/pool/pool.inc.h"
#include "ops/kernels/quantize/halves.inc.h"
#include "ops/kernels/reduce/reduce.inc.h"
#include "ops/kernels/resize/resize.inc.h"
