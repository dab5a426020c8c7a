// SPDX-License-Identifier: Apache-2.0
// Steps of the kernels by which a chip computes functions of one operand: the causes "infinity for
// NaN", "truncated by the store", "16-bit destination", "LUT segment" and "approximate kernel".
#ifndef QDQ_TOOLS_LAB_COMPARE_UNITS_KERNEL_STEPS_H
#define QDQ_TOOLS_LAB_COMPARE_UNITS_KERNEL_STEPS_H

#include "tools/lab/compare/units/switches.h"

// Sets the steps of numerics without a chip's multiply-add to what no chip does. They do not matter
// there, and become switches if the other target is a chip.
void spell_out_steps(qdq_numerics *n);
// Names the switch of the approximate kernel of an op.
void name_kernel(switch_list *list, const char *op);
// True for the cause of a step.
bool is_kernel_step(const char *cause);

#endif
