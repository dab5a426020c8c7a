// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/units/kernel_steps.h"

#include <string.h>

static const char approximate[] = "approximate kernel", segments[] = "LUT segment";

void spell_out_steps(qdq_numerics *n) {
    if (n->multiply_add != QDQ_MULTIPLY_ADD_IEEE) return;
    n->sfpu_keep_nan = n->sfpu_round_store = n->sfpu_wide_dst = n->sfpu_accurate = true;
}

void name_kernel(switch_list *list, const char *op) {
    bool has_segments = strcmp(op, "GELU") == 0 || strcmp(op, "Tanh") == 0;
    for (size_t i = 0; i < list->count && !has_segments; i++)
        if (strcmp(list->items[i].name, segments) == 0) list->items[i].name = approximate;
}

bool is_kernel_step(const char *cause) {
    static const char *const steps[] = {"infinity for NaN", "truncated by the store",
                                        "16-bit destination", segments, approximate};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (strcmp(cause, steps[i]) == 0) return true;
    return false;
}
