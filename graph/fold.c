// SPDX-License-Identifier: Apache-2.0
// Folding: what a node lays out anew when the graph is compiled (`packs`) is computed then too,
// where nodes make it of constants alone. Codes that the node can read stay codes.
#include <string.h>

#include "graph/lower.h"
#include "runtime/dtype.h"

enum { MAX_DEPTH = 32 };  // of nodes behind each other

//---- Running a node ---------------------------------------------------------

// The inputs of the extracted node are those that are no constants, each once.
static bool bind_inputs(const qdq_draft *draft, const qdq_node *node, qdq_exec *exec,
                        const qdq_plan *plan, qdq_error *err) {
    uint32_t bound[QDQ_MAX_INPUTS];
    size_t count = 0;
    for (size_t i = 0; i < node->input_count; i++) {
        uint32_t id = node->inputs[i].id;
        bool seen = !id || draft->graph->values[id].kind == QDQ_VALUE_CONSTANT;
        for (size_t k = 0; k < count; k++) seen |= bound[k] == id;
        if (seen) continue;
        const qdq_tensor_info *info = qdq_plan_input(plan, count);
        bound[count++] = id;
        if (qdq_exec_bind(exec, info->name, (void *)draft->values[id].folded, info->bytes, err) !=
            QDQ_OK)
            return false;
    }
    return true;
}

// Runs the node; results[i] are the elements of output i.
static bool run_exec(const qdq_draft *draft, const qdq_node *node, const qdq_plan *plan,
                     void **results, qdq_error *err) {
    qdq_exec *exec =
        qdq_exec_create(plan, &(qdq_exec_options){.allocator = draft->graph->allocator}, err);
    bool done = exec && bind_inputs(draft, node, exec, plan, err);
    for (size_t i = 0; done && i < node->output_count; i++) {
        const qdq_tensor_info *info = qdq_plan_output(plan, i);
        results[i] = qdq_pool_array(draft->pool, info->bytes, 1);
        done =
            results[i] && qdq_exec_bind(exec, info->name, results[i], info->bytes, err) == QDQ_OK;
    }
    if (done) qdq_exec_run(exec);
    qdq_exec_destroy(exec);
    return done;
}

// Where the node cannot be a graph of its own, or the limits are too small, it stays what it is.
// False when compiling cannot go on.
static bool run_node(qdq_draft *draft, const qdq_node *node) {
    const qdq_graph *graph = draft->graph;
    qdq_graph_options silent = {
        .allocator = graph->allocator, .limits = graph->limits, .target = graph->target};
    qdq_compile_options options = draft->options;
    options.fast = false;
    qdq_error err = {0};
    void *results[QDQ_MAX_OUTPUTS];
    qdq_graph *alone = qdq_graph_extract(graph, (size_t)(node - graph->nodes), &silent, &err);
    qdq_plan *plan = alone ? qdq_graph_compile(alone, &options, &err) : NULL;
    if (plan && run_exec(draft, node, plan, results, &err))
        for (size_t i = 0; i < node->output_count; i++)
            draft->values[node->outputs[i]].folded = results[i];
    qdq_plan_destroy(plan);
    qdq_graph_destroy(alone);
    if (err.status == QDQ_ERR_IO && graph->failure)
        qdq_fail(graph->failure, err.status, "%s", err.text);
    return err.status != QDQ_ERR_MEMORY && err.status != QDQ_ERR_IO && !draft->pool->failed;
}

// Whether the elements of a value are known, computed now if they have to be. False when compiling
// cannot go on.
static bool fold(qdq_draft *draft, uint32_t id, int depth, bool *known) {
    const qdq_graph_value *v = &draft->graph->values[id];
    qdq_draft_value *to = &draft->values[id];
    *known = false;
    if (to->type.dtype != v->type.dtype) return true;  // codes (graph/codes.c)
    *known = v->kind == QDQ_VALUE_CONSTANT || to->folded;
    if (*known || v->kind != QDQ_VALUE_MADE || !v->constant || depth == 0) return true;
    const qdq_node *node = &draft->graph->nodes[v->node];
    for (size_t i = 0; i < node->input_count; i++) {
        bool input;
        if (!node->inputs[i].id) continue;
        if (!fold(draft, node->inputs[i].id, depth - 1, &input)) return false;
        if (!input) return true;
    }
    if (!run_node(draft, node)) return false;
    *known = to->folded != NULL;
    return true;
}

//---- Inputs of nodes --------------------------------------------------------

// Whether an input is the plain formula on codes that the node can pack. False when compiling
// cannot go on.
static bool find_coded(qdq_draft *draft, size_t index, size_t input, qdq_coded *coded,
                       bool *found) {
    const qdq_graph *graph = draft->graph;
    const qdq_op *op = graph->nodes[index].op;
    const qdq_graph_value *v = &graph->values[graph->nodes[index].inputs[input].id];
    const qdq_node *maker = &graph->nodes[v->node];
    qdq_findings silent = {.pool = draft->pool};
    qdq_call call;
    *found = false;
    if (!op->packs_coded || !maker->op->coded || v->port != 0) return true;
    qdq_draft_call(draft, v->node, &silent, &call);
    for (size_t i = 0; i < maker->input_count; i++) {
        uint32_t id = maker->inputs[i].id;
        bool known;
        if (!id) continue;
        if (!fold(draft, id, MAX_DEPTH, &known)) return false;
        if (graph->values[id].kind == QDQ_VALUE_MADE)
            call.inputs[i].data = known ? draft->values[id].folded : NULL;
    }
    qdq_lowering to = qdq_draft_lowering(draft, &call, draft->pool);
    if (!maker->op->coded(&call, &to, coded)) return !draft->pool->failed;
    qdq_draft_call(draft, index, &silent, &call);
    call.inputs[input].coded = coded;
    *found = op->packs_coded(&call);
    return true;
}

// The node reads the codes in place of what is made of them.
static bool take_coded(qdq_draft *draft, size_t index, size_t input, const qdq_coded *coded) {
    qdq_draft_node *node = &draft->nodes[index];
    const qdq_graph *graph = draft->graph;
    size_t count = graph->nodes[index].input_count;
    qdq_value *inputs = qdq_pool_copy(draft->pool, node->inputs, count, sizeof *inputs);
    if (!inputs) return false;
    inputs[input] = graph->nodes[graph->values[inputs[input].id].node].inputs[0];
    node->inputs = inputs;
    node->known[input].coded = coded;
    return true;
}

// Codes that a node already computes on become constants where they can be.
static bool take_codes(qdq_draft *draft, size_t index, size_t input, const void *data) {
    qdq_draft_node *node = &draft->nodes[index];
    size_t count = draft->graph->nodes[index].input_count;
    qdq_codes *codes = qdq_pool_copy(draft->pool, node->codes, count, sizeof *codes);
    if (!codes) return false;
    codes[input].data = data;
    node->codes = codes;
    return true;
}

static bool fold_input(qdq_draft *draft, size_t index, size_t input, qdq_draft_known *known) {
    const qdq_codes *codes = draft->nodes[index].codes;
    uint32_t id = draft->nodes[index].inputs[input].id;
    const qdq_graph_value *v = &draft->graph->values[id];
    if (!id || v->kind != QDQ_VALUE_MADE || !v->constant) return true;
    bool on_codes = codes && codes[input].count, found = false;
    qdq_coded *coded = QDQ_POOL_NEW(draft->pool, qdq_coded);
    if (!coded || (!on_codes && !find_coded(draft, index, input, coded, &found))) return false;
    if (found) return take_coded(draft, index, input, coded);
    bool folded;
    if (!fold(draft, id, MAX_DEPTH, &folded)) return false;
    if (!folded) return true;
    known->data = draft->values[id].folded;
    return !on_codes || take_codes(draft, index, input, known->data);
}

bool qdq_draft_fold(qdq_draft *draft, size_t index) {
    const qdq_node *node = &draft->graph->nodes[index];
    const qdq_compile_options *o = &draft->options;
    if (o->materialize || o->float_storage != QDQ_FLOAT_DECLARED || !node->op->packs)
        return true;
    qdq_draft_known *known = qdq_pool_array(draft->pool, node->input_count, sizeof *known);
    if (!known) return false;
    draft->nodes[index].known = known;
    for (size_t i = 0; i < node->input_count; i++)
        if (node->op->packs >> i & 1 && !fold_input(draft, index, i, &known[i])) return false;
    return true;
}
