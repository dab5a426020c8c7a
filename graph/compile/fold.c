// SPDX-License-Identifier: Apache-2.0
// Constant folding: runs nodes whose inputs are constants while compiling, if another node packs
// their result (`packs`). If the op can pack weight codes directly, they stay codes.
//
// An op names the inputs that it packs (`packs`). For each, the nodes that compute it from
// constants are extracted (qdq_graph_extract), compiled and run once. A Dequantize by the plain
// formula (`weight_codes`) stays as codes if the op can pack codes (`packs_weight_codes`). A stage
// does not read the inputs it has packed (`packed`), so the plan keeps no second copy;
// `constant_bytes` counts the packed form. A small constant that is dequantized becomes a constant
// of the plan, which all of its readers read. Folding has a budget (`operations_left`): a node that
// exceeds it runs at run time.
#include <string.h>

#include "graph/compile/lower.h"
#include "graph/core/copy.h"
#include "runtime/numerics/dtype.h"

enum { MAX_DEPTH = 32 };  // nodes in a chain that computes one constant

//---- Running a node ---------------------------------------------------------

// Binds each input of the extracted one-node graph to its elements. Constants are part of the
// graph, and a value that is read twice is bound once.
static bool bind_inputs(const qdq_draft *draft, const qdq_node *node, qdq_exec *exec,
                        const qdq_plan *plan, qdq_error *err) {
    const size_t *first = qdq_first_reads(draft->mempool, node);
    size_t count = 0;
    for (size_t i = 0; first && i < node->input_count; i++) {
        uint32_t id = node->inputs[i].id;
        if (!id || draft->graph->values[id].kind == QDQ_VALUE_CONSTANT || first[i] < i) continue;
        const qdq_tensor_info *info = qdq_plan_input(plan, count++);
        if (qdq_exec_bind(exec, info->name, (void *)draft->values[id].folded, info->bytes, err) !=
            QDQ_OK)
            return false;
    }
    return first != NULL;
}

// Runs the plan of `node`; results[i] receives the elements of output i.
static bool run_exec(const qdq_draft *draft, const qdq_node *node, const qdq_plan *plan,
                     void **results, qdq_error *err) {
    qdq_exec *exec =
        qdq_exec_create(plan, &(qdq_exec_options){.allocator = &draft->budget->allocator}, err);
    bool done = exec && bind_inputs(draft, node, exec, plan, err);
    for (size_t i = 0; done && i < node->output_count; i++) {
        const qdq_tensor_info *info = qdq_plan_output(plan, i);
        results[i] = qdq_mempool_array(draft->mempool, info->bytes, 1);
        done =
            results[i] && qdq_exec_bind(exec, info->name, results[i], info->bytes, err) == QDQ_OK;
    }
    if (done) qdq_exec_run(exec);
    qdq_exec_destroy(exec);
    return done;
}

static size_t bytes_of(const qdq_draft *draft, uint32_t id) {
    const qdq_type *type = &draft->graph->values[id].type;
    return qdq_shape_count(type->shape) * qdq_dtype_size(type->dtype);
}

// True if memory limits allow folding: the operands are copied twice, into a graph and a plan; the
// results once, out of the exec.
static bool has_room(const qdq_draft *draft, const qdq_node *node) {
    enum { COPIES = 3 };
    size_t left = draft->budget->left / COPIES;
    for (size_t i = 0; i < node->input_count + node->output_count; i++) {
        uint32_t id =
            i < node->input_count ? node->inputs[i].id : node->outputs[i - node->input_count];
        size_t bytes = id ? bytes_of(draft, id) : 0;
        if (bytes > left) return false;
        left -= bytes;
    }
    return true;
}

// Compiles a graph of this node alone. NULL if the node cannot be extracted or the limits are too
// small.
static qdq_plan *plan_node(const qdq_draft *draft, const qdq_node *node, qdq_error *err) {
    const qdq_graph *graph = draft->graph;
    qdq_graph_options silent = {
        .allocator = &draft->budget->allocator, .limits = graph->limits, .target = graph->target};
    qdq_compile_options options = draft->options;
    options.fast = options.materialize = options.keep_all = false;
    options.layout = QDQ_PLAN_ROWS;
    options.keep = NULL, options.keep_count = 0;
    qdq_graph *alone = qdq_graph_extract(graph, (size_t)(node - graph->nodes), &silent, err);
    qdq_plan *plan = alone ? qdq_graph_compile(alone, &options, err) : NULL;
    qdq_graph_destroy(alone);
    return plan;
}

// Runs a node now, unless it exceeds the budget of operations. False if compiling cannot go on.
static bool run_node(qdq_draft *draft, const qdq_node *node) {
    qdq_error err = {0};
    void *results[QDQ_MAX_OUTPUTS];
    qdq_plan *plan = has_room(draft, node) ? plan_node(draft, node, &err) : NULL;
    bool runs = plan && plan->stats.operations <= draft->operations_left;
    if (runs) draft->operations_left -= plan->stats.operations;
    runs = runs && run_exec(draft, node, plan, results, &err);
    for (size_t i = 0; i < node->output_count; i++) {
        qdq_draft_value *v = &draft->values[node->outputs[i]];
        v->folded = runs ? results[i] : NULL;
        v->left = !runs;
    }
    qdq_plan_destroy(plan);
    if (err.status == QDQ_ERR_IO && draft->graph->failure)
        qdq_fail(draft->graph->failure, err.status, "%s", err.text);
    return err.status != QDQ_ERR_MEMORY && err.status != QDQ_ERR_IO && !draft->mempool->failed;
}

// Sets *known to true if the elements of a value are known, after computing them if possible. False
// if compiling cannot go on.
static bool fold(qdq_draft *draft, uint32_t id, int depth, bool *known) {
    const qdq_graph_value *v = &draft->graph->values[id];
    qdq_draft_value *to = &draft->values[id];
    *known = false;
    if (to->type.dtype != v->type.dtype)
        return true;  // read as quantized (graph/compile/integer_execution.c)
    *known = v->kind == QDQ_VALUE_CONSTANT || to->folded;
    if (*known || to->left || v->kind != QDQ_VALUE_MADE || !v->constant || depth == 0) return true;
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

// Finds the codes of a value that dequantizes constant codes by the plain formula. Every reader of
// the value shares the answer. False if compiling cannot go on.
static bool find_weight_codes(qdq_draft *draft, uint32_t id) {
    const qdq_graph *graph = draft->graph;
    const qdq_node *maker = &graph->nodes[graph->values[id].node];
    const qdq_op_fusion *fusion = qdq_fusion_of(maker->op);
    qdq_findings silent = {.mempool = draft->mempool};
    qdq_op_context ctx;
    if (draft->values[id].asked || !fusion->weight_codes || graph->values[id].port != 0)
        return true;
    draft->values[id].asked = true;
    qdq_draft_context(draft, graph->values[id].node, &silent, &ctx);
    for (size_t i = 0; i < maker->input_count; i++) {
        uint32_t input = maker->inputs[i].id;
        bool known;
        if (!input) continue;
        if (!fold(draft, input, MAX_DEPTH, &known)) return false;
        if (graph->values[input].kind == QDQ_VALUE_MADE)
            ctx.inputs[i].data = known ? draft->values[input].folded : NULL;
    }
    qdq_lowering to = qdq_draft_lowering(draft, &ctx, draft->mempool);
    qdq_weight_codes *weight_codes = QDQ_MEMPOOL_NEW(draft->mempool, qdq_weight_codes);
    if (weight_codes && fusion->weight_codes(&ctx, &to, weight_codes))
        draft->values[id].weight_codes = weight_codes;
    return !draft->mempool->failed;
}

// True if the node can pack the weight codes of an input.
static bool packs_weight_codes(const qdq_draft *draft, size_t index, size_t input,
                               const qdq_weight_codes *weight_codes) {
    const qdq_op_fusion *fusion = qdq_fusion_of(draft->graph->nodes[index].op);
    if (!fusion->packs_weight_codes) return false;
    qdq_findings silent = {.mempool = draft->mempool};
    qdq_op_context ctx;
    qdq_draft_context(draft, index, &silent, &ctx);
    ctx.inputs[input].weight_codes = weight_codes;
    return fusion->packs_weight_codes(&ctx);
}

// Makes the node read the codes instead of the dequantized value.
static bool take_weight_codes(qdq_draft *draft, size_t index, size_t input,
                              const qdq_weight_codes *weight_codes) {
    qdq_draft_node *node = &draft->nodes[index];
    const qdq_graph *graph = draft->graph;
    size_t count = graph->nodes[index].input_count;
    qdq_value *inputs = qdq_mempool_copy(draft->mempool, node->inputs, count, sizeof *inputs);
    if (!inputs) return false;
    inputs[input] = graph->nodes[graph->values[inputs[input].id].node].inputs[0];
    node->inputs = inputs;
    node->known[input].weight_codes = weight_codes;
    return true;
}

// Records that an input which the node reads quantized is a constant.
static bool take_quantized(qdq_draft *draft, size_t index, size_t input, const void *data) {
    qdq_draft_node *node = &draft->nodes[index];
    size_t count = draft->graph->nodes[index].input_count;
    qdq_quantized *quantized =
        qdq_mempool_copy(draft->mempool, node->quantized, count, sizeof *quantized);
    if (!quantized) return false;
    quantized[input].data = data;
    node->quantized = quantized;
    return true;
}

static bool fold_input(qdq_draft *draft, size_t index, size_t input, qdq_draft_known *known) {
    const qdq_quantized *quantized = draft->nodes[index].quantized;
    uint32_t id = draft->nodes[index].inputs[input].id;
    const qdq_graph_value *v = &draft->graph->values[id];
    if (!id || v->kind != QDQ_VALUE_MADE || !v->constant) return true;
    bool on_integers = quantized && quantized[input].count, folded;
    if (!on_integers && qdq_fusion_of(draft->graph->nodes[index].op)->packs_weight_codes) {
        if (!find_weight_codes(draft, id)) return false;
        const qdq_weight_codes *weight_codes = draft->values[id].weight_codes;
        if (weight_codes && packs_weight_codes(draft, index, input, weight_codes))
            return take_weight_codes(draft, index, input, weight_codes);
    }
    if (!fold(draft, id, MAX_DEPTH, &folded)) return false;
    if (!folded) return true;
    known->data = draft->values[id].folded;
    return !on_integers || take_quantized(draft, index, input, known->data);
}

// Computes an input that dequantizes a small constant, such as a bias, once instead of in each run.
// Large constants would take memory, and other nodes may compute on integers if `fast`.
static bool fold_small(qdq_draft *draft, uint32_t id) {
    enum { MOST_ELEMENTS = 4096 };
    const qdq_graph_value *v = &draft->graph->values[id];
    if (!id || v->kind != QDQ_VALUE_MADE || !v->constant || draft->values[id].live ||
        !qdq_fusion_of(draft->graph->nodes[v->node].op)->quantized_input ||
        qdq_shape_count(v->type.shape) > MOST_ELEMENTS)
        return true;
    return fold(draft, id, 1, &draft->values[id].is_constant);
}

bool qdq_draft_fold(qdq_draft *draft, size_t index) {
    const qdq_node *node = &draft->graph->nodes[index];
    uint64_t packs = qdq_fusion_of(node->op)->packs;
    if (draft->storage.node_by_node || draft->options.float_storage != QDQ_FLOAT_DECLARED)
        return true;
    for (size_t i = 0; i < node->input_count; i++)
        if (!qdq_ports_have(node->op, packs, i) &&
            !fold_small(draft, draft->nodes[index].inputs[i].id))
            return false;
    if (!packs) return true;
    qdq_draft_known *known = qdq_mempool_array(draft->mempool, node->input_count, sizeof *known);
    if (!known) return false;
    draft->nodes[index].known = known;
    for (size_t i = 0; i < node->input_count; i++)
        if (qdq_ports_have(node->op, packs, i) && !fold_input(draft, index, i, &known[i]))
            return false;
    return true;
}
