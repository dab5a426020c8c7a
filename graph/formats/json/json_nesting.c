// SPDX-License-Identifier: Apache-2.0
// Reads the blocks of a quantizing node from its attributes in a file: nested scales may give the
// group_shape, and lists are nested as the block grid is.
#include "graph/formats/json/json_nesting.h"

#include <string.h>

#include "ops/quantize/quant_params.h"

static const qdq_attr_desc *attr_called(const qdq_op *op, const char *name) {
    for (size_t i = 0; i < op->attr_count; i++)
        if (strcmp(op->attrs[i].name, name) == 0) return &op->attrs[i];
    return NULL;
}

//---- Shapes -----------------------------------------------------------------

static bool fits(const qdq_json_item *json, const qdq_shape *shape, int depth) {
    if (depth == shape->rank) return !qdq_json_is_array(json);
    if (!qdq_json_is_array(json) || (int64_t)qdq_json_count(json) != shape->dims[depth])
        return false;
    QDQ_JSON_EACH(child, json) if (!fits(child, shape, depth + 1)) return false;
    return true;
}

// Finds the shape of nested lists. False if lists at one depth differ in length, or for more than 8
// dims.
static bool nested_shape(const qdq_json_item *json, qdq_shape *shape) {
    *shape = (qdq_shape){0};
    for (const qdq_json_item *at = json; at && qdq_json_is_array(at); at = qdq_json_first(at)) {
        if (shape->rank == QDQ_MAX_RANK) return false;
        shape->dims[shape->rank++] = (int64_t)qdq_json_count(at);
    }
    return fits(json, shape, 0);
}

// Finds the block grid of x. False for a node without blocks, or with errors that other checks
// report.
static bool block_grid(const qdq_graph *graph, const qdq_op *op, const char *fields,
                       qdq_shape *grid) {
    const qdq_attr_desc *attr = attr_called(op, "group_shape");
    qdq_dtype dtype;
    qdq_value x;
    qdq_ints groups;
    if (!attr) return false;
    memcpy(&groups, fields + attr->offset, sizeof groups);
    memcpy(&x, fields + op->inputs[0].offset, sizeof x);
    if (!groups.data || !qdq_value_type(graph, x, &dtype, grid) ||
        groups.count != (size_t)grid->rank)
        return false;
    for (int i = 0; i < grid->rank; i++) {
        int64_t extent = groups.data[i] == -1 ? grid->dims[i] : groups.data[i];
        if (extent < 1) return false;
        grid->dims[i] = (grid->dims[i] - 1) / extent + 1;
    }
    return true;
}

//---- Blocks of a nested scale -----------------------------------------------

// True if `attrs` has the attribute, other than null.
static bool is_given(const qdq_json_item *attrs, const char *name) {
    const qdq_json_item *json = qdq_json_find(attrs, name);
    return json && !qdq_json_is_null(json);
}

void qdq_json_infer_blocks(const qdq_graph *graph, qdq_mempool *mempool, const qdq_op *op,
                           const qdq_json_item *attrs, char *fields) {
    const qdq_attr_desc *group_shape = attr_called(op, "group_shape");
    const qdq_json_item *scales = qdq_json_find(attrs, "scales");
    int64_t extents[QDQ_MAX_RANK];
    qdq_shape x, scale;
    qdq_dtype dtype;
    qdq_value of_x;
    if (!group_shape || !scales || !nested_shape(scales, &scale)) return;
    if (is_given(attrs, "qtype") || is_given(attrs, "axis") || is_given(attrs, "group_shape"))
        return;
    memcpy(&of_x, fields + op->inputs[0].offset, sizeof of_x);
    if (!qdq_value_type(graph, of_x, &dtype, &x) || !qdq_blocks_of(x, scale, extents)) return;
    qdq_ints groups = {qdq_mempool_copy(mempool, extents, (size_t)x.rank, sizeof *extents),
                       (size_t)x.rank};
    if (groups.data) memcpy(fields + group_shape->offset, &groups, sizeof groups);
}

void qdq_json_check_qtype(qdq_graph *graph, qdq_value y, const qdq_json_item *attrs) {
    const qdq_node *node = y.id ? &graph->nodes[graph->values[y.id].node] : NULL;
    if (!node || !node->inferred || !is_given(attrs, "qtype")) return;
    qdq_graph_report_core(graph, QDQ_RULE_QTYPE_COUNT,
                          (qdq_subject){node->name, node->op->name, "qtype", NULL},
                          "is per_tensor, but the node has several scales or a group_shape",
                          "per_channel or per_group");
}

//---- Lists ------------------------------------------------------------------

static bool is_nested(const qdq_json_item *json) {
    if (!qdq_json_is_array(json)) return false;
    QDQ_JSON_EACH(child, json) if (qdq_json_is_array(child)) return true;
    return false;
}

void qdq_json_check_nesting(qdq_graph *graph, const qdq_op *op, const char *node,
                            const qdq_json_item *attrs, const char *fields) {
    qdq_findings *f = &graph->findings;
    QDQ_JSON_EACH(json, attrs) {
        const qdq_attr_desc *attr = attr_called(op, qdq_json_name(json));
        bool numbers = attr && (attr->kind == QDQ_ATTR_FLOATS || attr->kind == QDQ_ATTR_NUMBERS);
        if (!numbers || !is_nested(json)) continue;
        qdq_shape shape, grid;
        bool even = nested_shape(json, &shape), blocks = block_grid(graph, op, fields, &grid);
        if (even && blocks && qdq_shape_equal(shape, grid)) continue;
        const char *found =
            even ? qdq_text(f, "is nested as %s but read flat", qdq_shape_text(f, shape))
                 : "is nested unevenly but read flat";
        qdq_graph_report_core(
            graph, QDQ_RULE_LIST_NESTING, (qdq_subject){node, op->name, attr->name, NULL}, found,
            blocks ? qdq_text(f, "a flat list, or the block grid %s", qdq_shape_text(f, grid))
                   : "a flat list");
    }
}
