// SPDX-License-Identifier: Apache-2.0
// Elementwise functions, a chip's too, for one instruction set.
#include "ops/kernels/isa/isa.h"

#include "ops/kernels/elementwise/chip_elementwise.inc.h"
#include "ops/kernels/elementwise/elementwise.inc.h"
