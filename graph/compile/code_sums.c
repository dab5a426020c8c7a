// SPDX-License-Identifier: Apache-2.0
// Joins the Dequantize, Add and Quantize of a chain whose other operand is recomputed from bytes
// (recompute.c), such as the residual sum behind a convolution: both operands stay codes, and one
// function adds them in registers, with the roundings of each link. The link of Add does the work
// of the three and stores the codes of Quantize.
#include "graph/compile/compile.h"
#include "ops/kernels/quantize/sums/code_sum.h"

// Returns the next link that computes something; `count` after the last.
static size_t next_of(const qdq_step *step, size_t i) {
    for (i++; i < step->link_count && !step->links[i].fn;) i++;
    return i;
}

static bool dequantizes(const qdq_draft_link *draft, const qdq_link *link, qdq_code_operand *to) {
    const qdq_op_fusion *fusion = draft->node ? qdq_fusion_of(draft->node->op) : NULL;
    return fusion && fusion->dequantizes && fusion->dequantizes(link, to);
}

// False also if memory ran out before the link was whole.
static bool adds(const qdq_draft_link *draft, const qdq_link *link, qdq_code_operand *to) {
    const qdq_op_fusion *fusion = draft->node ? qdq_fusion_of(draft->node->op) : NULL;
    const qdq_link *through = link->stage_param_count ? link->stage_params[0].through : NULL;
    return fusion && fusion->adds && fusion->adds(link) && through &&
           dequantizes(draft->through[0], through, to);
}

static bool quantizes(const qdq_draft_link *draft, const qdq_link *link, qdq_code_sum *to) {
    const qdq_op_fusion *fusion = draft->node ? qdq_fusion_of(draft->node->op) : NULL;
    qdq_stage_quantize by;
    if (!fusion || !fusion->quantizes || !fusion->quantizes(link, &by)) return false;
    to->quantize = by.fn, to->params = by.params;
    to->views[0] = by.views[0], to->views[1] = by.views[1];
    return to->operands[0].dtype == by.dtype && to->operands[1].dtype == by.dtype;
}

// Joins link i and the two links left after it if they form a sum of codes.
static bool join_sum(qdq_compiler *c, const qdq_draft_step *draft, qdq_step *step, size_t i) {
    size_t j = next_of(step, i), k = next_of(step, j);
    qdq_code_sum sum;
    if (!step->links[i].fn || k >= step->link_count) return true;
    qdq_link *first = &step->links[i], *add = &step->links[j], *last = &step->links[k];
    if (first->store.kind || add->store.kind ||
        !dequantizes(&draft->links[i], first, &sum.operands[0]) ||
        !adds(&draft->links[j], add, &sum.operands[1]) || !quantizes(&draft->links[k], last, &sum))
        return true;
    qdq_tile_fn *fn = qdq_code_sum_find(&sum);
    if (!fn) return true;
    add->fn = fn;
    add->params = qdq_mempool_copy(&c->plan->mempool, &sum, 1, sizeof sum);
    add->stage_params[0].fetch = QDQ_FETCH_BYTES;
    add->y_dtype = last->y_dtype, add->store = last->store;
    first->fn = last->fn = NULL;
    last->store = (qdq_place){0};
    return add->params != NULL;
}

bool qdq_join_sums(qdq_compiler *c, const qdq_draft_step *draft, qdq_step *step) {
    for (size_t i = 0; i < step->link_count; i++)
        if (!join_sum(c, draft, step, i)) return false;
    return true;
}
