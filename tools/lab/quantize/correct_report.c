// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <math.h>
#include <qdq/inspect.h>
#include <stdio.h>

#include "tools/common.h"
#include "tools/lab/dataset/state_report.h"
#include "tools/lab/quantize/correct.h"
#include "tools/lab/quantize/correct_fit.h"

static const char *name_of(const quantization *q, size_t node) {
    return qdq_graph_node(q->graph, node).original;
}

//---- Text -------------------------------------------------------------------

static void print_taken(const quantization *q, const correction *c) {
    if (c->products > 1)
        printf("  %s to %s, %zu products: ", name_of(q, c->node), name_of(q, c->last), c->products);
    else
        printf("  %s: ", name_of(q, c->node));
    if (c->rounding)
        printf("%zu of %zu weights rounded the other way", c->changed, c->count);
    else
        printf("bias%s corrected", c->products > 1 ? "es" : "");
    printf(", %.1f -> %.1f dB\n", c->before, c->after);
}

static void print_skipped(const quantization *q, const not_rounded *s) {
    printf("  %s: weights not rounded again: ", name_of(q, s->node));
    if (s->shared)
        printf("other products read them\n");
    else if (s->depth > MOST_DEPTH)
        printf("%zu inputs of a sum, wanted at most %d\n", s->depth, MOST_DEPTH);
    else
        printf("second moments of %zu bytes do not fit within --max-bytes\n", s->bytes);
}

void corrections_text(const quantization *q) {
    const corrections *c = q->corrections;
    if (!c) return;
    printf(
        "corrected: %zu taken, %zu not, %.1f -> %.1f dB in the median of %zu samples; %zu others "
        "fitted\n",
        c->count, c->refused, c->before, c->after, c->judges, c->fits);
    for (size_t i = 0; i < c->count; i++) print_taken(q, &c->taken[i]);
    for (size_t i = 0; i < c->skipped_count; i++) print_skipped(q, &c->skipped[i]);
}

//---- JSON -------------------------------------------------------------------

static void json_node(qdq_json *json, const quantization *q, size_t node) {
    qdq_node_info info = qdq_graph_node(q->graph, node);
    json_string_key(json, "node", info.name);
    json_original(json, info.name, info.original);
}

static void json_taken(qdq_json *json, const quantization *q, const correction *c) {
    qdq_json_begin_object(json);
    json_node(json, q, c->node);
    json_string_key(json, "last", qdq_graph_node(q->graph, c->last).name);
    json_uint_key(json, "products", c->products);
    json_string_key(json, "what", c->rounding ? "weights" : "bias");
    if (c->rounding) {
        json_uint_key(json, "changed", c->changed);
        json_uint_key(json, "weights", c->count);
    }
    json_ratio_key(json, "before", c->before);
    json_ratio_key(json, "after", c->after);
    qdq_json_end_object(json);
}

static void json_skipped(qdq_json *json, const quantization *q, const not_rounded *s) {
    qdq_json_begin_object(json);
    json_node(json, q, s->node);
    json_string_key(json, "reason",
                    s->shared               ? "shared"
                    : s->depth > MOST_DEPTH ? "depth"
                                            : "memory");
    json_uint_key(json, "depth", s->depth);
    json_uint_key(json, "bytes", s->bytes);
    qdq_json_end_object(json);
}

void corrections_json(qdq_json *json, const quantization *q) {
    const corrections *c = q->corrections;
    if (!c) return;
    qdq_json_key(json, "corrected");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < c->count; i++) json_taken(json, q, &c->taken[i]);
    qdq_json_end_array(json);
    json_uint_key(json, "not_corrected", c->refused);
    qdq_json_key(json, "not_rounded");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < c->skipped_count; i++) json_skipped(json, q, &c->skipped[i]);
    qdq_json_end_array(json);
    json_uint_key(json, "fitted_samples", c->fits);
    json_uint_key(json, "judged_samples", c->judges);
    json_ratio_key(json, "median_before", c->before);
    json_ratio_key(json, "median_after", c->after);
}
