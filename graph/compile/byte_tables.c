// SPDX-License-Identifier: Apache-2.0
// Finds steps that combine two values computed from the same bytes, such as x * Sigmoid(x) of a
// dequantized x, and replaces their links by one lookup table over the bytes. The step then reads
// the bytes, and the producing step need not store floats. Bits stay the same, because the links
// themselves fill the table.
#include "graph/compile/lower.h"
#include "ops/quantize/lookup_stages.h"
#include "runtime/tenstorrent/block_float.h"

enum { LEAST_ELEMENTS = 4096 };  // fewer are faster computed than a table is filled

// Links `first` to `last` of step `maker` compute both operands of the first link of step `step`
// from `bytes`. The step's links up to `end` turn them back into bytes.
typedef struct pair {
    qdq_draft_step *maker, *step;
    size_t number;  // of `step`
    size_t first, last, end;
    uint32_t bytes, x, other;
} pair;

static bool is_byte(const qdq_draft *draft, uint32_t id) {
    qdq_dtype dtype = draft->values[id].type.dtype;
    return dtype == QDQ_INT8 || dtype == QDQ_UINT8;
}

static bool is_float(const qdq_draft *draft, uint32_t id) {
    return draft->values[id].type.dtype == QDQ_FLOAT32;
}

// True if a table can hold the results of a link. A block float is rounded with its tile, after the
// link.
static bool fits_table(const qdq_draft *draft, const qdq_draft_link *link) {
    return link->node && qdq_draft_has_known_numbers(link->stage) &&
           !qdq_dtype_is_block_float(draft->values[link->y].type.dtype);
}

// Finds the first link of the chain whose operands the producing step computes from bytes.
static bool find_bytes(const qdq_draft *draft, pair *p) {
    size_t x = qdq_draft_link_that_makes(p->maker, p->x);
    size_t other = qdq_draft_link_that_makes(p->maker, p->other);
    if (x == SIZE_MAX || other == SIZE_MAX || !is_float(draft, p->x) || !is_float(draft, p->other))
        return false;
    p->first = x < other ? x : other, p->last = x < other ? other : x;
    while (!is_byte(draft, qdq_draft_x_of(p->maker, p->first)))
        if (!p->first--) return false;
    p->bytes = qdq_draft_x_of(p->maker, p->first);
    if (draft->values[p->bytes].cut) return false;
    for (size_t i = p->first; i <= p->last; i++)
        if (!fits_table(draft, &p->maker->links[i])) return false;
    return true;
}

// Finds the links after the first one, up to the first that produces bytes. Nothing else reads the
// values between them.
static bool find_end(const qdq_draft *draft, pair *p) {
    for (p->end = 0; p->end + 1 < p->step->link_count;) {
        const qdq_draft_value *y = &draft->values[p->step->links[p->end].y];
        const qdq_draft_link *next = &p->step->links[++p->end];
        if (y->read || y->kept || y->output != SIZE_MAX || !fits_table(draft, next) ||
            qdq_dtype_is_block_float(y->type.dtype))
            return false;
        if (is_byte(draft, next->y)) return true;
    }
    return false;
}

static bool find_pair(const qdq_draft *draft, size_t number, pair *p) {
    qdq_draft_step *step = &draft->steps[number];
    if (step->tensor_op_node || step->link_count < 2) return false;
    const qdq_draft_link *link = &step->links[0];
    size_t made = draft->values[step->x].made_step;
    *p = (pair){.step = step, .number = number, .x = step->x, .other = link->sources[0]};
    if (!link->node || link->stage->stage_param_count != 1 || !p->other || made == QDQ_NO_STEP ||
        draft->values[p->other].made_step != made)
        return false;
    qdq_shape shape = draft->values[p->x].type.shape;
    p->maker = &draft->steps[made];
    return qdq_shape_count(shape) >= LEAST_ELEMENTS &&
           qdq_shape_equal(shape, draft->values[p->other].type.shape) && find_bytes(draft, p) &&
           find_end(draft, p);
}

//---- Tables -----------------------------------------------------------------

// Runs a stage on 256 elements; `other` are the elements of its parameter, if that is not known.
static void run_stage(const qdq_stage *stage, const void *x, const void *other, void *y) {
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    for (size_t k = 0; k < stage->stage_param_count; k++)
        views[k] = other ? (qdq_view){other, 1} : (qdq_view){stage->stage_params[k].values, 0};
    stage->fn(stage->params, views, x, y, 256);
}

static void fill(const pair *p, uint8_t *table) {
    uint64_t values[2][256];
    uint32_t x[256], other[256];
    uint8_t *codes = (uint8_t *)values[0];
    for (size_t i = 0; i < 256; i++) codes[i] = (uint8_t)i;
    const void *from = codes;
    for (size_t i = p->first, turn = 1; i <= p->last; i++, turn ^= 1) {
        const qdq_draft_link *link = &p->maker->links[i];
        run_stage(link->stage, from, NULL, values[turn]);
        from = values[turn];
        if (link->y == p->x) memcpy(x, from, sizeof x);
        if (link->y == p->other) memcpy(other, from, sizeof other);
    }
    from = x;
    for (size_t i = 0; i <= p->end; i++) {
        run_stage(p->step->links[i].stage, from, i ? NULL : other, values[i % 2]);
        from = values[i % 2];
    }
    memcpy(table, from, 256);
}

static const qdq_stage skipped;

// Redirects the step to the bytes, with link `end` as the lookup; the links before it do nothing.
static bool use_table(qdq_draft *draft, const pair *p) {
    uint8_t table[256];
    qdq_draft_link *end = &p->step->links[p->end];
    qdq_draft_value *bytes = &draft->values[p->bytes];
    qdq_stage *stage = qdq_mempool_copy(draft->mempool, end->stage, 1, sizeof *stage);
    fill(p, table);
    if (!stage || !qdq_use_table(stage, table, bytes->type.dtype, draft->values[end->y].type.dtype,
                                 draft->isas, draft->plan_mempool))
        return false;
    for (size_t i = 0; i < p->end; i++) p->step->links[i].stage = &skipped;
    p->step->links[0].sources[0] = 0;
    end->stage = stage;
    p->step->x = p->bytes;
    if (p->step->apart_from == p->x) p->step->apart_from = p->bytes;
    bytes->read = true;
    if (bytes->last_step < p->number) bytes->last_step = p->number;
    return true;
}

//---- Entry ------------------------------------------------------------------

static void note(const qdq_draft *draft, size_t step, uint32_t id, const bool *left) {
    qdq_draft_value *v = &draft->values[id];
    if (left[id] && v->made_step != step) v->read = true;
}

// Finds the `left` values that steps other than their producers still read.
static void mark_read(const qdq_draft *draft, const bool *left) {
    for (size_t i = 0; i < draft->step_count; i++) {
        const qdq_draft_step *step = &draft->steps[i];
        const qdq_node *op = step->tensor_op_node;
        if (!op) note(draft, i, step->x, left);
        for (size_t k = 0; op && k < op->input_count; k++)
            if (!qdq_draft_step_packs(step, k)) note(draft, i, step->tensor_op_inputs[k].id, left);
        for (size_t k = 0; step->reduce_node && k < step->reduce->stage_param_count; k++)
            note(draft, i, step->reduce_sources[k], left);
        for (size_t l = 0; l < step->link_count; l++)
            for (size_t k = 0; k < step->links[l].stage->stage_param_count; k++)
                note(draft, i, step->links[l].sources[k], left);
    }
}

bool qdq_draft_join_bytes(qdq_draft *draft) {
    bool *left = qdq_mempool_array(draft->mempool, draft->graph->value_count, sizeof *left);
    bool found = false;
    if (!left) return false;
    if (draft->storage.node_by_node) return true;
    for (size_t i = 0; i < draft->step_count; i++) {
        pair p;
        if (!find_pair(draft, i, &p)) continue;
        if (!use_table(draft, &p)) return false;
        found = left[p.x] = left[p.other] = true;
        draft->values[p.x].read = draft->values[p.other].read = false;
    }
    if (found) mark_read(draft, left);
    return true;
}
