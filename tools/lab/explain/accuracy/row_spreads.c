// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/row_spreads.h"

#include "tools/lab/compare/spread.h"

static void json_spread_key(qdq_json *json, const char *key, const qdq_tensor_info *info,
                            const void *const *data, size_t sides) {
    spread s = measure_spread(info, data, sides);
    qdq_json_key(json, key);
    qdq_json_begin_object(json);
    json_spread(json, &s);
    qdq_json_end_object(json);
}

// Writes the histogram of the codes that a Dequantize reads, if the reference has them.
static void json_codes(qdq_json *json, const reference *ref, size_t node) {
    const qdq_graph *graph = ref->quantized->form.graph;
    qdq_value codes = qdq_graph_node_input(graph, node, 0);
    qdq_tensor_info info = {0};
    if (!is_op(ref->quantized, node, "Dequantize") ||
        !qdq_value_type(graph, codes, &info.dtype, &info.shape))
        return;
    const void *data = qdq_value_is_constant(graph, codes) ? qdq_value_data(graph, codes)
                                                           : reference_of(ref, codes);
    if (data) json_spread_key(json, "code_histogram", &info, &data, 1);
}

void json_row_spreads(qdq_json *json, const accuracy_forms *forms, const node_accuracy *row) {
    if (row->kind == KIND_GROUP) return;
    const reference *ref = row_reference(forms, row);
    const node_value *v = &ref->quantized->nodes[row->node].run.outputs[0];
    const void *sides[2] = {reference_of(ref, v->value), ref->exact[v->value.id]};
    if (sides[0] && sides[1]) json_spread_key(json, "histogram", &v->info, sides, 2);
    json_codes(json, ref, row->node);
}
