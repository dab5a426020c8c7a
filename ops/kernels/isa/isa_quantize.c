// SPDX-License-Identifier: Apache-2.0
// Quantize, Dequantize and Requantize on real arithmetic, for one instruction set.
#include "ops/kernels/isa/isa.h"

#include "ops/kernels/quantize/general.inc.h"
#include "ops/kernels/quantize/general_fixed.inc.h"
#include "ops/kernels/quantize/quantize.inc.h"
