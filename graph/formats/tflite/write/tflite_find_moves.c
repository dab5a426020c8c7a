// SPDX-License-Identifier: Apache-2.0
// Finds units that move elements: codes unchanged, or between Dequantize and Quantize with the
// same parameters.
#include <string.h>

#include "graph/formats/tflite/tflite_read.h"
#include "graph/formats/tflite/write/tflite_units.h"
#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/ops.h"
#include "runtime/numerics/dtype.h"

static const qdq_type *type_of(const qdq_tflite_draft *draft, uint32_t value) {
    return &draft->graph->values[value].type;
}

// True if the coders of the first operands have the parameters of the Quantize behind the node.
static bool keeps_params(const qdq_tflite_draft *draft, const qdq_node *node,
                         const qdq_tflite_unit *u, size_t operands) {
    qdq_tflite_params from, to;
    const qdq_node *behind = qdq_tflite_coder_behind(draft, node, node->outputs[0]);
    if (!behind || !qdq_tflite_params_of(draft, behind, &to)) return false;
    for (size_t i = 0; i < operands; i++)
        if (!qdq_tflite_params_of(draft, u->in[i].coder, &from) ||
            !qdq_tflite_params_equal(&from, &to) || from.count > 1)
            return false;
    return true;
}

// Returns the Dequantize of a part of CONCATENATION that gets the codes of the result; NULL: none.
static const qdq_node *recoded(const qdq_tflite_draft *draft, uint32_t part) {
    const char *op = "CONCATENATION";
    const qdq_node *quantize = qdq_tflite_maker(draft, part);
    if (!quantize || !qdq_tflite_is(quantize, "Quantize") || !qdq_tflite_was(quantize, op))
        return NULL;
    const qdq_node *coder = qdq_tflite_coder_of(draft, quantize, quantize->inputs[0].id);
    return coder && qdq_tflite_was(coder, op) ? coder : NULL;
}

void qdq_tflite_find_move(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    bool joins = qdq_tflite_is(node, "Concat");
    size_t operands = joins ? node->input_count : 1;
    u->moves = true;
    if (type_of(draft, node->inputs[0].id)->dtype != QDQ_FLOAT32) {
        for (size_t i = 0; joins && i < operands; i++) {
            const qdq_node *coder = recoded(draft, u->in[i].value);
            if (!coder) continue;
            u->coder = qdq_tflite_maker(draft, u->in[i].value);
            u->in[i] = (qdq_tflite_source){coder->inputs[0].id, coder};
        }
        return;
    }
    for (size_t i = 0; i < operands; i++)
        qdq_tflite_set_operand(draft, node, u, i, node->inputs[i].id);
    bool plain = operands == node->input_count || !node->inputs[1].id;
    bool coded = plain && qdq_tflite_is_coded(draft, node, u, operands);
    if (coded && !qdq_tflite_was_read(node, u)) coded = keeps_params(draft, node, u, operands);
    qdq_tflite_find_result(draft, node, u, coded, u->fuses);
    u->moves = !u->codes;
}

//---- Blocks -----------------------------------------------------------------

// True if the node is a StaticReshape to these dims.
static bool has_shape(const qdq_tflite_draft *draft, const qdq_node *node, int rank,
                      const int64_t *dims) {
    const qdq_shape *y = &type_of(draft, node->outputs[0])->shape;
    bool same = qdq_tflite_is(node, "StaticReshape") && y->rank == rank;
    for (int i = 0; same && i < rank; i++) same = y->dims[i] == dims[i];
    return same;
}

// True if the node swaps the dims of a block with the ones before them.
static bool moves_block(const qdq_node *node) {
    static const int64_t order[6] = {0, 1, 3, 2, 4, 5};
    if (!qdq_tflite_is(node, "StaticTranspose")) return false;
    const qdq_transpose_attrs *a = node->attrs;
    bool same = a->order.count == 6;
    for (size_t i = 0; same && i < 6; i++) same = a->order.data[i] == order[i];
    return same;
}

// Finds the StaticReshape and the StaticTranspose before a StaticReshape that together are
// DEPTH_TO_SPACE or SPACE_TO_DEPTH.
static void find_block(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    const qdq_node *move = qdq_tflite_maker(draft, node->inputs[0].id);
    const qdq_node *cut = move ? qdq_tflite_maker(draft, move->inputs[0].id) : NULL;
    if (!cut || !moves_block(move) || !qdq_tflite_share_operator(node, move) ||
        !qdq_tflite_share_operator(node, cut))
        return;
    const int64_t *x = type_of(draft, cut->inputs[0].id)->shape.dims,
                  *y = type_of(draft, node->outputs[0])->shape.dims;
    if (type_of(draft, cut->inputs[0].id)->shape.rank != 4 || !x[1] || !y[1] ||
        type_of(draft, node->outputs[0])->shape.rank != 4)
        return;
    bool to_space = y[1] > x[1];
    int64_t block = to_space ? y[1] / x[1] : x[1] / y[1];
    const int64_t space[6] = {x[0], x[1], x[2], block, block, y[3]},
                  depth[6] = {x[0], y[1], block, y[2], block, x[3]};
    bool fits = has_shape(draft, cut, 6, to_space ? space : depth) && y[0] == x[0] &&
                (to_space ? y[1] == x[1] * block && y[2] == x[2] * block
                          : x[1] == y[1] * block && x[2] == y[2] * block);
    if (!fits || block < 2) return;
    u->block = to_space ? -block : block;
    u->in[0].value = cut->inputs[0].id;
}

//---- Slices -----------------------------------------------------------------

// Finds the Slice whose dims of 1 a StaticReshape drops, both of one STRIDED_SLICE.
void qdq_tflite_find_reshape(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    const char *op = "STRIDED_SLICE";
    const qdq_node *slice = qdq_tflite_maker(draft, node->inputs[0].id);
    qdq_tflite_find_move(draft, node, u);
    find_block(draft, node, u);
    if (u->block || !qdq_tflite_was(node, op) || !slice || !qdq_tflite_was(slice, op) ||
        !qdq_tflite_is(slice, "Slice"))
        return;
    u->slice = slice;
    u->in[0].value = slice->inputs[0].id;
}

//---- Splits -----------------------------------------------------------------

// Reads a Slice of one axis without steps. False: it is another one.
static bool read_cut(const qdq_tflite_draft *draft, const qdq_node *node, int64_t *axis,
                     int64_t *start, int64_t *end) {
    const qdq_slice_attrs *a = node->attrs;
    if (!qdq_tflite_is(node, "Slice") || a->starts.count != 1 || a->ends.count != 1 ||
        a->axes.count != 1 || a->steps.count)
        return false;
    *axis = a->axes.data[0], *start = a->starts.data[0], *end = a->ends.data[0];
    return *axis >= 0 && *axis < type_of(draft, node->inputs[0].id)->shape.rank;
}

// Finds the slices from a node on that are the parts of one split.
void qdq_tflite_find_slice(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    enum { MOST_PARTS = 64 };
    const qdq_graph *graph = draft->graph;
    const qdq_node *end = graph->nodes + graph->node_count, *part = node;
    int64_t axis, first, last, other, reached = 0;
    size_t count = 0;
    qdq_tflite_find_move(draft, node, u);
    if (!qdq_tflite_was(node, "SPLIT") && !qdq_tflite_was(node, "SPLIT_V")) return;
    if (!read_cut(draft, node, &axis, &first, &last)) return;
    int64_t dim = type_of(draft, node->inputs[0].id)->shape.dims[axis];
    for (; part < end && reached < dim && count < MOST_PARTS; part++, count++) {
        bool same = qdq_tflite_was(part, qdq_tflite_mark(node)) &&
                    part->inputs[0].id == node->inputs[0].id &&
                    read_cut(draft, part, &other, &first, &last) && other == axis &&
                    first == reached && last > first;
        if (!same) return;
        reached = last;
    }
    uint32_t *outs = qdq_mempool_array(draft->mempool, count, sizeof *outs);
    if (reached != dim || !outs) return;
    for (size_t i = 0; i < count; i++) {
        outs[i] = node[i].outputs[0];
        if (i) draft->units[node + i - graph->nodes].part = true;
    }
    u->outs = outs, u->out_count = count;
    u->splits = true;
}

//---- RESIZE_NEAREST_NEIGHBOR ------------------------------------------------

// Finds the Gather of rows before a Gather of columns.
void qdq_tflite_find_gather(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    const qdq_node *rows = qdq_tflite_maker(draft, node->inputs[0].id);
    const qdq_gather_attrs *a = node->attrs, *b = rows ? rows->attrs : NULL;
    u->moves = true;
    u->in_count = 1;
    if (!rows || !qdq_tflite_is(rows, "Gather") || !qdq_tflite_share_operator(node, rows) ||
        type_of(draft, node->inputs[0].id)->shape.rank != 4)
        return;
    bool fits = a->axis.value == 2 && b->axis.value == 1 && a->axis.set != 0 && b->axis.set != 0;
    if (!fits) return;
    u->rows = rows;
    u->in[0] = (qdq_tflite_source){rows->inputs[0].id, NULL};
}
