// SPDX-License-Identifier: Apache-2.0
// Describes the steps of a plan as text: the chain of each step, and how it runs.
#include "graph/compile/plan_text.h"

#include <stdio.h>
#include <string.h>

#include "include/qdq/ops/quantize.h"
#include "runtime/base/posix.h"
#include "runtime/base/utf8.h"

enum { MOST_SHOWN = 64 };  // longest name, in bytes, that a line shows

typedef struct line {
    char text[512];
    size_t at;
} line;

static void append(line *l, const char *arrow, const char *op, const char *name) {
    if (l->at + 1 >= sizeof l->text) return;
    int shown = (int)qdq_utf8_valid(name, strnlen(name, MOST_SHOWN));
    int n = snprintf(l->text + l->at, sizeof l->text - l->at, "%s%s%s%.*s", arrow, op,
                     *op ? " " : "", shown, name);
    l->at += n > 0 ? (size_t)n : 0;
}

// Appends " (per_channel 0)" or " (per_group [1, 32])" to a node whose qtype was inferred.
static void append_node(line *l, const qdq_node *node) {
    const qdq_quantize_attrs *attrs = node->attrs;
    char text[256];
    int n = 0;
    append(l, " -> ", node->op->name, node->name);
    if (!node->inferred) return;
    if (attrs->qtype == QDQ_PER_CHANNEL)
        n = snprintf(text, sizeof text, "per_channel %lld", (long long)attrs->axis.value);
    else
        n = snprintf(text, sizeof text, "per_group [");
    for (size_t i = 0; attrs->qtype == QDQ_PER_GROUP && i < attrs->group_shape.count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld", i ? ", " : "",
                      (long long)attrs->group_shape.data[i]);
    append(l, " (", "", text);
    append(l, "", "", attrs->qtype == QDQ_PER_GROUP ? "])" : ")");
}

// Returns the word for storing an output. Strips that stream, and the chunks of a tensor op, are
// rows.
static const char *to_caller(const qdq_draft *of, const qdq_draft_step *draft,
                             const qdq_plan_step *info) {
    return of->storage.tiled && !info->streamed && !draft->tensor_op_node ? "untilize" : "output";
}

// Appends " on codes of b" for weight codes, or " on folded b" for an input computed while
// compiling.
static void describe_known(const qdq_draft *of, const qdq_draft_step *draft, line *l) {
    const qdq_node *node = draft->tensor_op_node;
    const qdq_draft_node *known = &of->nodes[node - of->graph->nodes];
    for (size_t i = 0; i < node->input_count; i++)
        if (qdq_draft_is_known(known, i))
            append(l, " on ", known->known[i].weight_codes ? "codes of" : "folded",
                   qdq_op_port(node->op, i)->name);
}

// Writes "x, weights -> MatMul m -> output y". "on codes" means that x and weights are the
// quantized values, not the node's own dequantized inputs.
static void describe_tensor_op(const qdq_draft *of, const qdq_draft_step *draft,
                               const qdq_tensor_op *tensor_op, line *l, qdq_plan_step *info) {
    const qdq_graph *graph = of->graph;
    const qdq_node *node = draft->tensor_op_node;
    for (size_t i = 0; i < tensor_op->x_count; i++) {
        if (draft->tensor_op_inputs[i].id)
            append(l, l->at ? ", " : "", "", graph->values[draft->tensor_op_inputs[i].id].name);
    }
    append_node(l, node);
    if (draft->on_integers) append(l, " ", "", "on codes");
    info->on_integers = draft->on_integers;
    if (tensor_op->x_count) info->operand = graph->values[draft->tensor_op_inputs[0].id].type.dtype;
    info->scales_later = draft->tensor_op->scales_later;
    info->winograd = draft->tensor_op->winograd;
    bool other = info->on_integers || info->scales_later || info->winograd;
    info->node = other ? (size_t)(node - graph->nodes) : 0;
    if (info->winograd) append(l, " ", "", "by Winograd");
    describe_known(of, draft, l);
    if (info->scales_later) append(l, ", ", "", "scaled later");
    for (size_t i = 0; i < tensor_op->y_count; i++) {
        if (tensor_op->y[i].place.kind == QDQ_PLACE_OUTPUT)
            append(l, " -> ", "output", graph->outputs[tensor_op->y[i].place.at].name);
    }
    info->blocks = tensor_op->units;
    info->scratch_bytes = tensor_op->flat_bytes;
}

static void describe_links(const qdq_draft *of, const qdq_draft_step *draft, const qdq_step *step,
                           const qdq_plan_step *info, line *l) {
    const qdq_graph *graph = of->graph;
    for (size_t i = 0; i < step->link_count; i++) {
        const qdq_draft_link *from = &draft->links[i];
        const qdq_link *link = &step->links[i];
        if (from->node)
            append_node(l, from->node);
        else if (from->output != SIZE_MAX)
            append(l, " -> ", to_caller(of, draft, info), graph->outputs[from->output].name);
        else if (!info->streamed)
            append(l, " -> ", "tilize", graph->values[draft->x].name);
        if (link->store.kind == QDQ_PLACE_OUTPUT && from->node)
            append(l, " -> ", to_caller(of, draft, info), graph->outputs[link->store.at].name);
    }
}

static void describe_apart(const qdq_draft *of, const qdq_draft_step *draft, qdq_plan_step *info) {
    static const struct {
        const char *name, *text;
    } reasons[] = {
#define REASON(reason, name, text) {name, text},
        QDQ_APART_REASONS(REASON)
#undef REASON
    };
    if (!draft->apart) return;
    info->apart = reasons[draft->apart].name;
    info->apart_text = reasons[draft->apart].text;
    info->apart_from =
        qdq_mempool_strdup(of->plan_mempool, of->graph->values[draft->apart_from].name);
}

void qdq_describe_step(const qdq_draft *of, const qdq_draft_step *draft, const qdq_step *step,
                       qdq_plan_step *info) {
    line l = {.at = 0};
    info->shape = qdq_step_shape_name(step->shape);
    if (step->tensor_op) {
        describe_tensor_op(of, draft, step->tensor_op, &l, info);
    } else {
        append(&l, "", "", of->graph->values[draft->x].name);
        info->tiled = step->tiled;
        info->blocks = step->blocks;
    }
    describe_links(of, draft, step, info, &l);
    describe_apart(of, draft, info);
    if (draft->reduce_node) append(&l, " -> ", "parameters of", draft->reduce_node->name);
    l.text[qdq_utf8_valid(l.text, strlen(l.text))] =
        '\0';  // drops a character that was cut in half
    info->text = qdq_mempool_strdup(of->plan_mempool, l.text);
}
