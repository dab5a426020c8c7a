// SPDX-License-Identifier: Apache-2.0
// A new draft, the context in which its nodes are lowered, and the reason why compiling stops.
#include "graph/compile/lower.h"
#include "runtime/numerics/dtype.h"

size_t qdq_fold_operations(const qdq_graph *graph) {
    enum { PASSES = 16, LEAST = 1 << 26 };
    size_t all = LEAST;
    for (size_t i = 1; i < graph->value_count; i++)
        if (graph->values[i].kind == QDQ_VALUE_CONSTANT)
            all = qdq_size_add(
                all, qdq_size_times(qdq_shape_count(graph->values[i].type.shape), PASSES));
    return all;
}

bool qdq_draft_start(qdq_draft *draft) {
    const qdq_graph *graph = draft->graph;
    draft->values = qdq_mempool_array(draft->mempool, graph->value_count, sizeof *draft->values);
    draft->nodes = qdq_mempool_array(draft->mempool, graph->node_count, sizeof *draft->nodes);
    draft->operations_left = qdq_fold_operations(graph);
    draft->shared = QDQ_MEMPOOL_NEW(draft->mempool, qdq_shared);
    if (!draft->values || !draft->nodes || !draft->shared) return false;
    draft->shared->mempool = draft->mempool;
    for (size_t i = 0; i < graph->node_count; i++)
        draft->nodes[i] = (qdq_draft_node){.inputs = graph->nodes[i].inputs};
    for (size_t i = 0; i < graph->value_count; i++) {
        qdq_draft_value *v = &draft->values[i];
        v->type = graph->values[i].type;
        v->made_step = v->first_step = QDQ_NO_STEP;
        v->output = SIZE_MAX;
    }
    qdq_draft_store(draft);
    for (size_t i = graph->output_count; i-- > 0;) {
        qdq_draft_value *v = &draft->values[graph->outputs[i].value.id];
        v->returned_twice = v->output != SIZE_MAX;
        v->output = i;
    }
    for (size_t i = 1; i < graph->value_count; i++) {
        qdq_draft_value *v = &draft->values[i];
        if (draft->options.float_storage == QDQ_FLOAT_BFLOAT16 && v->output == SIZE_MAX &&
            graph->values[i].kind == QDQ_VALUE_MADE &&
            qdq_dtype_get(v->type.dtype)->kind == QDQ_KIND_FLOAT)
            v->type.dtype = QDQ_BFLOAT16;
    }
    return true;
}

qdq_status qdq_draft_stopped(const qdq_draft *draft, qdq_error *err) {
    const qdq_error *failure = draft->graph->failure;
    if (failure && failure->status) return qdq_fail(err, failure->status, "%s", failure->text);
    if (draft->budget->exceeded)
        return qdq_fail(err, QDQ_ERR_LIMIT,
                        "compiling the graph takes more than the limit of %zu bytes and what the "
                        "plan itself may have; raise --max-bytes",
                        draft->graph->limits.bytes);
    return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while compiling the graph");
}

// Returns an input of a node as the draft's steps read it.
static qdq_operand draft_operand(const qdq_draft *draft, const qdq_node *node, size_t i) {
    const qdq_draft_node *of = &draft->nodes[node - draft->graph->nodes];
    qdq_operand in = qdq_graph_operand(draft->graph, node, i);
    if (in.given) in.type = draft->values[node->inputs[i].id].type;
    if (of->quantized && of->quantized[i].count) {
        in.quantized = &of->quantized[i];
        in.type.dtype = of->quantized[i].dtype;
    }
    if (of->views) in.order = of->views[i].order, in.repeat = of->views[i].repeat;
    if (!of->known) return in;
    in.weight_codes = of->known[i].weight_codes;
    if (of->known[i].data) in.data = of->known[i].data;
    if (of->known[i].data) in.stored = NULL;
    return in;
}

static qdq_operand input_beyond(const qdq_op_context *ctx, size_t input) {
    return draft_operand(ctx->source, ctx->source_node, input);
}

void qdq_draft_context(const qdq_draft *draft, size_t index, qdq_findings *findings,
                       qdq_op_context *ctx) {
    const qdq_node *node = &draft->graph->nodes[index];
    qdq_graph_context(draft->graph, node, findings, ctx);
    ctx->input_beyond = input_beyond, ctx->source = draft;
    for (size_t i = 0; i < node->input_count && i < QDQ_MAX_PORTS; i++)
        ctx->inputs[i] = draft_operand(draft, node, i);
    for (size_t i = 0; i < node->output_count; i++)
        ctx->outputs[i] = draft->values[node->outputs[i]].type;
}

qdq_lowering qdq_draft_lowering(const qdq_draft *draft, const qdq_op_context *ctx,
                                qdq_mempool *mempool) {
    return (qdq_lowering){
        .numerics = draft->options.numerics ? *draft->options.numerics
                                            : qdq_target_numerics(&draft->version, ctx),
        .isas = draft->isas,
        .mempool = mempool,
        .fast = draft->options.fast,
        .parallel = &draft->options.parallel,
    };
}
