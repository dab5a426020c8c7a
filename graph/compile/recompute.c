// SPDX-License-Identifier: Apache-2.0
// Recomputes values where they are read instead of storing them: floats that a link computes from
// bytes by known numbers, such as the Dequantize in front of a residual sum. If steps read such a
// value only as a parameter with one element for each element of theirs, they read the bytes and
// run the link on them, block by block. The floats then have no memory, and the link that would
// have stored them is skipped if nothing in its chain follows it. Bits stay the same, because the
// link does.
#include "graph/compile/lower.h"

size_t qdq_draft_link_that_makes(const qdq_draft_step *step, uint32_t id) {
    for (size_t i = 0; i < step->link_count; i++)
        if (step->links[i].y == id && step->links[i].node) return i;
    return SIZE_MAX;
}

uint32_t qdq_draft_x_of(const qdq_draft_step *step, size_t i) {
    if (i) return step->links[i - 1].y;
    return step->tensor_op_node ? step->tensor_op_node->outputs[0] : step->x;
}

bool qdq_draft_has_known_numbers(const qdq_stage *stage) {
    for (size_t k = 0; k < stage->stage_param_count; k++)
        if (stage->stage_params[k].origin != QDQ_FROM_NUMBERS || stage->stage_params[k].count != 1)
            return false;
    return true;
}

// True if the value needs no memory because a link can recompute it from bytes.
static bool may_be_made_again(const qdq_draft *draft, uint32_t id) {
    const qdq_draft_value *v = &draft->values[id];
    if (!v->read || v->kept || v->output != SIZE_MAX || v->made_step == QDQ_NO_STEP ||
        v->type.dtype != QDQ_FLOAT32)
        return false;
    const qdq_draft_step *step = &draft->steps[v->made_step];
    size_t i = qdq_draft_link_that_makes(step, id);
    if (i == SIZE_MAX || (!i && !step->tensor_op_node)) return false;
    qdq_dtype x = draft->values[qdq_draft_x_of(step, i)].type.dtype;
    return (x == QDQ_INT8 || x == QDQ_UINT8) && qdq_draft_has_known_numbers(step->links[i].stage);
}

// True if parameter k of a link has an element of the value for each element of the link.
static bool is_for_each(const qdq_draft *draft, const qdq_draft_step *step, size_t i, size_t k,
                        uint32_t id) {
    const qdq_stage_param *param = &step->links[i].stage->stage_params[k];
    qdq_shape shape = draft->values[id].type.shape;
    return !param->is_int && param->count == qdq_shape_count(shape) && param->count > 1 &&
           qdq_shape_equal(shape, draft->values[qdq_draft_x_of(step, i)].type.shape);
}

// Clears the mark of values that a step reads in another way.
static void mark_other_readers(const qdq_draft *draft, const qdq_draft_step *step, bool *marked) {
    marked[step->x] = false;
    for (size_t k = 0; step->tensor_op_node && k < step->tensor_op_node->input_count; k++)
        if (!qdq_draft_step_packs(step, k)) marked[step->tensor_op_inputs[k].id] = false;
    for (size_t k = 0; step->reduce_node && k < step->reduce->stage_param_count; k++)
        marked[step->reduce_sources[k]] = false;
    for (size_t i = 0; i < step->link_count; i++)
        for (size_t k = 0; k < step->links[i].stage->stage_param_count; k++) {
            uint32_t id = step->links[i].sources[k];
            if (marked[id] && !is_for_each(draft, step, i, k, id)) marked[id] = false;
        }
}

static void read_bytes(qdq_draft *draft, size_t number, qdq_draft_link *link, size_t k) {
    qdq_draft_value *v = &draft->values[link->sources[k]];
    const qdq_draft_step *maker = &draft->steps[v->made_step];
    size_t made = qdq_draft_link_that_makes(maker, link->sources[k]);
    uint32_t bytes = qdq_draft_x_of(maker, made);
    qdq_draft_value *source = &draft->values[bytes];
    link->through[k] = &maker->links[made];
    link->sources[k] = bytes;
    source->read = true;
    if (source->last_step < number) source->last_step = number;
    v->read = false;
}

bool qdq_draft_recompute(qdq_draft *draft) {
    size_t values = draft->graph->value_count;
    if (draft->storage.tiled || draft->storage.node_by_node) return true;
    bool *marked = qdq_mempool_array(draft->mempool, values, sizeof *marked);
    if (!marked) return false;
    for (uint32_t id = 1; id < values; id++) marked[id] = may_be_made_again(draft, id);
    for (size_t i = 0; i < draft->step_count; i++)
        mark_other_readers(draft, &draft->steps[i], marked);
    for (size_t i = 0; i < draft->step_count; i++)
        for (size_t l = 0; l < draft->steps[i].link_count; l++) {
            qdq_draft_link *link = &draft->steps[i].links[l];
            for (size_t k = 0; k < link->stage->stage_param_count; k++)
                if (marked[link->sources[k]]) read_bytes(draft, i, link, k);
        }
    return true;
}
