// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/quantize_report.h"

#include <qdq/inspect.h>
#include <stdio.h>
#include <string.h>

#include "tools/common.h"
#include "tools/findings.h"
#include "tools/lab/quantize/correct.h"
#include "tools/options.h"
#include "tools/options/quantize.h"

bool is_listed(const quantization *q, size_t node) { return q->fates[node] != NODE_OTHER; }

// Counts of used codings: of activations (a Quantize and a Dequantize each) and of constants.
typedef struct coding_counts {
    size_t pairs, constants;
} coding_counts;

// True if a value of the graph is read as codes: elements may also replace a constant, or be new.
static bool is_coded(const qdq_coding *coding) {
    bool read = coding->reader_count || coding->outputs;
    return read && coding->value.id && coding->attrs.dtype != QDQ_FLOAT32;
}

static coding_counts count_codings(const quantization *q) {
    coding_counts n = {0};
    for (size_t i = 0; i < q->list.count; i++)
        if (is_coded(&q->list.codings[i]))
            *(q->list.codings[i].codes ? &n.constants : &n.pairs) += 1;
    return n;
}

static const char *result_name(const quantization *q, size_t node) {
    return qdq_value_name(q->graph, qdq_graph_node_output(q->graph, node, 0));
}

static const noise *noise_of_node(const quantization *q, size_t node) {
    return noise_find(q->noises, q->noise_count, result_name(q, node));
}

// Finds the noise of an output. Outputs are behind the nodes in the list; any entry may be missing.
static const noise *noise_of_output(const quantization *q, const char *name) {
    for (size_t i = q->noise_count; i > 0; i--)
        if (strcmp(q->noises[i - 1].name, name) == 0) return &q->noises[i - 1];
    return NULL;
}

// Returns the option whose samples the ranges come from.
static const char *ranges_from(const quantization *q) {
    return q->own->state ? "--state" : q->opt->data.samples ? "--data" : "-i";
}

//---- Text -------------------------------------------------------------------

static void print_node(const quantization *q, size_t node) {
    qdq_node_info info = qdq_graph_node(q->graph, node);
    const char *reason = node_fate_text(q->fates[node]);
    bool same = strcmp(info.name, info.original) == 0;
    printf("  %s%s%s%s: %s%s%s", info.original, same ? "" : " (", same ? "" : info.name,
           same ? "" : ")", info.op, reason ? ", float: " : "", reason ? reason : "");
    noise_print(noise_of_node(q, node));
    printf("\n");
}

void quantization_text(const quantization *q) {
    size_t nodes = qdq_graph_node_count(q->graph), listed = 0, quantized = 0;
    for (size_t n = 0; n < nodes; n++) {
        listed += is_listed(q, n);
        quantized += q->fates[n] == NODE_QUANTIZED;
    }
    coding_counts n = count_codings(q);
    printf("%s for %s: %zu of %zu nodes on codes; %zu values and %zu constants quantized\n",
           q->opt->operands.items[0], q->target, quantized, listed, n.pairs, n.constants);
    if (!q->own->state)
        printf("ranges from the samples of %s, which measure the ratios too; for ratios of unseen "
               "samples calibrate others and give --state\n",
               ranges_from(q));
    equalization_text(&q->equalization, q->graph);
    for (size_t i = 0; i < nodes; i++)
        if (is_listed(q, i)) print_node(q, i);
    corrections_text(q);
    for (size_t i = 0; i < q->output_count; i++) {
        printf("output %s", q->outputs[i]);
        noise_print(noise_of_output(q, q->outputs[i]));
        noise_print_seed(q->opt);
        printf("\n");
    }
    aim_text(q);
    print_findings(stdout, q->report, NULL, q->opt->all ? LIST_ALL : LIST_BRIEFLY);
}

//---- JSON -------------------------------------------------------------------

static void json_node(qdq_json *json, const quantization *q, size_t node) {
    qdq_node_info info = qdq_graph_node(q->graph, node);
    const char *reason = node_fate_text(q->fates[node]);
    qdq_json_begin_object(json);
    json_string_key(json, "node", info.name);
    json_original(json, info.name, info.original);
    json_string_key(json, "op", info.op);
    qdq_json_key(json, "quantized");
    qdq_json_bool(json, !reason);
    if (reason) json_string_key(json, "reason", reason);
    noise_json(json, noise_of_node(q, node));
    qdq_json_end_object(json);
}

static void json_value(qdq_json *json, const quantization *q, const qdq_coding *coding) {
    const qdq_quantize_attrs *attrs = &coding->attrs;
    qdq_json_begin_object(json);
    const char *name = qdq_value_name(q->graph, coding->value);
    json_string_key(json, "value", name);
    json_original(json, name, qdq_value_original(q->graph, name));
    json_string_key(json, "dtype", qdq_dtype_name(attrs->dtype));
    qdq_json_key(json, "constant");
    qdq_json_bool(json, coding->codes != NULL);
    json_uint_key(json, "scales", attrs->scales.count);
    if (attrs->scales.count == 1) {
        qdq_json_key(json, "scale");
        qdq_json_float32(json, attrs->scales.data[0]);
        qdq_json_key(json, "zero_point");
        qdq_json_int(json, attrs->zps.count ? (int64_t)attrs->zps.data[0] : 0);
    }
    qdq_json_end_object(json);
}

static void json_outputs(qdq_json *json, const quantization *q) {
    qdq_json_key(json, "outputs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < q->output_count; i++) {
        qdq_json_begin_object(json);
        json_string_key(json, "name", q->outputs[i]);
        noise_json(json, noise_of_output(q, q->outputs[i]));
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}

void quantization_json(const quantization *q, bool writes) {
    qdq_json json;
    json_begin(&json);
    json_string_key(&json, "graph", q->opt->operands.items[0]);
    json_string_key(&json, "target", q->target);
    json_string_key(&json, "method", choose_method_names[q->choice.activations]);
    json_string_key(&json, "ranges_from", ranges_from(q));
    qdq_json_key(&json, "out");
    if (writes)
        qdq_json_string(&json, q->opt->outputs.items[0]);
    else
        qdq_json_null(&json);
    equalization_json(&json, &q->equalization, q->graph);
    qdq_json_key(&json, "nodes");
    qdq_json_begin_array(&json);
    for (size_t i = 0; i < qdq_graph_node_count(q->graph); i++)
        if (is_listed(q, i)) json_node(&json, q, i);
    qdq_json_end_array(&json);
    qdq_json_key(&json, "values");
    qdq_json_begin_array(&json);
    for (size_t i = 0; i < q->list.count; i++)
        if (is_coded(&q->list.codings[i])) json_value(&json, q, &q->list.codings[i]);
    qdq_json_end_array(&json);
    corrections_json(&json, q);
    json_outputs(&json, q);
    aim_json(&json, q);
    noise_json_seed(&json, q->opt);
    json_uint_key(&json, "errors", q->report->errors);
    qdq_json_key(&json, "findings");
    qdq_json_begin_array(&json);
    for (size_t i = 0; i < q->report->count; i++)
        json_finding(&json, q->target, &q->report->findings[i]);
    qdq_json_end_array(&json);
    json_end(&json);
}
