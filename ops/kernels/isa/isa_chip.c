// SPDX-License-Identifier: Apache-2.0
// Arithmetic of Tenstorrent chips, for one instruction set.
#include "ops/kernels/isa/isa.h"

#include "ops/kernels/fpu/fpu_tile.inc.h"
#include "ops/kernels/quantize/chip.inc.h"
#include "ops/kernels/quantize/chip_composite.inc.h"
