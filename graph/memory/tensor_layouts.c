// SPDX-License-Identifier: Apache-2.0
// The rules by which ttnn places the output of each op. Quantize, dequantize, requantize and the
// ops of two operands follow tt-metal's binary_ng device operation; ops of one operand follow it
// too.
#include "graph/memory/tensor_layouts.h"

#include <limits.h>
#include <string.h>

#include "include/qdq/ops/products.h"
#include "runtime/tenstorrent/page_layout.h"
#include "runtime/tenstorrent/shard_cores.h"

static const qdq_tensor_layout default_layout;

const qdq_tensor_layout *qdq_tensor_layout_of(const qdq_tensor_layouts *layouts, uint32_t id) {
    const qdq_tensor_layout *layout = id < layouts->count ? layouts->of[id] : NULL;
    return layout ? layout : &default_layout;
}

//---- Ops --------------------------------------------------------------------

typedef enum output_rule {
    OUTPUT_IN_POOL = 0,  // interleaved, in the pool of the first operand A; no source says more
    OUTPUT_AS_A,         // as A
    OUTPUT_IN_DRAM,      // interleaved in DRAM
} output_rule;

enum { NO_B = INT_MAX };

static const struct op_row {
    const char *op;
    output_rule rule;
    size_t first_b;  // OUTPUT_AS_A: the last connected input from this one on is the operand B
} op_rows[] = {
    {"Quantize", OUTPUT_AS_A, 1},        {"Dequantize", OUTPUT_AS_A, 1},
    {"DynamicQuantize", OUTPUT_AS_A, 1}, {"Requantize", OUTPUT_AS_A, 3},
    {"Cast", OUTPUT_AS_A, NO_B},         {"StaticReshape", OUTPUT_AS_A, NO_B},
    {"Abs", OUTPUT_AS_A, NO_B},          {"Neg", OUTPUT_AS_A, NO_B},
    {"SiLU", OUTPUT_AS_A, NO_B},         {"Rsqrt", OUTPUT_AS_A, NO_B},
    {"ReLU6", OUTPUT_AS_A, NO_B},        {"Trunc", OUTPUT_AS_A, NO_B},
    {"Log1p", OUTPUT_AS_A, NO_B},        {"Exp", OUTPUT_AS_A, NO_B},
    {"Log", OUTPUT_AS_A, NO_B},          {"Sqrt", OUTPUT_AS_A, NO_B},
    {"Square", OUTPUT_AS_A, NO_B},       {"Tanh", OUTPUT_AS_A, NO_B},
    {"Sigmoid", OUTPUT_AS_A, NO_B},      {"ReLU", OUTPUT_AS_A, NO_B},
    {"Reciprocal", OUTPUT_AS_A, NO_B},   {"Round", OUTPUT_AS_A, NO_B},
    {"HardSwish", OUTPUT_AS_A, NO_B},    {"Mish", OUTPUT_AS_A, NO_B},
    {"LeakyReLU", OUTPUT_AS_A, NO_B},    {"Elu", OUTPUT_AS_A, NO_B},
    {"HardSigmoid", OUTPUT_AS_A, NO_B},  {"Clamp", OUTPUT_AS_A, NO_B},
    {"GELU", OUTPUT_AS_A, NO_B},         {"Add", OUTPUT_AS_A, 1},
    {"Subtract", OUTPUT_AS_A, 1},        {"Multiply", OUTPUT_AS_A, 1},
    {"Divide", OUTPUT_AS_A, 1},          {"Minimum", OUTPUT_AS_A, 1},
    {"Maximum", OUTPUT_AS_A, 1},         {"GreaterEqual", OUTPUT_AS_A, 1},
    {"BiasAdd", OUTPUT_AS_A, 1},         {"PReLU", OUTPUT_AS_A, 1},
    {"ToLayout", OUTPUT_AS_A, NO_B},     {"ShardedToInterleaved", OUTPUT_IN_DRAM, NO_B},
    {"MatMul", OUTPUT_IN_DRAM, NO_B},
};

static const struct op_row *row_of(const qdq_op *op) {
    static const struct op_row other = {NULL, OUTPUT_IN_POOL, NO_B};
    for (size_t i = 0; i < sizeof op_rows / sizeof op_rows[0]; i++)
        if (strcmp(op_rows[i].op, op->name) == 0) return &op_rows[i];
    return &other;
}

//---- Configs ----------------------------------------------------------------

static bool is_sharded(const qdq_memory_config *config) {
    return config->memory_layout != QDQ_INTERLEAVED;
}

static bool has_spec(const qdq_memory_config *config) {
    return is_sharded(config) && config->shard_spec.grid_count;
}

// Counts rows and columns of a tensor with whole tiles, all dims but the last folded into height.
static bool folded(qdq_shape shape, const qdq_tensor_layout *as, uint64_t *rows,
                   uint64_t *columns) {
    const qdq_device_tensor tensor = {QDQ_FLOAT32, shape, as->layout, as->tile};
    qdq_page_layout pages;
    if (qdq_page_layout_of(&tensor, 0, &pages, NULL) != QDQ_MEMORY_FINE) return false;
    *rows = pages.height;
    *columns = pages.width;
    return true;
}

static int64_t scaled(int64_t size, uint64_t from, uint64_t to) {
    enum { LEAST = 32 };
    uint64_t product;
    if (__builtin_mul_overflow((uint64_t)size, to, &product)) return size;
    return product / from > LEAST ? (int64_t)(product / from) : LEAST;
}

// Makes a shard as much larger as the tensor is: h * rows' / rows and w * columns' / columns, each
// at least 32. A shard of another rank than 2 stays.
static void adapt(qdq_shard_spec *spec, qdq_shape from, qdq_shape to, const qdq_tensor_layout *as) {
    uint64_t rows, columns, new_rows, new_columns;
    if (spec->shape.rank != 2 || qdq_shape_equal(from, to) || !folded(from, as, &rows, &columns) ||
        !folded(to, as, &new_rows, &new_columns))
        return;
    spec->shape.dims[0] = scaled(spec->shape.dims[0], rows, new_rows);
    spec->shape.dims[1] = scaled(spec->shape.dims[1], columns, new_columns);
}

//---- Nodes ------------------------------------------------------------------

// A node whose output gets a layout. B is NULL if the op has one operand or a scalar.
typedef struct placing {
    const qdq_graph *graph;
    const qdq_tensor_layouts *layouts;
    const qdq_node *node;
    const qdq_tensor_layout *a, *b;
    qdq_shape a_shape, b_shape, y_shape;
} placing;

static const qdq_tensor_layout *operand(const placing *p, size_t input, qdq_shape *shape) {
    uint32_t id = input < p->node->input_count ? p->node->inputs[input].id : 0;
    if (!id) return NULL;
    *shape = p->graph->values[id].type.shape;
    return qdq_tensor_layout_of(p->layouts, id);
}

// Returns the config without an argument: the output_tensor's, else A's, unless B is sharded and A
// interleaved in DRAM, or B's grid is larger.
static qdq_memory_config inherited(const placing *p) {
    uint32_t into = qdq_output_tensor_of(p->node);
    if (into) return qdq_tensor_layout_of(p->layouts, into)->memory_config;
    const qdq_memory_config *a = &p->a->memory_config, *b = p->b ? &p->b->memory_config : NULL;
    bool as_b = b && has_spec(b) &&
                (is_sharded(a)
                     ? qdq_shard_cores_count(&b->shard_spec) > qdq_shard_cores_count(&a->shard_spec)
                     : a->buffer_type == QDQ_DRAM);
    qdq_memory_config config = as_b ? *b : *a;
    if (is_sharded(&config))
        adapt(&config.shard_spec, as_b ? p->b_shape : p->a_shape, p->y_shape, as_b ? p->b : p->a);
    return config;
}

// Completes a sharded argument without a spec with A's spec, or else B's.
static void complete(const placing *p, qdq_memory_config *config) {
    if (!is_sharded(config) || has_spec(config)) return;
    if (has_spec(&p->a->memory_config)) {
        config->shard_spec = p->a->memory_config.shard_spec;
        adapt(&config->shard_spec, p->a_shape, p->y_shape, p->a);
    } else if (p->b && has_spec(&p->b->memory_config)) {
        config->shard_spec = p->b->memory_config.shard_spec;
        adapt(&config->shard_spec, p->b_shape, p->y_shape, p->b);
    }
}

// True if an op returns its operand: tt-metal's sharded_to_interleaved does for a tensor that is
// not sharded.
static bool returns_operand(const qdq_node *node, const qdq_tensor_layout *a) {
    return strcmp(node->op->name, "ShardedToInterleaved") == 0 && !is_sharded(&a->memory_config);
}

qdq_tile_shape qdq_product_tile(const qdq_tensor_layouts *layouts, const qdq_node *node,
                                size_t input) {
    const qdq_matmul_attrs *attrs = node->attrs;
    qdq_tile_shape tile = qdq_tensor_layout_of(layouts, node->inputs[input].id)->tile;
    tile = qdq_tile_shape_or_default(tile);
    if ((input ? attrs->transpose_b : attrs->transpose_a) != QDQ_TRUE) return tile;
    return (qdq_tile_shape){tile.width, tile.height, !tile.transpose};
}

qdq_tile_shape qdq_result_tile(const qdq_tensor_layouts *layouts, const qdq_node *node) {
    uint32_t first = node->input_count ? node->inputs[0].id : 0;
    const qdq_tensor_layout *a = qdq_tensor_layout_of(layouts, first);
    if (strcmp(node->op->name, "MatMul") != 0 || a->layout != QDQ_LAYOUT_TILE) return a->tile;
    qdq_tile_shape tile = {qdq_product_tile(layouts, node, 0).height,
                           qdq_product_tile(layouts, node, 1).width, false};
    bool is_plain = qdq_tile_shape_is_default(tile) || !qdq_tile_shape_is_legal(tile);
    return is_plain ? (qdq_tile_shape){0} : tile;
}

static qdq_tensor_layout output_layout(placing *p, const qdq_given_layout *given) {
    const struct op_row *row = row_of(p->node->op);
    p->a = operand(p, 0, &p->a_shape);
    if (!p->a) p->a = &default_layout;
    for (size_t i = p->node->input_count; i-- > row->first_b && !p->b;)
        p->b = operand(p, i, &p->b_shape);
    qdq_tensor_layout y = {{0}, p->a->layout, qdq_result_tile(p->layouts, p->node)};
    if (returns_operand(p->node, p->a)) return *p->a;
    if (given && given->has_config) {
        y.memory_config = given->as.memory_config;
        if (row->rule == OUTPUT_AS_A) complete(p, &y.memory_config);
    } else if (row->rule == OUTPUT_AS_A) {
        y.memory_config = inherited(p);
    } else if (row->rule == OUTPUT_IN_POOL) {
        y.memory_config.buffer_type = p->a->memory_config.buffer_type;
    }
    if (given && given->has_layout) y.layout = given->as.layout;
    if (given && given->has_tile) y.tile = given->as.tile;
    return y;
}

//---- Graphs -----------------------------------------------------------------

static bool is_default(const qdq_tensor_layout *layout) {
    return !is_sharded(&layout->memory_config) && layout->memory_config.buffer_type == QDQ_DRAM &&
           layout->layout == QDQ_LAYOUT_TILE && layout->tile.height == 0 &&
           layout->tile.width == 0 && !layout->tile.transpose;
}

static bool set(qdq_tensor_layouts *out, uint32_t id, const qdq_tensor_layout *layout,
                qdq_mempool *mempool) {
    if (is_default(layout)) return true;
    out->of[id] = qdq_mempool_copy(mempool, layout, 1, sizeof *layout);
    return out->of[id] != NULL;
}

static bool place_outputs(const qdq_graph *graph, const qdq_node *node, qdq_mempool *mempool,
                          qdq_tensor_layouts *out) {
    for (size_t i = 0; i < node->output_count; i++) {
        uint32_t id = node->outputs[i];
        placing p = {.graph = graph, .layouts = out, .node = node};
        p.y_shape = graph->values[id].type.shape;
        qdq_tensor_layout y = output_layout(&p, qdq_graph_given_layout(graph, id));
        if (!set(out, id, &y, mempool)) return false;
    }
    return true;
}

bool qdq_tensor_layouts_make(const qdq_graph *graph, qdq_mempool *mempool,
                             qdq_tensor_layouts *out) {
    *out = (qdq_tensor_layouts){0};
    if (!graph->given_layouts) return true;
    out->of = qdq_mempool_array(mempool, graph->value_count, sizeof(qdq_tensor_layout *));
    if (!out->of) return false;
    out->count = graph->value_count;
    for (uint32_t id = 1; id < graph->value_count; id++) {
        const qdq_given_layout *given = qdq_graph_given_layout(graph, id);
        if (given && graph->values[id].kind != QDQ_VALUE_MADE && !set(out, id, &given->as, mempool))
            return false;
    }
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].valid && !place_outputs(graph, &graph->nodes[i], mempool, out))
            return false;
    return true;
}

//---- Views ------------------------------------------------------------------

// Returns a dim counted from the end of a shape; dims that it lacks are 1.
static int64_t from_end(qdq_shape shape, int i) {
    return shape.rank > i ? shape.dims[shape.rank - 1 - i] : 1;
}

// True if tt-metal's reshape moves nothing: rows stay whole, and in tiles the height either stays
// or was not padded.
static bool is_view(qdq_shape x, qdq_shape y, const qdq_tensor_layout *x_as,
                    const qdq_tensor_layout *y_as) {
    const qdq_memory_config *a = &x_as->memory_config, *b = &y_as->memory_config;
    int64_t tile = qdq_tile_shape_or_default(x_as->tile).height;
    if (from_end(x, 0) != from_end(y, 0) || x_as->layout != y_as->layout ||
        is_sharded(a) != is_sharded(b) || a->buffer_type != b->buffer_type)
        return false;
    return x_as->layout == QDQ_LAYOUT_ROW_MAJOR || from_end(x, 1) == from_end(y, 1) ||
           (from_end(x, 1) % tile == 0 && from_end(y, 1) % tile == 0);
}

uint32_t qdq_tensor_shared_with(const qdq_graph *graph, const qdq_tensor_layouts *layouts,
                                uint32_t id) {
    const qdq_graph_value *v = &graph->values[id];
    if (v->kind != QDQ_VALUE_MADE || v->node >= graph->node_count || v->port) return 0;
    const qdq_node *node = &graph->nodes[v->node];
    uint32_t x = node->inputs[0].id, into = qdq_output_tensor_of(node);
    if (into || !x) return into;
    const qdq_tensor_layout *x_as = qdq_tensor_layout_of(layouts, x);
    bool shares =
        returns_operand(node, x_as) || (strcmp(node->op->name, "StaticReshape") == 0 &&
                                        is_view(graph->values[x].type.shape, v->type.shape, x_as,
                                                qdq_tensor_layout_of(layouts, id)));
    return shares ? x : 0;
}
