// SPDX-License-Identifier: Apache-2.0
#include "tools/html/bits_json.h"

#include <stdlib.h>
#include <string.h>

#include "tools/check/bits.h"
#include "tools/check/evidence_json.h"
#include "tools/common.h"

// Orders two nodes by all that a group shares.
static int compare_groups(const qdq_node_bits *a, const qdq_node_bits *b) {
    int order = strcmp(a->op, b->op);
    if (!order) order = (int)a->bits - (int)b->bits;
    if (!order) order = (int)a->from_same_inputs - (int)b->from_same_inputs;
    if (!order) order = strcmp(a->rule, b->rule);
    if (!order && a->evidence != b->evidence) order = a->evidence < b->evidence ? -1 : 1;
    return order;
}

// Orders nodes of a group as the target runs them.
static int compare_nodes(const void *a, const void *b) {
    const qdq_node_bits *x = *(const qdq_node_bits *const *)a,
                        *y = *(const qdq_node_bits *const *)b;
    int order = compare_groups(x, y);
    return order ? order : x < y ? -1 : x > y;
}

// Writes the group that begins at `nodes`, and returns its number of nodes.
static size_t json_group(qdq_json *json, const qdq_node_bits *const *nodes, size_t count) {
    const qdq_node_bits *first = nodes[0];
    size_t n = 0;
    qdq_json_begin_object(json);
    json_string_key(json, "op", first->op);
    json_string_key(json, "bits", bits_word(first->bits));
    qdq_json_key(json, "from_same_inputs");
    qdq_json_bool(json, first->from_same_inputs);
    json_string_key(json, "rule", first->rule);
    if (first->evidence) {
        qdq_json_key(json, "evidence");
        json_evidence(json, *first->evidence);
    }
    qdq_json_key(json, "nodes");
    qdq_json_begin_array(json);
    for (; n < count && compare_groups(first, nodes[n]) == 0; n++)
        qdq_json_string(json, nodes[n]->node);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
    return n;
}

bool html_bits(qdq_json *json, const qdq_report *report) {
    size_t count = report->node_count;
    const qdq_node_bits **nodes = malloc((count + 1) * sizeof(qdq_node_bits *));
    if (!nodes) return false;
    for (size_t i = 0; i < count; i++) nodes[i] = &report->nodes[i];
    qsort(nodes, count, sizeof(qdq_node_bits *), compare_nodes);
    qdq_json_key(json, "bits");
    qdq_json_begin_object(json);
    for (int bits = QDQ_BITS_EXACT; bits >= QDQ_BITS_UNKNOWN; bits--)
        json_uint_key(json, bits_word((qdq_bits)bits), report->nodes_with[bits]);
    qdq_json_key(json, "groups");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < count;) i += json_group(json, nodes + i, count - i);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
    free(nodes);
    return true;
}
