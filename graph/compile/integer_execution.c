// SPDX-License-Identifier: Apache-2.0
// Integer execution: finds the nodes that can compute on quantized inputs instead of dequantized
// inputs, also through ops that only move or select elements between Dequantize and the node. A
// Dequantize without remaining readers is not computed.
//
// Each value between Dequantize and reader stays either quantized or dequantized. Values that must
// agree form a group: the input and the result of an op that moves elements, and all inputs that
// one node reads quantized. A single reader that needs dequantized elements decides for its whole
// group. There are three passes over the nodes:
// - backward: which values any reader would like to have quantized;
// - forward: the quantized form of each value, and the groups;
// - forward: the inputs that each node finally reads.
//
// Three hooks of an op take part. `accepts_quantized`: the inputs that the op can take quantized.
// `quantized_input` (Dequantize): the integers and parameters that its output stands for.
// `passes_quantized` (data movement, and ops that choose among elements by order): what its output
// stands for if its inputs are quantized. To the executor the result is a tensor op like any other.
// It rounds less than the graph says, so only `fast` does it.
#include "graph/compile/lower.h"
#include "runtime/numerics/dtype.h"

// The quantized form of a value.
typedef struct stand_in {
    qdq_quantized *quantized;  // NULL: the value has none
    // The value that holds the integers: the input of Dequantize, or this value itself if an op
    // moved them.
    uint32_t source;
    uint32_t group;  // another value of the same group; the root of a group names itself
    bool real;       // only the root's counts: some reader needs it dequantized
} stand_in;

typedef struct search {
    qdq_draft *draft;
    stand_in *values;
    bool *wanted;     // values
    uint64_t *reads;  // per node: a bit for each port it reads quantized if the group agrees
    qdq_findings silent;
} search;

//---- Groups -----------------------------------------------------------------

static bool is_moved(const search *s, uint32_t id) { return s->values[id].source == id && id; }

static uint32_t group_of(search *s, uint32_t id) {
    while (s->values[id].group != id) {
        s->values[id].group = s->values[s->values[id].group].group;
        id = s->values[id].group;
    }
    return id;
}

static uint32_t join(search *s, uint32_t a, uint32_t b) {
    if (!a || !b) return a ? a : b;
    a = group_of(s, a), b = group_of(s, b);
    s->values[b].group = a;
    s->values[a].real |= s->values[b].real;
    return a;
}

// Joins the groups of the inputs that a node reads quantized, and of `result` (0: result not
// quantized). Groups of the other inputs become dequantized.
static void join_inputs(search *s, const qdq_node *node, uint64_t reads, uint32_t result) {
    for (size_t i = 0; i < node->input_count; i++) {
        uint32_t id = node->inputs[i].id;
        if (!is_moved(s, id)) continue;
        if (qdq_ports_have(node->op, reads, i))
            result = join(s, id, result);
        else
            s->values[group_of(s, id)].real = true;
    }
}

//---- Wanted forms -----------------------------------------------------------

static bool mark_wanted(search *s) {
    const qdq_graph *graph = s->draft->graph;
    bool any = false;
    for (size_t i = graph->node_count; i-- > 0;) {
        const qdq_node *node = &graph->nodes[i];
        const qdq_op_fusion *fusion = qdq_fusion_of(node->op);
        bool moves = fusion->passes_quantized && s->wanted[node->outputs[0]];
        if (!(fusion->accepts_quantized || moves) || !qdq_draft_is_live(s->draft, node)) continue;
        for (size_t k = 0; k < node->input_count; k++) s->wanted[node->inputs[k].id] = true;
        any = true;
    }
    return any;
}

//---- Quantized forms --------------------------------------------------------

// Returns an input of a variadic port, quantized only if all inputs of the port have a quantized
// form.
static qdq_operand offered_beyond(const qdq_op_context *ctx, size_t input) {
    const search *s = ctx->source;
    qdq_operand in = qdq_graph_operand(s->draft->graph, ctx->source_node, input);
    uint32_t id = ctx->source_node->inputs[input].id;
    in.type = s->draft->values[id].type;
    in.quantized = s->values[id].quantized;
    return in;
}

// Fills in the node's context with the quantized forms that its inputs may have now. Returns a bit
// for each port whose inputs all have one.
static uint64_t offer(search *s, size_t index, qdq_op_context *ctx) {
    const qdq_node *node = &s->draft->graph->nodes[index];
    uint64_t offered = 0, lacking = 0;
    qdq_draft_context(s->draft, index, &s->silent, ctx);
    ctx->input_beyond = offered_beyond, ctx->source = s;
    for (size_t i = 0; i < node->input_count; i++) {
        uint32_t id = node->inputs[i].id;
        const qdq_quantized *quantized = s->values[id].quantized;
        if (quantized && is_moved(s, id) && s->values[group_of(s, id)].real) quantized = NULL;
        if (i < QDQ_MAX_PORTS) ctx->inputs[i].quantized = quantized;
        *(quantized ? &offered : &lacking) |= qdq_port_bit(node->op, i);
    }
    return offered & ~lacking;
}

// Finds the quantized form of a node's result, the value that holds it, and the inputs that the
// node then reads quantized; false if the result has none.
static bool result_quantized(search *s, size_t index, qdq_quantized *quantized, uint32_t *source,
                             uint64_t *reads) {
    const qdq_node *node = &s->draft->graph->nodes[index];
    const qdq_op_fusion *fusion = qdq_fusion_of(node->op);
    uint32_t y = node->outputs[0];
    qdq_op_context ctx;
    // An output of the graph keeps its declared dtype.
    if (!s->wanted[y] || s->draft->graph->values[y].returned) return false;
    if (fusion->passes_quantized) {
        *source = y;
        *reads = offer(s, index, &ctx);
        return (*reads & 1) && fusion->passes_quantized(&ctx, quantized);
    }
    *source = node->inputs[0].id;
    if (!fusion->quantized_input) return false;
    qdq_draft_context(s->draft, index, &s->silent, &ctx);
    qdq_lowering to = qdq_draft_lowering(s->draft, &ctx, s->draft->mempool);
    return fusion->quantized_input(&ctx, &to, quantized);
}

static bool look_at(search *s, size_t index) {
    const qdq_node *node = &s->draft->graph->nodes[index];
    const qdq_op_fusion *fusion = qdq_fusion_of(node->op);
    uint32_t y = node->outputs[0], source;
    uint64_t reads = 0;
    qdq_quantized quantized;
    qdq_op_context ctx;
    if (result_quantized(s, index, &quantized, &source, &reads)) {
        if (source == y) s->reads[index] = reads, quantized.data = NULL, quantized.stored = NULL;
        s->values[y].quantized =
            qdq_mempool_copy(s->draft->mempool, &quantized, 1, sizeof quantized);
        s->values[y].source = source;
        if (!s->values[y].quantized) return false;
    } else if (fusion->accepts_quantized) {
        offer(s, index, &ctx);
        s->reads[index] = fusion->accepts_quantized(&ctx);
    }
    join_inputs(s, node, s->reads[index], is_moved(s, y) ? y : 0);
    return true;
}

//---- Chosen inputs ----------------------------------------------------------

// Returns the inputs that a node reads quantized now that all groups are decided.
static uint64_t settled_reads(search *s, size_t index) {
    const qdq_node *node = &s->draft->graph->nodes[index];
    const qdq_op_fusion *fusion = qdq_fusion_of(node->op);
    uint64_t reads = s->reads[index];
    qdq_op_context ctx;
    bool all = true;
    for (size_t i = 0; i < node->input_count; i++) {
        uint32_t id = node->inputs[i].id;
        if (qdq_ports_have(node->op, reads, i) && is_moved(s, id))
            all &= !s->values[group_of(s, id)].real;
    }
    if (fusion->passes_quantized)
        return reads && !s->values[group_of(s, node->outputs[0])].real ? reads : 0;
    if (all || !fusion->accepts_quantized) return reads;
    offer(s, index, &ctx);
    return fusion->accepts_quantized(&ctx);
}

static const void *quantized_in_memory(qdq_draft *draft, const qdq_quantized *quantized,
                                       qdq_type type) {
    if (quantized->data) return quantized->data;
    size_t count = qdq_shape_count(type.shape), size = qdq_dtype_size(type.dtype);
    void *data = qdq_mempool_array(draft->mempool, count, size);
    return data && quantized->stored->read(quantized->stored, 0, count * size, data) ? data : NULL;
}

// Computes the result of a moving op now if all of its inputs are known, e.g. transposed weights.
static bool fold(search *s, size_t index) {
    qdq_draft *draft = s->draft;
    const qdq_draft_node *node = &draft->nodes[index];
    uint32_t y = draft->graph->nodes[index].outputs[0];
    qdq_stage stages[QDQ_MAX_STAGES];
    qdq_op_context ctx;
    qdq_draft_context(draft, index, &s->silent, &ctx);
    for (size_t i = 0; i < ctx.input_count; i++)
        if (!node->quantized[i].data && !node->quantized[i].stored) return true;
    qdq_lowering to = qdq_draft_lowering(draft, &ctx, draft->mempool);
    if (!ctx.op->lower(&ctx, &to, stages)) return false;
    if (stages[0].cost > draft->operations_left) return true;
    draft->operations_left -= stages[0].cost;
    const void **x = qdq_mempool_array(draft->mempool, ctx.input_count, sizeof *x);
    if (!x) return false;
    for (size_t i = 0; i < ctx.input_count; i++) {
        x[i] = quantized_in_memory(draft, &node->quantized[i], qdq_input_at(&ctx, i).type);
        if (!x[i]) return false;
    }
    void *data = qdq_mempool_array(draft->mempool, qdq_shape_count(ctx.outputs[0].shape),
                                   qdq_dtype_size(ctx.outputs[0].dtype));
    if (!data) return false;
    stages[0].tensor_op(stages[0].params, &(qdq_tensors){.x = x, .y = &data}, 0, stages[0].units);
    draft->values[y].folded = s->values[y].quantized->data = data;
    return true;
}

static bool settle(search *s, size_t index) {
    qdq_draft *draft = s->draft;
    const qdq_node *node = &draft->graph->nodes[index];
    uint64_t reads = settled_reads(s, index);
    if (!reads) return true;
    qdq_quantized *quantized =
        qdq_mempool_array(draft->mempool, node->input_count, sizeof *quantized);
    qdq_value *inputs = qdq_mempool_array(draft->mempool, node->input_count, sizeof *inputs);
    if (!quantized || !inputs) return false;
    for (size_t i = 0; i < node->input_count; i++) {
        const stand_in *v = &s->values[node->inputs[i].id];
        inputs[i] = node->inputs[i];
        if (qdq_ports_have(node->op, reads, i))
            quantized[i] = *v->quantized, inputs[i].id = v->source;
    }
    draft->nodes[index] = (qdq_draft_node){.inputs = inputs, .quantized = quantized};
    uint32_t y = node->outputs[0];
    if (!is_moved(s, y)) return true;
    draft->values[y].type.dtype = s->values[y].quantized->dtype;
    return fold(s, index);
}

//---- Entry ------------------------------------------------------------------

bool qdq_draft_integer_execution(qdq_draft *draft) {
    const qdq_graph *graph = draft->graph;
    if (!draft->options.fast) return true;
    search s = {
        .draft = draft,
        .values = qdq_mempool_array(draft->mempool, graph->value_count, sizeof *s.values),
        .wanted = qdq_mempool_array(draft->mempool, graph->value_count, sizeof *s.wanted),
        .reads = qdq_mempool_array(draft->mempool, graph->node_count, sizeof *s.reads),
        .silent = {.mempool = draft->mempool},
    };
    if (!s.values || !s.wanted || !s.reads) return false;
    if (!mark_wanted(&s)) return true;
    for (uint32_t id = 0; id < graph->value_count; id++) s.values[id].group = id;
    for (size_t i = 0; i < graph->node_count; i++)
        if (qdq_draft_is_live(draft, &graph->nodes[i]) && !look_at(&s, i)) return false;
    for (size_t i = 0; i < graph->node_count; i++)
        if (qdq_draft_is_live(draft, &graph->nodes[i]) && !settle(&s, i)) return false;
    return !draft->mempool->failed;
}
