// SPDX-License-Identifier: Apache-2.0
// Random graphs: adds random nodes (nodes.c) whose operands are earlier values or new ones.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/numerics/dtype.h"
#include "runtime/tenstorrent/page_layout.h"
#include "tests/random/random.h"

enum { MOST_TRIES = 3000, MOST_NODES = 8 };

// Adds an input or constant and notes its name and kind of data in the graph.
static qdq_value add_operand(random_graph *g, const random_operand *o) {
    size_t count = qdq_shape_count(o->shape);
    char name[16];
    if (!o->constant) {
        random_input *input = &g->inputs[g->input_count];
        *input = (random_input){.dtype = o->dtype, .count = count, .fill = o->fill};
        snprintf(input->name, sizeof input->name, "x%zu", g->input_count++);
        return qdq_input(g->graph, input->name, o->dtype, o->shape);
    }
    char *data = calloc(count, QDQ_MAX_ELEMENT_BYTES);
    if (!data) abort();
    random_source r = {o->seed};  // the same in a trial as in the graph
    random_elements(&r, g->taste, o->dtype, o->fill, data, count);
    snprintf(name, sizeof name, "c%zu", g->constant_count++);
    qdq_value value = qdq_constant(g->graph, name, o->dtype, o->shape, data);
    free(data);
    return value;
}

// Notes a result of a node. Returns what other nodes read.
static qdq_value note_made(random_graph *g, qdq_value value) {
    qdq_type type;
    if (g->made_count == RANDOM_MAX_MADE) abort();
    g->made[g->made_count++] = value;
    if (!g->rounded || !qdq_value_type(g->graph, value, &type.dtype, &type.shape) ||
        type.dtype != QDQ_FLOAT32)
        return value;
    value = qdq_cast(g->graph, value, (qdq_cast_attrs){.dtype = QDQ_BFLOAT16});
    return qdq_cast(g->graph, value, (qdq_cast_attrs){.dtype = QDQ_FLOAT32});
}

// Adds Dequantize results, which integer execution and weight packing look for.
static qdq_value add_dequantized(random_graph *g, const random_operand *o) {
    static const qdq_dtype codes[] = {QDQ_INT8, QDQ_UINT8, QDQ_INT4, QDQ_UINT4};
    float scales[RANDOM_MAX_LIST];
    double zero_point = (double)random_below(&g->source, 4);
    random_operand code = *o;
    code.dtype = codes[random_below(&g->source, 4)];
    qdq_dequantize_attrs attrs = {.dtype = o->dtype, .zps = {&zero_point, 1, true}};
    size_t axis = o->shape.rank ? random_below(&g->source, (size_t)o->shape.rank) : 0, count = 1;
    if (o->shape.rank && o->shape.dims[axis] <= RANDOM_MAX_LIST && random_in(&g->source, 50)) {
        count = (size_t)o->shape.dims[axis];
        attrs.qtype = QDQ_PER_CHANNEL, attrs.axis = QDQ_INT((int64_t)axis);
    }
    random_elements(&g->source, g->taste, QDQ_FLOAT32, QDQ_FILL_SCALE, scales, count);
    attrs.scales = (qdq_floats){scales, count, false};
    return note_made(g, qdq_dequantize(g->graph, add_operand(g, &code), attrs));
}

static bool may_be_dequantized(const random_operand *o) {
    return qdq_dtype_get(o->dtype)->kind == QDQ_KIND_FLOAT &&
           (o->fill == QDQ_FILL_ANY || o->fill == QDQ_FILL_SMALL);
}

// Adds the random node to a graph that has its operands.
static qdq_value add_node(random_graph *g, random_node *node, bool trial) {
    const qdq_op *op = node->op;
    size_t single = op->input_count - (op->variadic ? 1 : 0);
    for (size_t i = 0; i < node->operand_count; i++) {
        const random_operand *o = &node->operands[i];
        qdq_value value = o->value;
        if (!value.id && o->dtype)
            value = !trial && may_be_dequantized(o) && random_in(&g->source, 40)
                        ? add_dequantized(g, o)
                        : add_operand(g, o);
        if (i < single)
            memcpy(node->attrs + op->inputs[i].offset, &value, sizeof value);
        else
            node->variadic[i - single] = value;
    }
    if (op->variadic) {
        const qdq_values list = {node->variadic, node->operand_count - single};
        memcpy(node->attrs + op->inputs[single].offset, &list, sizeof list);
    }
    return qdq_add_node(g->graph, op->name, node->attrs, op->attrs_size);
}

static bool has_errors(qdq_graph *graph) {
    const qdq_report *report = qdq_graph_validate(graph, NULL, NULL);
    if (!report) abort();
    size_t errors = report->errors;
    for (size_t i = 0; i < report->count; i++)
        errors -= strcmp(report->findings[i].rule, "core/output-missing") == 0;
    return errors > 0;
}

// Whether the op accepts the node, and the type of its result. It is tried in a graph of its own,
// with the values of `g` as inputs; its results must not be large.
static bool is_taken(const random_graph *g, const random_node *node, qdq_type *type) {
    random_graph trial = *g;
    random_node copy = *node;
    trial.graph = qdq_graph_create("trial", NULL);
    trial.input_count = trial.constant_count = 0;
    for (size_t i = 0; i < copy.operand_count; i++) copy.operands[i].value = (qdq_value){0};
    qdq_value y = add_node(&trial, &copy, true);
    bool taken = !has_errors(trial.graph) &&
                 qdq_value_type(trial.graph, y, &type->dtype, &type->shape) &&
                 qdq_shape_count(type->shape) <= RANDOM_MAX_ELEMENTS;
    qdq_graph_destroy(trial.graph);
    return taken;
}

// Later nodes may read the outputs of a new node; some of them become outputs of the graph.
static void note_outputs(random_graph *g, qdq_value first, bool last) {
    size_t node = qdq_graph_node_count(g->graph) - 1,
           outputs = qdq_graph_node(g->graph, node).output_count;
    for (size_t i = 0; i < outputs; i++) {
        qdq_value y = qdq_graph_node_output(g->graph, node, i);
        qdq_value read = note_made(g, y);
        if (g->value_count < RANDOM_MAX_VALUES) g->values[g->value_count++] = read;
        char name[32];
        snprintf(name, sizeof name, "y%zu_%zu", node, i);
        if ((last && y.id == first.id) || random_in(&g->source, 30)) qdq_output(g->graph, name, y);
    }
}

//---- Places on a device -----------------------------------------------------

// Only ops that move a tensor, and nodes with an output_tensor, say where values lie.
typedef enum move {
    MOVE_NONE,
    MOVE_TO_MEMORY_CONFIG,
    MOVE_TO_LAYOUT,
    MOVE_TO_SHARDED,
    MOVE_TO_INTERLEAVED,
    MOVE_SHARDS,
} move;

static move move_of(const qdq_op *op) {
    static const char *const names[] = {"ToMemoryConfig", "ToLayout", "InterleavedToSharded",
                                        "ShardedToInterleaved", "Reshard"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], op->name) == 0) return (move)(i + 1);
    return MOVE_NONE;
}

// The whole tensor is one shard in a bank of DRAM, which holds any random tensor.
static void put_in_one_shard(random_graph *g, qdq_value v, qdq_memory_layout layout) {
    qdq_device_tensor tensor = {.dtype = QDQ_FLOAT32};
    qdq_page_layout pages;
    (void)qdq_value_type(g->graph, v, NULL, &tensor.shape);
    if (qdq_page_layout_of(&tensor, 0, &pages, NULL) != QDQ_MEMORY_FINE) abort();
    const qdq_memory_config config = {
        .memory_layout = layout,
        .shard_spec = {.grid_count = 1,
                       .shape = QDQ_SHAPE((int64_t)pages.height, (int64_t)pages.width)}};
    qdq_set_memory_config(g->graph, v, &config);
}

static void put(random_graph *g, const random_node *node, qdq_value y) {
    const qdq_memory_config l1 = {.buffer_type = QDQ_L1};
    move how = move_of(node->op);
    qdq_value x;
    memcpy(&x, node->attrs + node->op->inputs[0].offset, sizeof x);
    if (how == MOVE_TO_MEMORY_CONFIG) qdq_set_memory_config(g->graph, y, &l1);
    if (how == MOVE_TO_LAYOUT) qdq_set_layout(g->graph, y, QDQ_LAYOUT_TILE);
    if (how == MOVE_TO_INTERLEAVED || how == MOVE_SHARDS)
        put_in_one_shard(g, x, QDQ_HEIGHT_SHARDED);
    if (how == MOVE_TO_SHARDED || how == MOVE_SHARDS) put_in_one_shard(g, y, QDQ_WIDTH_SHARDED);
}

// An output_tensor is a value of the type of the result.
static void choose_output_tensor(random_graph *g, random_node *node, const qdq_type *type) {
    for (size_t a = 0; a < node->op->attr_count; a++) {
        if (node->op->attrs[a].kind != QDQ_ATTR_VALUE) continue;
        for (size_t i = 0; i < g->value_count; i++) {
            qdq_type of;
            if (qdq_value_type(g->graph, g->values[i], &of.dtype, &of.shape) &&
                of.dtype == type->dtype && qdq_shape_equal(of.shape, type->shape))
                memcpy(node->attrs + node->op->attrs[a].offset, &g->values[i], sizeof g->values[i]);
        }
    }
}

// A move says where its operand lies, so that it takes a new one. Float8 tensors lie in rows on a
// device, which most ops do not take.
static bool may_move(random_node *node) {
    const qdq_dtype_info *info = qdq_dtype_get(node->operands[0].dtype);
    if (move_of(node->op) == MOVE_NONE) return true;
    if (move_of(node->op) > MOVE_TO_LAYOUT) node->operands[0].value = (qdq_value){0};
    return info && (info->kind != QDQ_KIND_SMALL_FLOAT || info->bits != 8);
}

//---- Growing ----------------------------------------------------------------

// Adds a node of the op if a few tries find one that the op accepts.
static bool grow(random_graph *g, const qdq_op *op, bool broken, bool last) {
    static _Thread_local random_node node;
    for (int i = 0; i < MOST_TRIES; i++) {
        random_node_make(&node, op, g);
        if (g->input_count + node.operand_count > RANDOM_MAX_VALUES) return false;
        qdq_type type;
        if (!broken && (!may_move(&node) || !is_taken(g, &node, &type))) continue;
        if (!broken) choose_output_tensor(g, &node, &type);
        qdq_value y = add_node(g, &node, false);
        if (broken && !y.id) return false;
        if (!broken) put(g, &node, y);
        note_outputs(g, y, last);
        return true;
    }
    return false;
}

static random_graph make(uint64_t seed, random_taste taste, bool broken, bool rounded) {
    random_graph g = {.source = {seed}, .taste = taste, .rounded = rounded};
    char name[32];
    snprintf(name, sizeof name, "random %llu", (unsigned long long)seed);
    g.graph = qdq_graph_create(name, NULL);
    size_t nodes = 1 + random_below(&g.source, MOST_NODES), first = seed % qdq_op_count();
    for (size_t i = 0; i < nodes; i++) {
        size_t op = i == 0 ? first : random_below(&g.source, qdq_op_count());
        bool last = i + 1 == nodes;
        bool grown = grow(&g, qdq_op_find(qdq_op_get(op).name), broken, last);
        if (last && !grown && g.value_count)
            qdq_output(g.graph, "last", g.values[g.value_count - 1]);
    }
    // If every try of every node was refused, the ops that follow get theirs.
    for (size_t op = first + 1; !broken && !g.value_count; op++)
        (void)grow(&g, qdq_op_find(qdq_op_get(op % qdq_op_count()).name), false, true);
    return g;
}

random_graph random_graph_make(uint64_t seed, random_taste taste, bool broken) {
    return make(seed, taste, broken, false);
}

random_graph random_graph_make_rounded(uint64_t seed, random_taste taste) {
    return make(seed, taste, false, true);
}
