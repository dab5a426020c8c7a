// SPDX-License-Identifier: Apache-2.0
// Integer execution: a node whose inputs are dequantized is computed on their codes where its op
// can. Nobody may need the reals for that, so a Dequantize that nothing else reads is not computed.
#include "graph/lower.h"

// The codes that a value stands for, and where they are. False: it has none, or is a result of the
// graph, which is to be seen as it is written.
static bool codes_of(const qdq_draft *draft, qdq_value value, qdq_codes *codes, qdq_value *source) {
    const qdq_graph_value *v = &draft->graph->values[value.id];
    if (!value.id || v->kind != QDQ_VALUE_MADE || v->returned || v->port != 0) return false;
    const qdq_node *maker = &draft->graph->nodes[v->node];
    if (!maker->op->codes) return false;
    qdq_findings silent = {.pool = draft->pool, .count = QDQ_MAX_FINDINGS};
    qdq_call call;
    qdq_draft_call(draft, v->node, &silent, &call);
    qdq_lowering to = qdq_draft_lowering(draft, &call, draft->pool);
    *source = maker->inputs[0];
    return maker->op->codes(&call, &to, codes);
}

bool qdq_draft_codes(qdq_draft *draft, size_t index) {
    const qdq_node *node = &draft->graph->nodes[index];
    if (draft->options.literal || draft->options.materialize || !node->op->reads_codes) return true;
    qdq_codes *codes = qdq_pool_array(draft->pool, node->input_count, sizeof *codes);
    qdq_value *inputs = qdq_pool_array(draft->pool, node->input_count, sizeof *inputs);
    if (!codes || !inputs) return false;
    qdq_findings silent = {.pool = draft->pool, .count = QDQ_MAX_FINDINGS};
    qdq_call call;
    qdq_draft_call(draft, index, &silent, &call);
    for (size_t i = 0; i < node->input_count; i++)
        if (codes_of(draft, node->inputs[i], &codes[i], &inputs[i]))
            call.inputs[i].codes = &codes[i];
    uint64_t read = node->op->reads_codes(&call);
    for (size_t i = 0; i < node->input_count; i++) {
        if (read >> i & 1) continue;
        codes[i] = (qdq_codes){0};
        inputs[i] = node->inputs[i];
    }
    if (read) draft->nodes[index] = (qdq_draft_node){.inputs = inputs, .codes = codes};
    return !draft->pool->failed;
}
