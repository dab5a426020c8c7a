// SPDX-License-Identifier: Apache-2.0
// Looks up the parts of a plan, and destroys plans. graph/compile/compile.c creates them.
#include "runtime/exec/plan.h"

#include <stdlib.h>
#include <string.h>

const char *qdq_step_shape_name(qdq_step_shape shape) {
    static const char *const names[] = {
        [QDQ_STEP_BLOCKS] = "blocks", [QDQ_STEP_DIRECT] = "direct",       [QDQ_STEP_MOVE] = "move",
        [QDQ_STEP_REDUCE] = "reduce", [QDQ_STEP_TENSOR_OP] = "tensor_op",
    };
    return names[shape];
}

static int by_name(const void *a, const void *b) {
    const qdq_tensor_info *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static const qdq_tensor_info **sorted(qdq_mempool *mempool, const qdq_tensor_info *infos,
                                      size_t count) {
    enum { POINTER_BYTES = sizeof(const qdq_tensor_info *) };
    const qdq_tensor_info **list = qdq_mempool_array(mempool, count + 1, POINTER_BYTES);
    for (size_t i = 0; list && i < count; i++) list[i] = &infos[i];
    if (list) qsort((void *)list, count, POINTER_BYTES, by_name);
    return list;
}

bool qdq_plan_sort_names(qdq_plan *plan) {
    plan->inputs_by_name = sorted(&plan->mempool, plan->inputs, plan->input_count);
    plan->outputs_by_name = sorted(&plan->mempool, plan->outputs, plan->output_count);
    return plan->inputs_by_name && plan->outputs_by_name;
}

void qdq_plan_destroy(qdq_plan *plan) {
    if (!plan) return;
    const qdq_allocator *allocator = plan->allocator;
    qdq_mempool_release(&plan->mempool);
    qdq_free_array(allocator, plan, 1, sizeof *plan);
}

size_t qdq_plan_input_count(const qdq_plan *plan) { return plan ? plan->input_count : 0; }

size_t qdq_plan_output_count(const qdq_plan *plan) { return plan ? plan->output_count : 0; }

const qdq_tensor_info *qdq_plan_input(const qdq_plan *plan, size_t index) {
    return index < qdq_plan_input_count(plan) ? &plan->inputs[index] : NULL;
}

const qdq_tensor_info *qdq_plan_output(const qdq_plan *plan, size_t index) {
    return index < qdq_plan_output_count(plan) ? &plan->outputs[index] : NULL;
}

size_t qdq_plan_kept_count(const qdq_plan *plan) { return plan ? plan->kept_count : 0; }

const qdq_tensor_info *qdq_plan_kept(const qdq_plan *plan, size_t index) {
    return index < qdq_plan_kept_count(plan) ? &plan->kept[index].info : NULL;
}

qdq_plan_stats qdq_plan_get_stats(const qdq_plan *plan) {
    return plan ? plan->stats : (qdq_plan_stats){0};
}

const qdq_plan_value *qdq_plan_get_value(const qdq_plan *plan, size_t index) {
    return plan && index < plan->value_count ? &plan->values[index] : NULL;
}

const qdq_plan_step *qdq_plan_get_step(const qdq_plan *plan, size_t index) {
    return plan && index < plan->step_count ? &plan->step_infos[index] : NULL;
}
