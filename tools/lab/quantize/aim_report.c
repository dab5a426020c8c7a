// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <qdq/inspect.h>

#include "tools/common.h"
#include "tools/lab/quantize/quantize_report.h"
#include "tools/shell_word.h"

static const char *node_name(const quantization *q, size_t node) {
    return qdq_graph_node(q->graph, node).name;
}

//---- Text -------------------------------------------------------------------

// Prints all nodes in float as the words of a command line.
static void print_kept(const quantization *q) {
    const verdict *v = &q->aim.result.verdict;
    size_t kept = 0;
    for (size_t n = 0; n < qdq_graph_node_count(q->graph); n++) {
        if (!q->kept[n]) continue;
        printf(kept++ ? " --keep " : "--keep ");
        print_shell_word(stdout, node_name(q, n));
    }
    if (!kept) printf("no product in float");
    if (isinf(v->decibels) && v->decibels > 0)
        printf(": no element differs");
    else
        printf(": %.1f dB", v->decibels);
    printf(" on target %s", q->target);
    noise_print_seed(q->opt);
    printf("\n");
}

void aim_text(const quantization *q) {
    const aim *a = &q->aim;
    if (!a->result.verdict.samples) return;
    if (a->found) print_kept(q);
    if (a->labels.word) label_counts_text(&a->result.counts);
}

//---- JSON -------------------------------------------------------------------

static void json_decibels(qdq_json *json, const char *key, double decibels) {
    qdq_json_key(json, key);
    if (isinf(decibels))
        qdq_json_null(json);
    else
        qdq_json_double(json, decibels);
}

static void json_search(qdq_json *json, const quantization *q) {
    const aim *a = &q->aim;
    qdq_json_key(json, "kept_for");
    qdq_json_begin_array(json);
    for (size_t n = 0; n < qdq_graph_node_count(q->graph); n++)
        if (a->found[n]) qdq_json_string(json, node_name(q, n));
    qdq_json_end_array(json);
    json_uint_key(json, "trials", 1 + a->ranked + a->searched);
    qdq_json_key(json, "ranking");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < a->ranked; i++) {
        qdq_json_begin_object(json);
        json_string_key(json, "node", node_name(q, a->ranking[i].node));
        json_original(json, node_name(q, a->ranking[i].node),
                      qdq_graph_node(q->graph, a->ranking[i].node).original);
        json_decibels(json, "effect", a->ranking[i].effect);
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

void aim_json(qdq_json *json, const quantization *q) {
    const aim *a = &q->aim;
    if (a->found) json_search(json, q);
    if (!a->result.verdict.samples) return;
    json_decibels(json, "deployed", a->result.verdict.decibels);
    if (a->labels.word)
        label_counts_json(json, a->trials.outputs[a->labels.output].name, &a->result.counts);
}
