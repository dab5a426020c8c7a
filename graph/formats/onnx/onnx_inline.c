// SPDX-License-Identifier: Apache-2.0
// Replaces calls of a model's functions by their nodes, If by the branch that its constant
// condition chooses, and Constant by its value.
#include <string.h>

#include "graph/formats/onnx/onnx_scope.h"
#include "graph/formats/onnx/ops/onnx_ops.h"

enum { MOST_DEPTH = 32 };  // of calls and branches within each other

static qdq_status enter(qdq_onnx_scope *scope) {
    qdq_onnx_import *im = scope->im;
    if (im->depth >= MOST_DEPTH)
        return qdq_fail(im->err, QDQ_ERR_LIMIT,
                        "functions and branches are nested more than %d levels deep", MOST_DEPTH);
    scope->names = qdq_symbols_create(im->graph->allocator, im->err);
    if (!scope->names) return im->err->status;
    im->depth++;
    return QDQ_OK;
}

static void leave(qdq_onnx_scope *scope) {
    scope->im->depth--;
    qdq_symbols_destroy(scope->names);
}

// Binds the results of the scope to the outputs of the node that it stands for. A result that has
// no value is a finding, without which the outputs would have no type.
static void take_results(const qdq_onnx_scope *scope, qdq_onnx_node *node) {
    for (size_t i = 0; i < scope->results->count && i < node->output_count; i++) {
        qdq_onnx_value *value = NULL;
        if (qdq_onnx_scope_find(scope, scope->results->items[i], &value) && value)
            qdq_onnx_alias(node, i, value);
        else if (node->outputs[i])
            qdq_onnx_refuse(node, NULL,
                            ONNX_TEXT(node, "has the result '%.128s'", scope->results->items[i]),
                            "a value that the function or branch makes");
    }
}

static qdq_status run_function(qdq_onnx_scope *scope, qdq_onnx_node *node,
                               const qdq_onnx_function *function) {
    for (size_t i = 0; i < function->inputs.count; i++)
        if (!qdq_onnx_scope_add(scope, function->inputs.items[i], qdq_onnx_input(node, i)))
            return qdq_fail_memory(scope->im->err, 1);
    QDQ_TRY(qdq_onnx_add_nodes(scope, &function->nodes));
    take_results(scope, node);
    return QDQ_OK;
}

qdq_status qdq_onnx_inline_function(qdq_onnx_scope *scope, qdq_onnx_node *node,
                                    const qdq_onnx_function *function) {
    qdq_onnx_scope inner = {.im = scope->im,
                            .opsets = &function->opsets,
                            .caller = node,
                            .results = &function->outputs,
                            .function = function};
    QDQ_TRY(enter(&inner));
    qdq_status status = run_function(&inner, node, function);
    leave(&inner);
    return status;
}

static qdq_status run_branch(qdq_onnx_scope *scope, qdq_onnx_node *node,
                             const qdq_onnx_graph *branch) {
    QDQ_TRY(qdq_onnx_add_initializers(scope, branch));
    QDQ_TRY(qdq_onnx_add_nodes(scope, &branch->nodes));
    take_results(scope, node);
    return QDQ_OK;
}

qdq_status qdq_onnx_inline_branch(qdq_onnx_scope *scope, qdq_onnx_node *node,
                                  const qdq_onnx_graph *branch) {
    qdq_onnx_strings results = {0};
    results.items =
        qdq_mempool_array(scope->im->mempool, branch->outputs.count, sizeof *results.items);
    if (!results.items) return qdq_fail_memory(scope->im->err, branch->outputs.count);
    for (size_t i = 0; i < branch->outputs.count; i++)
        results.items[results.count++] = branch->outputs.items[i].name;
    qdq_onnx_scope inner = {.im = scope->im,
                            .outer = scope,
                            .opsets = scope->opsets,
                            .caller = node,
                            .results = &results};
    QDQ_TRY(enter(&inner));
    qdq_status status = run_branch(&inner, node, branch);
    leave(&inner);
    return status;
}

qdq_status qdq_onnx_convert_if(qdq_onnx_scope *scope, qdq_onnx_node *node) {
    qdq_onnx_value *condition = qdq_onnx_input(node, 0);
    if (condition && condition->elem == ONNX_UNDEFINED) return QDQ_OK;  // its maker was refused
    if (!condition || qdq_onnx_count(condition->shape) != 1 ||
        !qdq_onnx_known(node->im, condition)) {
        qdq_onnx_refuse(node, NULL, "has a condition that depends on inputs",
                        "a constant, which chooses one branch for good");
        return node->im->err->status;
    }
    const char *name = qdq_onnx_int_at(condition, 0) ? "then_branch" : "else_branch";
    const qdq_onnx_attr *attr = qdq_onnx_attr_find(node, name);
    if (attr && attr->g) return qdq_onnx_inline_branch(scope, node, attr->g);
    qdq_onnx_refuse(node, name, "is missing", "a graph");
    return QDQ_OK;
}

//---- Constant ---------------------------------------------------------------

static void bind_list(qdq_onnx_node *node, int elem, size_t count, const int64_t *ints,
                      const float *floats) {
    qdq_shape shape = {1, {(int64_t)count}};
    double *reals = NULL;
    if (floats) {
        reals = qdq_mempool_array(node->im->mempool, count, sizeof *reals);
        for (size_t i = 0; reals && i < count; i++) reals[i] = (double)floats[i];
        if (!reals) return;
    }
    // An empty list has no items, and is known nevertheless.
    static const int64_t none = 0;
    if (!floats && !ints) ints = &none;
    qdq_onnx_bind_numbers(node, 0, elem, shape, floats ? NULL : ints, reals);
}

static void bind_tensor(qdq_onnx_node *node, const qdq_onnx_tensor *tensor) {
    qdq_onnx_value *out = node->output_count ? node->outputs[0] : NULL;
    if (!out) return;
    out->why_not = qdq_onnx_tensor_shape(node->im, tensor, &out->shape);
    if (!out->why_not) out->elem = tensor->elem, out->tensor = tensor;
}

void qdq_onnx_convert_constant(qdq_onnx_node *node) {
    for (size_t i = 0; i < node->attr_count; i++) {
        const qdq_onnx_attr *attr = &node->attrs[i];
        if (strcmp(attr->name, "value") == 0 && attr->t) {
            bind_tensor(node, attr->t);
        } else if (strcmp(attr->name, "value_float") == 0) {
            bind_list(node, ONNX_FLOAT, 1, NULL, &attr->f);
            if (node->output_count && node->outputs[0]) node->outputs[0]->shape.rank = 0;
        } else if (strcmp(attr->name, "value_int") == 0) {
            bind_list(node, ONNX_INT64, 1, &attr->i, NULL);
            if (node->output_count && node->outputs[0]) node->outputs[0]->shape.rank = 0;
        } else if (strcmp(attr->name, "value_floats") == 0) {
            static const float none = 0;
            bind_list(node, ONNX_FLOAT, attr->floats.count, NULL,
                      attr->floats.items ? attr->floats.items : &none);
        } else if (strcmp(attr->name, "value_ints") == 0) {
            bind_list(node, ONNX_INT64, attr->ints.count, attr->ints.items, NULL);
        } else {
            qdq_onnx_refuse(node, attr->name, "is no tensor of numbers", NULL);
        }
        return;
    }
    qdq_onnx_refuse(node, "value", "is missing", "a tensor or numbers");
}
